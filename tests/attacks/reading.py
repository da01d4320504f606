"""Sequences that try to learn what is hidden in the house of acting.py, and words that the other attempts share."""

from typing import Any

from ..helpers.steps import act, answer

type Attack = tuple[str, Any, str | None]

HIDDEN = "light.zebra"
UNKNOWN = "was not found or is not exposed"
COMPUTED = "cannot be known beforehand"
ZEBRA_ON = act("light.turn_on", HIDDEN)
READ = "{{ states('light.zebra') }}"
STATE = {"condition": "state", "entity_id": HIDDEN, "state": "on"}

READING: list[Attack] = [
    ("state", answer(READ), None),
    ("computed id", answer("{{ states('light.' ~ 'zebra') }}"), None),
    ("variable as id", [{"variables": {"x": "zebra"}}, *answer("{{ states('light.' ~ x) }}")], None),
    ("all states", answer("{{ states | map(attribute='entity_id') | list }}"), None),
    ("domain", answer("{{ states.light | list }}"), None),
    ("mixed area", answer("{{ area_entities('Kitchen') }}"), None),
    ("mixed group", answer("{{ expand('group.mixed') | list }}"), None),
    ("members", answer("{{ state_attr('group.mixed', 'entity_id') }}"), None),
    (
        "members, rewritten",
        answer("{{ state_attr('group.mixed', 'entity_id') | join | replace('.', '_') }}"),
        None,
    ),
    (
        "members by state",
        answer("{{ states.group.mixed.attributes | string | replace('.', '_') }}"),
        None,
    ),
    ("scene's members", answer("{{ state_attr('scene.mixed', 'entity_id') }}"), None),
    ("secret, with the whole state", answer("{{ states.media_player.kitchen | string }}"), None),
    ("secret, expanded", answer("{{ ['media_player.kitchen'] | map('expand') | list | string }}"), None),
    ("secret, expanded by name", answer("{{ expand('media_player.kitchen') | string }}"), None),
    ("secret", answer("{{ state_attr('light.bed_light', 'access_token') }}"), None),
    ("function as a variable", [{"variables": {"states": 1}}, *answer("{{ 1 }}")], None),
    (
        "function as a response",
        [{**act("todo.get_items", "todo.shopping_list"), "response_variable": "expand"}],
        None,
    ),
    ("unknown function", answer("{{ issues() }}"), "is undefined"),
    (
        "unknown function under a name",
        [{"variables": {"issues": 1}}, *answer("{{ issues() }}")],
        "not callable",
    ),
    ("template made by a template", answer("{{ '{{ states(\"light.\" ~ \"zebra\") }' ~ '}' }}"), None),
    ("said", [{"set_conversation_response": READ}], None),
    ("import", answer("{% import 'x.jinja' as x %}"), "no loader"),
    ("hidden script's response", [{"action": "script.zebra", "response_variable": "x"}], UNKNOWN),
    (
        "script's response, rewritten",
        [{"action": "script.visible", "response_variable": "x"}, *answer("{{ x | string | upper }}")],
        None,
    ),
    (
        "hidden calendar",
        [{**act("calendar.get_events", "calendar.calendar_2", duration={"hours": 9}), "response_variable": "x"}],
        UNKNOWN,
    ),
    (
        "all calendars",
        [
            {**act("calendar.get_events", "all", duration={"hours": 2}), "response_variable": "x"},
            {"stop": "", "response_variable": "x"},
        ],
        None,
    ),
    ("hidden message", [{"stop": READ}], None),
]
