"""Redaction of settings in diagnostics: each setting has a rule, and a setting without one is not included."""

from collections.abc import Callable, Collection, Mapping
from ipaddress import ip_address
import re
from typing import Any

from yarl import URL

from homeassistant.components.diagnostics import REDACTED
from homeassistant.const import CONF_LLM_HASS_API, CONF_MODEL, CONF_PROMPT
from homeassistant.helpers import llm

from ..calls.policy import Speaker, Tier
from ..claude.caching import PromptCache
from ..claude.client import ANTHROPIC_URL
from ..claude.models import EFFORTS, THINKING
from ..const import (
    CONF_ALLOW_WITHOUT_CHAT,
    CONF_ALWAYS_ASK,
    CONF_ANSWER_WHEN_DONE,
    CONF_ASK_FIRST,
    CONF_ASK_ON_PHONES,
    CONF_CONTEXT_TOKENS,
    CONF_DATABASE_FILES,
    CONF_EFFORT,
    CONF_ENABLED,
    CONF_EXTERNAL_STATISTICS,
    CONF_FAMILIES,
    CONF_FUNCTION,
    CONF_IN_ASSIST,
    CONF_LISTED_TRIGGERS,
    CONF_LOOK_CAMERAS,
    CONF_LOOK_FOLDERS,
    CONF_LOOK_TASK,
    CONF_LOOK_WHO,
    CONF_MAX_TOKENS,
    CONF_MAX_TOOL_ROUNDS,
    CONF_MEMORY_AUTOMATIONS,
    CONF_MEMORY_ELSEWHERE,
    CONF_MEMORY_GUESTS,
    CONF_MONTHLY_TOKENS,
    CONF_NEVER_ASK,
    CONF_PLAIN,
    CONF_PRESENT,
    CONF_PROMPT_CACHE,
    CONF_RECAP_HOURS,
    CONF_RESULT_BUDGET,
    CONF_SHOW_PICTURES,
    CONF_TARGETLESS_ACTIONS,
    CONF_THINKING,
    CONF_THINKING_BUDGET,
    CONF_TIER,
    CONF_TOOL_SEARCH,
    CONF_WEB_FETCH,
    CONF_WEB_HOSTS,
    CONF_WEB_LOCATION,
    CONF_WEB_PORTS,
    CONF_WEB_SEARCH,
    CONF_WHO_MAY,
    DOMAIN,
)
from ..tools import CATALOGUE, FAMILIES

type RedactionRule = Callable[[Any], Any]
"""Returns the part of a value that may be included; nothing for a value of an unexpected type."""

_MODEL = re.compile(r"[\w.:/@-]{1,100}")
_HOME_SUFFIXES = (".local", ".lan", ".home", ".internal", ".home.arpa")


def redacted(settings: Mapping[str, Any], rules: Mapping[str, RedactionRule]) -> dict[str, Any]:
    """Return settings after redaction; a setting without a rule is included by name only."""
    return {key: rules[key](value) if key in rules else REDACTED for key, value in settings.items()}


def _number(value: Any) -> Any:
    """Include numbers and booleans."""
    return value if isinstance(value, bool | int | float) else REDACTED


def _count(value: Any) -> Any:
    """Include the number of items."""
    return f"{len(value)} listed" if isinstance(value, list | tuple) else REDACTED


def _length(value: Any) -> Any:
    """Include the length of a text."""
    return f"{len(value)} characters" if isinstance(value, str) else REDACTED


def _one_of(known: Collection[str]) -> RedactionRule:
    """Include a word that we define."""
    return lambda value: value if isinstance(value, str) and value in known else REDACTED


def _some_of(known: Collection[str]) -> RedactionRule:
    """Include the words of a list that we define."""
    one = _one_of(known)
    return lambda value: [one(item) for item in value] if isinstance(value, list | tuple) else REDACTED


def _model(value: Any) -> Any:
    """Include the id of a model, which explains most failures."""
    return value if isinstance(value, str) and _MODEL.fullmatch(value) else REDACTED


def _prompt(value: Any) -> Any:
    """Include the length of the instructions, or that they are Home Assistant's default."""
    return "default" if value == llm.DEFAULT_INSTRUCTIONS_PROMPT else _length(value)


def _apis(value: Any) -> Any:
    """Include the kinds of APIs."""
    return [_api(api) for api in value] if isinstance(value, list | tuple) else REDACTED


def _api(api: Any) -> str:
    """Include the kind of an API."""
    if api == llm.LLM_API_ASSIST:
        return "assist"
    return "toolbox" if isinstance(api, str) and api.startswith(f"{DOMAIN}-") else "other"


_TIERS = [tier.name.lower() for tier in Tier]
_SPEAKERS = _one_of([speaker.name.lower() for speaker in Speaker])

OPTION_RULES: Mapping[str, RedactionRule] = {
    **{CONF_WHO_MAY.format(tier): _SPEAKERS for tier in _TIERS},
    **dict.fromkeys(
        (
            *(
                CONF_EXTERNAL_STATISTICS,
                CONF_TARGETLESS_ACTIONS,
                CONF_LISTED_TRIGGERS,
                CONF_WEB_HOSTS,
                CONF_WEB_PORTS,
                CONF_DATABASE_FILES,
            ),
            *(CONF_NEVER_ASK, CONF_ALWAYS_ASK, CONF_ASK_ON_PHONES, CONF_LOOK_CAMERAS, CONF_LOOK_FOLDERS),
        ),
        _count,
    ),
    **dict.fromkeys((CONF_RESULT_BUDGET, CONF_ALLOW_WITHOUT_CHAT, CONF_IN_ASSIST), _number),
    **dict.fromkeys((CONF_MEMORY_AUTOMATIONS, CONF_MEMORY_ELSEWHERE, CONF_MEMORY_GUESTS), _number),
    CONF_LOOK_WHO: _SPEAKERS,
    CONF_LOOK_TASK: _length,
    CONF_FAMILIES: _some_of(FAMILIES),
    CONF_ASK_FIRST: _some_of([tool.name.removeprefix(f"{DOMAIN}__") for tool in CATALOGUE]),
}
SUBENTRY_RULES: Mapping[str, RedactionRule] = {
    **dict.fromkeys(
        (
            *(CONF_MAX_TOKENS, CONF_MAX_TOOL_ROUNDS, CONF_CONTEXT_TOKENS, CONF_MONTHLY_TOKENS, CONF_THINKING_BUDGET),
            *(CONF_PLAIN, CONF_TOOL_SEARCH, CONF_WEB_SEARCH, CONF_WEB_FETCH, CONF_WEB_LOCATION, CONF_ENABLED),
            *(CONF_ANSWER_WHEN_DONE, CONF_PRESENT, CONF_RECAP_HOURS, CONF_SHOW_PICTURES),
        ),
        _number,
    ),
    CONF_MODEL: _model,
    CONF_PROMPT: _prompt,
    CONF_LLM_HASS_API: _apis,
    CONF_EFFORT: _one_of(EFFORTS),
    CONF_THINKING: _one_of(THINKING),
    CONF_PROMPT_CACHE: _one_of(list(PromptCache)),
    CONF_FUNCTION: _length,
    CONF_TIER: _one_of(_TIERS),
}


def redacted_model(model_id: str) -> str:
    """Return the id of a model."""
    return str(_model(model_id))


def describe_server(base_url: Any) -> dict[str, Any]:
    """Return whether the server is Anthropic's or the user's own, and the kind of its address, without the address."""
    if base_url == ANTHROPIC_URL:
        return {"kind": "anthropic"}
    try:
        url = URL(base_url)
        host = (url.host or "").rstrip(".")
    except TypeError, ValueError:
        return {"kind": "unreadable"}
    return {
        "kind": "own",
        "scheme": url.scheme if url.scheme in ("http", "https") else REDACTED,
        "host": _host(host),
        "usual_port": url.is_default_port(),
        "path": url.path not in ("", "/"),
    }


def _host(host: str) -> str:
    """Return the kind of a host: loopback, private or public address, or a name."""
    try:
        address = ip_address(host)
    except ValueError:
        if host == "localhost":
            return "loopback"
        return "a name of the home" if "." not in host or host.endswith(_HOME_SUFFIXES) else "a name"
    if address.is_loopback:
        return "loopback"
    return "a private address" if address.is_private else "a public address"
