"""Tests of the table of consequential actions, and of what scripts and scenes lead to."""

from dataclasses import replace
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.extended_assist.calls.plan import Step
from custom_components.extended_assist.confirmation.consequential import (
    CONSEQUENTIAL_ACTIONS,
    TRIGGER,
    acts_of,
    counts,
    is_consequential,
    judged_leaves,
)
from homeassistant.core import HomeAssistant
from homeassistant.helpers import area_registry as ar, device_registry as dr, entity_registry as er
from homeassistant.setup import async_setup_component

GARAGE = {"device_class": "garage"}
STATES: dict[str, tuple[str, dict[str, Any]]] = {
    "lock.front": ("locked", {}),
    "lock.back": ("locked", {}),
    "lock.all": ("locked", {"entity_id": ["lock.front", "lock.back"]}),
    "cover.garage": ("closed", GARAGE | {"current_position": 0}),
    "cover.open_garage": ("open", GARAGE | {"current_position": 100}),
    "cover.half": ("open", GARAGE | {"current_position": 50}),
    "cover.yard_gate": ("closed", {}),
    "cover.blind": ("closed", {"device_class": "blind"}),
    "cover.everything": ("closed", {"entity_id": ["cover.blind", "cover.garage"]}),
    "siren.attic": ("on", {}),
    "alarm_control_panel.home": ("armed_away", {}),
    "valve.garden": ("closed", {"device_class": "water"}),
    "valve.stove": ("closed", {"device_class": "gas"}),
    "light.lamp": ("off", {}),
    "group.way_in": ("locked", {"entity_id": ["lock.front", "light.lamp"]}),
    "group.evening": ("off", {"entity_id": ["script.nobody_knows", "light.lamp"]}),
    "script.nobody_knows": ("off", {}),
    "automation.dusk": ("on", {}),
}
TABLE = {
    "lock.unlock": "lock.front",
    "lock.open": "lock.front",
    "alarm_control_panel.alarm_disarm": "alarm_control_panel.home",
    "alarm_control_panel.alarm_trigger": "alarm_control_panel.home",
    "automation.trigger": "automation.dusk",
    "cover.open_cover": "cover.garage",
    "cover.toggle": "cover.garage",
    "cover.open_cover_tilt": "cover.garage",
    "cover.set_cover_tilt_position": "cover.garage",
    "cover.toggle_cover_tilt": "cover.garage",
    "siren.toggle": "siren.attic",
    "siren.turn_off": "siren.attic",
    "valve.open_valve": "valve.stove",
    "valve.set_valve_position": "valve.stove",
    "valve.toggle": "valve.stove",
}


@pytest.fixture(autouse=True)
async def states(hass: HomeAssistant) -> None:
    """Set up a home."""
    for entity_id, (state, attributes) in STATES.items():
        hass.states.async_set(entity_id, state, attributes)


def act(action: str, *entity_ids: str, **data: Any) -> Step:
    """Return a step."""
    return Step(action, entity_ids, data)


def test_each_row_of_the_table(hass: HomeAssistant) -> None:
    """Each has an entity on which it is consequential, and others on which it is not where that depends."""
    assert {*TABLE, "cover.set_cover_position"} == set(CONSEQUENTIAL_ACTIONS)
    assert [action for action, entity_id in TABLE.items() if not is_consequential(hass, act(action, entity_id))] == []
    assert is_consequential(hass, act("cover.set_cover_position", "cover.half", position=60))


@pytest.mark.parametrize(
    ("step", "asks"),
    [
        (act("lock.lock", "lock.front"), False),
        (act("lock.unlock", "lock.all"), True),
        (act("lock.unlock"), True),
        (act("alarm_control_panel.alarm_arm_away", "alarm_control_panel.home"), False),
        (act("cover.open_cover", "cover.blind"), False),
        (act("cover.open_cover", "cover.yard_gate"), True),
        (act("cover.open_cover", "cover.everything"), True),
        (act("cover.open_cover", "cover.gone"), True),
        (act("cover.close_cover", "cover.garage"), False),
        (act("cover.toggle", "cover.open_garage"), False),
        (act("cover.toggle", "cover.blind"), False),
        (act("cover.set_cover_position", "cover.half", position=40), False),
        (act("cover.set_cover_position", "cover.half", position=0), False),
        (act("cover.set_cover_position", "cover.blind", position=90), False),
        (act("cover.set_cover_position", "cover.half", position="{{ x }}"), True),
        (act("siren.turn_on", "siren.attic"), False),
        (act("valve.open_valve", "valve.garden"), False),
        (act("valve.close_valve", "valve.stove"), False),
        (act("light.turn_on", "light.lamp"), False),
        (act("homeassistant.turn_on", "cover.garage", "light.lamp"), True),
        (act("homeassistant.turn_off", "cover.garage", "light.lamp"), False),
        (act("homeassistant.turn_off", "lock.front"), True),
        (act("automation.turn_off", "automation.dusk"), False),
        (act("notify.phone", message="Hi"), False),
        (act("conversation.process", text="Open the door"), True),
        (act(""), True),
        (act("scene.apply", entities={"lock.front": "unlocked"}), True),
        (act("scene.apply", entities={"lock.front": "locked", "light.lamp": {"state": "on"}}), False),
        (act("scene.apply", entities={"cover.garage": {"state": "closed", "current_position": 30}}), True),
        (act("scene.apply", entities={"siren.attic": False}), True),
        (act("scene.apply", entities={"lock.front": "unlocking"}), True),
        (act("scene.apply", entities={"lock.front": "opening"}), True),
        (act("scene.apply", entities={"cover.garage": "opening"}), True),
        (act("scene.apply", entities={"cover.blind": "opening"}), False),
        (act("scene.apply", entities={"cover.everything": "open"}), True),
        (act("scene.apply", entities={"alarm_control_panel.home": "triggered"}), True),
        (act("scene.apply", entities={"group.way_in": "unlocked"}), True),
        (act("scene.apply", entities={"group.way_in": "locked"}), False),
        (act("homeassistant.turn_on", "group.evening"), True),
        (act("homeassistant.turn_off", "group.evening"), False),
        (act("script.nobody_knows", "script.nobody_knows"), True),
        (act("script.turn_off", "script.nobody_knows"), False),
        (act("scene.turn_on", "scene.nobody_knows"), True),
    ],
    ids=repr,
)
def test_by_entity_state_and_value(hass: HomeAssistant, step: Step, asks: bool) -> None:
    """What decides is what it would lead to now."""
    assert is_consequential(hass, step) is asks


@pytest.mark.parametrize(
    ("step", "asks"),
    [
        (act("cover.toggle", "cover.open_garage"), True),
        (act("cover.set_cover_position", "cover.open_garage", position=50), True),
        (act("cover.set_cover_position", "cover.open_garage", position=0), False),
        (act("cover.close_cover", "cover.open_garage"), False),
        (act("cover.toggle", "cover.blind"), False),
        (act("valve.toggle", "valve.garden"), False),
    ],
    ids=repr,
)
def test_what_comes_later(hass: HomeAssistant, step: Step, asks: bool) -> None:
    """By then a door that is open now can be closed: a toggle, or a part of the way, opens it."""
    assert is_consequential(hass, replace(step, frame=(("in", "0:10:00"),))) is asks


UNLOCK = {"action": "lock.unlock", "target": {"entity_id": "lock.front"}}
LIGHT = {"action": "light.turn_on", "target": {"entity_id": "light.lamp"}}
SEQUENCES: dict[str, tuple[bool, list[dict[str, Any]]]] = {
    "light": (False, [LIGHT]),
    "unlock": (True, [LIGHT, UNLOCK]),
    "turned_off_step": (False, [LIGHT, {**UNLOCK, "enabled": False}]),
    "branch": (True, [{"if": [], "then": [LIGHT], "else": [UNLOCK]}]),
    "choose": (True, [{"choose": [{"conditions": [], "sequence": [LIGHT]}], "default": [UNLOCK]}]),
    "loop": (True, [{"repeat": {"count": 2, "sequence": [{"parallel": [LIGHT, UNLOCK]}]}}]),
    "area": (True, [{"action": "lock.unlock", "target": {"area_id": "hall"}}]),
    "nobody": (False, [{"action": "lock.unlock", "target": {"area_id": "kitchen"}}]),
    "all": (True, [{"action": "cover.open_cover", "target": {"entity_id": "all"}}]),
    "template_target": (True, [{"action": "lock.unlock", "target": {"entity_id": "{{ which }}"}}]),
    "template_light": (False, [{"action": "light.turn_on", "target": {"entity_id": "{{ which }}"}}]),
    "template_action": (True, [{"action": "{{ what }}", "target": {"entity_id": "light.lamp"}}]),
    "template_text": (False, [{"action": "notify.notify", "data": {"message": "{{ text }}"}}]),
    "nested": (True, [LIGHT, {"action": "script.unlock"}]),
    "nested_light": (False, [{"action": "script.turn_on", "target": {"entity_id": "script.light"}}]),
    "endless": (True, [{"action": "script.endless"}]),
    "evening": (False, [{"scene": "scene.evening"}]),
    "welcome": (True, [{"action": "scene.turn_on", "target": {"entity_id": "scene.welcome"}}]),
    "wait": (False, [{"wait_for_trigger": [{"trigger": "state", "entity_id": "lock.front"}]}, LIGHT]),
    "message_past_entities": (True, [{"action": "mqtt.publish", "data": {"topic": "lock", "payload": "open"}}]),
    "event": (False, [{"event": "something"}]),
}


async def test_what_scripts_and_scenes_lead_to(hass: HomeAssistant) -> None:
    """They are read, in every branch; what cannot be read counts."""
    hall = ar.async_get(hass).async_create("Hall")
    entry = er.async_get(hass).async_get_or_create("lock", "test", "front", suggested_object_id="front")
    er.async_get(hass).async_update_entity(entry.entity_id, area_id=hall.id)
    scenes = [
        {"name": "Evening", "entities": {"light.lamp": "on", "lock.front": "locked"}},
        {"name": "Welcome", "entities": {"light.lamp": "on", "lock.front": "unlocked"}},
    ]
    assert await async_setup_component(hass, "scene", {"scene": scenes})
    scripts = {name: {"sequence": sequence} for name, (_, sequence) in SEQUENCES.items()}
    assert await async_setup_component(hass, "script", {"script": scripts})
    await hass.async_block_till_done()
    told = {name: is_consequential(hass, act(f"script.{name}")) for name in SEQUENCES}
    assert told == {name: asks for name, (asks, _) in SEQUENCES.items()}
    assert is_consequential(hass, act("script.turn_on", "script.unlock"))
    assert not is_consequential(hass, act("scene.turn_on", "scene.evening"))
    assert is_consequential(hass, act("scene.turn_on", "scene.welcome"))


@pytest.mark.parametrize(
    ("step", "asks"),
    [
        ({"service": "lock.unlock", "entity_id": "lock.front"}, True),
        ({"action": "Lock.Unlock", "target": {"entity_id": "lock.front"}}, True),
        ({"action": " lock.unlock ", "target": {"entity_id": "lock.front"}}, True),
        ({"action": "homeassistant.turn_off", "entity_id": "light.lamp, lock.front"}, True),
        ({"action": "homeassistant.turn_off", "target": {"entity_id": ["light.lamp", "LOCK.Front"]}}, True),
        ({"action": "homeassistant.turn_off", "target": {"entity_id": "light.lamp, COVER.Blind"}}, False),
        ({"action": "homeassistant.turn_off", "data_template": {"entity_id": "lock.front"}}, True),
        ({"service": "script.turn_on", "data_template": {"entity_id": "script.nobody_knows"}}, True),
        ({"action": "homeassistant.turn_off", "data_template": "{{ what }}"}, True),
        ({"action": "!secret what"}, True),
        ({"action": "homeassistant.turn_off", "target": {"entity_id": ["light.lamp", "!secret which"]}}, True),
        (
            {"choose": {"conditions": [], "sequence": {"service": "Cover.Open_Cover", "entity_id": "COVER.garage"}}},
            True,
        ),
        ({"service": "cover.set_cover_position", "entity_id": "cover.garage", "data_template": {"position": 0}}, False),
    ],
)
def test_as_it_was_written(hass: HomeAssistant, step: dict[str, Any], asks: bool) -> None:
    """A step says what it does in each way that Home Assistant takes, whether or not it was validated before."""
    assert any(is_consequential(hass, act) for act in acts_of(hass, [step])) is asks


async def test_scene_of_an_integration(hass: HomeAssistant) -> None:
    """It can move what its integration brought: lamps of a bridge, or also a lock."""

    registry = er.async_get(hass)
    for name, domains, asks in (("bridge", ["light"], False), ("hub", ["light", "lock"], True)):
        entry = MockConfigEntry(domain=name)
        entry.add_to_hass(hass)
        for domain in (*domains, "scene"):
            registry.async_get_or_create(domain, name, domain, suggested_object_id=name, config_entry=entry)
        hass.states.async_set(f"scene.{name}", "unknown")
        assert is_consequential(hass, act("scene.turn_on", f"scene.{name}")) is asks


@pytest.mark.parametrize(("member", "asks"), [("cover.garage", True), ("cover.blind", False)])
async def test_device_action_on_a_group(hass: HomeAssistant, member: str, asks: bool) -> None:
    """It moves the members, whatever the group calls itself."""
    assert await async_setup_component(hass, "cover", {})
    entry = MockConfigEntry(domain="hub")
    entry.add_to_hass(hass)
    device = dr.async_get(hass).async_get_or_create(config_entry_id=entry.entry_id, identifiers={("hub", "1")})
    covers = er.async_get(hass).async_get_or_create(
        "cover", "hub", "all", suggested_object_id="all", device_id=device.id, supported_features=1
    )
    hass.states.async_set(covers.entity_id, "closed", {"entity_id": [member], "supported_features": 1})
    step = {"device_id": device.id, "domain": "cover", "type": "open", "entity_id": covers.id}
    assert await async_setup_component(hass, "script", {"script": {"device": {"sequence": [step]}}})
    await hass.async_block_till_done()
    assert hass.states.is_state("script.device", "off")
    assert is_consequential(hass, act("script.device")) is asks


@pytest.mark.parametrize(
    ("entity_id", "device_class", "kind", "asks"),
    [
        *(
            ("cover.door", kind, one, True)
            for kind in ("door", "garage", "gate")
            for one in ("open_tilt", "set_tilt_position")
        ),
        *(("cover.door", "garage", one, True) for one in ("open", "set_position")),
        *(("cover.door", "garage", one, False) for one in ("close", "close_tilt", "stop")),
        *(("cover.door", "blind", one, False) for one in ("open", "open_tilt", "set_position", "set_tilt_position")),
        *(("valve.gas", "gas", one, True) for one in ("open", "set_position")),
        *(("alarm_control_panel.home", None, one, True) for one in ("disarm", "trigger")),
        *(("alarm_control_panel.home", None, one, False) for one in ("arm_away", "arm_home", "arm_night")),
        *(("lock.front", None, one, True) for one in ("open", "unlock")),
        ("lock.front", None, "lock", False),
        ("siren.roof", None, "turn_off", True),
    ],
)
def test_device_actions(hass: HomeAssistant, entity_id: str, device_class: str | None, kind: str, asks: bool) -> None:
    """A device action in a script counts as the action that it stands for."""
    hass.states.async_set(entity_id, "closed", {"device_class": device_class, "current_position": 0})
    step = {
        "device_id": "x",
        "domain": entity_id.partition(".")[0],
        "type": kind,
        "entity_id": entity_id,
        "position": 100,
    }
    assert any(is_consequential(hass, one) for one in acts_of(hass, [step])) is asks


@pytest.mark.parametrize(
    ("entity_id", "members", "action", "asks"),
    [
        ("cover.garage", ["switch.relay"], "homeassistant.turn_on", True),
        ("cover.garage", ["switch.relay"], "cover.open_cover", True),
        ("cover.garage", ["switch.relay"], "cover.close_cover", False),
        ("lock.all", ["lock.gone"], "lock.unlock", True),
        ("lock.all", ["lock.gone"], "lock.lock", False),
        ("cover.all", ["cover.blind"], "cover.open_cover", False),
    ],
)
def test_entities_that_list_others(
    hass: HomeAssistant, entity_id: str, members: list[str], action: str, asks: bool
) -> None:
    """An entity that lists only others of another domain, or only missing ones, counts itself."""
    hass.states.async_set("switch.relay", "off")
    hass.states.async_set("cover.blind", "closed", {"device_class": "blind"})
    hass.states.async_set(entity_id, "closed", {"entity_id": members})
    assert is_consequential(hass, Step(action, (entity_id,), {})) is asks


@pytest.mark.parametrize(
    ("steps", "asks"),
    [
        ([{"action": "cover.toggle", "entity_id": "cover.garage"}], True),
        ([{"delay": 60}, {"action": "cover.toggle", "entity_id": "cover.garage"}], True),
        ([{"action": "cover.close_cover", "entity_id": "cover.garage"}, {"delay": 60}], False),
        (
            [
                {"action": "cover.close_cover", "entity_id": "cover.garage"},
                {"action": "cover.set_cover_position", "entity_id": "cover.garage", "data": {"position": 50}},
            ],
            True,
        ),
        ([{"action": "cover.set_cover_position", "entity_id": "cover.garage", "data": {"position": 0}}], False),
        ([{"wait_template": "{{ true }}"}, {"action": "siren.toggle", "entity_id": "siren.roof"}], True),
    ],
)
@pytest.mark.parametrize("kind", ["script", "automation"])
async def test_steps_that_come_after_others(
    hass: HomeAssistant, steps: list[dict[str, Any]], asks: bool, kind: str
) -> None:
    """Within a script or automation, a toggle counts wherever it leads: the steps before it may change the state."""
    hass.states.async_set("cover.garage", "open", {"device_class": "garage", "current_position": 100})
    hass.states.async_set("siren.roof", "off")
    config: dict[str, Any] = {"script": {"script": {"come": {"sequence": steps}}}}
    config["automation"] = {"automation": {"alias": "come", "triggers": [], "actions": steps}}
    assert await async_setup_component(hass, kind, config[kind])
    await hass.async_block_till_done()
    action = {"script": "script.turn_on", "automation": "automation.trigger"}[kind]
    step = Step(action, (f"{kind}.come",))
    assert (
        any(counts(hass, leaf, is_later=later) for leaf, later in judged_leaves(hass, step) if leaf[0] != TRIGGER)
        is asks
    )
