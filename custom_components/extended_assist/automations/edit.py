"""Change one automation in the text of a file; every other character stays as it is.

Each change is proven by reading the result: all other automations mean what they meant, and this one means what was wanted.
"""

from collections.abc import Collection, Iterable, Mapping
import dataclasses
from dataclasses import dataclass
from typing import Any

from homeassistant.util.yaml import dump

from ..results import ToolError
from .yaml_index import IndexedAutomation, IndexedKey, Meaning, YamlIndex, indented, index_yaml, load_automation

KEY_ORDER = ("id", "alias", "description", "triggers", "conditions", "actions")
"""The keys that come first, as Home Assistant's editor writes them."""
OLDER_KEYS = {"triggers": "trigger", "conditions": "condition", "actions": "action"}
"""Keys that had another name before."""
PRESENT_KEYS = {older: key for key, older in OLDER_KEYS.items()}

_NOT_TEXTUALLY = "This automation cannot be changed without changing more than it. Tell the user to edit it by hand."
_FIXED = "The {key} of this automation hold {reason}, which would be lost. Tell the user to change them by hand."
_IN_BRACES = "This automation is written in one pair of braces. Tell the user to change it by hand."
_NO_ANCHOR = (
    "This automation uses parts of others (anchors) that are not there any more. Tell the user to add it by hand."
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
    position = 0 if previous is None else ids.index(previous) + 1 if previous in ids else len(ids)
    if item.aliases - item.anchors - {anchor for other in index.automations[:position] for anchor in other.anchors}:
        raise ToolError(_NO_ANCHOR)
    return _insert(index, position, block[alone.line_start(item.dash) :], item.meaning, alone.column)


def _insert(index: YamlIndex, position: int, block: str, expected: dict[str, Any] | Meaning, column: int = 0) -> Edit:
    """Insert a block of lines as the automation at a position."""
    text = index.text
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


def remove(text: str, automation_id: str) -> Edit:
    """Remove an automation."""
    index = index_yaml(text)
    item = _find(index, automation_id)
    if any(item.anchors & other.aliases for other in index.automations if other is not item):
        raise ToolError("This automation cannot be removed: others use a part of it (an anchor).")
    start, end = index.span(item)
    rest = "" if len(index.automations) > 1 else f"{' ' * index.column}[]{_line_break(text)}"
    changed = f"{text[:start]}{rest}{text[end:]}"
    _check_others(index_yaml(changed), _others(index, item))
    return Edit(changed, text[start:end], None, _previous(index, item))


def put_back(text: str, automation_id: str, block: str, keys: Collection[str]) -> Edit:
    """Give some keys of an automation the lines that they have in a block; those that are not there are cut out."""
    index, alone = index_yaml(text), index_yaml(block)
    item, (old,) = _find(index, automation_id), alone.automations
    if not item.on_lines:
        raise ToolError(_IN_BRACES)
    there, former = _parts(item), _parts(old)
    column, line_break = _column(index, item), _line_break(text)
    edits: list[tuple[int, int, str]] = [
        (*_cut(index, item, part), "") for key, part in there.items() if key in keys and key not in former
    ]
    place, last = -1, old.start  # Where the key before it ends, and where it did.
    for key, part in former.items():
        now, moved = there.get(key), column - _column(alone, old)
        if now is None and place >= 0:
            # The comments that stood between the two still do, it may be.
            gap = _line_breaks(indented(block[last : alone.line_start(part.start)], moved), text)
            place += len(gap) if text.startswith(gap, place) else 0
        if key in keys:
            end = part.end if now else alone.line_end(part.end)
            first, line_end, rest = block[part.start : end].rstrip("\r\n").partition("\n")
            lines = _line_breaks(f"{first}{line_end}{indented(rest, moved)}", text)
            if now:
                edits.append((now.start, now.end, lines))
            elif place < 0:
                edits.append((item.start, item.start, f"{lines}{line_break}{' ' * column}"))
            else:
                ahead = "" if text[:place].endswith("\n") else line_break
                edits.append((place, place, f"{ahead}{' ' * column}{lines}{line_break}"))
        place = index.line_end(now.end) if now else place
        last = alone.line_end(part.end)
    loaded, wanted = load_automation(index, item), load_automation(alone, old)
    expected = {key: value for key, value in loaded.items() if present_key(key) not in keys}
    expected |= {key: value for key, value in wanted.items() if present_key(key) in keys}
    return _proven(index, item, _edited(text, edits), expected)


def present_key(key: str) -> str:
    """Return the present name of a key."""
    return PRESENT_KEYS.get(key, key)


def _parts(item: IndexedAutomation) -> dict[str, IndexedKey]:
    """Return the keys of an automation by their present names."""
    parts = {present_key(part.key): part for part in item.keys}
    if len(parts) < len(item.keys):
        raise ToolError(_NOT_TEXTUALLY)
    return parts


def _cut(index: YamlIndex, item: IndexedAutomation, part: IndexedKey) -> tuple[int, int]:
    """Return start and end of what is cut out for a key: all but a comment behind it."""
    end = item.keys[1].start if part is item.keys[0] else index.line_end(part.end)
    return (part.start, part.end) if "#" in index.text[part.end : end] else _gap(index, item, part)


def _edited(text: str, edits: Iterable[tuple[int, int, str]]) -> str:
    """Return a text in which pieces are exchanged; of those at one place, the first comes first."""
    pieces, position = list[str](), 0
    for start, end, piece in sorted(edits, key=lambda edit: edit[:2]):
        pieces += [text[position:start], piece]
        position = end
    return "".join([*pieces, text[position:]])


def update(text: str, automation_id: str, changes: Mapping[str, Any]) -> Edit:
    """Change some keys of an automation; None removes a key."""
    index = index_yaml(text)
    item = _find(index, automation_id)
    if not item.on_lines:
        raise ToolError(_IN_BRACES)
    before = load_automation(index, item)
    after = merged(before, changes)
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
    if new:
        end = index.line_end(item.end)
        line_break = "" if text[:end].endswith("\n") else _line_break(text)
        indent = " " * _column(index, item)
        edits.append((end, end, line_break + "".join(f"{indent}{part}{_line_break(text)}" for part in new)))
    return _proven(index, item, _edited(text, edits), after)


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


def _check(text: str, others: list[Meaning], position: int, expected: dict[str, Any] | Meaning, edit: Edit) -> Edit:
    """Return a change with the lines that came out, if they and all others say what they should."""
    index = index_yaml(text)
    anchors = set[str]()
    for item in index.automations:
        anchors |= item.anchors
        if item.aliases - anchors:
            raise ToolError(_NOT_TEXTUALLY)
    item = index.automations.pop(position)
    _check_others(index, others)
    if (item.meaning if isinstance(expected, list) else load_automation(index, item)) != expected:
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
