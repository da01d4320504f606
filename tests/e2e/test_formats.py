"""What the first release stored, read by a running Home Assistant of every version."""

import json
from pathlib import Path

import pytest

from tests.test_formats import AGENT_ID, ENTRY, ENTRY_ID, STORES, frozen

from .conftest import ENVIRONMENTS, PLANNER_KEY, complaints
from .instance import Environment, HomeAssistantInstance, install_integration, interpreter, write_storage


@pytest.mark.parametrize("environment", ENVIRONMENTS)
async def test_first_format(environment: Environment, planner: str, tmp_path: Path) -> None:
    """It loads, answers, and is there after the stop, only its minor version later, with the changes and counts beside it."""
    try:
        interpreter(environment)
    except FileNotFoundError as err:
        pytest.skip(str(err))
    entry = frozen(ENTRY, planner)
    entry["data"]["api_key"] = PLANNER_KEY
    storage = tmp_path / ".storage"
    storage.mkdir()
    write_storage(storage, "core.config_entries", {"entries": [entry]}, minor_version=5)
    for store in frozen(STORES):
        write_storage(storage, store["key"], store["data"])
    install_integration(tmp_path)
    async with HomeAssistantInstance(environment, tmp_path, is_copy=True) as instance:
        async with instance.connect() as client:
            (found,) = await client.config_entries("extended_assist")
            assert (found["entry_id"], found["state"]) == (ENTRY_ID, "loaded")
            assert (await client.state("sensor.claude_requests"))["state"] == "7"
            answer = await client.converse("Turn on the kitchen light", agent_id="conversation.claude")
            assert answer["response"]["response_type"] == "action_done", answer
        await instance.stop()
        assert complaints(instance) == []
    (after,) = [
        one
        for one in json.loads((storage / "core.config_entries").read_text())["data"]["entries"]
        if one["entry_id"] == ENTRY_ID
    ]
    assert after["minor_version"] == 3
    for key in ("modified_at", "minor_version"):
        entry.pop(key)
    entry["options"]["families"].append("wishes")
    assert {key: after.get(key) for key in entry} == entry
    journal, schedule, usage = frozen(STORES)
    assert json.loads((storage / "extended_assist.journal").read_text())["data"] == journal["data"]
    waiting, over = schedule["data"]["waiting"], [one["scheduled"] for one in schedule["data"]["outcomes"]]
    tasks = json.loads((storage / "extended_assist.wishes").read_text())["data"]["wishes"]
    assert {task["id"] for task in tasks} == {item["id"] for item in waiting + over}
    assert not (storage / "extended_assist.schedule").exists()
    counted = json.loads((storage / "extended_assist.usage").read_text())["data"]
    assert counted.keys() == usage["data"].keys()
    assert counted[AGENT_ID]["counts"]["requests"] > 7
