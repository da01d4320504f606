"""Limits of one template: sizes are checked before an operation that could make something huge.

A thread can be interrupted between two steps of Python, but not inside one: `'x' * 10**9`, a padded text or a compare of
lists nested into each other would hold the interpreter, and with it the event loop, for as long as they take. So every
value that a template makes is measured, and operations whose result is larger than their operands are measured before.
"""

from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, Sized, ValuesView
from math import inf
import re
from string import Formatter
from time import monotonic
from typing import Any, Final, Literal

from homeassistant.exceptions import TemplateError

MAX_SIZE: Final = 1_000_000
"""The most characters of one value when written out, plus _ITEM for each item of a collection."""
MAX_OUTPUT: Final = 256 * 1024
"""The most characters of a finished text, as in Home Assistant."""
MAX_TOTAL: Final = 64_000_000
"""The approximate bytes of all values of one rendering."""
MAX_DEPTH: Final = 50
"""The deepest nesting of collections; hashing deeper ones can overflow the interpreter's stack."""
MAX_BITS: Final = 64
"""The most bits of an integer: sets of larger ones can be made to take minutes."""
MAX_WIDTH: Final = 1_000
"""The largest padding, batch size and precision."""
MAX_FORMAT: Final = 255
"""The most characters of a date format, and of a text to parse."""
MAX_SEARCH: Final = 100_000_000
"""The most character comparisons of one search: for some texts, every position is compared with the whole pattern."""

_ITEM = 32
_TUPLE = 500
"""The weight of a tuple or range besides its items: sets of them can be made to take seconds."""
_POINTER = 8
_OVERHEAD = 200
"""Bytes of a collection besides its items, with its cached size."""
_WORTH_KEEPING = 1_000
"""The size from which a collection's size is cached; measuring smaller ones is as fast as a look-up."""
_COLLECTIONS = (list, tuple, dict, set, frozenset, KeysView, ValuesView, ItemsView)
_LAZY: Final[tuple[type, ...]] = (zip, map, filter, enumerate, reversed, type(iter([])), type(reversed([])))
"""Lazy types that can contain each other; iterating thousands of nested ones overflows the interpreter's stack."""
_PLACEHOLDER = re.compile(r"%(?:%|(?:\([^()]*\))?[-#0 +]*(\d*)(?:\.(\d*))?[hlL]?[a-zA-Z])")
_DIGITS = re.compile(r"\d+")


class TooLargeError(TemplateError):
    """A template creates a value beyond a size limit."""

    def __init__(self, what: str) -> None:
        """Name the value that is too large."""
        super().__init__(f"{what} is too large for a template here. Build less at once.")


class TooLongError(TemplateError):
    """A template exceeds the time limit."""

    def __init__(self, seconds: float) -> None:
        """Name the limit."""
        super().__init__(f"The template took longer than {seconds:g} seconds. Let it do less.")


type _Measure = Literal["text", "number", "collection", "lazy", "sized", "other"]


class _MeasureByType(dict[type, _Measure]):
    """The function that measures a value, cached by type."""

    def __missing__(self, kind: type) -> _Measure:
        """Choose the function for a type."""
        if issubclass(kind, str | bytes):
            self[kind] = "text"
        elif issubclass(kind, _COLLECTIONS):
            self[kind] = "collection"
        elif issubclass(kind, _LAZY):
            self[kind] = "lazy"
        elif issubclass(kind, int) and kind is not bool:
            self[kind] = "number"
        else:
            self[kind] = "sized" if issubclass(kind, Sized) else "other"
        return self[kind]


_MEASURES = _MeasureByType()


class Budget:
    """The remaining bytes and time of one rendering."""

    _clock = staticmethod(monotonic)

    def __init__(self, seconds: float = inf) -> None:
        """Start with the full budget."""
        self._left = MAX_TOTAL
        self._seconds = seconds
        self._ends = self._clock() + seconds
        # Collections cannot change in a template, so each large one is measured once; kept, so that its id is not given again.
        self._measured: dict[int, tuple[object, int, int]] = {}

    def check(self, value: Any) -> Any:
        """Return a new value, or raise TooLargeError; lazy values become lists."""
        match _MEASURES[type(value)]:
            case "lazy":
                return self.gathered(value)
            case "collection":
                self._measure(value)
                self.spend(_OVERHEAD + len(value) * _POINTER)
            case "text":
                self._measure(value)
                self.spend(value.__sizeof__())
            case kind:
                if kind == "number":
                    self._measure(value)
                self.spend(_ITEM)
        return value

    def spend(self, size: int) -> None:
        """Subtract bytes; raises TooLargeError or TooLongError if nothing is left."""
        self._left -= size
        if self._left < 0:
            raise TooLargeError("The sum of all values")
        self.tick()

    def tick(self) -> None:
        """Raise TooLongError beyond the time limit."""
        if self._clock() > self._ends:
            raise TooLongError(self._seconds)

    def seconds(self, most: float) -> float:
        """Return the seconds for one operation."""
        return min(most, max(self._ends - self._clock(), 0.001))

    def ticking(self, items: Iterable[Any]) -> Iterator[Any]:
        """Yield the items of a loop and check the clock in each iteration."""
        for item in items:
            self.tick()
            yield item

    def gathered(self, items: Iterator[Any]) -> list[Any]:
        """Return the items of an iterator."""
        found: list[Any] = []
        for item in self.ticking(items):
            found.append(item)
            if len(found) * _ITEM > MAX_SIZE:
                raise TooLargeError("A collection")
        self.check(found)
        return found

    def size(self, value: Any) -> int:
        """Return the characters of a value when written out; raise TooLargeError beyond MAX_SIZE."""
        return self._measure(value)[0]

    def check_size(self, size: int) -> None:
        """Raise TooLargeError when a value to be made would be too large."""
        if size > MAX_SIZE:
            raise TooLargeError(f"A value of about {size} characters")

    def add(self, left: Any, right: Any) -> Any:
        """Return the sum of two values; a list that grows item by item is not measured again from its start."""
        result = left + right
        if not isinstance(result, list):
            return self.check(result)
        (left_size, left_depth), (right_size, right_depth) = self._measure(left), self._measure(right)
        self._remember(result, left_size + right_size, max(left_depth, right_depth))
        self.spend(_OVERHEAD + len(result) * _POINTER)
        return result

    def _measure(self, value: Any) -> tuple[int, int]:
        """Return the size of a value and how deep collections are nested in it."""
        match _MEASURES[type(value)]:
            case "other":
                return 1, 0
            case "sized":  # A range, or all states: small by itself, but not what is made of many of them.
                return _TUPLE + len(value) * _ITEM, 1
            case "text":
                self.check_size(len(value))
                return len(value), 0
            case "number":
                if value.bit_length() > MAX_BITS:
                    raise TooLargeError("A whole number")
                return 1, 0
            case "lazy":
                raise TooLargeError("An iterator inside of a collection")
        if known := self._measured.get(id(value)):
            return known[1], known[2]
        size = depth = 0
        for item in (part for pair in value.items() for part in pair) if isinstance(value, Mapping) else value:
            item_size, item_depth = self._measure(item)
            size += item_size + _ITEM
            depth = max(depth, item_depth)
            if size > MAX_SIZE:
                break
        return self._remember(value, size + (_TUPLE if isinstance(value, tuple) else 0), depth + 1)

    def _remember(self, value: object, size: int, depth: int) -> tuple[int, int]:
        """Store the size and depth of a collection; raise TooLargeError beyond the limits."""
        if size > MAX_SIZE:
            raise TooLargeError("A collection")
        if depth > MAX_DEPTH:
            raise TooLargeError(f"A collection with {depth} others inside each other")
        if size > _WORTH_KEEPING:
            self._measured[id(value)] = (value, size, depth)
        return size, depth

    def check_operator(self, operator: str, left: Any, right: Any) -> None:
        """Raise TooLargeError when the result of a binary operator would be too large."""
        if operator == "**" and isinstance(left, int) and isinstance(right, int):
            if abs(left) > 1 and right > MAX_BITS:
                raise TooLargeError("A whole number")
        elif operator == "*":
            for repeated, times in ((left, right), (right, left)):
                if isinstance(times, int) and isinstance(repeated, str | bytes | list | tuple):
                    self.check_size((self.size(repeated) + 1) * max(times, 0))
        elif operator == "%" and isinstance(left, str | bytes):
            self.check_format(left, right)

    def check_format(self, template: Any, values: Any) -> None:
        """Raise TooLargeError when a text with `%` would become too large."""
        text = template.decode("latin-1") if isinstance(template, bytes) else str(template)
        widths = [_widest(found[1], found[2]) for found in _PLACEHOLDER.finditer(text)]
        if "%" in _PLACEHOLDER.sub("", text):
            raise TemplateError("A placeholder is not understood; widths must be written as numbers.")
        self._check_filled(text, widths, values)

    def check_fields(self, template: str, values: Any) -> None:
        """Raise TooLargeError when a text with `{}` would become too large."""
        widths = []
        for _, _, form, _ in Formatter().parse(template):
            if form and "{" in form:
                raise TemplateError("Widths in a format must be written as numbers.")
            self.check_short(form)
            widths.append(_widest(*_DIGITS.findall(form or "")))
        self._check_filled(template, widths, values)

    def _check_filled(self, text: str, widths: list[int], values: Any) -> None:
        """Raise TooLargeError when placeholders of some widths would make a text too large."""
        self.check_width(*widths)
        self.check_size(len(text) + sum(widths) + len(widths) * (self.size(values) + 1))

    def check_search(self, text: Any, *wanted: Any) -> None:
        """Raise TooLargeError when a search in a text could compare for too long."""
        if any(isinstance(each, str | bytes) and len(text) * len(each) > MAX_SEARCH for each in wanted):
            raise TooLargeError("What is looked for in a text of this length")

    def check_replace(self, text: str, old: Any, new: Any) -> None:
        """Raise TooLargeError when replacing in a text would make it too large."""
        self.check_search(text, old)
        self.check_size(len(text) + text.count(str(old)) * len(str(new)))

    def check_join(self, separator: Any, items: Iterable[Any]) -> list[Any]:
        """Return the items to be joined, or raise TooLargeError."""
        kept = list(items)
        self.check_size(self.size(kept) + len(kept) * len(str(separator)))
        return kept

    def check_width(self, *numbers: Any) -> None:
        """Raise TooLargeError for a width, count or precision beyond the limit."""
        if any(isinstance(number, int) and abs(number) > MAX_WIDTH for number in numbers):
            raise TooLargeError(f"A width or precision above {MAX_WIDTH}")

    def check_short(self, *texts: Any) -> None:
        """Raise TooLargeError for a text that is too long to be a format or a moment."""
        if any(isinstance(text, str) and len(text) > MAX_FORMAT for text in texts):
            raise TooLargeError(f"A format or moment of more than {MAX_FORMAT} characters")


def _widest(*numbers: str | None) -> int:
    """Return the largest of some widths and precisions; a number with too many digits counts as beyond the limit."""
    return max((int(number) if len(number) < 5 else MAX_WIDTH + 1 for number in numbers if number), default=0)
