"""What an agent does, in a running Home Assistant: automations that it sets off, the editor's lists, and the logbook."""

import asyncio
from datetime import timedelta
from typing import Any

from homeassistant.util import dt as dt_util

from .client import Client
from .instance import HomeAssistantInstance
from .writing_home import Speaker, becomes, speaking

LAMP, PARTY = "input_boolean.lamp", "input_boolean.party"
DOMAIN = "extended_assist"
PATIENCE = 15.0
KINDS = ("acted", "asked", "refused", "undone", "failed", "limit_reached")
CONFIG = "/api/config/automation/config/told_of_acts"


async def test_told(writing_home: HomeAssistantInstance) -> None:
    """An automation is set off by the agent's act, the editor lists trigger and condition, and the logbook names the agent."""
    async with speaking(writing_home) as (client, speaker):
        await client.expose(LAMP)
        await client.perform_action("input_boolean.turn_off", {"entity_id": [LAMP, PARTY]})
        await speaker.set_options(families=("actions",))
        activity = await _activity(client)
        await _check_editor(client, activity["device_id"])
        target = {"device_id": activity["device_id"]}
        happened = {"kind": ["acted"], "within": {"minutes": 1}}
        automation = {
            "alias": "Told of acts",
            "triggers": [{"trigger": f"{DOMAIN}.acted", "target": target}],
            "conditions": [{"condition": f"{DOMAIN}.happened", "target": target, "options": happened}],
            "actions": [{"action": "input_boolean.turn_on", "target": {"entity_id": PARTY}}],
        }
        await client.post(CONFIG, automation)
        try:
            await _check_act(client, speaker, activity["entity_id"])
        finally:
            await client.delete(CONFIG)


async def _activity(client: Client) -> dict[str, Any]:
    """Return the registry entry of the agent's events."""
    entries: Any = await client.call("config/entity_registry/list")
    (found,) = [
        one
        for one in entries
        if one["platform"] == DOMAIN
        and one["translation_key"] == "activity"
        and one["config_subentry_id"]
        and one["entity_id"] == "event.claude_activity"
    ]
    return dict(found)


async def _check_editor(client: Client, device_id: str) -> None:
    """The editor has descriptions of all, and offers them for the agent's device."""
    for kind, expected in (("trigger", KINDS), ("condition", ("happened",))):
        names = {f"{DOMAIN}.{one}" for one in expected}
        async with client.subscribe(f"{kind}_platforms/subscribe") as messages:
            described: dict[str, Any] = {}
            async with asyncio.timeout(PATIENCE):
                while not names <= described.keys():
                    described |= await anext(messages)
        assert all(described[name]["target"] for name in names)
        offered: Any = await client.call(f"get_{kind}s_for_target", target={"device_id": [device_id]})
        assert names <= {*offered}


async def _check_act(client: Client, speaker: Speaker, entity_id: str) -> None:
    """The act sets the automation off, and the logbook says whose it was and what it caused."""
    begun = dt_util.utcnow() - timedelta(seconds=1)
    await speaker.call("perform_action", action="input_boolean.turn_on", target={"entity_id": LAMP})
    await becomes(client, PARTY, "on")
    assert (await client.state(entity_id))["attributes"]["targets"] == [LAMP]
    for _ in range(10):
        await asyncio.sleep(1)  # Until the recorder has written it.
        found: Any = await client.get(f"/api/logbook/{begun.isoformat().replace('+', '%2B')}")
        if lines := [line for line in found if line.get("domain") == DOMAIN]:
            break
    assert [(line["name"], line["entity_id"]) for line in lines] == [("Claude", entity_id)]
    assert lines[0]["message"].lower().startswith("acted: ")
    assert lines[0]["context_user_id"]
    (changed,) = [line for line in found if line.get("entity_id") == LAMP]
    assert changed["context_name"] == "Claude"
