"""The devices that stand for agents, and for an entry."""

from homeassistant.config_entries import ConfigEntry, ConfigSubentry
from homeassistant.const import CONF_MODEL
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import device_registry as dr, entity_registry as er

from .const import DOMAIN


def agent_device(subentry: ConfigSubentry) -> dr.DeviceInfo:
    """Return the device of an agent, the same from whichever of its entities comes first."""
    return dr.DeviceInfo(
        identifiers={(DOMAIN, subentry.subentry_id)},
        name=subentry.title,
        manufacturer="Extended Assist",
        model=subentry.data[CONF_MODEL],
        entry_type=dr.DeviceEntryType.SERVICE,
    )


def entry_device(entry: ConfigEntry) -> dr.DeviceInfo:
    """Return the device of what belongs to an entry rather than to one of its agents."""
    return dr.DeviceInfo(
        identifiers={(DOMAIN, entry.entry_id)},
        name=entry.title,
        manufacturer="Extended Assist",
        entry_type=dr.DeviceEntryType.SERVICE,
    )


@callback
def async_drop_entry_device(hass: HomeAssistant, entry: ConfigEntry) -> None:
    """Remove the device of an entry where no entity is left in it."""
    devices = dr.async_get(hass)
    device = devices.async_get_device_by_identifier((DOMAIN, entry.entry_id), entry.entry_id)
    if device and not er.async_entries_for_device(er.async_get(hass), device.id, include_disabled_entities=True):
        devices.async_remove_device(device.id)
