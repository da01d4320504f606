"""Templates that users wrote: they may read what their user may, and what a model gave is never more than a value.

A template of a function is compiled as it was written; arguments are variables. Where its text means something to another
language (SQL, an address, JSON), every value that it writes stays apart from the text around it, so that the part which
knows that language can write it as a value. What the template itself says in quotes is such text too, also where it is
joined with values.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
import re
from secrets import randbelow
from types import CodeType
from typing import Any, Final, Self, override

import jinja2
from jinja2 import nodes, pass_context, pass_eval_context
from jinja2.filters import make_attrgetter
from jinja2.visitor import NodeTransformer

from homeassistant.core import HomeAssistant
from homeassistant.exceptions import TemplateError
from homeassistant.helpers.template import TemplateEnvironment, is_template_string
from homeassistant.util.hass_dict import HassKey
from homeassistant.util.json import JSON_DECODE_EXCEPTIONS, json_loads

from ..const import DOMAIN
from ..exposure import Exposure
from ..interruptible import async_run_interruptible
from ..results import ToolError
from ..templates.limits import Budget
from ..templates.patterns import FILTERS, TESTS
from .base import FunctionRun
from .yaml_source import PartError, YamlPath

TIME_LIMIT: Final = 5.0
"""Seconds for one template."""
MAX_OUTPUT: Final = 256 * 1024
"""Characters of a rendered text, as in Home Assistant."""
_MAX_MESSAGE = 300
_COMPILED = 200
_PADDING: Final = frozenset({"center", "ljust", "rjust", "zfill"})
"""Methods that make a text as wide as they are told."""
_FIRST, _LAST = "\ue000", "\ue001"
"""Characters without meaning, around the number of a value."""


@dataclass(frozen=True, slots=True)
class Value:
    """A value that a template writes."""

    value: Any

    @property
    def text(self) -> str:
        """Text of the value, as a template writes it."""
        return str(self.value)


class Encoded(str):
    """A text that a template encoded for an address."""

    __slots__ = ()


class JsonText(str):
    """A text that a template wrote as JSON."""

    __slots__ = ()


type Piece = str | Value


class Written(str):
    """A text that a template says in quotes, with the values that were joined with it apart."""

    __slots__ = ("pieces",)
    pieces: tuple[Piece, ...]

    def __new__(cls, *pieces: Piece) -> Self:
        """Join pieces."""
        text = super().__new__(cls, "".join(piece.text if isinstance(piece, Value) else piece for piece in pieces))
        text.pieces = pieces
        return text

    @property
    def is_whole(self) -> bool:
        """Return whether there is no value in it."""
        return not any(isinstance(piece, Value) for piece in self.pieces)

    @override
    def __add__(self, other: Any) -> Any:
        """Add a text behind."""
        return Written(*self.pieces, *_pieces_of(other)) if isinstance(other, str) else NotImplemented

    def __radd__(self, other: Any) -> Any:
        """Add a text before."""
        return Written(*_pieces_of(other), *self.pieces) if isinstance(other, str) else NotImplemented


def _pieces_of(value: Any) -> tuple[Piece, ...]:
    """Return what a value is made of; what holds marks was written by the template."""
    if isinstance(value, Written):
        return value.pieces
    values = _marking.get()
    if isinstance(value, jinja2.Undefined) or (isinstance(value, str) and values is not None and values.is_in(value)):
        return (str(value),)
    return (Value(value),)


def _joined(*values: Any) -> Written:
    """Join what ~ joins."""
    return Written(*(piece for value in values for piece in _pieces_of(value)))


class _AsWritten(NodeTransformer):
    """Keeps apart what a template says in quotes."""

    def visit_Const(self, node: nodes.Const) -> nodes.Node:  # noqa: N802 - as jinja names it
        """Mark a text."""
        return _call(_TEXT, [node]) if isinstance(node.value, str) else node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:  # noqa: N802 - as jinja names it
        """Join, and keep apart."""
        self.generic_visit(node)
        return _call(_JOINED, node.nodes)


_TEXT: Final = "__written_text"
_JOINED: Final = "__written_joined"


def _call(name: str, arguments: list[nodes.Expr]) -> nodes.Call:
    """Return the call of a function that is there for what was put into a template."""
    return nodes.Call(nodes.Name(name, "load"), arguments, [], None, None, lineno=arguments[0].lineno)


class _MarkedValues:
    """The values that one rendering writes."""

    def __init__(self) -> None:
        """Choose marks that nobody can guess."""
        self._nonce = str(randbelow(10**18))
        self._values: list[Any] = []
        self._mark = re.compile(f"{_FIRST}{self._nonce}-([0-9]+){_LAST}")

    def mark(self, value: Any) -> Any:
        """Return a placeholder for a value; what the template wrote, and what holds placeholders already, stays as it is."""
        if isinstance(value, jinja2.Undefined) or value is None:
            return value
        if isinstance(value, Written):
            return "".join(self.mark(piece.value) if isinstance(piece, Value) else piece for piece in value.pieces)
        if isinstance(value, str) and self.is_in(value):
            return value
        self._values.append(value)
        return f"{_FIRST}{self._nonce}-{len(self._values) - 1}{_LAST}"

    def is_in(self, text: str) -> bool:
        """Return whether a text holds placeholders."""
        return self._mark.search(text) is not None

    def pieces(self, text: str) -> list[Piece]:
        """Return a rendered text with its values apart."""
        parts = self._mark.split(text)
        found: list[Piece] = [Value(self._values[int(part)]) if index % 2 else part for index, part in enumerate(parts)]
        return [piece for piece in found if piece != ""]


_marking: ContextVar[_MarkedValues | None] = ContextVar("marking", default=None)


def _ending(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of ours on patterns, which ends in time."""
    return lambda *args, **kwargs: function(Budget(TIME_LIMIT), *args, **kwargs)


def _not_too_wide(usual: Callable[..., Any]) -> Callable[..., Any]:
    """Return a filter whose result is not wider than allowed."""

    def padded(value: Any, *args: Any, **kwargs: Any) -> Any:
        Budget().check_width(*args, *kwargs.values())
        return usual(value, *args, **kwargs)

    return padded


class _Environment(TemplateEnvironment):
    """Home Assistant's environment, in which the values that a template writes can be kept apart."""

    intercepted_binops = frozenset({"*", "**"})

    def __init__(self, hass: HomeAssistant) -> None:
        """Make the environment, with no compiled templates yet."""
        super().__init__(hass)
        # Nothing is computed while compiling, where no limit of time holds and what is undefined would be logged.
        self.optimized = False
        usual = self.finalize

        # With the context, so that constants are written when the template is rendered, and not when it is compiled.
        @pass_context
        def finalize(_: jinja2.runtime.Context, value: Any) -> Any:
            if (values := _marking.get()) is not None:
                return values.mark(value)
            return value if usual is None else usual(value)

        self.finalize = finalize
        encode = self.filters["urlencode"]
        self.filters["urlencode"] = lambda value: Encoded(encode(value))
        # What is matched, how often and how wide may be what a model gave.
        self.filters |= {name: _ending(function) for name, function in FILTERS.items()}
        self.tests |= {name: _ending(function) for name, function in TESTS.items()}
        for name in ("center", "indent"):
            self.filters[name] = _not_too_wide(self.filters[name])
        self._codes: dict[str, CodeType] = {}

    @override
    def call(self, context: jinja2.runtime.Context, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call, and make no text too wide."""
        if getattr(function, "__name__", "") in _PADDING:
            Budget().check_width(*args, *kwargs.values())
        return super().call(context, function, *args, **kwargs)

    @override
    def call_binop(self, context: jinja2.runtime.Context, operator: str, left: Any, right: Any) -> Any:
        """Compute, and repeat nothing too often."""
        Budget().check_operator(operator, left, right)
        return super().call_binop(context, operator, left, right)

    def code(self, source: str) -> CodeType:
        """Return the code of a template."""
        if (code := self._codes.get(source)) is None:
            if len(self._codes) >= _COMPILED:
                self._codes.clear()
            code = self._codes[source] = self.compile(source.strip())
        return code


class _PiecesEnvironment(_Environment):
    """The environment of texts that mean something to another language: in it, what a template says stays apart, too."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Add what joins texts."""
        super().__init__(hass)
        self.globals[_TEXT] = Written
        self.globals[_JOINED] = _joined
        self.filters["join"] = _join
        for name in ("tojson", "to_json"):
            self.filters[name] = _as_json(self.filters[name])
        for name in ("lower", "replace", "string", "trim", "upper"):
            self.filters[name] = _of_written(self.filters[name])

    @staticmethod
    @override
    def concat(pieces: Iterable[str]) -> str:
        """Join what a macro or a block writes, in which values are marked."""
        return Written("".join(pieces))

    @override
    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        """Mark what is said in quotes."""
        tree: nodes.Template = _AsWritten().visit(super()._parse(source, name, filename))
        return tree


@pass_eval_context
def _join(context: nodes.EvalContext, value: Iterable[Any], d: Any = "", attribute: str | int | None = None) -> Written:
    """Join the items of a list, and keep them apart from what is between them."""
    if attribute is not None:
        value = map(make_attrgetter(context.environment, attribute), value)
    between = _pieces_of(d) if d else ()
    pieces: list[Piece] = []
    for index, item in enumerate(value):
        pieces += [*(between if index else ()), *_pieces_of(item)]
    return Written(*pieces)


def _of_written(usual: Any) -> Any:
    """Return a filter of which comes what the template wrote, where nothing else goes in."""

    @pass_eval_context
    def changed(context: nodes.EvalContext, value: Any, *arguments: Any) -> Any:
        first = (context,) if hasattr(usual, "jinja_pass_arg") else ()
        result = usual(*first, value, *arguments)
        is_own = all(isinstance(one, Written) and one.is_whole for one in (value, *arguments))
        return Written(result) if is_own else result

    return changed


def _as_json(usual: Any) -> Any:
    """Return a filter that marks what it makes as JSON."""

    @pass_eval_context
    def to_json(context: nodes.EvalContext, value: Any, *arguments: Any, **more: Any) -> JsonText:
        first = (context,) if hasattr(usual, "jinja_pass_arg") else ()
        return JsonText(usual(*first, value, *arguments, **more))

    return to_json


_ENVIRONMENT: HassKey[_Environment] = HassKey(f"{DOMAIN}_function_templates")
_PIECES: HassKey[_Environment] = HassKey(f"{DOMAIN}_function_pieces")


def function_environment(hass: HomeAssistant, *, apart: bool = False) -> _Environment:
    """Return the environment of functions, or the one that keeps values apart."""
    key, kind = (_PIECES, _PiecesEnvironment) if apart else (_ENVIRONMENT, _Environment)
    if key not in hass.data:
        hass.data[key] = kind(hass)
    return hass.data[key]


async def async_check_template(hass: HomeAssistant, source: str, path: YamlPath) -> None:
    """Raise PartError for a template that cannot be compiled."""
    environment = function_environment(hass)
    try:
        await hass.async_add_executor_job(environment.code, source)
    except jinja2.TemplateSyntaxError as err:
        raise PartError(f"The template is wrong in its line {err.lineno}: {err.message}", path) from err
    except Exception as err:
        raise PartError(f"The template cannot be read: {type(err).__name__}", path) from err


async def async_render(run: FunctionRun, source: str, variables: Mapping[str, Any] | None = None) -> str:
    """Render a template with the run's variables and more; raise ToolError when it fails or takes too long."""
    if not is_template_string(source):
        return source
    return str(await _async_render(run, source, variables, None))


async def async_render_pieces(run: FunctionRun, source: str) -> list[Piece]:
    """Render a template, and keep each value that it writes apart from the text around it."""
    if not is_template_string(source):
        return [source]
    values = _MarkedValues()
    return values.pieces(await _async_render(run, source, None, values))


async def async_render_value(
    run: FunctionRun, source: str, value: Any, variables: Mapping[str, Any] | None = None
) -> str:
    """Render a template for a value, which it gets as `value`, and as `value_json` where it is JSON."""
    more = {**(variables or {}), "value": value}
    if isinstance(value, str):
        with suppress(*JSON_DECODE_EXCEPTIONS):
            more["value_json"] = json_loads(value)
    return await async_render(run, source, more)


async def _async_render(
    run: FunctionRun, source: str, variables: Mapping[str, Any] | None, values: _MarkedValues | None
) -> str:
    """Render in a thread that is ended when it takes too long."""
    hass, exposure = run.hass, run.call.exposure
    environment = function_environment(hass, apart=values is not None)
    given = {**_helpers(exposure, source), **run.variables, **(variables or {})}

    def render() -> str:
        _marking.set(values)
        template = jinja2.Template.from_code(environment, environment.code(source), environment.globals)
        text: str = template.render(given)
        if len(text) > MAX_OUTPUT:
            raise TemplateError(f"it writes more than {MAX_OUTPUT} characters")
        return text.strip()

    try:
        return await async_run_interruptible(hass, "function", TIME_LIMIT, render)
    except ToolError:
        raise
    except TimeoutError as err:
        raise ToolError(f"A template of this function took longer than {TIME_LIMIT:g} seconds. Tell the user.") from err
    except Exception as err:
        raise ToolError(f"A template of this function failed: {str(err)[:_MAX_MESSAGE] or type(err).__name__}") from err


def _helpers(exposure: Exposure, source: str) -> dict[str, Any]:
    """Return the functions that templates of functions have beyond Home Assistant's; they answer as of this call."""

    def is_exposed_entity_in_query(query: str) -> bool:
        return any(f"'{state.entity_id}'" in query for state in exposure.states())

    helpers: dict[str, Any] = {
        "is_exposed": lambda entity_id: isinstance(entity_id, str) and exposure.is_exposed(entity_id),
        "is_exposed_entity_in_query": is_exposed_entity_in_query,
        "raise": _raise,
    }
    if "exposed_entities" in source:
        helpers["exposed_entities"] = [
            {
                "entity_id": entity.entity_id,
                "name": entity.name,
                "state": entity.state.state,
                "aliases": list(entity.names[1:]),
            }
            for entity in exposure.entities.values()
        ]
    return helpers


def _raise(message: str = "This cannot be done.") -> None:
    """End a function with a message for the model."""
    raise ToolError(str(message))
