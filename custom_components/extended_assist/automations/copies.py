"""Copies of a file of the configuration from before each change, so that changes can be undone: the last ones only.

They may hold what the file holds, so only Home Assistant's own user can read them. Everything here blocks.
"""

from collections.abc import Callable
import contextlib
import gzip
import os
from pathlib import Path
import zlib

from homeassistant.util import ulid as ulid_util

from ..toolbox.journal import MAX_CHANGES

_SUFFIX = ".yaml.gz"
_MODE = 0o600


def copy_keeper(folder: Path, name: str) -> Callable[[bytes], None]:
    """Return a function that stores a copy of a content under a name, and deletes the oldest beyond MAX_CHANGES."""

    def keep(content: bytes) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(folder / f"{name}{_SUFFIX}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, _MODE)
        with os.fdopen(descriptor, "wb") as file:
            file.write(gzip.compress(content, compresslevel=1))
            file.flush()
            os.fsync(descriptor)
        for old in sorted(folder.glob(f"*{_SUFFIX}"))[:-MAX_CHANGES]:
            with contextlib.suppress(OSError):
                old.unlink()

    return keep


def read_copy(folder: Path, name: str) -> bytes | None:
    """Return a content that was kept, or None when it is gone."""
    try:
        return gzip.decompress((folder / f"{name}{_SUFFIX}").read_bytes())
    except OSError, EOFError, zlib.error:  # Gone, or half written when Home Assistant was killed.
        return None


def new_name() -> str:
    """Return a name for a copy; later ones sort behind."""
    return ulid_util.ulid_now()
