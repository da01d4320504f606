"""Sequences that try to reach what is hidden in the house of acting.py: each with a part of the reason for its refusal.

None as the reason marks those that may run, because nothing hidden is reached: what follows shows that it is so.
"""

from typing import Any

from ..helpers.steps import BED, PARTY_ON, act, answer
from .actions import DEVICE, HIDDEN_DEVICE, REGISTRY_ID
from .reading import COMPUTED, HIDDEN, READ, READING, STATE, UNKNOWN, ZEBRA_ON, Attack


def target(key: str, value: Any) -> list[dict[str, Any]]:
    """Return a sequence that turns a target on."""
    return [{"action": "light.turn_on", "target": {key: value}}]


def wait(trigger: Any) -> list[dict[str, Any]]:
    """Return a sequence that waits for a trigger."""
    return [{"wait_for_trigger": trigger, "timeout": {"milliseconds": 5}}, PARTY_ON]


TARGETS: list[Attack] = [
    ("entity", [ZEBRA_ON], UNKNOWN),
    ("entity, second step", [PARTY_ON, ZEBRA_ON], "sequence[1]: "),
    ("entity beside the action", [{"action": "light.turn_on", "entity_id": HIDDEN}], UNKNOWN),
    ("entity in both places", [{**act("light.turn_on", BED), "entity_id": HIDDEN}], "given twice"),
    ("entity in the data", [act("light.turn_on", BED, entity_id=HIDDEN)], UNKNOWN),
    ("entity in older data", [{**act("light.turn_on", BED), "data_template": {"entity_id": HIDDEN}}], UNKNOWN),
    ("registry id", target("entity_id", REGISTRY_ID), UNKNOWN),
    ("name", target("entity_id", "Zebra lamp"), UNKNOWN),
    ("list with commas", target("entity_id", "light.bed_light, light.zebra"), UNKNOWN),
    ("area", target("area_id", "axolotl_room"), "No area"),
    ("mixed area", target("area_id", "kitchen"), None),
    ("mixed floor", target("floor_id", "ground_floor"), None),
    ("mixed label", target("label_id", "cosy"), None),
    ("hidden label", target("label_id", "axolotl_label"), "No label"),
    ("mixed device", target("device_id", DEVICE), None),
    ("hidden device", target("device_id", HIDDEN_DEVICE), "No device"),
    ("all", target("entity_id", "all"), None),
    ("mixed group", [act("homeassistant.toggle", "group.mixed")], None),
    ("mixed light group", [act("light.turn_on", "light.mixed")], None),
    ("mixed scene", [act("scene.turn_on", "scene.mixed")], "would also move"),
    ("mixed scene as a step", [{"scene": "scene.mixed"}], "would also move"),
    ("hidden scene as a step", [{"scene": "scene.zebra"}], UNKNOWN),
    ("scene step by template", [{"scene": "{{ 'scene.zebra' }}"}], UNKNOWN),
    ("scene of the moment", [act("scene.apply", entities={HIDDEN: "on"})], UNKNOWN),
    ("scene made", [act("scene.create", scene_id="x", entities={HIDDEN: "on"})], "There is no action"),
    ("template as entity", target("entity_id", "{{ 'light.zebra' }}"), UNKNOWN),
    ("template in a list of entities", target("entity_id", [BED, "{{ 'light.' ~ 'zebra' }}"]), UNKNOWN),
    ("template as area", target("area_id", "{{ 'axolotl_room' }}"), "No area"),
    ("template as the target", [{"action": "light.turn_on", "target": "{{ {'entity_id': 'light.zebra'} }}"}], COMPUTED),
    ("target as a text", [{"action": "light.turn_on", "target": HIDDEN}], "must be an object"),
    (
        "variable as entity",
        [{"variables": {"x": "{{ 'light.' ~ 'zebra' }}"}}, *target("entity_id", "{{ x }}")],
        UNKNOWN,
    ),
    (
        "variable as entity in the data",
        [{"variables": {"x": 1}}, act("light.turn_on", entity_id="{{ x }}")],
        "a name or id",
    ),
    ("capitals in the data", [act("light.turn_on", BED, Entity_ID="{{ 'light.zebra' }}")], UNKNOWN),
    (
        "item as entity",
        [{"repeat": {"for_each": ["light.bed_light"], "sequence": target("entity_id", "{{ repeat.item }}")}}],
        None,
    ),
    ("hidden item", [{"repeat": {"for_each": [HIDDEN], "sequence": [PARTY_ON]}}], UNKNOWN),
    ("action by template", [{"action": "{{ 'light.turn_on' }}", "target": {"entity_id": BED}}], "a template cannot"),
    ("two actions", [{"action": "light.turn_on", "service": "light.turn_off", "entity_id": BED}], "one action"),
    ("older template of an action", [{"service_template": "light.turn_on", "entity_id": HIDDEN}], "unknown here"),
    (
        "excluding",
        [{"action": "light.turn_on", "target": {"entity_id": BED, "exclude": {"entity_id": HIDDEN}}}],
        UNKNOWN,
    ),
]

PLACES: list[Attack] = [
    ("choose", [{"choose": [{"conditions": "{{ true }}", "sequence": [ZEBRA_ON]}]}], "choose[0].sequence[0]: "),
    ("choose default", [{"choose": [], "default": [ZEBRA_ON]}], "sequence[0].default[0]: "),
    ("choose condition", [{"choose": {"conditions": [STATE], "sequence": []}}], "sequence[0].choose[0].conditions[0]"),
    ("if", [{"if": [STATE], "then": []}], "sequence[0].if[0].entity_id: "),
    ("then", [{"if": "{{ true }}", "then": [ZEBRA_ON]}], "sequence[0].then[0]: "),
    ("else", [{"if": "{{ true }}", "then": [], "else": ZEBRA_ON}], "sequence[0].else[0]: "),
    ("repeat", [{"repeat": {"count": 1, "sequence": [ZEBRA_ON]}}], "sequence[0].repeat.sequence[0]: "),
    ("while", [{"repeat": {"while": [STATE], "sequence": [PARTY_ON]}}], "sequence[0].repeat.while[0].entity_id: "),
    ("until", [{"repeat": {"until": READ, "sequence": [PARTY_ON]}}], None),
    ("count", [{"repeat": {"count": READ, "sequence": [PARTY_ON]}}], None),
    ("parallel", [{"parallel": [PARTY_ON, ZEBRA_ON]}], "sequence[0].parallel[1]: "),
    ("parallel branch", [{"parallel": [[PARTY_ON, ZEBRA_ON]]}], "sequence[0].parallel[0][1]: "),
    ("parallel sequence", [{"parallel": {"sequence": [ZEBRA_ON]}}], "sequence[0].parallel[0].sequence[0]: "),
    ("sequence", [{"sequence": {"sequence": ZEBRA_ON}}], "sequence[0].sequence[0].sequence[0]: "),
    ("disabled", [{**ZEBRA_ON, "enabled": False}], UNKNOWN),
    ("enabled by template", [{**PARTY_ON, "enabled": READ}], None),
    ("errors ignored", [{**ZEBRA_ON, "continue_on_error": True}], UNKNOWN),
    ("two steps in one", [{**ZEBRA_ON, "delay": 1}], "unknown here"),
    ("condition and action", [{"condition": "{{ true }}", **ZEBRA_ON}], "unknown here"),
    ("steps as a text", [{"then": "x", "if": "{{ true }}"}], "must be a list of steps"),
    ("step in a note", [{**PARTY_ON, "alias": HIDDEN}], UNKNOWN),
    ("repeat with more", [{"repeat": {"count": 1, "sequence": [], "then": [ZEBRA_ON]}}], "must be an object with"),
    ("option with more", [{"choose": [{"conditions": [], "sequence": [], "default": [ZEBRA_ON]}]}], "an object with"),
]

CONDITIONS: list[Attack] = [
    ("state", [STATE], UNKNOWN),
    ("state by name", [{**STATE, "entity_id": "Zebra lamp"}], UNKNOWN),
    ("state by registry id", [{**STATE, "entity_id": REGISTRY_ID}], UNKNOWN),
    ("state of several", [{**STATE, "entity_id": f"{BED}, {HIDDEN}"}], UNKNOWN),
    ("state by template", [{**STATE, "entity_id": "{{ 'light.zebra' }}"}], COMPUTED),
    ("state in options", [{"condition": "state", "options": {"entity_id": HIDDEN, "state": "on"}}], UNKNOWN),
    (
        "state like a hidden text",
        [{"condition": "state", "entity_id": "input_text.note", "state": "input_text.zebra"}],
        UNKNOWN,
    ),
    ("numeric", [{"condition": "numeric_state", "entity_id": "input_number.zebra", "above": 1}], UNKNOWN),
    (
        "numeric above",
        [{"condition": "numeric_state", "entity_id": "input_number.level", "above": "input_number.zebra"}],
        UNKNOWN,
    ),
    (
        "numeric template",
        [{"condition": "numeric_state", "entity_id": "input_number.level", "above": 1, "value_template": READ}],
        None,
    ),
    ("template", [{"condition": "template", "value_template": READ}], None),
    ("template alone", [{"condition": READ}], None),
    ("time", [{"condition": "time", "after": "input_datetime.zebra"}], UNKNOWN),
    ("zone", [{"condition": "zone", "entity_id": BED, "zone": "zone.home"}], UNKNOWN),
    ("time of a sensor", [{"condition": "time", "before": "sensor.zebra"}], UNKNOWN),
    ("and", [{"and": [{"or": [{"not": [STATE]}]}]}], "sequence[0].and[0].or[0].not[0].entity_id: "),
    ("and beside a kind", [{"and": [], **STATE}], "unknown here"),
    ("conditions, long", [{"condition": "or", "conditions": [STATE]}], UNKNOWN),
    ("list", [{"condition": [STATE]}], UNKNOWN),
    ("device", [{"condition": "device", "device_id": HIDDEN_DEVICE, "domain": "light", "type": "is_on"}], "No device"),
    ("mixed device", [{"condition": "device", "device_id": DEVICE, "domain": "light", "type": "is_on"}], "as a whole"),
    ("target", [{"condition": "light.is_on", "target": {"entity_id": HIDDEN}}], UNKNOWN),
    ("target by template", [{"condition": "light.is_on", "target": {"entity_id": "{{ 'light.zebra' }}"}}], COMPUTED),
    ("hidden area as target", [{"condition": "light.is_on", "target": {"area_id": "axolotl_room"}}], "No area"),
    ("mixed area as target", [{"condition": "light.is_on", "target": {"area_id": "kitchen"}}, PARTY_ON], None),
    (
        "hidden threshold",
        [
            {
                "condition": "light.is_brightness",
                "target": {"entity_id": BED},
                "options": {"threshold": {"type": "above", "value": {"entity": "input_number.zebra"}}},
            }
        ],
        UNKNOWN,
    ),
    (
        "secret attribute",
        [{"condition": "state", "entity_id": BED, "attribute": "access_token", "state": "a"}],
        "is never shown",
    ),
    ("unknown kind", [{"condition": "zebra.is_on", "target": {"entity_id": BED}}], "cannot be checked"),
    ("no kind", [{"condition": {"x": STATE}}], "cannot be checked"),
]

TRIGGERS: list[Attack] = [
    ("state", wait({"trigger": "state", "entity_id": HIDDEN}), "sequence[0].wait_for_trigger[0].entity_id: "),
    ("state, older spelling", wait({"platform": "state", "entity_id": HIDDEN}), UNKNOWN),
    ("second", wait([{"trigger": "time", "at": "03:00"}, {"trigger": "state", "entity_id": HIDDEN}]), "trigger[1]"),
    ("inside", wait({"triggers": [{"trigger": "state", "entity_id": HIDDEN}]}), ".triggers[0].entity_id"),
    ("template", wait({"trigger": "template", "value_template": READ}), None),
    ("for", wait({"trigger": "state", "entity_id": BED, "for": READ}), None),
    ("time of a sensor", wait({"trigger": "time", "at": {"entity_id": "sensor.zebra"}}), UNKNOWN),
    ("target", wait({"trigger": "light.turned_on", "target": {"entity_id": HIDDEN}}), UNKNOWN),
    ("event", wait({"trigger": "event", "event_type": "state_changed"}), "cannot be checked"),
    ("webhook", wait({"trigger": "webhook", "webhook_id": "x"}), "cannot be checked"),
    ("what somebody says", wait({"trigger": "conversation", "command": "x"}), "cannot be checked"),
    ("message", wait({"trigger": "mqtt", "topic": "#"}), "cannot be checked"),
    ("variables", wait({"trigger": "time", "at": "03:00", "variables": {"x": READ}}), None),
    ("enabled", wait({"trigger": "time", "at": "03:00", "enabled": READ}), None),
    (
        "members of a group",
        [*wait({"trigger": "state", "entity_id": "group.mixed"}), *answer("{{ wait.trigger }}")],
        None,
    ),
    ("timeout", [{"wait_for_trigger": [{"trigger": "time", "at": "03:00"}], "timeout": READ}], None),
    ("wait", [{"wait_template": READ}], None),
    ("delay", [{"delay": {"seconds": READ}}], None),
]

DATA: list[Attack] = [
    (
        "template in an entity field",
        [act("media_player.join", "media_player.kitchen", group_members=["{{ 'media_player.' ~ 'bedroom' }}"])],
        UNKNOWN,
    ),
    ("template in an object", [act("scene.apply", entities={"{{ 'light.' ~ 'zebra' }}": "on"})], UNKNOWN),
    ("template in a script's field", [act("script.visible", lamp="{{ 'light.' ~ 'zebra' }}")], UNKNOWN),
    ("template in a script's new field", [act("script.visible", x="{{ 1 }}")], None),
    (
        "template for a script in the background",
        [act("script.turn_on", "script.visible", variables={"lamp": "{{ 1 }}"})],
        None,
    ),
    (
        "template as media",
        [
            act(
                "media_player.play_media",
                "media_player.kitchen",
                media_content_id="{{ 'light.' ~ 'zebra' }}",
                media_content_type="music",
            )
        ],
        UNKNOWN,
    ),
    (
        "template as data",
        [{"action": "light.turn_on", "target": {"entity_id": BED}, "data": "{{ {'entity_id': 'light.zebra'} }}"}],
        "must be an object",
    ),
    ("template reads in a text", [act("input_text.set_value", "input_text.note", value=READ)], None),
    ("template reads in a number", [act("light.turn_on", BED, brightness=READ)], "expected int"),
    ("hidden script's variable", [act("script.visible", lamp=HIDDEN)], UNKNOWN),
    ("hidden script", [{"action": "script.zebra"}], UNKNOWN),
    ("hidden script in the background", [act("script.turn_on", "script.zebra")], UNKNOWN),
    ("hidden automation", [act("automation.trigger", "automation.zebra")], UNKNOWN),
    ("event", [{"event": "zebra", "event_data": {}}], "Firing an event"),
    ("device action", [{"device_id": HIDDEN_DEVICE, "domain": "light", "type": "turn_on"}], "Device actions"),
    ("shell", [{"action": "shell_command.zebra"}], "cannot be used by assistants"),
    ("restart", [{"action": "homeassistant.restart"}], "cannot be used by assistants"),
    ("code", [act("python_script.exec", source="x")], "cannot be used by assistants"),
    ("group", [act("group.set", object_id="visible", entities=[HIDDEN])], "cannot be used by assistants"),
    ("conversation", [act("conversation.process", text="turn on the zebra lamp")], "conversation.process"),
]

ALL: list[Attack] = [
    (f"{group}: {name}", sequence, reason)
    for group, attacks in (
        ("target", TARGETS),
        ("place", PLACES),
        ("condition", CONDITIONS),
        ("trigger", TRIGGERS),
        ("reading", READING),
        ("data", DATA),
    )
    for name, sequence, reason in attacks
]
