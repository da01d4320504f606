"""The demonstration home as Home Assistant sees it: started, with a past that it accepts as its own."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
import re
import sqlite3

from demo.custom_components.demo_home.catalogue import CAMERA, ITEMS
from demo.home import ENERGY

from .client import Client
from .conftest import HISTORY_DAYS, VERSIONS
from .instance import HomeAssistantInstance

SUMS = [item.entity_id for item in ITEMS if item.state_class in ("total", "total_increasing")]


async def test_it_runs_the_version_asked_for(home: HomeAssistantInstance, client: Client) -> None:
    config = await client.get("/api/config")

    assert config["version"] == VERSIONS[home.environment]
    assert config["state"] == "RUNNING"
    assert not config["recovery_mode"]


async def test_only_loopback_is_served(home: HomeAssistantInstance, client: Client) -> None:
    config = await client.call("http/config") if home.environment == "newest" else None

    assert home.url.startswith("http://127.0.0.1:")
    if config is not None:
        assert config["stable"]["server_host"] == ["127.0.0.1"]
        assert config["pending"] is None


async def test_the_owner_is_onboarded_and_no_step_is_left(client: Client) -> None:
    user = await client.call("auth/current_user")
    steps = await client.get("/api/onboarding")

    assert user["is_owner"]
    assert steps
    assert all(step["done"] for step in steps)


async def test_every_entity_has_its_name_and_area(client: Client) -> None:
    states = await client.states()
    areas = {area["area_id"]: area["name"] for area in await client.call("config/area_registry/list")}
    devices = {device["id"]: device for device in await client.call("config/device_registry/list")}
    entries = {entry["entity_id"]: entry for entry in await client.call("config/entity_registry/list")}

    for item in (*ITEMS, CAMERA):
        assert states[item.entity_id]["state"] not in ("unknown", "unavailable"), item.entity_id
        assert states[item.entity_id]["attributes"]["friendly_name"] == item.name
        assert areas[devices[entries[item.entity_id]["device_id"]]["area_id"]] == item.area


async def test_most_entities_are_exposed_and_some_are_not(client: Client) -> None:
    exposed = (await client.call("homeassistant/expose_entity/list"))["exposed_entities"]

    for item in (*ITEMS, CAMERA):
        assert exposed.get(item.entity_id, {}).get("conversation", False) is item.exposed, item.entity_id
    assert {item.entity_id for item in ITEMS if not item.exposed} >= {"binary_sensor.bedroom_motion"}


async def test_the_past_is_read_back_over_rest(client: Client) -> None:
    end = datetime.now(UTC)
    start = end - timedelta(days=HISTORY_DAYS - 1)
    span = f"{start:%Y-%m-%dT%H:%M:%SZ}?end_time={end:%Y-%m-%dT%H:%M:%SZ}"
    [rows] = await client.get(f"/api/history/period/{span}&filter_entity_id=binary_sensor.front_door")

    states = [row["state"] for row in rows]
    assert len(rows) > 4 * (HISTORY_DAYS - 2)
    # The start of Home Assistant may repeat the last state recorded before it.
    assert all(state != following for state, following in pairwise(states[:-1]))
    opened = [datetime.fromisoformat(row["last_changed"]) for row in rows if row["state"] == "on"]
    assert {moment.date() for moment in opened} >= {
        (start + timedelta(days=day)).date() for day in range(1, HISTORY_DAYS - 2)
    }


async def test_statistics_are_complete_and_their_sums_never_fall(client: Client) -> None:
    start = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(days=HISTORY_DAYS - 1)
    found = await client.call(
        "recorder/statistics_during_period",
        start_time=start.isoformat(),
        statistic_ids=[*SUMS, "sensor.outdoor_temperature"],
        period="hour",
        types=["mean", "min", "max", "sum"],
    )

    whole = (HISTORY_DAYS - 1) * 24 - 1
    for statistic_id in SUMS:
        sums = [row["sum"] for row in found[statistic_id]]
        assert len(sums) >= whole, statistic_id
        assert sums == sorted(sums), statistic_id
    temperatures = found["sensor.outdoor_temperature"]
    assert len(temperatures) >= whole
    assert all(row["min"] - 1e-9 <= row["mean"] <= row["max"] + 1e-9 for row in temperatures)
    nights = [row["mean"] for row in temperatures if _hour(row) == 4]
    afternoons = [row["mean"] for row in temperatures if _hour(row) == 14]
    assert sum(nights) / len(nights) + 2 < sum(afternoons) / len(afternoons)


def _hour(row: dict[str, int]) -> int:
    return datetime.fromtimestamp(row["start"] / 1000, UTC).hour


async def test_what_home_assistant_compiles_itself_goes_on_without_a_break(
    home: HomeAssistantInstance, client: Client
) -> None:
    now = datetime.now(UTC)
    found = await client.call(
        "recorder/statistics_during_period",
        start_time=(now - timedelta(hours=2)).isoformat(),
        statistic_ids=SUMS,
        period="5minute",
        types=["state", "sum"],
    )

    states = await client.states()
    for statistic_id in SUMS:
        rows = found[statistic_id]
        assert rows, statistic_id
        # What the meter shows now can be only a little more than at the last statistic's end.
        assert 0 <= float(states[statistic_id]["state"]) - rows[-1]["state"] < 2, statistic_id
        for row, following in pairwise(rows):
            assert following["start"] - row["start"] == 300_000, statistic_id
            assert round(following["sum"] - row["sum"], 3) == round(following["state"] - row["state"], 3), statistic_id


async def test_the_recorder_finds_nothing_to_migrate_or_to_repair(home: HomeAssistantInstance, client: Client) -> None:
    info = await client.call("recorder/info")
    issues = await client.call("recorder/validate_statistics")
    with sqlite3.connect(f"file:{home.config_dir / 'home-assistant_v2.db'}?mode=ro", uri=True) as database:
        versions = database.execute("SELECT schema_version FROM schema_changes").fetchall()
        runs = database.execute("SELECT closed_incorrect FROM recorder_runs ORDER BY run_id").fetchall()
    database.close()

    assert not info["migration_in_progress"]
    assert len(versions) == 1
    assert runs[0] == (0,)
    assert not {name: found for name, found in issues.items() if name in {item.entity_id for item in ITEMS}}


async def test_the_energy_dashboard_is_valid(client: Client) -> None:
    preferences = await client.call("energy/get_prefs")
    problems = await client.call("energy/validate")

    assert [source["type"] for source in preferences["energy_sources"]] == ["grid", "solar", "water"]
    assert len(preferences["device_consumption"]) == len(ENERGY["device_consumption"])
    assert not any(problem for group in problems.values() for problem in group)


async def test_a_light_obeys_and_says_so(client: Client) -> None:
    await client.perform_action("light.turn_on", {"entity_id": "light.garden_lights", "brightness": 120})
    state = await client.state("light.garden_lights")

    assert state["state"] == "on"
    assert state["attributes"]["brightness"] == 120


async def test_nothing_of_the_home_is_in_the_log(home: HomeAssistantInstance) -> None:
    known = "has not been tested by Home Assistant"
    found = [
        line
        for line in home.log().splitlines()
        if re.search(r" (WARNING|ERROR|CRITICAL) ", line)
        and known not in line
        and re.search("demo_home|recorder", line)
    ]

    assert not found, "\n".join(found)
