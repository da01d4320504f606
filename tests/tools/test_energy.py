"""Tests of the energy dashboard's numbers, against what Home Assistant's WebSocket API answers to its frontend."""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
import math
import re
from typing import Any

from freezegun.api import FrozenDateTimeFactory
from hypothesis import given, strategies as st
import pytest
from pytest_homeassistant_custom_component.components.recorder.common import async_wait_recording_done
from pytest_homeassistant_custom_component.typing import MockHAClientWebSocket, WebSocketGenerator

from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.recorder.periods import span_before
from custom_components.extended_assist.tools.energy import GetEnergyTool
from custom_components.extended_assist.tools.energy_balance import balance, share_out
from custom_components.extended_assist.tools.energy_dashboard import dashboard_period
from homeassistant.components.energy.data import async_get_manager
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.components.recorder import Recorder, get_instance
from homeassistant.core import HomeAssistant
from homeassistant.helpers.json import json_dumps
from homeassistant.setup import async_setup_component
from homeassistant.util.unit_system import US_CUSTOMARY_SYSTEM
from tests.conftest import ASSISTANT, CallTool, expose
from tests.helpers.databases import EVERY_ENGINE
from tests.helpers.recorded import ask, local, meter, record, steps

from .test_entities import table
from .test_statistics import close

ENERGY = {"unit_of_measurement": "kWh", "unit_class": "energy"}
VOLUME = {"unit_of_measurement": "m³", "unit_class": "volume"}
MONEY = {"unit_of_measurement": "EUR", "unit_class": None}
NOW = "2026-11-20 13:27:30"
EXTERNAL_GAS = "utility:gas"


def day_curve(index: int) -> float:
    """Return sunshine: none at night."""
    return max(0.0, math.sin((index % 24 - 6) * math.pi / 12)) * (1 + index // 24 % 5 / 4)


METERS: dict[str, tuple[str, dict[str, Any], Callable[[int], float]]] = {
    "sensor.roof": ("Roof", ENERGY, lambda i: 2 * day_curve(i)),
    "sensor.garage_roof": ("Garage roof", ENERGY, lambda i: 0.7 * day_curve(i + 1)),
    "sensor.grid_in": ("Grid in", ENERGY, lambda i: 0.6 if i % 24 < 7 or i % 24 > 19 else 0.05),
    "sensor.grid_out": ("Grid out", ENERGY, lambda i: 0.8 * day_curve(i)),
    "sensor.battery_in": ("Battery in", ENERGY, lambda i: 0.5 * day_curve(i + 2) + (0.3 if i % 24 == 3 else 0)),
    "sensor.battery_out": ("Battery out", ENERGY, lambda i: 0.9 if 17 < i % 24 < 20 else 0.0),
    "sensor.grid_in_cost": ("Grid in Cost", MONEY, lambda i: 0.2 if i % 24 < 7 or i % 24 > 19 else 0.015),
    "sensor.feed_in_money": ("Feed-in money", MONEY, lambda i: 0.06 * day_curve(i)),
    EXTERNAL_GAS: ("Gas meter", VOLUME, lambda i: 0.2 + i % 5 / 20),
    "sensor.gas_money": ("Gas money", MONEY, lambda i: 0.11 + i % 5 / 30),
    "sensor.water": ("Water", VOLUME, lambda i: 0.01 * (i % 3)),
    "sensor.heat_pump": ("Heat pump", {**ENERGY, "unit_of_measurement": "Wh"}, lambda i: 310.0 + i % 7),
    "sensor.oven": ("Oven", ENERGY, lambda i: 0.4 if i % 24 == 18 else 0.0),
    "sensor.kitchen": ("Kitchen", ENERGY, lambda i: 0.05 + (0.4 if i % 24 == 18 else 0.0)),
    "sensor.shower": ("Shower", VOLUME, lambda i: 0.08 if i % 24 == 6 else 0.0),
}
PREFERENCES: dict[str, Any] = {
    "energy_sources": [
        {"type": "solar", "stat_energy_from": "sensor.roof", "config_entry_solar_forecast": None},
        {"type": "solar", "stat_energy_from": "sensor.garage_roof", "name": "Carport"},
        {
            "type": "grid",
            "stat_energy_from": "sensor.grid_in",
            "stat_energy_to": "sensor.grid_out",
            "stat_cost": None,
            "entity_energy_price": None,
            "number_energy_price": 0.32,
            "stat_compensation": "sensor.feed_in_money",
            "entity_energy_price_export": None,
            "number_energy_price_export": None,
            "cost_adjustment_day": 0,
        },
        {"type": "battery", "stat_energy_from": "sensor.battery_out", "stat_energy_to": "sensor.battery_in"},
        {"type": "gas", "stat_energy_from": EXTERNAL_GAS, "stat_cost": "sensor.gas_money"},
        {"type": "water", "stat_energy_from": "sensor.water"},
    ],
    "device_consumption": [
        {"stat_consumption": "sensor.oven", "included_in_stat": "sensor.kitchen"},
        {"stat_consumption": "sensor.kitchen"},
        {"stat_consumption": "sensor.heat_pump", "name": "Heating"},
    ],
    "device_consumption_water": [{"stat_consumption": "sensor.shower"}],
}
ENTITIES = [statistic_id for statistic_id in METERS if ":" not in statistic_id]


@pytest.fixture
async def home(
    recorder_mock: Recorder,
    hass: HomeAssistant,
    assist: None,
    freezer: FrozenDateTimeFactory,
    hass_storage: dict[str, Any],
) -> None:
    """A home in Berlin with everything that the energy dashboard knows, all of it exposed but the external meter."""
    await hass.config.async_set_time_zone("Europe/Berlin")
    freezer.move_to(local(NOW))
    for entity_id in ENTITIES:
        name, known, _ = METERS[entity_id]
        if entity_id != "sensor.grid_in_cost":
            attributes = {"unit_of_measurement": known["unit_of_measurement"], "state_class": "total_increasing"}
            hass.states.async_set(entity_id, "5", {"friendly_name": name, **attributes})
    store(hass_storage, PREFERENCES)
    assert await async_setup_component(hass, "energy", {})
    await hass.async_block_till_done()
    hours = steps(local("2026-08-30"), local("2026-11-20 13:00:00"))
    for statistic_id, (name, known, change) in METERS.items():
        await record(hass, statistic_id, meter(hours, change), name=name if ":" in statistic_id else None, **known)
    expose(hass, *ENTITIES)


def store(storage: dict[str, Any], preferences: dict[str, Any]) -> None:
    """Write the configuration of the energy dashboard, as Home Assistant keeps it."""
    storage["energy"] = {"version": 1, "minor_version": 3, "key": "energy", "data": preferences}


@pytest.fixture
async def client(home: None, hass_ws_client: WebSocketGenerator) -> MockHAClientWebSocket:
    """Return a connection to the WebSocket API."""
    return await hass_ws_client()


type Dashboard = Callable[[datetime, datetime, str], Awaitable[dict[str, dict[float, float]]]]


@pytest.fixture
def read_dashboard(client: MockHAClientWebSocket) -> Dashboard:
    """Return a function that asks Home Assistant for what its frontend asks for, in the same units."""

    async def read(start: datetime, end: datetime, period: str) -> dict[str, dict[float, float]]:
        water = {"sensor.water", "sensor.shower"}
        found: dict[str, dict[float, float]] = {}
        for ids, units in (
            (METERS.keys() - water, {"energy": "kWh", "volume": "m³"}),
            (water, {"volume": "m³"}),
        ):
            answer = await ask(
                client,
                "recorder/statistics_during_period",
                start_time=start.isoformat(),
                end_time=(end - timedelta(milliseconds=1)).isoformat(),
                statistic_ids=sorted(ids),
                period=period,
                units=units,
                types=["change"],
            )
            found |= {name: {row["start"] / 1000: row["change"] for row in rows} for name, rows in answer.items()}
        return found

    return read


def totals(data: dict[str, Any]) -> dict[str, dict[str, str]]:
    """Return the totals by what they are of."""
    return {row.pop("what"): row for row in table(data["totals"])}


def expected_totals(changes: dict[str, dict[float, float]]) -> dict[str, float]:
    """Add up what the frontend adds up."""
    total = {name: sum(rows.values()) for name, rows in changes.items()}
    used = (
        total["sensor.roof"]
        + total["sensor.garage_roof"]
        + total["sensor.grid_in"]
        + total["sensor.battery_out"]
        - total["sensor.grid_out"]
        - total["sensor.battery_in"]
    )
    return {
        "solar production": total["sensor.roof"] + total["sensor.garage_roof"],
        "from grid": total["sensor.grid_in"],
        "to grid": total["sensor.grid_out"],
        "battery charged": total["sensor.battery_in"],
        "battery discharged": total["sensor.battery_out"],
        "gas": total[EXTERNAL_GAS],
        "water": total["sensor.water"],
        "consumption": used,
        "share of own production": 100 * (1 - total["sensor.grid_in"] / used),
        "cost of grid": total["sensor.grid_in_cost"],
        "compensation of grid": total["sensor.feed_in_money"],
        "cost of gas": total["sensor.gas_money"],
        "net cost": total["sensor.grid_in_cost"] - total["sensor.feed_in_money"] + total["sensor.gas_money"],
    }


SPANS: list[tuple[dict[str, str], tuple[str, str], tuple[str, str], str]] = [
    (
        {},
        ("2026-11-20", "2026-11-20 13:00:00"),
        ("2026-11-19", "2026-11-19 13:00:00"),
        "hour",
    ),
    (
        {"start": "2026-10-25", "end": "2026-10-26"},
        ("2026-10-25", "2026-10-26"),
        ("2026-10-24", "2026-10-25"),
        "hour",
    ),
    (
        {"start": "2026-10-01", "end": "2026-11-01"},
        ("2026-10-01", "2026-11-01"),
        ("2026-09-01", "2026-10-01"),
        "day",
    ),
    (
        {"start": "2026-09-01", "end": "2026-11-01", "compare_start": "2026-09-01"},
        ("2026-09-01", "2026-11-01"),
        ("2026-09-01", "2026-11-01"),
        "month",
    ),
]


async def test_numbers_are_those_of_the_dashboard(read_dashboard: Dashboard, call_tool: CallTool) -> None:
    """Every total equals the sum of what the WebSocket API gives the frontend, for the span and the one before."""
    for arguments, span, before, period in SPANS:
        now = expected_totals(await read_dashboard(local(span[0]), local(span[1]), period))
        then = expected_totals(await read_dashboard(local(before[0]), local(before[1]), period))
        data = await call_tool(
            GetEnergyTool(ToolboxOptions(external_statistics=frozenset([EXTERNAL_GAS]))), **arguments
        )
        assert [local(f"{data['before'][key]}:00") for key in ("start", "end")] == list(map(local, before))
        rows = totals(data)
        assert rows.keys() - now.keys() == {"share of solar used at home"}
        for what, value in now.items():
            row = rows[what]
            assert (float(row["amount"]), float(row["before"])) == (
                close(value, row["unit"]),
                close(then[what], row["unit"]),
            ), what
            if "share" in what:
                assert (row["unit"], row["change_percent"]) == ("%", "")
            elif then[what]:
                percent = 100 * (value - then[what]) / then[what]
                assert float(row["change_percent"]) == pytest.approx(percent, abs=0.0501)
        assert {what: row["unit"] for what, row in rows.items() if row["unit"] not in ("kWh", "%")} == {
            "gas": "m³",
            "water": "m³",
            "cost of grid": "EUR",
            "compensation of grid": "EUR",
            "cost of gas": "EUR",
            "net cost": "EUR",
        }
        assert ("note" in data and "full hours" in data["note"]) is (not arguments)


@EVERY_ENGINE
async def test_devices(home: None, call_tool: CallTool) -> None:
    """The largest consumers come first, without what is part of them, then what no device accounts for."""
    data = await call_tool(
        GetEnergyTool(ToolboxOptions(external_statistics=frozenset([EXTERNAL_GAS]))),
        start="2026-10-12",
        end="2026-10-19",
    )
    hours = range(43 * 24, 50 * 24)
    used = {
        name: sum(METERS[f"sensor.{name}"][2](index) for index in hours) for name in ("kitchen", "oven", "heat_pump")
    }
    devices = {row["device"]: row for row in table(data["devices"])}
    values = {name: float(row["kWh"]) for name, row in devices.items()}
    consumption = float(totals(data)["consumption"]["amount"])
    assert values == {
        "Heating": close(used["heat_pump"] / 1000, "kWh"),
        "Kitchen": close(used["kitchen"] - used["oven"], "kWh"),
        "Oven": close(used["oven"], "kWh"),
        "(no device)": pytest.approx(consumption - used["kitchen"] - used["heat_pump"] / 1000, abs=0.02),
    }
    assert list(values.values()) == sorted(values.values(), reverse=True)
    assert devices["Oven"]["before"] == devices["Oven"]["kWh"]
    assert data["water_devices"] == "device,m³,before\nShower,0.56,0.56\n"
    assert "part of it" in data["note"]
    assert table(data["sources"])[1] | {"amount": "", "before": ""} == {
        "source": "Carport",
        "what": "solar production",
        "amount": "",
        "before": "",
    }
    assert data["prices"] == {"from grid": "0.32 EUR/kWh"}


HIDDEN: list[tuple[set[str], set[str], str]] = [
    ({"sensor.garage_roof"}, {"consumption", "share of own production"}, "consumption and shares cannot be told"),
    ({"sensor.grid_in"}, {"from grid", "consumption"}, "consumption and shares cannot be told"),
    ({"sensor.feed_in_money"}, {"compensation of grid", "net cost"}, "net cost cannot be told"),
    ({"sensor.battery_in", "sensor.gas_money"}, {"battery charged", "net cost"}, "net cost cannot be told"),
    ({"sensor.oven"}, set(), "1 statistics of the dashboard are not exposed and left out."),
    (set(ENTITIES) - {"sensor.water"}, {"from grid"}, "13 statistics of the dashboard are not exposed"),
]


async def test_what_is_not_exposed(home: None, hass: HomeAssistant, call_tool: CallTool) -> None:
    """What is hidden is counted, but neither named nor part of any number."""
    week = range(43 * 24, 50 * 24)
    roof, kitchen = (sum(METERS[name][2](index) for index in week) for name in ("sensor.roof", "sensor.kitchen"))
    for hidden, gone, left in HIDDEN:
        for entity_id in ENTITIES:
            async_expose_entity(hass, ASSISTANT, entity_id, entity_id not in hidden)
        data = await call_tool(
            GetEnergyTool(ToolboxOptions(external_statistics=frozenset([EXTERNAL_GAS]))),
            start="2026-10-12",
            end="2026-10-19",
        )
        assert left in data["note"]
        assert not gone & totals(data).keys()
        for entity_id in hidden:
            assert entity_id not in str(data)
            assert ("Carport" if entity_id == "sensor.garage_roof" else METERS[entity_id][0]) not in str(data)
        if hidden == {"sensor.garage_roof"}:
            assert float(totals(data)["solar production"]["amount"]) == close(roof, "kWh")
        if hidden == {"sensor.oven"}:
            # Without the oven, the kitchen must not tell what it used.
            devices = {row["device"]: float(row["kWh"]) for row in table(data["devices"])}
            assert devices == {"Heating": devices["Heating"], "Kitchen": close(kitchen, "kWh")}


async def test_external_meter_needs_the_options(home: None, call_tool: CallTool) -> None:
    """An external statistic of the dashboard is visible only if the user named it."""
    data = await call_tool(GetEnergyTool(), start="2026-10-12", end="2026-10-19")
    assert "gas" not in totals(data)
    assert "Gas meter" not in str(data)
    assert data["note"].startswith("1 statistics of the dashboard are not exposed and left out.")


async def test_home_meter(home: None, hass: HomeAssistant, call_tool: CallTool) -> None:
    """A meter of the whole home, as the dashboard has it since 2026.11, tells the consumption."""
    manager = await async_get_manager(hass)
    meter_of_the_home = {"type": "home", "stat_energy_to": "sensor.kitchen"}
    manager.data = PREFERENCES | {"energy_sources": [*PREFERENCES["energy_sources"], meter_of_the_home]}
    data = await call_tool(GetEnergyTool(), start="2026-10-12", end="2026-10-13")
    kitchen = sum(METERS["sensor.kitchen"][2](index) for index in range(24))
    assert float(totals(data)["consumption"]["amount"]) == close(kitchen, "kWh")
    assert float(totals(data)["home meter"]["amount"]) == close(kitchen, "kWh")


async def test_units_of_gas_and_water(home: None, hass: HomeAssistant, call_tool: CallTool) -> None:
    """Gas comes in kWh where its meter counts energy; volumes in the unit that all meters show, or the system's."""
    manager = await async_get_manager(hass)
    gas = {"type": "gas", "stat_energy_from": "sensor.heat_pump", "stat_cost": None}
    manager.data = {"energy_sources": [gas], "device_consumption": []}
    arguments = {"start": "2026-10-12", "end": "2026-10-13"}
    row = totals(await call_tool(GetEnergyTool(), **arguments))["gas"]
    assert (row["unit"], float(row["amount"])) == (
        "kWh",
        close(sum(METERS["sensor.heat_pump"][2](index) for index in range(43 * 24, 44 * 24)) / 1000, "kWh"),
    )
    water = [{"type": "water", "stat_energy_from": name} for name in ("sensor.water", "sensor.shower")]
    manager.data = {"energy_sources": water, "device_consumption": []}
    cubic = totals(await call_tool(GetEnergyTool(), **arguments))["water"]
    assert (cubic["unit"], cubic["amount"]) == ("m³", "0.32")
    hass.states.async_set("sensor.shower", "1", {"unit_of_measurement": "gal"})
    litres = totals(await call_tool(GetEnergyTool(), **arguments))["water"]
    assert (litres["unit"], litres["amount"]) == ("L", "320")
    hass.config.units = US_CUSTOMARY_SYSTEM
    gallons = totals(await call_tool(GetEnergyTool(), **arguments))["water"]
    assert (gallons["unit"], float(gallons["amount"])) == ("gal", close(320 / 3.785411784, "gal"))


@pytest.mark.parametrize("now", ["00:40:00", "01:00:30"])
async def test_yesterday_in_the_first_hour(
    home: None, call_tool: CallTool, freezer: FrozenDateTimeFactory, now: str
) -> None:
    """Just after midnight, before anything of the day is known, the day before is told, as the dashboard does."""
    freezer.move_to(local(f"2026-11-20 {now}"))
    data = await call_tool(GetEnergyTool())
    assert (data["start"], data["end"]) == ("2026-11-19 00:00", "2026-11-20 00:00")
    assert data["before"] == {"start": "2026-11-18 00:00", "end": "2026-11-19 00:00"}


async def test_source_without_data(home: None, hass: HomeAssistant, call_tool: CallTool) -> None:
    """A source that recorded nothing is named, and has no amount rather than zero."""
    get_instance(hass).async_clear_statistics(["sensor.grid_out"])
    await async_wait_recording_done(hass)
    data = await call_tool(GetEnergyTool(), start="2026-10-12", end="2026-10-19")
    assert totals(data)["to grid"]["amount"] == ""
    assert "No data in this span: Grid out." in data["note"]


async def test_bad_input(home: None, call_tool: CallTool) -> None:
    """Each mistake has its own sentence."""
    for arguments, sentence in (
        ({"start": "2026-11-20", "end": "2026-11-19"}, "The span is backwards"),
        ({"start": "2026-11-22", "end": "2026-11-23"}, "The span lies in the future"),
        ({"end": "2026-11-19"}, "end needs start."),
        ({"start": "soon"}, "start 'soon' is not a time."),
        ({"start": "2026-11-20 13:10:00"}, "No full hour of this span has passed"),
        (
            {"start": "2025-01-01", "end": "2025-02-01"},
            "The energy dashboard has no data from 2025-01-01 00:00 to 2025-02-01 00:00.",
        ),
        ({"compare_start": "2026-12-01"}, "The span to compare with is wrong."),
    ):
        data = await call_tool(GetEnergyTool(), error=True, **arguments)
        assert data["error"].startswith(sentence)


async def test_nothing_exposed(home: None, hass: HomeAssistant, call_tool: CallTool) -> None:
    """A dashboard of which nothing is exposed is told apart from none at all."""
    for entity_id in ENTITIES:
        async_expose_entity(hass, ASSISTANT, entity_id, False)
    data = await call_tool(GetEnergyTool(), error=True)
    assert data["error"] == "An energy dashboard is configured, but nothing of it is exposed. Tell the user."
    assert await GetEnergyTool.async_available(hass)


async def test_no_dashboard(
    recorder_mock: Recorder, hass: HomeAssistant, assist: None, call_tool: CallTool, hass_storage: dict[str, Any]
) -> None:
    """Without a dashboard the tool is not offered, and says so when it is called all the same."""
    sentence = "No energy dashboard is configured in Home Assistant."
    assert not await GetEnergyTool.async_available(hass)
    assert (await call_tool(GetEnergyTool(), error=True))["error"].startswith(sentence)
    store(hass_storage, {"energy_sources": [], "device_consumption": [], "device_consumption_water": []})
    assert await async_setup_component(hass, "energy", {})
    assert not await GetEnergyTool.async_available(hass)
    assert (await call_tool(GetEnergyTool(), error=True))["error"].startswith(sentence)


async def test_budget(home: None, call_tool: CallTool) -> None:
    """The answer stays within its budget; the smallest consumers go first."""
    data = await call_tool(
        GetEnergyTool(ToolboxOptions(budget=1_600, external_statistics=frozenset([EXTERNAL_GAS]))),
        start="2026-10-12",
        end="2026-10-19",
    )
    assert len(json_dumps(data)) <= 1_600
    assert "cut" not in str(data)


async def test_least_budget(home: None, call_tool: CallTool) -> None:
    """In the smallest answer, consumers are left out, and how many is said."""
    data = await call_tool(GetEnergyTool(ToolboxOptions(budget=1_000)), start="2026-10-12", end="2026-10-19")
    assert len(json_dumps(data)) <= 1_000
    left_out = re.search(r"(\d) smaller consumers are left out", data["note"])
    assert left_out
    assert len(table(data["devices"])) + int(left_out[1]) == 4


async def test_grid_alone(home: None, hass: HomeAssistant, call_tool: CallTool) -> None:
    """A home without production has a consumption, and no shares of anything of its own."""
    (grid,) = [source for source in PREFERENCES["energy_sources"] if source["type"] == "grid"]
    nothing_back = {**grid, "stat_energy_to": None, "stat_compensation": None}
    await (await async_get_manager(hass)).async_update(
        {"energy_sources": [nothing_back], "device_consumption": [], "device_consumption_water": []}
    )
    data = await call_tool(GetEnergyTool(), start="2026-10-12", end="2026-10-19")
    found = totals(data)
    assert {"from grid", "consumption"} <= found.keys()
    assert found["from grid"]["amount"] == found["consumption"]["amount"]
    assert not [name for name in found if "share" in name or name == "to grid"]


amounts = st.floats(-0.5, 5).map(lambda value: round(value, 3))


@given(grid_in=amounts, grid_out=amounts, solar=amounts, battery_in=amounts, battery_out=amounts)
def test_nothing_is_shared_out_twice(
    grid_in: float, grid_out: float, solar: float, battery_in: float, battery_out: float
) -> None:
    """No more leaves a source than it gave, no more enters the battery and the grid than they took."""
    flows = share_out(grid_in=grid_in, grid_out=grid_out, solar=solar, battery_in=battery_in, battery_out=battery_out)
    slack = 1e-9
    assert min(flows.solar_used, flows.solar_to_grid, flows.solar_to_battery, flows.grid_to_battery) >= 0
    assert min(flows.battery_used, flows.battery_to_grid) >= 0
    assert flows.solar_used + flows.solar_to_grid + flows.solar_to_battery <= max(solar, 0) + slack
    assert flows.battery_used + flows.battery_to_grid <= max(battery_out, 0) + slack
    assert flows.solar_to_battery + flows.grid_to_battery <= max(battery_in, 0) + slack
    assert flows.solar_to_grid + flows.battery_to_grid <= max(grid_out, 0) + slack
    assert flows.solar_used + flows.battery_used <= max(flows.used, 0) + slack


@pytest.mark.parametrize(
    ("changes", "consumption", "own_share", "solar_share"),
    [
        ({"grid_in": {0: 4.0, 1: 2.0}}, 6, 0, None),
        ({"grid_in": {0: 1.0}, "solar": {0: 3.0}}, 4, 75, 100),
        ({"grid_in": {0: 1.0}, "grid_out": {0: 2.0}, "solar": {0: 3.0}}, 2, 50, 100 / 3),
        # Three of the sun into the battery and one fed in; at night two from the battery are used.
        (
            {
                "grid_in": {1: 1.0},
                "grid_out": {0: 1.0},
                "solar": {0: 6.0},
                "battery_in": {0: 3.0},
                "battery_out": {1: 2.0},
            },
            5,
            80,
            80,
        ),
        # Charged from the grid last, so that comes out first: none of the sun's comes back.
        (
            {
                "grid_in": {1: 2.0},
                "grid_out": {2: 0.0},
                "solar": {0: 2.0},
                "battery_in": {0: 1.0, 1: 2.0},
                "battery_out": {2: 2.0},
            },
            3,
            100 / 3,
            100,
        ),
        ({"home": {0: 5.0}, "grid_in": {0: 4.0}, "solar": {0: 0.5}}, 5, 20, 100),
        ({"grid_in": {0: 1.0}, "grid_out": {0: 1.0}}, 0, None, None),
    ],
)
def test_balance(
    changes: dict[Any, dict[float, float]], consumption: float, own_share: float | None, solar_share: float | None
) -> None:
    """Consumption and shares of days that can be reckoned in the head."""
    found = balance(changes)
    assert found.consumption == pytest.approx(consumption)
    assert found.own_share == (None if own_share is None else pytest.approx(own_share))
    assert found.solar_share == (None if solar_share is None else pytest.approx(solar_share))


@pytest.mark.parametrize(
    ("span", "period", "before"),
    [
        (("2026-11-20", "2026-11-20 13:00:00"), "hour", ("2026-11-19", "2026-11-19 13:00:00")),
        (("2026-11-18", "2026-11-20"), "hour", ("2026-11-16", "2026-11-18")),
        (("2026-10-23", "2026-10-26"), "hour", ("2026-10-20", "2026-10-23")),
        (("2026-10-22", "2026-10-26"), "day", ("2026-10-18", "2026-10-22")),
        (("2026-03-01", "2026-04-01"), "day", ("2026-02-01", "2026-03-01")),
        (("2026-01-01", "2026-03-01"), "month", ("2025-11-01", "2026-01-01")),
        (("2026-01-01", "2027-01-01"), "month", ("2025-01-01", "2026-01-01")),
        (("2026-11-02", "2026-11-20 13:00:00"), "day", ("2026-10-14", "2026-11-01 13:00:00")),
        (("2026-11-20 06:00:00", "2026-11-20 10:00:00"), "hour", ("2026-11-20 02:00:00", "2026-11-20 06:00:00")),
    ],
)
async def test_periods_and_the_span_before(
    hass: HomeAssistant, span: tuple[str, str], period: str, before: tuple[str, str]
) -> None:
    """Spans are divided as the dashboard does it, and compared with as many months, days or hours before."""
    await hass.config.async_set_time_zone("Europe/Berlin")
    moments = (local(span[0]), local(span[1]))
    assert dashboard_period(moments) == period
    assert span_before(moments) == (local(before[0]), local(before[1]))
