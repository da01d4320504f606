"""A disk that forgets what was not synced: what a power failure could leave at any moment, worked out from the calls.

The worst is assumed: names that were not synced may be there or not, each for itself, and contents that were not synced are lost.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
import os
from pathlib import Path
import stat
from threading import RLock
from typing import Any

import atomicwrites
import pytest

LOST = b"\0lost"
"""What is read where the content never came onto the disk."""

type View = dict[Path, bytes | None]
"""What may be found under each path after a power failure; None for nothing."""
type Check = Callable[[View], str | None]
"""Says what must not be, if it is so."""


class ForgetfulDisk:
    """Follows the calls that change a folder, and checks before each of them what a power failure would leave."""

    def __init__(self, folder: Path, watched: Callable[[], list[Path]], check: Check, drop: int | None = None) -> None:
        """Take the folder, the paths that matter, what must hold of them, and which sync is left out, if any."""
        self._lock = RLock()
        self._folder = folder
        self._watched = watched
        self._check = check
        self._drop = drop
        self.synced: list[str] = []
        """What was synced, in order."""
        self.wrong: set[str] = set()
        """What a power failure could have left that must not be."""
        self.moments = 0
        self._contents: dict[int, bytes] = {}
        self._names: dict[Path, list[int | None]] = {}
        self._open, self._seen = os.open, dict[int, int]()
        for path in folder.rglob("*"):
            self._names[path] = [self._number(path)]
            if path.is_file():
                self._contents[path.stat().st_ino] = path.read_bytes()

    @contextmanager
    def followed(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        """Follow what is done meanwhile."""
        with monkeypatch.context() as patch:
            for name in ("open", "replace", "rename", "unlink", "remove", "mkdir", "link"):
                patch.setattr(os, name, self._following(getattr(os, name)))
            sync = self._fsync(os.fsync)
            patch.setattr(os, "fsync", sync)
            patch.setattr(atomicwrites, "_proper_fsync", sync)  # What Home Assistant's stores use; it is os.fsync.
            yield
        self.look()
        for descriptor in self._seen.values():
            os.close(descriptor)

    def look(self) -> None:
        """Check everything that a power failure could leave now."""
        self.moments += 1
        paths = [path for path in self._watched() if path.is_relative_to(self._folder)]
        for found in product(*(sorted(self._possible(path), key=str) for path in paths)):
            if wrong := self._check(dict(zip(paths, found, strict=True))):
                self.wrong.add(wrong)

    def _possible(self, path: Path) -> set[bytes | None]:
        """Return what may be read under a path: nothing where a folder above it may be missing."""
        found = {None if one is None else self._contents.get(one, LOST) for one in self._names.get(path, [None])}
        above = [parent for parent in path.parents if parent.is_relative_to(self._folder) and parent != self._folder]
        if any(None in self._names.get(parent, [None]) for parent in above):
            found.add(None)
        return found

    def _following(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return a call after which the names are looked at."""

        def follow(*arguments: Any, **named: Any) -> Any:
            with self._lock:
                self.look()
                known = {path: self._number(path) for path in self._names}
                result = call(*arguments, **named)
                for path in {*known, *self._folder.rglob("*")}:
                    if (number := self._number(path)) != known.get(path):
                        self._names.setdefault(path, [None]).append(number)
                return result

        return follow

    def _fsync(self, call: Callable[[int], None]) -> Callable[[int], None]:
        """Return a sync that brings what it is about onto the disk, or that is left out."""

        def sync(descriptor: int) -> None:
            with self._lock:
                self.look()
                call(descriptor)
                take(descriptor)

        def take(descriptor: int) -> None:
            path = Path(f"/proc/self/fd/{descriptor}").readlink()
            if not path.is_relative_to(self._folder):
                return
            self.synced.append(str(path.relative_to(self._folder)))
            if len(self.synced) - 1 == self._drop:
                return
            status = os.fstat(descriptor)
            if not stat.S_ISDIR(status.st_mode):
                self._contents[status.st_ino] = path.read_bytes()
                return
            for name, numbers in self._names.items():
                if name.parent == path:
                    del numbers[:-1]

        return sync

    def _number(self, path: Path) -> int | None:
        """Return the number of the file that has a name now; it is held, so that no other one gets its number."""
        try:
            descriptor = self._open(path, os.O_RDONLY)
        except OSError:
            return None
        number = os.fstat(descriptor).st_ino
        if number in self._seen:
            os.close(descriptor)
        else:
            self._seen[number] = descriptor
        return number
