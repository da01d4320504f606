"""What became of a change in a file of the configuration, and how it is taken back. Everything here blocks."""

from enum import Enum, auto
from pathlib import Path
from typing import Any

from .config_file import ConfigFile
from .durable_write import read_copy
from .edit import Edit
from .file import decode, digest, read
from .pending_changes import Intent
from .revert import reverse
from .yaml_outline import outline_of
from .yaml_positions import Meaning, index_yaml


class TextState(Enum):
    """What the file holds of an item that was to be changed."""

    BEFORE = auto()
    AFTER = auto()
    EDITED = auto()
    """A new one, which somebody else changed since."""
    OTHERS = auto()
    """What is neither, and so was written by somebody else."""


def look(file: ConfigFile, path: Path, intent: Intent) -> TextState:
    """Return the state of a change in its file; raises ToolError for a file that cannot be read."""
    details = intent.change.details
    text = decode(read(path))[1]
    if digest(text) == details["digest"]:
        return TextState.AFTER
    if digest(text) == intent.before:
        return TextState.BEFORE
    now = _meaning(_lines(text, details["id"], file.domain), file.domain)
    if now == _meaning(details["after"], file.domain):
        return TextState.AFTER
    if now == _meaning(details["before"], file.domain):
        return TextState.BEFORE
    return TextState.EDITED if details["before"] is None else TextState.OTHERS


def _lines(text: str, item_id: str, kind: str) -> str | None:
    """Return the lines of an item in a text; None where it is not in it."""
    outline = outline_of(text, kind)
    if outline.find(item_id) is None:
        return None
    part = outline.part_of(item_id)
    return part.index.text[slice(*part.index.span(part.item))]


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
