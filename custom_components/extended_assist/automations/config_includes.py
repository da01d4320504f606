"""How configuration.yaml includes automations: only the file of Home Assistant's editor can be changed."""

from collections.abc import Iterator
from pathlib import Path
import re

import yaml

from homeassistant.config import AUTOMATION_CONFIG_PATH, YAML_CONFIG_FILE

from .file import MAX_BYTES

_KEY = re.compile(r"automation( .*)?")
_ADVICE = (
    "The file automations.yaml is not part of the configuration, so that a new automation would not be loaded: {}. "
    "Tell the user to add the line 'automation ui: !include automations.yaml' to configuration.yaml and to restart."
)


def include_problem(config_dir: Path) -> str | None:
    """Return why a new automation in the editor's file would not be loaded, or None when it would; blocks."""
    try:
        with (config_dir / YAML_CONFIG_FILE).open(encoding="utf-8") as file:
            root = yaml.compose(file.read(MAX_BYTES), Loader=yaml.CSafeLoader)
    except OSError, UnicodeDecodeError, yaml.YAMLError:
        return None  # Home Assistant runs, so that it knows better; what is written is verified anyway.
    ways = [_way(config_dir, value) for value in _automations(root)]
    if None in ways:
        return None
    return _ADVICE.format("; ".join(filter(None, ways)) or "nothing in configuration.yaml includes it")


def _automations(root: yaml.Node | None) -> Iterator[yaml.Node]:
    """Yield the values of all keys for automations, those of packages written in place too."""
    for key, value in _entries(root):
        if _KEY.fullmatch(key):
            yield value
        elif key == "homeassistant":
            for inner, packages in _entries(value):
                if inner == "packages":
                    for _, package in _entries(packages):
                        yield from _automations(package)


def _entries(node: yaml.Node | None) -> Iterator[tuple[str, yaml.Node]]:
    """Yield the keys and values of an object."""
    if isinstance(node, yaml.MappingNode):
        yield from ((str(key.value), value) for key, value in node.value)


def _way(config_dir: Path, node: yaml.Node) -> str | None:
    """Return a sentence about the other place that automations come from, or None for the editor's file."""
    if isinstance(node, yaml.ScalarNode) and node.tag == "!include":
        if (config_dir / node.value).resolve() == (config_dir / AUTOMATION_CONFIG_PATH).resolve():
            return None
        return f"automations come from the file {node.value}"
    if isinstance(node, yaml.ScalarNode) and node.tag.startswith("!include_dir"):
        return f"automations come from the files of the folder {node.value}"
    return "automations are written in configuration.yaml itself"
