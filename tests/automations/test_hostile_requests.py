"""Tests of what people ask for turned against them: by none of the ways does anything hidden come in."""

import re
from typing import Any

import pytest

from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er
from tests.automations.requests import ANSWER, BUTTONS, DOOR, HALL, PHONE, Part, at, do, event, tell, when, wish
from tests.automations.test_requests import ADD, filled, older, path
from tests.conftest import CallTool, expose
from tests.helpers.automating import File, start_home

__all__ = ["path", "start_home"]

pytestmark = pytest.mark.parametrize("expected_lingering_timers", [True])

_ON = when(DOOR, "on")
_LAMP = do("light.turn_on", HALL)


_PLACE = re.compile(
    r"(The blueprint with these inputs cannot be used: )?(triggers|conditions|actions|variables|use_blueprint)[\w.\[\]]*: "
    r"|Home Assistant does not accept this automation: .* at '[\w.\[\]]+'|This automation also uses something"
)
"""How a refusal begins: with the place, but where that would name what the caller does not see."""
_NEXT_STEP = re.compile(
    r"\b(Use|Name|Write|Give|Tell|Choose|Make|Leave|Perform|Call|Known|Nearest|Do|Put|Expose)\b|It takes|tell the user"
)


_OF_TEMPLATES = re.compile(r": This template cannot be used here: |: '[a-z_.]+' was not found or is not exposed\.$")
"""What the check of templates says."""


def hostile(name: str, triggers: Any, actions: Any, refused: str, **more: Any) -> Any:
    """Return a row: what it tries, and the words of the refusal."""
    return pytest.param(wish(name, triggers, actions, **more).config, refused, id=name)


def keep(scene_id: Any = "x", **kept: Any) -> Part:
    """Return the step that makes a scene."""
    return do("scene.create", scene_id=scene_id, **kept)


HOSTILE = [
    # Events
    hostile("an event that is not listed", event("call"), _LAMP, "triggers[0].event_type: an event of this type"),
    hostile("one of several is not listed", event(["zha_event", "x"]), _LAMP, "list 'x' there"),  # type: ignore[arg-type]
    hostile("all states", event("state_changed"), _LAMP, "never a trigger"),
    hostile("all actions", event("call_service", {"domain": "lock"}), _LAMP, "never a trigger"),
    hostile("all events", event("*"), _LAMP, "never a trigger"),
    hostile("the type by a template", event("{{ 'state_changed' }}"), _LAMP, "Write the values themselves"),
    hostile("the data by a template", event("zha_event", {"x": "{{ states('light.zebra') }}"}), _LAMP, "a template"),
    hostile("the name of data by a template", event("zha_event", {"{{ 1 }}": 1}), _LAMP, "a template"),
    hostile("by whom", event("zha_event", context={"user_id": "x"}), _LAMP, "unknown here: context"),
    hostile("data of a hidden entity", event("zha_event", {"entity_id": "light.zebra"}), _LAMP, "not exposed"),
    hostile("without a type", {"trigger": "event"}, _LAMP, "needs 'event_type'"),
    hostile("a hidden timer", event("timer.finished", {"entity_id": "timer.zebra"}), _LAMP, "an exposed entity"),
    hostile("any timer", event("timer.finished"), _LAMP, "without an exposed entity there"),
    hostile("several timers", event("timer.finished", {"entity_id": ["timer.laundry"]}), _LAMP, "an exposed entity"),
    hostile("waiting for what is not listed", _ON, {"wait_for_trigger": event("x")}, "actions[0].wait_for_trigger[0]"),
    hostile(
        "what is not listed, among several", {"triggers": [event("x")]}, _LAMP, "triggers[0].triggers[0].event_type"
    ),
    hostile(
        "in the options of a trigger", {"trigger": "event", "options": {"event_type": "x"}}, _LAMP, "list 'x' there"
    ),
    # Answers
    hostile("an answer that nobody asked for", event(ANSWER, {"action": "X"}), _LAMP, "sends, as data.data.actions"),
    hostile("any answer", event(ANSWER), tell("x", data=BUTTONS), "OPEN_BLINDS"),
    hostile("the answer to another question", event(ANSWER, {"action": "X"}), tell("x", data=BUTTONS), "LEAVE_BLINDS"),
    hostile("an answer by a template", event(ANSWER, {"action": "{{ x }}"}), tell("x", data=BUTTONS), "a template"),
    hostile("a list of answers", event(ANSWER, {"action": ["OPEN_BLINDS"]}), tell("x", data=BUTTONS), "name the id"),
    hostile(
        "a question in data that is not sent",
        event(ANSWER, {"action": "X"}),
        do("light.turn_on", HALL, x={"action": PHONE, "data": {"data": {"actions": [{"action": "X"}]}}}),
        "sends, as data.data.actions",
    ),
    # Messages
    hostile("to nobody that is listed", _ON, do("notify.mobile_app_zebra", message="x"), "notify.mobile_app_zebra"),
    hostile("to a hidden one", _ON, do("notify.send_message", "notify.annas_phone", message="x"), "not exposed"),
    hostile(
        "a phone's device with a hidden picture",
        _ON,
        {
            "device_id": "PHONE",
            "domain": "mobile_app",
            "type": "notify",
            "message": "x",
            "data": {"image": "/api/camera_proxy/camera.zebra"},
        },
        "camera.zebra",
    ),
    hostile(
        "a template in what a phone is given",
        _ON,
        {
            "device_id": "PHONE",
            "domain": "mobile_app",
            "type": "notify",
            "message": "x",
            "data": {"image": "{{ state_attr('camera.door', 'entity_picture') }}"},
        },
        "data",
    ),
    hostile(
        "a hidden state told to a phone",
        _ON,
        {
            "device_id": "PHONE",
            "domain": "mobile_app",
            "type": "notify",
            "message": "{{ states('light.zebra') }}",
        },
        "message",
    ),
    hostile(
        "another type of device action", _ON, {"device_id": "PHONE", "domain": "mobile_app", "type": "wipe"}, "no phone"
    ),
    hostile(
        "no phone", _ON, {"device_id": "REMOTE", "domain": "mobile_app", "type": "notify", "message": "x"}, "no phone"
    ),
    hostile("a secret attribute told", _ON, tell("{{ state_attr('camera.door', 'access_token') }}"), "access_token"),
    hostile("a secret attribute waited for", when("camera.door", attribute="access_token"), _LAMP, "access_token"),
    # Scenes
    hostile("a scene of a hidden entity", _ON, keep(snapshot_entities=["light.zebra"]), "not exposed"),
    hostile("a scene with a hidden entity", _ON, keep(entities={HALL: "on", "light.zebra": "on"}), "not exposed"),
    hostile("a scene of a group with a hidden member", _ON, keep(snapshot_entities=["light.mixed"]), "actions[0]"),
    hostile(
        "a scene by a template",
        _ON,
        keep(snapshot_entities="{{ states.light | map(attribute='entity_id') | list }}"),
        "templates",
    ),
    hostile("a scene's name by a template", _ON, keep("{{ 'zebra' }}", snapshot_entities=[HALL]), "template"),
    hostile("a scene of nothing", _ON, keep(), "actions[0].data"),
    *(
        hostile(f"a scene of {kept!r}", _ON, keep(**kept), "must be")
        for kept in (
            {"entities": [HALL]},
            {"entities": HALL},
            {"snapshot_entities": {HALL: 1}},
            {"snapshot_entities": [[HALL]]},
        )
    ),
    hostile("a hidden scene", _ON, do("scene.turn_on", "scene.zebra"), "not exposed"),
    hostile(
        "a scene that nobody made", _ON, [keep(snapshot_entities=[HALL]), do("scene.turn_on", "scene.y")], "scene.y"
    ),
    hostile(
        "a hidden scene beside its own",
        _ON,
        [
            keep(snapshot_entities=[HALL]),
            do("scene.turn_on", ["scene.x", "scene.zebra"]),
        ],
        "not exposed",
    ),
    hostile(
        "a hidden scene as data beside its own",
        _ON,
        [
            keep(snapshot_entities=[HALL]),
            do("scene.turn_on", "scene.x", entity_id="scene.zebra"),
        ],
        "not exposed",
    ),
    hostile(
        "turning off by way of a scene's name",
        _ON,
        [keep(snapshot_entities=[HALL]), do("homeassistant.turn_on", "scene.x")],
        "scene.x",
    ),
    # Targets
    hostile("a place with nothing exposed", _ON, do("light.turn_on", {"label_id": "nothing"}), "nothing"),
    hostile(
        "a choice with a hidden one",
        _ON,
        do("light.turn_on", "{{ 'light.hall' if 1 else 'light.zebra' }}"),
        "not exposed",
    ),
    hostile("a choice with all", _ON, do("light.turn_on", "{{ 'light.hall' if 1 else 'all' }}"), "cannot be known"),
    hostile(
        "a choice with half a name", _ON, do("light.turn_on", "light.{{ 'hall' if 1 else 'zebra' }}"), "cannot be known"
    ),
    hostile(
        "a choice of what is computed",
        _ON,
        do("light.turn_on", "{{ 'light.hall' if 1 else 'light.' ~ 'zebra' }}"),
        "cannot be known",
    ),
    hostile("a choice that may be nothing", _ON, do("light.turn_on", "{{ 'light.hall' if 1 }}"), "cannot be known"),
    hostile(
        "a choice by what is hidden",
        _ON,
        do("light.turn_on", "{{ 'light.hall' if is_state('light.zebra', 'on') else 'light.porch' }}"),
        "light.zebra",
    ),
    hostile(
        "a choice with a filter",
        _ON,
        do("light.turn_on", "{{ ('light.hall' if 1 else 'light.porch') | replace('hall', 'zebra') }}"),
        "cannot be known",
    ),
    hostile(
        "what set it off, of another kind",
        when("sensor.outside"),
        do("light.turn_on", "{{ trigger.entity_id }}"),
        "cannot do light.turn_on",
    ),
    hostile(
        "what set it off, unknown",
        [when(HALL), at("1:00")],
        do("light.turn_on", "{{ trigger.entity_id }}"),
        "every trigger",
    ),
    hostile(
        "what set it off, exchanged",
        when(HALL),
        [
            {"variables": {"trigger": {"entity_id": "light.zebra"}}},
            do("light.turn_on", "{{ trigger.entity_id }}"),
        ],
        "'trigger' has a meaning of its own",
    ),
    hostile(
        "what set it off, exchanged by words",
        when(HALL),
        do("light.turn_on", "{{ trigger.entity_id }}"),
        "trigger",
        variables={"trigger": {"entity_id": "light.porch"}},
    ),
    hostile(
        "what set it off, hidden", when("light.zebra"), do("light.turn_on", "{{ trigger.entity_id }}"), "not exposed"
    ),
    # What an event, a message or a call hands over
    *(
        hostile(f"{what}: {template}", trigger, step, refused)
        for what, trigger, values in (
            ("an event", event("zha_event"), ("trigger.event.data.entity_id", "trigger.event.data['x']")),
            (
                "a message",
                {"trigger": "mqtt", "topic": "zigbee/remote/action"},
                ("trigger.payload", "trigger.payload_json.x"),
            ),
            ("a sentence", {"trigger": "conversation", "command": "movie time"}, ("trigger.sentence",)),
        )
        for value in values
        for template, step, refused in (
            (f"on {value}", do("light.turn_on", f"{{{{ {value} }}}}"), "cannot be known beforehand"),
            (f"do {value}", {"action": f"{{{{ {value} }}}}"}, "a template cannot be checked"),
            (f"states({value})", tell(f"{{{{ states({value}) }}}}"), "states of what is no constant"),
            (f"states[{value}]", tell(f"{{{{ states[{value}].state }}}}"), "going through states"),
        )
    ),
    hostile("an event as a whole", event("zha_event"), tell("{{ trigger.event }}"), "a whole event as a value"),
    hostile("all data of an event", event("zha_event"), tell("{{ trigger.event.data }}"), "all data of the event"),
    hostile("who set an event off", event("zha_event"), tell("{{ trigger.event.context.user_id }}"), "'context'"),
    hostile("a method of an event", event("zha_event"), tell("{{ trigger.event.as_dict() }}"), "'as_dict'"),
    hostile(
        "an event that may be another kind's",
        [event("zha_event"), {"trigger": "sun", "event": "sunset"}],
        tell("{{ trigger.event }}"),
        "a whole event as a value",
    ),
    hostile(
        "data of an event that is not listed", event("x"), tell("{{ trigger.event.data.x }}"), "an event of this type"
    ),
    # Other triggers
    hostile("a hidden tag", {"trigger": "tag", "tag_id": "tag-zebra"}, _LAMP, "not found or is not exposed"),
    hostile("an unknown tag", {"trigger": "tag", "tag_id": "tag-x"}, _LAMP, "not found or is not exposed"),
    hostile("a tag by a template", {"trigger": "tag", "tag_id": "{{ 'tag-zebra' }}"}, _LAMP, "template"),
    hostile("whatever is said", {"trigger": "conversation", "command": "tell {x}"}, _LAMP, "a gap"),
    hostile("a yes", {"trigger": "conversation", "command": "yes please"}, _LAMP, "an answer to a question"),
    hostile(
        "a yes in another language", {"trigger": "conversation", "command": "[oh] ja"}, _LAMP, "an answer to a question"
    ),
    hostile("a no among others", {"trigger": "conversation", "command": "(start it|no thanks)"}, _LAMP, "an answer"),
    hostile(
        "thousands of sentences", {"trigger": "conversation", "command": "start" + " (a|b|c|d)" * 8}, _LAMP, "200 ways"
    ),
    hostile("another topic", {"trigger": "mqtt", "topic": "zigbee/remote/#"}, _LAMP, "mqtt:zigbee/remote/#"),
    hostile("another webhook", {"trigger": "webhook", "webhook_id": "x"}, _LAMP, "webhook:x"),
    hostile(
        "a device that is hidden",
        {"trigger": "device", "device_id": "x", "domain": "remotes", "type": "x"},
        _LAMP,
        "No device",
    ),
    # Blueprints
    *(
        pytest.param({"alias": name, "use_blueprint": {"path": f"{blueprint}.yaml", "input": inputs}}, refused, id=name)
        for name, blueprint, inputs, refused in (
            ("an input that is hidden", "mine/follow", {"leader": DOOR, "follower": "light.zebra"}, "not exposed"),
            ("an area of an input", "mine/follow", {"leader": DOOR, "follower": "light.zebra"}, "not exposed"),
            (
                "a hidden person",
                "homeassistant/notify_leaving_zone",
                {"person_entity": "person.zebra", "zone_entity": "zone.home", "notify_device": "PHONE"},
                "cannot be used",
            ),
            (
                "a zone that is a template",
                "homeassistant/notify_leaving_zone",
                {"person_entity": "person.anna", "zone_entity": "{{ 'light.zebra' }}", "notify_device": "PHONE"},
                "also uses",
            ),
            (
                "a hidden thing as a zone",
                "homeassistant/notify_leaving_zone",
                {"person_entity": "person.anna", "zone_entity": "light.zebra", "notify_device": "PHONE"},
                "cannot be used",
            ),
            (
                "no such device",
                "homeassistant/notify_leaving_zone",
                {"person_entity": "person.anna", "zone_entity": "zone.home", "notify_device": "x"},
                "no phone",
            ),
        )
    ),
    pytest.param(
        {
            "alias": "its variables exchanged",
            "use_blueprint": {
                "path": "homeassistant/notify_leaving_zone.yaml",
                "input": {"person_entity": "person.anna", "zone_entity": "zone.home", "notify_device": "PHONE"},
            },
            "variables": {
                "zone_entity": "light.zebra",
                "zone_state": "{{ states[zone_entity].name }}",
                "person_name": "x",
            },
        },
        "exposed",
        id="its variables exchanged",
    ),
]


@pytest.mark.parametrize("syntax", [lambda config: config, older], ids=["present", "older"])
async def test_hostile(
    hass: HomeAssistant, path: File, call_tool: CallTool, subtests: pytest.Subtests, syntax: Any
) -> None:
    """Each is refused with its place and reason, and nothing is written: one home is enough for all of them."""
    hass.states.async_set("light.mixed", "on", {"entity_id": [HALL, "light.zebra"]})
    er.async_get(hass).async_get_or_create("light", "test", "mixed", suggested_object_id="mixed")
    expose(hass, "light.mixed")
    for row in HOSTILE:
        config, refused = row.values
        before, automations = path.read_text(), hass.states.async_entity_ids("automation")
        with subtests.test(row.id):
            answer = await call_tool(ADD, automation=syntax(filled(hass, config)), error=True)
            assert refused in answer["error"]
            assert _PLACE.match(answer["error"]), answer["error"]
            assert _NEXT_STEP.search(answer["error"]) or _OF_TEMPLATES.search(answer["error"]), answer["error"]
            assert path.read_text() == before
            assert hass.states.async_entity_ids("automation") == automations
