"""The current states of a small home, sent with a message, so that a question about them needs no tool call.

Only names and states of exposed entities are sent, and no text that others can write: a state is sent if it is a number,
a time or a word that its kind of entity defines. All other states are left to the tools.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
import re
from typing import Final

from homeassistant.core import HomeAssistant, State, callback
from homeassistant.helpers import llm
from homeassistant.util import dt as dt_util

from ..const import DOMAIN
from ..exposure.entities import ExposedEntity, Exposure, is_secret_key
from ..exposure.fixed_values import is_fixed_name, is_fixed_state, is_fixed_unit, is_plain
from ..exposure.listing import in_areas, place, spoken_name
from ..ha_compat.conversation import ASSIST_STATE_QUESTIONS
from ..results import format_minute, number, shown

DEFAULT_PRESENT: Final = 40
"""The most exposed entities whose states are sent; docs/cost.md has the measurement."""
MAX_PRESENT: Final = 300

_READERS: Final = frozenset({("homeassistant", "GetLiveContext"), (DOMAIN, "get_entities")})
"""Tools that return states, by integration and name: without one of them the caller gets no states."""

_NO_STATE: Final = frozenset(
    {
        *(
            "ai_task",
            "assist_satellite",
            "button",
            "calendar",
            "camera",
            "conversation",
            "event",
            "geo_location",
            "image",
        ),
        *("input_button", "notify", "scene", "script", "stt", "tag", "tts", "wake_word"),
    }
)
"""Domains whose states answer no question."""
_NUMBER: Final = re.compile(r"-?\d{1,20}(?:\.\d{1,20})?(?:[eE][-+]?\d{1,2})?", re.ASCII)
_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\d|(?:\d{4}-\d\d-\d\d )?\d\d:\d\d(?::\d\d)?", re.ASCII)
_UNAVAILABLE: Final = ("unavailable", "unknown")
_MEANT: Final[Mapping[str, Mapping[str, str]]] = {
    **{kind: {"on": "open", "off": "closed"} for kind in ("door", "garage_door", "opening", "window")},
    "battery": {"on": "low", "off": "not low"},
    "lock": {"on": "unlocked", "off": "locked"},
    "safety": {"on": "unsafe", "off": "safe"},
}
"""The meaning of on and off of a binary sensor, by device class."""
_NUMBERS: Final[Mapping[str, Mapping[str, str]]] = {
    "climate": {"current_temperature": "{}°", "temperature": "set {}°"},
    "cover": {"current_position": "{}%"},
    "humidifier": {"current_humidity": "{}%", "humidity": "set {}%"},
    "water_heater": {"current_temperature": "{}°", "temperature": "set {}°"},
    "weather": {"temperature": "{}°"},
}
"""Numeric attributes that are sent like states, by domain."""

_HUGE: Final = 1e15
"""The upper limit for a reading; it also excludes infinity and NaN."""

_READS: Final = (
    "If the user asks which devices there are: Answer from the static context below.\n"
    "If the user asks about the CURRENT state, value, or mode:\n"
    "    1.  States now, told with the user's newest message, are live: answer from them, without a tool.\n"
    "    2.  For what they do not tell, and after anything was done, you MUST use a tool to look.\n"
)
"""Our replacement when states are sent."""
_LEGEND: Final = (
    "States now, before the words of a message, are as they were when it was said, by area. You may answer from the "
    "listed states without a tool call. Later ones tell only what has changed since. In parentheses: what on or off means."
)
_NOW: Final = "States now:\n{}"
_CHANGED: Final = "States now, the rest as before:\n{}"
_UNCHANGED: Final = "States now: as before."
_NOT_TOLD: Final = "not told"


def with_legend(system: str) -> str:
    """Return instructions that explain the current states, in place of Assist's own where these are as expected."""
    if system.count(ASSIST_STATE_QUESTIONS) == 1:
        system = system.replace(ASSIST_STATE_QUESTIONS, _READS)
    return f"{system}\n{_LEGEND}"


@dataclass(frozen=True, slots=True)
class Present:
    """The states of the home at one time."""

    states: Mapping[str, Mapping[str, str | None]]
    """States by place and name, in order; None if the tools have to read the state."""

    @property
    def whole(self) -> str:
        """Return all states in words."""
        return _NOW.format(_lines(self.states, lambda state: state is not None))

    def since(self, before: Present) -> str | None:
        """Return the changes since another time in words; None if the entities differ."""
        if _names(self) != _names(before):
            return None
        changed = {
            place: {name: state or _NOT_TOLD for name, state in states.items() if state != before.states[place][name]}
            for place, states in self.states.items()
        }
        return _CHANGED.format(lines) if (lines := _lines(changed, lambda _: True)) else _UNCHANGED


def _names(present: Present) -> Mapping[str, list[str]]:
    return {place: list(states) for place, states in present.states.items()}


def _lines(states: Mapping[str, Mapping[str, str | None]], when: Callable[[str | None], bool]) -> str:
    """Return a line for each place with the names and states there."""
    lines = {
        place: "; ".join(f"{name}: {state}" for name, state in told.items() if when(state))
        for place, told in states.items()
    }
    return "\n".join(f"[{place}] {line}" for place, line in lines.items() if line)


def is_reader(tool: llm.Tool) -> bool:
    """Return whether a tool returns states."""
    return (tool.integration, tool.name.rpartition("__")[2]) in _READERS


@callback
def describe_present(hass: HomeAssistant, assistant: str, limit: int) -> Present | None:
    """Return the states that an assistant may see, or None for none, or for more entities than the limit."""
    exposure = Exposure(hass, assistant)
    if not 0 < len(exposure.ids) <= limit:
        return None
    entities = [entity for entity in exposure.entities.values() if _has_part(hass, entity)]
    states: dict[str, dict[str, str | None]] = {}
    for names, members in in_areas(entities):
        told = states.setdefault(place(names), {})
        for name, entity in sorted(_distinct(hass, members).items()):
            told[name] = _state(hass, exposure, entity)
    is_any = any(state is not None for told in states.values() for state in told.values())
    return Present(states) if is_any else None


def _has_part(hass: HomeAssistant, entity: ExposedEntity) -> bool:
    """Return whether an entity is listed: its state can answer a question, and its name is fixed."""
    return entity.domain not in _NO_STATE and is_fixed_name(hass, entity.state)


def _distinct(hass: HomeAssistant, entities: Collection[ExposedEntity]) -> dict[str, ExposedEntity]:
    """Return entities of one place by name, with domain or id where names are equal."""
    named: defaultdict[str, list[ExposedEntity]] = defaultdict(list)
    for entity in entities:
        named[spoken_name(hass, entity)].append(entity)
    distinct: dict[str, ExposedEntity] = {}
    for name, alike in named.items():
        domains = Counter(entity.domain for entity in alike)
        for entity in alike:
            is_alone = domains[entity.domain] == 1
            distinct[name if len(alike) == 1 else f"{name} ({entity.domain})" if is_alone else entity.entity_id] = (
                entity
            )
    return distinct


def _state(hass: HomeAssistant, exposure: Exposure, entity: ExposedEntity) -> str | None:
    """Return the state as it is sent, or None."""
    state = entity.state
    if state.state in _UNAVAILABLE:
        return state.state
    value = _value(hass, exposure, state)
    names_secret = any(map(is_secret_key, (state.object_id, *entity.names)))
    if value is None or names_secret or exposure.visible_value(value) is None:
        return None
    more = [
        form.format(number(reading))
        for name, form in _NUMBERS.get(entity.domain, {}).items()
        if isinstance(reading := state.attributes.get(name), int | float)
        and not isinstance(reading, bool)
        and abs(reading) < _HUGE
    ]
    if entity.domain == "binary_sensor" and (meant := _meant(state)):
        more.append(f"({meant})")
    return " ".join([value, *more])


def _meant(state: State) -> str | None:
    """Return the meaning of on or off of a binary sensor, or None if the words are clear."""
    return _MEANT.get(str(state.attributes.get("device_class")), {}).get(state.state)


def _value(hass: HomeAssistant, exposure: Exposure, state: State) -> str | None:
    """Return a fixed state, or None."""
    value = state.state
    if not is_fixed_state(hass, state):
        return None
    if _NUMBER.fullmatch(value):
        unit = state.attributes.get("unit_of_measurement")
        return f"{shown(value, unit and str(unit), exposure.decimals(state.entity_id))}{_unit(state)}"
    if _MOMENT.fullmatch(value):
        return value
    if (moment := _moment(value)) is not None:
        return format_minute(moment)
    return None if is_plain(value) else value


def _unit(state: State) -> str:
    """Return the unit of a number, after a space if it is a word."""
    unit = state.attributes.get("unit_of_measurement")
    if not isinstance(unit, str) or not is_fixed_unit(unit):
        return ""
    return unit if unit in ("%", "°") else f" {unit}"


def _moment(value: str) -> datetime | None:
    """Return a timestamp with its UTC offset."""
    try:
        moment = dt_util.parse_datetime(value) if value.startswith(("19", "20")) else None
    except ValueError:
        return None
    return moment if moment and moment.tzinfo else None
