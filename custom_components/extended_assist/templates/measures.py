"""Pure filters, functions, tests and methods, with checks of their arguments and results."""

from collections.abc import Callable, Iterator
from datetime import date, time, timedelta, tzinfo
from functools import wraps
from math import prod
from typing import Any, Final

from jinja2 import pass_context
from jinja2.runtime import Context

from homeassistant.exceptions import TemplateError

from ..ha_compat.templates import TemplateEnvironment
from .limits import MAX_WIDTH, Budget, TooLargeError

MAX_SMALL: Final = 10_000
"""The most characters of input for slow code."""

_MAX_INDENT = 16
_ENCODINGS = frozenset({"ascii", "cp1252", "iso-8859-1", "latin-1", "latin1", "utf-16", "utf-8", "utf8"})
_OF_NUMBERS = frozenset({"from_bytes", "to_bytes"})

type _Arguments = tuple[Any, ...]


class BudgetedEnvironment(TemplateEnvironment):
    """An environment whose renderings have a budget."""

    budget: Budget


class BudgetedContext(Context):
    """The context of such a rendering."""

    environment: BudgetedEnvironment


def _given(args: _Arguments, kwargs: dict[str, Any], position: int, name: str, default: Any = "") -> Any:
    """Return an argument given by position or by name."""
    return args[position] if len(args) > position else kwargs.get(name, default)


def _width(budget: Budget, args: _Arguments, kwargs: dict[str, Any]) -> _Arguments:
    """Check the numbers given to a filter."""
    budget.check_width(*args[1:], *kwargs.values())
    return args


def _indent(budget: Budget, args: _Arguments, kwargs: dict[str, Any]) -> _Arguments:
    """Check an indentation, by a number or by a text."""
    width = _given(args, kwargs, 1, "width", 4)
    _width(budget, args, kwargs)
    text = str(args[0])
    budget.check_size(len(text) + len(text.splitlines()) * (width if isinstance(width, int) else len(str(width))))
    return args


def _tabs(budget: Budget, args: _Arguments, kwargs: dict[str, Any]) -> _Arguments:
    """Check the replacement of tabs."""
    _width(budget, args, kwargs)
    budget.check_size(MAX_WIDTH * args[0].count("\t"))
    return args


def _short(budget: Budget, args: _Arguments, kwargs: dict[str, Any]) -> _Arguments:
    """Check texts that are parsed, and formats of dates."""
    budget.check_short(*args, *kwargs.values())
    return args


def _format(budget: Budget, args: _Arguments, kwargs: dict[str, Any]) -> _Arguments:
    """Check `'%s'|format(…)`."""
    budget.check_format(args[0], (*args[1:], *kwargs.values()))
    return args


def _join(budget: Budget, args: _Arguments, kwargs: dict[str, Any]) -> _Arguments:
    """Check the items to be joined."""
    return budget.check_join(_given(args, kwargs, 1, "d"), args[0]), *args[1:]


def _replace(budget: Budget, args: _Arguments, kwargs: dict[str, Any]) -> _Arguments:
    """Check a replacement of plain text."""
    budget.check_replace(str(args[0]), _given(args, kwargs, 1, "old"), _given(args, kwargs, 2, "new"))
    return args


def _sum(budget: Budget, args: _Arguments, kwargs: dict[str, Any]) -> _Arguments:
    """Check a sum, which copies lists at every step."""
    items = list(args[0])
    start = _given(args, kwargs, 2, "start", 0)
    if not isinstance(start, int | float):
        budget.spend(len(items) * budget.size(items))
    return items, *args[1:]


def _small(budget: Budget, args: _Arguments, kwargs: dict[str, Any]) -> _Arguments:
    """Check the input of slow code, or of code that reads it several times."""
    sizes = [budget.size(value) for value in (*args, *kwargs.values())]
    if any(size > MAX_SMALL for size in sizes):
        raise TooLargeError(f"A value of more than {MAX_SMALL} characters, for what is done with it,")
    budget.check_size(prod(sizes))  # One text may be put into each place of another.
    return args


def _number(budget: Budget, args: _Arguments, kwargs: dict[str, Any]) -> _Arguments:
    """Check a text to parse as a number: many digits take long."""
    return args if not args or isinstance(args[0], int | float) else _small(budget, args, kwargs)


def _trim(budget: Budget, args: _Arguments, kwargs: dict[str, Any]) -> _Arguments:
    """Check the characters to be cut off."""
    budget.check_search(str(args[0]), *args[1:], *kwargs.values())
    return args


def _tojson(budget: Budget, args: _Arguments, kwargs: dict[str, Any]) -> _Arguments:
    """Check the indentation, which is repeated for every level and item."""
    indent = _given(args, kwargs, 1, "indent", None)
    if indent is not None and not (isinstance(indent, int) and indent <= _MAX_INDENT):
        raise TooLargeError(f"An indentation that is no number, or above {_MAX_INDENT},")
    return args


def _encoding(budget: Budget, args: _Arguments, kwargs: dict[str, Any]) -> _Arguments:
    """Check the name of an encoding: some take time that grows with the square of the length."""
    encoding = _given(args, kwargs, 1, "encoding", None)
    if encoding is not None and str(encoding).lower().replace("_", "-") not in _ENCODINGS:
        raise TemplateError(f"An encoding is one of these here: {', '.join(sorted(_ENCODINGS))}.")
    return args


def _copied(budget: Budget, args: _Arguments, kwargs: dict[str, Any]) -> _Arguments:
    """Check a value that is copied with everything inside: a copy of a state would include all of Home Assistant."""
    for value in (*args, *kwargs.values()):
        if not _is_data(value):
            raise TemplateError("A response holds texts, numbers, lists and objects only.")
    return args


def _is_data(value: Any) -> bool:
    """Return whether a value is plain data."""
    if isinstance(value, dict):
        return all(_is_data(item) for item in value.values())
    if isinstance(value, list | tuple):
        return all(map(_is_data, value))
    return value is None or isinstance(value, str | int | float | date | time | timedelta)


def _join_method(budget: Budget, args: _Arguments, kwargs: dict[str, Any]) -> _Arguments:
    """Check the items to be joined by a text."""
    return args[0], *(budget.check_join(args[0], items) for items in args[1:])


def _refused(budget: Budget, args: _Arguments, kwargs: dict[str, Any]) -> _Arguments:
    """Refuse a method that no useful template needs."""
    raise TemplateError("This method is not available on a text here.")


type _Check = Callable[[Budget, _Arguments, dict[str, Any]], _Arguments]

ARGUMENT_CHECKS: dict[str, _Check] = {
    **dict.fromkeys(("batch", "center", "slice", "truncate", "round", "ordinal"), _width),
    **dict.fromkeys(
        (
            "as_datetime",
            "as_timedelta",
            "as_timestamp",
            "slugify",
            "strptime",
            "timestamp_custom",
            "today_at",
            "version",
        ),
        _short,
    ),
    **dict.fromkeys(("pprint", "striptags", "urlencode", "urlize", "wordwrap", "xmlattr"), _small),
    **dict.fromkeys(("float", "int", "is_number", "multiply", "add"), _number),
    "base64_decode": _encoding,
    "format": _format,
    "indent": _indent,
    "join": _join,
    "merge_response": _copied,
    "replace": _replace,
    "sum": _sum,
    "tojson": _tojson,
    "trim": _trim,
}
"""The checks before a filter, function or test of Home Assistant, where a check of the result would be too late."""

TEXT_METHODS: dict[str, _Check | None] = {
    **dict.fromkeys(
        (
            *("capitalize", "casefold", "endswith", "hex", "isalnum", "isalpha", "isascii", "isdecimal", "isdigit"),
            *("isidentifier", "islower", "isnumeric", "isprintable", "isspace", "istitle", "isupper", "lower"),
            *("removeprefix", "removesuffix", "section", "splitlines", "startswith", "swapcase", "title", "upper"),
        ),
        None,
    ),
    **dict.fromkeys(
        ("count", "find", "index", "lstrip", "partition", "rfind", "rindex", "rpartition", "rsplit", "rstrip"), _trim
    ),
    **dict.fromkeys(("split", "strip"), _trim),
    **dict.fromkeys(("center", "ljust", "rjust", "zfill"), _width),
    **dict.fromkeys(("decode", "encode"), _encoding),
    "expandtabs": _tabs,
    "join": _join_method,
    "replace": _replace,
}
"""The available methods of texts and bytes with their checks."""


def check_method(budget: Budget, function: Any, args: _Arguments, kwargs: dict[str, Any]) -> _Arguments:
    """Check the arguments of a value's method and return them; raises TemplateError if it is not available."""
    owner, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
    kind = owner if isinstance(owner, type) else type(owner)
    if issubclass(kind, str | bytes):
        check = TEXT_METHODS.get(name, _refused) if kind is not owner else _refused
        return check(budget, (owner, *args), kwargs)[1:] if check else args
    if issubclass(kind, int) and name in _OF_NUMBERS:
        return _width(budget, (owner, *args), kwargs)[1:]
    if issubclass(kind, date | time | timedelta | tzinfo):
        return _short(budget, args, kwargs)
    return args


def measured(name: str, function: Any) -> Any:
    """Return a pure filter or test with checks of its arguments and result; an iterator is consumed at once."""
    kind = getattr(getattr(function, "jinja_pass_arg", None), "name", None)
    prepare = ARGUMENT_CHECKS.get(name)

    @pass_context
    @wraps(function)
    def run(context: BudgetedContext, /, *args: Any, **kwargs: Any) -> Any:
        budget = context.environment.budget
        if prepare:
            args = prepare(budget, args, kwargs)
        match kind:
            case "context":
                result = function(context, *args, **kwargs)
            case "environment":
                result = function(context.environment, *args, **kwargs)
            case "eval_context":
                result = function(context.eval_ctx, *args, **kwargs)
            case _:
                result = function(*args, **kwargs)
        return budget.gathered(result) if isinstance(result, Iterator) else budget.check(result)

    return run


def measured_where_needed(name: str, function: Any) -> Any:
    """Return a function with the necessary checks of its arguments; the call checks its result."""
    return measured(name, function) if name in ARGUMENT_CHECKS else function
