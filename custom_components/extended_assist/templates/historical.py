"""Templates at a moment of the past: the same environment, over states that somebody hands in.

What cannot be known of that moment is never replaced by the present: it raises NotOfThePastError with its name.
"""

from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from functools import lru_cache
from types import CodeType
from typing import Any, Final, override

import jinja2
from jinja2 import meta, pass_context

from homeassistant.core import HomeAssistant, State
from homeassistant.exceptions import TemplateError
from homeassistant.helpers.template import Template, is_template_string
from homeassistant.util import dt as dt_util

from ..exposure.entities import Exposure
from .environment import ExposedContext, undefined_names
from .limits import Budget
from .location import Home
from .names import CLOCK
from .render import TIME_LIMIT, environment
from .state_proxies import TemplateHome, TemplateState
from .states import state_attr_translated, state_translated

_COMPILED = 64
_OF_THE_PRESENT: Final = frozenset({state_translated, state_attr_translated})
"""Functions that read current data of an entity."""


class NotOfThePastError(Exception):
    """A template reads something that is not recorded; the message names it."""


class RecordedState:
    """A recorded state as a variable."""

    __slots__ = ()

    def as_state(self) -> State:
        """Return Home Assistant's state object."""
        raise NotImplementedError


class KeptAttributes(dict[str, Any]):
    """Recorded attributes."""

    __slots__ = ("_unkept",)

    def __init__(self, attributes: Mapping[str, Any], unkept: Collection[str]) -> None:
        """Store the recorded attributes, and the names of those that are never recorded."""
        super().__init__(attributes)
        self._unkept = unkept

    def _check(self, name: object) -> None:
        """Raise NotOfThePastError for an attribute that is not recorded."""
        if name in self._unkept:
            raise NotOfThePastError(f"the attribute '{name}', which is not recorded, in a template")

    @override
    def get(self, name: str, default: Any = None) -> Any:
        self._check(name)
        return super().get(name, default)

    @override
    def __getitem__(self, name: str) -> Any:
        self._check(name)
        return super().__getitem__(name)

    @override
    def __contains__(self, name: object) -> bool:
        self._check(name)
        return super().__contains__(name)


class PastState(TemplateState):
    """A recorded state in a template."""

    __slots__ = ()

    @property
    @override
    def attributes(self) -> Any:
        """Return the visible attributes; reading one that is not recorded raises NotOfThePastError."""
        home = self._home
        unkept = home.unkept.get(self.entity_id, ()) if isinstance(home, PastHome) else ()
        return KeptAttributes(home.exposure.visible_attributes(self._state), unkept)

    @property
    @override
    def context(self) -> Any:
        """Raise NotOfThePastError: the recorded context is not read."""
        raise NotOfThePastError("what a state came from, in a template")

    @property
    @override
    def last_reported(self) -> datetime:
        """Raise NotOfThePastError: the recorder does not store it for all rows."""
        raise NotOfThePastError("'last_reported' in a template")


class PastHome(TemplateHome):
    """The home as a template would have read it at a time in the past."""

    def __init__(
        self,
        hass: HomeAssistant,
        exposure: Exposure,
        past: Callable[[str], State | None],
        known: Mapping[str, Collection[str]],
        moment: datetime,
        *,
        seconds: float = TIME_LIMIT,
    ) -> None:
        """Store the function that returns past states, the attributes that are not recorded, and the time limit in seconds."""
        super().__init__(hass, exposure, Budget(min(seconds, TIME_LIMIT)))
        self.moment = moment
        self.asked: set[str] = set()
        """The entities that the template read, existing or not."""
        self.has_time = False
        """True if the template read the clock."""
        self.unkept = known
        self._past = past
        self._found: dict[str, PastState | None] = {}

    @override
    def ask(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Answer from the registries as they are today, but not from current states."""
        if function in _OF_THE_PRESENT:
            raise NotOfThePastError(f"'{function.__name__}' in a template")
        return super().ask(function, *args, **kwargs)

    @override
    def find(self, entity_id: Any) -> PastState | None:
        """Return the proxy of an entity at that time."""
        if not isinstance(entity_id, str):
            raise TypeError(f"Expected an entity id, got {type(entity_id).__name__}")
        entity_id = entity_id.lower()
        if entity_id not in self._found:
            if entity_id not in self.unkept and self.exposure.is_exposed(entity_id):
                raise NotOfThePastError(f"{entity_id}, of which a template finds out only when it runs")
            self.asked.add(entity_id)
            state = self._past(entity_id) if entity_id in self.unkept else None
            self._found[entity_id] = PastState(self, state) if state else None
        return self._found[entity_id]

    @override
    def attribute(self, entity_id: Any, name: Any) -> Any:
        """Return an attribute of an entity at that time, or None."""
        proxy = self.find(entity_id)
        return proxy.attributes.get(name) if proxy else None

    @override
    def members(self, proxy: TemplateState, name: str) -> tuple[str, ...]:
        """Return the entities that an attribute of a group or zone listed at that time."""
        return tuple(proxy.attributes.get(name) or ())

    @override
    def number(self, proxy: TemplateState, name: str) -> float | None:
        """Return an attribute that was a number at that time."""
        value = proxy.attributes.get(name)
        return value if isinstance(value, int | float) else None

    @override
    def all(self, domain: str | None = None) -> list[TemplateState]:
        """Raise NotOfThePastError: the exposure of that time is unknown, and all entities would have to be read."""
        raise NotOfThePastError(f"all states{f' of {domain}' if domain else ''}, in a template")

    @override
    def format_state(self, state: State, *, rounded: bool, with_unit: bool) -> str:
        """Return a state with its unit; its rounding at that time is unknown."""
        if rounded:
            raise NotOfThePastError("rounded states in a template")
        return super().format_state(state, rounded=rounded, with_unit=with_unit)


def render_past(home: PastHome, template: str, variables: Mapping[str, Any]) -> str:
    """Return the text that a template would have rendered; runs in an executor. Raises TemplateError and NotOfThePastError."""
    here = environment().for_rendering(home)
    here.globals |= {name: _OTHERS[name] for name in _OTHERS.keys() & here.globals.keys()}
    here.filters = here.filters | {name: _OTHERS[name] for name in _OTHERS.keys() & here.filters.keys()}
    code, names = _compiled(template.strip())
    given = {name: as_seen(home, variables[name]) for name in names if name in variables}
    noted = undefined_names.set({})
    try:
        return jinja2.Template.from_code(here, code, here.globals).render(given).strip()
    except NotOfThePastError:
        raise
    except Exception as err:
        raise TemplateError(err) from err
    finally:
        undefined_names.reset(noted)


def parsed(hass: HomeAssistant, text: str) -> Any:
    """Return the native type of a rendered text as Home Assistant parses it: a number, a list, a boolean, or the text."""
    return text if is_template_string(text) else Template(text, hass).async_render()


def as_seen(home: PastHome, value: Any) -> Any:
    """Return a variable as a template may see it."""
    if isinstance(value, RecordedState):
        return PastState(home, value.as_state())
    if isinstance(value, Mapping):
        return {key: as_seen(home, item) for key, item in value.items()}
    return [as_seen(home, item) for item in value] if isinstance(value, list) else value


@lru_cache(_COMPILED)
def _compiled(template: str) -> tuple[CodeType, frozenset[str]]:
    """Return the code of a template, and the names that it does not define itself."""
    here = environment()
    parsed_template = here.parse(template)
    return here.compile(parsed_template), frozenset(meta.find_undeclared_variables(parsed_template))


@pass_context
def _now(context: ExposedContext) -> datetime:
    """The moment, in local time."""
    return dt_util.as_local(_moment(context))


@pass_context
def _utcnow(context: ExposedContext) -> datetime:
    """The moment, in UTC."""
    return _moment(context)


@pass_context
def _today_at(context: ExposedContext, time_str: str = "") -> datetime:
    """A time of the moment's day."""
    today = dt_util.start_of_local_day(dt_util.as_local(_moment(context)))
    if not time_str:
        return today
    if (time_of_day := dt_util.parse_time(time_str)) is None:
        raise ValueError(f"could not convert {time_str} to datetime")
    return datetime.combine(today, time_of_day, today.tzinfo)


def _moment(context: ExposedContext) -> datetime:
    """Return the time of the rendering, and note that the template depends on it."""
    home: Home = context.environment.home
    if isinstance(home, PastHome):
        home.has_time = True
    return home.moment


def _refused(name: str, why: str = "") -> Callable[..., Any]:
    """Return a function that raises NotOfThePastError."""

    def refuse(*_args: Any, **_kwargs: Any) -> Any:
        raise NotOfThePastError(f"'{name}'{why} in a template")

    return refuse


_OTHERS: Final[dict[str, Any]] = {
    **{name: _refused(name) for name in CLOCK - {"timedelta_string"}},
    **{name: _refused(name, ", which is left to chance,") for name in ("random", "shuffle")},
    "now": _now,
    "utcnow": _utcnow,
    "today_at": _today_at,
}
