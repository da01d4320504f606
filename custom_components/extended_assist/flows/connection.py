"""The form for a connection to a server that speaks the Messages API."""

from typing import Any

from anthropic.types import ModelInfo
import voluptuous as vol
from yarl import URL

from homeassistant.const import CONF_API_KEY
from homeassistant.core import HomeAssistant
from homeassistant.helpers.selector import BooleanSelector, TextSelector, TextSelectorConfig, TextSelectorType

from ..calls.options import MEMORY
from ..claude.client import ANTHROPIC_URL, ConnectionFailedError, async_create_client, async_list_models
from ..const import CONF_BASE_URL
from ..exposure.safe_log import log_unexpected

_API_KEY_SELECTOR = TextSelector(TextSelectorConfig(type=TextSelectorType.PASSWORD, autocomplete="off"))

API_KEY_SCHEMA = vol.Schema({vol.Optional(CONF_API_KEY): _API_KEY_SELECTOR})
CONNECTION_SCHEMA = API_KEY_SCHEMA.extend(
    {vol.Optional(CONF_BASE_URL): TextSelector(TextSelectorConfig(type=TextSelectorType.URL))}
)
MEMORY_FIELD = {vol.Required(MEMORY, default=False): BooleanSelector()}
"""A field of the first form only; later, the options choose the families of tools."""
SET_UP_SCHEMA = CONNECTION_SCHEMA.extend(MEMORY_FIELD)


def normalized(user_input: dict[str, Any]) -> dict[str, Any]:
    """Return the data that an entry stores: the key, empty for a server without one, and the address."""
    base_url = user_input.get(CONF_BASE_URL, "").strip() or ANTHROPIC_URL
    return {
        CONF_API_KEY: user_input.get(CONF_API_KEY, "").strip(),
        CONF_BASE_URL: base_url.rstrip("/").removesuffix("/v1"),
    }


async def async_check(hass: HomeAssistant, data: dict[str, Any]) -> tuple[dict[str, str], list[ModelInfo]]:
    """Return the errors of a form, and the server's models if there are none."""
    base_url = data[CONF_BASE_URL]
    if not data[CONF_API_KEY] and base_url == ANTHROPIC_URL:
        return {CONF_API_KEY: "api_key_required"}, []
    if not _is_web_address(base_url):
        return {CONF_BASE_URL: "invalid_url"}, []
    try:
        return {}, await async_list_models(await async_create_client(hass, data[CONF_API_KEY], base_url))
    except ConnectionFailedError as err:
        field = {"invalid_auth": CONF_API_KEY, "not_messages_api": CONF_BASE_URL}.get(err.key, "base")
        return {field: err.key}, []
    except Exception:  # noqa: BLE001 - whatever a server answers, the dialog stays open
        log_unexpected("while checking the server")
        return {"base": "unknown"}, []


def _is_web_address(text: str) -> bool:
    """Return whether a text is an http(s) address without credentials."""
    try:
        url = URL(text)
    except ValueError:
        return False
    return url.scheme in ("http", "https") and bool(url.host) and url.user is None
