"""Limits of one template: sizes are checked before an operation that could make something huge.

A thread can be interrupted between two steps of Python, but not inside one: `'x' * 10**9`, a padded text or a compare of
lists nested into each other would hold the interpreter, and with it the event loop, for as long as they take. So every
value that a template makes is measured, and operations whose result is larger than their operands are measured before.
"""

from collections.abc import ItemsView, Iterable, KeysView, Mapping, ValuesView
import re
from typing import Any, Final, Literal

from homeassistant.exceptions import TemplateError

MAX_SIZE: Final = 1_000_000
"""Characters of one value, with everything inside it written out, and _ITEM for every item of a collection."""
MAX_OUTPUT: Final = 256 * 1024
"""Characters of a finished text, as in Home Assistant."""
MAX_TOTAL: Final = 64_000_000
"""Roughly the bytes of all values made by one rendering."""
MAX_DEPTH: Final = 50
"""Collections inside each other; a hash of deeper ones can overflow the stack of the interpreter."""
MAX_BITS: Final = 64
"""Of a whole number: larger ones can be chosen so that sets of them take minutes to build."""
MAX_WIDTH: Final = 1_000
"""Of a padded text, a batch, a precision."""
MAX_FORMAT: Final = 255
"""Characters of a format for dates, and of texts that are parsed."""

_ITEM = 32
_POINTER = 8
_COLLECTIONS = (list, tuple, dict, set, frozenset, KeysView, ValuesView, ItemsView)
# A width of four digits, a width taken from the values, and a field inside a field; in both syntaxes of placeholders.
_WIDE = re.compile(r"%[^a-zA-Z%]*(?:\d{4}|\*)|\{[^{}]*:[^{}]*\d{4}|\{[^{}]*\{")
_REFUSED_METHODS = frozenset({"join", "replace", "translate", "format", "format_map"})
_WIDTH_METHODS = frozenset({"center", "ljust", "rjust", "zfill", "expandtabs", "to_bytes"})


class TooLargeError(TemplateError):
    """A template makes something larger than allowed."""

    def __init__(self, what: str) -> None:
        """Name the value that is too large."""
        super().__init__(f"{what} is too large for a template here. Build less at once.")


class _MeasureByType(dict[type, Literal["text", "number", "collection", "other"]]):
    """The way to measure a value, by its type; found out once for each type."""

    def __missing__(self, kind: type) -> Literal["text", "number", "collection", "other"]:
        """Classify a type."""
        if issubclass(kind, str | bytes):
            self[kind] = "text"
        elif issubclass(kind, _COLLECTIONS):
            self[kind] = "collection"
        else:
            self[kind] = "number" if issubclass(kind, int) and kind is not bool else "other"
        return self[kind]


_MEASURES = _MeasureByType()


class Budget:
    """The bytes that one rendering may still make."""

    def __init__(self) -> None:
        """Start with everything."""
        self._left = MAX_TOTAL
        # Collections cannot change in a template, so each is measured once; kept, so that its id is not given again.
        self._measured: dict[int, tuple[object, int, int]] = {}

    def check(self, value: Any) -> Any:
        """Return a value just made, or raise TooLargeError."""
        size, _ = self._measure(value)
        self.spend(len(value) * _POINTER if _MEASURES[type(value)] == "collection" else size)
        return value

    def spend(self, size: int) -> None:
        """Subtract bytes from the rest; raise TooLargeError when nothing is left."""
        self._left -= size
        if self._left < 0:
            raise TooLargeError("The sum of all values")

    def size(self, value: Any) -> int:
        """Return the characters of a value when written out; raise TooLargeError beyond MAX_SIZE."""
        return self._measure(value)[0]

    def check_size(self, size: int) -> None:
        """Raise TooLargeError when a value to be made would be too large."""
        if size > MAX_SIZE:
            raise TooLargeError(f"A value of about {size} characters")

    def add(self, left: Any, right: Any) -> Any:
        """Return the sum of two values; a list that grows item by item is not measured from its start each time."""
        result = left + right
        if not isinstance(result, list):
            return self.check(result)
        (left_size, left_depth), (right_size, right_depth) = self._measure(left), self._measure(right)
        self._remember(result, left_size + right_size, max(left_depth, right_depth))
        self.spend(len(result) * _POINTER)
        return result

    def _measure(self, value: Any) -> tuple[int, int]:
        """Return the size of a value and how deep collections are nested in it."""
        match _MEASURES[type(value)]:
            case "other":
                return 1, 0
            case "text":
                self.check_size(len(value))
                return len(value), 0
            case "number":
                if value.bit_length() > MAX_BITS:
                    raise TooLargeError("A whole number")
                return 1, 0
        if known := self._measured.get(id(value)):
            return known[1], known[2]
        size = depth = 0
        for item in (part for pair in value.items() for part in pair) if isinstance(value, Mapping) else value:
            item_size, item_depth = self._measure(item)
            size += item_size + _ITEM
            depth = max(depth, item_depth)
            if size > MAX_SIZE:
                break
        return self._remember(value, size, depth + 1)

    def _remember(self, value: object, size: int, depth: int) -> tuple[int, int]:
        """Store the size and depth of a collection; raise TooLargeError beyond the limits."""
        if size > MAX_SIZE:
            raise TooLargeError("A collection")
        if depth > MAX_DEPTH:
            raise TooLargeError(f"A collection with {depth} others inside each other")
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
        """Raise TooLargeError when a text with placeholders, in either syntax, would become too large."""
        text = template.decode("latin-1") if isinstance(template, bytes) else str(template)
        if _WIDE.search(text.replace("{{", "").replace("%%", "")):
            raise TemplateError("Widths in a format must be written as numbers below 1000.")
        self.check_size(len(text) + (text.count("%") + text.count("{")) * (self.size(values) + 1))

    def check_call(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """Return the arguments of a call; raise TooLargeError when a method would make something too large."""
        name = getattr(function, "__name__", "")
        owner = getattr(function, "__self__", None)
        if name == "strftime":
            self.check_short(*args, *kwargs.values())
        if not isinstance(owner, str | bytes | int):
            return args
        if name in _WIDTH_METHODS:
            self.check_width(*args, *kwargs.values())
            self.check_size(MAX_WIDTH * owner.count("\t") if isinstance(owner, str) and name == "expandtabs" else 0)
        elif name == "join" and isinstance(owner, str) and len(args) == 1:
            return (self.check_join(owner, args[0]),)
        elif name == "replace" and isinstance(owner, str) and len(args) > 1:
            self.check_replace(owner, *args[:2])
        elif name in _REFUSED_METHODS:
            raise TemplateError(f"The method '{name}' is not available on this.")
        return args

    def check_replace(self, text: str, old: Any, new: Any) -> None:
        """Raise TooLargeError when replacing in a text would make it too large."""
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
