"""Secrets and recipients that are taken out of a configuration, and the names of exposed places."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
import re
from typing import Any

import yaml

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
    CONF_WEBHOOK_ID,
)
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
    floor_registry as fr,
    label_registry as lr,
)
from homeassistant.util.yaml import SECRET_YAML

from ..exposure.entities import Exposure
from ..exposure.secrets import is_secret_key, is_secret_text
from .edit import present_key
from .file import MAX_BYTES
from .yaml_positions import Tagged


@callback
def exposed_places(hass: HomeAssistant, exposure: Exposure) -> dict[str, dict[str, str]]:
    """Return the names of the devices, areas, floors and labels that hold something exposed, by id, for each key of a target."""
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
"""Keys in the data of any action that name the recipients of a message."""


def without_recipients(step: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a step of an automation without the numbers and addresses that its message is sent to."""
    action = step.get(CONF_ACTION, step.get(CONF_SERVICE))
    if not isinstance(action, str):
        return step
    hides = _RECIPIENTS | ({CONF_TARGET} if action.strip().lower().partition(".")[0] in _MESSENGERS else set())
    sent = {key: data for key in _SENT if isinstance(data := step.get(key), Mapping) and hides & data.keys()}
    return {**step, **{key: {**data, **dict.fromkeys(hides & data.keys(), SECRET)} for key, data in sent.items()}}


def without_all_recipients(value: Any) -> Any:
    """Return a value in which without_recipients is applied to every step."""
    if isinstance(value, Mapping):
        return {key: without_all_recipients(item) for key, item in without_recipients(value).items()}
    return list(map(without_all_recipients, value)) if isinstance(value, list) else value


SHORTEST = 4
"""Shortest length of secrets that are replaced inside of texts: shorter ones could be ordinary words and numbers."""


def is_hidden_key(name: str) -> bool:
    """Return whether the value of a key is hidden: a secret, or the id of a webhook, by which anybody can trigger an automation."""
    return name == CONF_WEBHOOK_ID or is_secret_key(name)


class SecretValues:
    """Replaces the secrets of one automation by a placeholder; the id of an exposed entity is not a secret."""

    def __init__(self, exposure: Exposure, config: Any, secrets: Iterable[str] = ()) -> None:
        """Take the automation, and the values of secrets.yaml."""
        self._exposure = exposure
        self._known = {text for text in {*secrets, *_secret(config)} if text and not exposure.is_exposed(text)}
        inside = sorted((text for text in self._known if len(text) >= SHORTEST), key=len, reverse=True)
        self._inside = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, inside))})(?!\w)") if inside else None

    def is_secret(self, value: Any) -> bool:
        """Return whether a value is a secret as a whole."""
        if isinstance(value, bool) or value is None or isinstance(value, Mapping | list):
            return False
        if isinstance(value, str) and (self._exposure.is_exposed(value) or not value):
            return False
        if getattr(value, "__config_file__", "").endswith(SECRET_YAML):
            return True
        text = str(value)
        return text in self._known and (isinstance(value, str) or len(text) >= SHORTEST)

    def text(self, text: str) -> str:
        """Return a text without the secrets in it."""
        return self._inside.sub(SECRET, text) if self._inside else text

    def error(self, text: str) -> str:
        """Return an error of Home Assistant without the secrets in it."""
        return SECRET if is_secret_text(text) else self.text(text)

    def without(self, value: Any) -> Any:
        """Return a value in which all secrets are replaced."""
        if isinstance(value, Mapping):
            return {
                self.text(key) if isinstance(key, str) else key: SECRET
                if item is not None and is_hidden_key(str(key))
                else self.without(item)
                for key, item in value.items()
            }
        if isinstance(value, list | tuple):
            return [self.without(item) for item in value]
        if self.is_secret(value):
            return SECRET
        return self.text(value) if isinstance(value, str) else value


def read_secrets(folder: Path) -> set[str]:
    """Return the values of the user's secrets, as texts; blocks."""
    try:
        with (folder / SECRET_YAML).open(encoding="utf-8") as file:
            found = yaml.load(file.read(MAX_BYTES), Loader=yaml.CSafeLoader)
    except OSError, UnicodeDecodeError, yaml.YAMLError:
        return set()
    return {str(value) for value in found.values()} if isinstance(found, dict) else set()


def behind_tags(written: Any, loaded: Any) -> Iterator[str]:
    """Yield the values that Home Assistant loaded for secrets, as texts: secrets.yaml may hold another one by now."""
    if isinstance(written, Tagged):
        if written.startswith("!secret") and loaded is not None and not isinstance(loaded, bool | Mapping | list):
            yield str(loaded)
    elif isinstance(written, Mapping) and isinstance(loaded, Mapping):
        for key, item in written.items():
            yield from behind_tags(item, loaded.get(key, loaded.get(present_key(key))))
    elif isinstance(written, list) and isinstance(loaded, list):
        for item, other in zip(written, loaded, strict=False):
            yield from behind_tags(item, other)


def _secret(value: Any, *, is_within: bool = False) -> Iterator[str]:
    """Yield the values below keys of secrets, and those from secrets.yaml, as texts."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _secret(item, is_within=is_within or is_hidden_key(str(key)))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _secret(item, is_within=is_within)
    elif (is_within and value is not None and not isinstance(value, bool)) or getattr(
        value, "__config_file__", ""
    ).endswith(SECRET_YAML):
        yield str(value)
