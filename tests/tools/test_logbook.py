"""Tests of what happened and why, with real automations and scripts."""

import asyncio
import csv
from datetime import timedelta
import io
from typing import Any

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry
from pytest_homeassistant_custom_component.components.recorder.common import async_wait_recording_done

from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.tools.logbook import GetLogbookTool
from homeassistant.components.recorder import Recorder
from homeassistant.components.trace.const import DATA_TRACE
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import area_registry as ar, device_registry as dr, entity_registry as er
from homeassistant.helpers.json import json_dumps
from homeassistant.helpers.recorder import DATA_INSTANCE
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
from tests.conftest import CallTool, expose
from tests.helpers.databases import EVERY_ENGINE
from tests.helpers.one_home import in_one_home

LIGHT = "input_boolean.hall_light"
MOTION = "binary_sensor.motion"


def table(text: str) -> list[dict[str, str]]:
    """Return CSV as one dictionary per row."""
    return list(csv.DictReader(io.StringIO(text)))


def turn_on(entity_id: str) -> dict[str, Any]:
    return {"action": "input_boolean.turn_on", "target": {"entity_id": entity_id}}


@pytest.fixture
async def home(recorder_mock: Recorder, hass: HomeAssistant, assist: None) -> None:
    """A light that an automation turns on when something moves, directly or through a script."""
    hass.states.async_set(MOTION, "off", {"friendly_name": "Motion"})
    for domain, config in (
        ("input_boolean", {"hall_light": {"name": "Hall light"}, "porch": {"name": "Porch"}}),
        ("script", {"welcome": {"alias": "Welcome", "sequence": [turn_on("input_boolean.porch")]}}),
        (
            "automation",
            [
                {
                    "id": "night",
                    "alias": "Night light",
                    "triggers": [{"trigger": "state", "entity_id": MOTION, "to": "on"}],
                    "actions": [turn_on(LIGHT), {"action": "script.welcome"}],
                }
            ],
        ),
    ):
        assert await async_setup_component(hass, domain, {domain: config})
    await hass.async_block_till_done()
    expose(hass, LIGHT, MOTION, "input_boolean.porch", "automation.night_light", "script.welcome")
    await async_wait_recording_done(hass)


async def move(hass: HomeAssistant) -> None:
    """Let something move, and the recorder write what came of it."""
    hass.states.async_set(MOTION, "on", {"friendly_name": "Motion"})
    await hass.async_block_till_done()
    await async_wait_recording_done(hass)


async def entries(call_tool: CallTool, **arguments: Any) -> dict[str, tuple[str, str]]:
    """Return what happened to each name, and why."""
    data = await call_tool(GetLogbookTool(), **arguments)
    return {row["name"]: (row["what"], row["why"]) for row in table(data["entries"])}


@EVERY_ENGINE
async def test_chain_of_causes(hass: HomeAssistant, home: None, call_tool: CallTool) -> None:
    """The automation, the script and what set them off are named, the nearest first."""
    await move(hass)
    found = await entries(call_tool)
    why = "automation 'Night light' (Motion went from off to on), after Motion became on"
    assert found["Hall light"] == ("on", why)
    assert found["Porch"] == ("on", f"script 'Welcome', {why}")
    assert found["Night light"][0] == "triggered"
    assert found["Night light"][1].startswith("triggered by Motion went from off to on")
    assert found["Motion"] == ("on", "")
    assert set(await entries(call_tool, entities="hall light")) == {"Hall light"}


@EVERY_ENGINE
async def test_without_trace(hass: HomeAssistant, home: None, call_tool: CallTool) -> None:
    """When the trace is gone, the trigger is as the recorder has it."""
    await move(hass)
    hass.data[DATA_TRACE].clear()
    assert "automation 'Night light' (state of Motion)" in (await entries(call_tool))["Hall light"][1]


async def test_causes_that_are_not_exposed(hass: HomeAssistant, home: None, call_tool: CallTool) -> None:
    """Hidden automations, scripts and triggers have no names."""
    await move(hass)
    from homeassistant.components.homeassistant.exposed_entities import async_expose_entity  # noqa: PLC0415

    async_expose_entity(hass, "conversation", MOTION, False)
    found = await entries(call_tool)
    assert found["Hall light"][1] == "automation 'Night light', after another entity changed"
    assert found["Porch"][1] == "script 'Welcome', automation 'Night light', after another entity changed"
    assert found["Night light"] == ("triggered", "after another entity changed")
    for entity_id in ("automation.night_light", "script.welcome"):
        async_expose_entity(hass, "conversation", entity_id, False)
    hass.data[DATA_TRACE].clear()
    data = await call_tool(GetLogbookTool())
    assert "another script, another automation, after another entity changed" in data["entries"]
    for name in ("night", "welcome", "motion"):
        assert name not in json_dumps(data).lower()


@EVERY_ENGINE
async def test_user_and_device(hass: HomeAssistant, home: None, call_tool: CallTool) -> None:
    """A user is named, and a device that changed by itself."""
    await hass.auth.async_create_user("Owner")
    user = await hass.auth.async_create_user("Anna", group_ids=["system-admin"])
    await hass.services.async_call(
        "input_boolean", "turn_on", {"entity_id": LIGHT}, blocking=True, context=Context(user_id=user.id)
    )
    config_entry = MockConfigEntry(domain="test")
    config_entry.add_to_hass(hass)
    device = dr.async_get(hass).async_get_or_create(
        config_entry_id=config_entry.entry_id, identifiers={("test", "1")}, name="Door sensor"
    )
    door = er.async_get(hass).async_get_or_create(
        "binary_sensor", "test", "d", suggested_object_id="door", device_id=device.id
    )
    expose(hass, door.entity_id)
    for state in ("off", "on"):
        hass.states.async_set(door.entity_id, state, {"friendly_name": "Door"})
    await async_wait_recording_done(hass)
    found = await entries(call_tool)
    assert found["Hall light"] == ("on", "user Anna")
    assert found["Door"] == ("on", "the device itself")
    await hass.auth.async_remove_user(user)
    assert (await entries(call_tool))["Hall light"] == ("on", "a user")


@EVERY_ENGINE
async def test_only_changes(hass: HomeAssistant, home: None, call_tool: CallTool) -> None:
    """Attributes, restarts and repeated states are no entries; measurements are only where they are named."""
    for state, level in (("off", 1), ("off", 2), ("unavailable", 2), ("off", 3), ("unknown", 3), ("on", 4)):
        hass.states.async_set(MOTION, state, {"friendly_name": "Motion", "level": level})
    hass.states.async_remove(MOTION)
    hass.states.async_set(MOTION, "on", {"friendly_name": "Motion"})
    for value in ("20", "21.123456789"):
        hass.states.async_set("sensor.room", value, {"friendly_name": "Room", "unit_of_measurement": "°C"})
    expose(hass, "sensor.room")
    await async_wait_recording_done(hass)
    data = await call_tool(GetLogbookTool())
    assert [row["what"] for row in table(data["entries"]) if row["name"] == "Motion"] == ["on"]
    assert not [row for row in table(data["entries"]) if row["name"] == "Room"]
    assert (await entries(call_tool, entities=["sensor.room"]))["Room"][0] == "21.1"


@pytest.mark.parametrize("recorder_db_url", ["sqlite"], indirect=True)
async def test_not_yet_written(hass: HomeAssistant, home: None, call_tool: CallTool) -> None:
    """A change that the recorder has not written yet is in the answer, once."""
    hass.data[DATA_INSTANCE].commit_interval = 3600
    user = await hass.auth.async_create_user("Anna", group_ids=["system-admin"])
    await hass.services.async_call(
        "input_boolean", "turn_on", {"entity_id": LIGHT}, blocking=True, context=Context(user_id=user.id)
    )
    assert await entries(call_tool, entities=[LIGHT]) == {"Hall light": ("on", "user Anna")}


async def test_area_and_limits(hass: HomeAssistant, home: None, call_tool: CallTool) -> None:
    """By area, newest first, with the way to the earlier ones."""
    hall = ar.async_get(hass).async_create("Hall")
    lock = er.async_get(hass).async_get_or_create("lock", "test", "l", suggested_object_id="front")
    er.async_get(hass).async_update_entity(lock.entity_id, area_id=hall.id)
    expose(hass, lock.entity_id)
    for index in range(60):
        hass.states.async_set(lock.entity_id, "locked" if index % 2 else "unlocked", {"friendly_name": "Front"})
    await async_wait_recording_done(hass)
    data = await call_tool(GetLogbookTool(), area="hall")
    assert [row["what"] for row in table(data["entries"])] == ["locked", "unlocked"] * 12 + ["locked"]
    assert data["note"].startswith("Earlier entries are left out; call again with end '")
    data = await call_tool(GetLogbookTool(ToolboxOptions(budget=1000)), area="hall", rows=100)
    assert 5 < len(table(data["entries"])) < 60
    assert len(json_dumps(data)) <= 1000


async def test_only_numbers(hass: HomeAssistant, home: None, call_tool: CallTool) -> None:
    """Where there is nothing but numbers, the logbook says which tool tells of them."""
    attic = ar.async_get(hass).async_create("Attic")
    sensor = er.async_get(hass).async_get_or_create("sensor", "test", "t", suggested_object_id="attic")
    er.async_get(hass).async_update_entity(sensor.entity_id, area_id=attic.id)
    hass.states.async_set(sensor.entity_id, "21", {"unit_of_measurement": "°C"})
    expose(hass, sensor.entity_id)
    error = (await call_tool(GetLogbookTool(), error=True, area="attic"))["error"]
    assert error == "No exposed entity there has anything but numbers; ask get_history about those."


async def test_long_chain(hass: HomeAssistant, home: None, call_tool: CallTool) -> None:
    """Of a long chain of causes, the nearest are told."""
    context = Context()
    names = [f"input_boolean.link_{number}" for number in range(12)]
    for name in names:
        hass.states.async_set(name, "off")
    for number, name in enumerate(names):
        hass.states.async_set(name, "on", {"friendly_name": f"Link {number}"}, context=context)
        context = Context(parent_id=context.id)
    expose(hass, *names)
    await async_wait_recording_done(hass)
    ((_, why),) = (await entries(call_tool, entities=[names[-1]])).values()
    causes = why.split(", ")
    assert causes == [f"after Link {number} became on" for number in range(10, 10 - len(causes), -1)]
    assert 2 <= len(causes) < 11


@in_one_home(
    ("arguments", "sentence"),
    [
        ({"entities": ["hal lite"]}, "'hal lite' was not found or is not exposed."),
        ({"area": "attic"}, "No area named 'attic' has exposed entities."),
        ({"start": "2099-01-01", "end": "2099-01-02"}, "The span lies in the future"),
        ({"start": "2026-01-02", "end": "2026-01-01"}, "The span is backwards"),
    ],
)
async def test_bad_input(
    hass: HomeAssistant, home: None, call_tool: CallTool, arguments: dict[str, Any], sentence: str
) -> None:
    """Each mistake has its own sentence."""
    assert (await call_tool(GetLogbookTool(), error=True, **arguments))["error"].startswith(sentence)
    data = await call_tool(GetLogbookTool(), start="2020-01-01", end="2020-01-02")
    assert data["note"] == "Nothing is recorded of these entities in that span."


@EVERY_ENGINE
async def test_before_the_span(
    hass: HomeAssistant, home: None, call_tool: CallTool, freezer: FrozenDateTimeFactory
) -> None:
    """What did nothing in the span is told with its last change or run before, and why; what is only known, as that."""
    await hass.config.async_set_time_zone("Europe/Berlin")
    freezer.move_to("2027-03-10 12:00:00+00:00")
    await move(hass)
    freezer.move_to("2027-03-10 12:10:00+00:00")
    # A restart and attributes are no change, and keep none from being found.
    for state, level in (("unavailable", 1), ("on", 1), ("on", 2)):
        hass.states.async_set(MOTION, state, {"friendly_name": "Motion", "level": level})
    hass.states.async_set("sensor.room", "21.123", {"friendly_name": "Room", "unit_of_measurement": "°C"})
    expose(hass, "sensor.room")
    await async_wait_recording_done(hass)
    freezer.move_to("2027-03-10 14:59:00+00:00")
    hass.states.async_set("input_boolean.porch", "off", {"friendly_name": "Porch"})
    hass.states.async_set(MOTION, "on", {"friendly_name": "Motion", "level": 3})
    await async_wait_recording_done(hass)
    freezer.move_to("2027-03-10 15:00:00+00:00")

    data = await call_tool(GetLogbookTool(), hours=1)
    assert [row["name"] for row in table(data["entries"])] == ["Porch"]
    before = {row["name"]: row for row in table(data["last_before"])}
    assert (before["Hall light"]["time"], before["Hall light"]["what"]) == ("2027-03-10 13:00:00", "on")
    assert before["Hall light"]["why"].startswith("automation 'Night light' (Motion went from off to on)")
    assert before["Motion"] == {"time": "2027-03-10 13:00:00", "name": "Motion", "what": "on", "why": ""}
    # To the automation, coming back is something that turned on.
    assert (before["Night light"]["time"], before["Night light"]["what"]) == ("2027-03-10 13:10:00", "triggered")
    assert (before["Welcome"]["time"], before["Welcome"]["what"]) == ("2027-03-10 13:10:00", "started")
    assert before.keys() == {"Hall light", "Motion", "Night light", "Welcome"}

    data = await call_tool(GetLogbookTool(), hours=1, entities=["room"])
    assert data["note"] == "Nothing is recorded of these entities in that span."
    assert table(data["last_before"])[0]["what"] == "21.1, at least since then"
    assert "recorded_since" in data

    # Of a span in the past, what changed after it does not count.
    data = await call_tool(GetLogbookTool(), start="2027-03-10 13:20", end="2027-03-10 14:00", entities=["porch"])
    assert [row["what"] for row in table(data["last_before"])] == ["on"]

    # Before anything was recorded, there is nothing to be told.
    data = await call_tool(GetLogbookTool(), start="2020-01-01", end="2020-01-02")
    assert "last_before" not in data


@EVERY_ENGINE
@pytest.mark.parametrize("recorder_config", [{"exclude": {"entities": ["lock.new", "lock.gone"]}}])
async def test_before_the_span_without_rows(
    hass: HomeAssistant, home: None, call_tool: CallTool, freezer: FrozenDateTimeFactory
) -> None:
    """Of what is not recorded, that is said, and the state machine's word counts; a state that says nothing is none."""
    freezer.move_to("2027-03-10 12:00:00+00:00")
    hass.states.async_set("lock.new", "locked", {"friendly_name": "New"})
    hass.states.async_set("lock.gone", "unavailable", {"friendly_name": "Gone"})
    hass.states.async_set(LIGHT, "unavailable", {"friendly_name": "Hall light"})
    expose(hass, "lock.new", "lock.gone")
    await async_wait_recording_done(hass)
    freezer.move_to("2027-03-10 15:00:00+00:00")
    data = await call_tool(GetLogbookTool(), hours=1, entities=["new", "gone", "hall light"])
    assert {row["name"]: row["what"] for row in table(data["last_before"])} == {
        "New": "locked, at least since then",
        "Hall light": "off, at least since then",
    }
    assert data["note"] == "Excluded from the recorder, so that their past is not kept: New, Gone."


async def test_before_the_span_of_many(hass: HomeAssistant, home: None, call_tool: CallTool) -> None:
    """Of more entities than anybody asks about one by one, and where there is no room, it is not told."""
    names = [f"lock.number_{number}" for number in range(30)]
    for name in names:
        hass.states.async_set(name, "locked", {"friendly_name": f"{name} with a name that is rather long, {'x' * 60}"})
    expose(hass, *names)
    await async_wait_recording_done(hass)
    start = dt_util.as_local(dt_util.utcnow() + timedelta(seconds=0.01))
    await asyncio.sleep(0.05)
    span = {"start": start.isoformat()}
    assert "last_before" not in await call_tool(GetLogbookTool(), **span)
    data = await call_tool(GetLogbookTool(ToolboxOptions(budget=1000)), entities=names[:20], **span)
    assert 1 < len(table(data["last_before"])) < 20
    assert len(json_dumps(data)) <= 1000
