"""The devices, areas, floors and labels that hold something exposed."""

from collections.abc import Mapping
from typing import Any

from homeassistant.const import (
    ATTR_AREA_ID,
    ATTR_DEVICE_ID,
    ATTR_FLOOR_ID,
    ATTR_LABEL_ID,
    CONF_ACTION,
    CONF_SERVICE,
    CONF_SERVICE_DATA,
    CONF_SERVICE_DATA_TEMPLATE,
    CONF_TARGET,
)
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
    floor_registry as fr,
    label_registry as lr,
)

from ..exposure.entities import Exposure


@callback
def exposed_places(hass: HomeAssistant, exposure: Exposure) -> dict[str, dict[str, str]]:
    """Return the names of places by their ids, for each key of a target."""
    entities, devices, areas = er.async_get(hass), dr.async_get(hass), ar.async_get(hass)
    floors, labels = fr.async_get(hass), lr.async_get(hass)
    found: dict[str, dict[str, str]] = {ATTR_DEVICE_ID: {}, ATTR_AREA_ID: {}, ATTR_FLOOR_ID: {}, ATTR_LABEL_ID: {}}
    for entity_id in exposure.ids:
        if (entry := entities.async_get(entity_id)) is None:
            continue
        device = devices.async_get(entry.device_id) if entry.device_id else None
        area_id = entry.area_id or (dr.async_get_effective_area_id(hass, device) if device else None)
        area = areas.async_get_area(area_id) if area_id else None
        if device:
            found[ATTR_DEVICE_ID][device.id] = device.name_by_user or device.name or device.id
        if area:
            found[ATTR_AREA_ID][area.id] = area.name
            if area.floor_id and (floor := floors.async_get_floor(area.floor_id)):
                found[ATTR_FLOOR_ID][floor.floor_id] = floor.name
        for label_id in entry.labels | (device.labels if device else set()) | (area.labels if area else set()):
            if label := labels.async_get_label(label_id):
                found[ATTR_LABEL_ID][label_id] = label.name
    return found


SECRET = "(secret)"  # noqa: S105 - what is told in the place of one

_SENT = (CONF_SERVICE_DATA, CONF_SERVICE_DATA_TEMPLATE)
_MESSENGERS = frozenset({"matrix", "notify", "telegram_bot"})
"""Domains whose actions send a message to the numbers, addresses and rooms in `target`."""
_RECIPIENTS = frozenset({"chat_id", "phone", "phone_number", "recipient", "recipients"})
"""What says who gets a message in the data of any action."""


def without_recipients(step: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a step of an automation without the numbers and addresses that its message is sent to."""
    action = step.get(CONF_ACTION, step.get(CONF_SERVICE))
    if not isinstance(action, str):
        return step
    hides = _RECIPIENTS | ({CONF_TARGET} if action.strip().lower().partition(".")[0] in _MESSENGERS else set())
    sent = {key: data for key in _SENT if isinstance(data := step.get(key), Mapping) and hides & data.keys()}
    return {**step, **{key: {**data, **dict.fromkeys(hides & data.keys(), SECRET)} for key, data in sent.items()}}


def without_all_recipients(value: Any) -> Any:
    """Return a value with every step in it as without_recipients has it."""
    if isinstance(value, Mapping):
        return {key: without_all_recipients(item) for key, item in without_recipients(value).items()}
    return list(map(without_all_recipients, value)) if isinstance(value, list) else value
