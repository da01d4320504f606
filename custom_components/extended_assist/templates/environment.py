"""The template environment: pure functions of Home Assistant, listed by name, and our own functions for the home.

The rendering's budget limits the size, loops and nesting of all values: values of expressions are measured by the code
generator, operators and calls here, and those of filters in `measures`.
"""

from collections.abc import Callable, Iterable
from contextvars import ContextVar
from copy import copy
from datetime import datetime
import re
from struct import error, pack as packed, unpack_from
from types import ClassMethodDescriptorType, MethodDescriptorType, WrapperDescriptorType
from typing import Any, override

from jinja2 import pass_context
from jinja2.compiler import CodeGenerator, Frame
from jinja2.nodes import Concat, Dict, For, Getitem, List, Node, Slice, Tuple
from jinja2.runtime import Context
from jinja2.utils import Namespace

from homeassistant.exceptions import TemplateError
from homeassistant.util import dt as dt_util

from ..ha_compat.templates import DateTimeExtension, TemplateEnvironment, make_logging_undefined, render_info_cv
from . import areas, devices, labels, patterns, places, states
from .limits import MAX_OUTPUT, Budget, TooLargeError
from .location import TemplateFunction
from .measures import BudgetedContext, BudgetedEnvironment, check_method, measured, measured_where_needed
from .names import CLOCK, PURE_FILTERS, PURE_GLOBALS, PURE_TESTS
from .state_proxies import PROPERTIES, AllStates, DomainStates, TemplateHome, TemplateState

_NOTES = 10
_CLASS = re.compile(r"'[\w.]+\.(\w+) object'")
_UNBOUND = (MethodDescriptorType, ClassMethodDescriptorType, WrapperDescriptorType)
undefined_names: ContextVar[dict[str, None] | None] = ContextVar("undefined_names", default=None)
"""Jinja's messages about undefined names in this thread's rendering."""

FUNCTIONS: tuple[TemplateFunction, ...] = (
    *states.FUNCTIONS,
    *places.FUNCTIONS,
    *areas.FUNCTIONS,
    *labels.FUNCTIONS,
    *devices.FUNCTIONS,
)
_FORMAT = re.compile(r"[@=<>!]?(?:\d{0,3}[a-zA-Z?]){1,16}")


def pack(_: Budget, value: Any, format_string: str) -> bytes | None:
    """Return a value as bytes, or None if the format does not fit."""
    try:
        return packed(_checked(format_string), value)
    except error:
        return None


def unpack(_: Budget, value: Any, format_string: str, offset: int = 0) -> Any:
    """Return the first value of bytes, or None if the format does not fit."""
    try:
        return unpack_from(_checked(format_string), value, offset)[0]
    except error:
        return None


def _checked(format_string: Any) -> str:
    """Return a struct format after a check of its size."""
    if not isinstance(format_string, str) or not _FORMAT.fullmatch(format_string):
        raise TemplateError("The format is not one of bytes, such as '>h', or describes too many")
    return format_string


STRUCTS = {"pack": pack, "unpack": unpack}


class TemplateNamespace(Namespace):
    """A namespace without a text form: namespaces may contain each other in circles."""

    @override
    def __repr__(self) -> str:
        """Return a fixed text."""
        return "<Namespace>"


class ExposedContext(BudgetedContext):
    """The context of a rendering."""

    environment: ExposedEnvironment


class MeasuredCode(CodeGenerator):
    """Compiles templates so that every collection and joined text is measured, and every loop checks the clock."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Start outside of any loop."""
        super().__init__(*args, **kwargs)
        self._iterated: Node | None = None

    @override
    def visit_For(self, node: For, frame: Frame) -> None:
        self._iterated = node.iter
        super().visit_For(node, frame)

    @override
    def visit(self, node: Node, *args: Any, **kwargs: Any) -> Any:
        if node is not self._iterated:
            return super().visit(node, *args, **kwargs)
        self.write("environment.budget.ticking(")
        super().visit(node, *args, **kwargs)
        return self.write(")")

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
    def visit_Getitem(self, node: Getitem, frame: Frame) -> None:
        if isinstance(node.arg, Slice):
            self._measured(super().visit_Getitem, node, frame)
        else:
            super().visit_Getitem(node, frame)

    @override
    def visit_Concat(self, node: Concat, frame: Frame) -> None:
        self.write("environment.join_text((")
        for part in node.nodes:
            self.visit(part, frame)
            self.write(", ")
        self.write("))")

    def _measured(self, visit: Callable[[Any, Frame], None], node: Node, frame: Frame) -> None:
        """Write an expression inside a call of the measuring function."""
        self.write("environment.budget.check(")
        visit(node, frame)
        self.write(")")


class ExposedEnvironment(BudgetedEnvironment):
    """The environment of all renderings; `for_rendering` adds a home and a budget.

    It has no hass, so Home Assistant's functions and the loader of the user's own templates cannot be reached.
    """

    code_generator_class = MeasuredCode
    context_class = ExposedContext
    intercepted_binops = frozenset({"+", "*", "**", "%"})
    home: TemplateHome

    def __init__(self) -> None:
        """Define the available functions, filters and tests."""
        super().__init__(None, limited=True)
        self.undefined = make_logging_undefined(False, _note_undefined)  # noqa: FBT003 - as Home Assistant declares it
        # Nothing is computed while compiling: it would not be measured, and compiled templates serve later renderings.
        self.optimized = False
        self.finalize = _measured_output(self.finalize)
        # Some of Home Assistant's functions call filters of the environment they were made for, so that stays as it is.
        core = TemplateEnvironment(None)
        clock = core.extensions[DateTimeExtension.identifier]
        for name in CLOCK:
            core.globals[name] = core.filters[name] = getattr(clock, name)
        core.globals["namespace"] = TemplateNamespace
        core.globals["apply"] = core.filters["apply"] = core.tests["apply"] = apply
        self.globals = {
            name: measured_where_needed(name, core.globals[name]) for name in PURE_GLOBALS & core.globals.keys()
        }
        self.filters = {name: measured(name, core.filters[name]) for name in PURE_FILTERS & core.filters.keys()}
        self.tests = {name: measured(name, core.tests[name]) for name in PURE_TESTS & core.tests.keys()}
        for function in FUNCTIONS:
            run = _home_function(function)
            for wanted, table in (
                (function.is_global, self.globals),
                (function.is_filter, self.filters),
                (function.is_test, self.tests),
            ):
                if wanted:
                    table[function.name] = run
        for table, ours in (
            (self.globals, STRUCTS),
            (self.filters, STRUCTS | patterns.FILTERS),
            (self.tests, patterns.TESTS),
        ):
            table |= {name: _budgeted(function) for name, function in ours.items()}
        self.globals |= {"states": None, "now": now, "utcnow": utcnow}

    def for_rendering(self, home: TemplateHome) -> ExposedEnvironment:
        """Return a copy for one rendering."""
        environment = copy(self)
        environment.home = home
        environment.budget = home.budget
        environment.globals = self.globals | {"states": AllStates(home)}
        return environment

    @override
    def is_safe_callable(self, obj: Any) -> bool:
        # A method without its object would be called past the checks of methods.
        return isinstance(obj, AllStates) or (
            not isinstance(obj, _UNBOUND) and bool(super().is_safe_callable(obj))  # type: ignore[no-untyped-call] # as Jinja has it
        )

    @override
    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        # Home Assistant lets every attribute of a namespace through, its class among them.
        return not attr.startswith("_") and (
            isinstance(obj, AllStates | DomainStates | TemplateState)
            or bool(super().is_safe_attribute(obj, attr, value))  # type: ignore[no-untyped-call] # as Jinja has it
        )

    @override
    def getitem(self, obj: Any, argument: Any) -> Any:
        self.budget.tick()  # Filters that take the name of an attribute come here for every item.
        return super().getitem(obj, argument)

    @override
    def getattr(self, obj: Any, attribute: str) -> Any:
        if type(obj) is TemplateState and attribute in PROPERTIES:  # The way of most templates, made short.
            return getattr(obj, attribute)
        return super().getattr(obj, attribute)

    @override
    def call(self, context: Context, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        args = check_method(self.budget, function, args, kwargs)
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

        def fill(*args: Any, **kwargs: Any) -> str:
            self.budget.check_fields(value.__self__, (*args, *kwargs.values()))
            return safe(*args, **kwargs)

        return fill

    def join_text(self, parts: Iterable[Any]) -> str:
        """Return the values joined by `~`."""
        return self.concat([str(part) for part in self.budget.check_join("", parts)])

    @override
    def concat(self, parts: Iterable[str]) -> str:
        """Join the parts of a finished text, a macro or a block."""
        kept, size = [], 0
        for part in parts:
            size += len(part)
            if size > MAX_OUTPUT:
                raise TooLargeError(f"A text of more than {MAX_OUTPUT} characters")
            kept.append(part)
        self.budget.spend(size)
        return "".join(kept)


def readable(message: str) -> str:
    """Return a message of Jinja without the module names of our classes."""
    return _CLASS.sub(r"'\1'", message)


def _note_undefined(_level: int, message: str) -> None:
    """Store a message about an undefined name, if the rendering collects them."""
    message = readable(message)
    if (notes := undefined_names.get()) is not None and len(notes) < _NOTES:
        notes[message] = None


def _home_function(function: TemplateFunction) -> Callable[..., Any]:
    """Return a template function that gets the home from the rendering."""

    @pass_context
    def run(context: ExposedContext, /, *args: Any, **kwargs: Any) -> Any:
        environment = context.environment
        home = environment.home
        answer = home.ask(function.run, *args, **kwargs) if function.on_loop else function.run(home, *args, **kwargs)
        return environment.budget.check(answer)

    run.__name__ = run.__qualname__ = function.name
    return run


def _budgeted(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a template function that gets the budget from the rendering."""

    @pass_context
    def run(context: ExposedContext, /, *args: Any, **kwargs: Any) -> Any:
        budget = context.environment.budget
        return budget.check(function(budget, *args, **kwargs))

    return run


@pass_context
def now(context: ExposedContext) -> datetime:
    """Return the time of the rendering in local time; it is constant, because a running clock would reveal how long steps take."""
    return dt_util.as_local(_moment(context))


@pass_context
def utcnow(context: ExposedContext) -> datetime:
    """Return the time of the rendering in UTC."""
    return _moment(context)


def _moment(context: ExposedContext) -> datetime:
    """Return the time of the rendering, and note that the template depends on the time."""
    if (info := render_info_cv.get()) is not None:
        info.has_time = True
    return context.environment.home.moment


def _measured_output(finalize: Callable[[Any], Any] | None) -> Callable[..., Any]:
    """Return the function for each written value, with a measurement around it."""

    @pass_context
    def output(context: ExposedContext, value: Any) -> Any:
        return context.environment.budget.check(finalize(value) if finalize else value)

    return output


@pass_context
def apply(context: ExposedContext, value: Any, function: Any, *args: Any, **kwargs: Any) -> Any:
    """Call a function as Jinja's sandbox does; Home Assistant's environment calls it directly."""
    return context.environment.call(context, function, value, *args, **kwargs)
