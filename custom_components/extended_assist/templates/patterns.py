"""Regular expressions that end soon.

Python's matcher cannot be interrupted and holds the interpreter while it tries. What it may try is bounded here by the
look of the pattern: no repeated groups and no backreferences, so that the number of ways is at most the length of the
text to the power of the number of repetitions, and that number has a limit.
"""

import re
from typing import Any

from homeassistant.exceptions import TemplateError

_MAX_STEPS = 20_000_000
"""About a quarter of a second of the matcher's time."""
_MAX_PATTERN = 1_000
_ATOM = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_GROUP_START = re.compile(r"\(\?(?:[:=!>]|<[=!]|P?<\w+>)")
_UNSUPPORTED = re.compile(r"\(\?(?![:=!>]|<[=!]|P?<\w+>)")
_BACKREFERENCE = re.compile(r"(?<!\\)(?:\\\\)*\\[1-9]")
_REPEATED_GROUP = re.compile(r"\)[*+{]")
_REPETITION = re.compile(r"[*+{]")
_CHOICE = re.compile(r"[?|]")


def check_pattern(pattern: Any, text: Any) -> None:
    """Raise TemplateError for a pattern that could take too long on a text."""
    pattern, length = str(pattern), len(str(text)) + 1
    if len(pattern) > _MAX_PATTERN:
        raise TemplateError(f"The pattern has more than {_MAX_PATTERN} characters.")
    # Comments and inline flags change how the rest is read; both are looked for in the raw text, where none can hide.
    if _UNSUPPORTED.search(pattern):
        raise TemplateError("Inline flags, comments and conditions are not available in patterns; use ignorecase=true.")
    if _BACKREFERENCE.search(pattern):
        raise TemplateError("References to groups are not available in patterns.")
    bare = _GROUP_START.sub("(", _ATOM.sub("a", pattern))
    if _REPEATED_GROUP.search(bare):
        raise TemplateError("Repeated groups are not available in patterns: repeat single characters or classes.")
    steps = length * 2 ** len(_CHOICE.findall(bare))
    for _ in _REPETITION.findall(bare):
        steps *= length
        if steps > _MAX_STEPS:
            break
    if steps > _MAX_STEPS:
        raise TemplateError(
            f"The pattern may take too long on {length - 1} characters: use fewer repetitions and choices, or a shorter text."
        )


def check_replacement(pattern: Any, text: Any, replacement: Any, largest: int) -> None:
    """Raise TemplateError for a replacement that could make a text too long."""
    check_pattern(pattern, text)
    if len(str(replacement)) * (2 * len(str(text)) + 1) > largest:
        raise TemplateError("The replacement may make the text too long.")
