"""What sets an automation off, over the recorded past."""

from collections.abc import Callable, Mapping
from typing import Final

from homeassistant.helpers.template import Template

from .historical_state import NotReplayableError
from .replay import Remove, Replay
from .state_triggers import Config, Fire, Variables, attach_numeric_state, attach_state, attach_template, attach_zone
from .time_triggers import attach_calendar, attach_homeassistant, attach_sun, attach_time, attach_time_pattern


def check_trigger(config: Config, place: str) -> None:
    """Raise NotReplayableError, with what is to be told, for a trigger that the recorded past cannot tell about."""
    kind = config["platform"]
    if kind not in _ATTACH:
        raise NotReplayableError(f"{place}: a trigger of the type '{kind}'")
    if isinstance(config.get("enabled"), Template):
        raise NotReplayableError(f"{place}: whether it is enabled is a template")


def attach(replay: Replay, config: Config, fire: Fire, variables: Variables) -> Remove:
    """Arm a trigger; fire is called whenever it fires, until the function that is returned is called."""
    options = {**config, **(config.get("options") or {})}
    return _ATTACH[config["platform"]](replay, options, fire, variables)


_ATTACH: Final[Mapping[str, Callable[[Replay, Config, Fire, Variables], Remove]]] = {
    "calendar": attach_calendar,
    "homeassistant": attach_homeassistant,
    "numeric_state": attach_numeric_state,
    "state": attach_state,
    "sun": attach_sun,
    "template": attach_template,
    "time": attach_time,
    "time_pattern": attach_time_pattern,
    "zone": attach_zone,
}
"""What can be replayed."""
