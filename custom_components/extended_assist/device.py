"""The devices that stand for agents, and for an entry."""

from homeassistant.config_entries import ConfigEntry, ConfigSubentry
from homeassistant.const import CONF_MODEL
from homeassistant.helpers import device_registry as dr

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
