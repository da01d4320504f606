"""The file of automations: read, and replaced as a whole without ever being half written.

Everything here blocks and runs in the executor. What was read is compared with what is there right before the rename, since
Home Assistant's editor and people write the same file.
"""

from collections.abc import Callable
import contextlib
from dataclasses import dataclass
import os
from pathlib import Path
import stat

from ..results import ToolError
from .edit import Edit

MAX_BYTES = 8_000_000
"""A file beyond this size is no list of automations that somebody wrote."""
ATTEMPTS = 20
"""Attempts at a change, which is made anew when somebody else saved the file in between."""

_BOM = "\N{ZERO WIDTH NO-BREAK SPACE}"
_NEW_MODE = 0o644
_BUSY = "The file of automations was saved by somebody else again and again. Nothing was changed; try again later."


class _ChangedMeanwhileError(Exception):
    """The file is not the one that was read."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """The content of the file before and after a change."""

    before: bytes
    after: bytes
    edit: Edit


def read(path: Path) -> bytes:
    """Return the content of the file, none if it is missing; raises ToolError when it cannot be read."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return b""
    except OSError as err:
        raise ToolError(f"The file of automations cannot be read: {err.strerror}. Tell the user.") from err
    if len(content) > MAX_BYTES:
        raise ToolError(
            f"The file of automations has more than {MAX_BYTES} bytes, which is too many to change it here."
        )
    return content


def decode(content: bytes) -> tuple[str, str]:
    """Return the mark at the beginning, if there is one, and the text; raises ToolError for other encodings."""
    try:
        text = content.decode()
    except UnicodeDecodeError as err:
        raise ToolError(
            "The file of automations is not in UTF-8, so it cannot be changed. Tell the user to save it as UTF-8."
        ) from err
    return (_BOM, text[1:]) if text.startswith(_BOM) else ("", text)


def change(path: Path, make: Callable[[str], Edit], keep: Callable[[bytes], None] | None = None) -> FileChange:
    """Replace the file by what `make` makes of its text; made anew when somebody else saved in between.

    `keep` is given the content before, once it is known that it will be replaced. Raises ToolError, with the file as it was.
    """
    path = path.resolve()  # A link stays a link.
    for _ in range(ATTEMPTS):
        before = read(path)
        mark, text = decode(before)
        edit = make(text)
        after = f"{mark}{edit.text}".encode()
        try:
            if keep is not None:
                keep(before)
            swap(path, before, after)
        except _ChangedMeanwhileError:
            continue
        except OSError as err:
            raise ToolError(
                f"The file of automations cannot be written: {err.strerror}. Nothing was changed; tell the user."
            ) from err
        return FileChange(before, after, edit)
    raise ToolError(_BUSY)


def try_change(path: Path, make: Callable[[str], Edit]) -> None:
    """Raise ToolError where a change could not be made of the text as it is; writes nothing."""
    make(decode(read(path))[1])


def swap(path: Path, before: bytes, after: bytes) -> None:
    """Replace the content of the file that was read with a new one, atomically and synced to the disk.

    Beside it there is one name only, so that what a killed writer left is overwritten, and renamed away, by the next.
    """
    beside = leftover(path)
    try:
        kept = path.stat()
        if not kept.st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH):
            raise PermissionError(None, "it is marked as read-only")
    except FileNotFoundError:
        kept = None
    with contextlib.suppress(FileNotFoundError):
        beside.unlink()
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _NEW_MODE)
    try:
        try:
            with os.fdopen(descriptor, "wb", closefd=False) as file:
                file.write(after)
            if kept is not None:
                with contextlib.suppress(PermissionError):
                    os.fchown(descriptor, kept.st_uid, kept.st_gid)
                os.fchmod(descriptor, stat.S_IMODE(kept.st_mode))
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        _check_same(path, before, existed=kept is not None)
        beside.replace(path)
    except BaseException:  # Whatever ends the writing, nothing is left lying; it is raised again.
        with contextlib.suppress(FileNotFoundError):
            beside.unlink()
        raise
    with contextlib.suppress(OSError):  # Not every file system can; the rename itself is done.
        _sync_folder(path.parent)


def _check_same(path: Path, before: bytes, *, existed: bool) -> None:
    """Raise _ChangedMeanwhileError unless the file is still the one that was read."""
    if path.exists() is not existed or read(path) != before:
        raise _ChangedMeanwhileError


def leftover(path: Path) -> Path:
    """Return the path of the temporary file beside the file; no loader of Home Assistant takes such a name."""
    return path.with_name(f".{path.name}.extended_assist")


def _sync_folder(folder: Path) -> None:
    """Bring the names in a folder onto the disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
