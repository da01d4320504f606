"""Compare a file with a change that was made, and revert the change, but keep what others have changed in the item since.

Items are compared by their meaning: comments, indentation, quotes and the order of keys do not count, and the older name of a key is the
same key. Everything here blocks.
"""

from collections.abc import Mapping
from enum import Enum, auto
from pathlib import Path
from typing import Any

from ..results import ToolError
from .edit import OLDER_KEYS, Edit, insert, present_key, put_back, remove
from .file import decode, digest, read, read_copy
from .loading import ConfigFile
from .pending_changes import Intent
from .yaml_outline import Outline, outline_of
from .yaml_positions import Meaning, index_yaml, load_automation

_UNSAID: Mapping[str, Any] = {"conditions": [], "description": "", "mode": "single"}
"""Values that Home Assistant's editor writes for keys that are missing."""
_OLDER_NAMES = {"platform": "trigger", "service": "action"}
"""Older names of the keys that name the kind of a trigger, and an action."""
_GIVEN = frozenset({"data", "event_data", "variables", "trigger_variables"})
"""Keys whose values Home Assistant hands on, so that names inside of them are not older names of keys."""

_CHANGED = "Somebody else has changed {} of this {} since, so it was left as it is."
_GONE = "It is gone already, so nothing was undone."
_THERE = "Something with this id is there again already, so nothing was undone."


class ChangedSinceError(ToolError):
    """Somebody has changed the item since, so that the change cannot be undone as long as that stays so."""


def reverse(
    text: str, item_id: str, before: str | None, after: str | None, previous: str | None, *, kind: str = "automation"
) -> Edit:
    """Return the text without a change that made these lines of an item, or none, into those."""
    outline = outline_of(text, kind)  # Its errors pass: the file may be readable again soon.
    try:
        return _reversed(outline, item_id, before, after, previous)
    except ChangedSinceError:
        raise
    except ToolError as err:
        raise ChangedSinceError(str(err)) from err


def _reversed(outline: Outline, item_id: str, before: str | None, after: str | None, previous: str | None) -> Edit:
    """Return the text of an outline without a change."""
    text, kind, is_there = outline.text, outline.kind, outline.find(item_id) is not None
    if after is None:
        if is_there:
            raise ChangedSinceError(_THERE)
        return insert(text, str(before), previous, kind)
    if not is_there:
        raise ChangedSinceError(_GONE)
    part = outline.part_of(item_id)
    item = part.item
    former, left, now = _loaded(before, kind), _loaded(after, kind), load_automation(part.index, item)
    ours = _differing(left, former)
    commented = {present_key(part.key) for part in item.keys if part.fixed == "a comment"}
    if before is None:
        ours |= _differing(now, left)
        commented = set()
    theirs, done = set[str](), set[str]()
    for key in sorted(ours):
        if _value(now, key) != _value(left, key):
            # Somebody has set it back already.
            is_back = before is not None and _value(now, key) == _value(former, key)
            (done if is_back else theirs).add(key)
        elif key in commented:
            theirs.add(f"a comment in {key}")
    if theirs:
        raise ChangedSinceError(_CHANGED.format(" and ".join(sorted(theirs)), kind))
    return remove(text, item_id, kind) if before is None else put_back(text, item_id, before, ours - done, kind)


def _loaded(block: str | None, kind: str) -> dict[str, Any]:
    """Return the data of an item from its lines; an empty object for none."""
    if block is None:
        return {}
    index = index_yaml(block, kind)
    (item,) = index.automations
    return load_automation(index, item)


def _differing(one: Mapping[str, Any], other: Mapping[str, Any]) -> set[str]:
    """Return the keys in which two automations are written differently, by their present names."""
    keys = one.keys() | other.keys()
    return {
        present_key(key)
        for key in keys
        if (key in one) is not (key in other) or _plain(one[key], is_part=False) != _plain(other[key], is_part=False)
    }


def _value(config: Mapping[str, Any], key: str) -> Any:
    """Return the value of a key, under whichever of its names it is there."""
    value = config.get(key, config.get(OLDER_KEYS.get(key, key)))
    if value is None:
        value = _UNSAID.get(key)
    if key in OLDER_KEYS and not isinstance(value, list):
        value = [] if value is None else [value]
    return _plain(value, is_part=key in OLDER_KEYS)


def _plain(value: Any, *, is_part: bool) -> Any:
    """Return a value that equals another one only if both mean the same: on is not 1, and the order of keys says nothing."""
    if isinstance(value, Mapping):
        plain = {}
        for key, inner in value.items():
            name = _OLDER_NAMES.get(key, key) if is_part else key
            listed = is_part and name == "entity_id" and isinstance(inner, str)
            plain[type(name), name] = _plain([inner] if listed else inner, is_part=is_part and key not in _GIVEN)
        return plain
    if isinstance(value, list):
        return [_plain(item, is_part=is_part) for item in value]
    return type(value), value


class TextState(Enum):
    """The state of an item in the file, compared with a change."""

    BEFORE = auto()
    AFTER = auto()
    EDITED = auto()
    """The change added the item, and somebody else has edited it since."""
    OTHERS = auto()
    """Somebody else has written it."""


def text_state(file: ConfigFile, path: Path, intent: Intent) -> TextState:
    """Return the state of a change in its file; raises ToolError for a file that cannot be read."""
    details = intent.change.details
    text = decode(read(path))[1]
    if digest(text) == details["digest"]:
        return TextState.AFTER
    if digest(text) == intent.before:
        return TextState.BEFORE
    outline = outline_of(text, file.domain)
    lines = None
    if outline.find(details["id"]) is not None:
        part = outline.part_of(details["id"])
        lines = part.index.lines(part.item)
    now = _meaning(lines, file.domain)
    if now == _meaning(details["after"], file.domain):
        return TextState.AFTER
    if now == _meaning(details["before"], file.domain):
        return TextState.BEFORE
    return TextState.EDITED if details["before"] is None else TextState.OTHERS


def _meaning(lines: str | None, kind: str) -> Meaning | None:
    """Return the parsed lines of an item, whatever their indentation and comments; None for none."""
    if lines is None:
        return None
    (item,) = index_yaml(lines, kind).automations
    return item.meaning


def restore(file: ConfigFile, copies: Path, details: dict[str, Any], text: str) -> Edit:
    """Return the text as it was before a change: all of it where nobody else has changed it, otherwise the one item."""
    before, after, previous = details["before"], details["after"], details["previous"]
    if digest(text) == details["digest"] and (copy := read_copy(copies, details["copy"])) is not None:
        return Edit(decode(copy)[1], after, before, previous)
    return reverse(text, details["id"], before, after, previous, kind=file.domain)
