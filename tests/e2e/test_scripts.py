"""Scripts and scenes written by the agent in a running Home Assistant, run, and rewritten by Home Assistant's own editor."""

import asyncio

from .client import Client
from .conftest import complaints
from .instance import HomeAssistantInstance
from .writing_home import SCRIPTS, Speaker, becomes, speaking

LAMP, LEVEL, LIGHT = "input_boolean.lamp", "input_number.level", "light.bed_light"
SCRIPT = {
    "alias": "Light the room",
    "fields": {"level": {"required": True, "selector": {"number": {"min": 0.0, "max": 100.0}}}},
    "sequence": [
        {"action": "input_number.set_value", "target": {"entity_id": LEVEL}, "data": {"value": "{{ level }}"}},
        {"action": "input_boolean.turn_on", "target": {"entity_id": LAMP}},
    ],
}
OBJECT_ID, ENTITY_ID = "light_the_room", "script.light_the_room"


async def test_scripts_and_scenes(writing_home: HomeAssistantInstance) -> None:
    """What is agreed to is written, runs, is read and rewritten by the editor, changed after that, and taken back."""
    async with speaking(writing_home) as (client, speaker):
        await client.expose(LAMP, LEVEL, LIGHT)
        await speaker.set_options(["add_automation", "update_automation", "remove_automation"])
        await scripts(writing_home, speaker, client)
        await scenes(writing_home, speaker, client)
    assert complaints(writing_home) == []


async def scripts(writing_home: HomeAssistantInstance, speaker: Speaker, client: Client) -> None:
    """A script with a field."""
    path = writing_home.config_dir / "scripts.yaml"
    asked = await speaker.ask("add_automation", script=SCRIPT)
    assert asked.startswith("Add the script 'Light the room': When it is run, given level (required yes")
    assert "everyone who may talk to Assist, speakers included, can then run it" in asked
    added = await speaker.agree()
    assert (added["added"], added["id"]) == (ENTITY_ID, OBJECT_ID)
    text = await asyncio.to_thread(path.read_text)
    assert text.startswith(SCRIPTS)
    assert await client.get(f"/api/config/script/config/{OBJECT_ID}") == SCRIPT
    ran = await speaker.call(
        "perform_action", action="script.turn_on", target={"entity_id": ENTITY_ID}, data={"variables": {"level": 40}}
    )
    assert "error" not in ran
    await becomes(client, LEVEL, "40.0")
    await becomes(client, LAMP, "on")
    speaker.conversation_id = None
    ran = await speaker.call_other("script__light_the_room", level=70)
    assert "error" not in ran
    await becomes(client, LEVEL, "70.0")
    # The editor reads what we wrote, and writes the whole file anew.
    await client.post(f"/api/config/script/config/{OBJECT_ID}", {**SCRIPT, "mode": "restart", "description": "Mine"})
    await becomes(client, ENTITY_ID, "restart", "mode")
    assert "# mine" not in await asyncio.to_thread(path.read_text)
    assert "-alias: Light the room" in await speaker.ask(
        "update_automation", automation=ENTITY_ID, changes={"alias": "Lights"}
    )
    assert (await speaker.agree())["changed"] == ENTITY_ID
    expected = {**SCRIPT, "alias": "Lights", "mode": "restart", "description": "Mine"}
    assert await client.get(f"/api/config/script/config/{OBJECT_ID}") == expected
    assert (await speaker.ask("undo_last_change")).startswith("Change back the script 'Light the room'")
    assert (await speaker.agree())["undone"] == {ENTITY_ID: "as it was before"}
    assert (await client.get(f"/api/config/script/config/{OBJECT_ID}"))["alias"] == "Light the room"
    assert (await speaker.ask("remove_automation", automation="Light the room")).startswith("Remove the script")
    assert (await speaker.agree())["removed"] == ENTITY_ID
    assert ENTITY_ID not in await client.states()
    await speaker.ask("undo_last_change")
    assert (await speaker.agree())["undone"] == {ENTITY_ID: "as it was before"}
    await becomes(client, ENTITY_ID, "off")
    assert (await client.get("/api/config/script/config/old"))["alias"] == "Old"


async def scenes(writing_home: HomeAssistantInstance, speaker: Speaker, client: Client) -> None:
    """A scene of a light and a number."""
    await client.perform_action("light.turn_on", {"entity_id": LIGHT, "brightness": 90})
    await client.perform_action("input_number.set_value", {"entity_id": LEVEL, "value": 30})
    asked = await speaker.ask("add_automation", scene={"name": "Evening", "entities": [LIGHT, LEVEL]})
    assert asked.startswith("Save the scene 'Evening': When it is turned on: Bed Light on (brightness 90")
    added = await speaker.agree()
    assert added["added"] == "scene.evening"
    url = f"/api/config/scene/config/{added['id']}"
    saved = await client.get(url)
    assert isinstance(saved, dict)
    assert saved["entities"][LEVEL] == {"state": "30.0"}
    assert saved["entities"][LIGHT]["brightness"] == 90
    await client.perform_action("light.turn_off", {"entity_id": LIGHT})
    await client.perform_action("input_number.set_value", {"entity_id": LEVEL, "value": 5})
    await speaker.call("perform_action", action="scene.turn_on", target={"entity_id": "scene.evening"})
    await becomes(client, LEVEL, "30.0")
    await becomes(client, LIGHT, 90, "brightness")
    await client.post(url, {**saved, "icon": "mdi:sofa"})
    await becomes(client, "scene.evening", "mdi:sofa", "icon")
    await speaker.ask("update_automation", automation="scene.evening", changes={"name": "Late"})
    assert (await speaker.agree())["changed"] == "scene.evening"
    assert await client.get(url) == {**saved, "name": "Late", "icon": "mdi:sofa"}
    listed = await speaker.call("get_automations", kind="scene")
    assert "Late,scene.evening" in listed["scenes"]
    assert (await speaker.ask("undo_last_change")).startswith("Change back the scene 'Evening'")
    assert (await speaker.agree())["undone"] == {"scene.evening": "as it was before"}
    await speaker.call("undo_last_change")  # That the scene was turned on.
    assert (await speaker.ask("undo_last_change")).startswith("Remove again the scene 'Evening'")
    assert (
        "Somebody else has changed icon of this scene since" in (await speaker.agree())["error"]
    )  # The editor gave it an icon.
    await speaker.ask("remove_automation", automation="scene.evening")
    assert (await speaker.agree())["removed"] == "scene.evening"
    assert await asyncio.to_thread((writing_home.config_dir / "scenes.yaml").read_text) == "[]\n"
