"""Read a YAML file of the configuration, replace it durably (fsync of file and folder), and store copies of it.

Everything here blocks and runs in the executor. Right before the file is replaced, its content is compared with the text that was
read, since Home Assistant's editor and people write the same file.
"""

from collections.abc import Callable
import contextlib
from dataclasses import dataclass
import gzip
import hashlib
import os
from pathlib import Path
import stat
import zlib

from ..calls.journal import MAX_CHANGES
from ..results import ToolError
from .edit import Edit

PRIVATE = 0o600


def write_synced(
    path: Path,
    content: bytes,
    beside: Path,
    *,
    mode: int = PRIVATE,
    like: os.stat_result | None = None,
    check: Callable[[], None] | None = None,
) -> None:
    """Replace the content of a file atomically and durably: a crash leaves the old or the new content, after the return the new one.

    `beside` is the temporary file; one that a killed writer left is overwritten. `like` gives the owner and the mode, if they can be
    set; `check` may raise right before the file is replaced.
    """
    with contextlib.suppress(FileNotFoundError):
        beside.unlink()
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        try:
            with os.fdopen(descriptor, "wb", closefd=False) as file:
                file.write(content)
            if like is not None:
                with contextlib.suppress(PermissionError):
                    os.fchown(descriptor, like.st_uid, like.st_gid)
                os.fchmod(descriptor, stat.S_IMODE(like.st_mode))
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        if check is not None:
            check()
        beside.replace(path)
    except BaseException:  # No temporary file must remain.
        with contextlib.suppress(FileNotFoundError):
            beside.unlink()
        raise
    sync_folder(path.parent)


def make_folder(folder: Path) -> None:
    """Make a folder that only Home Assistant's own user can read, if it is missing."""
    if not folder.is_dir():
        make_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)
        sync_folder(folder.parent)


def remove_synced(path: Path) -> None:
    """Remove a file, if it is there."""
    with contextlib.suppress(FileNotFoundError):
        path.unlink()
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Write the names in a folder to the disk (fsync), if the file system can do that."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


_SUFFIX = ".yaml.gz"
_BESIDE = "new"


def keep_copy(folder: Path, name: str, content: bytes) -> None:
    """Store a copy of a content under a name, and delete the oldest beyond MAX_CHANGES."""
    make_folder(folder)
    write_synced(folder / f"{name}{_SUFFIX}", gzip.compress(content, compresslevel=1), folder / _BESIDE)
    for old in sorted(folder.glob(f"*{_SUFFIX}"))[:-MAX_CHANGES]:
        with contextlib.suppress(OSError):
            old.unlink()


def read_copy(folder: Path, name: str) -> bytes | None:
    """Return the content of a copy; None if it is gone or damaged."""
    try:
        return gzip.decompress((folder / f"{name}{_SUFFIX}").read_bytes())
    except OSError, EOFError, zlib.error:
        return None


MAX_BYTES = 8_000_000
"""Largest size of a file: nobody writes a larger one by hand."""
ATTEMPTS = 20
"""Number of attempts at a change, which is repeated if somebody else saved the file in between."""

_BOM = "\N{ZERO WIDTH NO-BREAK SPACE}"
_NEW_MODE = 0o644
_BUSY = "The file {} was saved by somebody else again and again. Nothing was changed; try again later."


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
        raise ToolError(f"The file {path.name} cannot be read: {err.strerror}. Tell the user.") from err
    if len(content) > MAX_BYTES:
        raise ToolError(f"The file {path.name} has more than {MAX_BYTES} bytes, which is too many to change it here.")
    return content


def decode(content: bytes) -> tuple[str, str]:
    """Return the byte order mark, if there is one, and the text; raises ToolError if the encoding is not UTF-8."""
    try:
        text = content.decode()
    except UnicodeDecodeError as err:
        raise ToolError(
            "The file is not in UTF-8, so it cannot be changed. Tell the user to save it as UTF-8."
        ) from err
    return (_BOM, text[1:]) if text.startswith(_BOM) else ("", text)


def digest(text: str) -> str:
    """SHA-256 of a text in UTF-8, in hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def change(path: Path, make: Callable[[str], Edit], prepare: Callable[[bytes, Edit], None] | None = None) -> FileChange:
    """Replace the text of the file by that of an edit; repeats `make` if somebody else saved the file in between.

    `prepare` is called with the former content and the edit, right before the file is written. If this raises ToolError, the file is
    unchanged.
    """
    path = path.resolve()  # A link stays a link.
    for _ in range(ATTEMPTS):
        before = read(path)
        mark, text = decode(before)
        edit = make(text)
        after = f"{mark}{edit.text}".encode()
        try:
            if prepare is not None:
                prepare(before, edit)
            swap(path, before, after)
        except _ChangedMeanwhileError:
            continue
        except OSError as err:
            raise ToolError(
                f"The file {path.name} cannot be written: {err.strerror}. Nothing was changed; tell the user."
            ) from err
        return FileChange(before, after, edit)
    raise ToolError(_BUSY.format(path.name))


def try_change(path: Path, make: Callable[[str], Edit]) -> Edit:
    """Return an edit of the text of the file, without writing it; raises ToolError if the edit is not possible."""
    return make(decode(read(path))[1])


def swap(path: Path, before: bytes, after: bytes) -> None:
    """Replace the content of the file that was read with a new one, atomically and synced to the disk.

    There is one temporary name only, so that the next writer overwrites a file that a killed writer left.
    """
    try:
        kept = path.stat()
        if not kept.st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH):
            raise PermissionError(None, "it is marked as read-only")
    except FileNotFoundError:
        kept = None

    def check() -> None:
        if path.exists() is not (kept is not None) or read(path) != before:
            raise _ChangedMeanwhileError

    write_synced(path, after, leftover(path), mode=_NEW_MODE, like=kept, check=check)


def leftover(path: Path) -> Path:
    """Return the path of the temporary file beside the file; no loader of Home Assistant takes such a name."""
    return path.with_name(f".{path.name}.extended_assist")
