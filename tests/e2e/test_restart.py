"""What is there again after a restart of Home Assistant: one restart of each version for all that looks at it."""

import asyncio
from dataclasses import dataclass
import os
from typing import Any

import pytest

from .client import NO_SPEECH, Client
from .conftest import allow_loopback
from .instance import HomeAssistantInstance
from .test_talking import QUESTION, speech

SHOWN_AFTER = 3.0  # seconds; sensors gather the requests of a turn
COUNTERS = ("input_tokens", "tokens_read_from_cache", "tokens_written_to_cache", "output_tokens", "requests")


@dataclass(frozen=True)
class Before:
    """What there was before the restart, and what the sensors counted after it, when nobody had said anything yet."""

    entry_id: str
    agents: Any
    answer: str
    issue_id: str
    """The notice that was ignored."""
    pipeline_id: str
    """What the notice is about."""
    counted: tuple[dict[str, int], ...]
    """Before and after a conversation, and after the restart."""
    pid: int
    access_token: str
    area_id: str


@pytest.fixture(scope="module")
def before(home: HomeAssistantInstance, agent: str) -> Before:
    """Talk, ignore a notice, and restart."""
    allow_loopback()
    return asyncio.run(_restart(home, agent))


async def _restart(home: HomeAssistantInstance, agent: str) -> Before:
    async with home.connect() as client:
        (entry,) = await client.config_entries("extended_assist")
        agents = await client.subentries(entry["entry_id"])
        pipeline = await client.call(
            "assist_pipeline/pipeline/create",
            name="Local",
            language="en",
            conversation_engine=agent,
            conversation_language="en",
            **dict.fromkeys(NO_SPEECH),
            prefer_local_intents=True,
        )
        area_id = await client.create_area("Attic")
        counted = await _counts(client)
        answer = speech(await client.converse(QUESTION, agent_id=agent))
        (issue_id,) = [issue["issue_id"] for issue in (await _notices(client)).values()]
        await client.call("repairs/ignore_issue", domain="extended_assist", issue_id=issue_id, ignore=True)
        counted_after = await _counts(client)
    assert home.pid is not None
    pid, access_token = home.pid, home.access_token
    await home.restart()
    async with home.connect() as client:
        counts = counted, counted_after, await _counts(client)
    return Before(entry["entry_id"], agents, answer, issue_id, pipeline["id"], counts, pid, access_token, area_id)


async def _counts(client: Client) -> dict[str, int]:
    """Return what the sensors count."""
    await asyncio.sleep(SHOWN_AFTER)
    states = await client.states()
    return {counter: int(states[f"sensor.claude_{counter}"]["state"]) for counter in COUNTERS}


async def _notices(client: Client) -> dict[str, dict[str, Any]]:
    """Return the notices of the integration by what they are about."""
    found = (await client.call("repairs/list_issues"))["issues"]
    return {issue["translation_key"]: issue for issue in found if issue["domain"] == "extended_assist"}


async def test_the_home_is_another_process(before: Before, home: HomeAssistantInstance, client: Client) -> None:
    """The one before has left no process; the owner is logged in again, in the same home."""
    with pytest.raises(ProcessLookupError):
        os.killpg(before.pid, 0)
    assert home.pid not in (None, before.pid)
    assert home.access_token != before.access_token
    assert (await client.call("auth/current_user"))["is_owner"]
    areas = {area["area_id"]: area["name"] for area in await client.call("config/area_registry/list")}
    assert areas[before.area_id] == "Attic"
    await client.call("config/area_registry/delete", area_id=before.area_id)


def test_sensors_count_and_survive(before: Before) -> None:
    first, talked, restarted = before.counted
    assert talked["requests"] == first["requests"] + 2
    assert talked["input_tokens"] > first["input_tokens"]
    assert talked["output_tokens"] > first["output_tokens"]
    assert restarted == talked


async def test_everything_is_kept(before: Before, client: Client, agent: str) -> None:
    (after,) = await client.config_entries("extended_assist")
    assert (after["entry_id"], after["state"]) == (before.entry_id, "loaded")
    assert await client.subentries(after["entry_id"]) == before.agents
    assert speech(await client.converse(QUESTION, agent_id=agent)) == before.answer


async def test_notice_stays_ignored_and_can_be_mended(before: Before, client: Client, agent: str) -> None:
    found = await _notices(client)
    assert {key: issue["ignored"] for key, issue in found.items()} == {"agent_bypassed": True}
    path = "/api/repairs/issues/fix"
    form = await client.post(path, {"handler": "extended_assist", "issue_id": before.issue_id})
    assert form["description_placeholders"]["assistants"] == "Local"
    assert (await client.post(f"{path}/{form['flow_id']}"))["type"] == "create_entry"
    assert await _notices(client) == {}
    pipelines = (await client.call("assist_pipeline/pipeline/list"))["pipelines"]
    assert not any(one["prefer_local_intents"] for one in pipelines if one["conversation_engine"] == agent)
    await client.call("assist_pipeline/pipeline/delete", pipeline_id=before.pipeline_id)
