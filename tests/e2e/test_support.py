"""What people turn to when something is wrong, in a running Home Assistant: notices with their dialogs, and diagnostics."""

import json

from demo.custom_components.demo_home.catalogue import ITEMS

from .client import NO_SPEECH, Client
from .conftest import PLANNER_KEY
from .instance import HomeAssistantInstance


async def notices(client: Client) -> dict[str, dict]:
    """Return the notices of the integration by what they are about."""
    found = (await client.call("repairs/list_issues"))["issues"]
    return {issue["translation_key"]: issue for issue in found if issue["domain"] == "extended_assist"}


async def test_notice_stays_ignored_over_a_restart_and_can_be_mended(home: HomeAssistantInstance, agent: str) -> None:
    async with home.connect() as client:
        pipeline = await client.call(
            "assist_pipeline/pipeline/create",
            name="Local",
            language="en",
            conversation_engine=agent,
            conversation_language="en",
            **dict.fromkeys(NO_SPEECH),
            prefer_local_intents=True,
        )
        await client.converse("When did the front door last open?", agent_id=agent)
        (issue_id,) = [issue["issue_id"] for issue in (await notices(client)).values()]
        await client.call("repairs/ignore_issue", domain="extended_assist", issue_id=issue_id, ignore=True)
    await home.restart()
    async with home.connect() as client:
        found = await notices(client)
        assert {key: issue["ignored"] for key, issue in found.items()} == {"agent_bypassed": True}
        path = "/api/repairs/issues/fix"
        form = await client.post(path, {"handler": "extended_assist", "issue_id": issue_id})
        assert form["description_placeholders"]["assistants"] == "Local"
        assert (await client.post(f"{path}/{form['flow_id']}"))["type"] == "create_entry"
        assert await notices(client) == {}
        pipelines = (await client.call("assist_pipeline/pipeline/list"))["pipelines"]
        assert not any(one["prefer_local_intents"] for one in pipelines if one["conversation_engine"] == agent)
        await client.call("assist_pipeline/pipeline/delete", pipeline_id=pipeline["id"])


async def test_diagnostics_help_and_name_nothing(home: HomeAssistantInstance, client: Client, agent: str) -> None:
    (entry,) = await client.config_entries("extended_assist")
    whole = await client.get(f"/api/diagnostics/config_entry/{entry['entry_id']}")
    data = whole["data"]
    assert [section for section in data.values() if isinstance(section, dict) and "error" in section] == []
    assert data["home"]["recorder"]["engine"] == "sqlite"
    assert data["home"]["exposed"]["light"] > 1
    assert data["connection"]["server"]["host"] == "loopback"
    (conversation,) = [agent for agent in data["agents"] if agent["type"] == "conversation"]
    assert conversation["offered"]["own_tools"]["extended_assist__get_history"] > 100
    # How entities and areas are called, and where they are.
    names = {name for item in ITEMS for name in (item.entity_id, item.name, item.area)}
    told = json.dumps(data)
    assert [name for name in (*names, PLANNER_KEY, agent, "127.0.0.1") if name in told] == []
