"""Copies of the file that were set aside because it could not be read: what is deleted for good goes from them, too.

All of this blocks, and runs off the event loop.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
import json
from pathlib import Path
from typing import Any

import voluptuous as vol

from homeassistant.util.file import WriteError, write_utf8_file_atomic

from .fact import Fact, read_row


@dataclass(frozen=True)
class Gone:
    """The facts that are deleted for good."""

    wanted: Callable[[Fact], bool]
    """Returns true for a fact that is to be removed."""
    words: Collection[str] = ()
    """The words of those that were found."""
    names: Collection[str] = field(default_factory=set)
    """The ids of the user and of their person, where all of theirs is deleted."""

    def has_row(self, row: Any) -> bool:
        """Return whether a row of a copy is to go; one that is no fact goes if it holds any of the words or ids."""
        try:
            fact = read_row(row)
        except vol.Invalid:
            return self.is_in(json.dumps(row, ensure_ascii=False))
        return fact.words in self.words or self.wanted(fact)

    def is_in(self, text: str) -> bool:
        """Return whether a text holds any of the words or ids as a JSON value."""
        return any(json.dumps(one, ensure_ascii=False) in text for one in (*self.words, *self.names))


def holds(path: Path, gone: Gone) -> bool:
    """Return whether any copy of a file holds facts that are to go; raises OSError."""
    return any(True for _ in _changed(path, gone))


def cut(path: Path, gone: Gone) -> None:
    """Remove facts from the copies of a file; a copy that cannot be parsed is deleted if it holds any. Raises OSError."""
    for copy, left in _changed(path, gone):
        if left is None:
            copy.unlink()
            continue
        try:
            write_utf8_file_atomic(str(copy), json.dumps(left, ensure_ascii=False), private=True)
        except WriteError as err:
            raise OSError(str(err)) from err


def remove(path: Path) -> None:
    """Delete the copies of a file."""
    for copy in _copies(path):
        copy.unlink(missing_ok=True)


def _copies(path: Path) -> Iterator[Path]:
    """Yield the copies of a file."""
    yield from path.parent.glob(f"{path.name}.*")


def _changed(path: Path, gone: Gone) -> Iterator[tuple[Path, Any]]:
    """Yield the copies that hold facts that are to go, with what is left of each; None where it cannot be taken apart."""
    for copy in _copies(path):
        text = copy.read_text(encoding="utf-8", errors="replace")
        try:
            stored = json.loads(text)
            rows = stored["data"]["facts"]
            left = [row for row in rows if not gone.has_row(row)]
        except ValueError, LookupError, TypeError, RecursionError:
            if gone.is_in(text):
                yield copy, None
            continue
        if len(left) < len(rows):
            stored["data"]["facts"] = left
            yield copy, stored
