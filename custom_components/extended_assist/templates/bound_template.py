"""Templates that Home Assistant renders while it runs a model's or user's sequence: over exposed entities, with limits.

Home Assistant renders on its event loop, where nothing can be interrupted. So the budget of a rendering checks the
processor time of the event loop's thread, which does not depend on other load of the machine.
"""

from collections.abc import Iterable, Mapping
from datetime import date, time, timedelta
from functools import cache, lru_cache
import gc
import threading
from time import thread_time
from types import CodeType
from typing import Any, Final, override

import jinja2
from jinja2 import meta

from homeassistant.core import HomeAssistant, State, callback
from homeassistant.exceptions import TemplateError
from homeassistant.helpers.script_variables import ScriptVariables
from homeassistant.helpers.template import Template
from homeassistant.helpers.typing import TemplateVarsType

from ..exposure.entities import Exposure
from ..exposure.responses import AnswerExposure, plain, visible_response
from ..exposure.safe_log import Unlogged, UnloggedText
from ..ha_compat.templates import RenderInfo, render_info_cv
from ..results import ToolError
from .environment import ExposedEnvironment
from .limits import Budget, TooLongError
from .render import check_length, explain
from .state_proxies import TemplateHome, TemplateState

RENDERING_TIME: Final = 0.25
"""The most seconds of processor time of one rendering."""
RUN_TIME: Final = 5.0
"""The most seconds of processor time of all renderings of one run."""

_COMPILED = 256
type Compiled = tuple[CodeType, frozenset[str]]
"""The code of a template and its variables."""
_AS_THEY_ARE = (str, int, float, bool, date, time, timedelta, type(None))


_collector = threading.local()


def _time_collector(phase: str, _: dict[str, int]) -> None:
    """Measure the processor time of garbage collections in this thread: a large one exceeds a template's limit."""
    if phase == "start":
        _collector.started = thread_time()
    elif (started := getattr(_collector, "started", None)) is not None:
        _collector.seconds = getattr(_collector, "seconds", 0.0) + thread_time() - started


def _work_time() -> float:
    """Return the processor time of this thread in seconds, without garbage collections."""
    return thread_time() - float(getattr(_collector, "seconds", 0.0))


class WorkBudget(Budget):
    """A budget of processor time of its thread, without garbage collections."""

    def __init__(self, seconds: float) -> None:
        """Start with the full budget."""
        super().__init__(seconds)
        if _time_collector not in gc.callbacks:
            gc.callbacks.append(_time_collector)
        self._started = _work_time()

    @override
    def tick(self) -> None:
        """Raise TooLongError beyond the limit; the wall clock is checked first, because it is cheaper."""
        if self._clock() > self._ends:
            left = self._seconds - (_work_time() - self._started)
            if left <= 0:
                raise TooLongError(self._seconds)
            self._ends = self._clock() + left

    @override
    def seconds(self, most: float) -> float:
        """Return the remaining seconds for one operation; raises TooLongError if there are none."""
        self.tick()
        return super().seconds(most)


class TemplateRun:
    """The data that all templates of one run share: the exposure, the time limit, and the variables with responses."""

    def __init__(self, hass: HomeAssistant, assistant: str, written: frozenset[str] = frozenset()) -> None:
        """Store the assistant, and the entities that the user wrote, which responses may name."""
        self.hass = hass
        self.responses: set[str] = set()
        """The names of variables with responses of actions."""
        self.has_free_text = False
        """True once a template of this run has read free text."""
        self.computed: dict[str, Any] = {}
        """The last values of variables from templates of this run, which contain exposed data only."""
        self._assistant = assistant
        self._written = written
        self._left = RUN_TIME
        self._answers: dict[str, tuple[Any, Any]] = {}
        self._code: dict[str, Compiled] = {}

    def compile(self, templates: Iterable[str]) -> None:
        """Compile templates outside of the event loop, before they are needed there; raises ToolError."""
        self._code |= {template: compiled(template) for template in templates}

    def code(self, template: str) -> Compiled:
        """Return the code of a template; raises ToolError if it cannot be compiled."""
        return self._code.get(template) or compiled(template)

    def exposure(self) -> Exposure:
        """Return the current exposure."""
        return Exposure(self.hass, self._assistant)

    def told(self, value: Any) -> Any:
        """Return the visible part of a variable."""
        exposure = AnswerExposure(self.hass, self._assistant, self._written)
        # Of what templates made, a text that only looks like a name must not be told differently when that exists.
        is_computed = any(value is made for made in self.computed.values())
        return plain(exposure, value) if is_computed else visible_response(exposure, value)

    def seconds(self) -> float:
        """Return the seconds for a rendering; raises TemplateError if none are left."""
        if self._left <= 0:
            raise TemplateError(f"The templates of this run took more than {RUN_TIME:g} seconds together")
        return min(RENDERING_TIME, self._left)

    def spend(self, seconds: float) -> None:
        """Subtract the processor time of a rendering."""
        self._left -= seconds

    def view(self, home: TemplateHome, name: str, value: Any) -> Any:
        """Return a variable as a template may see it."""
        if name not in self.responses or self.computed.get(name) is value:
            return _view(home, value)
        if (known := self._answers.get(name)) is None or known[0] is not value:
            known = self._answers[name] = value, self.told(value)
        return known[1]


class BoundVariables(ScriptVariables):
    """Variables of a script with bound templates."""

    def __init__(self, variables: dict[str, Any], run: TemplateRun) -> None:
        """Store variables with bound templates."""
        super().__init__(variables)
        self._run = run

    @override
    @callback
    def async_simple_render(self, run_variables: Mapping[str, Any]) -> dict[str, Any]:
        """Render and store the results."""
        made = super().async_simple_render(run_variables)
        self._run.computed |= made
        return made

    @override
    @callback
    def async_render(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Render and store the results."""
        made = super().async_render(*args, **kwargs)
        self._run.computed |= {name: made[name] for name in self.variables}
        return made


class BoundTemplate(Unlogged, Template):
    """A template of Home Assistant that always renders in our environment."""

    __slots__ = ("_bound_code", "_names", "_run")

    def __init__(self, template: str, run: TemplateRun) -> None:
        """Compile the template; raises ToolError if that is not possible."""
        super().__init__(template, run.hass)
        self.template = UnloggedText(self.template)
        self._run = run
        self._bound_code: CodeType | None = None
        self._names: frozenset[str] = frozenset()
        if not self.is_static:
            self._bound_code, self._names = run.code(self.template)

    @override
    def ensure_valid(self) -> None:
        """Do nothing: the template is already compiled."""

    @override
    @callback
    def async_render(
        self, variables: TemplateVarsType = None, parse_result: bool = True, *args: Any, **kwargs: Any
    ) -> Any:
        """Render with the current exposure and with views of the variables."""
        if self._bound_code is None:
            return super().async_render(None, parse_result)
        started, limit = _work_time(), self._run.seconds()
        home = TemplateHome(self._run.hass, self._run.exposure(), WorkBudget(limit))
        here = environment_for(home)
        given = dict(variables or {})
        try:
            self._compiled = jinja2.Template.from_code(here, self._bound_code, here.globals)
            views = {name: self._run.view(home, name, given[name]) for name in self._names & given.keys()}
            return super().async_render(views, parse_result)
        except RecursionError as err:
            raise TemplateError("It is nested too deeply") from err
        finally:
            self._compiled = None
            self._run.spend(_work_time() - started)
            self._run.has_free_text = self._run.has_free_text or home.has_free_text
            if (info := render_info_cv.get()) is not None and info.collecting:
                info.entities = {*info.entities, *home.read}

    @override
    @callback
    def async_render_to_info(self, *args: Any, **kwargs: Any) -> RenderInfo:
        """Render and return the entities that were read; after an error, no further entities are followed."""
        info = super().async_render_to_info(*args, **kwargs)
        if info.exception is not None:
            info.filter = info.filter_lifecycle = frozenset(info.entities).__contains__
        return info

    @override
    def _ensure_compiled(self, *args: Any, **kwargs: Any) -> jinja2.Template:
        """Refuse all other ways to render."""
        raise TemplateError("This template cannot be rendered in this way")


@cache
def _environment() -> ExposedEnvironment:
    """Return the environment that all such renderings share; it has no data of a home."""
    return ExposedEnvironment()


def environment_for(home: TemplateHome) -> ExposedEnvironment:
    """Return the environment of one rendering."""
    return _environment().for_rendering(home)


@lru_cache(_COMPILED)
def compiled(template: str) -> Compiled:
    """Return the code of a template and its variables; raises ToolError if it cannot be compiled."""
    check_length(template)
    here = _environment()
    try:
        names = meta.find_undeclared_variables(here.parse(template))
        return here.compile(template), frozenset(names)
    except (jinja2.TemplateError, MemoryError, RecursionError, SyntaxError) as err:
        raise ToolError(explain(err)) from err


def _view(home: TemplateHome, value: Any) -> Any:
    """Return a variable as plain data, with views of exposed entities in place of states.

    Texts are unchanged: a computed text may look like an entity id, and the result must not depend on whether that exists.
    """
    match value:
        case State():
            return TemplateState(home, value) if home.exposure.is_exposed(value.entity_id) else None
        case Mapping():
            return {key: _view(home, item) for key, item in value.items()}
        case list() | tuple() | set() | frozenset():
            return [_view(home, item) for item in value]
        case _ if isinstance(value, _AS_THEY_ARE):
            return value
    return home.exposure.visible_value(plain(home.exposure, value))
