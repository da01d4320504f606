"""What became of a change in a file of the configuration, and how it is taken back. Everything here blocks."""

from enum import Enum, auto
from pathlib import Path
from typing import Any

from .config_file import ConfigFile
from .copies import read_copy
from .edit import Edit
from .file import decode, digest, read
from .intents import Intent


class TextState(Enum):
    """What the file holds of an item that was to be changed."""

    BEFORE = auto()
    AFTER = auto()
    EDITED = auto()
    """A new one, which somebody else changed since."""
    OTHERS = auto()
    """What is neither, and so was written by somebody else."""


def look(file: ConfigFile, path: Path, intent: Intent) -> TextState:
    """Return what there is of a change; raises ToolError for a file that cannot be read."""
    details = intent.change.details
    text = decode(read(path))[1]
    if digest(text) == details["digest"]:
        return TextState.AFTER
    if digest(text) == intent.before:
        return TextState.BEFORE
    lines = file.lines(text, details["id"])
    if _same(lines, details["after"]):
        return TextState.AFTER
    if _same(lines, details["before"]):
        return TextState.BEFORE
    return TextState.EDITED if details["before"] is None else TextState.OTHERS


def _same(lines: str | None, others: str | None) -> bool:
    """Return whether lines are the same but for their indentation, or both are not there."""
    return lines == others if lines is None or others is None else lines.split() == others.split()


def reverse(file: ConfigFile, copies: Path, details: dict[str, Any], text: str) -> Edit:
    """Return the text as it was before a change."""
    before, after = details["before"], details["after"]
    if digest(text) == details["digest"] and (copy := read_copy(copies, details["copy"])) is not None:
        return Edit(decode(copy)[1], after, before, details["previous"])
    if before is None:
        return file.remove(text, details["id"], after)
    if after is None:
        return file.insert(text, before, details["previous"])
    return file.replace(text, details["id"], before, after)
