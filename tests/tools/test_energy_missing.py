"""Tests of what get_energy says of a dashboard that is not complete: nothing is told that cannot be known."""

from collections.abc import Awaitable, Callable
from typing import Any

from freezegun.api import FrozenDateTimeFactory
import pytest

from custom_components.extended_assist.tools.energy import GetEnergyTool
from homeassistant.components.energy.data import async_get_manager
from homeassistant.components.recorder import Recorder
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
from tests.conftest import CallTool, expose
from tests.helpers.databases import EVERY_ENGINE
from tests.helpers.recorded import local, meter, record, steps

from .test_energy import store, totals
from .test_entities import table

ENERGY = {"unit_of_measurement": "kWh", "unit_class": "energy"}
DAY = {"start": "2026-11-18", "end": "2026-11-19"}
GRID = {"type": "grid", "stat_energy_from": "sensor.grid_import", "stat_energy_to": None}
BOTH_WAYS = {**GRID, "stat_energy_to": "sensor.grid_export"}
SOLAR = {"type": "solar", "stat_energy_from": "sensor.roof"}
BATTERY = {"type": "battery", "stat_energy_from": "sensor.battery_out", "stat_energy_to": "sensor.battery_in"}
HOME = {"type": "home", "stat_energy_to": "sensor.whole_home"}
NAMES = {
    "sensor.grid_import": "Grid import",
    "sensor.grid_export": "Grid export",
    "sensor.roof": "Roof",
    "sensor.battery_out": "Battery out",
    "sensor.battery_in": "Battery in",
    "sensor.whole_home": "Whole home",
}
NOTHING_ELSE = "gas, water, cost, single devices."

type Furnish = Callable[..., Awaitable[None]]


@pytest.fixture
def furnish(
    recorder_mock: Recorder,
    hass: HomeAssistant,
    assist: None,
    freezer: FrozenDateTimeFactory,
    hass_storage: dict[str, Any],
) -> Furnish:
    """Return a function that sets up a dashboard of sources; what each meter counts in an hour, and since when."""

    async def set_up(
        *sources: dict[str, Any],
        zone: str = "Europe/Berlin",
        now: str = "2026-11-20 13:27:30",
        since: dict[str, str] | None = None,
        until: dict[str, str] | None = None,
        hourly: dict[str, float] | None = None,
        **more: Any,
    ) -> None:
        await hass.config.async_set_time_zone(zone)
        freezer.move_to(local(now))
        store(hass_storage, {"energy_sources": list(sources), "device_consumption": [], **more})
        assert await async_setup_component(hass, "energy", {})
        await hass.async_block_till_done()
        ids = [source[key] for source in sources for key in ("stat_energy_from", "stat_energy_to") if source.get(key)]
        ids += [device["stat_consumption"] for device in more.get("device_consumption", [])]
        for statistic_id in ids:
            sensor(hass, statistic_id, NAMES.get(statistic_id, statistic_id.partition(".")[2]))
            begin = local((since or {}).get(statistic_id, "2026-11-10"))
            end = local((until or {}).get(statistic_id, now[:14] + "00:00"))
            hours = [hour.replace(minute=0) for hour in steps(begin, end)]
            each = (hourly or {}).get(statistic_id, 0.5)
            await record(hass, statistic_id, meter(hours, lambda _, each=each: each), **ENERGY)
        expose(hass, *ids)

    return set_up


def sensor(hass: HomeAssistant, entity_id: str, name: str, measured: str = "energy", kind: str = "total") -> None:
    """Add a meter."""
    hass.states.async_set(entity_id, "5", {"friendly_name": name, "device_class": measured, "state_class": kind})


async def test_solar_alone(furnish: Furnish, hass: HomeAssistant, call_tool: CallTool) -> None:
    """Without a grid meter nothing is said of consumption and shares; meters that could be it are named."""
    await furnish(SOLAR)
    sensor(hass, "sensor.mains", "Mains", kind="total_increasing")
    sensor(hass, "sensor.stromzaehler", "Netzbezug")
    sensor(hass, "sensor.cellar_gas", "Cellar", measured="gas")
    sensor(hass, "sensor.garden", "Garden", measured="water")
    sensor(hass, "sensor.bill", "Bill", measured="monetary")
    sensor(hass, "sensor.feed_in", "Grid feed-in")
    sensor(hass, "sensor.akku", "Akku")
    # Neither of these looks like anything that is missing.
    sensor(hass, "sensor.grid_power", "Grid power", kind="measurement")
    sensor(hass, "sensor.redwood_lamp", "Redwood lamp")
    sensor(hass, "sensor.hidden_grid", "Hidden grid")
    hass.states.async_set("sensor.plain", "1")
    expose(hass, "sensor.mains", "sensor.stromzaehler", "sensor.cellar_gas", "sensor.garden", "sensor.bill")
    expose(hass, "sensor.feed_in", "sensor.akku", "sensor.grid_power", "sensor.redwood_lamp", "sensor.plain")
    data = await call_tool(GetEnergyTool(), **DAY)
    assert data == {
        "start": "2026-11-18 00:00",
        "end": "2026-11-19 00:00",
        "before": {"start": "2026-11-17 00:00", "end": "2026-11-18 00:00"},
        "missing": (
            "Not in the energy dashboard: grid (similar: Mains, Netzbezug), export to the grid (similar: Grid feed-in), "
            "battery (similar: Akku), gas (similar: Cellar), water (similar: Garden), cost (similar: Bill), single devices."
        ),
        "totals": "what,amount,unit,before,change_percent\nsolar production,12,kWh,12,0\n",
        "note": "What comes from the grid is not known for all of the span; so consumption and shares cannot be told.",
    }


async def test_battery_alone(furnish: Furnish, call_tool: CallTool) -> None:
    """A battery without a grid meter tells what it took and gave, and no consumption."""
    await furnish(BATTERY, hourly={"sensor.battery_in": 1.0})
    data = await call_tool(GetEnergyTool(), **DAY)
    assert {what: row["amount"] for what, row in totals(data).items()} == {
        "battery charged": "24",
        "battery discharged": "12",
    }
    assert data["missing"] == f"Not in the energy dashboard: grid, export to the grid, solar, {NOTHING_ELSE}"


async def test_home_meter_without_grid(furnish: Furnish, call_tool: CallTool) -> None:
    """A meter of the whole home knows the consumption, but not where it came from."""
    await furnish(HOME, SOLAR, hourly={"sensor.whole_home": 2.0})
    data = await call_tool(GetEnergyTool(), **DAY)
    found = totals(data)
    assert (found["consumption"]["amount"], found["consumption"]["before"]) == ("48", "48")
    assert not [what for what in found if "share" in what]
    assert "note" not in data


async def test_no_export_meter(furnish: Furnish, call_tool: CallTool) -> None:
    """How much of the sun was used at home is unknown without a meter of what was not."""
    await furnish(GRID, SOLAR)
    data = await call_tool(GetEnergyTool(), **DAY)
    assert totals(data)["consumption"]["amount"] == "24"
    assert totals(data)["share of own production"]["amount"] == "50"
    assert "share of solar used at home" not in totals(data)
    assert data["missing"].startswith("Not in the energy dashboard: export to the grid, battery, ")


async def test_two_grid_meters(furnish: Furnish, call_tool: CallTool) -> None:
    """Two tariffs are told apart, each with its price; both together make the consumption."""
    day = {**GRID, "number_energy_price": 0.31239, "name": "Day tariff"}
    night = {"type": "grid", "stat_energy_from": "sensor.night", "number_energy_price": 0.2}
    await furnish(day, night, hourly={"sensor.grid_import": 1.0, "sensor.night": 2.0})
    data = await call_tool(GetEnergyTool(), **DAY)
    assert (totals(data)["from grid"]["amount"], totals(data)["consumption"]["amount"]) == ("72", "72")
    assert data["sources"] == "source,what,amount,before\nDay tariff,from grid,24,24\nnight,from grid,48,48\n"
    assert data["prices"] == {"from grid, Day tariff": "0.3124 EUR/kWh", "from grid, night": "0.2 EUR/kWh"}


async def test_second_grid_meter_came_later(furnish: Furnish, call_tool: CallTool) -> None:
    """A second meter that was added later is no hole in the first one's account."""
    night = {"type": "grid", "stat_energy_from": "sensor.night"}
    await furnish(GRID, night, SOLAR, since={"sensor.night": "2026-11-19"})
    before = await call_tool(GetEnergyTool(), **DAY)
    assert totals(before)["consumption"]["amount"] == "24"
    assert before["note"] == "No data in this span: night."
    later = await call_tool(GetEnergyTool(), start="2026-11-18", end="2026-11-20")
    assert totals(later)["consumption"]["amount"] == "60"
    assert later["note"] == "Recorded for a part of this span only: night since 2026-11-19 00:00."


@EVERY_ENGINE
async def test_grid_came_later(furnish: Furnish, call_tool: CallTool) -> None:
    """Consumption is not told of a time in which solar energy was counted and what came from the grid was not."""
    await furnish(BOTH_WAYS, SOLAR, since={"sensor.grid_import": "2026-11-18 06:00:00"})
    unknown = "What comes from the grid is not known for all of the span; so consumption and shares cannot be told."
    data = await call_tool(GetEnergyTool(), **DAY)
    assert totals(data)["from grid"]["amount"] == "9"
    assert "consumption" not in totals(data)
    assert data["note"] == (f"{unknown} Recorded for a part of this span only: Grid import since 2026-11-18 06:00.")
    earlier = await call_tool(GetEnergyTool(), start="2026-11-17", end="2026-11-18")
    assert earlier["note"] == f"{unknown} No data in this span: Grid import."
    later = await call_tool(GetEnergyTool(), start="2026-11-19", end="2026-11-20")
    assert (totals(later)["consumption"]["amount"], totals(later)["consumption"]["before"]) == ("12", "")
    assert later["note"] == "Recorded for a part of the span before only: Grid import since 2026-11-18 06:00."


async def test_everything_came_later(furnish: Furnish, call_tool: CallTool) -> None:
    """Where all meters began within the span, what follows from them is told, and since when."""
    await furnish(GRID, SOLAR, since=dict.fromkeys(NAMES, "2026-11-18 06:00:00"))
    data = await call_tool(GetEnergyTool(), **DAY)
    assert totals(data)["consumption"]["amount"] == "18"
    assert data["note"] == (
        "Recorded for a part of this span only: Grid import since 2026-11-18 06:00, Roof since 2026-11-18 06:00. "
        "Nothing is recorded of the span before."
    )


async def test_old_meter_that_ended(furnish: Furnish, call_tool: CallTool) -> None:
    """A meter that was replaced long ago is named, and keeps nothing from being told."""
    old = {"type": "solar", "stat_energy_from": "sensor.old_roof"}
    await furnish(BOTH_WAYS, SOLAR, old, until={"sensor.old_roof": "2026-11-12"}, hourly={"sensor.grid_export": 0.1})
    data = await call_tool(GetEnergyTool(), **DAY)
    assert totals(data)["consumption"]["amount"] == "21.6"
    assert totals(data)["share of solar used at home"]["amount"] == "80"
    assert data["note"] == "No data in this span: old_roof."


@EVERY_ENGINE
async def test_grid_ended(furnish: Furnish, call_tool: CallTool) -> None:
    """A meter that fell silent in the span is named, and what needs it is not told of a time that it did not count."""
    await furnish(BOTH_WAYS, SOLAR, until={"sensor.grid_import": "2026-11-18 06:00:00"})
    data = await call_tool(GetEnergyTool(), **DAY)
    assert totals(data)["from grid"]["amount"] == "3"
    assert "consumption" not in totals(data)
    assert data["note"] == (
        "What comes from the grid is not known for all of the span; so consumption and shares cannot be told. "
        "Recorded for a part of this span only: Grid import until 2026-11-18 06:00."
    )
    later = await call_tool(GetEnergyTool(), start="2026-11-19", end="2026-11-20")
    assert "Recorded for a part of the span before only: Grid import until 2026-11-18 06:00." in later["note"]


async def test_device_ended(furnish: Furnish, call_tool: CallTool) -> None:
    """A device that fell silent is named, and what is known of the home is told."""
    devices = [{"stat_consumption": "sensor.oven"}]
    await furnish(GRID, device_consumption=devices, until={"sensor.oven": "2026-11-18 06:00:00"})
    data = await call_tool(GetEnergyTool(), **DAY)
    assert totals(data)["consumption"]["amount"] == "12"
    assert data["note"] == "Recorded for a part of this span only: oven until 2026-11-18 06:00."


async def test_hidden_and_missing_look_alike(furnish: Furnish, hass: HomeAssistant, call_tool: CallTool) -> None:
    """Where something is hidden, what is missing is said so that the two cannot be told apart."""
    await furnish(GRID, SOLAR, {"type": "gas", "stat_energy_from": "sensor.gas"})
    sensor(hass, "sensor.grid_two", "Grid two")
    expose(hass, "sensor.grid_two")
    for hidden in ("sensor.gas", "sensor.grid_import"):
        expose(hass, "sensor.gas", "sensor.grid_import")
        hass.states.async_remove(hidden)
        data = await call_tool(GetEnergyTool(), **DAY)
        assert data["missing"].startswith("Not in the energy dashboard or not exposed: ")
        assert ("gas," in data["missing"]) is (hidden == "sensor.gas")
        assert ("grid (similar: Grid two)" in data["missing"]) is (hidden == "sensor.grid_import")
        assert ("consumption" in totals(data)) is (hidden == "sensor.gas")
        sensor(hass, hidden, "Back")


async def test_less_than_nothing(furnish: Furnish, call_tool: CallTool) -> None:
    """Meters that contradict each other are told as they are, with a warning."""
    await furnish(BOTH_WAYS, SOLAR, hourly={"sensor.grid_export": 3.0})
    data = await call_tool(GetEnergyTool(), **DAY)
    assert totals(data)["consumption"]["amount"] == "-48"
    assert "share of own production" not in totals(data)
    assert data["note"] == "The meters contradict each other: less than nothing was consumed."


async def test_without_currency(furnish: Furnish, hass: HomeAssistant, call_tool: CallTool) -> None:
    """Prices that an entity says come with its unit, rounded; one that is not known now is left out."""
    hass.states.async_set("sensor.price", "0.311234", {"unit_of_measurement": "ct/kWh"})
    hass.config.currency = ""
    gas = {"type": "gas", "stat_energy_from": "sensor.gas", "number_energy_price": 0.9}
    await furnish({**GRID, "entity_energy_price": "sensor.price"}, gas)
    expose(hass, "sensor.price", "sensor.grid_import_cost")
    hass.states.async_set("sensor.grid_import_cost", "1", {"friendly_name": "Cost"})
    data = await call_tool(GetEnergyTool(), **DAY)
    assert data["prices"] == {"from grid": "0.3112 ct/kWh", "gas": "0.9 per unit of the meter"}
    assert totals(data)["cost of grid"] == {"amount": "", "unit": "", "before": "", "change_percent": ""}
    assert "cost of gas" in data["missing"]
    hass.states.async_set("sensor.price", "unavailable", {"unit_of_measurement": "ct/kWh"})
    assert "from grid" not in (await call_tool(GetEnergyTool(), **DAY))["prices"]


async def test_many_without_data(furnish: Furnish, call_tool: CallTool) -> None:
    """Of many meters without data some are named, the others counted."""
    devices = [{"stat_consumption": f"sensor.plug_{number}"} for number in range(9)]
    ends = {device["stat_consumption"]: "2026-11-12" for device in devices}
    await furnish(GRID, until=ends, device_consumption=devices)
    data = await call_tool(GetEnergyTool(), **DAY)
    assert data["note"] == "No data in this span: plug_0, plug_1, plug_2, plug_3, plug_4, plug_5 and 3 more."
    assert data["missing"] == "Not in the energy dashboard: solar, battery, gas, water, cost."


async def test_before_all_data(furnish: Furnish, hass: HomeAssistant, call_tool: CallTool) -> None:
    """A span before the recording is answered with where it begins."""
    await furnish(GRID)
    error = await call_tool(GetEnergyTool(), error=True, start="2026-01-01", end="2026-02-01")
    assert error["error"] == (
        "The energy dashboard has no data from 2026-01-01 00:00 to 2026-02-01 00:00. Its data begin at 2026-11-10 00:00."
    )
    manager = await async_get_manager(hass)
    manager.data = {"energy_sources": [{"type": "solar", "stat_energy_from": "sensor.new"}], "device_consumption": []}
    sensor(hass, "sensor.new", "New")
    expose(hass, "sensor.new")
    error = await call_tool(GetEnergyTool(), error=True, **DAY)
    assert error["error"].endswith("to 2026-11-19 00:00. It has none at all yet.")


@pytest.mark.parametrize(
    ("zone", "start", "end", "hours"),
    [
        ("Europe/Berlin", "2026-10-25", "2026-10-26", 25),
        ("Europe/Berlin", "2026-03-29", "2026-03-30", 23),
        ("America/St_Johns", "2026-11-01", "2026-11-02", 25),
        ("America/St_Johns", "2026-03-08", "2026-03-09", 23),
    ],
)
async def test_days_on_which_clocks_change(
    furnish: Furnish, call_tool: CallTool, zone: str, start: str, end: str, hours: int
) -> None:
    """Days of 23 and 25 hours count what they are long, in any zone."""
    await furnish(
        BOTH_WAYS, SOLAR, zone=zone, now=f"{end[:8]}30 12:00:00", since=dict.fromkeys(NAMES, f"{start[:8]}01")
    )
    found = totals(await call_tool(GetEnergyTool(), start=start, end=end))
    assert {what: float(row["amount"]) for what, row in found.items() if row["unit"] == "kWh"} == {
        "solar production": hours / 2,
        "from grid": hours / 2,
        "to grid": hours / 2,
        "consumption": hours / 2,
    }


async def test_span_in_the_future(furnish: Furnish, call_tool: CallTool) -> None:
    """What has not happened yet has no numbers; a day that has begun has those until now."""
    await furnish(GRID)
    error = await call_tool(GetEnergyTool(), error=True, start="2026-11-21", end="2026-11-22")
    assert error["error"].startswith("The span lies in the future; it is now 2026-11-20 13:27:30.")
    today = await call_tool(GetEnergyTool(), start="2026-11-20", end="2026-11-22")
    assert (today["end"], totals(today)["from grid"]["amount"]) == ("2026-11-20 13:00", "6.5")
    assert not table(today.get("sources", "source\n"))
