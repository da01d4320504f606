"""Templates that users wrote: they see what is exposed and what their user named, and what a model gave is but a value.

A template of a function is compiled as it was written; arguments are variables. Where its text means something to another
language (SQL, an address, JSON), every value that it writes stays apart from the text around it, so that the part which
knows that language can write it as a value. What the template itself says in quotes is such text too, also where it is
joined with values.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache, lru_cache, partial
import re
from secrets import randbelow
from types import CodeType
from typing import Any, Final, Self, override

import jinja2
from jinja2 import nodes, pass_context
from jinja2.compiler import Frame
from jinja2.filters import make_attrgetter

from homeassistant.core import HomeAssistant
from homeassistant.helpers.template import is_template_string
from homeassistant.util.json import JSON_DECODE_EXCEPTIONS, json_loads

from ..exposure.fixed_values import is_fixed_name, is_fixed_state
from ..exposure.responses import AnswerExposure
from ..results import FreeTextError, ToolError
from ..templates.environment import ExposedContext, ExposedEnvironment, MeasuredCode, readable
from ..templates.limits import Budget, TooLongError
from ..templates.names import named_entities
from ..templates.render import environment, nearest_known
from ..templates.state_proxies import TemplateHome
from ..worker.interruptible import async_run_interruptible
from .base import FunctionRun
from .yaml_source import PartError, YamlPath

TIME_LIMIT: Final = 5.0
"""Seconds for one template."""
_MAX_MESSAGE = 300
_COMPILED = 200
_CHANGED: Final = (
    "A template of this function changes a text after values were put into it. Tell the user to put the values in last, or to "
    "join with ~."
)
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
    def __getitem__(self, key: Any) -> str:
        """Return a part, which is written too where all is."""
        part = super().__getitem__(key)
        return Written(part) if self.is_whole else part

    @override
    def __add__(self, other: Any) -> Any:
        """Add a text behind."""
        return Written(*self.pieces, *_pieces_of(other)) if isinstance(other, str) else NotImplemented

    def __radd__(self, other: Any) -> Any:
        """Add a text before."""
        return Written(*_pieces_of(other), *self.pieces) if isinstance(other, str) else NotImplemented


def _pieces_of(value: Any) -> tuple[Piece, ...]:
    """Return the pieces of a value."""
    if isinstance(value, Written):
        return value.pieces
    if isinstance(value, jinja2.Undefined):
        return (str(value),)
    return (Value(value),)


class _MarkedValues:
    """The values that one rendering writes."""

    def __init__(self) -> None:
        """Choose marks that nobody can guess."""
        self._nonce = str(randbelow(10**18))
        self._values: list[Any] = []
        self._mark = re.compile(f"{_FIRST}{self._nonce}-([0-9]+){_LAST}")

    def mark(self, value: Any) -> Any:
        """Return a placeholder for a value; what the template wrote stays as it is.

        Raises ToolError for a text with placeholders that was changed: of what was put into it, nothing is known.
        """
        if isinstance(value, jinja2.Undefined) or value is None:
            return value
        if isinstance(value, Written):
            return "".join(self.mark(piece.value) if isinstance(piece, Value) else piece for piece in value.pieces)
        if isinstance(value, str) and self._mark.search(value):
            raise ToolError(_CHANGED)
        self._values.append(value)
        return f"{_FIRST}{self._nonce}-{len(self._values) - 1}{_LAST}"

    def pieces(self, text: str) -> list[Piece]:
        """Return a rendered text with its values apart."""
        parts = self._mark.split(text)
        found: list[Piece] = [Value(self._values[int(part)]) if index % 2 else part for index, part in enumerate(parts)]
        return [piece for piece in found if piece != ""]


_marking: ContextVar[_MarkedValues] = ContextVar("marking")


class _WrittenCode(MeasuredCode):
    """Compiles a template so that what it says in quotes stays apart from values."""

    @override
    def visit_Const(self, node: nodes.Const, frame: Frame) -> None:
        is_text = isinstance(node.value, str)
        self.write("environment.written(" if is_text else "")
        super().visit_Const(node, frame)
        self.write(")" if is_text else "")


class _PiecesEnvironment(ExposedEnvironment):
    """The environment of texts that mean something to another language: the values that a template writes stay apart."""

    code_generator_class = _WrittenCode
    written = Written

    def __init__(self) -> None:
        """Mark what is written, and what joins texts."""
        super().__init__()
        self.finalize = _marked_output
        self.filters["join"] = _join
        self.filters["urlencode"] = _as(Encoded, self.filters["urlencode"])
        for name in ("tojson", "to_json"):
            self.filters[name] = _as(JsonText, self.filters[name])
        for name in ("lower", "replace", "string", "trim", "upper"):
            self.filters[name] = _of_written(self.filters[name])

    @override
    def join_text(self, parts: Iterable[Any]) -> Written:
        return Written(*(piece for part in self.budget.check_join("", parts) for piece in _pieces_of(part)))

    @override
    def concat(self, parts: Iterable[str]) -> Written:
        """Return the text of a macro or a block, in which values are marked."""
        return Written(super().concat(parts))

    @override
    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        # Of a text in quotes, Jinja would make such a text again, whatever is put into it.
        fill = super().wrap_str_format(value)
        return fill and (lambda *args, **kwargs: str(fill(*args, **kwargs)))


# With the context, so that constants are written when the template is rendered, and not when it is compiled.
@pass_context
def _marked_output(context: ExposedContext, value: Any) -> Any:
    """Put a mark in place of a value that is written out."""
    return _marking.get().mark(context.environment.budget.check(value))


@pass_context
def _join(context: ExposedContext, value: Iterable[Any], d: Any = "", attribute: str | int | None = None) -> Written:
    """Join the items of a list, and keep them apart from what is between them."""
    environment = context.environment
    if attribute is not None:
        value = map(make_attrgetter(environment, attribute), value)
    between = _pieces_of(d) if d else ()
    pieces: list[Piece] = []
    for index, item in enumerate(environment.budget.check_join(d, value)):
        pieces += [*(between if index else ()), *_pieces_of(item)]
    return Written(*pieces)


def _of_written(usual: Any) -> Any:
    """Return a filter of which comes what the template wrote, where nothing else goes in."""

    @pass_context
    def changed(context: ExposedContext, value: Any, *arguments: Any) -> Any:
        result = usual(context, value, *arguments)
        is_own = all(isinstance(one, Written) and one.is_whole for one in (value, *arguments))
        return Written(result) if is_own else result

    return changed


def _as(kind: type[str], usual: Any) -> Any:
    """Return a filter that marks what it makes."""

    @pass_context
    def marked(context: ExposedContext, /, *args: Any, **kwargs: Any) -> str:
        return kind(usual(context, *args, **kwargs))

    return marked


@cache
def _pieces_environment() -> ExposedEnvironment:
    """Return the environment that keeps values apart; as the usual one, it holds nothing of a home."""
    return _PiecesEnvironment()


@lru_cache(_COMPILED)
def _compiled(source: str, *, apart: bool) -> tuple[CodeType, frozenset[str]]:
    """Return the code of a template, and the entities that its user names in it by constants."""
    here = _pieces_environment() if apart else environment()
    source = source.strip()
    return here.compile(source), named_entities(here.parse(source))


async def async_check_template(hass: HomeAssistant, source: str, path: YamlPath) -> None:
    """Raise PartError for a template that cannot be compiled."""
    try:
        await hass.async_add_executor_job(partial(_compiled, source, apart=False))
    except jinja2.TemplateSyntaxError as err:
        message = f"{err.message}{nearest_known(err.message or '')}"
        raise PartError(f"The template is wrong in its line {err.lineno}: {message}", path) from err
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
    hass, assistant = run.hass, str(run.call.llm_context.assistant)
    # What comes in is as large as it is; what is made of it is measured.
    given = {**_helpers(run, source), **run.variables, **(variables or {})}

    def render() -> str:
        if values:
            _marking.set(values)
        code, named = _compiled(source, apart=values is not None)
        home = TemplateHome(hass, AnswerExposure(hass, assistant, named), Budget(TIME_LIMIT))
        here = (_pieces_environment() if values else environment()).for_rendering(home)
        try:
            return jinja2.Template.from_code(here, code, here.globals).render(given).strip()
        finally:
            run.has_free_text = run.has_free_text or home.has_free_text

    try:
        return await async_run_interruptible(hass, "function", TIME_LIMIT, render)
    except ToolError:
        raise
    except (TimeoutError, TooLongError) as err:
        raise ToolError(f"A template of this function took longer than {TIME_LIMIT:g} seconds. Tell the user.") from err
    except Exception as err:
        reason = readable(str(err))[:_MAX_MESSAGE] or type(err).__name__
        failed = FreeTextError if run.has_free_text else ToolError
        raise failed(f"A template of this function failed: {reason}") from err


def _helpers(run: FunctionRun, source: str) -> dict[str, Any]:
    """Return the functions that templates of functions have beyond those of others; they answer as of this call."""
    exposure = run.call.exposure

    def is_exposed_entity_in_query(query: str) -> bool:
        return any(f"'{state.entity_id}'" in query for state in exposure.states())

    helpers: dict[str, Any] = {
        "is_exposed": lambda entity_id: isinstance(entity_id, str) and exposure.is_exposed(entity_id),
        "is_exposed_entity_in_query": is_exposed_entity_in_query,
        "raise": _raise,
    }
    if "exposed_entities" in source:
        run.has_free_text = run.has_free_text or any(
            not (is_fixed_state(run.hass, state) and is_fixed_name(run.hass, state)) for state in exposure.states()
        )
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
