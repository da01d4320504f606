"""Automations as people ask for them: what is written, what sets it off, and the effect that must be seen.

`E` stands for a helper of the case's own, whose effect nothing else has; `<in N>` for the time of day in N seconds.
"""

from dataclasses import dataclass, field
from typing import Any

type Step = tuple[Any, ...]

E = "input_boolean.effect"
ON: dict[str, Any] = {"action": "input_boolean.turn_on", "target": {"entity_id": E}}
MOTION, DOOR, LEVEL, HOT = "input_boolean.motion", "input_boolean.door", "input_number.level", "input_number.hot"
MODE, COUNT, ALARM = "input_select.mode", "counter.count", "input_datetime.alarm"
BED, CEILING, NOTIFIER = "light.bed_light", "light.ceiling_lights", "notify.notifier"
BY_HAND: list[Step] = [("run",)]
"""For what only the sun or a calendar sets off: the automation is run with its conditions."""


@dataclass(frozen=True, slots=True)
class Written:
    """One automation."""

    task: str
    config: dict[str, Any]
    steps: list[Step]
    """What happens: ('on' | 'off' | 'do' | 'set' | 'run', …)."""
    effect: tuple[str, Any] = field(default=(E, "on"))
    """An entity and the state that it must get; 'changed' for any other than before."""

    @property
    def by_the_clock(self) -> bool:
        """Whether time sets it off, so that others can be waited for meanwhile."""
        return any(word in str((self.config, self.steps)) for word in ("<in ", "time_pattern"))


def when(*triggers: dict[str, Any], do: Any = None, **more: Any) -> dict[str, Any]:
    """Return an automation."""
    return {"triggers": list(triggers), "actions": [ON] if do is None else do, **more}


def state(entity_id: Any, **more: Any) -> dict[str, Any]:
    """Return a trigger on a state."""
    return {"trigger": "state", "entity_id": entity_id, **more}


def act(action: str, entity_id: Any, **data: Any) -> dict[str, Any]:
    """Return an action."""
    return {"action": action, "target": {"entity_id": entity_id}} | ({"data": data} if data else {})


MOVED = state(MOTION, to="on")
NUMBER = {"trigger": "numeric_state", "entity_id": LEVEL}
IS_ON = {"condition": "state", "entity_id": DOOR, "state": "on"}
MOVE: list[Step] = [("off", MOTION), ("on", MOTION)]
OPEN: list[Step] = [("off", DOOR), ("on", DOOR)]
SHUT: list[Step] = [("off", DOOR)]


def level(value: float) -> Step:
    """Return the step that sets the number."""
    return ("do", "input_number.set_value", {"entity_id": LEVEL, "value": value})


WRITTEN = [
    Written("light on motion", when(MOVED, do=[act("light.turn_on", BED, brightness_pct=40)]), MOVE, (BED, "on")),
    Written("door open for a while", when(state(DOOR, to="on", **{"for": {"seconds": 1}})), OPEN),
    Written("for as text", when(state(DOOR, to="on", **{"for": "00:00:01"})), OPEN),
    Written("from closed to open", when(state(DOOR, **{"from": "off", "to": "on"})), OPEN),
    Written("any change", when(state(MODE)), [("do", "input_select.select_next", {"entity_id": MODE})]),
    Written("not to", when(state(DOOR, not_to=["off"])), OPEN),
    Written("one of several", when(state([MOTION, DOOR], to=["on"])), MOVE),
    Written(
        "an attribute",
        when(state(CEILING, attribute="brightness")),
        [("do", "light.turn_on", {"entity_id": CEILING, "brightness": 77})],
    ),
    Written("above", when(NUMBER | {"above": 50}), [level(10), level(60)]),
    Written("below", when(NUMBER | {"below": 20}), [level(60), level(10)]),
    Written("between, for", when(NUMBER | {"above": 30, "below": 40, "for": {"seconds": 1}}), [level(10), level(35)]),
    Written("above another number", when(NUMBER | {"above": HOT}), [level(10), level(95)]),
    Written(
        "a computed number",
        when(NUMBER | {"value_template": "{{ state.state | float * 2 }}", "above": 150}),
        [level(10), level(80)],
    ),
    Written("at a time", when({"trigger": "time", "at": "<in 3>"}), []),
    Written(
        "at the alarm's time",
        when({"trigger": "time", "at": ALARM}),
        [("do", "input_datetime.set_datetime", {"entity_id": ALARM, "time": "<in 3>"})],
    ),
    Written(
        "at several times on weekdays",
        when(
            {"trigger": "time", "at": ["06:30:00", "<in 3>"]},
            conditions=[{"condition": "time", "weekday": ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]}],
        ),
        [],
    ),
    Written("every two seconds", when({"trigger": "time_pattern", "seconds": "/2"}), []),
    Written(
        "at sunset when the door is open",
        when({"trigger": "sun", "event": "sunset", "offset": "-00:30:00"}, conditions=[IS_ON]),
        [*OPEN, *BY_HAND],
    ),
    Written(
        "when the sun is anywhere",
        when(
            MOVED,
            conditions=[{"or": [{"condition": "sun", "after": "sunset"}, {"condition": "sun", "before": "sunset"}]}],
        ),
        MOVE,
    ),
    Written(
        "coming home",
        when({"trigger": "zone", "entity_id": "device_tracker.ann", "zone": "zone.home", "event": "enter"}),
        [
            ("set", "device_tracker.ann", "not_home", {"latitude": 10, "longitude": 10}),
            ("set", "device_tracker.ann", "home", {"latitude": 52.37, "longitude": 4.89, "gps_accuracy": 5}),
        ],
    ),
    Written(
        "a template",
        when(
            {
                "trigger": "template",
                "value_template": f"{{{{ states('{LEVEL}') | float > 50 and is_state('{DOOR}', 'on') }}}}",
            }
        ),
        [level(10), *OPEN, level(60)],
    ),
    Written(
        "a template for a while",
        when({"trigger": "template", "value_template": f"{{{{ is_state('{DOOR}', 'off') }}}}", "for": "00:00:01"}),
        [*OPEN, *SHUT],
    ),
    Written(
        "a device turned on",
        when(
            {
                "trigger": "device",
                "device_id": f"<device {BED}>",
                "domain": "light",
                "entity_id": BED,
                "type": "turned_on",
            }
        ),
        [("do", "light.turn_off", {"entity_id": BED}), ("do", "light.turn_on", {"entity_id": BED})],
    ),
    Written(
        "if a device is on",
        when(
            MOVED,
            conditions=[
                {
                    "condition": "device",
                    "device_id": f"<device {BED}>",
                    "domain": "light",
                    "entity_id": BED,
                    "type": "is_on",
                }
            ],
        ),
        [("do", "light.turn_on", {"entity_id": BED}), *MOVE],
    ),
    Written(
        "a light turned on, in the newer words",
        when({"trigger": "light.turned_on", "target": {"entity_id": CEILING}}),
        [("do", "light.turn_off", {"entity_id": CEILING}), ("do", "light.turn_on", {"entity_id": CEILING})],
    ),
    Written(
        "before an appointment",
        when({"trigger": "calendar", "entity_id": "calendar.calendar_1", "event": "start", "offset": "-0:15:0"}),
        BY_HAND,
    ),
    Written("when Home Assistant starts", when({"trigger": "homeassistant", "event": "start"}), BY_HAND),
    Written(
        "choose by a state",
        when(MOVED, do=[{"choose": [{"conditions": [IS_ON], "sequence": [ON]}], "default": [{"stop": "shut"}]}]),
        [*OPEN, *MOVE],
    ),
    Written(
        "choose the default",
        when(MOVED, do=[{"choose": [{"conditions": [IS_ON], "sequence": []}], "default": [ON]}]),
        [*SHUT, *MOVE],
    ),
    Written(
        "if, then, else", when(MOVED, do=[{"if": [IS_ON], "then": [{"stop": "open"}], "else": [ON]}]), [*SHUT, *MOVE]
    ),
    Written(
        "wait for a template",
        when(
            MOVED,
            do=[
                {
                    "wait_template": f"{{{{ is_state('{DOOR}', 'on') }}}}",
                    "timeout": "00:00:30",
                    "continue_on_timeout": False,
                },
                ON,
            ],
        ),
        [*SHUT, *MOVE, ("on", DOOR)],
    ),
    Written(
        "wait for a trigger",
        when(MOVED, do=[{"wait_for_trigger": [state(DOOR, to="on")], "timeout": {"seconds": 30}}, ON]),
        [*SHUT, *MOVE, ("on", DOOR)],
    ),
    Written(
        "repeat three times",
        when(MOVED, do=[{"repeat": {"count": 3, "sequence": [act("counter.increment", COUNT)]}}]),
        [("do", "counter.reset", {"entity_id": COUNT}), *MOVE],
        (COUNT, "3"),
    ),
    Written(
        "repeat until",
        when(
            MOVED,
            do=[
                {
                    "repeat": {
                        "sequence": [act("counter.increment", COUNT)],
                        "until": [f"{{{{ states('{COUNT}') | int >= 5 }}}}"],
                    }
                }
            ],
        ),
        [("do", "counter.reset", {"entity_id": COUNT}), *MOVE],
        (COUNT, "5"),
    ),
    Written(
        "repeat while",
        when(
            MOVED,
            do=[
                {
                    "repeat": {
                        "while": [{"condition": "numeric_state", "entity_id": COUNT, "below": 7}],
                        "sequence": [act("counter.increment", COUNT), {"delay": {"milliseconds": 20}}],
                    }
                }
            ],
        ),
        [("do", "counter.reset", {"entity_id": COUNT}), *MOVE],
        (COUNT, "7"),
    ),
    Written(
        "side by side",
        when(MOVED, do=[{"parallel": [act("light.turn_off", BED), {"sequence": [{"delay": 0}, ON]}]}]),
        MOVE,
    ),
    Written("after a delay", when(MOVED, do=[{"delay": "00:00:01"}, ON]), MOVE),
    Written(
        "a message that is computed",
        when(
            MOVED,
            variables={"who": "Ann"},
            do=[
                act(
                    "notify.send_message",
                    NOTIFIER,
                    title="Motion",
                    message=f"{{{{ who }}}}: {{{{ states('{LEVEL}') }}}} {{{{ trigger.to_state.state }}}}",
                )
            ],
        ),
        MOVE,
        (NOTIFIER, "changed"),
    ),
    Written(
        "a scene",
        when(MOVED, do=[act("scene.turn_on", "scene.movie", transition=0)]),
        [("do", "light.turn_off", {"entity_id": CEILING}), *MOVE],
        (CEILING, "on"),
    ),
    Written(
        "a scene in short",
        when(MOVED, do=[{"scene": "scene.movie"}]),
        [("do", "light.turn_off", {"entity_id": CEILING}), *MOVE],
        (CEILING, "on"),
    ),
    Written(
        "a script",
        when(MOVED, do=[act("script.turn_on", "script.party")]),
        [("off", "input_boolean.party"), *MOVE],
        ("input_boolean.party", "on"),
    ),
    Written(
        "a blueprint",
        {
            "use_blueprint": {
                "path": "homeassistant/motion_light.yaml",
                "input": {"motion_entity": MOTION, "light_target": {"entity_id": BED}, "no_motion_wait": 1},
            }
        },
        [("do", "light.turn_off", {"entity_id": BED}), *MOVE],
        (BED, "on"),
    ),
    Written(
        "an action on a device",
        when(MOVED, do=[{"device_id": f"<device {BED}>", "domain": "light", "entity_id": BED, "type": "turn_on"}]),
        [("do", "light.turn_off", {"entity_id": BED}), *MOVE],
        (BED, "on"),
    ),
    Written(
        "restarted with every motion", when(MOVED, do=[{"delay": {"seconds": 1}}, ON], mode="restart"), [*MOVE, *MOVE]
    ),
    Written(
        "queued",
        when(MOVED, do=[{"delay": {"milliseconds": 100}}, act("counter.increment", COUNT)], mode="queued", max=5),
        [("do", "counter.reset", {"entity_id": COUNT}), *MOVE, *MOVE],
        (COUNT, "2"),
    ),
    Written(
        "one of two triggers, told apart",
        when(MOVED | {"id": "moved"}, state(DOOR) | {"id": "door"}, do=[{"condition": "trigger", "id": "moved"}, ON]),
        [*OPEN, *MOVE],
    ),
    Written(
        "and, or, not",
        when(
            MOVED,
            conditions=[
                {
                    "condition": "and",
                    "conditions": [
                        {"condition": "not", "conditions": [IS_ON]},
                        {"or": [IS_ON, {"condition": "numeric_state", "entity_id": LEVEL, "above": -1}]},
                    ],
                }
            ],
        ),
        [*SHUT, *MOVE],
    ),
    Written(
        "a condition as a template", when(MOVED, conditions=[f"{{{{ is_state('{DOOR}', 'on') }}}}"]), [*OPEN, *MOVE]
    ),
    Written("between hours", when(MOVED, conditions=[{"condition": "time", "after": "00:00:00"}]), MOVE),
    Written(
        "heating",
        when(
            MOVED,
            do=[
                act("climate.set_temperature", "climate.hvac", temperature=23.5),
                act("climate.set_hvac_mode", "climate.hvac", hvac_mode="heat"),
            ],
        ),
        MOVE,
        ("climate.hvac", "heat"),
    ),
    Written(
        "a cover",
        when(MOVED, do=[act("cover.close_cover", "cover.hall_window")]),
        MOVE,
        ("cover.hall_window", "changed"),
    ),
    Written("a lock", when(MOVED, do=[act("lock.lock", "lock.kitchen_door")]), MOVE, ("lock.kitchen_door", "locked")),
    Written(
        "an option", when(MOVED, do=[act("input_select.select_option", MODE, option="away")]), MOVE, (MODE, "away")
    ),
    Written(
        "a computed number set",
        when(MOVED, do=[act("input_number.set_value", HOT, value=f"{{{{ states('{COUNT}') | int + 40 }}}}")]),
        MOVE,
        (HOT, "changed"),
    ),
    Written(
        "all of an area",
        when(MOVED, do=[{"action": "light.turn_on", "target": {"area_id": "study"}}]),
        [("do", "light.turn_off", {"entity_id": BED}), *MOVE],
        (BED, "on"),
    ),
    Written(
        "in the older words",
        {
            "trigger": [{"platform": "state", "entity_id": MOTION, "to": "on"}],
            "condition": [],
            "action": [{"service": "input_boolean.turn_on", "entity_id": E}],
        },
        MOVE,
    ),
    Written("with a step that is off", when(MOVED, do=[{**act("light.turn_off", BED), "enabled": False}, ON]), MOVE),
]

REFUSED: list[tuple[dict[str, Any], str]] = [
    (
        when({"trigger": "webhook", "webhook_id": "porch", "local_only": True}),
        "this webhook could be about what is not exposed",
    ),
    (when({"trigger": "event", "event_type": "anything"}), "an event of this type could be about what is not exposed"),
    (when({"trigger": "mqtt", "topic": "home/#"}), "under 'Further triggers'"),
    (when({"trigger": "tag", "tag_id": "door"}), "triggers[0].tag_id"),
    (when(MOVED, do=[act("light.turn_on", "light.hidden")]), "not found or is not exposed"),
    (when(MOVED, do=[{"action": "shell_command.clean"}]), "cannot be used by assistants"),
    (when(MOVED, do=[act("light.turn_on", "{{ trigger.entity_id }}")]), "cannot do light.turn_on"),
]
