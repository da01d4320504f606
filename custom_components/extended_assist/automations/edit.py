"""Change one automation in the text of a file; every other character stays as it is.

Each change is proven by reading the result: all other automations mean what they meant, and this one means what was wanted.
"""

from collections.abc import Mapping
import dataclasses
from dataclasses import dataclass
import re
from typing import Any

from homeassistant.util.yaml import dump

from ..results import OverError, ToolError
from .yaml_index import IndexedAutomation, IndexedKey, Meaning, YamlIndex, indented, index_yaml, load_automation

KEY_ORDER = ("id", "alias", "description", "triggers", "conditions", "actions")
"""The keys that come first, as Home Assistant's editor writes them."""
OLDER_KEYS = {"triggers": "trigger", "conditions": "condition", "actions": "action"}
"""Keys that had another name before."""

_NOT_TEXTUALLY = "This automation cannot be changed without changing more than it. Tell the user to edit it by hand."
_FIXED = "The {key} of this automation hold {reason}, which would be lost. Tell the user to change them by hand."
_COMMENT = re.compile(r"\s#")
"""What begins a comment, unless it is in a text."""
_BRACES = "it is written in one pair of braces, with {reason} in it, which would be lost"
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


def _find(index: YamlIndex, automation_id: str) -> IndexedAutomation:
    """Return an automation in the file; raises ToolError when it is not there."""
    if (item := index.find(automation_id)) is None:
        raise ToolError("This automation is not in the file of automations any more. Look again what there is.")
    return item


def add(text: str, config: Mapping[str, Any]) -> Edit:
    """Append an automation."""
    index = index_yaml(text)
    ordered = {key: config[key] for key in KEY_ORDER if key in config} | dict(config)
    block = dump([ordered])
    return _insert(index, len(index.automations), block, dict(ordered))


def insert(text: str, block: str, previous: str | None) -> Edit:
    """Put the lines of an automation back: behind the one with an id, else at the end, or at the beginning for None."""
    index = index_yaml(text)
    alone = index_yaml(block)
    (item,) = alone.automations
    ids = [other.id for other in index.automations]
    if item.id in ids:
        raise ToolError("An automation with this id is there again already.")
    position = 0 if previous is None else ids.index(previous) + 1 if previous in ids else len(ids)
    return _insert(index, position, block[alone.line_start(item.dash) :], load_automation(alone, item), alone.column)


def _insert(index: YamlIndex, position: int, block: str, expected: dict[str, Any], column: int = 0) -> Edit:
    """Insert a block of lines as the automation at a position."""
    text = index.text
    if index.automations and index.column < column:
        raise ToolError(_NOT_TEXTUALLY)
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
    return _check(
        changed, [item.meaning for item in index.automations], position, expected, Edit(changed, None, None, previous)
    )


def remove(text: str, automation_id: str, block: str | None = None) -> Edit:
    """Remove an automation; with a block, only if its lines are still these."""
    index = index_yaml(text)
    item = _find(index, automation_id)
    if any(item.anchors & other.aliases for other in index.automations if other is not item):
        raise ToolError("This automation cannot be removed: others use a part of it (an anchor).")
    start, end = _own_lines(index, item, block)
    rest = "" if len(index.automations) > 1 else f"{' ' * index.column}[]{_line_break(text)}"
    changed = f"{text[:start]}{rest}{text[end:]}"
    _check_others(index_yaml(changed), _others(index, item))
    return Edit(changed, text[start:end], None, _previous(index, item))


def replace(text: str, automation_id: str, block: str, expected: str) -> Edit:
    """Replace the lines of an automation with those that it had before, if they are still the expected ones."""
    index = index_yaml(text)
    item = _find(index, automation_id)
    start, end = _own_lines(index, item, expected)
    alone = index_yaml(block)
    return _proven(index, item, f"{text[:start]}{block}{text[end:]}", load_automation(alone, alone.automations[0]))


def _own_lines(index: YamlIndex, item: IndexedAutomation, expected: str | None) -> tuple[int, int]:
    """Return start and end of the lines of an automation; raise ToolError unless they are the expected ones."""
    start, end = index.span(item)
    if expected is not None and index.text[start:end].split() != expected.split():
        raise OverError("This automation was changed since by somebody else, so it was left as it is.")
    return start, end


def update(
    text: str, automation_id: str, changes: Mapping[str, Any], expected: Mapping[str, Any] | None = None
) -> Edit:
    """Change some keys of an automation, if it still holds what is expected; None removes a key."""
    index = index_yaml(text)
    item = _find(index, automation_id)
    try:
        before = loadable(index, item)
    except ToolError as err:
        raise ToolError(f"This automation cannot be changed here: {err}. Tell the user to change it by hand.") from err
    if expected is not None and before != expected:
        raise ToolError("This automation was changed by somebody else meanwhile. Look at it again.")
    after = merged(before, changes)
    if not item.on_lines:
        return _on_lines(index, item, after)
    new: list[str] = []
    edits: list[tuple[int, int, str]] = []
    for key, value in changes.items():
        named = [part for part in item.keys if part.key in {key, OLDER_KEYS.get(key)}]
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
        edits.append((end, end, line_break + "".join(f"{indent}{part}{_line_break(text)}" for part in new)))
    for start, end, part in sorted(edits, reverse=True):
        changed = f"{changed[:start]}{part}{changed[end:]}"
    return _proven(index, item, changed, after)


def loadable(index: YamlIndex, item: IndexedAutomation) -> dict[str, Any]:
    """Return the data of an automation that can be changed in the text; raises ToolError with the reason for another one."""
    config = load_automation(index, item)
    if item.on_lines:
        return config
    fixed = "an anchor" if item.anchors else next((part.fixed for part in item.keys if part.fixed), "")
    if not fixed and _COMMENT.search(index.text, item.start, item.end):
        fixed = "a comment"
    if fixed:
        raise ToolError(_BRACES.format(reason=fixed))
    return config


def _on_lines(index: YamlIndex, item: IndexedAutomation, after: dict[str, Any]) -> Edit:
    """Write an automation that is in one pair of braces on lines of its own."""
    block = indented(dump(after), _column(index, item)).strip()
    text = index.text
    return _proven(index, item, f"{text[: item.start]}{_line_breaks(block, text)}{text[item.end :]}", after)


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


def _proven(index: YamlIndex, item: IndexedAutomation, changed: str, expected: dict[str, Any]) -> Edit:
    """Return the change of an automation if the text says what it should."""
    start, end = index.span(item)
    edit = Edit(changed, index.text[start:end], None, _previous(index, item))
    return _check(changed, _others(index, item), index.automations.index(item), expected, edit)


def _check(text: str, others: list[Meaning], position: int, expected: dict[str, Any], edit: Edit) -> Edit:
    """Return a change with the lines that came out, if they and all others say what they should."""
    index = index_yaml(text)
    item = index.automations.pop(position)
    _check_others(index, others)
    if load_automation(index, item) != expected:
        raise ToolError(_UNWRITABLE)
    start, end = index.span(item)
    return dataclasses.replace(edit, after=text[start:end])


def _check_others(index: YamlIndex, others: list[Meaning]) -> None:
    """Raise ToolError unless all other automations mean what they did."""
    if [other.meaning for other in index.automations] != others:
        raise ToolError(_NOT_TEXTUALLY)


def _others(index: YamlIndex, item: IndexedAutomation) -> list[Meaning]:
    """Return the meanings of all other automations."""
    return [other.meaning for other in index.automations if other is not item]


def _previous(index: YamlIndex, item: IndexedAutomation) -> str | None:
    """Return the id of the automation in front of one."""
    position = index.automations.index(item)
    return index.automations[position - 1].id if position else None
