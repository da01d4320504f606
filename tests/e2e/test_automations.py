"""Automations written by the agent in a running Home Assistant, set off, and their effects seen."""

import asyncio
from datetime import datetime, timedelta
import json
import re
import time
from typing import Any
from zoneinfo import ZoneInfo

from .client import Client
from .conftest import complaints
from .instance import HomeAssistantInstance
from .writing_home import EFFECT_TIME, Speaker, speaking
from .written import REFUSED, WRITTEN, E, Written

ZONE = ZoneInfo("Europe/Amsterdam")
EXPOSED = (
    *("input_boolean.motion", "input_boolean.door", "input_boolean.party", "input_number.level", "input_number.hot"),
    *("input_select.mode", "counter.count", "input_datetime.alarm", "light.bed_light", "light.ceiling_lights"),
    *("notify.notifier", "device_tracker.ann", "zone.home", "calendar.calendar_1", "scene.movie", "script.party"),
    *("climate.hvac", "cover.hall_window", "lock.kitchen_door"),
)


async def test_written_by_the_agent(writing_home: HomeAssistantInstance) -> None:
    """Every automation is accepted, does what was wished, and is gone after it is undone or removed."""
    async with speaking(writing_home) as (client, speaker):
        await furnish(client)
        await ask_first(speaker, client)
        await speaker.set_options([])
        cases = list(enumerate(WRITTEN))
        groups = [[case for case in cases if case[1].by_the_clock]]
        groups += [[case] for case in cases if not case[1].by_the_clock]
        failed = {}
        for count, group in enumerate(groups):
            if count % 10 == 0:
                speaker.conversation_id = None
            failed |= await check(group, speaker, client)
        assert not failed
        assert len(WRITTEN) > 40
        for config, reason in REFUSED:
            result = await speaker.call("add_automation", automation=ready({"alias": "Refused", **config}, 0, {}))
            assert reason in result["error"]
        listed = await speaker.call("get_automations")
        assert listed["count"] == len(WRITTEN)
        # What was listed tells of a tracker that nobody has named: in that conversation, each change would ask.
        speaker.conversation_id = None
        await together(speaker, client)
    assert complaints(writing_home) == []


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


async def check(cases: list[tuple[int, Written]], speaker: Speaker, client: Client) -> dict[str, str]:
    """Let the agent write automations, set them off and look for their effects; return what went wrong."""
    begun, failed = [], {}
    for number, written in cases:
        try:
            begun.append((written, *await begin(number, written, speaker, client)))
        except AssertionError as err:
            failed[written.task] = str(err)
    for written, automation, entity_id, before in begun:
        deadline = time.monotonic() + EFFECT_TIME
        while not seen(now := (await client.state(entity_id))["state"], before, written.effect[1]):
            if time.monotonic() > deadline:
                runs = await speaker.call("get_automations", name=automation, details=True)
                failed[written.task] = f"{entity_id} was {before}, is {now}; {runs.get('last_runs')}"
                break
            await asyncio.sleep(0.05)
        await client.perform_action("automation.turn_off", {"entity_id": automation})
    return failed


async def begin(number: int, written: Written, speaker: Speaker, client: Client) -> tuple[str, str, str]:
    """Let the agent write one automation and set it off; return it, the entity of its effect, and that one's state before."""
    devices = {entry["entity_id"]: entry["device_id"] for entry in await client.call("config/entity_registry/list")}
    entity_id = written.effect[0].replace(E, f"{E}_{number}")
    added = await speaker.call(
        "add_automation", automation=ready({"alias": written.task, **written.config}, number, devices)
    )
    assert "added" in added, added
    automation, states = added["added"], await client.states()
    assert states[automation]["state"] == "on"
    for step in written.steps:
        await happen(ready(step, number, devices), automation, client)
    return automation, entity_id, states[entity_id]["state"]


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
