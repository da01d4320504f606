"""Automations of other files that have an id, too: of all with one id, Home Assistant loads only the first."""

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
from .yaml_outline import quick_outline
from .yaml_reader import compose

_KEY = re.compile(r"automation( .*)?")
_TEXT = "tag:yaml.org,2002:str"
_INCLUDED_VALUE = re.compile(r"\w: +!include")
"""What is included as a part of an automation, which is none itself."""


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
    """Return the automations of the editor's file that include other files; the rest, which may be long, is not looked at."""
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


def _entries(node: yaml.Node) -> Iterator[tuple[str, yaml.Node]]:
    """Yield the keys and values of an object."""
    if isinstance(node, yaml.MappingNode):
        yield from ((str(key.value), value) for key, value in node.value)
