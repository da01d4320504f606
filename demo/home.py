"""Prepares the demonstration home's configuration folder, and what can be set only while Home Assistant runs."""

import asyncio
from pathlib import Path
import time
from typing import Any

from tests.e2e.client import Client
from tests.e2e.instance import (
    CHECKOUT,
    CONFIGURATION,
    Environment,
    install_integration,
    interpreter,
    process_environment,
)

from .custom_components.demo_home.catalogue import CAMERA, ITEMS
from .front_door import draw_front_door

DEMO_HOME = CHECKOUT / "demo" / "custom_components" / "demo_home"
READY_TIMEOUT = 30.0  # seconds, for the home's entities after the start

# The recorder keeps ten days unless told otherwise, and would purge the rest in the first night.
HOME_CONFIGURATION = CONFIGURATION.replace("recorder:\n", "recorder:\n  purge_keep_days: 60\n") + "demo_home:\n"

ENERGY: dict[str, Any] = {
    "energy_sources": [
        {
            "type": "grid",
            "stat_energy_from": "sensor.grid_import",
            "stat_energy_to": "sensor.grid_export",
            "stat_cost": "sensor.electricity_cost",
            "entity_energy_price": None,
            "number_energy_price": None,
            "stat_compensation": None,
            "entity_energy_price_export": None,
            "number_energy_price_export": None,
            "stat_rate": "sensor.grid_power",
            "cost_adjustment_day": 0,
        },
        {
            "type": "solar",
            "stat_energy_from": "sensor.solar_energy",
            "stat_rate": "sensor.solar_power",
            "config_entry_solar_forecast": None,
        },
        {
            "type": "water",
            "stat_energy_from": "sensor.water_meter",
            "stat_cost": None,
            "entity_energy_price": None,
            "number_energy_price": None,
        },
    ],
    "device_consumption": [
        {"stat_consumption": f"sensor.{device}_energy", "stat_rate": f"sensor.{device}_power"}
        for device in ("heat_pump", "washing_machine", "fridge")
    ],
}


class PreparationError(Exception):
    """The recorded history could not be written."""


async def prepare_home(environment: Environment, config_dir: Path, days: int = 30) -> None:
    """Write configuration and recorded history for a first start; thirty days take about ten seconds."""
    await asyncio.to_thread(_write_configuration, config_dir)
    # Written by the Home Assistant that will read it: the database's layout is its own.
    process = await asyncio.create_subprocess_exec(
        interpreter(environment),
        *("-m", "demo.history", config_dir, str(days)),
        cwd=CHECKOUT,
        env=process_environment(),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,  # Ctrl-C reaches only us
    )
    try:
        _, errors = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        raise PreparationError(f"the recorded history could not be written:\n{errors.decode(errors='replace')}")


def _write_configuration(config_dir: Path) -> None:
    config_dir.mkdir(parents=True, exist_ok=True)
    media = config_dir / "media"
    media.mkdir(exist_ok=True)
    # In a container it would be a folder outside of the demonstration.
    own_media = HOME_CONFIGURATION.replace(
        "homeassistant:\n", f"homeassistant:\n  media_dirs:\n    local: {media}\n", 1
    )
    (config_dir / "configuration.yaml").write_text(own_media)
    install_integration(config_dir, DEMO_HOME)
    draw_front_door(config_dir, parcel=True)


async def furnish_home(client: Client) -> None:
    """Wait for the home's entities, then expose them to Assist, set up the energy dashboard, turn off a light."""
    await _wait_for_entities(client)
    await client.expose(CAMERA.entity_id, *(item.entity_id for item in ITEMS if item.exposed))
    await client.expose(*(item.entity_id for item in ITEMS if not item.exposed), exposed=False)
    await client.call("energy/save_prefs", **ENERGY)
    # On dark mornings it would be on, and turning it on no change that can be undone.
    await client.perform_action("light.turn_off", {"entity_id": "light.kitchen_light"})


async def _wait_for_entities(client: Client) -> None:
    deadline = time.monotonic() + READY_TIMEOUT
    while missing := {item.entity_id for item in (*ITEMS, CAMERA)} - set(await client.states()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"entities of the demonstration home are missing: {', '.join(sorted(missing))}")
        await asyncio.sleep(0.2)
