"""Tests of what a model asks for, read into the parts of a task."""

from typing import Any
from zoneinfo import ZoneInfo

from freezegun.api import FrozenDateTimeFactory
import pytest

from custom_components.extended_assist.calls.call import ToolCall
from custom_components.extended_assist.calls.caller import Caller
from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.exposure.entities import Exposure
from custom_components.extended_assist.results import ToolError
from custom_components.extended_assist.scheduled.due_times import next_moment
from custom_components.extended_assist.scheduled.parser import (
    async_read_audience,
    async_read_conditions,
    async_read_until,
    async_read_when,
    describe_when,
)
from custom_components.extended_assist.scheduled.scheduled_task import Audience, Hearer, Until, When
from homeassistant.core import HomeAssistant
from homeassistant.helpers import area_registry as ar, entity_registry as er, llm
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
from tests.conftest import expose
from tests.helpers.one_home import in_one_home

NOW = "2026-03-25T14:30:05+01:00"
"""A Wednesday, four days before clocks are put forward in Berlin."""
OPENED = {"trigger": "state", "entity_id": "input_boolean.fridge", "to": "on"}
HIDDEN = {"trigger": "state", "entity_id": "input_boolean.safe", "to": "on"}


@pytest.fixture
async def home(hass: HomeAssistant, assist: None, freezer: FrozenDateTimeFactory) -> None:
    """Set up a fridge in the kitchen, a safe that is hidden in the cellar, and people."""
    await hass.config.async_set_time_zone("Europe/Berlin")
    freezer.move_to(NOW)
    switches = {"fridge": {"name": "Fridge"}, "safe": {"name": "Safe"}}
    assert await async_setup_component(hass, "input_boolean", {"input_boolean": switches})
    people = [{"id": name.lower(), "name": name} for name in ("Anna", "Ben", "Carl")]
    assert await async_setup_component(hass, "person", {"person": people})
    await hass.async_block_till_done()
    for name, entity_id in (("Kitchen", "input_boolean.fridge"), ("Cellar", "input_boolean.safe")):
        er.async_get(hass).async_update_entity(entity_id, area_id=ar.async_get(hass).async_create(name).id)
    expose(hass, "input_boolean.fridge", "person.anna", "person.ben")


@pytest.fixture
def call(hass: HomeAssistant, home: None, llm_context: llm.LLMContext) -> ToolCall:
    """Return what a tool is given."""
    exposure = Exposure(hass, llm_context.assistant)
    return ToolCall(hass=hass, arguments={}, exposure=exposure, caller=Caller(llm_context), options=ToolboxOptions())


def at(text: str) -> float:
    """Return the moment of a local time in Berlin, or of one with an offset."""
    moment = dt_util.parse_datetime(text, raise_on_error=True)
    return (moment if moment.tzinfo else moment.replace(tzinfo=ZoneInfo("Europe/Berlin"))).timestamp()


def local(moment: float | None) -> str | None:
    """Return a moment as local time."""
    return moment and f"{dt_util.as_local(dt_util.utc_from_timestamp(moment)):%Y-%m-%d %H:%M}"


@in_one_home(
    ("given", "moment", "told"),
    [
        ({"after": 1200}, at("2026-03-25T14:50:05+01:00"), "on Wed 2026-03-25 14:50"),
        ({"after": "90"}, at("2026-03-25T14:31:35+01:00"), "on Wed 2026-03-25 14:31"),
        ({"at": "07:00"}, at("2026-03-26T07:00+01:00"), "on Thu 2026-03-26 07:00"),
        ({"at": "7:00"}, at("2026-03-26T07:00+01:00"), "on Thu 2026-03-26 07:00"),
        ({"at": "17:00"}, at("2026-03-25T17:00+01:00"), "on Wed 2026-03-25 17:00"),
        ({"at": "Tomorrow at 17:00"}, at("2026-03-26T17:00+01:00"), "on Thu 2026-03-26 17:00"),
        ({"at": "wednesday 14:00"}, at("2026-04-01T14:00+02:00"), "on Wed 2026-04-01 14:00"),
        ({"at": "on Wednesday, 15:00"}, at("2026-03-25T15:00+01:00"), "on Wed 2026-03-25 15:00"),
        ({"at": "next monday 09:00"}, at("2026-03-30T09:00+02:00"), "on Mon 2026-03-30 09:00"),
        ({"at": "2026-03-29 02:30"}, at("2026-03-29T03:00+02:00"), "on Sun 2026-03-29 03:00"),
        ({"at": "2026-10-25 02:30"}, at("2026-10-25T02:30+02:00"), "on Sun 2026-10-25 02:30+02:00"),
        ({"at": "2026-10-25T02:30:00+01:00"}, at("2026-10-25T02:30+01:00"), "on Sun 2026-10-25 02:30+01:00"),
        ({"at": "2026-03-25T15:00:00Z"}, at("2026-03-25T16:00+01:00"), "on Wed 2026-03-25 16:00"),
    ],
)
async def test_moments(call: ToolCall, given: dict[str, Any], moment: float, told: str) -> None:
    """A moment is told as what the clock will show then."""
    when = await async_read_when(call, given)
    assert when == When(moment=moment)
    assert describe_when(call.hass, call.exposure, when) == told


async def test_hour_that_is_repeated(call: ToolCall, freezer: FrozenDateTimeFactory) -> None:
    """In the first of two equal hours, the next 02:30 may be that of the second."""
    for now, expected in [
        ("2026-10-25T02:15+02:00", "2026-10-25T02:30+02:00"),
        ("2026-10-25T02:45+02:00", "2026-10-25T02:30+01:00"),
        ("2026-10-25T02:45+01:00", "2026-10-26T02:30+01:00"),
    ]:
        freezer.move_to(now)
        assert await async_read_when(call, {"at": "02:30"}) == When(moment=at(expected))


@in_one_home(
    ("given", "start", "following", "told"),
    [
        (
            {"at": "07:00", "repeat": "FREQ=WEEKLY;BYDAY=MO,TU"},
            *("2026-03-30T07:00", ["2026-03-30 07:00", "2026-03-31 07:00", "2026-04-06 07:00"]),
            "every week on Mon, Tue at 07:00",
        ),
        (
            {"repeat": "rrule:freq=daily;byhour=7,19"},
            *("2026-03-25T19:00", ["2026-03-25 19:00", "2026-03-26 07:00"]),
            "every day at 07:00, 19:00",
        ),
        # Whatever the interval, the first one is the next that fits.
        (
            {"at": "14:00", "repeat": "FREQ=DAILY;INTERVAL=2"},
            *("2026-03-26T14:00", ["2026-03-26 14:00", "2026-03-28 14:00"]),
            "every 2 days at 14:00",
        ),
        (
            {"at": "08:00", "repeat": "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO"},
            *("2026-03-30T08:00", ["2026-03-30 08:00", "2026-04-13 08:00"]),
            "every 2 weeks on Mon at 08:00",
        ),
        (
            {"repeat": "FREQ=HOURLY;INTERVAL=2"},
            *("2026-03-25T14:30", ["2026-03-25 16:30", "2026-03-25 18:30"]),
            "every 2 hours at 30 past the hour counted from 14:30",
        ),
        (
            {"repeat": "FREQ=HOURLY;BYHOUR=9,15"},
            *("2026-03-25T15:00", ["2026-03-25 15:00", "2026-03-26 09:00"]),
            "every hour in the hours 9, 15 at 00 past the hour",
        ),
        (
            {"repeat": "FREQ=MINUTELY;INTERVAL=20"},
            *("2026-03-25T14:30", ["2026-03-25 14:50", "2026-03-25 15:10"]),
            "every 20 minutes counted from 14:30",
        ),
        (
            {"at": "09:00", "repeat": "FREQ=MONTHLY;BYDAY=1MO,-1FR"},
            *("2026-03-27T09:00", ["2026-03-27 09:00", "2026-04-06 09:00"]),
            "every month on the 1st Mon, the last Fri at 09:00",
        ),
        (
            {"at": "09:00", "repeat": "FREQ=MONTHLY;BYMONTHDAY=22,-1,-2"},
            *("2026-03-30T09:00", ["2026-03-30 09:00", "2026-03-31 09:00", "2026-04-22 09:00"]),
            "every month on the 22nd, 2nd last, last of the month at 09:00",
        ),
        (
            {"at": "09:00", "repeat": "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1"},
            *("2026-03-31T09:00", ["2026-03-31 09:00", "2026-04-30 09:00"]),
            "every month on Mon, Tue, Wed, Thu, Fri at 09:00 (the last of these in each month)",
        ),
        (
            {"at": "2026-12-24 08:00", "repeat": "FREQ=YEARLY"},
            *("2026-12-24T08:00", ["2026-12-24 08:00", "2027-12-24 08:00"]),
            "every year in Dec on the 24th of the month at 08:00",
        ),
        (
            {"at": "08:00", "repeat": "FREQ=DAILY;UNTIL=20260326T070000Z"},
            *("2026-03-26T08:00", ["2026-03-26 08:00", None]),
            "every day at 08:00 until 2026-03-26 08:00",
        ),
        (
            {"at": "08:00", "repeat": "FREQ=DAILY;COUNT=2"},
            *("2026-03-26T08:00", ["2026-03-26 08:00", "2026-03-27 08:00", None]),
            "every day at 08:00 2 times",
        ),
        # In a gap of the clock the rule keeps its own time for the other days.
        (
            {"at": "2026-03-29 02:30", "repeat": "FREQ=DAILY"},
            *("2026-03-29T02:30", ["2026-03-29 03:00", "2026-03-30 02:30"]),
            "every day at 02:30",
        ),
    ],
)
async def test_rules(call: ToolCall, given: dict[str, Any], start: str, following: list[str | None], told: str) -> None:
    """A rule counts from the next time that fits."""
    when = await async_read_when(call, given)
    assert (when.start, when.moment, when.triggers) == (start, None, [])
    found, after = [], at(NOW)
    while len(found) < len(following):
        moment = next_moment(when, after)
        found.append(local(moment))
        after = moment or after
    assert found == following
    assert describe_when(call.hass, call.exposure, when) == told


@in_one_home(
    ("given", "error"),
    [
        ({}, "Say when: give 'after' (seconds from now), 'at'"),
        ({"at": "", "triggers": []}, "Say when"),
        ({"after": 60, "triggers": [OPENED]}, "for a time after a trigger, give 'wait'"),
        ({"after": 60, "at": "07:00"}, "for a rule or a time, give 'at'"),
        ({"wait": 60, "at": "07:00"}, "For a time from now, give 'after'"),
        *(
            ({"after": wrong}, "a number of seconds up to 31622400")
            for wrong in (-1, "soon", 1e9, float("nan"), True, [1])
        ),
        ({"triggers": [OPENED], "wait": 1e9}, "wait: a number of seconds up to 604800 (7 days)"),
        *(
            ({"at": wrong}, "write local time with 24 hours")
            for wrong in ("soon", "25:00", "2026-02-30 10:00", "7pm", 7)
        ),
        ({"at": "20 minutes"}, "For a time from now, give 'after' in seconds"),
        *(({"at": day}, f"add the time of day, such as {day} 07:00") for day in ("friday", "tomorrow", "2026-04-01")),
        ({"at": "today 07:00"}, "2026-03-25 07:00 is over; it is now 2026-03-25 14:30. Give a later time"),
        ({"at": "2025-01-01 07:00"}, "is over"),
        ({"at": "2028-01-01 07:00"}, "more than a year ahead"),
        ({"repeat": "every day", "at": "07:00"}, "write a rule like FREQ=WEEKLY;BYDAY=MO,TU;BYHOUR=7"),
        ({"repeat": "FREQ=DAILY"}, "at what time of day? Give it in 'at'"),
        ({"repeat": "FREQ=DAILY;BYHOUR=8", "at": "07:00"}, "say another time of day than 'at'"),
        ({"repeat": "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=31", "at": "07:00"}, "this never comes: there is no such day"),
        ({"repeat": "FREQ=DAILY;UNTIL=20260101", "at": "07:00"}, "this never comes"),
        ({"repeat": "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29", "at": "07:00"}, "2028-02-29 07:00 for the first time"),
        ({"repeat": "FREQ=YEARLY;INTERVAL=9", "at": "07:00"}, "comes only once. Give 'at': '2026-03-26 07:00'"),
        ({"repeat": "FREQ=MINUTELY;INTERVAL=1"}, "more often than every 5 minutes"),
        ({"triggers": "the fridge opens"}, "triggers[0]: a trigger must be an object, such as {'trigger': 'state'"),
        ({"triggers": [OPENED] * 21}, "at most 20"),
        ({"triggers": [{"trigger": "time", "at": "07:00"}]}, "give a time in 'at' or 'repeat' instead"),
        ({"triggers": [{"trigger": "time_pattern", "minutes": "/5"}]}, "give a time in 'at' or 'repeat' instead"),
        ({"triggers": [OPENED | {"entity_id": "Fridge"}]}, "write the id input_boolean.fridge instead of 'Fridge'"),
        ({"triggers": [OPENED | {"for": "a while"}]}, "triggers: Home Assistant does not accept this"),
        ({"triggers": [HIDDEN]}, "'input_boolean.safe' was not found or is not exposed"),
        ({"triggers": [HIDDEN | {"entity_id": "input_boolean.none"}]}, "was not found or is not exposed"),
        (
            {"triggers": [{"trigger": "template", "value_template": "{{ states('input_boolean.safe') }}"}]},
            "triggers[0].value_template",
        ),
        ({"triggers": [OPENED | {"to": "!secret x"}]}, "cannot be used here"),
    ],
)
async def test_wrong_times(call: ToolCall, given: dict[str, Any], error: str) -> None:
    """What cannot be is refused with what to write instead."""
    with pytest.raises(ToolError) as raised:
        await async_read_when(call, given)
    assert error in str(raised.value)


async def test_triggers(call: ToolCall) -> None:
    """Triggers are those of an automation, on what is exposed, also beside a time; a registry id becomes the entity's."""
    when = await async_read_when(call, {"triggers": OPENED, "wait": 1200})
    assert when == When(triggers=[OPENED], wait=1200)
    assert describe_when(call.hass, call.exposure, when) == "when Fridge turns on, 20 minutes later"
    entry = er.async_get(call.hass).async_get("input_boolean.fridge")
    assert entry
    when = await async_read_when(call, {"triggers": [OPENED | {"entity_id": entry.id}], "at": "22:00"})
    assert when == When(moment=at("2026-03-25T22:00+01:00"), triggers=[OPENED])
    assert describe_when(call.hass, call.exposure, when) == "on Wed 2026-03-25 22:00 or when Fridge turns on"


async def test_triggers_hidden_since(call: ToolCall) -> None:
    """What was hidden meanwhile is not named."""
    assert describe_when(call.hass, call.exposure, When(triggers=[HIDDEN])) == "when something not exposed"
    assert describe_when(call.hass, call.exposure, When()) == "never"


async def test_conditions(call: ToolCall) -> None:
    """Conditions are those of an automation; a template alone is one too."""
    condition = {"condition": "state", "entity_id": "input_boolean.fridge", "state": "on"}
    assert await async_read_conditions(call, {}) == []
    assert await async_read_conditions(call, {"conditions": condition}) == [condition]
    template = "{{ is_state('input_boolean.fridge', 'on') }}"
    assert await async_read_conditions(call, {"conditions": [condition, template]}) == [
        condition,
        {"condition": "template", "value_template": template},
    ]
    for wrong, error in [
        (condition | {"entity_id": "input_boolean.safe"}, "was not found or is not exposed"),
        (
            {"condition": "state", "entity_id": "input_boolean.fridge"},
            "conditions: Home Assistant does not accept this",
        ),
        ("it rains", "conditions[0]"),
    ]:
        with pytest.raises(ToolError) as raised:
            await async_read_conditions(call, {"conditions": wrong})
        assert error in str(raised.value)


@in_one_home(
    ("until", "expected"),
    [
        (None, Until()),
        ("done", Until(done=True)),
        ("Done ", Until(done=True)),
        (3, Until(times=3)),
        ("3 times", Until(times=3)),
        ("2026-04-01", Until(moment=at("2026-04-02T00:00+02:00"))),
        ("friday", Until(moment=at("2026-03-28T00:00+01:00"))),
        ("today", Until(moment=at("2026-03-26T00:00+01:00"))),
        ("22:00", Until(moment=at("2026-03-25T22:00+01:00"))),
        ("2026-04-01 12:00", Until(moment=at("2026-04-01T12:00+02:00"))),
    ],
)
async def test_ends(call: ToolCall, until: Any, expected: Until) -> None:
    """A task ends at a time, of a day at its end, after so many times, or when somebody says that it is done."""
    assert await async_read_until({"until": until}) == expected


@pytest.mark.parametrize(
    ("until", "error"),
    [
        (0, "a number from 1 to 1000"),
        ("1001", "a number from 1 to 1000"),
        ("2026-03-24", "is over"),
        ("2026-02-30", "'done' for until somebody says"),
        ("I am tired", "is not a time"),
        (True, "is not a time"),
    ],
)
async def test_wrong_ends(call: ToolCall, until: Any, error: str) -> None:
    """What is no end is refused with what is one."""
    with pytest.raises(ToolError) as raised:
        await async_read_until({"until": until})
    assert error in str(raised.value)


async def test_audiences(call: ToolCall) -> None:
    """A task is for whoever is here, a person, an area or everyone."""
    kitchen = ar.async_get(call.hass).async_get_area_by_name("Kitchen")
    assert kitchen
    for given, expected in {
        None: Audience(),
        "here": Audience(),
        "me": Audience(),
        "Everyone": Audience(Hearer.EVERYONE),
        "anna": Audience(Hearer.PERSON, "person.anna"),
        "person.ben": Audience(Hearer.PERSON, "person.ben"),
        "kitchen": Audience(Hearer.AREA, kitchen.id),
    }.items():
        assert await async_read_audience(call, {"for": given}) == expected
    # What is hidden and what is not there look the same.
    for hidden, unknown in (("Carl", "Dora"), ("person.carl", "person.dora"), ("Cellar", "Attic")):
        errors = []
        for name in (hidden, unknown):
            with pytest.raises(ToolError) as raised:
                await async_read_audience(call, {"for": name})
            errors.append(str(raised.value).replace(name, "X"))
        assert errors[0] == errors[1]
        assert "an area, or a person: Anna, Ben." in errors[0]


async def test_two_of_a_name(call: ToolCall) -> None:
    """Where a name means several people, they are named by their ids."""
    er.async_get(call.hass).async_update_entity("person.ben", name="Anna")
    await call.hass.async_block_till_done()
    with pytest.raises(ToolError, match=r"several people: person\.anna, person\.ben\. Give one of these"):
        await async_read_audience(call, {"for": "Anna"})
