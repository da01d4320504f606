"""Simulated steps of an automation: no action is run, but delays take time, and the states that actions would set are set."""

from collections.abc import Callable, Collection, Generator, Mapping
from dataclasses import dataclass
from itertools import count as counted
from typing import Any, Final

from homeassistant.components.script.const import DOMAIN
from homeassistant.const import CONF_SERVICE_DATA
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import ConditionError, TemplateError
from homeassistant.helpers import config_validation as cv
from homeassistant.helpers.template import Template, result_as_boolean

from ..automations.parts import mappings_in
from ..calls.desired_states import ANOTHER, wanted_of
from ..calls.settable_attributes import STATE
from ..results import texts_in
from .conditions import Check, all_hold, condition
from .historical_state import NotReplayableError, PastChange
from .replay import Remove, Replay
from .state_triggers import TemplateTracker
from .triggers import attach, check_trigger

MAX_STEPS: Final = 10_000
"""Largest number of steps of one run, after which it is taken to be an endless loop."""

type Config = Mapping[str, Any]
type Resume = Callable[[Any], None]


@dataclass(frozen=True, slots=True)
class Pause:
    """A pause of a run: until the wait ends, or the seconds are over."""

    seconds: float | None
    wait: Callable[[Resume], Remove] | None = None
    """Starts to wait, and returns the function that cancels this."""


class _HaltError(Exception):
    """The run ends."""


class _ConditionFalseError(Exception):
    """The sequence ends; the outer sequence goes on."""


class Steps:
    """The steps of one automation."""

    def __init__(
        self,
        replay: Replay,
        set_entity: Callable[[object, str, str | None, Mapping[str, Any]], None],
        not_known: Callable[[str, str, Collection[str]], None],
    ) -> None:
        """Take the functions that are called for each entity that a step would set, and for those on which its effect is unknown."""
        self._replay = replay
        self._set = set_entity
        self._not_known = not_known
        self._checks: dict[int, list[Check]] = {}
        self._done = 0
        self._pausing: Mapping[str, Callable[[Config, dict[str, Any], str], Generator[Pause, Any]]] = {
            cv.SCRIPT_ACTION_CHOOSE: self._choose,
            cv.SCRIPT_ACTION_IF: self._if,
            cv.SCRIPT_ACTION_REPEAT: self._repeat,
            cv.SCRIPT_ACTION_WAIT_FOR_TRIGGER: self._wait_for_trigger,
            cv.SCRIPT_ACTION_WAIT_TEMPLATE: self._wait_template,
        }

    def run(self, sequence: list[Config], variables: dict[str, Any]) -> Generator[Pause, Any]:
        """Yield the pauses of a run; raises NotReplayableError at a step that cannot be simulated."""
        self._done = 0
        try:
            yield from self._sequence(sequence, variables, "actions")
        except _HaltError:
            return

    def _sequence(self, sequence: list[Config], variables: dict[str, Any], place: str) -> Generator[Pause, Any]:
        """Yield the pauses of a sequence."""
        try:
            for index, step in enumerate(sequence):
                self._done += 1
                if self._done > MAX_STEPS:
                    raise NotReplayableError(f"{place}[{index}]: a repetition of more than {MAX_STEPS} steps")
                yield from self._step(step, variables, f"{place}[{index}]")
        except _ConditionFalseError:
            return

    def _step(self, step: Config, variables: dict[str, Any], place: str) -> Generator[Pause, Any]:
        """Yield the pauses of one step."""
        try:
            if not self._replay.render(step.get("enabled", True), variables):
                return
            # Steps of other kinds, such as events, are skipped: they take no time, and set no states.
            match kind := cv.determine_script_action(dict(step)):
                case cv.SCRIPT_ACTION_CALL_SERVICE:
                    self._action(step, variables, place)
                case cv.SCRIPT_ACTION_CHECK_CONDITION:
                    self._condition(step, variables, place)
                case cv.SCRIPT_ACTION_VARIABLES:
                    self._replay.define(step["variables"], variables)
                case cv.SCRIPT_ACTION_STOP:
                    raise _HaltError
                case cv.SCRIPT_ACTION_PARALLEL:
                    raise NotReplayableError(f"{place}: steps side by side")
                case cv.SCRIPT_ACTION_SEQUENCE:
                    yield from self._sequence(step["sequence"], variables, f"{place}.sequence")
                case cv.SCRIPT_ACTION_DELAY:
                    if seconds := self._replay.seconds(step["delay"], variables):
                        yield Pause(seconds)
                case _ if kind in self._pausing:
                    yield from self._pausing[kind](step, variables, place)
        except TemplateError as err:
            raise _HaltError from err

    def _if(self, step: Config, variables: dict[str, Any], place: str) -> Generator[Pause, Any]:
        """Yield the pauses of one of two branches."""
        key = "then" if self._holds(step, "if", variables, place) else "else"
        yield from self._sequence(step.get(key) or [], variables, f"{place}.{key}")

    def _action(self, step: Config, variables: dict[str, Any], place: str) -> None:
        """Set the entities of an action."""
        action = self._replay.render(step["action"], variables)
        if not isinstance(action, str):
            return
        data = {
            **_mapping(self._replay.render(step.get(CONF_SERVICE_DATA) or {}, variables)),
            **_mapping(self._replay.render(step.get("data_template") or {}, variables)),
        }
        target = _mapping(self._replay.render(step.get("target") or {}, variables))
        if (script := script_called(self._replay.hass, action)) is not None:
            self._not_known(place, action, {text for text, _ in texts_in(script)})
            if takes_time(self._replay.hass, script):
                raise NotReplayableError(f"{place}: how long {action} takes")
        entity_ids = target.get("entity_id", data.get("entity_id", []))
        act = object()
        for entity_id in [entity_ids] if isinstance(entity_ids, str) else entity_ids or []:
            self._set_one(act, action, data, entity_id, place)

    def _set_one(self, act: object, action: str, data: Mapping[str, Any], entity_id: str, place: str) -> None:
        """Set one entity as an action would do."""
        if (before := self._replay.state(entity_id)) is None:
            return
        if action.startswith("homeassistant."):
            action = f"{before.domain}.{action.partition('.')[2]}"
        wanted = wanted_of(action, data, before) or {}
        known = {name: value for name, value in wanted.items() if value is not ANOTHER}
        if len(known) < len(wanted):
            self._not_known(place, action, (entity_id,))
        state = known.pop(STATE, None)
        if isinstance(state, frozenset):
            state = min(state - {"open"}, default=None)
        self._set(act, entity_id, None if state is None else str(state), known)

    def _condition(self, step: Config, variables: dict[str, Any], place: str) -> None:
        """End the sequence unless a condition holds."""
        checks = self._made(step, [step], place)
        try:
            holds = checks[0](variables)
        except ConditionError:
            holds = False
        if holds is False:
            raise _ConditionFalseError

    def _holds(self, step: Config, key: str, variables: dict[str, Any], place: str) -> bool:
        """Return whether the conditions under a key hold."""
        checks = self._made(step, step[key], f"{place}.{key}")
        return all_hold(checks, variables)

    def _made(self, owner: Config, conditions: list[Config], place: str) -> list[Check]:
        """Return the checks of conditions, which are cached."""
        if id(owner) not in self._checks:
            self._checks[id(owner)] = [
                condition(self._replay, one, f"{place}[{index}]") for index, one in enumerate(conditions)
            ]
        return self._checks[id(owner)]

    def _choose(self, step: Config, variables: dict[str, Any], place: str) -> Generator[Pause, Any]:
        """Yield the pauses of the option whose conditions hold."""
        for index, option in enumerate(step["choose"]):
            where = f"{place}.choose[{index}]"
            if self._holds(option, "conditions", variables, where):
                yield from self._sequence(option["sequence"], variables, f"{where}.sequence")
                return
        yield from self._sequence(step.get("default") or [], variables, f"{place}.default")

    def _repeat(self, step: Config, variables: dict[str, Any], place: str) -> Generator[Pause, Any]:
        """Yield the pauses of a repetition."""
        repeat, before = step["repeat"], variables.get("repeat")
        items = self._items(repeat, variables)
        for index in counted(1):
            if items is not None and index > len(items):
                break
            variables["repeat"] = _turn(index, items)
            if "while" in repeat and not self._holds(repeat, "while", variables, place):
                break
            self._done += 1
            yield from self._sequence(repeat["sequence"], variables, f"{place}.repeat.sequence")
            if "until" in repeat and self._holds(repeat, "until", variables, place):
                break
        if before is None:
            variables.pop("repeat", None)
        else:
            variables["repeat"] = before

    def _items(self, repeat: Config, variables: dict[str, Any]) -> list[Any] | None:
        """Return the items of a repetition; None if conditions end it."""
        if "count" in repeat:
            return [None] * int(self._replay.render(repeat["count"], variables))
        if "for_each" not in repeat:
            return None
        items = self._replay.render(repeat["for_each"], variables)
        if not isinstance(items, list):
            raise _HaltError
        return items

    def _wait_for_trigger(self, step: Config, variables: dict[str, Any], place: str) -> Generator[Pause, Any]:
        """Yield the pause until a trigger fires."""
        triggers = [config for config in step["wait_for_trigger"] if config.get("enabled", True)]
        for index, config in enumerate(triggers):
            check_trigger(config, f"{place}.wait_for_trigger[{index}]")
        given = dict(variables)
        seconds = self._timeout(step, variables)
        variables["wait"] = wait = {"remaining": seconds, "completed": False, "trigger": None}

        def begin(resume: Resume) -> Remove:
            removes = [
                attach(self._replay, config, _fired(config, number, resume), given)
                for number, config in enumerate(triggers)
            ]

            def remove() -> None:
                for one in removes:
                    one()

            return remove

        yield from self._pause(step, seconds, wait, begin)

    def _wait_template(self, step: Config, variables: dict[str, Any], _: str) -> Generator[Pause, Any]:
        """Yield the pause until a template is true."""
        template: Template = step["wait_template"]
        seconds = self._timeout(step, variables)
        variables["wait"] = wait = {"remaining": seconds, "completed": False}
        if self._replay.text(template, variables).lower() == "true":
            wait["completed"] = True
            return

        def begin(resume: Resume) -> Remove:
            def heard(_: PastChange | None, result: Any) -> None:
                if not isinstance(result, TemplateError) and result_as_boolean(result):
                    resume({})

            return TemplateTracker(self._replay, template, dict(variables), heard).remove

        yield from self._pause(step, seconds, wait, begin)

    def _timeout(self, step: Config, variables: dict[str, Any]) -> float | None:
        """Return the timeout of a step in seconds."""
        return self._replay.seconds(step["timeout"], variables) if "timeout" in step else None

    def _pause(
        self, step: Config, seconds: float | None, wait: dict[str, Any], begin: Callable[[Resume], Remove]
    ) -> Generator[Pause, Any]:
        """Yield a pause, and store in `wait` how it ended."""
        since = self._replay.now
        found: Any = (yield Pause(seconds, begin)) if seconds != 0 else None
        if found is None:
            wait["remaining"] = 0.0
            if not step.get("continue_on_timeout", True):
                raise _HaltError
            return
        wait.update(found, completed=True)
        wait["remaining"] = None if seconds is None else seconds - (self._replay.now - since)


def _turn(index: int, items: list[Any] | None) -> dict[str, Any]:
    """Return the variable `repeat` for one turn of a repetition."""
    turn: dict[str, Any] = {"first": index == 1, "index": index}
    if items is not None:
        turn["last"] = index == len(items)
        if items[index - 1] is not None:
            turn["item"] = items[index - 1]
    return turn


def _fired(config: Config, number: int, resume: Resume) -> Callable[[str, dict[str, Any]], None]:
    """Return the callback of a trigger that is waited for."""

    def fire(description: str, told: dict[str, Any]) -> None:
        resume({"trigger": trigger_data(config, number, description) | told})

    return fire


def trigger_data(config: Config, number: int, description: str) -> dict[str, Any]:
    """Return the variables that every trigger has."""
    return {
        "id": config.get("id", str(number)),
        "idx": str(number),
        "alias": config.get("alias"),
        "platform": config["platform"],
        "description": description,
    }


def _mapping(value: Any) -> Mapping[str, Any]:
    """Return an object, empty for anything else."""
    return value if isinstance(value, Mapping) else {}


_NOT_WAITED_FOR: Final = frozenset({"reload", "toggle", "turn_off", "turn_on"})
_TAKE_TIME: Final = frozenset({"delay", "wait_for_trigger", "wait_template"})


def script_called(hass: HomeAssistant, action: Any) -> list[Any] | None:
    """Return the steps of the script that an action runs to its end; None where it is no such action."""
    domain, _, name = str(action).partition(".")
    if domain != DOMAIN or name in _NOT_WAITED_FOR:
        return None
    component = hass.data.get(DOMAIN)
    entity = component.get_entity(f"{domain}.{name}") if component else None
    script = getattr(entity, "script", None)
    return script.sequence if script else []


def takes_time(hass: HomeAssistant, sequence: Any, seen: frozenset[str] = frozenset()) -> bool:
    """Return whether anything in some steps, or in the scripts that they run, takes time."""
    for step in mappings_in(sequence):
        if _TAKE_TIME & step.keys():
            return True
        action = str(step.get("action", step.get("service")))
        script = script_called(hass, action)
        if script and action not in seen and takes_time(hass, script, seen | {action}):
            return True
    return False
