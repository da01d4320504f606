"""Change one automation, script or scene in the text of a file; every other character stays as it is.

Each change is proven by reading the result: all others mean what they meant, and this one means what was wanted.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
import contextlib
import dataclasses
from dataclasses import dataclass
import re
from typing import Any

from homeassistant.util.yaml import dump

from ..results import ToolError
from .yaml_outline import Outline, OutlinePart, UnprovenError, quick_outline, whole_outline
from .yaml_positions import (
    KEYED,
    IndexedAutomation,
    IndexedKey,
    Meaning,
    UnchangeableError,
    YamlIndex,
    indented,
    index_yaml,
    load_all,
    load_automation,
)

KEY_ORDER = ("id", "alias", "name", "description", "triggers", "conditions", "actions")
"""The keys that come first, as Home Assistant's editor writes them."""
OLDER_KEYS = {"triggers": "trigger", "conditions": "condition", "actions": "action"}
"""Keys that had another name before."""
PRESENT_KEYS = {older: key for key, older in OLDER_KEYS.items()}

_NOT_TEXTUALLY = "This {} cannot be changed without changing more than it. Tell the user to edit it by hand."
_FIXED = "The {key} of this {kind} hold {reason}, which would be lost. Tell the user to change them by hand."
_IN_BRACES = "it is written in one pair of braces"
_NO_ANCHOR = "This {} uses parts of others (anchors) that are not there any more. Tell the user to add it by hand."
_THERE_AGAIN = "Something with this id is there again already among the {}s."
_USED = (
    "Others would change with this {}, since they use a part of it through an anchor: those that begin in {}. Tell the user to "
    "write out in full what they use."
)
_COMMENT = re.compile(r"\s#")
"""What begins a comment, unless it is in a text."""
_BRACES = "it is written in one pair of braces, with {reason} in it, which would be lost"
_CHANGED_SINCE = "This {} was changed by somebody else meanwhile. Look at it again."
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
    """The id of the nearest automation in front of it that has one; None at the beginning."""


def add(text: str, config: Mapping[str, Any], kind: str = "automation") -> Edit:
    """Append an automation, script or scene, with its id in the configuration."""
    item_id = config["id"]
    ordered = {key: config[key] for key in KEY_ORDER if key in config} | dict(config)
    if kind in KEYED:
        del ordered["id"]
    block = dump({item_id: ordered} if kind in KEYED else [ordered])

    def put(outline: Outline) -> Edit:
        if item_id in outline.ids:
            raise ToolError(_THERE_AGAIN.format(kind))
        return _insert(outline, len(outline.ids), block, ordered)

    return _changed(text, kind, put)


def insert(text: str, block: str, previous: str | None, kind: str = "automation") -> Edit:
    """Put the lines of an item back: behind the one with an id, else at the end, or at the beginning for None."""
    alone = index_yaml(block, kind)
    (item,) = alone.automations
    lines = block[alone.line_start(item.dash) :]

    def put(outline: Outline) -> Edit:
        ids = outline.ids
        if item.id is not None and item.id in ids:
            raise ToolError(_THERE_AGAIN.format(kind))
        position = 0 if previous is None else ids.index(previous) + 1 if previous in ids else len(ids)
        ahead = outline.whole.automations[:position] if outline.whole else []
        if item.aliases - item.anchors - {anchor for other in ahead for anchor in other.anchors}:
            raise ToolError(_NO_ANCHOR.format(kind))
        return _insert(outline, position, lines, item.meaning, alone.column)

    return _changed(text, kind, put)


def remove(text: str, automation_id: str, kind: str = "automation", expected: Mapping[str, Any] | None = None) -> Edit:
    """Remove an item, if it still holds what is expected."""
    return _changed(text, kind, lambda outline: _remove(outline, automation_id, expected))


def update(
    text: str,
    automation_id: str,
    changes: Mapping[str, Any],
    kind: str = "automation",
    expected: Mapping[str, Any] | None = None,
) -> Edit:
    """Change some keys of an item, if it still holds what is expected; None removes a key."""
    return _changed(text, kind, lambda outline: _update(outline, automation_id, changes, expected))


def put_back(text: str, automation_id: str, block: str, keys: Collection[str], kind: str = "automation") -> Edit:
    """Give some keys of an item the lines that they have in a block; those that are not there are cut out."""
    return _changed(text, kind, lambda outline: _put_back(outline, automation_id, block, keys))


def _changed(text: str, kind: str, make: Callable[[Outline], Edit]) -> Edit:
    """Make a change by reading a part of the text, or all of it where the part is not enough to prove it."""
    if (outline := quick_outline(text, kind)) is not None:
        with contextlib.suppress(UnprovenError):
            return make(outline)
    return make(whole_outline(text, kind))


def _insert(outline: Outline, position: int, block: str, expected: dict[str, Any] | Meaning, column: int = 0) -> Edit:
    """Insert a block of lines as the automation at a position."""
    count = len(outline.ids)
    part = outline.part(max(position - 1, 0), min(position + 1, count))
    part.number, part.is_new = position, True
    index, here = part.index, position - part.first
    text = index.text
    like = outline.text if "\n" in outline.text else block  # One line alone has no line break to go by.
    block = _line_breaks(indented(block, index.column - column if index.automations else 0), like)
    if index.empty_list:
        start, end = index.empty_list
        before, after = text[:start], text[end:]
    elif here < len(index.automations):
        start = index.span(index.automations[here - 1])[1] if here else index.line_start(index.automations[0].dash)
        before, after = text[:start], text[start:]
    else:
        before, after = text[: index.stop], text[index.stop :]
    if before and not before.endswith("\n"):
        before += _line_break(like)
    after = after.removeprefix("\r").removeprefix("\n") if index.empty_list else after
    if after and not block.endswith("\n"):  # It was the last one of a file that ends without a line break.
        block += _line_break(like)
    return _check(part, f"{before}{block}{after}", [item.meaning for item in index.automations], expected)


def _remove(outline: Outline, automation_id: str, expected: Mapping[str, Any] | None) -> Edit:
    """Cut the lines of an item out."""
    # With another one beside it, whose text the comments after the removed one then follow.
    part = outline.part_of(automation_id, with_neighbour=True)
    index = part.index
    if expected is not None and load_automation(index, part.item) != expected:
        raise ToolError(_CHANGED_SINCE.format(index.kind))
    start, end = index.span(part.item)
    empty = f"{' ' * index.column}{'{}' if index.is_keyed else '[]'}{_line_break(outline.text)}"
    changed = f"{index.text[:start]}{'' if len(index.automations) > 1 else empty}{index.text[end:]}"
    _check_others(_read_again(part, changed), _others(index, part.item))
    _check_users(part, changed)
    return Edit(part.put_back(changed), index.text[start:end], None, part.previous)


def _put_back(outline: Outline, automation_id: str, block: str, keys: Collection[str]) -> Edit:
    """Exchange the lines of some keys of an item."""
    part, alone = outline.part_of(automation_id), index_yaml(block, outline.kind)
    index, item, text, (old,) = part.index, part.item, part.index.text, alone.automations
    if not item.on_lines:
        raise UnchangeableError(outline.kind, _IN_BRACES)
    there, former = _parts(index, item), _parts(alone, old)
    column, line_break = _column(index, item), _line_break(outline.text)
    edits: list[tuple[int, int, str]] = [
        (*_cut(index, item, named), "") for key, named in there.items() if key in keys and key not in former
    ]
    place, last = -1, old.start  # Where the key before it ends, and where it did.
    for key, named in former.items():
        now, moved = there.get(key), column - _column(alone, old)
        if now is None and place >= 0:
            # The comments that stood between the two still do, it may be.
            gap = _line_breaks(indented(block[last : alone.line_start(named.start)], moved), outline.text)
            place += len(gap) if text.startswith(gap, place) else 0
        if key in keys:
            end = named.end if now else alone.line_end(named.end)
            first, line_end, rest = block[named.start : end].rstrip("\r\n").partition("\n")
            lines = _line_breaks(f"{first}{line_end}{indented(rest, moved)}", outline.text)
            if now:
                edits.append((now.start, now.end, lines))
            elif place < 0:
                edits.append((item.start, item.start, f"{lines}{line_break}{' ' * column}"))
            else:
                ahead = "" if text[:place].endswith("\n") else line_break
                edits.append((place, place, f"{ahead}{' ' * column}{lines}{line_break}"))
        place = index.line_end(now.end) if now else place
        last = alone.line_end(named.end)
    loaded, wanted = load_automation(index, item), load_automation(alone, old)
    expected = {key: value for key, value in loaded.items() if present_key(key) not in keys}
    expected |= {key: value for key, value in wanted.items() if present_key(key) in keys}
    return _proven(part, _exchanged(text, edits), expected)


def present_key(key: str) -> str:
    """Return the present name of a key."""
    return PRESENT_KEYS.get(key, key)


def _parts(index: YamlIndex, item: IndexedAutomation) -> dict[str, IndexedKey]:
    """Return the keys of an automation by their present names."""
    parts = {present_key(part.key): part for part in item.keys}
    if len(parts) < len(item.keys):
        raise ToolError(_NOT_TEXTUALLY.format(index.kind))
    return parts


def _cut(index: YamlIndex, item: IndexedAutomation, part: IndexedKey) -> tuple[int, int]:
    """Return start and end of what is cut out for a key: all but a comment behind it."""
    end = _second_key(index, item) if part is item.keys[0] else index.line_end(part.end)
    return (part.start, part.end) if "#" in index.text[part.end : end] else _gap(index, item, part)


def _exchanged(text: str, edits: Iterable[tuple[int, int, str]]) -> str:
    """Return a text in which pieces are exchanged; of those at one place, the first comes first."""
    pieces, position = list[str](), 0
    for start, end, piece in sorted(edits, key=lambda edit: edit[:2]):
        pieces += [text[position:start], piece]
        position = end
    return "".join([*pieces, text[position:]])


def _update(
    outline: Outline, automation_id: str, changes: Mapping[str, Any], expected: Mapping[str, Any] | None
) -> Edit:
    """Change the lines of some keys of an automation."""
    part = outline.part_of(automation_id)
    index, item, text = part.index, part.item, part.index.text
    before = loadable(index, item)
    if expected is not None and before != expected:
        raise ToolError(_CHANGED_SINCE.format(index.kind))
    after = merged(before, changes)
    if not item.on_lines:
        return _on_lines(part, after)
    new: list[str] = []
    edits: list[tuple[int, int, str]] = []
    for key, value in changes.items():
        named = [known for known in item.keys if known.key in {key, OLDER_KEYS.get(key)}]
        if len(named) > 1:
            raise ToolError(_NOT_TEXTUALLY.format(index.kind))
        if named and named[0].fixed and before.get(named[0].key) != value:
            raise ToolError(_FIXED.format(kind=index.kind, key=key, reason=named[0].fixed))
        if not named:
            new += [_dumped(part, key, value)] if value is not None else []
        elif value is None:
            edits.append((*_gap(index, item, named[0]), ""))
        elif before[named[0].key] != value or named[0].key != key:
            edits.append((named[0].start, named[0].end, _dumped(part, key, value)))
    if new:
        end = index.line_end(item.end)
        line_break = "" if text[:end].endswith("\n") else _line_break(outline.text)
        indent = " " * _column(index, item)
        edits.append((end, end, line_break + "".join(f"{indent}{line}{_line_break(outline.text)}" for line in new)))
    return _proven(part, _exchanged(text, edits), after)


def loadable(index: YamlIndex, item: IndexedAutomation) -> dict[str, Any]:
    """Return the data of an automation that can be changed in the text; raises ToolError with the reason for another one."""
    config = load_automation(index, item)
    if item.on_lines:
        return config
    fixed = "an anchor" if item.anchors else next((part.fixed for part in item.keys if part.fixed), "")
    if not fixed and _COMMENT.search(index.text, item.start, item.end):
        fixed = "a comment"
    if index.is_keyed:
        raise UnchangeableError(index.kind, _IN_BRACES)
    if fixed:
        raise UnchangeableError(index.kind, _BRACES.format(reason=fixed))
    return config


def _on_lines(part: OutlinePart, after: dict[str, Any]) -> Edit:
    """Write an automation that is in one pair of braces on lines of its own."""
    index, item, text = part.index, part.item, part.index.text
    block = indented(dump(after), _column(index, item)).strip()
    return _proven(part, f"{text[: item.start]}{_line_breaks(block, part.outline.text)}{text[item.end :]}", after)


def merged(config: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a configuration with changes; None removes a key, and older names of a key give way to it."""
    kept = {key: value for key, value in config.items() if key not in {OLDER_KEYS.get(changed) for changed in changes}}
    return {key: value for key, value in {**kept, **changes}.items() if value is not None or key not in changes}


def _dumped(part: OutlinePart, key: str, value: Any) -> str:
    """Return a key with its value as lines, for the place where the key begins."""
    block = indented(dump({key: value}), _column(part.index, part.item))
    return _line_breaks(block.strip(), part.outline.text)


def _column(index: YamlIndex, item: IndexedAutomation) -> int:
    """Return the indentation of the keys of an automation."""
    return item.start - index.line_start(item.start)


def _gap(index: YamlIndex, item: IndexedAutomation, part: IndexedKey) -> tuple[int, int]:
    """Return start and end of the text to be cut out for a key."""
    if part is not item.keys[0]:
        return index.line_start(part.start), index.line_end(part.end)
    end = _second_key(index, item)
    if "#" in index.text[part.end : end]:
        raise ToolError(_FIXED.format(kind=index.kind, key=part.key, reason="a comment"))
    return part.start, end


def _second_key(index: YamlIndex, item: IndexedAutomation) -> int:
    """Return where the second key of an automation begins; without one, its only key cannot be cut out."""
    match item.keys:
        case [_, second, *_]:
            return second.start
    raise ToolError(_NOT_TEXTUALLY.format(index.kind))


def _line_break(text: str) -> str:
    """Return the line break that a file uses."""
    return "\r\n" if "\r\n" in text else "\n"


def _line_breaks(block: str, text: str) -> str:
    """Return lines with the line breaks that a file uses."""
    return block.replace("\r\n", "\n").replace("\n", _line_break(text))


def _proven(part: OutlinePart, changed: str, expected: dict[str, Any]) -> Edit:
    """Return the change of an automation if the text says what it should."""
    start, end = part.index.span(part.item)
    edit = _check(part, changed, _others(part.index, part.item), expected)
    return dataclasses.replace(edit, before=part.index.text[start:end])


def _check(part: OutlinePart, changed: str, others: list[Meaning], expected: dict[str, Any] | Meaning) -> Edit:
    """Return a change with the lines that came out, if they and all others say what they should."""
    index = _read_again(part, changed)
    item = index.automations[part.number - part.first]
    _check_others(index, others, item)
    if (item.meaning if isinstance(expected, list) else load_automation(index, item)) != expected:
        raise ToolError(_UNWRITABLE.format(index.kind))
    _check_users(part, changed, item)
    start, end = index.span(item)
    return Edit(part.put_back(changed), None, changed[start:end], part.previous)


def _read_again(part: OutlinePart, changed: str) -> YamlIndex:
    """Return the index of a text that came out; raises ToolError where that says nothing, or something else."""
    try:
        return index_yaml(changed, part.index.kind)
    except ToolError as err:
        raise ToolError(_NOT_TEXTUALLY.format(part.index.kind)) from err


def _check_others(index: YamlIndex, others: list[Meaning], item: IndexedAutomation | None = None) -> None:
    """Raise ToolError unless all automations but one mean what they did."""
    if _others(index, item) != others:
        raise ToolError(_NOT_TEXTUALLY.format(index.kind))


def _others(index: YamlIndex, item: IndexedAutomation | None) -> list[Meaning]:
    """Return the meanings of all other automations."""
    return [other.meaning for other in index.automations if other is not item]


def _check_users(part: OutlinePart, changed: str, item: IndexedAutomation | None = None) -> None:
    """Raise ToolError if others that use an anchor of an automation, as it was or is now, would mean something else."""
    old = None if part.is_new else part.item
    anchors = (old.anchors if old else set()) | (item.anchors if item else set())
    if part.outline.whole is None or not (users := part.index.users(old, anchors)):
        return
    numbers = [number for number in range(len(part.index.automations)) if part.is_new or number != part.number]
    kind = part.index.kind
    before, after = load_all(part.index.text, kind), load_all(changed, kind)
    if before is None or after is None:
        different = [part.index.automations.index(user) for user in users]
    else:
        kept = [data for number, data in enumerate(after) if item is None or number != part.number]
        different = [number for number, now in zip(numbers, kept, strict=True) if before[number] != now]
    if different:
        raise ToolError(_USED.format(kind, part.outline.lines(different)))


MAX_DIFF = 2_500
"""Characters of a diff, which is shown rather than spoken."""
MAX_PROSE = 200
"""Characters of a name or a description in it, which do nothing."""
_PROSE = frozenset({"alias", "description"})
_VALUES = frozenset({"data", "data_template", "event_data", "input", "target", "trigger_variables", "variables"})
"""Under these, no name makes a value prose."""
