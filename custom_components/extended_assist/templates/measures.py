"""Pure filters, functions and tests, measured before and after they run."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from jinja2 import pass_context
from jinja2.runtime import Context

from homeassistant.helpers.template import TemplateEnvironment

from .limits import MAX_OUTPUT, Budget
from .patterns import check_pattern, check_replacement

type _Arguments = tuple[Any, ...]


class BudgetedEnvironment(TemplateEnvironment):
    """An environment in which each rendering has a budget."""

    budget: Budget


class BudgetedContext(Context):
    """The context of a rendering in such an environment."""

    environment: BudgetedEnvironment


def _given(args: _Arguments, kwargs: dict[str, Any], position: int, name: str, default: Any = "") -> Any:
    """Return an argument that may be given by position or by name."""
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
    """Check a sum, which copies what it has with every step when it adds lists."""
    items = list(args[0])
    start = _given(args, kwargs, 2, "start", 0)
    if not isinstance(start, int | float):
        budget.spend(len(items) * budget.size(items))
    return items, *args[1:]


def _pattern(budget: Budget, args: _Arguments, kwargs: dict[str, Any]) -> _Arguments:
    """Check a regular expression."""
    check_pattern(_given(args, kwargs, 1, "find"), args[0])
    return args


def _regex_replace(budget: Budget, args: _Arguments, kwargs: dict[str, Any]) -> _Arguments:
    """Check a regular expression and its replacement."""
    text = args[0] if args else kwargs.get("value", "")
    check_replacement(_given(args, kwargs, 1, "find"), text, _given(args, kwargs, 2, "replace"), MAX_OUTPUT)
    return args


ARGUMENT_CHECKS: dict[str, Callable[[Budget, _Arguments, dict[str, Any]], _Arguments]] = {
    **dict.fromkeys(("batch", "slice", "truncate", "round", "tojson", "ordinal"), _width),
    **dict.fromkeys(
        (
            "slugify",
            "strptime",
            "timestamp_custom",
            "version",
            "as_datetime",
            "as_timedelta",
            "as_timestamp",
            "today_at",
        ),
        _short,
    ),
    **dict.fromkeys(
        ("regex_match", "regex_search", "regex_findall", "regex_findall_index", "match", "search"), _pattern
    ),
    "regex_replace": _regex_replace,
    "format": _format,
    "indent": _indent,
    "join": _join,
    "replace": _replace,
    "sum": _sum,
}


def measured(name: str, function: Any) -> Any:
    """Return a pure filter or test whose arguments and result are measured."""
    kind = getattr(getattr(function, "jinja_pass_arg", None), "name", None)
    prepare = ARGUMENT_CHECKS.get(name)

    @pass_context
    @wraps(function)
    def run(context: BudgetedContext, /, *args: Any, **kwargs: Any) -> Any:
        budget = context.environment.budget
        if prepare:
            args = prepare(budget, args, kwargs)
        if kind == "context":
            return budget.check(function(context, *args, **kwargs))
        if kind == "environment":
            return budget.check(function(context.environment, *args, **kwargs))
        if kind == "eval_context":
            return budget.check(function(context.eval_ctx, *args, **kwargs))
        return budget.check(function(*args, **kwargs))

    return run


def measured_where_needed(name: str, function: Any) -> Any:
    """Return a function or test whose arguments are measured where that matters.

    Results of functions are measured by the call, and those of tests are true or false.
    """
    return measured(name, function) if name in ARGUMENT_CHECKS else function
