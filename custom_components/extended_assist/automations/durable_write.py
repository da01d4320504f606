"""Files that are on the disk, under their names, once a function returns. Everything here blocks."""

from collections.abc import Callable
import contextlib
import gzip
import os
from pathlib import Path
import stat
import zlib

from homeassistant.util import ulid as ulid_util

from ..calls.journal import MAX_CHANGES

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
    """Replace a file by a content, atomically: a crash leaves the one or the other, and after the return the new one.

    It is written beside the file, where what a killed writer left is overwritten. `like` gives the owner and the mode, as
    far as that can be; `check` may raise right before the file is replaced.
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
    except BaseException:  # Whatever ends the writing, nothing is left lying; it is raised again.
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
    """Bring the names in a folder onto the disk, where the file system can; the names themselves are changed already."""
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
    """Return a content that was kept, or None when it is gone."""
    try:
        return gzip.decompress((folder / f"{name}{_SUFFIX}").read_bytes())
    except OSError, EOFError, zlib.error:  # Gone, or damaged.
        return None


def new_name() -> str:
    """Return a name for a copy; later ones sort behind."""
    return ulid_util.ulid_now()
