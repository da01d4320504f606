"""How configuration.yaml includes automations, scripts and scenes, and which ids other files have too."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import pairwise
import os
from pathlib import Path
import re

import yaml

from homeassistant.config import AUTOMATION_CONFIG_PATH, YAML_CONFIG_FILE
from homeassistant.const import CONF_ID
from homeassistant.util.yaml import SECRET_YAML

from .file import MAX_BYTES
from .yaml_outline import compose, quick_outline

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


_KEY = re.compile(r"automation( .*)?")
_TEXT = "tag:yaml.org,2002:str"
_INCLUDED_VALUE = re.compile(r"\w: +!include")
"""An included part of an automation, which is not an automation itself."""


def other_places(config_dir: Path, automation_ids: Collection[str]) -> dict[str, list[str]]:
    """Return the files and lines in which other automations than those of the editor's file have some ids; blocks."""
    found: dict[str, set[str]] = {}
    for automation_id, place in _Search(config_dir.resolve(), automation_ids).places() if automation_ids else ():
        found.setdefault(automation_id, set()).add(place)
    return {automation_id: sorted(places) for automation_id, places in found.items()}


@dataclass(frozen=True, slots=True)
class _Place:
    """A node of a file."""

    path: Path
    node: yaml.Node


class _Search:
    """Follows what configuration.yaml includes, in the ways that Home Assistant knows."""

    def __init__(self, config_dir: Path, automation_ids: Collection[str]) -> None:
        """Take the folder, and the ids to look for."""
        self._folder = config_dir
        self._ids = automation_ids
        self._seen: set[Path] = set()
        self._own = (config_dir / AUTOMATION_CONFIG_PATH).resolve()

    def places(self) -> Iterator[tuple[str, str]]:
        """Yield each id with where it is."""
        for root in self._read(self._folder / YAML_CONFIG_FILE):
            for automation in self._automations(root):
                for key, value in _entries(automation.node):
                    if key == CONF_ID and value.tag == _TEXT and value.value in self._ids:
                        line = automation.node.start_mark.line + 1
                        yield value.value, f"{os.path.relpath(automation.path, self._folder)}, line {line}"

    def _automations(self, root: _Place) -> Iterator[_Place]:
        """Yield the automations of a configuration or package."""
        for key, value in _entries(root.node):
            place = _Place(root.path, value)
            if _KEY.fullmatch(key):
                yield from self._listed(place)
            elif key == "homeassistant":
                for inner in self._resolved(place):
                    for name, packages in _entries(inner.node):
                        if name == "packages":
                            yield from self._packaged(_Place(inner.path, packages))

    def _packaged(self, place: _Place) -> Iterator[_Place]:
        """Yield the automations of all packages."""
        by_name = not place.node.tag.endswith("_named") or place.node.tag.endswith("_merge_named")
        for packages in self._resolved(place):
            roots = [_Place(packages.path, node) for _, node in _entries(packages.node)]
            for root in roots if by_name else [packages]:
                for package in self._resolved(root):
                    yield from self._automations(package)

    def _listed(self, place: _Place) -> Iterator[_Place]:
        """Yield the automations of a list, of lists in it, or one by itself, but for those of the editor's file."""
        for found in self._resolved(place):
            if isinstance(found.node, yaml.SequenceNode):
                for node in found.node.value:
                    yield from self._listed(_Place(found.path, node))
            elif found.path != self._own:
                yield found

    def _resolved(self, place: _Place) -> Iterator[_Place]:
        """Yield a node, or the roots of the files that it includes."""
        node = place.node
        if not isinstance(node, yaml.ScalarNode) or not node.tag.startswith("!include"):
            yield place
            return
        target = (place.path.parent / node.value).resolve()
        paths = [target] if node.tag == "!include" else _files(target)
        for path in paths:
            for root in self._read(path):
                yield from self._resolved(root)

    def _read(self, path: Path) -> Iterator[_Place]:
        """Yield the root of a file, the first time only, if one of the ids can be in it, or in what it includes."""
        if path in self._seen:
            return
        self._seen.add(path)
        try:
            with path.open(encoding="utf-8") as file:
                text = file.read(MAX_BYTES)
            if path == self._own:
                text = _including(text)
            if "!include" not in text and not any(one in text for one in self._ids):
                return
            root = compose(text)
        except OSError, UnicodeDecodeError, yaml.YAMLError:
            return  # Home Assistant does not load it either.
        if root is not None:
            yield _Place(path.resolve(), root)


def _including(text: str) -> str:
    """Return the automations of the editor's file that include other files, so that the rest, which may be long, is not parsed."""
    if len(_INCLUDED_VALUE.findall(text)) == text.count("!include"):
        return ""
    if (outline := quick_outline(text)) is None:
        return text
    parts = (text[start:end] for start, end in pairwise(outline.starts))
    return "".join(part for part in parts if "!include" in part)


def _files(folder: Path) -> list[Path]:
    """Return the files of a folder that Home Assistant includes with it."""
    found = []
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += [
            Path(root, name) for name in names if name.endswith(".yaml") and name[0] != "." and name != SECRET_YAML
        ]
    return found
