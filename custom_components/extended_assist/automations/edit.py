"""Change one automation, script or scene in the text of a file; every other character stays as it is.

Each change is proven by reading the result: all others mean what they meant, and this one means what was wanted.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
import contextlib
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
"""The beginning of a comment, or a part of a text that looks like one."""
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
    """Remove the lines of an item; raises ToolError if it no longer holds what is expected."""

    def cut_out(outline: Outline) -> Edit:
        # With its neighbour, because the comments after the removed item then follow the text of that one.
        part = outline.part_of(automation_id, with_neighbour=True)
        index = part.index
        if expected is not None and load_automation(index, part.item) != expected:
            raise ToolError(_CHANGED_SINCE.format(kind))
        start, end = index.span(part.item)
        empty = f"{' ' * index.column}{'{}' if index.is_keyed else '[]'}{_line_break(text)}"
        left = "" if len(index.automations) > 1 else empty
        return _proven(part, f"{index.text[:start]}{left}{index.text[end:]}", None)

    return _changed(text, kind, cut_out)


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
    return _proven(part, f"{before}{block}{after}", expected)


def _put_back(outline: Outline, automation_id: str, block: str, keys: Collection[str]) -> Edit:
    """Exchange the lines of some keys of an item."""
    part, alone = outline.part_of(automation_id), index_yaml(block, outline.kind)
    index, item, text, (old,) = part.index, part.item, part.index.text, alone.automations
    if not item.on_lines:
        raise UnchangeableError(outline.kind, _IN_BRACES)
    there, former = _parts(index, item), _parts(alone, old)
    column, line_break = index.key_column(item), _line_break(outline.text)
    edits: list[tuple[int, int, str]] = [
        (*_cut(index, item, named, keeps_comment=True), "")
        for key, named in there.items()
        if key in keys and key not in former
    ]
    place, last = -1, old.start  # Where the key before it ends, and where it did.
    for key, named in former.items():
        now, moved = there.get(key), column - alone.key_column(old)
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


def _cut(index: YamlIndex, item: IndexedAutomation, key: IndexedKey, *, keeps_comment: bool = False) -> tuple[int, int]:
    """Return start and end of the text to cut out for a key, which may leave a comment behind its value.

    The first key goes up to the second one, since a dash can be in front of it. It cannot be cut out where it is the only one, or
    where a comment would be lost.
    """
    is_first = key is item.keys[0]
    if is_first and len(item.keys) == 1:
        raise ToolError(_NOT_TEXTUALLY.format(index.kind))
    end = item.keys[1].start if is_first else index.line_end(key.end)
    if "#" in index.text[key.end : end]:
        if keeps_comment:
            return key.start, key.end
        if is_first:
            raise ToolError(_FIXED.format(kind=index.kind, key=key.key, reason="a comment"))
    return key.start if is_first else index.line_start(key.start), end


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
    if not item.on_lines:  # It is in one pair of braces: each key gets a line of its own.
        block = _line_breaks(indented(dump(after), index.key_column(item)).strip(), outline.text)
        return _proven(part, f"{text[: item.start]}{block}{text[item.end :]}", after)
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
            edits.append((*_cut(index, item, named[0]), ""))
        elif before[named[0].key] != value or named[0].key != key:
            edits.append((named[0].start, named[0].end, _dumped(part, key, value)))
    if new:
        end = index.line_end(item.end)
        line_break = "" if text[:end].endswith("\n") else _line_break(outline.text)
        indent = " " * index.key_column(item)
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


def merged(config: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a configuration with changes; None removes a key, and older names of a key give way to it."""
    kept = {key: value for key, value in config.items() if key not in {OLDER_KEYS.get(changed) for changed in changes}}
    return {key: value for key, value in {**kept, **changes}.items() if value is not None or key not in changes}


def _dumped(part: OutlinePart, key: str, value: Any) -> str:
    """Return a key with its value as lines, for the place where the key begins."""
    block = indented(dump({key: value}), part.index.key_column(part.item))
    return _line_breaks(block.strip(), part.outline.text)


def _line_break(text: str) -> str:
    """Return the line break that a file uses."""
    return "\r\n" if "\r\n" in text else "\n"


def _line_breaks(block: str, text: str) -> str:
    """Return lines with the line breaks that a file uses."""
    return block.replace("\r\n", "\n").replace("\n", _line_break(text))


def _proven(part: OutlinePart, changed: str, expected: dict[str, Any] | Meaning | None) -> Edit:
    """Return the edit that changes a part, once the changed text is proven by reading it.

    The item must hold what is expected, or be gone for None, and all other items must mean what they did. Raises ToolError otherwise.
    """
    index, kind = part.index, part.index.kind
    try:
        changed_index = index_yaml(changed, kind)
    except ToolError as err:
        raise ToolError(_NOT_TEXTUALLY.format(kind)) from err
    old = None if part.is_new else part.item
    new = None if expected is None else changed_index.automations[part.number - part.first]
    before = [other.meaning for other in index.automations if other is not old]
    if [other.meaning for other in changed_index.automations if other is not new] != before:
        raise ToolError(_NOT_TEXTUALLY.format(kind))
    if new and (new.meaning if isinstance(expected, list) else load_automation(changed_index, new)) != expected:
        raise ToolError(_UNWRITABLE.format(kind))
    _check_users(part, changed, old, new)
    text = part.put_back(changed)
    return Edit(text, index.lines(old) if old else None, changed_index.lines(new) if new else None, part.previous)


def _check_users(part: OutlinePart, changed: str, old: IndexedAutomation | None, new: IndexedAutomation | None) -> None:
    """Raise ToolError if other items that use an anchor of an item, as it was or is now, would mean something else."""
    anchors = (old.anchors if old else set()) | (new.anchors if new else set())
    if part.outline.whole is None or not (users := part.index.users(old, anchors)):
        return
    numbers = [number for number in range(len(part.index.automations)) if part.is_new or number != part.number]
    kind = part.index.kind
    before, after = load_all(part.index.text, kind), load_all(changed, kind)
    if before is None or after is None:
        different = [part.index.automations.index(user) for user in users]
    else:
        kept = [data for number, data in enumerate(after) if new is None or number != part.number]
        different = [number for number, now in zip(numbers, kept, strict=True) if before[number] != now]
    if different:
        raise ToolError(_USED.format(kind, part.outline.lines(different)))
