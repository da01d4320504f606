"""Sequences that try to learn what is hidden in the house of acting.py, and words that the other attempts share."""

from typing import Any

from ..steps import act, answer

type Attack = tuple[str, Any, str | None]

HIDDEN = "light.zebra"
UNKNOWN = "was not found or is not exposed"
COMPUTED = "cannot be known beforehand"
UNCHECKED = "cannot be checked beforehand"
ZEBRA_ON = act("light.turn_on", HIDDEN)
READ = "{{ states('light.zebra') }}"
STATE = {"condition": "state", "entity_id": HIDDEN, "state": "on"}

READING: list[Attack] = [
    ("state", answer(READ), "sequence[0].variables.answer.value: "),
    ("computed id", answer("{{ states('light.' ~ 'zebra') }}"), UNCHECKED),
    ("variable as id", [{"variables": {"x": "zebra"}}, *answer("{{ states('light.' ~ x) }}")], UNCHECKED),
    ("all states", answer("{{ states | map(attribute='entity_id') | list }}"), UNCHECKED),
    ("domain", answer("{{ states.light | list }}"), UNCHECKED),
    ("mixed area", answer("{{ area_entities('Kitchen') }}"), "also entities that are not exposed"),
    ("mixed group", answer("{{ expand('group.mixed') | list }}"), "also entities that are not exposed"),
    ("members", answer("{{ state_attr('group.mixed', 'entity_id') }}"), "names what is not exposed"),
    (
        "members, rewritten",
        answer("{{ state_attr('group.mixed', 'entity_id') | join | replace('.', '_') }}"),
        "names what is not exposed",
    ),
    (
        "members by state",
        answer("{{ states.group.mixed.attributes | string | replace('.', '_') }}"),
        "names what is not exposed",
    ),
    ("scene's members", answer("{{ state_attr('scene.mixed', 'entity_id') }}"), "names what is not exposed"),
    ("secret, with the whole state", answer("{{ states.media_player.kitchen | string }}"), "or is secret"),
    ("secret, expanded", answer("{{ ['media_player.kitchen'] | map('expand') | string }}"), "or is secret"),
    ("secret, expanded by name", answer("{{ expand('media_player.kitchen') | string }}"), "or is secret"),
    ("secret", answer("{{ state_attr('light.bed_light', 'access_token') }}"), "not available"),
    ("function as a variable", [{"variables": {"states": 1}}, *answer("{{ 1 }}")], "name of a function"),
    (
        "function as a response",
        [{**act("todo.get_items", "todo.shopping_list"), "response_variable": "expand"}],
        "name of a function",
    ),
    ("unknown function", answer("{{ issues() }}"), "cannot be used here"),
    (
        "unknown function under a name",
        [{"variables": {"issues": 1}}, *answer("{{ issues() }}")],
        UNCHECKED,
    ),
    ("template made by a template", answer("{{ '{{ states(\"light.\" ~ \"zebra\") }' ~ '}' }}"), None),
    ("said", [{"set_conversation_response": READ}], "sequence[0].set_conversation_response: "),
    ("import", answer("{% import 'x.jinja' as x %}"), "cannot be used here"),
    ("hidden script's response", [{"action": "script.zebra", "response_variable": "x"}], UNKNOWN),
    (
        "script's response, rewritten",
        [{"action": "script.visible", "response_variable": "x"}, *answer("{{ x | string | upper }}")],
        "only be returned as it is",
    ),
    (
        "media, rewritten",
        [
            {**act("media_player.browse_media", "media_player.kitchen"), "response_variable": "x"},
            *answer("{{ x | string }}"),
        ],
        "only be returned as it is",
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
    ("hidden message", [{"stop": READ}], UNKNOWN),
]
