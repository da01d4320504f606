"""Regular expressions with a time limit.

Python's own matcher cannot be interrupted and holds the interpreter lock. That of the package `regex` has a timeout and
releases the lock.
"""

from functools import lru_cache
import re
from typing import Any, Final

import regex

from homeassistant.exceptions import TemplateError

from ..ha_compat.templates import pattern_constants, pattern_parser
from .limits import MAX_OUTPUT, MAX_SEARCH, Budget, TooLargeError

MATCHING_TIME: Final = 0.25
"""The timeout of one match in seconds."""
MAX_PATTERN: Final = 1_000
"""The most characters of a pattern."""
MAX_WRITTEN_OUT: Final = 10_000
"""The most parts of a pattern after expanding repetitions, which the matcher does before its timeout starts."""

_COMPILED = 128
# What Python's own patterns do not have, and what makes the matcher take memory for as long as it has time.
_RECURSION = regex.compile(r"\(\?(?:R|&|P>|[-+]?\d)")
_NO_COMMENTS = "Patterns that are read without their spaces cannot be used here."


@lru_cache(_COMPILED)
def _compiled(pattern: str, ignorecase: bool) -> regex.Pattern[str]:  # noqa: FBT001 - as templates give it
    """Return a compiled pattern."""
    if len(pattern) > MAX_PATTERN:
        raise TemplateError(f"The pattern has more than {MAX_PATTERN} characters.")
    if _RECURSION.search(pattern):
        raise TemplateError("Patterns cannot hold themselves here.")
    try:
        read = pattern_parser.parse(pattern)
        if read.state.flags & re.VERBOSE:
            raise TemplateError(_NO_COMMENTS)
        if _written_out(read) > MAX_WRITTEN_OUT:
            raise TooLargeError("A pattern that repeats so much")
        return regex.compile(pattern, regex.IGNORECASE if ignorecase else 0, cache_pattern=False)
    except (RecursionError, ValueError, OverflowError, re.error, regex.error) as err:
        raise TemplateError(f"The pattern cannot be read: {err}") from err


def _written_out(part: Any) -> int:
    """Return the number of parts of a pattern after expanding repetitions."""
    match part:
        case (
            pattern_constants.MAX_REPEAT | pattern_constants.MIN_REPEAT | pattern_constants.POSSESSIVE_REPEAT,
            (least, most, repeated),
        ):
            return max(int(least), 1 if most is pattern_constants.MAXREPEAT else int(most)) * _written_out(repeated)
        case (pattern_constants.SUBPATTERN, (_, added, _, _)) if added & re.VERBOSE:
            raise TemplateError(_NO_COMMENTS)
        case list() | tuple() | pattern_parser.SubPattern():
            return 1 + sum(map(_written_out, part))
    return 0


def check_pattern(pattern: str) -> None:
    """Raise TemplateError for an invalid pattern."""
    _compiled(pattern, False)  # noqa: FBT003 - as it is cached


def matched(budget: Budget, method: str, text: str, find: str, ignorecase: bool, *arguments: Any) -> Any:  # noqa: FBT001 - as templates give it
    """Return the result of a pattern's method; raises TemplateError at the timeout."""
    if len(find) * len(text) > MAX_SEARCH:
        raise TooLargeError("A pattern of this length, with this text,")
    match = getattr(_compiled(find, ignorecase), method)
    try:
        return match(*arguments, text, concurrent=True, timeout=budget.seconds(MATCHING_TIME))
    except TimeoutError as err:
        raise TemplateError("The pattern takes too long on this text: repeat less, or make the text shorter.") from err


def regex_match(budget: Budget, value: Any, find: str = "", ignorecase: bool = False) -> bool:  # noqa: FBT001, FBT002 - as Home Assistant has it
    """Return whether a text begins with a match of a pattern."""
    return matched(budget, "match", str(value), str(find), bool(ignorecase)) is not None


def regex_search(budget: Budget, value: Any, find: str = "", ignorecase: bool = False) -> bool:  # noqa: FBT001, FBT002 - as Home Assistant has it
    """Return whether a text contains a match of a pattern."""
    return matched(budget, "search", str(value), str(find), bool(ignorecase)) is not None


def regex_findall(budget: Budget, value: Any, find: str = "", ignorecase: bool = False) -> list[Any]:  # noqa: FBT001, FBT002 - as Home Assistant has it
    """Return all matches of a pattern in a text."""
    found: list[Any] = matched(budget, "findall", str(value), str(find), bool(ignorecase))
    return found


def regex_findall_index(
    budget: Budget,
    value: Any,
    find: str = "",
    index: int = 0,
    ignorecase: bool = False,  # noqa: FBT001, FBT002 - as Home Assistant has it
) -> Any:
    """Return one of all matches of a pattern in a text."""
    return regex_findall(budget, value, find, ignorecase)[index]


def regex_replace(
    budget: Budget,
    value: Any = "",
    find: str = "",
    replace: str = "",
    ignorecase: bool = False,  # noqa: FBT001, FBT002 - as Home Assistant has it
) -> str:
    """Return a text with the matches of a pattern replaced."""
    left = MAX_OUTPUT

    def expanded(found: regex.Match[str]) -> str:
        nonlocal left
        budget.tick()
        # A reference to a group is written with two characters at least.
        longest = max(len(part or "") for part in (found[0], *found.groups()))
        if len(replace) // 2 * longest > MAX_OUTPUT:
            raise TooLargeError("A replacement")
        text = found.expand(replace)
        left -= len(text)
        if left < 0:
            raise TooLargeError("A replacement")
        return text

    replace = str(replace)
    result: str = matched(budget, "sub", str(value), str(find), bool(ignorecase), expanded)
    return result


FILTERS = {
    function.__name__: function
    for function in (regex_findall, regex_findall_index, regex_match, regex_replace, regex_search)
}
TESTS = {"match": regex_match, "search": regex_search}
