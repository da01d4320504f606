"""Register the panel in the sidebar and the card for dashboards, if Home Assistant has a frontend."""

import hashlib
from pathlib import Path
from typing import Final

from homeassistant.components.frontend import add_extra_js_url, async_remove_panel, remove_extra_js_url
from homeassistant.components.http import StaticPathConfig  # type: ignore[attr-defined]  # as its documentation has it
from homeassistant.components.panel_custom import async_register_panel
from homeassistant.config_entries import SIGNAL_CONFIG_ENTRY_CHANGED, ConfigEntry, ConfigEntryChange
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.dispatcher import async_dispatcher_connect
from homeassistant.helpers.translation import async_get_translations
from homeassistant.util.hass_dict import HassKey

from ..const import DOMAIN, LOGGER

URL_PATH: Final = "extended-assist"
ELEMENT: Final = "extended-assist-panel"
_TITLE: Final = f"component.{DOMAIN}.config_panel.panel.title"
_BUILT: Final = Path(__file__).parent / "built"
_SERVED: HassKey[str] = HassKey(f"{DOMAIN}_frontend_served")
"""The path of the scripts, while Home Assistant runs."""
_IS_SHOWN: HassKey[bool] = HassKey(f"{DOMAIN}_frontend_is_shown")
"""True if panel and card are registered or about to be."""


async def async_show(hass: HomeAssistant) -> None:
    """Show panel and card while an enabled entry exists; a reload does not remove them."""
    if "frontend" not in hass.config.components or hass.data.get(_IS_SHOWN):
        return
    hass.data[_IS_SHOWN] = True
    try:
        served = await _async_serve(hass)
        has_panel = await _async_register_panel(hass, f"{served}/panel.js")
    except BaseException as err:
        del hass.data[_IS_SHOWN]  # The next entry that is loaded tries again.
        if not isinstance(err, Exception):
            raise
        # The assistant works without them.
        LOGGER.warning("Panel and card are not shown until Extended Assist is reloaded: %s", type(err).__name__)
        return
    add_extra_js_url(hass, f"{served}/card.js")

    @callback
    def hide_with_last(_change: ConfigEntryChange | None, entry: ConfigEntry | None) -> None:
        is_ours = entry is None or entry.domain == DOMAIN
        if not is_ours or hass.config_entries.async_entries(DOMAIN, include_disabled=False):
            return
        unlisten()
        if has_panel:
            async_remove_panel(hass, URL_PATH, warn_if_unknown=False)
        remove_extra_js_url(hass, f"{served}/card.js")
        del hass.data[_IS_SHOWN]

    unlisten = async_dispatcher_connect(hass, SIGNAL_CONFIG_ENTRY_CHANGED, hide_with_last)
    hide_with_last(None, None)  # It may have gone meanwhile.


async def _async_register_panel(hass: HomeAssistant, url: str) -> bool:
    """Register the panel; return whether the panel at its path is ours."""
    texts = await async_get_translations(hass, hass.config.language, "config_panel", {DOMAIN})
    try:
        await async_register_panel(
            hass,
            frontend_url_path=URL_PATH,
            webcomponent_name=ELEMENT,
            sidebar_title=texts.get(_TITLE, "Assistant"),
            sidebar_icon="mdi:creation",
            module_url=url,
        )
    except ValueError:  # A dashboard of the user's, which stays.
        LOGGER.warning("The panel is not shown: something else is at the address /%s of the frontend", URL_PATH)
        return False
    return True


async def _async_serve(hass: HomeAssistant) -> str:
    """Serve the scripts at a path with their digest, so that browsers do not use old ones; return the path."""
    if (served := hass.data.get(_SERVED)) is None:
        digest = await hass.async_add_executor_job(_digest)
        served = f"/{DOMAIN}/{digest}"
        await hass.http.async_register_static_paths([StaticPathConfig(served, str(_BUILT), cache_headers=True)])
        hass.data[_SERVED] = served
    return served


def _digest() -> str:
    """Return the start of the SHA-256 of the scripts."""
    whole = hashlib.sha256()
    for path in sorted(_BUILT.glob("*.js")):
        whole.update(path.read_bytes())
    return whole.hexdigest()[:12]
