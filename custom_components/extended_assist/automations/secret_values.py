"""Values that are secret in one place of an automation, or in secrets.yaml, are secret in every other place too."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
import re
from typing import Any

import yaml

from homeassistant.const import CONF_WEBHOOK_ID
from homeassistant.util.yaml import SECRET_YAML

from ..exposure.entities import Exposure
from ..exposure.secrets import is_secret_key, is_secret_text
from .edit import present_key
from .file import MAX_BYTES
from .target_names import SECRET
from .yaml_positions import Tagged

SHORTEST = 4
"""Characters of a secret that is looked for inside of texts: shorter ones are words and numbers like any other."""


def is_hidden_key(name: str) -> bool:
    """Return whether what has this name is not told: a secret, or the address by which anybody sets an automation off."""
    return name == CONF_WEBHOOK_ID or is_secret_key(name)


class SecretValues:
    """Takes the secrets of one automation out of what is told of it; an exposed entity's id is none."""

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
        """Return a text of Home Assistant without the secrets in it."""
        return SECRET if is_secret_text(text) else self.text(text)

    def without(self, value: Any) -> Any:
        """Return a value without secrets, wherever they are in it."""
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
    """Yield all that stands below a key of a secret, as texts, and what comes from secrets.yaml."""
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
