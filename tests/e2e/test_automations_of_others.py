"""Automations as people have them in their file, told, changed and brought back in a running Home Assistant."""

import asyncio
from pathlib import Path
from typing import Any

from homeassistant.util.yaml import dump, parse_yaml

from .client import Client
from .instance import HomeAssistantInstance
from .writing_home import Speaker, speaking

LAMP, ALARM, DOOR_LOCK = "light.bed_light", "alarm_control_panel.security", "lock.front_door"
EXPOSED = (LAMP, ALARM, DOOR_LOCK, "input_boolean.party", "input_boolean.motion", "media_player.bedroom")
CODE = "471199"
FOUND = f"""\
- id: disarm
  alias: Disarm when the owner comes home
  triggers:
  - {{trigger: state, entity_id: input_boolean.motion, to: 'on'}}
  actions:
  - action: alarm_control_panel.alarm_disarm
    target: {{entity_id: {ALARM}}}
    data: {{code: '{CODE}'}}
- id: guests
  alias: Guests
  triggers:
  - {{trigger: state, entity_id: input_boolean.motion, to: 'off'}}
  actions:
  - if: [{{condition: state, entity_id: input_boolean.party, state: 'on'}}]
    then: [{{action: light.turn_on, target: {{entity_id: {LAMP}}}}}]
    else: [{{action: lock.unlock, target: {{entity_id: {DOOR_LOCK}}}}}]
- id: broken
  alias: Broken
  triggers:
  - {{trigger: device, device_id: gone, domain: light, type: turned_on}}
  actions: [{{delay: 1}}]
- &base
  id: base
  alias: Base
  triggers: [{{trigger: state, entity_id: input_boolean.motion}}]
  actions: [{{delay: 1}}]
- <<: *base
  id: derived
  alias: Derived
- id: twice
  alias: First
  triggers: [{{trigger: state, entity_id: input_boolean.motion}}]
  actions: [{{delay: 1}}]
- id: twice
  alias: Second
  triggers: [{{trigger: state, entity_id: input_boolean.motion}}]
  actions: [{{delay: 2}}]
- id: plain
  alias: Plain
  description: As it was
  triggers: [{{trigger: state, entity_id: input_boolean.motion}}]
  actions:
  - {{action: light.turn_on, target: {{entity_id: {LAMP}}}}}
"""
HIDDEN_BY_TEMPLATE = (
    "{{ state_attr('camera.demo_camera', 'access_token') }}",
    "{{ states.camera.demo_camera.attributes.access_token }}",
    "{{ (states.camera | first).attributes['access' ~ '_token'] }}",
    "{{ states | map(attribute='attributes.access_token') | list }}",
    "{{ expand('camera.demo_camera') | map(attribute='attributes') | list }}",
    "{{ ['light.kitchen_lights'] | map('states') | list }}",
    "{{ [['light.kitchen_lights']] | map('map', 'states') | list }}",
    "{{ this.attributes if states is defined else 1 }}{{ states['light.kitchen_lights'] }}",
)


async def test_found(writing_home: HomeAssistantInstance) -> None:
    """They are told whole but for codes; what would reach others is refused; what is removed or undone comes back as it was."""
    path = writing_home.config_dir / "automations.yaml"
    before = await asyncio.to_thread(path.read_text)
    async with speaking(writing_home) as (client, speaker):
        try:
            await _write(path, FOUND, client)
            states = await client.states()
            ids = {
                shown["attributes"].get("id"): entity_id
                for entity_id, shown in states.items()
                if entity_id.startswith("automation.")
            }
            await client.expose(*EXPOSED, *ids.values())
            await speaker.set_options()
            await _told(speaker, ids)
            await _refused(speaker, ids)
            await _brought_back(speaker, ids, path, client)
        finally:
            await _write(path, before, client)


async def _told(speaker: Speaker, ids: dict[Any, str]) -> None:
    """Every branch is told, and no code."""
    disarms = str(await speaker.call("get_automations", name=ids["disarm"], details=True))
    assert "disarm" in disarms.casefold()
    assert CODE not in disarms
    guests = str(await speaker.call("get_automations", name=ids["guests"], details=True))
    assert "else" in guests
    assert "unlock" in guests.casefold()
    # What is consequential inside is asked for, with what it does.
    question = await speaker.ask("perform_action", action="automation.trigger", target={"entity_id": ids["guests"]})
    assert "nlock" in question
    speaker.conversation_id = None


async def _refused(speaker: Speaker, ids: dict[Any, str]) -> None:
    """What changes others too, is there twice, or would read what is hidden is refused, with what to do."""
    for item_id, words in (("base", "anchor"), ("twice", "have its id")):
        changes = {"description": "Changed"}
        result = await speaker.call("update_automation", automation=ids[item_id], changes=changes)
        assert words in result["error"], result
    trigger = {"trigger": "state", "entity_id": "input_boolean.motion"}
    for template in HIDDEN_BY_TEMPLATE:
        action = {"action": "light.turn_on", "target": {"entity_id": LAMP}, "data": {"effect": template}}
        config = {"alias": "Reads", "triggers": [trigger], "actions": [action]}
        assert "error" in await speaker.call("add_automation", automation=config), template
        config |= {"triggers": [{"trigger": "template", "value_template": template}], "actions": [{"delay": 1}]}
        assert "error" in await speaker.call("add_automation", automation=config), template
    siren = {
        "action": "media_player.play_media",
        "target": {"entity_id": "media_player.bedroom"},
        "data": {"media_content_id": "siren.mp3", "media_content_type": "music"},
    }
    config = {"alias": "Siren", "triggers": [trigger], "actions": [siren]}
    error = (await speaker.call("add_automation", automation=config))["error"]
    assert "reads like the id of an entity" in error
    assert "such as my_siren.mp3" in error
    snapshot = {
        "action": "camera.snapshot",
        "target": {"entity_id": "camera.demo_camera"},
        "data": {"filename": "/a.jpg"},
    }
    config = {"alias": "Snapshot", "triggers": [trigger], "actions": [snapshot]}
    error = (await speaker.call("add_automation", automation=config))["error"]
    assert "Nearest: camera.snapshot" not in error


async def _brought_back(speaker: Speaker, ids: dict[Any, str], path: Path, client: Client) -> None:
    """A name may change in one that is broken; removed, it comes back; an undo keeps what the user did meanwhile."""
    renamed = await speaker.call("update_automation", automation=ids["broken"], changes={"alias": "Still broken"})
    assert "changed" in renamed, renamed
    await _undo(speaker)
    whole = await asyncio.to_thread(path.read_text)
    assert "removed" in await speaker.call("remove_automation", automation=ids["broken"])
    await _undo(speaker)
    assert await asyncio.to_thread(path.read_text) == whole
    changes = {"description": "Ours"}
    assert "changed" in await speaker.call("update_automation", automation=ids["plain"], changes=changes)
    text = (await asyncio.to_thread(path.read_text)).replace("delay: 2", "delay: 7")
    items: Any = parse_yaml(text)
    (plain,) = [item for item in items if item["id"] == "plain"]
    plain["mode"] = "queued"
    await _write(path, dump(items), client)
    await _undo(speaker)
    after: Any = parse_yaml(await asyncio.to_thread(path.read_text))
    (plain,) = [item for item in after if item["id"] == "plain"]
    assert (plain["description"], plain["mode"]) == ("As it was", "queued")
    assert [item["actions"] for item in after if item["alias"] == "Second"] == [[{"delay": 7}]]


async def _undo(speaker: Speaker) -> None:
    """Have the last change undone, which asks: what comes back may do anything."""
    assert (await speaker.ask("undo_last_change")).endswith("?")
    assert "undone" in await speaker.agree()


async def _write(path: Path, text: str, client: Client) -> None:
    """Write the file as a person does, and have it loaded."""
    await asyncio.to_thread(path.write_text, text)
    await client.perform_action("automation.reload")
