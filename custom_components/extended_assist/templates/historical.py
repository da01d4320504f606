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
"""Functions that look at what an entity is now."""


class NotOfThePastError(Exception):
    """What a template asks for is not known of a moment of the past; the message names it."""


class RecordedState:
    """What a variable may hold of the past."""

    __slots__ = ()

    def as_state(self) -> State:
        """Return it as Home Assistant's own state."""
        raise NotImplementedError


class KeptAttributes(dict[str, Any]):
    """Recorded attributes."""

    __slots__ = ("_unkept",)

    def __init__(self, attributes: Mapping[str, Any], unkept: Collection[str]) -> None:
        """Take what was recorded, and the names of what never is."""
        super().__init__(attributes)
        self._unkept = unkept

    def _check(self, name: object) -> None:
        """Raise NotOfThePastError for what is not recorded."""
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
        """Return the attributes that may be seen, and refuse to tell of those that the recorder does not keep."""
        home = self._home
        unkept = home.unkept.get(self.entity_id, ()) if isinstance(home, PastHome) else ()
        return KeptAttributes(home.exposure.visible_attributes(self._state), unkept)

    @property
    @override
    def context(self) -> Any:
        """Refuse: what the recorder keeps of it is not read."""
        raise NotOfThePastError("what a state came from, in a template")

    @property
    @override
    def last_reported(self) -> datetime:
        """Refuse: the recorder keeps it only now and then."""
        raise NotOfThePastError("'last_reported' in a template")


class PastHome(TemplateHome):
    """The home as a template would have seen it."""

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
        """Take what gives the state at the moment of the known entities, each with its attributes that are not recorded.

        Rendering may take so many seconds.
        """
        super().__init__(hass, exposure, Budget(min(seconds, TIME_LIMIT)))
        self.moment = moment
        self.asked: set[str] = set()
        """The entities that the template asked for, whether they were there or not."""
        self.has_time = False
        """Whether the template read the clock."""
        self.unkept = known
        self._past = past
        self._found: dict[str, PastState | None] = {}

    @override
    def ask(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Answer from the registries, which are taken to be as they are today, but not from present states."""
        if function in _OF_THE_PRESENT:
            raise NotOfThePastError(f"'{function.__name__}' in a template")
        return super().ask(function, *args, **kwargs)

    @override
    def find(self, entity_id: Any) -> PastState | None:
        """Return the proxy of an entity at the moment."""
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
        """Return an attribute of an entity at the moment, or None."""
        proxy = self.find(entity_id)
        return proxy.attributes.get(name) if proxy else None

    @override
    def members(self, proxy: TemplateState, name: str) -> tuple[str, ...]:
        """Return the entities that an attribute of a group or zone listed at the moment."""
        return tuple(proxy.attributes.get(name) or ())

    @override
    def number(self, proxy: TemplateState, name: str) -> float | None:
        """Return an attribute that was a number at the moment."""
        value = proxy.attributes.get(name)
        return value if isinstance(value, int | float) else None

    @override
    def all(self, domain: str | None = None) -> list[TemplateState]:
        """Refuse: what was exposed then is not known, and all of it would have to be read."""
        raise NotOfThePastError(f"all states{f' of {domain}' if domain else ''}, in a template")

    @override
    def format_state(self, state: State, *, rounded: bool, with_unit: bool) -> str:
        """Return a state with its unit; how it was rounded is not known."""
        if rounded:
            raise NotOfThePastError("rounded states in a template")
        return super().format_state(state, rounded=rounded, with_unit=with_unit)


def render_past(home: PastHome, template: str, variables: Mapping[str, Any]) -> str:
    """Return the text that a template would have made; raises TemplateError and NotOfThePastError; for an executor."""
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
    """Return the value that Home Assistant takes a rendered text for: a number, a list, a yes or no, or the text itself."""
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
    """The moment of the rendering, which then depends on it."""
    home: Home = context.environment.home
    if isinstance(home, PastHome):
        home.has_time = True
    return home.moment


def _refused(name: str, why: str = "") -> Callable[..., Any]:
    """Return a function that tells that what it gives is not replayed."""

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
