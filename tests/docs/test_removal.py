"""What docs/removal.md says is left behind, looked for after an entry that did everything was deleted."""

from datetime import timedelta
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from freezegun.api import FrozenDateTimeFactory
from pytest_homeassistant_custom_component.common import MockConfigEntry, async_fire_time_changed

from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.memory.fact import Fact
from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm
from homeassistant.helpers.storage import Store
from homeassistant.util import dt as dt_util
from tests.claude_server import Turn, text
from tests.conftest import CallTool, Converse
from tests.helpers.automating import FREE, StartHome, switching
from tests.memory.people import async_memory
from tests.scheduled.shown import async_add, make_task

from .pages import blocks, tables
from .test_tools import TOOLS

PAGE = "docs/removal.md"
SWITCH = {"action": "input_boolean.turn_on", "target": {"entity_id": "input_boolean.lamp"}}


async def test_what_is_left_behind(
    hass: HomeAssistant,
    start_home: StartHome,
    entry: MockConfigEntry,
    converse: Converse,
    call_tool: CallTool,
    llm_context: llm.LLMContext,
    hass_storage: dict[str, Any],
    freezer: FrozenDateTimeFactory,
) -> None:
    """Each file is there before, and afterwards as its row says."""
    path: Path = await start_home("[]\n")
    await converse("Hello", Turn([text("Hi")]))
    # No recorder runs here that could be asked.
    await Store(hass, 1, "extended_assist.interruptions").async_save({"run": 0.0, "sensors": []})
    perform = TOOLS["perform_action"](ToolboxOptions.of(entry.options, entry.entry_id))
    await call_tool(perform, **SWITCH)
    await call_tool(TOOLS["add_automation"](FREE), automation=switching())
    await async_add(hass, make_task(entry, "Bins"))
    await async_memory(hass, Fact("The bins are collected on Tuesdays."))
    freezer.tick(60)
    async_fire_time_changed(hass, dt_util.utcnow() + timedelta(seconds=60))
    await hass.async_block_till_done()
    (table,) = tables(PAGE, "What is left behind")
    rows = {row[0].strip("`"): row[2] for row in table[1:]}
    folder = path.parent / ".storage" / "extended_assist.automations"
    beside = {item.name for item in await hass.async_add_executor_job(lambda: [*folder.parent.iterdir()])}
    assert {key for key in hass_storage if key.startswith("extended_assist")} | beside == rows.keys()
    (copy,) = await hass.async_add_executor_job(lambda: [*folder.iterdir()])
    (command,) = blocks(PAGE, "sh")
    shown = Path(command.text.split()[-1])
    assert (str(shown.parent), len(shown.name)) == (".storage/extended_assist.automations", len(copy.name))
    assert fnmatch(copy.name, "*.yaml.gz")
    assert shown.name.endswith(".yaml.gz")

    await hass.config_entries.async_remove(entry.entry_id)
    freezer.tick(60)
    async_fire_time_changed(hass, dt_util.utcnow() + timedelta(seconds=60))
    await hass.async_block_till_done()
    for name, fate in rows.items():
        match fate.partition(":")[0].partition(",")[0]:
            case "is deleted":
                assert name not in hass_storage
                assert not await hass.async_add_executor_job((folder.parent / name).exists)
            case "stays":
                assert await hass.async_add_executor_job(lambda: [*folder.iterdir()]) == [copy]
            case other:
                raise AssertionError(other)
    assert "Porch at dusk" in await hass.async_add_executor_job(path.read_text)
    assert hass.states.is_state("input_boolean.lamp", "on")
