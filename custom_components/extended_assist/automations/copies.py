"""Copies of a file of the configuration from before each change, so that changes can be undone: the last ones only.

They may hold what the file holds, so only Home Assistant's own user can read them. Everything here blocks.
"""

import contextlib
import gzip
from pathlib import Path
import zlib

from homeassistant.util import ulid as ulid_util

from ..toolbox.journal import MAX_CHANGES
from .synced import make_folder, write_synced

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
