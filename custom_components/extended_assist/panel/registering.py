"""The panel in the sidebar and the card for dashboards: there while any entry is loaded, where Home Assistant has its frontend."""

import hashlib
from pathlib import Path
from typing import Final

from homeassistant.components.frontend import add_extra_js_url, async_remove_panel, remove_extra_js_url
from homeassistant.components.http import StaticPathConfig  # type: ignore[attr-defined]  # as its documentation has it
from homeassistant.components.panel_custom import async_register_panel
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant
from homeassistant.helpers.translation import async_get_translations
from homeassistant.util.hass_dict import HassKey

from ..const import DOMAIN, LOGGER

URL_PATH: Final = "extended-assist"
ELEMENT: Final = "extended-assist-panel"
_TITLE: Final = f"component.{DOMAIN}.config_panel.panel.title"
_BUILT: Final = Path(__file__).parent / "built"
_SERVED: HassKey[str] = HassKey(f"{DOMAIN}_frontend_served")
"""Where the scripts are served: for as long as Home Assistant runs."""
_HAS_PANEL: HassKey[bool] = HassKey(f"{DOMAIN}_frontend_has_panel")
"""Whether what is at the panel's address is ours."""
_SHOWN_FOR: HassKey[set[str]] = HassKey(f"{DOMAIN}_frontend_shown_for")
"""The entries for which panel and card are there."""


async def async_show(hass: HomeAssistant, entry: ConfigEntry) -> None:
    """Show panel and card from the first entry on, until the last one is unloaded."""
    if "frontend" not in hass.config.components:
        return
    shown_for = hass.data.setdefault(_SHOWN_FOR, set())
    is_first = not shown_for
    shown_for.add(entry.entry_id)

    def hide() -> None:
        shown_for.discard(entry.entry_id)
        if not shown_for:
            if hass.data.pop(_HAS_PANEL, False):
                async_remove_panel(hass, URL_PATH, warn_if_unknown=False)
            remove_extra_js_url(hass, f"{hass.data[_SERVED]}/card.js")

    entry.async_on_unload(hide)
    if not is_first:
        return
    served = await _async_serve(hass)
    texts = await async_get_translations(hass, hass.config.language, "config_panel", {DOMAIN})
    if not shown_for:  # Unloaded meanwhile.
        return
    try:
        await async_register_panel(
            hass,
            frontend_url_path=URL_PATH,
            webcomponent_name=ELEMENT,
            sidebar_title=texts.get(_TITLE, "Assistant"),
            sidebar_icon="mdi:creation",
            module_url=f"{served}/panel.js",
        )
        hass.data[_HAS_PANEL] = True
    except ValueError:  # A dashboard of the user's, which stays.
        LOGGER.warning("The panel is not shown: something else is at the address /%s of the frontend", URL_PATH)
    add_extra_js_url(hass, f"{served}/card.js")


async def _async_serve(hass: HomeAssistant) -> str:
    """Serve the scripts, at an address that changes with them, so that no browser keeps old ones; return it."""
    if (served := hass.data.get(_SERVED)) is None:
        digest = await hass.async_add_executor_job(_digest)
        served = f"/{DOMAIN}/{digest}"
        await hass.http.async_register_static_paths([StaticPathConfig(served, str(_BUILT), cache_headers=True)])
        hass.data[_SERVED] = served
    return served


def _digest() -> str:
    """Return the beginning of the SHA-256 of the scripts."""
    whole = hashlib.sha256()
    for path in sorted(_BUILT.glob("*.js")):
        whole.update(path.read_bytes())
    return whole.hexdigest()[:12]
