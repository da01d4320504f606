"""Change one automation, script or scene in the text of a file; every other character stays as it is.

Each change is proven by reading the result: all others mean what they meant, and this one means what was wanted.
"""

from collections.abc import Mapping
import dataclasses
from dataclasses import dataclass
from typing import Any

from homeassistant.util.yaml import dump

from ..results import OverError, ToolError
from .yaml_index import IndexedAutomation, IndexedKey, Meaning, YamlIndex, indented, index_yaml, load_automation

KEY_ORDER = ("id", "alias", "name", "description", "triggers", "conditions", "actions")
"""The keys that come first, as Home Assistant's editor writes them."""
OLDER_KEYS = {"triggers": "trigger", "conditions": "condition", "actions": "action"}
"""Keys that had another name before."""

_NOT_TEXTUALLY = "This {} cannot be changed without changing more than it. Tell the user to edit it by hand."
_FIXED = "The {key} of this {kind} hold {reason}, which would be lost. Tell the user to change them by hand."
_THERE_AGAIN = "Something with this id is there again already among the {}s."
_UNWRITABLE = "A text in this {} cannot be kept in Home Assistant's YAML files. Word it differently."


@dataclass(frozen=True, slots=True)
class Edit:
    """A text in which one automation was changed."""

    text: str
    before: str | None = None
    """The lines of the automation before; None if it is new."""
    after: str | None = None
    """Its lines now; None if it is gone."""
    previous: str | None = None
    """The id of the automation in front of it; None at the beginning."""


def _find(index: YamlIndex, automation_id: str) -> IndexedAutomation:
    """Return an automation in the file; raises ToolError when it is not there."""
    if (item := index.find(automation_id)) is None:
        raise ToolError(f"This {index.kind} is not in the file of {index.kind}s any more. Look again what there is.")
    return item


def add(text: str, config: Mapping[str, Any], kind: str = "automation") -> Edit:
    """Append an automation, script or scene, with its id in the configuration."""
    index = index_yaml(text, kind)
    ordered = {key: config[key] for key in KEY_ORDER if key in config} | dict(config)
    if any(item.id == config["id"] for item in index.automations):
        raise ToolError(_THERE_AGAIN.format(kind))
    block = dump({ordered.pop("id"): ordered} if index.is_keyed else [ordered])
    return _insert(index, len(index.automations), block, ordered)


def insert(text: str, block: str, previous: str | None, kind: str = "automation") -> Edit:
    """Put the lines of an automation back: behind the one with an id, else at the end, or at the beginning for None."""
    index = index_yaml(text, kind)
    alone = index_yaml(block, kind)
    (item,) = alone.automations
    ids = [other.id for other in index.automations]
    if item.id in ids:
        raise ToolError(_THERE_AGAIN.format(kind))
    position = 0 if previous is None else ids.index(previous) + 1 if previous in ids else len(ids)
    return _insert(index, position, block[alone.line_start(item.dash) :], load_automation(alone, item), alone.column)


def _insert(index: YamlIndex, position: int, block: str, expected: dict[str, Any], column: int = 0) -> Edit:
    """Insert a block of lines as the automation at a position."""
    text = index.text
    if index.automations and index.column < column:
        raise ToolError(_NOT_TEXTUALLY.format(index.kind))
    block = _line_breaks(indented(block, index.column - column if index.automations else 0), text)
    if index.empty_list:
        start, end = index.empty_list
        before, after = text[:start], text[end:]
    elif position < len(index.automations):
        start = (
            index.span(index.automations[position - 1])[1] if position else index.line_start(index.automations[0].dash)
        )
        before, after = text[:start], text[start:]
    else:
        before, after = text, ""
    if before and not before.endswith("\n"):
        before += _line_break(text)
    after = after.removeprefix("\r").removeprefix("\n") if index.empty_list else after
    changed = f"{before}{block}{after}"
    previous = index.automations[position - 1].id if position else None
    others = [item.meaning for item in index.automations]
    return _check(others, position, expected, Edit(changed, None, None, previous), index.kind)


def remove(text: str, automation_id: str, block: str | None = None, kind: str = "automation") -> Edit:
    """Remove an automation; with a block, only if its lines are still these."""
    index = index_yaml(text, kind)
    item = _find(index, automation_id)
    if any(item.anchors & other.aliases for other in index.automations if other is not item):
        raise ToolError(f"This {kind} cannot be removed: others use a part of it (an anchor).")
    start, end = _own_lines(index, item, block)
    rest = (
        ""
        if len(index.automations) > 1
        else f"{' ' * index.column}{'{}' if index.is_keyed else '[]'}{_line_break(text)}"
    )
    changed = f"{text[:start]}{rest}{text[end:]}"
    _check_others(index_yaml(changed, kind), _others(index, item))
    return Edit(changed, text[start:end], None, _previous(index, item))


def replace(text: str, automation_id: str, block: str, expected: str, kind: str = "automation") -> Edit:
    """Replace the lines of an automation with those that it had before, if they are still the expected ones."""
    index = index_yaml(text, kind)
    item = _find(index, automation_id)
    start, end = _own_lines(index, item, expected)
    alone = index_yaml(block, kind)
    return _proven(index, item, f"{text[:start]}{block}{text[end:]}", load_automation(alone, alone.automations[0]))


def _own_lines(index: YamlIndex, item: IndexedAutomation, expected: str | None) -> tuple[int, int]:
    """Return start and end of the lines of an automation; raise ToolError unless they are the expected ones."""
    start, end = index.span(item)
    if expected is not None and index.text[start:end].split() != expected.split():
        raise OverError(f"This {index.kind} was changed since by somebody else, so it was left as it is.")
    return start, end


def update(text: str, automation_id: str, changes: Mapping[str, Any], kind: str = "automation") -> Edit:
    """Change some keys of an automation; None removes a key."""
    index = index_yaml(text, kind)
    item = _find(index, automation_id)
    if not item.on_lines:
        raise ToolError(f"This {kind} is written in one pair of braces. Tell the user to change it by hand.")
    before = load_automation(index, item)
    after = merged(before, changes)
    new: list[str] = []
    edits: list[tuple[int, int, str]] = []
    for key, value in changes.items():
        named = [part for part in item.keys if part.key in {key, OLDER_KEYS.get(key)}]
        if len(named) > 1:
            raise ToolError(_NOT_TEXTUALLY.format(index.kind))
        if named and named[0].fixed and before.get(named[0].key) != value:
            raise ToolError(_FIXED.format(kind=index.kind, key=key, reason=named[0].fixed))
        if not named:
            new += [_dumped(index, item, key, value)] if value is not None else []
        elif value is None:
            edits.append((*_gap(index, item, named[0]), ""))
        elif before[named[0].key] != value or named[0].key != key:
            edits.append((named[0].start, named[0].end, _dumped(index, item, key, value)))
    changed = text
    if new:
        end = index.line_end(item.end)
        line_break = "" if text[:end].endswith("\n") else _line_break(text)
        indent = " " * _column(index, item)
        edits.append((end, end, line_break + "".join(f"{indent}{part}{_line_break(text)}" for part in new)))
    for start, end, part in sorted(edits, reverse=True):
        changed = f"{changed[:start]}{part}{changed[end:]}"
    return _proven(index, item, changed, after)


def merged(config: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a configuration with changes; None removes a key, and older names of a key give way to it."""
    kept = {key: value for key, value in config.items() if key not in {OLDER_KEYS.get(changed) for changed in changes}}
    return {key: value for key, value in {**kept, **changes}.items() if value is not None or key not in changes}


def _dumped(index: YamlIndex, item: IndexedAutomation, key: str, value: Any) -> str:
    """Return a key with its value as lines, for the place where the key begins."""
    block = indented(dump({key: value}), _column(index, item))
    return _line_breaks(block.strip(), index.text)


def _column(index: YamlIndex, item: IndexedAutomation) -> int:
    """Return the indentation of the keys of an automation."""
    return item.start - index.line_start(item.start)


def _gap(index: YamlIndex, item: IndexedAutomation, part: IndexedKey) -> tuple[int, int]:
    """Return start and end of the text to be cut out for a key."""
    if part is not item.keys[0]:
        return index.line_start(part.start), index.line_end(part.end)
    end = item.keys[1].start
    if "#" in index.text[part.end : end]:
        raise ToolError(_FIXED.format(kind=index.kind, key=part.key, reason="a comment"))
    return part.start, end


def _line_break(text: str) -> str:
    """Return the line break that a file uses."""
    return "\r\n" if "\r\n" in text else "\n"


def _line_breaks(block: str, text: str) -> str:
    """Return lines with the line breaks that a file uses."""
    return block.replace("\r\n", "\n").replace("\n", _line_break(text))


def _proven(index: YamlIndex, item: IndexedAutomation, changed: str, expected: dict[str, Any]) -> Edit:
    """Return the change of an automation if the text says what it should."""
    start, end = index.span(item)
    edit = Edit(changed, index.text[start:end], None, _previous(index, item))
    return _check(_others(index, item), index.automations.index(item), expected, edit, index.kind)


def _check(others: list[Meaning], position: int, expected: dict[str, Any], edit: Edit, kind: str) -> Edit:
    """Return a change with the lines that came out, if they and all others say what they should."""
    index = index_yaml(edit.text, kind)
    item = index.automations.pop(position)
    _check_others(index, others)
    if load_automation(index, item) != expected:
        raise ToolError(_UNWRITABLE.format(index.kind))
    start, end = index.span(item)
    return dataclasses.replace(edit, after=index.text[start:end])


def _check_others(index: YamlIndex, others: list[Meaning]) -> None:
    """Raise ToolError unless all other automations mean what they did."""
    if [other.meaning for other in index.automations] != others:
        raise ToolError(_NOT_TEXTUALLY.format(index.kind))


def _others(index: YamlIndex, item: IndexedAutomation) -> list[Meaning]:
    """Return the meanings of all other automations."""
    return [other.meaning for other in index.automations if other is not item]


def _previous(index: YamlIndex, item: IndexedAutomation) -> str | None:
    """Return the id of the automation in front of one."""
    position = index.automations.index(item)
    return index.automations[position - 1].id if position else None
