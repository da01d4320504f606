"""Tests of statistics, against what Home Assistant's WebSocket API answers."""

from datetime import datetime, timedelta
from itertools import pairwise
import math
from typing import Any

from freezegun.api import FrozenDateTimeFactory
from hypothesis import HealthCheck, given, settings, strategies as st
import pytest
from pytest_homeassistant_custom_component.typing import MockHAClientWebSocket, WebSocketGenerator

from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.recorder.periods import PERIODS, Period, day_of, utc_offsets
from custom_components.extended_assist.recorder.statistics import as_moment, read_metadata, read_rows
from custom_components.extended_assist.recorder.statistics_totals import read_gaps
from custom_components.extended_assist.tools.statistics import GetStatisticsTool
from homeassistant.components.recorder import Recorder, get_instance
from homeassistant.components.recorder.models import StatisticData, StatisticMeanType
from homeassistant.components.recorder.statistics import statistics_during_period
from homeassistant.core import HomeAssistant
from homeassistant.util import dt as dt_util
from tests.conftest import CallTool, expose
from tests.helpers.databases import EVERY_ENGINE
from tests.helpers.recorded import HOUR, SHORT, ask, local, measurement, meter, record, record_short, steps

from .test_entities import table

ENERGY = {"unit_of_measurement": "kWh", "unit_class": "energy"}
TEMPERATURE = {"unit_of_measurement": "°C", "unit_class": "temperature"}
NOW = "2026-11-20 13:27:30"
USED, OUTSIDE, WIND, HIDDEN = "sensor.energy_used", "sensor.outside", "sensor.wind_direction", "sensor.secret_energy"
UNITS = {USED: "kWh", OUTSIDE: "°C", WIND: "°"}
EXTERNAL, HIDDEN_EXTERNAL = "utility:garage_energy", "utility:attic_energy"
STARTS = (("2025-10-01", "2025-11-03"), ("2026-09-20", "2026-11-20 13:00:00"))
GAPS = (
    ("2026-10-10 05:00:00", "2026-10-10 09:00:00"),
    ("2026-10-14", "2026-10-15"),
    ("2026-11-01 23:00:00", "2026-11-02 02:00:00"),
)


def used(index: int) -> float:
    """Return what the meter counts in an hour."""
    return round(0.1 + index % 24 / 10 + index % 7 / 3, 3)


def outside(index: int) -> float:
    """Return the mean temperature of an hour."""
    return round(10 - 8 * math.cos(index * math.tau / 24) + index % 11 / 4.1, 4)


def recorded_hours() -> list[datetime]:
    """Return the hours that have rows."""
    hours = [hour for start, end in STARTS for hour in steps(local(start), local(end))]
    return [hour for hour in hours if not any(local(start) <= hour < local(end) for start, end in GAPS)]


def short_rows(rows: list[StatisticData], moments: list[datetime]) -> list[StatisticData]:
    """Return the five-minute rows of a meter that grows evenly within each hour, so that both tables tell the same."""
    ends = {row["start"]: row["sum"] for row in rows}
    last = max(ends)
    short: list[StatisticData] = []
    for moment in moments:
        hour = moment.replace(minute=0)
        before, after = ends.get(hour - HOUR, ends[last]), ends.get(hour, ends[last] + 1.2)
        total = before + (after - before) * (moment.minute + 5) / 60
        short.append({"start": moment, "sum": total, "state": total + 1_000})
    return short


@pytest.fixture
async def home(recorder_mock: Recorder, hass: HomeAssistant, assist: None, freezer: FrozenDateTimeFactory) -> None:
    """A home in Berlin: a meter, a thermometer and a wind vane with gaps; five-minute rows of the last ten days."""
    await hass.config.async_set_time_zone("Europe/Berlin")
    freezer.move_to(local(NOW))
    for entity_id, name, unit in (
        (USED, "Energy used", "kWh"),
        (OUTSIDE, "Outside temperature", "°C"),
        (WIND, "Wind direction", "°"),
        (HIDDEN, "Secret energy", "kWh"),
    ):
        hass.states.async_set(entity_id, "5", {"friendly_name": name, "unit_of_measurement": unit})
    hours = recorded_hours()
    rows = meter(hours, used)
    await record(hass, USED, rows, **ENERGY)
    await record(hass, OUTSIDE, measurement(hours, outside), **TEMPERATURE)
    vane: list[StatisticData] = [
        {"start": hour, "mean": index * 77.7 % 360, "mean_weight": 0.2 + index % 5} for index, hour in enumerate(hours)
    ]
    await record(hass, WIND, vane, unit_of_measurement="°", mean_type=StatisticMeanType.CIRCULAR)
    await record(hass, HIDDEN, meter(hours[-48:], lambda _: 7.7), **ENERGY)
    await record(hass, EXTERNAL, meter(hours[:-30], lambda _: 0.5), name="Garage", **ENERGY)
    await record(hass, HIDDEN_EXTERNAL, meter(hours[-48:], lambda _: 7.7), name="Attic", **ENERGY)
    short = steps(local("2026-11-10 06:40:00"), local("2026-11-20 13:25:00"), SHORT)
    await record_short(hass, USED, short_rows(rows, short))
    await record_short(hass, OUTSIDE, measurement(short, lambda index: round(5 + index % 12 / 8, 3)))
    expose(hass, USED, OUTSIDE, WIND)


@pytest.fixture
async def client(home: None, hass_ws_client: WebSocketGenerator) -> MockHAClientWebSocket:
    """Return a connection to the WebSocket API."""
    return await hass_ws_client()


def api_span(start: datetime, end: datetime) -> dict[str, str]:
    """Return a span as the WebSocket API takes it."""
    return {"start_time": start.isoformat(), "end_time": end.isoformat()}


DECIMALS = {"°C": 1, "°F": 1, "K": 1, "°": 1, "%": 1, "kWh": 2, "EUR": 2, "MWh": 3, "m³": 3, "L": 1, "gal": 1}


def close(expected: float, unit: str) -> Any:
    """Return a value that equals one that is rounded as its unit deserves."""
    return pytest.approx(expected, rel=0, abs=0.5 * 10 ** -DECIMALS[unit] + 1e-9)


def said(value: float) -> str:
    """Return a number as text with one decimal at most."""
    return f"{round(value, 1):g}"


def row_start(label: str) -> datetime:
    """Return the moment that a row names."""
    if len(label) > 16:
        return dt_util.as_utc(datetime.fromisoformat(label))
    return local(label if " " not in label else f"{label}:00")


SPANS = [
    ("2026-10-01", "2026-11-01"),
    ("2026-10-25", "2026-10-26"),
    ("2025-10-01", "2026-11-20 13:27:30"),
    ("2026-11-20 00:00:00", "2026-11-20 13:27:30"),
    ("2026-11-12 08:20:00", "2026-11-13 17:40:00"),
    ("2026-11-20 12:50:00", "2026-11-20 13:20:00"),
    ("2026-10-12 07:30:00", "2026-10-13 07:30:00"),
    ("2026-10-09", "2026-10-16"),
]


@pytest.mark.parametrize(
    ("statistic_id", "types"), [(USED, ["change"]), (OUTSIDE, ["mean", "min", "max"]), (WIND, ["mean"])]
)
async def test_totals_are_those_of_home_assistant(
    client: MockHAClientWebSocket, call_tool: CallTool, statistic_id: str, types: list[str]
) -> None:
    """Change, mean, min and max over any span equal recorder/statistic_during_period."""
    for start, end in SPANS:
        if statistic_id == WIND and start == "2026-11-20 12:50:00":
            continue  # Within an hour, and the vane has no five-minute rows.
        expected = await ask(
            client,
            "recorder/statistic_during_period",
            statistic_id=statistic_id,
            fixed_period=api_span(local(start), local(end)),
        )
        data = await call_tool(GetStatisticsTool(), statistics=statistic_id, start=start, end=end)
        account = data["statistics"][statistic_id]
        assert {name: account[name] for name in types} == {
            name: close(expected[name], UNITS[statistic_id]) for name in types
        }, start
        assert not {"change", "mean", "min", "max"} & account.keys() - set(types)


ROWS = [
    ("5minute", "2026-11-20 09:00:00", "2026-11-20 11:00:00"),
    ("hour", "2026-10-24 12:00:00", "2026-10-26"),
    ("day", "2026-10-05", "2026-11-06"),
    ("week", "2026-10-05", "2026-11-02"),
    ("month", "2025-10-01", "2026-11-01"),
]


@pytest.mark.parametrize("statistic_id", [USED, OUTSIDE])
async def test_rows_are_those_of_home_assistant(
    client: MockHAClientWebSocket, call_tool: CallTool, statistic_id: str
) -> None:
    """Rows of every period equal recorder/statistics_during_period, over gaps and the change of the clocks."""
    for period, start, end in ROWS:
        answer = await ask(
            client,
            "recorder/statistics_during_period",
            statistic_ids=[statistic_id],
            period=period,
            types=["change", "mean", "min", "max", "state"],
            **api_span(local(start), local(end) - timedelta(seconds=1)),
        )
        types = ["change", "state"] if statistic_id == USED else ["mean", "min", "max"]
        data = await call_tool(
            GetStatisticsTool(ToolboxOptions(budget=8_000)),
            statistics=statistic_id,
            start=start,
            end=end,
            period=period,
            types=types,
        )
        rows = table(data["statistics"][statistic_id]["rows"])
        assert len(rows) > 3
        first = "time" if period == "5minute" else period
        assert [
            {"start": row_start(row[first]).timestamp(), **{name: float(row[name]) for name in types}} for row in rows
        ] == [
            {"start": row["start"] / 1000, **{name: close(row[name], UNITS[statistic_id]) for name in types}}
            for row in answer[statistic_id]
        ]
        if statistic_id == USED:
            added = sum(float(row["change"]) for row in rows)
            assert added == pytest.approx(data["statistics"][USED]["change"], abs=0.005 * (len(rows) + 1))
            assert "note" not in data["statistics"][USED]


async def _in_recorder(hass: HomeAssistant, function: Any, *arguments: Any) -> Any:
    """Run a function in the recorder's executor."""
    return await get_instance(hass).async_add_executor_job(function, hass, *arguments)


@EVERY_ENGINE
async def test_rows_of_any_span(home: None, hass: HomeAssistant) -> None:
    """On every engine, rows of any span and period equal Home Assistant's; gaps are what has no rows."""
    metadata = await _in_recorder(hass, read_metadata, {USED, OUTSIDE, WIND})
    recorded = {hour.timestamp() for hour in recorded_hours()}
    days = st.integers(-3, 62).map(lambda days: local("2026-09-19") + timedelta(days=days))

    @settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(
        period=st.sampled_from(PERIODS[1:]), ends=st.tuples(days, days), statistic_id=st.sampled_from(sorted(metadata))
    )
    def compare(hass: HomeAssistant, period: Period, ends: tuple[datetime, datetime], statistic_id: str) -> None:
        start, end = (_period_start(period, moment) for moment in sorted(ends))
        if start == end:
            return
        expected = statistics_during_period(
            hass,
            start,
            end - timedelta(seconds=1),
            {statistic_id},
            period,
            None,
            {"change", "mean", "min", "max"},
        ).get(statistic_id, [])
        rows = read_rows(hass, metadata[statistic_id], period, (start, end))
        assert [as_moment(row.start) for row in rows] == [row["start"] for row in expected]
        for name in ("change", "mean", "min", "max"):
            values = [row.get(name) for row in expected]
            assert [getattr(row, name) for row in rows] == pytest.approx(values, rel=1e-9, abs=1e-6)
        gaps = read_gaps(hass, metadata[statistic_id][0], period, (start, end))
        missing = sum(moment.timestamp() not in recorded for moment in steps(start, end))
        assert (gaps.count == 0) is (missing == 0)
        if gaps.count == len(gaps.longest):
            assert sum(stop - begin for begin, stop in gaps.longest) == missing * 3600

    await _in_recorder(hass, compare)


def _period_start(period: Period, moment: datetime) -> datetime:
    """Return the start of the period that a local midnight is in."""
    if period == "hour":
        return moment
    return dt_util.as_utc(
        dt_util.start_of_local_day(day_of(dt_util.as_local(moment).date().toordinal() - 719_163, period))
    )


@EVERY_ENGINE
async def test_answer_on_every_engine(home: None, call_tool: CallTool) -> None:
    """The whole answer is the same on every engine, and is what a plain replay of the hours gives."""
    hours = recorded_hours()
    days = ["2026-10-09", "2026-10-10", "2026-10-11"]
    by_day = {
        day: [index for index, hour in enumerate(hours) if dt_util.as_local(hour).date().isoformat() == day]
        for day in days
    }
    indexes = [index for day in days for index in by_day[day]]
    means = {day: sum(map(outside, by_day[day])) / len(by_day[day]) for day in days}
    warmest = max(indexes, key=outside)
    coldest = min(indexes, key=outside)
    assert [len(by_day[day]) for day in days] == [24, 20, 24]
    data = await call_tool(
        GetStatisticsTool(ToolboxOptions(external_statistics=frozenset([EXTERNAL]))),
        statistics=[USED, "outside temperature", "garage"],
        start="2026-10-09",
        end="2026-10-12",
        period="day",
    )
    changes = {day: round(sum(map(used, by_day[day])), 2) for day in days}
    gaps = ["2026-10-10 05:00 to 2026-10-10 09:00"]
    assert data == {
        "start": "2026-10-09 00:00",
        "end": "2026-10-12 00:00",
        "period": "day",
        "statistics": {
            USED: {
                "name": "Energy used",
                "unit": "kWh",
                "change": close(sum(map(used, indexes)), "kWh"),
                "gaps": gaps,
                "rows": "day,change\n" + "".join(f"{day},{changes[day]:g}\n" for day in days),
                "highest_change": f"{max(changes.values()):g} in {max(days, key=changes.__getitem__)}",
                "lowest_change": f"{min(changes.values()):g} in 2026-10-10",
            },
            OUTSIDE: {
                "name": "Outside temperature",
                "unit": "°C",
                "mean": close(sum(map(outside, indexes)) / len(indexes), "°C"),
                "min": close(outside(coldest) - 1.25, "°C"),
                "min_at": f"{dt_util.as_local(hours[coldest]):%Y-%m-%d %H:%M} (hour)",
                "max": close(outside(warmest) + 2.5, "°C"),
                "max_at": f"{dt_util.as_local(hours[warmest]):%Y-%m-%d %H:%M} (hour)",
                "gaps": gaps,
                "highest_mean": f"{said(max(means.values()))} in {max(days, key=means.__getitem__)}",
                "lowest_mean": f"{said(min(means.values()))} in {min(days, key=means.__getitem__)}",
                "rows": "day,mean,min,max\n"
                + "".join(
                    f"{day},{said(means[day])},{said(min(map(outside, by_day[day])) - 1.25)},"
                    f"{said(max(map(outside, by_day[day])) + 2.5)}\n"
                    for day in days
                ),
            },
            EXTERNAL: {
                "name": "garage",
                "unit": "kWh",
                "change": len(indexes) * 0.5,
                "gaps": gaps,
                "highest_change": "12 in 2026-10-09, 2026-10-11",
                "lowest_change": "10 in 2026-10-10",
                "rows": "day,change\n2026-10-09,12\n2026-10-10,10\n2026-10-11,12\n",
            },
        },
    }


async def test_same_month_last_year(client: MockHAClientWebSocket, call_tool: CallTool) -> None:
    """Two spans are compared in one call; months are compared with months, and rows come only when asked for."""
    values = {}
    for year in (2025, 2026):
        for statistic_id in (USED, OUTSIDE, WIND):
            values[year, statistic_id] = await ask(
                client,
                "recorder/statistic_during_period",
                statistic_id=statistic_id,
                fixed_period=api_span(local(f"{year}-10-01"), local(f"{year}-11-01")),
            )
    arguments = {"start": "2026-10-01", "end": "2026-11-01", "compare_start": "2025-10-01"}
    data = await call_tool(GetStatisticsTool(), statistics=[USED, OUTSIDE, WIND], **arguments)
    assert data["compared_with"] == {"start": "2025-10-01 00:00", "end": "2025-11-01 00:00"}
    assert "period" not in data
    assert all("rows" not in account for account in data["statistics"].values())
    now, then = values[2026, USED]["change"], values[2025, USED]["change"]
    assert data["statistics"][USED]["compared"] == {
        "change": {
            "value": close(then, "kWh"),
            "difference": pytest.approx(now - then, abs=0.011),
            "percent": round(100 * (now - then) / then, 1),
        }
    }
    now, then = values[2026, OUTSIDE]["mean"], values[2025, OUTSIDE]["mean"]
    assert data["statistics"][OUTSIDE]["compared"]["mean"] == {
        "value": close(then, "°C"),
        "difference": pytest.approx(now - then, abs=0.11),
    }
    now, then = values[2026, WIND]["mean"], values[2025, WIND]["mean"]
    turn = data["statistics"][WIND]["compared"]["mean"]["difference"]
    assert abs(turn) <= 180
    assert math.cos(math.radians(turn - (now - then))) == pytest.approx(1, abs=1e-5)
    with_rows = await call_tool(GetStatisticsTool(), statistics=USED, period="week", **arguments)
    assert table(with_rows["statistics"][USED]["rows"])
    september = await call_tool(
        GetStatisticsTool(), statistics=USED, start="2026-10-01", end="2026-11-01", compare_start="2026-09-01"
    )
    assert september["compared_with"] == {"start": "2026-09-01 00:00", "end": "2026-10-01 00:00"}


async def test_compared_span_without_data(home: None, call_tool: CallTool) -> None:
    """A span to compare with that is empty is named, not taken for zero."""
    data = await call_tool(
        GetStatisticsTool(),
        statistics=USED,
        start="2026-11-19",
        end="2026-11-20",
        compare_start="2024-11-19 06:00:00",
        compare_end="2024-11-19 18:00:00",
    )
    assert data["statistics"][USED]["compared"] == {}
    assert "gaps" not in data["statistics"][USED]
    assert data["statistics"][USED]["note"] == (
        "No data in the span to compare with; the recording began at 2025-10-01 00:00."
    )


async def test_gaps_of_the_compared_span(home: None, call_tool: CallTool) -> None:
    """Gaps of the span to compare with are named as well."""
    data = await call_tool(
        GetStatisticsTool(), statistics=USED, start="2026-10-15", end="2026-10-16", compare_start="2026-10-10"
    )
    assert data["statistics"][USED]["compared"]["gaps"] == ["2026-10-10 05:00 to 2026-10-10 09:00"]


async def test_gap_at_the_start(home: None, call_tool: CallTool) -> None:
    """Where a span begins in a gap, what its first row holds of the time before is said."""
    data = await call_tool(
        GetStatisticsTool(), statistics=USED, start="2026-10-10 07:00:00", end="2026-10-10 12:00:00", period="hour"
    )
    account = data["statistics"][USED]
    assert account["gaps"] == ["2026-10-10 07:00 to 2026-10-10 09:00"]
    assert account["note"].endswith("the first holds what changed before it, while nothing was recorded.")


async def test_many_gaps(home: None, hass: HomeAssistant, call_tool: CallTool) -> None:
    """Of many gaps the longest are named, the others counted."""
    hours = steps(local("2026-11-01"), local("2026-11-08"))
    kept = [hour for index, hour in enumerate(hours) if index % 10 < 8 and not 50 <= index < 70]
    hass.states.async_set("sensor.patchy", "1", {"friendly_name": "Patchy"})
    await record(hass, "sensor.patchy", measurement(kept, outside))
    expose(hass, "sensor.patchy")
    data = await call_tool(GetStatisticsTool(), statistics="patchy", start="2026-11-01", end="2026-11-08")
    gaps = data["statistics"]["sensor.patchy"]["gaps"]
    assert len(gaps) == 6
    assert "2026-11-03 00:00 to 2026-11-03 22:00" in gaps
    assert gaps[-1] == "9 shorter ones"
    assert gaps[:5] == sorted(gaps[:5])


async def test_unfinished_hour(client: MockHAClientWebSocket, call_tool: CallTool) -> None:
    """The total counts what the unfinished hour has brought; the rows, which hold full hours, say that they don't."""
    data = await call_tool(GetStatisticsTool(), statistics=USED, start="2026-11-20", period="hour")
    account = data["statistics"][USED]
    rows = table(account["rows"])
    assert rows[-1]["hour"] == "2026-11-20 12:00"
    added = sum(float(row["change"]) for row in rows)
    assert account["change"] == pytest.approx(added + 1.2 * 25 / 60, abs=0.005 * (len(rows) + 1))
    assert account["note"] == (
        f"The rows add up to {said(added)}: they hold full hours only, the total counts to five minutes."
    )
    assert "gaps" not in account


async def test_five_minutes_where_kept(home: None, call_tool: CallTool) -> None:
    """Five-minute rows are given where they are kept; before that hours, and the answer says so."""
    kept = await call_tool(GetStatisticsTool(), statistics=OUTSIDE, hours=1, period="5minute")
    assert kept["period"] == "5minute"
    assert len(table(kept["statistics"][OUTSIDE]["rows"])) == 11
    assert kept["statistics"][OUTSIDE]["max_at"].endswith("(5 minutes)")
    purged = await call_tool(
        GetStatisticsTool(),
        statistics=OUTSIDE,
        start="2026-11-10 05:00:00",
        end="2026-11-10 12:00:00",
        period="5minute",
    )
    assert purged["period"] == "hour"
    assert purged["note"] == "'5minute' is kept only since 2026-11-10 06:40 for these; the rows are hours."
    external = await call_tool(
        GetStatisticsTool(ToolboxOptions(external_statistics=frozenset([EXTERNAL]))),
        statistics=EXTERNAL,
        start="2026-11-18 05:00:00",
        end="2026-11-18 12:00:00",
        period="5minute",
    )
    assert external["note"] == "'5minute' does not exist for these; the rows are hours."


async def test_local_times_of_the_repeated_hour(home: None, call_tool: CallTool) -> None:
    """The hour that occurs twice is told apart by its offset from UTC."""
    data = await call_tool(
        GetStatisticsTool(), statistics=OUTSIDE, start="2026-10-25", end="2026-10-25 06:00:00", period="hour"
    )
    assert [row["hour"][11:] for row in table(data["statistics"][OUTSIDE]["rows"])] == [
        "00:00",
        "01:00",
        "02:00+02:00",
        "02:00+01:00",
        "03:00",
        "04:00",
        "05:00",
    ]


async def test_units(client: MockHAClientWebSocket, hass: HomeAssistant, call_tool: CallTool) -> None:
    """Values come in the unit that the user sees, or in the one asked for, as Home Assistant converts them."""
    expected = await ask(
        client,
        "recorder/statistic_during_period",
        statistic_id=OUTSIDE,
        units={"temperature": "°F"},
        fixed_period=api_span(local("2026-10-01"), local("2026-10-02")),
    )
    arguments = {"statistics": OUTSIDE, "start": "2026-10-01", "end": "2026-10-02"}
    for unit in ("°F", "f", "°f"):
        data = await call_tool(GetStatisticsTool(), unit=unit, **arguments)
        account = data["statistics"][OUTSIDE]
        assert account["unit"] == "°F"
        assert [account[name] for name in ("mean", "min", "max")] == [
            close(expected[name], "°F") for name in ("mean", "min", "max")
        ]
    hass.states.async_set(OUTSIDE, "278", {"unit_of_measurement": "K"})
    seen = (await call_tool(GetStatisticsTool(), **arguments))["statistics"][OUTSIDE]
    assert seen["unit"] == "K"
    assert seen["mean"] == close((expected["mean"] - 32) / 1.8 + 273.15, "K")
    meter_in_mwh = await call_tool(
        GetStatisticsTool(), statistics=USED, start="2026-10-01", end="2026-11-01", unit="MWh", period="week"
    )
    account = meter_in_mwh["statistics"][USED]
    assert sum(float(row["change"]) for row in table(account["rows"])) == pytest.approx(account["change"], abs=0.004)
    assert account["change"] < 5


async def test_budget(home: None, call_tool: CallTool) -> None:
    """Rows that do not fit are left out from the oldest on, and the answer says how to get them."""
    data = await call_tool(
        GetStatisticsTool(ToolboxOptions(budget=1_500)),
        statistics=OUTSIDE,
        start="2026-11-05",
        end="2026-11-18",
        period="hour",
    )
    assert len(str(data)) <= 1_600
    account = data["statistics"][OUTSIDE]
    rows = table(account["rows"])
    assert rows[-1]["hour"] == "2026-11-17 23:00"
    assert account["note"] == (
        f"{13 * 24 - len(rows)} older rows are left out; take a coarser period or a shorter span."
    )
    assert all(row_start(later["hour"]) - row_start(row["hour"]) == HOUR for row, later in pairwise(rows))


MISTAKES: list[tuple[dict[str, Any], str]] = [
    (
        {"statistics": HIDDEN},
        "'sensor.secret_energy' was not found or is not exposed. Nearest: Energy used (sensor.energy_used), ",
    ),
    (
        {"statistics": "sensor.nowhere_energy"},
        "'sensor.nowhere_energy' was not found or is not exposed. Nearest: Energy used (sensor.energy_used), ",
    ),
    ({"statistics": HIDDEN_EXTERNAL}, "'utility:attic_energy' was not found or is not exposed."),
    ({"statistics": EXTERNAL}, "'utility:garage_energy' was not found or is not exposed."),
    (
        {"statistics": "lamp"},
        "'lamp' has no statistics: Home Assistant keeps them only for numeric sensors with a state class. Use ",
    ),
    (
        {"statistics": USED, "start": "2024-01-01", "end": "2024-02-01"},
        "sensor.energy_used has no statistics from 2024-01-01 00:00 to 2024-02-01 00:00; it has them from 2025-10-01 00:00",
    ),
    (
        {"statistics": USED, "unit": "°C"},
        "sensor.energy_used is in kWh and cannot be given in '°C'; use one of ",
    ),
    (
        {"statistics": "wind", "unit": "km/h"},
        "sensor.wind_direction is in ° and cannot be given in 'km/h' or converted.",
    ),
    ({"statistics": USED, "types": ["mean"]}, "sensor.energy_used has none of these types; it has change, state."),
    ({"statistics": USED, "start": "2026-11-20", "end": "2026-11-19"}, "The span is backwards"),
    ({"statistics": USED, "start": "2026-11-21", "end": "2026-11-22"}, "The span lies in the future"),
    (
        {"statistics": USED, "compare_start": "2026-11-21"},
        "The span to compare with is wrong. The span ",
    ),
    (
        {"statistics": USED, "compare_start": "2026-11-19", "compare_end": "2026-11-18"},
        "The span to compare with is wrong. The span is backwards",
    ),
    ({"statistics": USED, "compare_end": "2026-11-18"}, "compare_end needs compare_start."),
    (
        {"statistics": USED, "start": "2026-01-01", "period": "hour"},
        "This span has 7765 periods of 'hour', more than 400. Use 'day' or a shorter span.",
    ),
    ({"statistics": USED, "period": "year"}, "extended_assist__get_statistics was called with wrong arguments"),
]


async def test_bad_input(home: None, hass: HomeAssistant, call_tool: CallTool) -> None:
    """Each mistake has its own sentence, and what is hidden looks like what does not exist."""
    hass.states.async_set("light.lamp", "on", {"friendly_name": "Lamp"})
    expose(hass, "light.lamp")
    for arguments, sentence in MISTAKES:
        data = await call_tool(GetStatisticsTool(), error=True, **arguments)
        assert data["error"].startswith(sentence)
        assert not any(trace in data["error"] for trace in ("7.7", "Attic", "Secret"))


async def test_no_trace_of_hidden_statistics(home: None, call_tool: CallTool) -> None:
    """Names that also fit hidden statistics mean the visible ones alone; external ones are visible only as named."""
    data = await call_tool(
        GetStatisticsTool(ToolboxOptions(external_statistics=frozenset([EXTERNAL, "sensor.secret_energy"]))),
        statistics=["energy", "garage"],
        start="2026-11-17",
        end="2026-11-20",
    )
    assert set(data["statistics"]) == {USED, EXTERNAL}
    for text in (HIDDEN, "secret_energy", "Attic", "attic_energy"):
        error = await call_tool(
            GetStatisticsTool(ToolboxOptions(external_statistics=frozenset([EXTERNAL, HIDDEN]))),
            error=True,
            statistics=text,
        )
        assert "was not found or is not exposed" in error["error"]


async def test_too_many_statistics(hass: HomeAssistant, home: None, call_tool: CallTool) -> None:
    """A name that means more statistics than one answer holds is refused with their number."""
    for number in range(11):
        entity_id = f"sensor.plug_{number}"
        hass.states.async_set(entity_id, "1", {"friendly_name": f"Plug {number}"})
        await record(hass, entity_id, meter(recorded_hours()[-5:], used), **ENERGY)
        expose(hass, entity_id)
    data = await call_tool(GetStatisticsTool(), error=True, statistics="plug")
    assert data["error"] == "These names mean 11 statistics; name at most 10, by entity id."


@given(
    start=st.integers(1_420_000_000, 1_890_000_000),
    length=st.timedeltas(timedelta(hours=1), timedelta(days=800)),
    zone=st.sampled_from(["Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe", "Asia/Kolkata", "UTC"]),
)
@settings(max_examples=50, deadline=None)
def test_utc_offsets(start: int, length: timedelta, zone: str) -> None:
    """The offsets of a span, computed by looking for changes, are those of every hour in it."""
    before = dt_util.get_default_time_zone()
    local_zone = dt_util.get_time_zone(zone)
    assert local_zone
    dt_util.set_default_time_zone(local_zone)
    try:
        end = start + length.total_seconds()
        offsets = utc_offsets(start, end)
        for moment in range(start, int(end), 9 * 3600):
            expected = datetime.fromtimestamp(moment, local_zone).utcoffset()
            assert expected is not None
            assert next(offset for until, offset in offsets if moment < until) == expected.total_seconds()
    finally:
        dt_util.set_default_time_zone(before)
