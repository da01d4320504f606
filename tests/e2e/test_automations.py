"""Automations written by the agent in a running Home Assistant, set off, and their effects seen."""

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
import json
from pathlib import Path
import re
import shutil
import tempfile
import time
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from tests.claude_server import ClaudeServer, Scenario, Turn, text, tool_use

from .client import Client
from .conftest import complaints
from .instance import CACHE, CONFIGURATION, HomeAssistantInstance, install_integration, interpreter
from .written import REFUSED, WRITTEN, E, Written

ZONE = ZoneInfo("Europe/Amsterdam")
EFFECT_TIME = 12.0  # seconds until an effect must be seen
EXPOSED = (
    *("input_boolean.motion", "input_boolean.door", "input_boolean.party", "input_number.level", "input_number.hot"),
    *("input_select.mode", "counter.count", "input_datetime.alarm", "light.bed_light", "light.ceiling_lights"),
    *("notify.notifier", "device_tracker.ann", "zone.home", "calendar.calendar_1", "scene.movie", "script.party"),
    *("climate.hvac", "cover.hall_window", "lock.kitchen_door"),
)
HELPERS = f"""
demo:
sun:
input_boolean:
  motion:
  door:
  party:
{"".join(f"  effect_{number}:\n" for number in range(len(WRITTEN)))}
input_number:
  level: {{min: 0, max: 100, initial: 0}}
  hot: {{min: 0, max: 100, initial: 90}}
input_select: {{mode: {{options: [home, night, away]}}}}
input_datetime: {{alarm: {{has_time: true}}}}
counter: {{count: {{}}}}
scene:
- name: Movie
  entities: {{light.ceiling_lights: {{state: 'on', brightness: 30}}}}
"""
SCRIPTS = "party:\n  sequence:\n  - action: input_boolean.turn_on\n    target: {entity_id: input_boolean.party}\n"


@pytest.fixture
async def house() -> AsyncIterator[HomeAssistantInstance]:
    """A home of its own, with helpers and Home Assistant's demo devices."""
    try:
        interpreter("newest")
    except FileNotFoundError as err:
        pytest.skip(str(err))
    (CACHE / "e2e").mkdir(parents=True, exist_ok=True)
    folder = Path(await asyncio.to_thread(tempfile.mkdtemp, dir=CACHE / "e2e", prefix="automations-"))
    await asyncio.to_thread(_write, folder)
    async with HomeAssistantInstance("newest", folder) as instance:
        yield instance
    await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


def _write(folder: Path) -> None:
    (folder / "configuration.yaml").write_text(CONFIGURATION + HELPERS)
    (folder / "scripts.yaml").write_text(SCRIPTS)
    install_integration(folder)


class Speaker:
    """Speaks to the agent, whose model says what the scenario has it say."""

    def __init__(self, client: Client, server: ClaudeServer) -> None:
        self._client = client
        self._server = server
        self.agent = ""
        self.conversation_id: str | None = None

    async def set_up(self) -> None:
        """Set the agent up as a person does, with automations turned on."""
        steps = ({"next_step_id": "claude"}, {"api_key": "test-key", "base_url": self._server.url})
        result = await self._client.config_flow("extended_assist", *steps)
        assert result["type"] == "create_entry", result
        self.agent = await self._client.find_entity("conversation", "extended_assist")

    async def set_options(self, ask_first: list[str]) -> None:
        """Choose the families and what asks first."""
        (entry,) = await self._client.config_entries("extended_assist")
        form = {
            "families": ["actions", "automations"],
            "result_budget": 20_000,
            "policy": {
                "who_may_read": "anyone",
                "who_may_control": "anyone",
                "who_may_administer": "admin",
                "ask_first": ask_first,
                "allow_without_chat": False,
            },
        }
        result = await self._client.options_flow(entry["entry_id"], form)
        assert result["type"] == "create_entry", result
        # The entry is loaded anew: its agent is gone for that time, and a conversation would keep the tools that it had.
        self.conversation_id = None
        for _ in range(50):
            await asyncio.sleep(0.2)
            if (await self._client.states()).get(self.agent, {"state": "unavailable"})["state"] != "unavailable":
                break

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Let the model call a tool of ours once and return what it got."""
        return await self.call_other(f"extended_assist__{tool}", **arguments)

    async def call_other(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Let the model call any tool once and return what it got."""
        self._server.responder = Scenario([Turn([tool_use(tool, arguments)]), Turn([text("So.")])])
        await self._say("Do it.")
        blocks = self._server.message_requests[-1]["messages"][-1]["content"]
        (result,) = [json.loads(block["content"]) for block in blocks if block["type"] == "tool_result"]
        return dict(result)

    async def ask(self, tool: str, **arguments: Any) -> str:
        """Let the model call a tool that asks; return the question that is spoken."""
        self._server.responder = Scenario([Turn([tool_use(f"extended_assist__{tool}", arguments)])])
        return await self._say("Do it.")

    async def agree(self) -> dict[str, Any]:
        """Say yes; return what was done."""
        self._server.responder = Scenario([Turn([text("So.")])])
        await self._say("Yes, please.")
        blocks = self._server.message_requests[-1]["messages"][-1]["content"]
        (result,) = [json.loads(block["content"]) for block in blocks if block["type"] == "tool_result"]
        return dict(result)

    async def _say(self, words: str) -> str:
        """Say something; return the answer."""
        answer = await self._client.converse(words, agent_id=self.agent, conversation_id=self.conversation_id)
        self.conversation_id = answer["conversation_id"]
        return str(answer["response"]["speech"]["plain"]["speech"])


async def test_written_by_the_agent(house: HomeAssistantInstance) -> None:
    """Every automation is accepted, does what was wished, and is gone after it is undone or removed."""
    async with house.connect() as client, ClaudeServer(Scenario([])) as server:
        speaker = Speaker(client, server)
        await speaker.set_up()
        await furnish(client)
        await ask_first(speaker, client)
        await speaker.set_options([])
        failed = {}
        for number, written in enumerate(WRITTEN):
            if len(server.message_requests) % 20 == 0:
                speaker.conversation_id = None
            if (problem := await check(number, written, speaker, client)) is not None:
                failed[written.wish] = problem
        assert not failed
        assert len(WRITTEN) > 40
        for config, reason in REFUSED:
            result = await speaker.call("add_automation", automation=ready({"alias": "Refused", **config}, 0, {}))
            assert reason in result["error"]
        listed = await speaker.call("get_automations")
        assert listed["count"] == len(WRITTEN)
        await together(speaker, client)
        assert complaints(house) == []


async def furnish(client: Client) -> None:
    """Expose what may be used, and put a light into an area of its own."""
    await client.post("/api/states/device_tracker.ann", {"state": "not_home"}, expect=(200, 201))
    study = await client.create_area("Study")
    entries = {entry["entity_id"]: entry for entry in await client.call("config/entity_registry/list")}
    device_id = entries["light.bed_light"]["device_id"]
    await client.call("config/device_registry/update", device_id=device_id, area_id=study)
    await client.expose(*EXPOSED, *(f"{E}_{number}" for number in range(len(WRITTEN))))


async def ask_first(speaker: Speaker, client: Client) -> None:
    """As long as nothing else is chosen, the user is asked; what they agreed to can be undone."""
    await speaker.set_options(["add_automation", "update_automation", "remove_automation"])
    config = ready({"alias": "Asked", **WRITTEN[0].config}, 0, {})
    asked = await speaker.ask("add_automation", automation=config)
    assert asked.startswith("Add the automation 'Asked': When motion turns on, turn on Bed Light")
    assert "+alias: Asked" in asked
    assert asked.endswith("Shall I do that?")
    added = await speaker.agree()
    entity_id = added["added"]
    assert (await client.state(entity_id))["state"] == "on"
    changes = {"alias": "Changed", "mode": "queued"}
    assert "+alias: Changed" in await speaker.ask("update_automation", automation=added["id"], changes=changes)
    assert (await speaker.agree())["changed"] == entity_id
    saved = await client.get(f"/api/config/automation/config/{added['id']}")
    assert saved == {"id": added["id"], **config, **changes}
    question = await speaker.ask("undo_last_change")
    assert question.startswith("Change back the automation 'Asked': When motion turns on, turn on Bed Light")
    assert "-alias: Changed" in question
    assert "+alias: Asked" in question
    assert (await speaker.agree())["undone"] == {entity_id: "as it was before"}
    assert (await client.get(f"/api/config/automation/config/{added['id']}"))["alias"] == "Asked"
    assert (await speaker.ask("undo_last_change")).startswith("Remove again the automation 'Asked'")
    assert (await speaker.agree())["undone"] == {entity_id: "removed again"}
    assert entity_id not in await client.states()


async def check(number: int, written: Written, speaker: Speaker, client: Client) -> str | None:
    """Let the agent write one automation, set it off and look for its effect; return what went wrong."""
    devices = {entry["entity_id"]: entry["device_id"] for entry in await client.call("config/entity_registry/list")}
    entity_id = written.effect[0].replace(E, f"{E}_{number}")
    config = ready({"alias": written.wish, **written.config}, number, devices)
    added = await speaker.call("add_automation", automation=config)
    if "added" not in added:
        return str(added)
    states = await client.states()
    before = states[entity_id]["state"]
    if states[added["added"]]["state"] != "on":
        return "it is not on"
    for step in written.steps:
        await happen(ready(step, number, devices), added["added"], client)
    deadline = time.monotonic() + EFFECT_TIME
    while not seen(now := (await client.state(entity_id))["state"], before, written.effect[1]):
        if time.monotonic() > deadline:
            runs = await speaker.call("get_automations", name=added["id"], details=True)
            return f"{entity_id} was {before}, is {now}; {runs.get('last_runs')}"
        await asyncio.sleep(0.05)
    await client.perform_action("automation.turn_off", {"entity_id": added["added"]})
    return None


def seen(now: str, before: str, wanted: str) -> bool:
    """Return whether an effect is there."""
    return now != before if wanted == "changed" else now == wanted


async def happen(step: Any, automation: str, client: Client) -> None:
    """Do what sets an automation off."""
    match step:
        case ["on" | "off" as what, entity_id]:
            await client.perform_action(f"input_boolean.turn_{what}", {"entity_id": entity_id})
        case ["do", action, data]:
            await client.perform_action(action, data)
        case ["set", entity_id, state, attributes]:
            await client.post(f"/api/states/{entity_id}", {"state": state, "attributes": attributes})
        case ["wait", seconds]:
            await asyncio.sleep(seconds)
        case ["run"]:
            await client.perform_action("automation.trigger", {"entity_id": automation, "skip_condition": False})


def ready(value: Any, number: int, devices: dict[str, str]) -> Any:
    """Return a part of a case with what stands for something else replaced."""
    text = json.dumps(value).replace(f'"{E}"', f'"{E}_{number}"')
    text = re.sub(r"<device ([^>]+)>", lambda found: devices.get(found[1], "unknown"), text)
    return json.loads(re.sub(r"<in (\d+)>", lambda found: f"{_later(int(found[1])):%H:%M:%S}", text))


def _later(seconds: int) -> datetime:
    return datetime.now(ZONE) + timedelta(seconds=seconds)


async def together(speaker: Speaker, client: Client) -> None:
    """While the editor saves one automation after the other, the agent adds its own: all of them are there."""
    saved = {f"ui{number}" for number in range(20)}

    async def edit() -> None:
        for key in sorted(saved):
            config = {"alias": key, "triggers": [], "actions": []}
            await client.post(f"/api/config/automation/config/{key}", config)

    editing = asyncio.create_task(edit())
    added = set()
    while not editing.done():
        result = await speaker.call("add_automation", automation={"alias": "Ours", "triggers": [], "actions": []})
        added.add(result["id"])
    await editing
    for key in saved | added:
        assert (await client.get(f"/api/config/automation/config/{key}"))["id"] == key
    assert len(added) > 1
