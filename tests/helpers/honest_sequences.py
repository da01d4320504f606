"""Sequences of every kind that must run, and what each brings about, for the house in acting.py."""

from typing import Any

from .steps import ADD, BED, IS_OFF, IS_ON, LEVEL, NOTE, OFF, ON, PARTY, PARTY_ON, SHORT, TRIGGERS, act, answer, level

type Honest = tuple[str, list[dict[str, Any]], dict[str, str], Any]
"""A name, the sequence, the states or attributes (as entity.attribute) that it brings about, and the response."""

ACTIONS: list[Honest] = [
    ("one action", [PARTY_ON], ON, None),
    ("older spelling", [{"service": "input_boolean.turn_on", "data": {"entity_id": PARTY}}], ON, None),
    ("entity beside the action", [{"action": "input_boolean.turn_on", "entity_id": PARTY}], ON, None),
    ("a name", [act("light.turn_on", "Bed Light", brightness=128)], {BED: "on", f"{BED}.brightness": "128"}, None),
    ("an area", [{"action": "light.turn_on", "target": {"area_id": "Bed Room"}}], {BED: "on"}, None),
    ("a floor", [{"action": "light.turn_on", "target": {"floor_id": "downstairs"}}], {BED: "on"}, None),
    ("a label", [{"action": "light.turn_on", "target": {"label_id": "cosy"}}], {BED: "on"}, None),
    ("any domain", [act("homeassistant.turn_on", [BED, PARTY])], {BED: "on", **ON}, None),
    ("a group's visible members", [act("homeassistant.turn_on", "group.mixed")], {BED: "on"}, None),
    ("a template in a number", [level("{{ 2 + 3 }}")], {LEVEL: "5.0"}, None),
    (
        "a template in a text",
        [act("input_text.set_value", NOTE, value="{{ states('light.bed_light') }}!")],
        {NOTE: "off!"},
        None,
    ),
    (
        "older data_template",
        [{**act("light.turn_on", BED), "data_template": {"brightness": "{{ 20 * 5 }}"}}],
        {BED: "on", f"{BED}.brightness": "100"},
        None,
    ),
    ("a message", [act("notify.send_message", "notify.notifier", message="{{ now().year }} was a year")], {}, None),
    ("a lock", [act("lock.unlock", "lock.front_door")], {"lock.front_door": "unlocked"}, None),
    ("climate", [act("climate.set_hvac_mode", "climate.hvac", hvac_mode="off")], {"climate.hvac": "off"}, None),
    ("a switch by all", [act("switch.turn_off", "all")], {"switch.decorative_lights": "off"}, None),
    ("a scene step", [{"scene": "scene.visible"}], {BED: "on", f"{BED}.brightness": "42"}, None),
    (
        "scene.apply",
        [act("scene.apply", entities={BED: {"state": "on", "brightness": 7}})],
        {BED: "on", f"{BED}.brightness": "7"},
        None,
    ),
    ("an exposed script", [{"action": "script.visible"}], ON, None),
    ("an exposed script in the background", [act("script.turn_on", "script.outer"), {"delay": SHORT}], ON, None),
    ("an exposed automation", [act("automation.trigger", "automation.visible")], ON, None),
    (
        "a fan",
        [act("fan.turn_on", "fan.living_room_fan", percentage="{{ 33 + 33 }}")],
        {"fan.living_room_fan": "on"},
        None,
    ),
]

FLOW: list[Honest] = [
    ("a delay", [{"delay": SHORT}, PARTY_ON], ON, None),
    ("a delay by template", [{"delay": {"milliseconds": "{{ 2 + 3 }}"}}, PARTY_ON], ON, None),
    ("a condition that holds", [IS_OFF, PARTY_ON], ON, None),
    ("a condition that does not", [IS_ON, act("light.turn_on", BED)], {BED: "off"}, None),
    ("a template condition", [{"condition": "{{ is_state('input_boolean.party', 'off') }}"}, PARTY_ON], ON, None),
    ("and, or, not", [{"and": [IS_OFF, {"or": [IS_ON, {"not": [IS_ON]}]}]}, PARTY_ON], ON, None),
    (
        "a list of conditions",
        [{"condition": [IS_OFF, {"condition": "sun", "after": "sunrise", "before": "sunrise"}]}, PARTY_ON],
        OFF,
        None,
    ),
    ("conditions, long", [{"condition": "or", "conditions": [IS_ON, IS_OFF]}, PARTY_ON], ON, None),
    (
        "a condition with a target",
        [{"condition": "light.is_off", "target": {"area_id": "Bed Room"}}, PARTY_ON],
        ON,
        None,
    ),
    ("numeric", [level(4), {"condition": "numeric_state", "entity_id": "level", "above": "3.5"}, PARTY_ON], ON, None),
    (
        "numeric with a template",
        [
            {
                "condition": "numeric_state",
                "entity_id": LEVEL,
                "below": 5,
                "value_template": "{{ state.state | float }}",
            },
            PARTY_ON,
        ],
        ON,
        None,
    ),
    (
        "time",
        [
            {"condition": "time", "after": "00:00:00", "weekday": ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]},
            PARTY_ON,
        ],
        ON,
        None,
    ),
    ("zone", [{"condition": "zone", "entity_id": "device_tracker.phone", "zone": "zone.home"}, PARTY_ON], ON, None),
    (
        "an attribute",
        [{"condition": "state", "entity_id": BED, "attribute": "friendly_name", "state": "Bed Light"}, PARTY_ON],
        ON,
        None,
    ),
    (
        "choose",
        [
            {
                "choose": [
                    {"conditions": IS_ON, "sequence": level(1)},
                    {"conditions": [IS_OFF], "sequence": [level(2)]},
                ],
                "default": level(3),
            }
        ],
        {LEVEL: "2.0"},
        None,
    ),
    (
        "choose by default",
        [{"choose": [{"conditions": "{{ false }}", "sequence": []}], "default": [level(3)]}],
        {LEVEL: "3.0"},
        None,
    ),
    ("if", [{"if": "{{ 1 > 0 }}", "then": PARTY_ON, "else": level(9)}], {**ON, LEVEL: "0.0"}, None),
    ("else", [{"if": [IS_ON], "then": [level(1)], "else": [level(9)]}], {LEVEL: "9.0"}, None),
    ("repeat by count", [{"repeat": {"count": 3, "sequence": [ADD]}}], {LEVEL: "3.0"}, None),
    ("repeat by template", [{"repeat": {"count": "{{ 1 + 1 }}", "sequence": ADD}}], {LEVEL: "2.0"}, None),
    (
        "repeat while",
        [{"repeat": {"while": "{{ states('input_number.level') | int < 4 }}", "sequence": [ADD]}}],
        {LEVEL: "4.0"},
        None,
    ),
    (
        "repeat until",
        [{"repeat": {"until": [{"condition": "numeric_state", "entity_id": LEVEL, "above": 4}], "sequence": [ADD]}}],
        {LEVEL: "5.0"},
        None,
    ),
    (
        "repeat for each",
        [{"repeat": {"for_each": [1, 3], "sequence": [level("{{ repeat.item * 2 }}")]}}],
        {LEVEL: "6.0"},
        None,
    ),
    (
        "repeat, one round ended early",
        [{"repeat": {"count": 2, "sequence": [ADD, {"condition": "{{ false }}"}, PARTY_ON]}}],
        {**OFF, LEVEL: "2.0"},
        None,
    ),
    (
        "in parallel",
        [{"parallel": [PARTY_ON, {"sequence": [level(1)]}, [{"delay": SHORT}, act("light.turn_on", BED)]]}],
        {**ON, LEVEL: "1.0", BED: "on"},
        None,
    ),
    ("a sequence inside", [{"alias": "Both", "sequence": [PARTY_ON, level(2)]}], {**ON, LEVEL: "2.0"}, None),
    (
        "disabled",
        [{**PARTY_ON, "enabled": False}, {**level(1), "enabled": "{{ 1 == 1 }}"}],
        {**OFF, LEVEL: "1.0"},
        None,
    ),
    (
        "errors that do not matter",
        [{**act("todo.remove_item", "todo.shopping_list", item=["none"]), "continue_on_error": True}, PARTY_ON],
        ON,
        None,
    ),
    ("stop", [PARTY_ON, {"stop": "enough"}, level(5)], {**ON, LEVEL: "0.0"}, None),
    ("wait for what is so", [{"wait_template": "{{ is_state('input_boolean.party', 'off') }}"}, PARTY_ON], ON, None),
    (
        "wait until it is so",
        [
            {
                "parallel": [
                    [{"wait_template": "{{ is_state('input_boolean.party', 'on') }}", "timeout": 5}, level(1)],
                    [{"delay": SHORT}, PARTY_ON],
                ]
            }
        ],
        {LEVEL: "1.0"},
        None,
    ),
    (
        "wait for a trigger",
        [
            {
                "parallel": [
                    [
                        {
                            "wait_for_trigger": {"trigger": "state", "entity_id": "party", "to": "on"},
                            "timeout": {"seconds": 5},
                        },
                        level("{{ 7 if wait.trigger else 1 }}"),
                    ],
                    [{"delay": SHORT}, PARTY_ON],
                ]
            }
        ],
        {LEVEL: "7.0"},
        None,
    ),
    (
        "wait for one of several triggers",
        [
            {
                "parallel": [
                    [
                        {
                            "wait_for_trigger": TRIGGERS,
                            "timeout": 5,
                        },
                        act("input_text.set_value", NOTE, value="{{ wait.trigger.id }}"),
                    ],
                    [{"delay": SHORT}, act("light.turn_on", BED)],
                ]
            }
        ],
        {NOTE: "lit"},
        None,
    ),
    (
        "a wait that is over",
        [{"wait_for_trigger": [{"trigger": "time", "at": "03:04:05"}], "timeout": SHORT}, PARTY_ON],
        ON,
        None,
    ),
    (
        "a wait that must not be over",
        [{"wait_template": "{{ false }}", "timeout": SHORT, "continue_on_timeout": False}, PARTY_ON],
        OFF,
        None,
    ),
]

ANSWERS: list[Honest] = [
    ("a value", answer("{{ 6 * 7 }}"), {}, {"value": 42}),
    (
        "a state",
        [{"variables": {"x": "{{ states('light.bed_light') }}"}}, *answer("{{ x }} {{ this is defined }}")],
        {},
        {"value": "off False"},
    ),
    (
        "a list that is counted",
        answer("{{ expand('light.bed_light', 'input_boolean.party') | count }}"),
        {},
        {"value": 2},
    ),
    (
        "the state of a mixed group",
        answer("{{ states('group.mixed') in ['on', 'off'] }} {{ state_attr('light.mixed', 'friendly_name') }}"),
        {},
        {"value": "True Mixed"},
    ),
    (
        "a service's response",
        [
            {**act("todo.get_items", "todo.shopping_list"), "response_variable": "items"},
            {"stop": "", "response_variable": "items"},
        ],
        {},
        {"todo.shopping_list": {"items": []}},
    ),
    (
        "a response that is computed with",
        [
            {**act("calendar.get_events", "calendar.calendar_1", duration={"hours": 2}), "response_variable": "found"},
            *answer("{{ found['calendar.calendar_1'].events | count }}"),
        ],
        {},
        {"value": 1},
    ),
    (
        "a script's response",
        [{**act("script.visible"), "response_variable": "heard"}, {"stop": "", "response_variable": "heard"}],
        ON,
        {"lamp": "none"},
    ),
    (
        "a response from deep inside",
        [{"if": "{{ true }}", "then": [{"repeat": {"count": 3, "sequence": answer("{{ repeat.index }}")}}]}],
        {},
        {"value": 1},
    ),
]

ALL = [*ACTIONS, *FLOW, *ANSWERS]
