"""How configuration.yaml includes automations, scripts and scenes: only files of Home Assistant's editor can be changed."""

from collections.abc import Iterator
from pathlib import Path
import re

import yaml

from homeassistant.config import YAML_CONFIG_FILE

from .file import MAX_BYTES
from .yaml_reader import compose

_ADVICE = (
    "The file {kind}s.yaml is not part of the configuration, so that a new {kind} would not be loaded: {reason}. "
    "Tell the user to add the line '{kind} ui: !include {kind}s.yaml' to configuration.yaml and to restart."
)


def include_problem(config_dir: Path, kind: str = "automation") -> str | None:
    """Return why a new one in the editor's file would not be loaded, or None when it would; blocks."""
    try:
        with (config_dir / YAML_CONFIG_FILE).open(encoding="utf-8") as file:
            root = compose(file.read(MAX_BYTES))
    except OSError, UnicodeDecodeError, yaml.YAMLError:
        return None  # Home Assistant runs, so that it knows better; what is written is verified anyway.
    ways = [_way(config_dir, value, kind) for value in _values(root, kind)]
    if None in ways:
        return None
    reason = "; ".join(filter(None, ways)) or "nothing in configuration.yaml includes it"
    return _ADVICE.format(kind=kind, reason=reason)


def _values(root: yaml.Node | None, kind: str) -> Iterator[yaml.Node]:
    """Yield the values of all keys for automations, scripts or scenes, those of packages written in place too."""
    for key, value in _entries(root):
        if re.fullmatch(rf"{kind}( .*)?", key):
            yield value
        elif key == "homeassistant":
            for inner, packages in _entries(value):
                if inner == "packages":
                    for _, package in _entries(packages):
                        yield from _values(package, kind)


def _entries(node: yaml.Node | None) -> Iterator[tuple[str, yaml.Node]]:
    """Yield the keys and values of an object."""
    if isinstance(node, yaml.MappingNode):
        yield from ((str(key.value), value) for key, value in node.value)


def _way(config_dir: Path, node: yaml.Node, kind: str) -> str | None:
    """Return a sentence about the other place that they come from, or None for the editor's file."""
    if isinstance(node, yaml.ScalarNode) and node.tag == "!include":
        if (config_dir / node.value).resolve() == (config_dir / f"{kind}s.yaml").resolve():
            return None
        return f"{kind}s come from the file {node.value}"
    if isinstance(node, yaml.ScalarNode) and node.tag.startswith("!include_dir"):
        return f"{kind}s come from the files of the folder {node.value}"
    return f"{kind}s are written in configuration.yaml itself"
