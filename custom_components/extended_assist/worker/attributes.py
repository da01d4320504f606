"""Attributes of exposed entities, without secrets and without traces of hidden entities; each text is kept once."""

from collections.abc import Callable, Iterable
import json
import re
from typing import Any, Final

from ..exposure.secrets import is_secret_key, is_secret_text, sifted
from .errors import TooMuchToCopyError

MOST: Final = 250_000
"""Different attributes; what tells them apart is held in memory."""
# Both look ahead, so that one match hides no other: states.light.lamp names light.lamp, and each quote may begin a key.
_ENTITY_ID: Final = re.compile(r"\b(?=([a-z_0-9]+\.[a-z_0-9]+)\b)")
_KEY: Final = re.compile(r'"(?=([^"\\]*)"\s*:)')


class Attributes:
    """Numbers the attributes that states share, in the order in which they come."""

    def __init__(
        self, hidden: Iterable[str], keep: Callable[[int, str], object], kept: Callable[[int], str | None]
    ) -> None:
        """Take the ids of hidden entities, what stores a text under its number, and what returns it."""
        self._hidden = set(hidden)
        self._keep = keep
        self._kept = kept
        self._numbers: dict[int, int | None] = {}
        self._by_hash: dict[int, int] = {}
        self._count = 0

    def hide(self, entity_ids: Iterable[str]) -> None:
        """Hide more entities, before any attributes are added."""
        self._hidden.update(entity_ids)

    def knows(self, recorded: int) -> bool:
        """Return whether attributes have their number already."""
        return recorded in self._numbers

    def number(self, recorded: int | None) -> int | None:
        """Return the new number of attributes that were added."""
        return None if recorded is None else self._numbers.get(recorded)

    def add(self, recorded: int, text: str | None) -> int | None:
        """Number attributes by what is visible of them: a change of what is hidden makes no difference."""
        if len(self._numbers) >= MOST:
            raise TooMuchToCopyError(f"the states have more than {MOST:,} different attributes")
        visible = self.visible(text) if text and isinstance(text, str) else None
        self._numbers[recorded] = number = None if visible is None else self._numbered(visible)
        return number

    def _numbered(self, visible: str) -> int:
        """Return the number of a text that is kept, or keep it."""
        number = self._by_hash.get(hash(visible))
        if number is not None and self._kept(number) == visible:
            return number
        self._count += 1
        self._by_hash[hash(visible)] = self._count
        self._keep(self._count, visible)
        return self._count

    def visible(self, text: str) -> str | None:
        """Return attributes as they may be seen, or None where they are no JSON object."""
        if not self._may_tell(text):
            return text
        try:
            attributes = json.loads(text)
        except ValueError:
            return None
        if not isinstance(attributes, dict):
            return None
        return json.dumps(sifted(attributes, self._hides_key, self._hides), ensure_ascii=False, separators=(",", ":"))

    def _may_tell(self, text: str) -> bool:
        """Return whether attributes need a closer look; most need none."""
        return (
            not text.startswith("{")
            or "\\" in text  # A plain character written as an escape could spell an id past the pattern.
            or is_secret_text(text)
            or self._names_hidden(text)
            or any(map(is_secret_key, _KEY.findall(text)))
        )

    def _names_hidden(self, text: str) -> bool:
        """Return whether a text holds the id of a hidden entity."""
        return "." in text and not self._hidden.isdisjoint(_ENTITY_ID.findall(text.lower()))

    def _hides_key(self, key: str) -> bool:
        """Return whether nothing is shown under a key."""
        return is_secret_key(key) or self._hides(key)

    def _hides(self, value: Any) -> bool:
        """Return whether a text, number or the like is not shown."""
        return isinstance(value, str) and (is_secret_text(value) or self._names_hidden(value))
