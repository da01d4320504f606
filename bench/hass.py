"""A real Home Assistant in this process, so that a measurement holds nothing but what is measured."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
import logging
import os
from pathlib import Path
import shutil
import sys
import tempfile

from homeassistant import bootstrap, runner
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er
from tests.e2e.instance import free_port, prepare_configuration

_CHECKOUT = Path(__file__).parents[1]


@asynccontextmanager
async def running_home_assistant(configuration: str) -> AsyncGenerator[HomeAssistant]:
    """Run Home Assistant on a fresh folder with a configuration and this checkout's integration."""
    base = _CHECKOUT / ".cache" / "bench"
    base.mkdir(parents=True, exist_ok=True)
    config_dir = Path(tempfile.mkdtemp(dir=base))
    os.environ["HOME"] = str(config_dir)
    (config_dir / "configuration.yaml").write_text(configuration, encoding="utf-8")
    prepare_configuration(config_dir, free_port())
    (config_dir / "custom_components").mkdir()
    (config_dir / "custom_components" / "extended_assist").symlink_to(
        _CHECKOUT / "custom_components" / "extended_assist"
    )
    logging.disable(logging.CRITICAL)  # A measurement has a process of its own; its table is all it prints.
    # Home Assistant imports custom components by this name from its configuration; the checkout's must not be first.
    sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != _CHECKOUT]
    hass = await bootstrap.async_setup_hass(
        runner.RuntimeConfig(str(config_dir), skip_pip=True, log_file=str(config_dir / "log"))
    )
    assert hass is not None, "Home Assistant did not start"
    await hass.async_start()
    await hass.async_block_till_done()
    sys.excepthook = sys.__excepthook__  # Home Assistant's would log what ended the measurement.
    try:
        yield hass
    finally:
        await hass.async_stop(force=True)
        await asyncio.to_thread(shutil.rmtree, config_dir)


async def add_entry(hass: HomeAssistant, domain: str, *steps: dict[str, str]) -> str:
    """Go through a config flow and return the entry's id."""
    result = await hass.config_entries.flow.async_init(domain, context={"source": "user"})
    for step in steps:
        result = await hass.config_entries.flow.async_configure(result["flow_id"], step)
    await hass.async_block_till_done()
    assert result["type"] == "create_entry", result
    return str(result["result"].entry_id)


def agent_of(hass: HomeAssistant, domain: str) -> str:
    """Return the conversation agent that an integration added."""
    registry = er.async_get(hass)
    return next(
        entity_id
        for entity_id in hass.states.async_entity_ids("conversation")
        if (entry := registry.async_get(entity_id)) and entry.platform == domain
    )
