"""Tests of what statistics say beside their numbers: ties, partial periods, gaps, the beginning of a recording, likely names."""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Any

from freezegun.api import FrozenDateTimeFactory
import pytest
from sqlalchemy import delete

from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.recorder.periods import following_day, repeated_times
from custom_components.extended_assist.recorder.statistics import read_metadata
from custom_components.extended_assist.tools.statistics import GetStatisticsTool
from homeassistant.components.recorder import Recorder, get_instance
from homeassistant.components.recorder.db_schema import Statistics
from homeassistant.components.recorder.models import StatisticData
from homeassistant.core import HomeAssistant
from homeassistant.helpers.recorder import session_scope
from homeassistant.util import dt as dt_util
from tests.conftest import CallTool, expose
from tests.helpers.databases import EVERY_ENGINE
from tests.helpers.recorded import HOUR, SHORT, local, meter, record, record_short, steps

from .test_entities import table

METER, ROOM, DESK = "sensor.heating_energy", "sensor.room", "sensor.desk_energy"
EXTERNAL, HIDDEN_EXTERNAL = "utility:cellar_energy", "utility:attic_energy"
ENERGY = {"unit_of_measurement": "kWh", "unit_class": "energy"}
TEMPERATURE = {"unit_of_measurement": "°C", "unit_class": "temperature"}

type Home = Callable[..., Awaitable[None]]


@pytest.fixture
def home(recorder_mock: Recorder, hass: HomeAssistant, assist: None, freezer: FrozenDateTimeFactory) -> Home:
    """Return a function that sets time zone and clock, and exposes a meter and a thermometer."""

    async def set_up(now: str = "2026-11-20 13:27:30", zone: str = "Europe/Berlin") -> None:
        await hass.config.async_set_time_zone(zone)
        freezer.move_to(local(now))
        for entity_id, name, unit in ((METER, "Heating energy", "kWh"), (ROOM, "Room", "°C")):
            hass.states.async_set(entity_id, "5", {"friendly_name": name, "unit_of_measurement": unit})
        expose(hass, METER, ROOM)

    return set_up


def extremes(moments: list[datetime], value: Callable[[datetime], float]) -> list[StatisticData]:
    """Return the rows of a measurement that stays at a value during each of them."""
    return [{"start": moment, "mean": (at := value(moment)), "min": at, "max": at} for moment in moments]


async def account(call_tool: CallTool, statistic: str, **arguments: Any) -> dict[str, Any]:
    """Ask for a statistic and return what is said of it."""
    data = await call_tool(GetStatisticsTool(), statistics=statistic, **arguments)
    found: dict[str, Any] = data["statistics"][statistic]
    return found


async def test_one_total(home: Home, hass: HomeAssistant, call_tool: CallTool) -> None:
    """What a day amounts to comes without the rows of its hours, which come only if they are asked for."""
    await home()
    await record(hass, METER, meter(steps(local("2026-11-01"), local("2026-11-20")), lambda i: 0.4321), **ENERGY)
    span = {"start": "2026-11-18", "end": "2026-11-19"}
    assert await call_tool(GetStatisticsTool(), statistics=METER, **span) == {
        "start": "2026-11-18 00:00",
        "end": "2026-11-19 00:00",
        "statistics": {METER: {"name": "Heating energy", "unit": "kWh", "change": 10.37}},
    }
    assert len(table((await account(call_tool, METER, period="hour", **span))["rows"])) == 24


@EVERY_ENGINE
async def test_ties_by_the_hour(home: Home, hass: HomeAssistant, call_tool: CallTool) -> None:
    """Each time of a maximum is told; hours that follow each other are one stretch."""
    await home()
    values = {"2026-10-03 14:00": 25.5, "2026-10-05 13:00": 25.5, "2026-10-05 14:00": 25.5}
    values |= {f"2026-10-{day:02} 05:00": 3.0 for day in range(3, 9)}
    hours = steps(local("2026-10-01"), local("2026-11-01"))
    by_moment = {local(f"{text}:00"): value for text, value in values.items()}
    await record(hass, ROOM, extremes(hours, lambda moment: by_moment.get(moment, 12.0)), **TEMPERATURE)
    said = await account(call_tool, ROOM, start="2026-10-01", end="2026-11-01")
    assert (said["max"], said["max_at"]) == (25.5, "2026-10-03 14:00 (hour), 2026-10-05 13:00 to 2026-10-05 15:00")
    assert (said["min"], said["min_at"]) == (
        3,
        "2026-10-03 05:00 (hour), 2026-10-04 05:00 (hour), 2026-10-05 05:00 (hour), 3 more times",
    )
    # An hour that reaches beyond the end of the span does not count.
    until = await account(call_tool, ROOM, start="2026-10-02", end="2026-10-05 13:20:00", types=["max"])
    assert until["max_at"] == "2026-10-03 14:00 (hour)"


@EVERY_ENGINE
async def test_ties_where_five_minutes_are_kept(home: Home, hass: HomeAssistant, call_tool: CallTool) -> None:
    """What was reached before the short-term rows begin is told, too; stretches go on across both kinds of rows."""
    await home()
    warm = [(local("2026-11-10 14:00:00"), HOUR), (local("2026-11-20 12:30:00"), HOUR)]

    def value(moment: datetime) -> float:
        return 21.0 if any(start <= moment < start + length for start, length in warm) else 18.0

    short = steps(local("2026-11-15"), local("2026-11-20 13:25:00"), SHORT)
    hours = steps(local("2026-11-01"), local("2026-11-20 13:00:00"))
    by_hour = {hour: max(value(hour), value(hour + 6 * SHORT)) for hour in hours}
    await record(hass, ROOM, extremes(hours, by_hour.__getitem__), **TEMPERATURE)
    await record_short(hass, ROOM, extremes(short, value))
    both = await account(call_tool, ROOM, start="2026-11-01", types=["max"])
    assert both["max_at"] == "2026-11-10 14:00 (hour), 2026-11-20 12:00 to 2026-11-20 13:25"
    exact = await account(call_tool, ROOM, start="2026-11-20", types=["max"])
    assert exact["max_at"] == "2026-11-20 12:30 to 2026-11-20 13:25"
    within = await account(call_tool, ROOM, start="2026-11-20 13:05:00", end="2026-11-20 13:10:00", types=["max"])
    assert within["max_at"] == "2026-11-20 13:05 (5 minutes)"


async def test_five_minutes_that_tell_less(home: Home, hass: HomeAssistant, call_tool: CallTool) -> None:
    """Where short-term rows do not have the extreme that the hour has, the hour is told."""
    await home()
    await record(hass, ROOM, extremes(steps(local("2026-11-19"), local("2026-11-20")), lambda _: 21.0), **TEMPERATURE)
    await record_short(hass, ROOM, extremes(steps(local("2026-11-18"), local("2026-11-20"), SHORT), lambda _: 20.0))
    said = await account(call_tool, ROOM, start="2026-11-19", end="2026-11-20", types=["max"])
    assert said["max_at"] == "2026-11-19 00:00 to 2026-11-20 00:00"
    nowhere = await account(call_tool, ROOM, start="2026-11-19 13:00:00", end="2026-11-19 13:00:30", types=["max"])
    assert "max_at" in nowhere


async def test_ties_of_periods(home: Home, hass: HomeAssistant, call_tool: CallTool) -> None:
    """The periods with the highest and the lowest value are named, all of them; one that has only begun is no lowest."""
    await home()
    hours = steps(local("2026-11-09"), local("2026-11-20 13:00:00"))
    most, least = {"2026-11-12", "2026-11-15"}, {f"2026-11-{day}" for day in (10, 11, 14, 16, 17, 18)}
    days = {hour: dt_util.as_local(hour).date().isoformat() for hour in hours}
    change = {day: 0.5 if day in most else 0.1 if day in least else 0.2 for day in days.values()}
    await record(hass, METER, meter(hours, lambda i: change[days[hours[i]]]), **ENERGY)
    said = await account(call_tool, METER, start="2026-11-09", period="day")
    assert said["highest_change"] == "12 in 2026-11-12, 2026-11-15"
    assert said["lowest_change"] == "2.4 in 2026-11-10, 2026-11-11, 2026-11-14, 2026-11-16 and 2 more"
    assert table(said["rows"])[-1] == {"day": "2026-11-20 until 13:00", "change": "2.6"}
    alone = await account(call_tool, METER, start="2026-11-09", end="2026-11-10", period="day")
    assert not {"highest_change", "lowest_change"} & alone.keys()


async def test_partial_periods(home: Home, hass: HomeAssistant, call_tool: CallTool) -> None:
    """Days, weeks and months that the span cuts, or that are not over, say from when or until when they count."""
    await home()
    await record(hass, METER, meter(steps(local("2026-08-01"), local("2026-11-20 13:00:00")), lambda i: 1.0), **ENERGY)
    for span, labels in (
        ({"start": "2026-11-18 07:40:00"}, ["2026-11-18 from 08:00", "2026-11-19", "2026-11-20 until 13:00"]),
        (
            {"start": "2026-11-17", "end": "2026-11-18 17:40:00"},
            ["2026-11-17", "2026-11-18 until 18:00"],
        ),
        (
            {"start": "2026-11-17 06:00:00", "end": "2026-11-17 18:00:00"},
            ["2026-11-17 from 06:00 until 18:00"],
        ),
        ({"start": "2026-11-17", "end": "2026-11-19"}, ["2026-11-17", "2026-11-18"]),
    ):
        assert [row["day"] for row in table((await account(call_tool, METER, period="day", **span))["rows"])] == labels
    weeks = await account(call_tool, METER, start="2026-11-05", period="week")
    assert [row["week"] for row in table(weeks["rows"])] == [
        "2026-11-02 from 2026-11-05 00:00",
        "2026-11-09",
        "2026-11-16 until 2026-11-20 13:00",
    ]
    months = await account(call_tool, METER, start="2026-09-01", period="month")
    assert [row["month"] for row in table(months["rows"])] == [
        "2026-09-01",
        "2026-10-01",
        "2026-11-01 until 2026-11-20 13:00",
    ]


@EVERY_ENGINE
async def test_recording_begins_inside(home: Home, hass: HomeAssistant, call_tool: CallTool) -> None:
    """A span that begins before the recording says since when there is one: that is no gap."""
    await home()
    await record(
        hass, METER, meter(steps(local("2026-11-17 15:00:00"), local("2026-11-20 13:00:00")), lambda i: 1.0), **ENERGY
    )
    said = await account(call_tool, METER, start="2026-11-01", period="day")
    assert said["recorded_since"] == "2026-11-17 15:00"
    assert "gaps" not in said
    assert [row["day"] for row in table(said["rows"])] == [
        "2026-11-17 from 15:00",
        "2026-11-18",
        "2026-11-19",
        "2026-11-20 until 13:00",
    ]
    assert said["lowest_change"] == "24 in 2026-11-18, 2026-11-19"
    later = await account(call_tool, METER, start="2026-11-18")
    assert not {"recorded_since", "gaps", "rows"} & later.keys()
    await record(hass, ROOM, extremes(steps(local("2026-10-01"), local("2026-11-20 13:00:00")), lambda _: 20.0))
    both = await call_tool(GetStatisticsTool(), statistics=[METER, ROOM], start="2026-10-10", end="2026-10-12")
    assert both["statistics"][METER] == {
        "name": "Heating energy",
        "unit": "kWh",
        "recorded_since": "2026-11-17 15:00",
        "note": "No data in this span.",
    }


async def test_recorded_by_five_minutes_only(home: Home, hass: HomeAssistant, call_tool: CallTool) -> None:
    """What was added within this hour has no row of an hour yet: its recording has just begun."""
    await home()
    await record(hass, METER, meter([local("2026-11-20 12:00:00")], lambda i: 1.0), **ENERGY)
    rows = extremes(steps(local("2026-11-20 13:00:00"), local("2026-11-20 13:25:00"), SHORT), lambda _: 20.0)
    await record(hass, ROOM, rows[:1], **TEMPERATURE)
    await record_short(hass, ROOM, rows)

    def forget_hours() -> None:
        metadata_id, _ = read_metadata(hass, {ROOM})[ROOM]
        with session_scope(hass=hass) as session:
            session.execute(delete(Statistics).where(Statistics.metadata_id == metadata_id))

    await get_instance(hass).async_add_executor_job(forget_hours)
    data = await call_tool(GetStatisticsTool(), statistics=[METER, ROOM], start="2026-11-20 10:00:00")
    assert data["statistics"][ROOM]["recorded_since"] == "2026-11-20 13:00"
    assert "gaps" not in data["statistics"][ROOM]


CLOCKS = [
    ("Europe/Berlin", "2026-10-25", "2026-10-26", 25),
    ("Europe/Berlin", "2026-03-29", "2026-03-30", 23),
    ("America/St_Johns", "2026-11-01", "2026-11-02", 25),
    ("America/St_Johns", "2026-03-08", "2026-03-09", 23),
]


@EVERY_ENGINE
@pytest.mark.parametrize(("zone", "start", "end", "hours"), CLOCKS)
async def test_no_gap_when_clocks_change(
    home: Home, hass: HomeAssistant, call_tool: CallTool, zone: str, start: str, end: str, hours: int
) -> None:
    """Neither the hour that comes twice nor the one that is skipped is a gap, whoever wrote the rows; a real one is."""
    await home(zone=zone)
    first = dt_util.as_local(local(start)) - timedelta(days=2)
    whole = steps(local(start) - 48 * HOUR, local(end) + 48 * HOUR)
    by_utc = [moment.replace(minute=0) for moment in whole]
    # By the clock on the wall, as an import writes it: the hour that comes twice is there once.
    by_wall = [dt_util.as_local(hour) for hour in sorted({dt_util.as_utc(first + n * HOUR) for n in range(132)})]
    await record(hass, ROOM, extremes(by_utc, lambda moment: moment.timestamp() % 11), **TEMPERATURE)
    await record(hass, METER, meter(by_utc, lambda i: 1.0), **ENERGY)
    await record(hass, EXTERNAL, meter(by_wall, lambda i: 1.0), name="Cellar", **ENERGY)
    torn = [moment for moment in by_utc if not local(f"{start} 03:00:00") <= moment < local(f"{start} 08:00:00")]
    await record(hass, HIDDEN_EXTERNAL, meter(torn, lambda i: 1.0), name="Attic", **ENERGY)
    tool = GetStatisticsTool(ToolboxOptions(external_statistics=frozenset([EXTERNAL, HIDDEN_EXTERNAL]), budget=9_000))
    statistics = [ROOM, METER, EXTERNAL, HIDDEN_EXTERNAL]
    for period in ("day", "hour"):
        data = await call_tool(tool, statistics=statistics, start=start, end=end, period=period)
        found = data["statistics"]
        assert not [name for name in statistics[:3] if "gaps" in found[name]]
        assert len(found[HIDDEN_EXTERNAL]["gaps"]) == 1
        assert found[METER]["change"] == hours
        if period == "day":
            assert [row["day"] for row in table(found[METER]["rows"])] == [start]
            assert table(found[METER]["rows"])[0]["change"] == str(hours)


def test_repeated_times() -> None:
    """What comes twice is known for every zone, also where clocks go back by half an hour."""
    before = dt_util.get_default_time_zone()
    try:
        for zone, start, end, length in (
            ("Europe/Berlin", "2026-10-25T01:00:00+00:00", "2026-10-25", 3600),
            ("America/St_Johns", "2026-11-01T04:30:00+00:00", "2026-11-01", 3600),
            ("Australia/Lord_Howe", "2026-04-04T15:00:00+00:00", "2026-04-04", 1800),
        ):
            found = dt_util.get_time_zone(zone)
            assert found
            dt_util.set_default_time_zone(found)
            change = datetime.fromisoformat(start).timestamp()
            day = local(end).timestamp()
            assert repeated_times(day, day + 3 * 86_400) == [(change - length, change), (change, change + length)]
            assert repeated_times(day + 2 * 86_400, day + 90 * 86_400) == []
    finally:
        dt_util.set_default_time_zone(before)


def test_following_day() -> None:
    """Months and years end where they end."""
    for first, period, following in (
        ("2026-02-01", "month", "2026-03-01"),
        ("2026-12-01", "month", "2027-01-01"),
        ("2026-12-28", "week", "2027-01-04"),
        ("2028-02-28", "day", "2028-02-29"),
    ):
        day = datetime.fromisoformat(first).date()
        assert following_day(day, period).isoformat() == following  # type: ignore[arg-type]


async def test_meter_reset(home: Home, hass: HomeAssistant, call_tool: CallTool) -> None:
    """A meter that begins at zero again has counted on; its reading is another matter."""
    await home()
    hours = steps(local("2026-11-18"), local("2026-11-20 13:00:00"))
    rows: list[StatisticData] = [
        {"start": hour, "sum": 0.5 * (index + 1), "state": 0.5 * (index % 30 + 1)} for index, hour in enumerate(hours)
    ]
    await record(hass, METER, rows, **ENERGY)
    said = await account(
        call_tool, METER, start="2026-11-18", end="2026-11-20", period="day", types=["change", "state"]
    )
    assert said["rows"] == "day,change,state\n2026-11-18,12,12\n2026-11-19,12,9\n"
    assert said["change"] == 24


async def test_meter_that_runs_back(home: Home, hass: HomeAssistant, call_tool: CallTool) -> None:
    """A meter of a balance may fall; less than nothing is told as it is."""
    await home()
    hours = steps(local("2026-11-18"), local("2026-11-20"))
    await record(hass, METER, meter(hours, lambda i: -0.25 if i < 24 else 0.125), **ENERGY)
    said = await account(call_tool, METER, start="2026-11-18", end="2026-11-20", period="day")
    assert said["change"] == -3
    assert (said["highest_change"], said["lowest_change"]) == ("3 in 2026-11-19", "-6 in 2026-11-18")


async def test_likely_names(home: Home, hass: HomeAssistant, call_tool: CallTool) -> None:
    """A name that means no statistic is answered with statistics of like names, visible ones only."""
    await home()
    hours = steps(local("2026-11-18"), local("2026-11-20"))
    for entity_id, name in ((DESK, "Desk energy"), ("light.heating", "Heating lamp")):
        hass.states.async_set(entity_id, "1", {"friendly_name": name})
    expose(hass, "light.heating")
    for statistic_id in (METER, DESK):
        await record(hass, statistic_id, meter(hours, lambda i: 1.0), **ENERGY)
    await record(hass, EXTERNAL, meter(hours, lambda i: 1.0), name="Cellar energy", **ENERGY)
    await record(hass, HIDDEN_EXTERNAL, meter(hours, lambda i: 1.0), name="Attic energy", **ENERGY)
    tool = GetStatisticsTool(ToolboxOptions(external_statistics=frozenset([EXTERNAL])))
    unknown = " was not found or is not exposed."
    no_statistics = (
        "'heating lamp' has no statistics: Home Assistant keeps them only for numeric sensors with a state class. "
        "Use extended_assist__get_history."
    )
    for text, said in (
        ("cellar enrgy", f"'cellar enrgy'{unknown} Nearest: utility:cellar_energy"),
        (
            "electricity of heating",
            f"'electricity of heating'{unknown} Nearest: Heating energy (sensor.heating_energy).",
        ),
        (DESK, f"'{DESK}'{unknown} Nearest: Heating energy (sensor.heating_energy), "),
        ("heating lamp", f"{no_statistics} Nearest: Heating energy (sensor.heating_energy)"),
        ("xylophone", f"'xylophone'{unknown} Call extended_assist__get_entities to see what is exposed."),
    ):
        error = (await call_tool(tool, error=True, statistics=text))["error"]
        assert error.startswith(said)
        assert not any(trace in error for trace in ("Attic", "attic", "Desk"))
