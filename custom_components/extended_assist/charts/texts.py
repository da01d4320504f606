"""What is written in charts."""

from html import escape
import re
from typing import Final

from ..results import number

_UNWRITABLE: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""What no XML may hold."""
_DIGITS: Final = 12
_NAME: Final = 44


def level_text(level: float) -> str:
    """Return a round value, short enough to stand beside the plot."""
    for size, letter in ((1e9, "G"), (1e6, "M")):
        if abs(level) >= size:
            return f"{number(level / size, decimals=_DIGITS)}{letter}"
    # All digits that tell it from the next one, whatever those of a single value would be worth.
    return f"{number(level, decimals=_DIGITS)}"


def as_xml(text: str) -> str:
    """Return a text as XML."""
    return escape(_UNWRITABLE.sub("", text))


def cut_name(name: str) -> str:
    """Return the beginning of a name."""
    return name if len(name) <= _NAME else f"{name[: _NAME - 1]}…"
