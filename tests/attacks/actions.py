"""Attempts to reach through perform_action what is not exposed, in the house of tests/helpers/acting.py.

Each attempt is a name, the arguments, and whether it is refused; where it is not, only what is exposed may move. Words in
<…> stand for ids that a test looks up.
"""

from typing import Any

type Attack = tuple[str, dict[str, Any], bool]

ON = "light.turn_on"
DEVICE = "<device of light.narwhal>"
"""The id of a device with a visible and a hidden light."""
HIDDEN_DEVICE = "<device of light.zebra>"
REGISTRY_ID = "<registry id of light.zebra>"


def _act(action: str = ON, **arguments: Any) -> dict[str, Any]:
    return {"action": action, **arguments}


def _target(key: str, value: Any, action: str = ON) -> dict[str, Any]:
    return _act(action, target={key: value})


def _play(media: str) -> dict[str, Any]:
    data = {"media_content_id": media, "media_content_type": "image"}
    return _act("media_player.play_media", target={"entity_id": "media_player.kitchen"}, data=data)


TARGETS: list[Attack] = [
    ("hidden id", _target("entity_id", "light.zebra"), True),
    ("hidden id in a list", _target("entity_id", ["light.bed_light", "light.zebra"]), True),
    ("hidden id after a comma", _target("entity_id", "light.bed_light, light.zebra"), True),
    ("hidden id after a comma without space", _target("entity_id", "light.bed_light,light.zebra"), True),
    ("commas inside a list", _target("entity_id", ["light.bed_light,light.zebra"]), True),
    ("upper case", _target("entity_id", "LIGHT.ZEBRA"), True),
    ("spaces around", _target("entity_id", "  light.zebra\n"), True),
    ("full-width letters", _target("entity_id", "light.\uff5a\uff45\uff42\uff52\uff41"), True),
    ("zero-width space", _target("entity_id", "light.zeb\u200bra"), True),
    ("kelvin sign", _target("entity_id", "light.quo\u212a\u212aa"), True),
    ("hidden name", _target("entity_id", "Zebra lamp"), True),
    ("registry id", _target("entity_id", REGISTRY_ID), True),
    ("template", _target("entity_id", "{{ 'light.zebra' }}"), True),
    ("template block", _target("entity_id", "{% if true %}light.zebra{% endif %}"), True),
    ("template that lists all", _target("entity_id", ["{{ states.light | map(attribute='entity_id') | list }}"]), True),
    ("template as area", _target("area_id", "{{ 'kitchen' }}"), True),
    ("all lights", _target("entity_id", "all"), False),
    ("all in a list", _target("entity_id", ["all"]), False),
    ("all in capitals", _target("entity_id", "ALL"), True),
    ("none", _target("entity_id", "none"), True),
    ("star", _target("entity_id", "light.*"), True),
    ("empty text", _target("entity_id", ""), True),
    ("empty list", _target("entity_id", []), True),
    ("null", _target("entity_id", None), True),
    ("object as id", _target("entity_id", {"id": "light.zebra"}), True),
    ("list in a list", _target("entity_id", [["light.zebra"]]), True),
    ("number", _target("entity_id", 7), True),
    ("no target", _act(), True),
    ("unknown key", _target("entity", "light.zebra"), True),
    ("key in capitals", _target("ENTITY_ID", "light.zebra"), True),
    ("key with space", _target("entity_id ", "light.zebra"), True),
    ("other domain", _target("entity_id", "input_boolean.party"), True),
    ("area with both", _target("area_id", "kitchen"), False),
    ("area by name", _target("area_id", "Kitchen"), False),
    ("area by alias", _target("area_id", "galley"), False),
    ("hidden area", _target("area_id", "axolotl_room"), True),
    ("hidden area by name", _target("area_id", "Axolotl Room"), True),
    ("visible and hidden area", _target("area_id", ["kitchen", "axolotl_room"]), True),
    ("hidden area turned off", _target("area_id", "axolotl_room", "homeassistant.turn_off"), True),
    ("area, any domain", _target("area_id", "kitchen", "homeassistant.toggle"), False),
    ("floor", _target("floor_id", "ground_floor"), False),
    ("floor by alias", _target("floor_id", "Downstairs"), False),
    ("hidden floor", _target("floor_id", "axolotl_floor"), True),
    ("label", _target("label_id", "cosy"), False),
    ("hidden label", _target("label_id", "axolotl_label"), True),
    ("hidden label by name", _target("label_id", "Axolotl label"), True),
    ("shared device", _target("device_id", DEVICE), False),
    ("hidden device", _target("device_id", HIDDEN_DEVICE), True),
    ("device and hidden id", _act(target={"device_id": DEVICE, "entity_id": "light.zebra"}), True),
    (
        "exclude brings nothing in",
        _act(target={"entity_id": "light.bed_light", "exclude": {"area_id": "kitchen"}}),
        False,
    ),
    ("exclude of a hidden entity", _act(target={"entity_id": "all", "exclude": {"entity_id": "light.zebra"}}), True),
]

DATA: list[Attack] = [
    ("id in data", _act(data={"entity_id": "light.zebra"}), True),
    (
        "id in data beside target",
        _act(target={"entity_id": "light.bed_light"}, data={"entity_id": "light.zebra"}),
        True,
    ),
    ("area in data", _act(data={"area_id": "axolotl_room"}), True),
    ("visible area in data", _act(data={"area_id": "kitchen"}), False),
    ("all in data", _act(data={"entity_id": "all"}), False),
    ("device in data", _act(data={"device_id": HIDDEN_DEVICE}), True),
    ("key in capitals in data", _act(target={"entity_id": "light.bed_light"}, data={"Entity_Id": "light.zebra"}), True),
    ("target in data", _act(data={"target": {"entity_id": "light.zebra"}}), True),
    ("template in data", _act(target={"entity_id": "light.bed_light"}, data={"brightness": "{{ 1 }}"}), True),
    (
        "join a hidden speaker",
        _act(
            "media_player.join",
            target={"entity_id": "media_player.kitchen"},
            data={"group_members": ["media_player.bedroom"]},
        ),
        True,
    ),
    ("speaker that plays with a hidden one", _target("entity_id", "media_player.group", "media_player.turn_off"), True),
    ("media of a hidden camera", _play("media-source://camera/camera.zebra"), True),
    ("media of a hidden camera, escaped", _play("media-source://camera/camera%2Ezebra"), True),
    (
        "hidden id in a message",
        _act("notify.send_message", target={"entity_id": "notify.notifier"}, data={"message": "see light.zebra"}),
        False,
    ),
    (
        "template in a message",
        _act(
            "notify.send_message",
            target={"entity_id": "notify.notifier"},
            data={"message": "{{ states('light.zebra') }}"},
        ),
        True,
    ),
    ("hidden list", _act("todo.add_item", target={"entity_id": "todo.zebra"}, data={"item": "x"}), True),
    (
        "hidden id in an item",
        _act(
            "todo.add_item",
            target={"entity_id": "todo.shopping_list"},
            data={"item": "repair Light.Zebra"},
        ),
        False,
    ),
    (
        "hidden calendar",
        _act("calendar.get_events", target={"entity_id": "calendar.calendar_2"}, data={"duration": {"hours": 9}}),
        True,
    ),
    (
        "hidden weather",
        _act("weather.get_forecasts", target={"entity_id": "weather.zebra"}, data={"type": "daily"}),
        True,
    ),
    ("all weather", _act("weather.get_forecasts", target={"entity_id": "all"}, data={"type": "daily"}), False),
]

GROUPS: list[Attack] = [
    ("group with hidden members", _target("entity_id", "group.mixed"), False),
    ("group with hidden members, any domain", _target("entity_id", "group.mixed", "homeassistant.turn_on"), False),
    ("group with hidden members, toggled", _target("entity_id", "group.mixed", "homeassistant.toggle"), False),
    ("hidden group", _target("entity_id", "group.zebra", "homeassistant.turn_on"), True),
    ("light group with hidden members", _target("entity_id", "light.mixed"), False),
    ("light group turned off", _target("entity_id", "light.mixed", "homeassistant.turn_off"), False),
    ("switch group of hidden members", _target("entity_id", "switch.mixed", "switch.turn_on"), True),
    ("scene with hidden members", _target("entity_id", "scene.mixed", "scene.turn_on"), True),
    ("scene with hidden members, any domain", _target("entity_id", "scene.mixed", "homeassistant.turn_on"), True),
    ("hidden scene", _target("entity_id", "scene.zebra", "scene.turn_on"), True),
    ("all scenes", _target("entity_id", "all", "scene.turn_on"), False),
    ("everything", _target("entity_id", "all", "homeassistant.turn_off"), False),
    ("apply to hidden", _act("scene.apply", data={"entities": {"light.zebra": "on"}}), True),
    ("apply to both", _act("scene.apply", data={"entities": {"light.bed_light": "on", "light.zebra": "on"}}), True),
    ("apply to hidden in capitals", _act("scene.apply", data={"entities": {"LIGHT.ZEBRA": "on"}}), True),
    ("apply to a mixed group", _act("scene.apply", data={"entities": {"light.mixed": "on"}}), True),
    ("apply to an old mixed group", _act("scene.apply", data={"entities": {"group.mixed": "on"}}), True),
    (
        "apply with hidden in attributes",
        _act("scene.apply", data={"entities": {"light.bed_light": {"state": "on", "x": "light.zebra"}}}),
        True,
    ),
    ("apply as text", _act("scene.apply", data={"entities": "light.zebra"}), True),
    ("apply with target", _act("scene.apply", target={"entity_id": "light.zebra"}, data={"entities": {}}), True),
    ("create a scene", _act("scene.create", data={"scene_id": "zebra", "snapshot_entities": ["light.zebra"]}), True),
    ("delete a hidden scene", _target("entity_id", "scene.zebra", "scene.delete"), True),
    ("change a group", _act("group.set", data={"object_id": "visible", "add_entities": ["light.zebra"]}), True),
]

SCRIPTS: list[Attack] = [
    ("hidden script", _act("script.zebra"), True),
    ("hidden script in capitals", _act("Script.ZEBRA"), True),
    ("hidden script turned on", _target("entity_id", "script.zebra", "script.turn_on"), True),
    ("hidden script, any domain", _target("entity_id", "script.zebra", "homeassistant.turn_on"), True),
    ("hidden script toggled", _target("entity_id", "script.zebra", "script.toggle"), True),
    ("script with a hidden variable", _act("script.visible", data={"lamp": "light.zebra"}), True),
    ("script with a variable by hidden name", _act("script.visible", data={"lamp": "Zebra lamp"}), True),
    ("script with a hidden area", _act("script.visible", data={"room": "axolotl_room"}), True),
    ("script with a mixed area", _act("script.visible", data={"room": "kitchen"}), True),
    ("script with a template", _act("script.visible", data={"text": "{{ states | list }}"}), True),
    ("script with steps", _act("script.visible", data={"steps": [{"action": "light.turn_on"}]}), True),
    ("script with steps in a variable", _act("script.visible", data={"x": [{"action": "light.turn_on"}]}), True),
    ("script with a nested target", _act("script.visible", data={"x": {"target": {"area_id": "axolotl_room"}}}), True),
    ("script with a target", _act("script.visible", target={"entity_id": "light.zebra"}), True),
    (
        "script with hidden variables",
        _act("script.turn_on", target={"entity_id": "script.visible"}, data={"variables": {"a": ["light.zebra"]}}),
        True,
    ),
    *(
        (
            f"script with {key} by {action} in variables",
            _act(action, target={"entity_id": "script.visible"}, data={"variables": {key: value}}),
            True,
        )
        for action in ("script.turn_on", "homeassistant.turn_on", "script.toggle", "homeassistant.toggle")
        for key, value in (
            ("room", "axolotl_room"),
            ("room", "kitchen"),
            ("lamp", "Zebra lamp"),
            ("unknown", "kitchen"),
        )
    ),
    ("script with an undeclared variable", _act("script.visible", data={"answer": "axolotl_room"}), True),
    ("script without fields", _act("script.outer", data={"room": "axolotl_room"}), True),
    (
        "script with an action of a service",
        _act("script.visible", data={"x": [{"Perform_Action": "shell_command.zebra"}]}),
        True,
    ),
    ("action in data", _act(target={"entity_id": "light.bed_light"}, data={"action": "shell_command.zebra"}), True),
    (
        "automation with variables",
        _act("automation.trigger", target={"entity_id": "automation.visible"}, data={"variables": {"room": "kitchen"}}),
        True,
    ),
    (
        "all automations with a trigger",
        _act("automation.trigger", target={"entity_id": "all"}, data={"variables": {"trigger": {"id": "x"}}}),
        True,
    ),
    ("hidden automation", _target("entity_id", "automation.zebra", "automation.trigger"), True),
    ("all automations triggered", _target("entity_id", "all", "automation.trigger"), False),
    ("hidden automation turned off", _target("entity_id", "automation.zebra", "automation.turn_off"), True),
]

NEVER: list[Attack] = [
    (action, _act(action, **arguments), True)
    for action, arguments in (
        ("shell_command.zebra", {}),
        ("shell_command.zebra", {"target": {"entity_id": "light.bed_light"}}),
        ("SHELL_COMMAND.ZEBRA", {}),
        ("homeassistant.restart", {}),
        ("homeassistant.stop", {"target": {"entity_id": "all"}}),
        ("homeassistant.reload_all", {}),
        ("homeassistant.reload_config_entry", {"target": {"entity_id": "light.bed_light"}}),
        ("homeassistant.set_location", {"data": {"latitude": 1, "longitude": 1}}),
        ("homeassistant.save_persistent_states", {}),
        ("automation.reload", {}),
        ("script.reload", {}),
        ("scene.reload", {}),
        ("input_boolean.reload", {}),
        ("group.remove", {"data": {"object_id": "visible"}}),
        ("logger.set_level", {"data": {"x": "debug"}}),
        ("system_log.clear", {}),
        ("conversation.process", {"data": {"text": "turn on zebra lamp"}}),
        ("conversation.reload", {}),
        ("persistent_notification.create", {"data": {"message": "x"}}),
        ("notify.notify", {"data": {"message": "x"}}),
        ("rest_command.zebra", {}),
        ("light", {}),
        ("light.turn_on.zebra", {}),
        ("light.turn_on; shell_command.zebra", {}),
        ("{{ 'light.turn_on' }}", {}),
        ("\uff53hell_command.zebra", {}),
        ("", {}),
    )
]

LISTED_ACTIONS = frozenset(
    {"scene.create", "persistent_notification.create", "notify.persistent_notification", "rest_command.zebra"}
)
LISTED: list[Attack] = [
    (action, _act(action, **arguments), True)
    for action, arguments in (
        ("scene.create", {"data": {"scene_id": "x", "snapshot_entities": ["light.zebra"]}}),
        ("scene.create", {"data": {"scene_id": "x", "snapshot_entities": ["light.bed_light", "Zebra lamp"]}}),
        ("scene.create", {"data": {"scene_id": "x", "entities": {"light.zebra": "on"}}}),
        ("scene.create", {"target": {"entity_id": "light.bed_light"}, "data": {"scene_id": "x"}}),
        ("persistent_notification.create", {"data": {"message": "{{ states('light.zebra') }}"}}),
        ("notify.persistent_notification", {"data": {"message": "x", "data": {"entity_id": "light.zebra"}}}),
        (
            "notify.persistent_notification",
            {"data": {"message": "x", "data": {"actions": [{"action": "light.turn_on"}]}}},
        ),
        ("rest_command.zebra", {"data": {"area_id": "kitchen"}}),
        ("rest_command.zebra", {"data": {"device_id": HIDDEN_DEVICE}}),
        ("rest_command.zebra", {"data": {"x": [{"label_id": "axolotl_label"}]}}),
    )
]
"""Where the options list the actions."""

ALL: list[Attack] = [*TARGETS, *DATA, *GROUPS, *SCRIPTS, *NEVER]
