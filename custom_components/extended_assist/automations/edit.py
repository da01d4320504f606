"""Change one automation in the text of a file; every other character stays as it is.

Each change is proven by reading the result: all other automations mean what they meant, and this one means what was wanted.
"""

from collections.abc import Mapping
import dataclasses
from dataclasses import dataclass
from typing import Any

from homeassistant.util.yaml import dump

from ..results import ToolError
from .layout import Item, Layout, Meaning, Part, data_of, lines_of, read_layout

ORDER = ("id", "alias", "description", "triggers", "conditions", "actions")
"""The keys that come first, as Home Assistant's editor writes them."""
OLDER = {"triggers": "trigger", "conditions": "condition", "actions": "action"}
"""Keys that had another name before."""

_NOT_TEXTUALLY = "This automation cannot be changed without changing more than it. Tell the user to edit it by hand."
_FIXED = "The {key} of this automation hold {reason}, which would be lost. Tell the user to change them by hand."
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
    """The id of the automation in front of it; None at the beginning."""


def find(layout: Layout, automation_id: str) -> Item:
    """Return an automation in the file; raises ToolError when it is not there."""
    if (item := layout.find(automation_id)) is None:
        raise ToolError("This automation is not in the file of automations any more. Look again what there is.")
    return item


def add(text: str, config: Mapping[str, Any]) -> Edit:
    """Append an automation."""
    layout = read_layout(text)
    ordered = {key: config[key] for key in ORDER if key in config} | dict(config)
    block = dump([ordered])
    return _insert(layout, len(layout.items), block, dict(ordered))


def insert(text: str, block: str, previous: str | None) -> Edit:
    """Put the lines of an automation back: behind the one with an id, else at the end, or at the beginning for None."""
    layout = read_layout(text)
    alone = read_layout(block)
    (item,) = alone.items
    ids = [other.id for other in layout.items]
    if item.id in ids:
        raise ToolError("An automation with this id is there again already.")
    position = 0 if previous is None else ids.index(previous) + 1 if previous in ids else len(ids)
    return _insert(layout, position, block[alone.line_start(item.dash) :], data_of(alone, item), alone.column)


def _insert(layout: Layout, position: int, block: str, expected: dict[str, Any], column: int = 0) -> Edit:
    """Put a block of lines in as the automation at a position."""
    text = layout.text
    if layout.items and layout.column < column:
        raise ToolError(_NOT_TEXTUALLY)
    block = _line_breaks(lines_of(block, layout.column - column if layout.items else 0), text)
    if layout.empty_list:
        start, end = layout.empty_list
        before, after = text[:start], text[end:]
    elif position < len(layout.items):
        start = layout.span(layout.items[position - 1])[1] if position else layout.line_start(layout.items[0].dash)
        before, after = text[:start], text[start:]
    else:
        before, after = text, ""
    if before and not before.endswith("\n"):
        before += _line_break(text)
    after = after.removeprefix("\r").removeprefix("\n") if layout.empty_list else after
    changed = f"{before}{block}{after}"
    previous = layout.items[position - 1].id if position else None
    return _check(
        changed, [item.meaning for item in layout.items], position, expected, Edit(changed, None, None, previous)
    )


def remove(text: str, automation_id: str, block: str | None = None) -> Edit:
    """Take an automation out; with a block, only if its lines are still these."""
    layout = read_layout(text)
    item = find(layout, automation_id)
    if any(item.anchors & other.aliases for other in layout.items if other is not item):
        raise ToolError("This automation cannot be removed: others use a part of it (an anchor).")
    start, end = _own_lines(layout, item, block)
    rest = "" if len(layout.items) > 1 else f"{' ' * layout.column}[]{_line_break(text)}"
    changed = f"{text[:start]}{rest}{text[end:]}"
    _check_others(read_layout(changed), _others(layout, item))
    return Edit(changed, text[start:end], None, _previous(layout, item))


def replace(text: str, automation_id: str, block: str, expected: str) -> Edit:
    """Give an automation other lines, which it had before, if its lines are still the expected ones."""
    layout = read_layout(text)
    item = find(layout, automation_id)
    start, end = _own_lines(layout, item, expected)
    alone = read_layout(block)
    return _proven(layout, item, f"{text[:start]}{block}{text[end:]}", data_of(alone, alone.items[0]))


def _own_lines(layout: Layout, item: Item, expected: str | None) -> tuple[int, int]:
    """Return from where to where the lines of an automation are; raises ToolError unless they are the expected ones."""
    start, end = layout.span(item)
    if expected is not None and layout.text[start:end].split() != expected.split():
        raise ToolError("This automation was changed since by somebody else, so it was left as it is.")
    return start, end


def update(text: str, automation_id: str, changes: Mapping[str, Any]) -> Edit:
    """Change some keys of an automation; None removes a key."""
    layout = read_layout(text)
    item = find(layout, automation_id)
    if not item.on_lines:
        raise ToolError("This automation is written in one pair of braces. Tell the user to change it by hand.")
    before = data_of(layout, item)
    after = merged(before, changes)
    new: list[str] = []
    edits: list[tuple[int, int, str]] = []
    for key, value in changes.items():
        named = [part for part in item.parts if part.key in {key, OLDER.get(key)}]
        if len(named) > 1:
            raise ToolError(_NOT_TEXTUALLY)
        if named and named[0].fixed and before.get(named[0].key) != value:
            raise ToolError(_FIXED.format(key=key, reason=named[0].fixed))
        if not named:
            new += [_dumped(layout, item, key, value)] if value is not None else []
        elif value is None:
            edits.append((*_gap(layout, item, named[0]), ""))
        elif before[named[0].key] != value or named[0].key != key:
            edits.append((named[0].start, named[0].end, _dumped(layout, item, key, value)))
    changed = text
    if new:
        end = layout.line_end(item.end)
        line_break = "" if text[:end].endswith("\n") else _line_break(text)
        indent = " " * _column(layout, item)
        edits.append((end, end, line_break + "".join(f"{indent}{part}{_line_break(text)}" for part in new)))
    for start, end, part in sorted(edits, reverse=True):
        changed = f"{changed[:start]}{part}{changed[end:]}"
    return _proven(layout, item, changed, after)


def merged(config: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a configuration with changes; None removes a key, and older names of a key give way to it."""
    kept = {key: value for key, value in config.items() if key not in {OLDER.get(changed) for changed in changes}}
    return {key: value for key, value in {**kept, **changes}.items() if value is not None or key not in changes}


def _dumped(layout: Layout, item: Item, key: str, value: Any) -> str:
    """Return a key with its value as lines, for the place where the key begins."""
    block = lines_of(dump({key: value}), _column(layout, item))
    return _line_breaks(block.strip(), layout.text)


def _column(layout: Layout, item: Item) -> int:
    """Return how far the keys of an automation are indented."""
    return item.start - layout.line_start(item.start)


def _gap(layout: Layout, item: Item, part: Part) -> tuple[int, int]:
    """Return from where to where a key is cut out."""
    if part is not item.parts[0]:
        return layout.line_start(part.start), layout.line_end(part.end)
    end = item.parts[1].start
    if "#" in layout.text[part.end : end]:
        raise ToolError(_FIXED.format(key=part.key, reason="a comment"))
    return part.start, end


def _line_break(text: str) -> str:
    """Return the line break that a file uses."""
    return "\r\n" if "\r\n" in text else "\n"


def _line_breaks(block: str, text: str) -> str:
    """Return lines with the line breaks that a file uses."""
    return block.replace("\r\n", "\n").replace("\n", _line_break(text))


def _proven(layout: Layout, item: Item, changed: str, expected: dict[str, Any]) -> Edit:
    """Return the change of an automation if the text says what it should."""
    start, end = layout.span(item)
    edit = Edit(changed, layout.text[start:end], None, _previous(layout, item))
    return _check(changed, _others(layout, item), layout.items.index(item), expected, edit)


def _check(text: str, others: list[Meaning], position: int, expected: dict[str, Any], edit: Edit) -> Edit:
    """Return a change with the lines that came out, if they and all others say what they should."""
    layout = read_layout(text)
    item = layout.items.pop(position)
    _check_others(layout, others)
    if data_of(layout, item) != expected:
        raise ToolError(_UNWRITABLE)
    start, end = layout.span(item)
    return dataclasses.replace(edit, after=text[start:end])


def _check_others(layout: Layout, others: list[Meaning]) -> None:
    """Raise ToolError unless all other automations mean what they did."""
    if [other.meaning for other in layout.items] != others:
        raise ToolError(_NOT_TEXTUALLY)


def _others(layout: Layout, item: Item) -> list[Meaning]:
    """Return what all other automations mean."""
    return [other.meaning for other in layout.items if other is not item]


def _previous(layout: Layout, item: Item) -> str | None:
    """Return the id of the automation in front of one."""
    index = layout.items.index(item)
    return layout.items[index - 1].id if index else None
