"""Tests of what is stored: the first formats are read without a loss, later ones are refused or left as they are.

The files in fixtures/ are what the first release wrote; they are never changed.
"""

from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import asdict
from datetime import timedelta
import json
from pathlib import Path
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import async_fire_time_changed, flush_store

from custom_components.extended_assist.calls.journal import async_get_journal
from custom_components.extended_assist.claude.usage import async_get_meters
from custom_components.extended_assist.const import DOMAIN
from custom_components.extended_assist.functions.manager import loaded_functions
from custom_components.extended_assist.scheduled.manager import async_get_scheduled_tasks
from homeassistant.components import conversation
from homeassistant.config_entries import ConfigEntry, ConfigEntryState
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import entity_registry as er
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
from tests.claude_server import ClaudeServer, Scenario, Turn, text
from tests.conftest import AGENT
from tests.helpers.talking import speech

FIXTURES = Path(__file__).parent / "fixtures"
ENTRY = "config_entry_1_1.json"
STORES = "stores_1_1.json"
ENTRY_ID = "01JZFIRSTFORMATENTRY0000AA"
AGENT_ID = "01JZFIRSTFORMATAGENT0000AA"
TASK_ID = "01JZFIRSTFORMATTASK00000AA"
SCHEDULE = "extended_assist.schedule"
COUNTS = ("input_tokens", "cached_tokens", "cache_written_tokens", "output_tokens", "requests")

pytestmark = pytest.mark.usefixtures("no_deprecations")


def frozen(name: str, server: str = "") -> Any:
    """Return what the first release stored, with the address of a server of today."""
    return json.loads((FIXTURES / name).read_text().replace("SERVER", server))


type Load = Callable[..., Any]


@pytest.fixture
def load(hass: HomeAssistant, assist: None, claude_server: ClaudeServer, hass_storage: dict[str, Any]) -> Load:
    """Return a function that lets Home Assistant start with a stored entry, after changes to it."""

    async def start(
        change: Callable[[dict[str, Any]], object] = lambda _: None, stores: Iterable[Any] = ()
    ) -> ConfigEntry:
        stored = frozen(ENTRY, claude_server.url)
        change(stored)
        hass_storage["core.config_entries"] = {
            "version": 1,
            "minor_version": 5,
            "key": "core.config_entries",
            "data": {"entries": [deepcopy(stored)]},
        }
        for store in stores or frozen(STORES):
            hass_storage[store["key"]] = store
        await hass.config_entries.async_initialize()
        assert await async_setup_component(hass, DOMAIN, {})
        await hass.async_block_till_done()
        (entry,) = hass.config_entries.async_entries(DOMAIN)
        return entry

    return start


async def ask(hass: HomeAssistant, server: ClaudeServer) -> str:
    """Ask the agent something as a user whom nobody knows."""
    server.responder = Scenario([Turn([text("Good evening.")])])
    return speech(await conversation.async_converse(hass, "Hello", None, Context(), "en", AGENT))


async def stored_entry(hass: HomeAssistant, hass_storage: dict[str, Any]) -> dict[str, Any]:
    """Return the entry as Home Assistant stores it now."""
    hass.config_entries._async_schedule_save()
    await flush_store(hass.config_entries._store)
    (entry,) = hass_storage["core.config_entries"]["data"]["entries"]
    return {key: value for key, value in json.loads(json.dumps(entry, default=str)).items() if key != "modified_at"}


async def test_first_format_of_an_entry(
    hass: HomeAssistant, load: Load, claude_server: ClaudeServer, hass_storage: dict[str, Any]
) -> None:
    """It loads, answers, serves its functions, has the entities it had, and is stored as it was, with the tools for later."""
    entry = await load()
    assert entry.state is ConfigEntryState.LOADED
    assert await ask(hass, claude_server) == "Good evening."
    assert [function.definition.name for function in loaded_functions(hass, ENTRY_ID)] == ["add_to_shopping_list"]
    entities = er.async_entries_for_config_entry(er.async_get(hass), ENTRY_ID)
    counters = {("sensor", f"{owner}_{count}") for owner in (AGENT_ID, TASK_ID) for count in COUNTS}
    assert {(entity.domain, entity.unique_id) for entity in entities} == {
        ("conversation", AGENT_ID),
        ("ai_task", TASK_ID),
        *counters,
        *((domain, f"{ENTRY_ID}_wishes") for domain in ("calendar", "event", "todo")),
        *(("event", f"{owner}_activity") for owner in (ENTRY_ID, AGENT_ID, TASK_ID)),
    }
    first = frozen(ENTRY, claude_server.url)
    now = await stored_entry(hass, hass_storage)
    assert (first.pop("minor_version"), now["minor_version"]) == (1, 3)
    first["options"]["families"].append("wishes")
    first.pop("modified_at")
    assert {key: now.get(key) for key in first} == first


async def test_entry_of_a_later_major_version_is_refused(
    hass: HomeAssistant, load: Load, claude_server: ClaudeServer, hass_storage: dict[str, Any]
) -> None:
    """Home Assistant says so, and what is stored stays as it is."""
    entry = await load(lambda stored: stored.update(version=2))
    assert entry.state is ConfigEntryState.MIGRATION_ERROR
    assert hass.states.get(AGENT) is None
    assert (await stored_entry(hass, hass_storage))["subentries"] == frozen(ENTRY, claude_server.url)["subentries"]


async def test_entry_of_a_later_minor_version_loads(
    hass: HomeAssistant, load: Load, claude_server: ClaudeServer, hass_storage: dict[str, Any]
) -> None:
    """After a step back, what a later version added is left alone and not lost."""
    later = {"subentry_id": "01JZLATER", "subentry_type": "later", "title": "?", "unique_id": None, "data": {"a": 1}}

    def change(stored: dict[str, Any]) -> None:
        stored["minor_version"] = 9
        stored["data"]["later"] = "data"
        stored["options"]["later"] = ["options"]
        stored["options"]["families"].append("later")
        stored["subentries"][0]["data"]["later"] = True
        stored["subentries"].append(later)

    entry = await load(change)
    assert entry.state is ConfigEntryState.LOADED
    assert await ask(hass, claude_server) == "Good evening."
    now = await stored_entry(hass, hass_storage)
    assert (now["minor_version"], now["data"]["later"], now["options"]["later"]) == (9, "data", ["options"])
    assert now["subentries"][0]["data"]["later"] is True
    assert now["subentries"][-1] == later


async def test_first_format_of_the_stores(hass: HomeAssistant, load: Load, hass_storage: dict[str, Any]) -> None:
    """Changes and what was counted are there, and are stored again as they were; what waits is a task now."""
    await load()
    journal, tasks = await async_get_journal(hass), await async_get_scheduled_tasks(hass)
    meters = await async_get_meters(hass)
    assert [(change.what, change.undone) for change in journal._changes] == [
        ("light.turn_on", False),
        ("add_automation", True),
    ]
    waiting, outcome = next(store for store in frozen(STORES) if store["key"] == SCHEDULE)["data"].values()
    (task,) = tasks.standing
    assert (task.id, task.progress.due, task.agreed) == ("abc123", waiting[0]["due"], True)
    assert task.what.actions == [{key: waiting[0][key] for key in ("action", "entity_ids", "data", "targeted")}]
    assert asdict(task.owner).items() <= (waiting[0] | {"author": None}).items()
    (over,) = tasks.ended
    assert (over.id, over.progress.result) == ("abc122", outcome[0]["result"])
    assert meters.of(AGENT_ID).usage.counts["requests"] == 7
    journal._save()
    meters._save()
    async_fire_time_changed(hass, dt_util.utcnow() + timedelta(minutes=1))
    await hass.async_block_till_done()
    for store in frozen(STORES):
        if store["key"] == SCHEDULE:
            assert SCHEDULE not in hass_storage
            assert len(hass_storage["extended_assist.wishes"]["data"]["wishes"]) == 2
        else:
            assert hass_storage[store["key"]] == store
    await hass.config_entries.async_unload(ENTRY_ID)


async def test_stores_of_a_later_minor_version(hass: HomeAssistant, load: Load, hass_storage: dict[str, Any]) -> None:
    """What a later version added to what it stores is passed over."""
    later = {store["key"]: store | {"minor_version": 2} for store in frozen(STORES)}
    for item in (
        *later["extended_assist.journal"]["data"]["changes"],
        *later["extended_assist.schedule"]["data"]["waiting"],
        *later["extended_assist.usage"]["data"].values(),
        *(store["data"] for store in later.values() if store["key"] != "extended_assist.usage"),
    ):
        item["later"] = 1
    await load(stores=later.values())
    assert len((await async_get_journal(hass))._changes) == 2
    assert [task.id for task in (await async_get_scheduled_tasks(hass)).standing] == ["abc123"]
    assert (await async_get_meters(hass)).of(AGENT_ID).usage.counts["requests"] == 7
    await hass.config_entries.async_unload(ENTRY_ID)
