"""Change one automation in the text of a file; every other character stays as it is.

Each change is proven by reading the result: all other automations mean what they meant, and this one means what was wanted.
"""

from collections.abc import Callable, Mapping
import contextlib
import dataclasses
from dataclasses import dataclass
from typing import Any

from homeassistant.util.yaml import dump

from ..results import OverError, ToolError
from .outline import Outline, Part, UnprovenError, quick_outline, whole_outline
from .yaml_index import (
    IndexedAutomation,
    IndexedKey,
    Meaning,
    YamlIndex,
    indented,
    index_yaml,
    load_all,
    load_automation,
)

KEY_ORDER = ("id", "alias", "description", "triggers", "conditions", "actions")
"""The keys that come first, as Home Assistant's editor writes them."""
OLDER_KEYS = {"triggers": "trigger", "conditions": "condition", "actions": "action"}
"""Keys that had another name before."""

_NOT_TEXTUALLY = "This automation cannot be changed without changing more than it. Tell the user to edit it by hand."
_FIXED = "The {key} of this automation hold {reason}, which would be lost. Tell the user to change them by hand."
_USED = (
    "Others would change with this automation, since they use a part of it through an anchor: those that begin in {}. Tell "
    "the user to write out in full what they use."
)
_UNWRITABLE = "A text in this automation cannot be kept in Home Assistant's YAML files. Word it differently."


@dataclass(frozen=True, slots=True)
class Edit:
    """A text in which one automation was changed."""

    text: str
    before: str | None = None
    """The lines of the automation before; None if it is new."""
    after: str | None = None
    """Its lines now; None if it is gone."""
    previous: str | None = None
    """The id of the nearest automation in front of it that has one; None at the beginning."""


def add(text: str, config: Mapping[str, Any]) -> Edit:
    """Append an automation."""
    ordered = {key: config[key] for key in KEY_ORDER if key in config} | dict(config)
    block = dump([ordered])
    return _edited(text, lambda outline: _insert(outline, len(outline.ids), block, ordered))


def insert(text: str, block: str, previous: str | None) -> Edit:
    """Put the lines of an automation back: behind the one with an id, else at the end, or at the beginning for None."""
    alone = index_yaml(block)
    (item,) = alone.automations
    expected, lines = load_automation(alone, item), block[alone.line_start(item.dash) :]

    def put(outline: Outline) -> Edit:
        ids = outline.ids
        if item.id in ids:
            raise ToolError("An automation with this id is there again already.")
        position = 0 if previous is None else ids.index(previous) + 1 if previous in ids else len(ids)
        return _insert(outline, position, lines, expected, alone.column)

    return _edited(text, put)


def remove(text: str, automation_id: str, block: str | None = None) -> Edit:
    """Remove an automation; with a block, only if its lines are still these."""
    return _edited(text, lambda outline: _remove(outline, automation_id, block))


def replace(text: str, automation_id: str, block: str, expected: str) -> Edit:
    """Replace the lines of an automation with those that it had before, if they are still the expected ones."""
    return _edited(text, lambda outline: _replace(outline, automation_id, block, expected))


def update(text: str, automation_id: str, changes: Mapping[str, Any]) -> Edit:
    """Change some keys of an automation; None removes a key."""
    return _edited(text, lambda outline: _update(outline, automation_id, changes))


def _edited(text: str, make: Callable[[Outline], Edit]) -> Edit:
    """Make a change by reading a part of the text, or all of it where the part is not enough to prove it."""
    if (outline := quick_outline(text)) is not None:
        with contextlib.suppress(UnprovenError):
            return make(outline)
    return make(whole_outline(text))


def _insert(outline: Outline, position: int, block: str, expected: dict[str, Any], column: int = 0) -> Edit:
    """Insert a block of lines as the automation at a position."""
    count = len(outline.ids)
    part = outline.part(max(position - 1, 0), min(position + 1, count))
    part.number, part.is_new = position, True
    index, here = part.index, position - part.first
    text = index.text
    if index.automations and index.column < column:
        raise ToolError(_NOT_TEXTUALLY)
    block = _line_breaks(indented(block, index.column - column if index.automations else 0), text)
    if index.empty_list:
        start, end = index.empty_list
        before, after = text[:start], text[end:]
    elif here < len(index.automations):
        start = index.span(index.automations[here - 1])[1] if here else index.line_start(index.automations[0].dash)
        before, after = text[:start], text[start:]
    else:
        before, after = text[: index.stop], text[index.stop :]
    if before and not before.endswith("\n"):
        before += _line_break(text)
    after = after.removeprefix("\r").removeprefix("\n") if index.empty_list else after
    return _check(part, f"{before}{block}{after}", [item.meaning for item in index.automations], expected)


def _remove(outline: Outline, automation_id: str, block: str | None) -> Edit:
    """Cut the lines of an automation out."""
    # With another one beside it, whose text the comments after the removed one then follow.
    part = outline.part_of(automation_id, with_neighbour=True)
    index = part.index
    start, end = _own_lines(part, block)
    rest = "" if len(index.automations) > 1 else f"{' ' * index.column}[]{_line_break(index.text)}"
    changed = f"{index.text[:start]}{rest}{index.text[end:]}"
    _check_others(_read_again(changed), _others(index, part.item))
    _check_users(part, changed)
    return Edit(part.put_back(changed), index.text[start:end], None, part.previous)


def _replace(outline: Outline, automation_id: str, block: str, expected: str) -> Edit:
    """Put other lines in the place of those of an automation."""
    part = outline.part_of(automation_id)
    index = part.index
    start, end = _own_lines(part, expected)
    alone = index_yaml(block)
    (old,) = alone.automations
    return _proven(part, f"{index.text[:start]}{block}{index.text[end:]}", load_automation(alone, old))


def _own_lines(part: Part, expected: str | None) -> tuple[int, int]:
    """Return start and end of the lines of an automation; raise ToolError unless they are the expected ones."""
    start, end = part.index.span(part.item)
    if expected is not None and part.index.text[start:end].split() != expected.split():
        raise OverError("This automation was changed since by somebody else, so it was left as it is.")
    return start, end


def _update(outline: Outline, automation_id: str, changes: Mapping[str, Any]) -> Edit:
    """Change the lines of some keys of an automation."""
    part = outline.part_of(automation_id)
    index, item, text = part.index, part.item, part.index.text
    if not item.on_lines:
        raise ToolError("This automation is written in one pair of braces. Tell the user to change it by hand.")
    before = load_automation(index, item)
    after = merged(before, changes)
    new: list[str] = []
    edits: list[tuple[int, int, str]] = []
    for key, value in changes.items():
        named = [known for known in item.keys if known.key in {key, OLDER_KEYS.get(key)}]
        if len(named) > 1:
            raise ToolError(_NOT_TEXTUALLY)
        if named and named[0].fixed and before.get(named[0].key) != value:
            raise ToolError(_FIXED.format(key=key, reason=named[0].fixed))
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
        edits.append((end, end, line_break + "".join(f"{indent}{line}{_line_break(text)}" for line in new)))
    for start, end, lines in sorted(edits, reverse=True):
        changed = f"{changed[:start]}{lines}{changed[end:]}"
    return _proven(part, changed, after)


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
        raise ToolError(_FIXED.format(key=part.key, reason="a comment"))
    return part.start, end


def _line_break(text: str) -> str:
    """Return the line break that a file uses."""
    return "\r\n" if "\r\n" in text else "\n"


def _line_breaks(block: str, text: str) -> str:
    """Return lines with the line breaks that a file uses."""
    return block.replace("\r\n", "\n").replace("\n", _line_break(text))


def _proven(part: Part, changed: str, expected: dict[str, Any]) -> Edit:
    """Return the change of an automation if the text says what it should."""
    start, end = part.index.span(part.item)
    edit = _check(part, changed, _others(part.index, part.item), expected)
    return dataclasses.replace(edit, before=part.index.text[start:end])


def _check(part: Part, changed: str, others: list[Meaning], expected: dict[str, Any]) -> Edit:
    """Return a change with the lines that came out, if they and all others say what they should."""
    index = _read_again(changed)
    item = index.automations[part.number - part.first]
    _check_others(index, others, item)
    if load_automation(index, item) != expected:
        raise ToolError(_UNWRITABLE)
    _check_users(part, changed, item)
    start, end = index.span(item)
    return Edit(part.put_back(changed), None, changed[start:end], part.previous)


def _read_again(changed: str) -> YamlIndex:
    """Return the index of a text that came out; raises ToolError where that says nothing, or something else."""
    try:
        return index_yaml(changed)
    except ToolError as err:
        raise ToolError(_NOT_TEXTUALLY) from err


def _check_others(index: YamlIndex, others: list[Meaning], item: IndexedAutomation | None = None) -> None:
    """Raise ToolError unless all automations but one mean what they did."""
    if _others(index, item) != others:
        raise ToolError(_NOT_TEXTUALLY)


def _others(index: YamlIndex, item: IndexedAutomation | None) -> list[Meaning]:
    """Return the meanings of all other automations."""
    return [other.meaning for other in index.automations if other is not item]


def _check_users(part: Part, changed: str, item: IndexedAutomation | None = None) -> None:
    """Raise ToolError if others that use an anchor of an automation, as it was or is now, would mean something else."""
    old = None if part.is_new else part.item
    anchors = (old.anchors if old else set()) | (item.anchors if item else set())
    if part.outline.whole is None or not (users := part.index.users(old, anchors)):
        return
    numbers = [number for number in range(len(part.index.automations)) if part.is_new or number != part.number]
    before, after = load_all(part.index.text), load_all(changed)
    if before is None or after is None:
        different = [part.index.automations.index(user) for user in users]
    else:
        kept = [data for number, data in enumerate(after) if item is None or number != part.number]
        different = [number for number, now in zip(numbers, kept, strict=True) if before[number] != now]
    if different:
        raise ToolError(_USED.format(part.outline.lines(different)))
