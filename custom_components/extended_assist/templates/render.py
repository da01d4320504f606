"""Render a template in a thread with a time limit that really ends it."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, lru_cache
import re
from traceback import extract_tb
from types import CodeType
from typing import Any, Final

import jinja2

from homeassistant.core import HomeAssistant
from homeassistant.helpers.template import is_template_string
from homeassistant.util.hass_dict import HassKey

from ..exposure.entities import Exposure
from ..results import FreeTextError, ToolError
from ..worker.interruptible import async_run_interruptible
from .environment import ExposedEnvironment, readable, undefined_names
from .limits import Budget, TooLongError
from .names import LEFT_OUT
from .state_proxies import PROPERTIES, TemplateHome

TIME_LIMIT: Final = 3.0
"""The time limit of one rendering in seconds."""
MAX_TEMPLATE: Final = 10_000
"""The most characters of a template."""

_COMPILED = 64
_SUGGESTIONS = 3
_ONE_AT_A_TIME: HassKey[asyncio.Lock] = HassKey("extended_assist.rendering")
_LONGEST_MESSAGE = 500
_TEMPLATE_FILE = "<template>"
_UNKNOWN = {
    "filter": re.compile(r"No filter named '([^']+)'"),
    "function": re.compile(r"'([^']+)' is undefined"),
    "test": re.compile(r"No test named '([^']+)'"),
}
"""Matches Jinja's messages about unknown names."""
_USES = {"filter": "value | {}", "function": "{}(value)", "test": "value is {}"}
_CORE_CONTEXT = re.compile(r"^Template error: | when rendering or compiling template ''")


@dataclass(frozen=True, slots=True)
class Rendered:
    """A rendered text with notes for the model."""

    text: str
    undefined: tuple[str, ...]
    """Jinja's messages about undefined names, which rendered as empty."""
    has_free_text: bool = False
    """True if the template read free text, even if the result does not repeat it."""


@cache
def environment() -> ExposedEnvironment:
    """Return the environment that all renderings share; it has no data of a home."""
    return ExposedEnvironment()


@lru_cache(_COMPILED)
def _compiled(template: str) -> CodeType:
    """Return the code of a template, which does not depend on the home."""
    return environment().compile(template)


async def async_render(
    hass: HomeAssistant, exposure: Exposure, template: str, variables: Mapping[str, Any] | None = None
) -> str:
    """Render a template over exposed entities; raises ToolError, naming the line, if it fails."""
    return (await async_render_with_notes(hass, exposure, template, variables)).text


async def async_render_with_notes(
    hass: HomeAssistant, exposure: Exposure, template: str, variables: Mapping[str, Any] | None = None
) -> Rendered:
    """Render as async_render does; return the text with the undefined names."""
    check_length(template)
    if not is_template_string(template):
        return Rendered(template, ())

    # Renderings share the interpreter, and so do they with the event loop: side by side they would only be in the way.
    async with hass.data.setdefault(_ONE_AT_A_TIME, asyncio.Lock()):
        budget = Budget(TIME_LIMIT)
        home = TemplateHome(hass, exposure, budget)

        def render() -> Rendered:
            undefined: dict[str, None] = {}
            undefined_names.set(undefined)
            here = environment().for_rendering(home)
            given = dict(budget.check(dict(variables or {})))
            text = jinja2.Template.from_code(here, _compiled(template.strip()), here.globals).render(given)
            return Rendered(text.strip(), tuple(undefined), home.has_free_text)

        try:
            return await async_run_interruptible(hass, "template", TIME_LIMIT, render)
        except (TimeoutError, TooLongError) as err:
            raise ToolError(str(TooLongError(TIME_LIMIT))) from err
        except Exception as err:
            failed = FreeTextError if home.has_free_text else ToolError
            raise failed(explain(err)) from err


def check_length(template: str) -> None:
    """Raise ToolError for a template that is too long."""
    if len(template) > MAX_TEMPLATE:
        raise ToolError(f"The template has {len(template)} characters; at most {MAX_TEMPLATE} are allowed.")


def explain(error: Exception) -> str:
    """Return the error of a template with its line, and the most similar name to one that does not exist."""
    line = (
        error.lineno
        if isinstance(error, jinja2.TemplateSyntaxError)
        else next(
            (frame.lineno for frame in reversed(extract_tb(error.__traceback__)) if frame.filename == _TEMPLATE_FILE),
            None,
        )
    )
    message = readable(_CORE_CONTEXT.sub("", str(error).removeprefix("TemplateError: "))) or type(error).__name__
    if len(message) > _LONGEST_MESSAGE:
        message = f"{message[:_LONGEST_MESSAGE]}…"
    if isinstance(error, RecursionError):
        message = "It calls itself, or is nested, too deeply."
    where = f" in line {line}" if line else ""
    return f"The template failed{where}: {message.rstrip('.')}.{nearest_known(message)}"


def nearest_known(message: str) -> str:
    """Return a hint about an unknown name in Jinja's message, or an empty string."""
    if message.startswith("no loader"):
        return " Templates of other files cannot be used here."
    if "'TemplateState' has no attribute" in message:
        return f" A state has {', '.join(sorted(PROPERTIES))} and as_dict(); what else it knows is in its attributes."
    kind, name = next(
        ((kind, found[1]) for kind, known in _UNKNOWN.items() if (found := known.match(message))), ("", "")
    )
    if not kind:
        return ""
    if reason := LEFT_OUT.get(name):
        return f" {reason}"
    tables: dict[str, Mapping[str, Any]] = {
        "filter": environment().filters,
        "function": environment().globals,
        "test": environment().tests,
    }
    for other, table in tables.items():
        if other != kind and name in table:
            return f" It is a {other} here: {_USES[other].format(name)}."
    nearest = get_close_matches(name, tables[kind], n=_SUGGESTIONS, cutoff=0.5)
    return f" Nearest {kind}s here: {', '.join(nearest)}." if nearest else f" No {kind} here is called like that."
