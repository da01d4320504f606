"""The template environment: pure functions of Home Assistant, listed by name, and our own for what is in the home."""

from collections.abc import Callable, Iterable
from copy import copy
from functools import wraps
from typing import Any, override

from jinja2 import pass_context
from jinja2.compiler import CodeGenerator, Frame
from jinja2.nodes import Concat, Dict, List, Node, Tuple
from jinja2.runtime import Context
from jinja2.utils import Namespace

from homeassistant.exceptions import TemplateError
from homeassistant.helpers.template import TemplateEnvironment, make_logging_undefined
from homeassistant.helpers.template.extensions import DateTimeExtension

from . import areas, devices, labels, states
from .home import Function
from .limits import MAX_OUTPUT, Budget, TooLargeError
from .patterns import check_pattern, check_replacement
from .states import AllStates, DomainStates, TemplateHome, TemplateState

FUNCTIONS: tuple[Function, ...] = (*states.FUNCTIONS, *areas.FUNCTIONS, *labels.FUNCTIONS, *devices.FUNCTIONS)

# What Home Assistant offers and is not listed, now or in a later version, does not exist in these templates.
_CLOCK = frozenset("now relative_time time_since time_until timedelta_string today_at utcnow".split())
PURE_GLOBALS = _CLOCK | frozenset(
    """acos apply as_datetime as_function as_local as_timedelta as_timestamp asin atan atan2 average bitwise_and
    bitwise_or bitwise_xor bool clamp combine cos cycler dict difference e flatten float iif int intersect is_number
    joiner log max median merge_response min namespace pi range remap set shuffle sin slugify sqrt statistical_mode
    strptime symmetric_difference tan tau timedelta tuple typeof union urlencode version wrap zip""".split()
)
PURE_FILTERS = (_CLOCK - {"now", "utcnow"}) | frozenset(
    """abs acos add apply as_datetime as_function as_local as_timedelta as_timestamp asin atan atan2 average batch
    bitwise_and bitwise_or bitwise_xor bool capitalize clamp combine contains cos count d default dictsort difference
    filesizeformat first flatten float format from_json groupby iif indent int intersect is_defined is_number items join
    last length list log lower map max median min multiply ord ordinal random regex_findall regex_findall_index
    regex_match regex_replace regex_search reject rejectattr remap replace reverse round select selectattr shuffle sin
    slice slugify sort sqrt statistical_mode string sum symmetric_difference tan timestamp_custom timestamp_local
    timestamp_utc title to_json tojson trim truncate typeof union unique upper urlencode version wordcount
    wrap""".split()
)
PURE_TESTS = frozenset(
    """!= < <= == > >= apply boolean callable contains datetime defined divisibleby eq equalto even false filter float
    ge greaterthan gt in integer is_number iterable le lessthan list lower lt mapping match ne none number odd sameas
    search sequence set string string_like test true tuple undefined upper""".split()
)


class TemplateNamespace(Namespace):
    """A namespace that is not written out: namespaces may hold each other in circles."""

    @override
    def __repr__(self) -> str:
        """Return a fixed text."""
        return "<Namespace>"


class _MeasuredCode(CodeGenerator):
    """Compiles a template so that every collection and joined text is measured when it is made."""

    @override
    def visit_List(self, node: List, frame: Frame) -> None:
        self._measured(super().visit_List, node, frame)

    @override
    def visit_Tuple(self, node: Tuple, frame: Frame) -> None:
        if node.ctx == "load":
            self._measured(super().visit_Tuple, node, frame)
        else:
            super().visit_Tuple(node, frame)

    @override
    def visit_Dict(self, node: Dict, frame: Frame) -> None:
        self._measured(super().visit_Dict, node, frame)

    @override
    def visit_Concat(self, node: Concat, frame: Frame) -> None:
        self.write("environment.join_text((")
        for part in node.nodes:
            self.visit(part, frame)
            self.write(", ")
        self.write("))")

    def _measured(self, visit: Callable[[Any, Frame], None], node: Node, frame: Frame) -> None:
        """Write an expression inside a measurement."""
        self.write("environment.budget.check(")
        visit(node, frame)
        self.write(")")


class ExposedEnvironment(TemplateEnvironment):
    """The environment of all renderings; `for_rendering` gives one its home and budget.

    Made without Home Assistant, so that neither its functions nor the loader of the user's own templates can be reached.
    """

    code_generator_class = _MeasuredCode
    intercepted_binops = frozenset({"+", "*", "**", "%"})
    budget: Budget
    home: TemplateHome

    def __init__(self) -> None:
        """List what is available."""
        super().__init__(None, limited=True)
        # Nothing is computed while compiling: it would not be measured, and compiled templates serve later renderings.
        self.optimized = False
        self.finalize = _measured_output(self.finalize)
        clock = self.extensions[DateTimeExtension.identifier]
        for name in _CLOCK:
            self.globals[name] = self.filters[name] = getattr(clock, name)
        self.globals["namespace"] = TemplateNamespace
        self.globals["apply"] = self.filters["apply"] = self.tests["apply"] = _apply
        self.globals = {
            name: _measured(name, self.globals[name]) if name in _PREPARE else self.globals[name]
            for name in PURE_GLOBALS & self.globals.keys()
        }
        self.filters = {name: _measured(name, self.filters[name]) for name in PURE_FILTERS & self.filters.keys()}
        self.tests = {name: _measured(name, self.tests[name]) for name in PURE_TESTS & self.tests.keys()}
        for function in FUNCTIONS:
            run = _home_function(function)
            for wanted, table in (
                (function.is_global, self.globals),
                (function.is_filter, self.filters),
                (function.is_test, self.tests),
            ):
                if wanted:
                    table[function.name] = run
        self.globals["states"] = None

    def for_rendering(self, home: TemplateHome, log: Callable[[int, str], None]) -> ExposedEnvironment:
        """Return a copy for one rendering, in which undefined names are logged."""
        environment = copy(self)
        environment.home = home
        environment.budget = home.budget
        environment.undefined = make_logging_undefined(False, log)  # noqa: FBT003 - as Home Assistant declares it
        environment.globals = self.globals | {"states": AllStates(home)}
        return environment

    @override
    def is_safe_callable(self, obj: Any) -> bool:
        return isinstance(obj, AllStates) or super().is_safe_callable(obj)

    @override
    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        # Home Assistant lets every attribute of a namespace through, its class among them.
        return not attr.startswith("_") and (
            isinstance(obj, AllStates | DomainStates | TemplateState) or super().is_safe_attribute(obj, attr, value)
        )

    @override
    def call(self, context: Context, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        self.budget.check_call(function, (*args, *kwargs.values()))
        return self.budget.check(super().call(context, function, *args, **kwargs))

    @override
    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        if operator == "+":
            return self.budget.add(left, right)
        self.budget.check_operator(operator, left, right)
        return self.budget.check(super().call_binop(context, operator, left, right))

    @override
    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        if (safe := super().wrap_str_format(value)) is None:
            return None

        def measured(*args: Any, **kwargs: Any) -> str:
            self.budget.check_format(value.__self__, (*args, *kwargs.values()))
            return safe(*args, **kwargs)

        return measured

    def join_text(self, parts: Iterable[Any]) -> str:
        """Return what `~` makes of values."""
        return self.concat([str(part) for part in self.budget.check_join("", parts)])

    @override
    def concat(self, parts: Iterable[str]) -> str:
        """Return the parts of a finished text, a macro or a block as one."""
        kept, size = [], 0
        for part in parts:
            size += len(part)
            if size > MAX_OUTPUT:
                raise TooLargeError(f"A text of more than {MAX_OUTPUT} characters")
            kept.append(part)
        self.budget.spend(size)
        return "".join(kept)


def _home_function(function: Function) -> Callable[..., Any]:
    """Return a function as templates call it: it finds the home of the rendering by itself."""

    @pass_context
    def run(context: Context, /, *args: Any, **kwargs: Any) -> Any:
        environment: ExposedEnvironment = context.environment  # type: ignore[assignment]
        home = environment.home
        if not function.on_loop:
            return environment.budget.check(function.run(home, *args, **kwargs))
        if kwargs:
            raise TypeError(f"{function.name} takes no named arguments")
        return environment.budget.check(home.ask(function.run, *args))

    run.__name__ = run.__qualname__ = function.name
    return run


def _measured_output(finalize: Callable[[Any], Any] | None) -> Callable[..., Any]:
    """Return what is applied to every value that is written out."""

    @pass_context
    def measured(context: Context, value: Any) -> Any:
        return context.environment.budget.check(finalize(value) if finalize else value)  # type: ignore[attr-defined]

    return measured


@pass_context
def _apply(context: Context, value: Any, function: Any, *args: Any, **kwargs: Any) -> Any:
    """Call a function as the sandbox does; Home Assistant's own calls it directly."""
    return context.environment.call(context, function, value, *args, **kwargs)  # type: ignore[attr-defined]


def _measured(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a pure function, filter or test whose arguments and result are measured."""
    kind = getattr(getattr(function, "jinja_pass_arg", None), "name", None)
    prepare = _PREPARE.get(name)

    @pass_context
    @wraps(function)
    def run(context: Context, /, *args: Any, **kwargs: Any) -> Any:
        budget: Budget = context.environment.budget  # type: ignore[attr-defined]
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


type _Arguments = tuple[Any, ...]


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
    budget.check_text(len(text) + len(text.splitlines()) * (width if isinstance(width, int) else len(str(width))))
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


_PREPARE: dict[str, Callable[[Budget, _Arguments, dict[str, Any]], _Arguments]] = {
    **dict.fromkeys(("batch", "slice", "truncate", "round", "tojson", "ordinal"), _width),
    **dict.fromkeys(
        ("slugify", "strptime", "timestamp_custom", "version", "as_datetime", "as_timedelta", "as_timestamp", "today_at"),
        _short,
    ),
    **dict.fromkeys(("regex_match", "regex_search", "regex_findall", "regex_findall_index", "match", "search"), _pattern),
    "regex_replace": _regex_replace,
    "format": _format,
    "indent": _indent,
    "join": _join,
    "replace": _replace,
    "sum": _sum,
}
