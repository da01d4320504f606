"""Blueprints imported into a running Home Assistant, where time sets them off and nobody is logged in."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
import json
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from tests.claude_server import ClaudeServer
from tests.helpers.blueprints import FOLDER, Model

from .client import Client

ZONE = ZoneInfo("Europe/Amsterdam")
DOOR = "binary_sensor.front_door"
DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]


def door(result: dict[str, Any]) -> str:
    return f"The front door was opened last at {result['entities'][DOOR]['last_change']['time']}."


def energy(result: dict[str, Any]) -> str:
    line = next(line for line in result["totals"].splitlines() if line.startswith("from grid,"))
    return f"From the grid: {' '.join(line.split(',')[1:3])}."


def judged(instructions: str) -> dict[str, Any]:
    if "Question 'unusual'" in instructions:
        assert "front door" in instructions
        return {"looked": 0.9, "unusual": 0.8}
    found = instructions.partition("<findings>")[2].partition("</findings>")[0].strip()
    return {"looked": True, "unusual": True, "message": f"Unusual: {found}"}


def soon() -> str:
    """Return the time of day in a few seconds."""
    return f"{datetime.now(ZONE) + timedelta(seconds=4):%H:%M:%S}"


@asynccontextmanager
async def imported(client: Client, name: str, **inputs: Any) -> AsyncGenerator[None]:
    """Import a blueprint and make an automation of it; both are gone afterwards."""
    path = f"extended_assist/{name}.yaml"
    written = await asyncio.to_thread((FOLDER / f"{name}.yaml").read_text, encoding="utf-8")
    await client.call("blueprint/save", domain="automation", path=path, yaml=written)
    try:
        notice = {"notification_id": name, "message": "{{ words }}"}
        inputs |= {"other_actions": [{"action": "persistent_notification.create", "data": notice}]}
        config = {"alias": name, "use_blueprint": {"path": path, "input": inputs}}
        await client.post(f"/api/config/automation/config/{name}", config)
        yield
    finally:
        await client.delete(f"/api/config/automation/config/{name}")
        await client.perform_action("persistent_notification.dismiss", {"notification_id": name})
        await client.call("blueprint/delete", domain="automation", path=path)


@pytest.mark.parametrize(
    ("name", "call", "say", "expected"),
    [
        (
            "morning_report",
            ("get_history", {"entities": DOOR, "hours": 72}),
            door,
            "The front door was opened last at 20",
        ),
        (
            "unusual_today",
            ("get_history", {"entities": DOOR, "hours": 72}),
            door,
            "Unusual: The front door was opened last",
        ),
        ("weekly_energy", None, energy, "From the grid: "),
    ],
)
async def test_blueprint(
    client: Client, name: str, call: tuple[str, dict[str, Any]] | None, say: Callable[..., str], expected: str
) -> None:
    today = datetime.now(ZONE).date()
    week = {"start": str(today - timedelta(days=7)), "end": str(today)}
    model = Model([call or ("get_energy", week)], say, judged)
    async with ClaudeServer(model) as server:
        steps = ({"next_step_id": "claude"}, {"api_key": "test-key", "base_url": server.url})
        entry_id = (await client.config_flow("extended_assist", *steps))["result"]["entry_id"]
        try:
            agent, task = await entities(client, entry_id)
            inputs: dict[str, Any] = {"agent": agent, "weekdays": DAYS}
            match name:
                case "morning_report":
                    times = {"earliest": "00:00:00", "latest": "23:59:59"}
                    inputs |= times | {"trigger": [{"trigger": "time", "at": soon()}]}
                case "unusual_today":
                    inputs |= {"ai_task": task, "time": soon()}
                case _:
                    inputs |= {"time": soon()}
            async with (
                imported(client, name, **inputs),
                client.subscribe("persistent_notification/subscribe") as events,
            ):
                async for event in events:
                    if name in event["notifications"]:
                        message = event["notifications"][name]["message"]
                        break
            assert message.startswith(expected), message
            assert any(letter.isdigit() for letter in message)
            asked = [request["messages"][-1]["content"] for request in server.message_requests]
            last = [blocks for blocks in asked if blocks[0]["type"] == "tool_result"][-1]
            assert say(json.loads(last[0]["content"])) in message
            weighs = name == "unusual_today" and await client.call("get_services")
            assert any("Question 'unusual'" in str(blocks) for blocks in asked) == (
                bool(weighs) and "evaluate" in weighs["ai_task"]
            )
        finally:
            await client.delete(f"/api/config/config_entries/entry/{entry_id}")
    assert f"automation.{name}" not in await client.states()


async def entities(client: Client, entry_id: str) -> tuple[str, str]:
    """Return the agent and the AI task of an entry."""
    registry = await client.call("config/entity_registry/list")
    found = {item["entity_id"] for item in registry if item["config_entry_id"] == entry_id}
    return tuple(next(item for item in found if item.startswith(domain)) for domain in ("conversation.", "ai_task."))
