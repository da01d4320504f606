"""Automations made from a seed, of all that can be rehearsed."""

import random
from typing import Any

from .scripted import (
    ALARM,
    ANNA,
    CALENDAR,
    DOOR,
    HOME,
    HUMIDITY,
    LAMP,
    LIMIT,
    MODE,
    MOTION,
    TEMPERATURE,
    TRACKER,
    TV,
    WAKE,
    WORK,
)

_STATES = {
    MOTION: ("on", "off", "unavailable"),
    DOOR: ("on", "off"),
    LAMP: ("on", "off", "unknown"),
    TV: ("playing", "paused", "off", "idle"),
    MODE: ("day", "night", "away"),
    ANNA: ("home", "work", "not_home"),
}
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_LENGTHS = (7, 47, 131, 613, 1801, 7207)
"""Seconds that no two things have in common."""

_SPANS: dict[str, tuple[dict[str, Any], ...]] = {
    "time": (
        {"after": "06:00:00", "before": "22:00:00"},
        {"after": "21:00:00", "before": "02:30:00"},
        {"weekday": ["mon", "tue", "sat"]},
        {"after": WAKE},
        {"before": ALARM},
    ),
    "sun": (
        {"after": "sunset"},
        {"after": "sunset", "before": "sunrise"},
        {"before": "sunset", "before_offset": "-01:00:00"},
        {"after": "sunrise", "after_offset": 1800, "before": "sunset"},
    ),
}


class Maker:
    """Makes automations, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        """Take the seed."""
        self._chance = random.Random(f"automation {seed}")
        self._seconds = iter(self._chance.sample(range(1, 59), 20))

    def automation(self, number: int) -> dict[str, Any]:
        """Return an automation that sets an entity of its own."""
        own = f"input_boolean.out_{number}"
        chance = self._chance
        triggers = [self.trigger(own) for _ in range(chance.choice((1, 1, 2, 3)))]
        for index, trigger in enumerate(triggers):
            if chance.random() < 0.3:
                trigger["id"] = f"t{index % 2}"
        config: dict[str, Any] = {
            "id": f"a{number}",
            "alias": f"a{number}",
            "triggers": triggers,
            "conditions": [self.condition(own) for _ in range(chance.choice((0, 0, 0, 1, 1, 2)))],
            "actions": self.actions(own),
            "mode": chance.choice(("single", "single", "restart", "queued", "parallel")),
        }
        if config["mode"] in ("queued", "parallel") and chance.random() < 0.5:
            config["max"] = 2
        if chance.random() < 0.15:
            config["variables"] = {"warm": f"{{{{ states('{TEMPERATURE}') | float(0) > 20 }}}}"}
            config["conditions"].append("{{ warm }}")
        return config

    def _length(self) -> Any:
        """Return a length in one of the ways to write it."""
        seconds = self._chance.choice(_LENGTHS)
        ways = (
            {"seconds": seconds},
            seconds,
            f"00:{seconds % 3600 // 60:02}:{seconds % 60:02}",
            f"{{{{ {seconds} }}}}",
        )
        return self._chance.choice(ways)

    def _entity(self) -> str:
        """Return an entity with few states."""
        return self._chance.choice(tuple(_STATES))

    def trigger(self, own: str) -> dict[str, Any]:
        """Return a trigger."""
        kinds = "state state state attribute numeric numeric numeric time at pattern sun zone template template own calendar"
        kind = self._chance.choice(kinds.split())
        made: dict[str, Any] = getattr(self, f"_{kind}")(own)
        return made

    def _state(self, _: str) -> dict[str, Any]:
        chance, entity_id = self._chance, self._entity()
        states = _STATES[entity_id]
        trigger: dict[str, Any] = {"trigger": "state", "entity_id": entity_id}
        if chance.random() < 0.15:
            trigger["entity_id"] = [entity_id, MOTION, DOOR]
        if chance.random() < 0.7:
            trigger[chance.choice(("to", "to", "not_to"))] = chance.choice((*states, list(states[:2]), None))
        if chance.random() < 0.4:
            trigger[chance.choice(("from", "not_from"))] = chance.choice((*states, list(states[:2]), None))
        if chance.random() < 0.4:
            trigger["for"] = self._length()
        return trigger

    def _attribute(self, _: str) -> dict[str, Any]:
        entity_id, attribute = self._chance.choice(((LAMP, "brightness"), (HUMIDITY, "battery"), (WAKE, "hour")))
        trigger = {"trigger": "state", "entity_id": entity_id, "attribute": attribute}
        if self._chance.random() < 0.4:
            trigger["for"] = self._length()
        if self._chance.random() < 0.3:
            trigger["not_to"] = [0, 1, 2, 3]
        return trigger

    def _numeric(self, _: str) -> dict[str, Any]:
        chance = self._chance
        trigger: dict[str, Any] = {"trigger": "numeric_state", "entity_id": chance.choice((TEMPERATURE, HUMIDITY))}
        if chance.random() < 0.2:
            trigger["entity_id"] = [TEMPERATURE, HUMIDITY]
        if chance.random() < 0.2:
            trigger["attribute"] = "offset"
            trigger["above"] = 6
            return trigger
        if chance.random() < 0.2:
            trigger["value_template"] = "{{ state.state | float(0) * 2 }}"
            trigger["below"] = chance.randint(34, 44)
            return trigger
        above = chance.randint(17, 22)
        trigger["above"] = chance.choice((above, LIMIT))
        if trigger["above"] != LIMIT and chance.random() < 0.3:
            trigger["below"] = above + 3
        if chance.random() < 0.5:
            trigger["for"] = self._length()
        return trigger

    def _time(self, _: str) -> dict[str, Any]:
        chance = self._chance
        hour = chance.choice((1, 2, 2, 2, 3, 7, 23))
        at = f"{hour:02}:{chance.choice((0, 15, 30, 45)):02}:{next(self._seconds):02}"
        trigger: dict[str, Any] = {"trigger": "time", "at": at}
        if chance.random() < 0.3:
            trigger["weekday"] = chance.sample(_DAYS, 3)
        return trigger

    def _at(self, _: str) -> dict[str, Any]:
        offset = self._chance.choice(("-00:10:00", "01:00:00"))
        ways = (WAKE, ALARM, {"entity_id": ALARM, "offset": offset}, [WAKE, ALARM])
        return {"trigger": "time", "at": self._chance.choice(ways)}

    def _pattern(self, _: str) -> dict[str, Any]:
        chance = self._chance
        second = next(self._seconds)
        ways = ({"minutes": "/10"}, {"hours": "/2", "minutes": 5}, {"minutes": 30}, {"hours": 2, "minutes": "/20"})
        return {"trigger": "time_pattern", "seconds": second, **chance.choice(ways)}

    def _sun(self, _: str) -> dict[str, Any]:
        trigger = {"trigger": "sun", "event": self._chance.choice(("sunrise", "sunset"))}
        if self._chance.random() < 0.6:
            trigger["offset"] = self._chance.choice(("-00:30:00", "01:00:00", -900))
        return trigger

    def _zone(self, _: str) -> dict[str, Any]:
        chance = self._chance
        who, where, event = (chance.choice(two) for two in ((ANNA, TRACKER), (HOME, WORK), ("enter", "leave")))
        return {"trigger": "zone", "entity_id": who, "zone": where, "event": event}

    def _template(self, _: str) -> dict[str, Any]:
        trigger = {"trigger": "template", "value_template": self.template()}
        if self._chance.random() < 0.4:
            trigger["for"] = self._length()
        return trigger

    def _calendar(self, _: str) -> dict[str, Any]:
        trigger = {"trigger": "calendar", "entity_id": CALENDAR, "event": self._chance.choice(("start", "end"))}
        if self._chance.random() < 0.5:
            trigger["offset"] = self._chance.choice(("-00:30:00", "02:00:07", 613))
        return trigger

    def _own(self, own: str) -> dict[str, Any]:
        trigger: dict[str, Any] = {"trigger": "state", "entity_id": [own, DOOR], "to": "on"}
        if self._chance.random() < 0.5:
            trigger["for"] = self._length()
        return trigger

    def template(self) -> str:
        """Return a template that is true now and then."""
        return self._chance.choice(
            (
                f"{{{{ states('{TEMPERATURE}') | float(0) > 20 and is_state('{DOOR}', 'on') }}}}",
                f"{{{{ is_state('{MOTION}', 'on') or is_state('{TV}', ['playing', 'paused']) }}}}",
                f"{{{{ now().hour == 7 and states('{MODE}') != 'away' }}}}",
                f"{{{{ now() - states.{MOTION}.last_changed > timedelta(minutes=20) }}}}",
                f"{{{{ state_attr('{LAMP}', 'brightness') | int(0) > 100 }}}}",
                f"{{{{ (states('{HUMIDITY}') | float - states('{TEMPERATURE}') | float) > 1 }}}}",
                f"{{{{ has_value('{LIMIT}') and states('{LIMIT}') | int(0) < states('{HUMIDITY}') | float(0) }}}}",
                f"{{{{ utcnow().minute == 17 and is_state_attr('{WAKE}', 'has_time', true) }}}}",
                f"{{{{ today_at('06:30') < now() and is_state('{LAMP}', 'off') }}}}",
            )
        )

    def condition(self, own: str, depth: int = 2) -> Any:
        """Return a condition."""
        chance = self._chance
        kinds = ["state", "numeric", "time", "sun", "template", "text", "zone", "trigger", "own", "event", "off"]
        kind = chance.choice(kinds + (["and", "or", "not"] if depth else []))
        if kind in ("and", "or", "not"):
            return {kind: [self.condition(own, depth - 1) for _ in range(2)]}
        if kind == "state":
            return self._state_condition()
        if kind in ("time", "sun"):
            return {"condition": kind, **chance.choice(_SPANS[kind])}
        return {
            "numeric": {"condition": "numeric_state", "entity_id": TEMPERATURE, "above": chance.choice((18, LIMIT))},
            "template": {"condition": "template", "value_template": self.template()},
            "text": self.template(),
            "zone": {"condition": "zone", "entity_id": ANNA, "zone": chance.choice((HOME, [HOME, WORK]))},
            "trigger": {"condition": "trigger", "id": chance.choice(("t0", "0", ["t1", "1"]))},
            "own": {"condition": "state", "entity_id": own, "state": "off"},
            "event": "{{ trigger.calendar_event.summary != 'b' if trigger.calendar_event is defined else true }}",
            "off": {"condition": "state", "entity_id": MOTION, "state": "on", "enabled": False},
        }[kind]

    def _state_condition(self) -> dict[str, Any]:
        """Return a condition on a state."""
        chance, entity_id = self._chance, self._entity()
        states = _STATES[entity_id]
        made: dict[str, Any] = {"condition": "state", "entity_id": entity_id}
        made["state"] = chance.choice((states[0], list(states)))
        if chance.random() < 0.3:
            made["for"] = self._length()
        if chance.random() < 0.2:
            made |= {"entity_id": [entity_id, DOOR], "match": chance.choice(("any", "all"))}
        return made

    def actions(self, own: str) -> list[dict[str, Any]]:
        """Return steps."""
        target = {"target": {"entity_id": own}}
        steps: list[dict[str, Any]] = [
            {"action": f"input_boolean.{self._chance.choice(('turn_on', 'toggle'))}", **target}
        ]
        steps += [self.step(own) for _ in range(self._chance.choice((0, 1, 1, 2)))]
        if self._chance.random() < 0.7:
            steps.append({"delay": self._length()})
            steps.append({"action": "input_boolean.turn_off", **target})
        return steps

    def step(self, own: str, depth: int = 1) -> dict[str, Any]:
        """Return one step."""
        chance = self._chance
        kinds = ["delay", "condition", "wait_template", "wait_for_trigger", "variables", "stop"]
        match chance.choice(kinds + (["if", "choose", "repeat"] if depth else [])):
            case "delay":
                return {"delay": self._length()}
            case "condition":
                return {"condition": "state", "entity_id": MOTION, "state": "on"}
            case "wait_template":
                step: dict[str, Any] = {"wait_template": self.template()}
                return step | ({"timeout": self._length()} if chance.random() < 0.7 else {})
            case "wait_for_trigger":
                step = {"wait_for_trigger": [self._state(own) if chance.random() < 0.8 else self._calendar(own)]}
                if chance.random() < 0.7:
                    step |= {"timeout": self._length(), "continue_on_timeout": chance.random() < 0.5}
                return step
            case "variables":
                return {"variables": {"before": "{{ trigger.platform }}"}}
            case "stop":
                return {"stop": "", "enabled": chance.random() < 0.3}
            case "if":
                return {
                    "if": [self.condition(own, 0)],
                    "then": [self.step(own, 0)],
                    "else": [self.step(own, 0)],
                }
            case "choose":
                option = {"conditions": self.condition(own, 0), "sequence": [self.step(own, 0)]}
                return {"choose": [option], "default": [self.step(own, 0)]}
        return {"repeat": {"count": 2, "sequence": [self.step(own, 0)]}}
