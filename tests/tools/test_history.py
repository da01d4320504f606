"""Tests of reading the past of entities."""

import csv
from datetime import timedelta
import io
from typing import Any
from unittest.mock import patch

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.components.recorder.common import (
    async_wait_recording_done,
    do_adhoc_statistics,
)
from sqlalchemy import delete, update

from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.recorder import hourly_numbers
from custom_components.extended_assist.tools.history import GetHistoryTool
from homeassistant.components.recorder import Recorder
from homeassistant.components.recorder.db_schema import States, StatesMeta
from homeassistant.components.recorder.models import StatisticMeanType
from homeassistant.components.recorder.statistics import async_import_statistics
from homeassistant.core import HomeAssistant
from homeassistant.helpers import area_registry as ar, entity_registry as er
from homeassistant.helpers.json import json_dumps
from homeassistant.helpers.recorder import DATA_INSTANCE, session_scope
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
from tests.conftest import CallTool, expose
from tests.helpers.databases import EVERY_ENGINE
from tests.helpers.one_home import in_one_home
from tests.helpers.recorded import local

DOOR = "binary_sensor.front_door"
ROOM = "sensor.room"
CHATTY = "sensor.chatty"


def table(text: str) -> list[dict[str, str]]:
    """Return CSV as one dictionary per row."""
    return list(csv.DictReader(io.StringIO(text)))


class House:
    """Sets states at local times, as if time had passed."""

    def __init__(self, hass: HomeAssistant, freezer: FrozenDateTimeFactory) -> None:
        self._hass = hass
        self._freezer = freezer

    def at(self, local: str) -> None:
        """Move to a local time."""
        moment = dt_util.parse_datetime(local)
        assert moment
        self._freezer.move_to(dt_util.as_utc(moment))

    def set(self, local: str, entity_id: str, state: str, **attributes: Any) -> None:
        """Set a state at a local time."""
        self.at(local)
        self._hass.states.async_set(entity_id, state, attributes)


@pytest.fixture
async def house(recorder_mock: Recorder, hass: HomeAssistant, assist: None, freezer: FrozenDateTimeFactory) -> House:
    """A front door and a room's thermometer; the clock is at 2026-03-10 in Berlin."""
    await hass.config.async_set_time_zone("Europe/Berlin")
    house = House(hass, freezer)
    door, room = {"friendly_name": "Front door"}, {"friendly_name": "Room", "unit_of_measurement": "°C"}
    house.set("2026-03-10 06:00:00", DOOR, "off", **door)
    for time, state in (("08:00:00", "on"), ("08:00:40", "off"), ("12:30:00", "on"), ("12:45:00", "off")):
        house.set(f"2026-03-10 {time}", DOOR, state, **door)
    house.set("2026-03-10 13:00:00", DOOR, "unavailable", **door)
    house.set("2026-03-10 13:10:00", DOOR, "off", **door)
    house.set("2026-03-10 13:20:00", DOOR, "off", battery=80, **door)
    for time, state in (("06:00:00", "18"), ("08:00:00", "21.5"), ("10:00:00", "unknown"), ("11:00:00", "20")):
        house.set(f"2026-03-10 {time}", ROOM, state, **room)
    expose(hass, DOOR, ROOM)
    await async_wait_recording_done(hass)
    house.at("2026-03-10 14:00:00")
    return house


async def test_directions(house: House, hass: HomeAssistant, call_tool: CallTool) -> None:
    """Directions have no mean that says anything: that of north-west and north-east would be south."""
    wind = {"friendly_name": "Wind", "unit_of_measurement": "°", "state_class": "measurement_angle"}
    for time, state in (("09:00:00", "315"), ("10:00:00", "45"), ("11:00:00", "90")):
        house.set(f"2026-03-10 {time}", "sensor.wind", state, **wind)
    expose(hass, "sensor.wind")
    await async_wait_recording_done(hass)
    house.at("2026-03-10 14:00:00")
    account = (await call_tool(GetHistoryTool(), entities=["Wind"]))["entities"]["sensor.wind"]
    assert account["first"]["value"] == 315
    assert account["last"] == 90
    assert "mean" not in account


@EVERY_ENGINE
async def test_changed_unit(house: House, hass: HomeAssistant, call_tool: CallTool) -> None:
    """Numbers from before the unit was changed are not told as if they were in the one that holds."""
    attributes = {"friendly_name": "Room", "unit_of_measurement": "°F"}
    house.set("2026-03-10 14:00:00", ROOM, "68", **attributes)
    await async_wait_recording_done(hass)
    house.at("2026-03-10 15:00:00")
    account = (await call_tool(GetHistoryTool(), entities=["Room"], hours=5))["entities"][ROOM]
    assert account["mixed_units"] == "In °C at the start, so the numbers of this span are of both units."
    account = (await call_tool(GetHistoryTool(), entities=["Room"], hours=0.5))["entities"][ROOM]
    assert "mixed_units" not in account


@EVERY_ENGINE
async def test_long_span(house: House, hass: HomeAssistant, call_tool: CallTool) -> None:
    """Hours that Home Assistant has compiled say what their rows say, and those that say something else do not serve."""
    await async_setup_component(hass, "sensor", {})
    chatty = {"friendly_name": "Chatty", "unit_of_measurement": "W", "state_class": "measurement"}
    begin = local("2026-03-11 00:00:05")
    for index in range(6 * 120):
        state = "unavailable" if index in (250, 333) else str(index * 37 % 101 / 10)
        house.set(
            f"{dt_util.as_local(begin + timedelta(seconds=30 * index)):%Y-%m-%d %H:%M:%S}", CHATTY, state, **chatty
        )
    expose(hass, CHATTY)
    await async_wait_recording_done(hass)
    for part in range(6 * 12):
        do_adhoc_statistics(hass, start=local("2026-03-11") + timedelta(minutes=5 * part))
    await async_wait_recording_done(hass)
    house.at("2026-03-11 07:10:00")
    question = {"entities": [CHATTY], "start": "2026-03-10 23:00:00", "rows": 3}
    served: list[int] = []
    complete_hours = hourly_numbers._complete_hours

    def watched(*arguments: Any) -> Any:
        served.append(len(found := complete_hours(*arguments)))
        return found

    with patch.object(hourly_numbers, "_complete_hours", watched):
        answer = await call_tool(GetHistoryTool(), **question)
    assert served[0] == 3  # The first begins with the first row, and two were interrupted.
    with patch.object(hourly_numbers, "_DENSE", 1_000):
        assert answer == await call_tool(GetHistoryTool(), **question)
    account = answer["entities"][CHATTY]
    assert account["unknown_or_unavailable"] == "0:01:00"
    assert account["max"] == {"value": 10, "time": "2026-03-11 00:15:05"}


async def test_too_many(house: House, hass: HomeAssistant, call_tool: CallTool) -> None:
    """So many entities that nothing could be said of each are refused."""
    for number in range(60):
        hass.states.async_set(f"light.lamp_{number}", "on", {"friendly_name": f"Lamp {number}"})
        expose(hass, f"light.lamp_{number}")
    data = await call_tool(GetHistoryTool(), error=True, entities=["lamp"])
    assert data["error"].startswith("That means 60 entities; name at most ")


@EVERY_ENGINE
async def test_states(house: House, call_tool: CallTool) -> None:
    """Changes, time per state, longest stretch, first and last change; a restart is no change."""
    data = await call_tool(GetHistoryTool(), entities="front door", start="2026-03-10 07:00:00")
    assert (data["start"], data["end"]) == ("2026-03-10 07:00:00", "2026-03-10 14:00:00")
    door = data["entities"][DOOR]
    assert (door["name"], door["now"], door["changes"]) == ("Front door", "off", 4)
    assert door["first_change"] == {"time": "2026-03-10 08:00:00", "state": "on"}
    assert door["last_change"] == {"time": "2026-03-10 12:45:00", "state": "off"}
    assert table(door["per_state"]) == [
        {
            "state": "off",
            "time": "6:34:20",
            "percent": "93.9",
            "times_begun": "2",
            "longest": "4:29:20",
            "longest_from": "2026-03-10 08:00",
            "last_begun": "2026-03-10 12:45:00",
        },
        {
            "state": "on",
            "time": "0:15:40",
            "percent": "3.7",
            "times_begun": "2",
            "longest": "0:15:00",
            "longest_from": "2026-03-10 12:30",
            "last_begun": "2026-03-10 12:30:00",
        },
        {
            "state": "unknown or unavailable",
            "time": "0:10:00",
            "percent": "2.4",
            "times_begun": "0",
            "longest": "0:10:00",
            "longest_from": "2026-03-10 13:00",
            "last_begun": "",
        },
    ]
    assert [(row["time"][11:], row["state"]) for row in table(door["newest_changes"])] == [
        ("13:10:00", "off"),
        ("13:00:00", "unavailable"),
        ("12:45:00", "off"),
        ("12:30:00", "on"),
        ("08:00:40", "off"),
        ("08:00:00", "on"),
        ("07:00:00", "off"),
    ]


@EVERY_ENGINE
async def test_one_state(house: House, call_tool: CallTool) -> None:
    """Only the stretches in one state, exact to the second, and only those that last."""
    data = await call_tool(GetHistoryTool(), entities=[DOOR], start="2026-03-10", state="on")
    door = data["entities"][DOOR]
    assert door["condition"] == "state on"
    assert (door["stretches"], door["times_begun"], door["time"]) == (2, 2, "0:15:40")
    assert door["longest"] == "0:15:00 from 2026-03-10 12:30"
    assert door["recorded_from"] == "2026-03-10 06:00:00"
    assert table(door["newest_stretches"]) == [
        {"start": "2026-03-10 12:30:00", "end": "2026-03-10 12:45:00", "duration": "0:15:00"},
        {"start": "2026-03-10 08:00:00", "end": "2026-03-10 08:00:40", "duration": "0:00:40"},
    ]
    data = await call_tool(GetHistoryTool(), entities=[DOOR], start="2026-03-10", state="on", min_seconds=60)
    assert data["entities"][DOOR]["stretches"] == 1
    data = await call_tool(GetHistoryTool(), entities=[DOOR], start="2026-03-10", state="open")
    assert data["entities"][DOOR]["stretches"] == 0
    assert data["entities"][DOOR]["states_that_occurred"] == ["off", "on"]


@EVERY_ENGINE
async def test_numbers(house: House, call_tool: CallTool) -> None:
    """Extremes with their times and the mean weighted by time; the value at the start counts, unknown does not."""
    data = await call_tool(GetHistoryTool(), entities=[ROOM], start="2026-03-10 07:00:00")
    room = data["entities"][ROOM]
    assert room["unit"] == "°C"
    assert room["min"] == {"value": 18, "time": "2026-03-10 07:00:00"}
    assert room["max"] == {"value": 21.5, "time": "2026-03-10 08:00:00"}
    assert room["mean"] == round((18 + 2 * 21.5 + 3 * 20) / 6, 1)
    assert (room["first"], room["last"]) == ({"value": 18, "time": "2026-03-10 06:00:00"}, 20)
    assert room["unknown_or_unavailable"] == "1:00:00"
    assert [row["state"] for row in table(room["newest_changes"])] == ["20", "unknown", "21.5", "18"]


@EVERY_ENGINE
async def test_threshold(house: House, call_tool: CallTool) -> None:
    """Stretches in which a number was beyond a limit."""
    data = await call_tool(GetHistoryTool(), entities=[ROOM], start="2026-03-10 07:00:00", above=19)
    room = data["entities"][ROOM]
    assert (room["condition"], room["stretches"], room["time"]) == ("above 19", 2, "5:00:00")
    assert room["unknown_or_unavailable"] == "1:00:00"
    assert table(room["newest_stretches"]) == [
        {"start": "2026-03-10 11:00:00", "end": "still", "duration": "3:00:00"},
        {"start": "2026-03-10 08:00:00", "end": "2026-03-10 10:00:00", "duration": "2:00:00"},
    ]
    data = await call_tool(GetHistoryTool(), entities=[ROOM], start="2026-03-10 07:00:00", above=19, below=21)
    assert data["entities"][ROOM]["time"] == "3:00:00"


@EVERY_ENGINE
async def test_attribute(house: House, hass: HomeAssistant, call_tool: CallTool) -> None:
    """An attribute is read like a state: numbers with a mean, texts with turns, nothing hidden in either."""
    heater = "climate.heater"
    for time, current, action in (("14:10", 19, "idle"), ("14:20", 19.5, "heating"), ("14:50", 21, "idle")):
        house.set(f"2026-03-10 {time}:00", heater, "heat", current_temperature=current, hvac_action=action)
    expose(hass, heater)
    await async_wait_recording_done(hass)
    house.at("2026-03-10 15:10:00")
    asked = {"entities": [heater], "start": "2026-03-10 14:10:00"}
    data = (await call_tool(GetHistoryTool(), attribute="current_temperature", **asked))["entities"][heater]
    assert data["max"] == {"value": 21, "time": "2026-03-10 14:50:00"}
    assert data["mean"] == round((19 + 3 * 19.5 + 2 * 21) / 6, 2)
    data = (await call_tool(GetHistoryTool(), attribute="hvac_action", **asked))["entities"][heater]
    assert [(row["state"], row["time"]) for row in table(data["per_state"])] == [
        ("idle", "0:30:00"),
        ("heating", "0:30:00"),
    ]
    data = (await call_tool(GetHistoryTool(), attribute="hvac_action", state="heating", **asked))["entities"][heater]
    assert (data["condition"], data["time"]) == ("state heating", "0:30:00")
    data = await call_tool(GetHistoryTool(), error=True, attribute="speed", **asked)
    assert data["error"] == "heater has no attribute 'speed'. It has: current_temperature, hvac_action."


async def test_attribute_without_hidden_names(house: House, hass: HomeAssistant, call_tool: CallTool) -> None:
    """What an attribute named in the past is shown only as far as it is exposed today."""
    hass.states.async_set("light.secret", "on")
    for time, source in (("14:10", "light.secret"), ("14:20", "tuner"), ("14:30", "light.secret")):
        house.set(f"2026-03-10 {time}:00", ROOM, "20", source=source, members=[source, "tuner"])
    house.set("2026-03-10 14:40:00", ROOM, "20", source="tuner", members=[])
    await async_wait_recording_done(hass)
    house.at("2026-03-10 15:00:00")
    for attribute in ("source", "members"):
        data = await call_tool(GetHistoryTool(), entities=[ROOM], attribute=attribute, rows=20)
        assert "tuner" in json_dumps(data)
        assert "secret" not in json_dumps(data)


@pytest.mark.parametrize("recorder_db_url", ["sqlite"], indirect=True)
async def test_newest_change_is_not_missed(house: House, hass: HomeAssistant, call_tool: CallTool) -> None:
    """A change that the recorder has not written yet is in the answer."""
    hass.data[DATA_INSTANCE].commit_interval = 3600
    house.set("2026-03-10 14:30:00", DOOR, "on", friendly_name="Front door")
    house.at("2026-03-10 14:31:00")
    data = await call_tool(GetHistoryTool(), entities=[DOOR], hours=1)
    assert data["entities"][DOOR]["changes"] == 1
    assert data["entities"][DOOR]["last_change"] == {"time": "2026-03-10 14:30:00", "state": "on"}
    data = await call_tool(GetHistoryTool(), entities=[DOOR], hours=1, state="on")
    assert table(data["entities"][DOOR]["newest_stretches"]) == [
        {"start": "2026-03-10 14:30:00", "end": "still", "duration": "0:01:00"}
    ]


@EVERY_ENGINE
async def test_pages(house: House, hass: HomeAssistant, call_tool: CallTool) -> None:
    """Rows come newest first and can be read on to the oldest, without a gap; the account stays that of the span."""
    begin = dt_util.as_utc(dt_util.parse_datetime("2026-03-10 15:00:00"))
    for index in range(50):
        moment = dt_util.as_local(begin + timedelta(seconds=90 * index)).replace(tzinfo=None)
        house.set(str(moment), DOOR, "on" if index % 2 else "off", friendly_name="Front door")
    await async_wait_recording_done(hass)
    house.at("2026-03-10 17:00:00")
    asked = {"entities": [DOOR], "start": "2026-03-10 14:59:00", "rows": 8}
    for extra, key, expected in (({}, "newest_changes", 50), ({"state": "on"}, "newest_stretches", 25)):
        seen: list[str] = []
        cursor: dict[str, str] = {}
        while True:
            data = await call_tool(GetHistoryTool(ToolboxOptions(budget=2000)), **asked, **extra, **cursor)
            door = data["entities"][DOOR]
            rows = table(door[key])
            seen += [next(iter(row.values())) for row in rows]
            assert door.get("changes", door.get("stretches")) == (49 if not extra else 25)
            if "note" not in door:
                break
            cursor = {"cursor": door["note"].split("'")[1]}
        assert len(seen) == expected
        assert seen == sorted(set(seen), reverse=True)


@EVERY_ENGINE
async def test_curve(house: House, hass: HomeAssistant, call_tool: CallTool) -> None:
    """Many numbers are listed as equal parts with mean, minimum and maximum, beginning at round local times."""
    for minute in range(60):
        house.set(f"2026-03-10 15:{minute:02}:00", ROOM, str(minute), unit_of_measurement="°C")
    await async_wait_recording_done(hass)
    house.at("2026-03-10 16:00:00")
    data = await call_tool(GetHistoryTool(), entities=[ROOM], start="2026-03-10 15:10:00", rows=6)
    assert table(data["entities"][ROOM]["curve"]) == [
        {
            "from": f"2026-03-10 15:{10 * part}",
            "mean": f"{10 * part + 4.5:g}",
            "min": f"{10 * part}",
            "max": f"{10 * part + 9}",
        }
        for part in range(5, 0, -1)
    ]
    assert "curve" not in (await call_tool(GetHistoryTool(), entities=[ROOM], hours=1))["entities"][ROOM]


@EVERY_ENGINE
async def test_before_the_purge(house: House, hass: HomeAssistant, call_tool: CallTool) -> None:
    """What is only in statistics comes from there and is marked."""
    start = dt_util.as_utc(dt_util.parse_datetime("2026-03-08 00:00:00"))
    async_import_statistics(
        hass,
        {
            "statistic_id": ROOM,
            "source": "recorder",
            "name": None,
            "unit_of_measurement": "°C",
            "unit_class": "temperature",
            "has_sum": False,
            "mean_type": StatisticMeanType.ARITHMETIC,
        },
        [{"start": start + timedelta(hours=hour), "mean": 10, "min": 5 + hour, "max": 15 + hour} for hour in range(54)],
    )
    await async_wait_recording_done(hass)
    data = await call_tool(GetHistoryTool(), entities=[ROOM], start="2026-03-08", end="2026-03-10 08:00:00")
    room = data["entities"][ROOM]
    assert room["hourly_averages_before"] == "2026-03-10 06:00:00"
    assert room["min"] == {"value": 5, "time": "2026-03-08 00:00:00"}
    assert room["max"] == {"value": 68, "time": "2026-03-10 05:00:00"}
    assert room["mean"] == round((54 * 10 + 2 * 18) / 56, 1)
    data = await call_tool(GetHistoryTool(), entities=[ROOM], start="2026-03-08", end="2026-03-09")
    assert data["entities"][ROOM]["note"].startswith("All from hourly averages")


async def test_clocks_set_back(house: House, hass: HomeAssistant, call_tool: CallTool) -> None:
    """The night has 25 hours, and a time that occurs twice says which one it is."""
    house.set("2026-10-24 20:00:00", DOOR, "off", friendly_name="Front door")
    house.set("2026-10-25 02:30:00+02:00", DOOR, "on", friendly_name="Front door")
    house.set("2026-10-25 02:30:00+01:00", DOOR, "off", friendly_name="Front door")
    await async_wait_recording_done(hass)
    house.at("2026-10-26 00:00:00")
    data = await call_tool(GetHistoryTool(), entities=[DOOR], start="2026-10-25", end="2026-10-26", state="on")
    door = data["entities"][DOOR]
    assert (door["time"], door["percent"]) == ("1:00:00", 4)
    assert table(door["newest_stretches"]) == [
        {"start": "2026-10-25 02:30:00+02:00", "end": "2026-10-25 02:30:00+01:00", "duration": "1:00:00"}
    ]


async def test_area(house: House, hass: HomeAssistant, call_tool: CallTool) -> None:
    """All exposed entities of an area, or those of one domain."""
    hall = ar.async_get(hass).async_create("Hall")
    for domain in ("lock", "sensor"):
        entry = er.async_get(hass).async_get_or_create(domain, "test", "1", suggested_object_id="hall")
        er.async_get(hass).async_update_entity(entry.entity_id, area_id=hall.id)
        house.set("2026-03-10 13:30:00", entry.entity_id, "locked")
        expose(hass, entry.entity_id)
    house.at("2026-03-10 14:00:00")
    data = await call_tool(GetHistoryTool(), area="hall")
    assert list(data["entities"]) == ["lock.hall", "sensor.hall"]
    data = await call_tool(GetHistoryTool(), area="hall", domain="lock")
    assert list(data["entities"]) == ["lock.hall"]
    data = await call_tool(GetHistoryTool(), error=True, area="hall", domain="light")
    assert data["error"] == "No exposed light is in that area. Leave out the domain to see what is."


@in_one_home(
    ("arguments", "sentence"),
    [
        ({"entities": ["front dor"]}, "'front dor' was not found or is not exposed. Nearest: Front door"),
        ({"entities": [DOOR], "start": "2027-01-01", "end": "2027-02-01"}, "The span lies in the future; it is now"),
        ({"entities": [DOOR], "start": "2026-03-10", "end": "2026-03-09"}, "The span is backwards"),
        ({"entities": [DOOR], "start": "soon"}, "start 'soon' is not a time. Write local time like"),
        ({"entities": [DOOR], "start": "2026-02-30"}, "start '2026-02-30' is not a time."),
        ({"entities": [DOOR], "start": "2026-02-30 10:00"}, "start '2026-02-30 10:00' is not a time."),
        ({"entities": [DOOR], "start": "2026-03-01", "end": "2026-03-02"}, "Nothing of Front door is recorded between"),
        ({"entities": [ROOM], "start": "2026-03-01", "end": "2026-03-02"}, "Nothing of Room is recorded between"),
        ({"entities": [DOOR], "above": 3}, "Front door has no numbers, so above and below do not apply"),
        ({"entities": [DOOR], "state": "on", "above": 3}, "Give either state or above and below"),
        ({"entities": [DOOR], "min_seconds": 3}, "min_seconds is about stretches"),
        ({"entities": [DOOR], "cursor": "abc"}, "'abc' is not a cursor."),
        ({"entities": [ROOM], "above": "nan"}, "above and below must be finite numbers."),
        ({}, "Say which entities are meant, or which area."),
    ],
)
async def test_bad_input(house: House, call_tool: CallTool, arguments: dict[str, Any], sentence: str) -> None:
    """Each mistake has its own sentence, which says what to change."""
    data = await call_tool(GetHistoryTool(), error=True, **arguments)
    assert data["error"].startswith(sentence)


async def test_one_of_two_has_no_data(house: House, hass: HomeAssistant, call_tool: CallTool) -> None:
    """An entity without data does not spoil the answer about another one."""
    house.set("2026-03-10 14:00:00", "light.new", "on", friendly_name="New")
    expose(hass, "light.new")
    data = await call_tool(GetHistoryTool(), entities=[DOOR, "light.new"], end="2026-03-10 13:00:00")
    assert data["entities"][DOOR]["changes"] == 4
    assert data["entities"]["light.new"]["error"].startswith("Nothing of New is recorded between")


@pytest.mark.parametrize("recorder_config", [{"exclude": {"entities": [DOOR]}}])
async def test_excluded_entity(house: House, call_tool: CallTool) -> None:
    """An entity that the recorder leaves out is told apart from one without changes."""
    data = await call_tool(GetHistoryTool(), error=True, entities=[DOOR])
    assert data["error"] == "Front door is excluded from the recorder, so its past is not kept."


async def test_recorder_not_ready(house: House, hass: HomeAssistant, call_tool: CallTool) -> None:
    """A recorder that is missing, starting, migrating, failing or gone is named, at once."""
    instance = hass.data[DATA_INSTANCE]

    async def error() -> str:
        return str((await call_tool(GetHistoryTool(), error=True, entities=[DOOR]))["error"])

    instance.migration_in_progress = True
    assert (await error()).startswith("The recorder is upgrading its database")
    instance.migration_in_progress = False

    ready, instance.async_db_ready = instance.async_db_ready, hass.loop.create_future()
    assert (await error()).startswith("The recorder is still starting")
    instance.async_db_ready = ready

    del hass.data[DATA_INSTANCE]
    assert (await error()).startswith("Home Assistant's recorder is not set up")
    hass.data[DATA_INSTANCE] = instance

    await instance._async_shutdown(None)
    assert (await error()).startswith("The recorder has stopped")


@EVERY_ENGINE
async def test_result_fits(house: House, hass: HomeAssistant, call_tool: CallTool) -> None:
    """However much is asked of however many entities, the result stays within its budget, cut by whole rows."""
    ids = [f"sensor.long_named_number_{index:02}" for index in range(20)]
    for index in range(15):
        for entity_id in ids:
            house.set(f"2026-03-10 15:{index:02}:00", entity_id, f"text {index}", friendly_name=entity_id)
    expose(hass, *ids)
    await async_wait_recording_done(hass)
    house.at("2026-03-10 16:00:00")
    data = await call_tool(GetHistoryTool(ToolboxOptions(budget=4000)), entities=ids[:4], rows=100)
    assert len(json_dumps(data)) <= 4000
    assert all(len(table(said["newest_changes"])) > 1 for said in data["entities"].values())
    assert all("cursor" in said["note"] for said in data["entities"].values())
    seen: list[str] = []
    while len(seen) < len(ids):
        data = await call_tool(GetHistoryTool(ToolboxOptions(budget=4000)), entities=ids[len(seen) :])
        assert len(json_dumps(data)) <= 4000
        seen += data["entities"]
        assert ("note" in data) is (len(seen) < len(ids))
    assert seen == ids


@EVERY_ENGINE
async def test_times_are_rounded(house: House, hass: HomeAssistant, call_tool: CallTool) -> None:
    """A span in hours begins amid a second: whole seconds stay whole, and what came just before one is told as it."""
    for time, state in (("14:10:00", "on"), ("14:30:59.9999996", "off"), ("14:40:00", "on"), ("14:50:59.999", "off")):
        house.set(f"2026-03-10 {time}", DOOR, state, friendly_name="Front door")
    await async_wait_recording_done(hass)
    house.at("2026-03-10 15:00:00.123457")
    door = (await call_tool(GetHistoryTool(), entities=[DOOR], hours=3))["entities"][DOOR]
    assert door["first_change"] == {"time": "2026-03-10 12:30:00", "state": "on"}
    assert [row["time"][11:] for row in table(door["newest_changes"])[:4]] == [
        "14:51:00",
        "14:40:00",
        "14:31:00",
        "14:10:00",
    ]
    (on,) = (row for row in table(door["per_state"]) if row["state"] == "on")
    assert (on["longest_from"], on["last_begun"]) == ("2026-03-10 14:10", "2026-03-10 14:40:00")
    door = (await call_tool(GetHistoryTool(), entities=[DOOR], hours=3, state="on"))["entities"][DOOR]
    assert door["longest"] == "0:21:00 from 2026-03-10 14:10"
    assert [list(row.values()) for row in table(door["newest_stretches"])] == [
        ["2026-03-10 14:40:00", "2026-03-10 14:51:00", "0:11:00"],
        ["2026-03-10 14:10:00", "2026-03-10 14:31:00", "0:21:00"],
        ["2026-03-10 12:30:00", "2026-03-10 12:45:00", "0:15:00"],
    ]


@EVERY_ENGINE
async def test_before_the_span(house: House, hass: HomeAssistant, call_tool: CallTool) -> None:
    """However short the span, the last time is told: of states, conditions, numbers and attributes."""

    async def ask(entity_id: str, **arguments: Any) -> Any:
        data = await call_tool(GetHistoryTool(), entities=[entity_id], **arguments)
        assert data["recorded_since"] == "2026-03-10 06:00:00"
        return data["entities"][entity_id]

    # A restart lies between the last change and the span; the state is in the state machine only.
    door = await ask(DOOR, hours=0.1)
    assert (door["changes"], door["before"]) == (0, {"state": "off", "since": "2026-03-10 12:45:00"})
    door = await ask(DOOR, hours=0.1, state="on")
    assert door["last_before"] == {"start": "2026-03-10 12:30:00", "end": "2026-03-10 12:45:00"}
    assert door.keys() == {"name", "now", "before", "condition", "stretches", "last_before"}
    assert "last_before" not in await ask(DOOR, hours=0.1, state="on", min_seconds=60)
    door = await ask(DOOR, hours=0.1, state="open")
    assert door["not_held_since"] == "2026-03-10 06:00:00"
    # The span begins while the door was on, or before which nothing is known.
    door = await ask(DOOR, start="2026-03-10 12:40:00", state="on")
    assert door["before"] == {"state": "on", "since": "2026-03-10 12:30:00"}
    door = await ask(DOOR, start="2026-03-10 07:00:00", end="2026-03-10 07:30:00")
    assert door["before"] == {"state": "off", "at_least_since": "2026-03-10 06:00:00"}
    door = await ask(DOOR, start="2026-03-10 05:00:00")
    assert ("before" in door, door["recorded_from"]) == (False, "2026-03-10 06:00:00")

    room = await ask(ROOM, hours=1)
    assert room["first"] == {"value": 20, "time": "2026-03-10 11:00:00"}
    assert "before" not in room
    room = await ask(ROOM, hours=1, above=21)
    assert (room["stretches"], room["last_before"]) == (0, {"end": "2026-03-10 10:00:00"})
    assert (await ask(ROOM, hours=1, below=10))["not_held_since"] == "2026-03-10 06:00:00"
    assert (await ask(DOOR, hours=1, attribute="friendly_name"))["before"] == {
        "state": "Front door",
        "at_least_since": "2026-03-10 06:00:00",
    }

    # What is unavailable all along still has a past.
    house.set("2026-03-10 14:10:00", ROOM, "unavailable", unit_of_measurement="°C")
    await async_wait_recording_done(hass)
    house.at("2026-03-10 15:00:00")
    room = await ask(ROOM, hours=0.5)
    assert room["before"] == {"state": 20, "since": "2026-03-10 11:00:00"}
    assert room["note"] == "No number in this span."


@EVERY_ENGINE
async def test_nothing_recorded(house: House, hass: HomeAssistant, call_tool: CallTool) -> None:
    """Where the recorder has nothing, what the state machine knows is told as no more than that."""
    house.set("2026-03-10 14:00:00", "lock.new", "locked", friendly_name="New")
    house.set("2026-03-10 14:00:00", "lock.gone", "unavailable", friendly_name="Gone")
    expose(hass, "lock.new", "lock.gone")
    await async_wait_recording_done(hass)
    house.at("2026-03-10 16:00:00")

    def purge(*tables: Any) -> None:
        with session_scope(hass=hass) as session:
            session.execute(update(States).values(old_state_id=None))
            for table in tables:
                session.execute(delete(table))

    recorder = hass.data[DATA_INSTANCE]
    await recorder.async_add_executor_job(purge, States)
    for entity_id, since in ((DOOR, "13:10:00"), ("lock.new", "14:00:00")):
        data = await call_tool(GetHistoryTool(), entities=[entity_id], hours=1)
        assert data["entities"][entity_id]["before"]["at_least_since"] == f"2026-03-10 {since}"
        assert "recorded_since" not in data
    assert "before" not in (await call_tool(GetHistoryTool(), entities=["lock.gone"], hours=1))["entities"]["lock.gone"]
    data = await call_tool(GetHistoryTool(), error=True, entities=["lock.new"], start="2026-03-01", end="2026-03-02")
    assert "so what it did then is not known; it is recorded since 2026-03-10 14:00:00." in data["error"]
    recorder.states_meta_manager.reset()
    await recorder.async_add_executor_job(purge, States, StatesMeta)
    for entity_id, before in (
        ("lock.new", {"state": "locked", "at_least_since": "2026-03-10 14:00:00"}),
        ("lock.gone", None),
    ):
        data = await call_tool(GetHistoryTool(), entities=[entity_id], hours=1, state="unlocked")
        assert data["entities"][entity_id].get("before") == before
        assert "not_held_since" not in data["entities"][entity_id]


async def test_words_and_long_durations(house: House, hass: HomeAssistant, call_tool: CallTool) -> None:
    """Words are echoed as what they meant; a duration of days has its hours too."""
    house.at("2026-03-13 12:00:00")
    data = await call_tool(GetHistoryTool(), entities=[DOOR], start="last 2 days", state="off")
    assert (data["start"], data["end"]) == ("2026-03-11 12:00:00", "2026-03-13 12:00:00")
    assert data["entities"][DOOR]["time"] == "2 d 0:00:00 (48.00 h)"
    data = await call_tool(GetHistoryTool(), entities=[DOOR], start="tuesday")
    assert (data["start"], data["end"]) == ("2026-03-10 00:00:00", "2026-03-11 00:00:00")


async def test_decimals(house: House, hass: HomeAssistant, call_tool: CallTool) -> None:
    """A sensor's numbers have the decimals that its user or integration chose, however small, large or negative."""
    registry = er.async_get(hass)
    entity_id = registry.async_get_or_create("sensor", "test", "1", suggested_object_id="meter").entity_id
    expose(hass, entity_id)
    values = ("-0.00012", "1234567.891", "12.34567")
    for minute, value in enumerate(values, 10):
        house.set(f"2026-03-10 14:{minute}:00", entity_id, value, unit_of_measurement="kWh")
    await async_wait_recording_done(hass)
    house.at("2026-03-10 14:20:00")
    for option, decimals in ((None, 2), ("suggested_display_precision", 1), ("display_precision", 3)):
        if option:
            options = {**(registry.async_get(entity_id).options.get("sensor", {})), option: decimals}
            registry.async_update_entity_options(entity_id, "sensor", options)
        meter = (await call_tool(GetHistoryTool(), entities=[entity_id], hours=1))["entities"][entity_id]
        least, most, last = -0.00012, round(1234567.891, decimals), round(12.34567, decimals)
        assert (meter["min"]["value"], meter["max"]["value"]) == (least, most)
        assert meter["now"] == meter["last"] == last
        assert [row["state"] for row in table(meter["newest_changes"])] == [str(last), str(most), str(least)]


@EVERY_ENGINE
async def test_odd_numbers(house: House, hass: HomeAssistant, call_tool: CallTool) -> None:
    """What is no finite number, or an enormous one, spoils no answer."""
    for minute, state in enumerate(("nan", "inf", "1e999", "-1e999", "1e20", "-5"), 10):
        house.set(f"2026-03-10 14:{minute}:00", ROOM, state, friendly_name="Room", unit_of_measurement="°C")
    await async_wait_recording_done(hass)
    house.at("2026-03-10 14:20:00")
    room = (await call_tool(GetHistoryTool(), entities=[ROOM], hours=1))["entities"][ROOM]
    assert (room["now"], room["last"]) == (-5, -5)
    assert [row["state"] for row in table(room["newest_changes"])] == [
        *("-5", "1e+20", "-1e999", "1e999", "inf", "nan", "20")
    ]
    assert json_dumps(room)
