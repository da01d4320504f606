"""Check the limits of every call's arguments before other code reads them.

A C library that parses dates crashes Home Assistant's process on a lone surrogate, SQLite and JSON handle integers of
64 bits only, and a long list would block the event loop.
"""

from collections.abc import Iterable, Mapping, Sized
import math
from typing import Any, Final

from ..results import Path, ToolError, place_of

MAX_ITEMS: Final = 1_000
"""Maximum items of one list or object."""
MAX_VALUES: Final = 10_000
MAX_CHARACTERS: Final = 200_000
MAX_DEPTH: Final = 50
_BITS: Final = 63


def check_arguments(arguments: Any) -> None:
    """Raise ToolError, with the path of the value, for values that no tool can use."""
    values, characters = 1, 0
    left: list[tuple[Any, Path]] = [(arguments, ())]
    while left:
        value, path = left.pop()
        inner: list[tuple[Any, Path]] = []
        if isinstance(value, Mapping):
            _check_length(value, path)
            texts = [str(key) for key in value]
            inner = [(item, (*path, key)) for key, item in value.items()]
        elif isinstance(value, list | tuple):
            _check_length(value, path)
            texts = []
            inner = [(item, (*path, index)) for index, item in enumerate(value)]
        else:
            texts = [value] if isinstance(value, str) else []
            _check_number(value, path)
        values += len(inner)
        characters += sum(map(len, texts))
        if len(path) > MAX_DEPTH or values > MAX_VALUES or characters > MAX_CHARACTERS:
            raise ToolError(
                f"The arguments are too long: at most {MAX_VALUES:,} values, {MAX_DEPTH} levels and {MAX_CHARACTERS:,} "
                "characters are allowed. Pass less."
            )
        _check_texts(texts, path)
        left += inner


def _check_length(items: Sized, path: Path) -> None:
    """Raise ToolError if a list or object has too many items."""
    if len(items) > MAX_ITEMS:
        raise _wrong(path, f"{len(items):,} items; at most {MAX_ITEMS:,} are allowed. Pass fewer, or name an area.")


def _check_number(value: Any, path: Path) -> None:
    """Raise ToolError for a number that is not finite or has more than 64 bits."""
    if isinstance(value, float) and not math.isfinite(value):
        raise _wrong(path, "this must be a finite number. Pass one.")
    if isinstance(value, int) and not -(2**_BITS) <= value < 2**_BITS:
        raise _wrong(path, "a whole number has at most 64 bits. Pass a smaller one.")


def _check_texts(texts: Iterable[str], path: Path) -> None:
    """Raise ToolError for a text with a lone surrogate, one half of a split pair of code units."""
    try:
        for text in texts:
            text.encode()
    except UnicodeEncodeError as err:
        raise _wrong(path, "this text holds half a character (a lone surrogate). Write it without.") from err


def _wrong(path: Path, problem: str) -> ToolError:
    """Return the error for a value, with its path as far as UTF-8 can encode it."""
    place = place_of("", path).removeprefix(".").encode(errors="replace").decode()
    return ToolError(f"{place[:100] or 'The arguments'}: {problem}")
