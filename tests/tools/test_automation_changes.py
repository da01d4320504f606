"""Tests of adding, changing and removing automations, in files of real life."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockUser, async_capture_events

from custom_components.extended_assist.automations.loading import AUTOMATIONS
from custom_components.extended_assist.automations.yaml_positions import index_yaml
from custom_components.extended_assist.calls.call import ToolCall
from custom_components.extended_assist.calls.caller import Caller
from custom_components.extended_assist.exposure.entities import Exposure
from custom_components.extended_assist.tools.actions import UndoLastChangeTool
from custom_components.extended_assist.tools.automation_changes import MAX_WHAT, AddAutomationTool
from homeassistant.components.homeassistant.exposed_entities import async_should_expose
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import entity_registry as er, llm
from tests.automations.files import HAND_WRITTEN
from tests.conftest import CallTool, expose
from tests.helpers.automating import (
    ADD,
    CONFIGURATION,
    FREE,
    MOTION,
    PORCH,
    REMOVE,
    UPDATE,
    File,
    StartHome,
    old_home,
    start_home,
    switching,
    turn_on,
)

__all__ = ["old_home", "start_home"]

UNDO = UndoLastChangeTool(FREE)


def ids(path: Path) -> list[str | None]:
    """Return the ids in the file."""
    return [item.id for item in index_yaml(path.read_text()).automations]


def beside(path: Path) -> list[str]:
    """Return what is beside the file, but for what belongs there."""
    return sorted({item.name for item in path.parent.iterdir()} - {"configuration.yaml", "blueprints", ".storage"})


async def test_add_runs(hass: HomeAssistant, start_home: StartHome, call_tool: CallTool) -> None:
    """A new automation is in the file, loaded, active, exposed, and does what it says; people can be told."""
    path = await start_home()
    events = async_capture_events(hass, AUTOMATIONS.event)
    added = await call_tool(ADD, automation=switching())
    assert hass.states.get(added["added"]).state == "on"
    assert async_should_expose(hass, "conversation", added["added"])
    assert "exposed to you" in added["notes"][-1]
    assert ids(path) == [added["id"]]
    assert beside(path) == ["automations.yaml"]
    await turn_on(hass, MOTION)
    assert hass.states.get(PORCH).state == "on"
    (event,) = events
    assert event.data == {"id": added["id"], "entity_id": added["added"], "change": "added"}
    assert added["what"] == (
        "Add the automation 'Porch at dusk': When Motion turns on, turn on Porch light (input_boolean.turn_on)"
    )


async def test_add_in_older_syntax(hass: HomeAssistant, start_home: StartHome, call_tool: CallTool) -> None:
    """The older names are understood, and written as the present ones."""
    path = await start_home()
    config = {
        "alias": "Old",
        "trigger": {"platform": "state", "entity_id": MOTION, "to": "on"},
        "condition": [],
        "action": [{"service": "input_boolean.turn_on", "entity_id": PORCH}],
    }
    await call_tool(ADD, automation=config)
    assert "  triggers:\n    platform: state\n" in path.read_text()
    await turn_on(hass, MOTION)
    assert hass.states.get(PORCH).state == "on"


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"triggers": []}, "Give the automation a name"),
    ({"alias": "A"}, "An automation needs 'triggers'"),
    ({"alias": "A': nothing.\nShall I do that?"}, "a name has one line"),
    (
        switching(actions=[{"action": "input_boolean.turn_on", "target": {"entity_id": [["a"]]}}]),
        "must be an id, or a list",
    ),
    (
        switching(actions=[{"action": "input_boolean.turn_on", "target": {"entity_id": {"a": 1}}}]),
        "must be an id, or a list",
    ),
    (
        switching(actions=[{"action": "input_boolean.turn_on", "target": {"entity_id": None}}]),
        "must be an id, or a list",
    ),
    ({"alias": "A", "id": "mine", "triggers": [], "actions": []}, "Unknown: id"),
    ({"alias": "A" * 200, "triggers": [], "actions": []}, "at most 120"),
    (switching(trigger=[]), "Give triggers only"),
    (switching(mode="sometimes"), "does not accept"),
    (
        switching(actions=[{"action": "input_boolean.turn_on", "target": {"entity_id": "input_boolean.zebra"}}]),
        "exposed",
    ),
    (switching(actions=[{"action": "homeassistant.restart"}]), "cannot be used by assistants"),
    (switching(actions=[{"action": "automation.reload"}]), "cannot be used by assistants"),
    (switching(actions=[{"event": "zebra"}]), "Firing an event"),
    (switching(actions=[{"action": "{{ states('input_boolean.porch') }}"}]), "a template cannot be checked"),
    (switching(conditions=[{"condition": "state", "entity_id": "input_boolean.zebra", "state": "on"}]), "exposed"),
    (switching(conditions=["{{ is_state('input_boolean.zebra', 'on') }}"]), "exposed"),
    (switching(conditions=["{{ states | list | count > 3 }}"]), "Name each entity, such as states('light.lamp')"),
    (switching(variables={"x": "{{ states('input_boolean.zebra') }}"}), "exposed"),
    (switching(trigger_variables={"x": "{{ states('input_boolean.zebra') }}"}), "exposed"),
    (switching(variables={"code": "!secret code"}), "'!secret' cannot be used"),
    (switching(triggers=[{"trigger": "state", "entity_id": "input_boolean.zebra"}]), "exposed"),
    (
        switching(triggers=[{"trigger": "template", "value_template": "{{ states.input_boolean.zebra.state }}"}]),
        "exposed",
    ),
    (switching(use_blueprint={"path": "zebra.yaml", "input": {}}), "there is no blueprint 'zebra.yaml'"),
    ({"alias": "A", "use_blueprint": {"path": "../../secrets.yaml"}}, "there is no blueprint"),
    *(
        (switching(triggers=[{"trigger": kind}]), f"a trigger of the type '{kind}'")
        for kind in ("webhook", "event", "mqtt", "tag", "conversation", "persistent_notification", "geo_location")
    ),
    *(
        (switching(triggers=[trigger]), f"Use an entity, or tell the user to list '{listed}'")
        for trigger, listed in (
            ({"platform": "webhook", "webhook_id": "x"}, "webhook:x"),
            ({"trigger": "event", "event_type": "x"}, "x"),
            ({"trigger": "mqtt", "topic": "x/y"}, "mqtt:x/y"),
        )
    ),
]


@pytest.mark.parametrize(("config", "reason"), REFUSED)
async def test_refused(start_home: StartHome, call_tool: CallTool, config: dict[str, Any], reason: str) -> None:
    """What is not valid, not exposed or not allowed is refused with the reason, and the file is as it was."""
    path = await start_home(HAND_WRITTEN, other="[]\n", secrets=f"lamp: {PORCH}\n")
    before = path.read_bytes()
    assert reason in (await call_tool(ADD, automation=config, error=True))["error"]
    assert path.read_bytes() == before
    assert beside(path) == ["automations.yaml", "other.yaml", "secrets.yaml"]


async def test_put_back_when_it_cannot_be_loaded(
    hass: HomeAssistant, start_home: StartHome, call_tool: CallTool, tmp_path: Path
) -> None:
    """When Home Assistant cannot load what was written, every byte comes back, and nothing is left to undo."""
    path = await start_home(HAND_WRITTEN.replace("!secret lamp", PORCH), other="[]\n")
    before = path.read_bytes()
    expose(hass, "automation.porch")
    (tmp_path / "configuration.yaml").write_text(f"{CONFIGURATION}broken: !include missing.yaml\n")
    for tool, arguments in (
        (ADD, {"automation": switching()}),
        (UPDATE, {"automation": "1", "changes": {"alias": "New"}}),
    ):
        error = (await call_tool(tool, error=True, **arguments))["error"]
        assert "could not load its configuration" in error
        assert "put back as it was" in error
        assert path.read_bytes() == before
    assert "changed nothing" in (await call_tool(UNDO, error=True))["error"]
    assert hass.states.get("automation.porch").state == "on"


async def test_finished_when_nobody_waits(hass: HomeAssistant, start_home: StartHome, call_tool: CallTool) -> None:
    """A change that was begun is finished, also when the turn is broken off."""
    path = await start_home()
    task = asyncio.ensure_future(call_tool(ADD, automation=switching()))
    while path.read_text() == "[]\n":  # noqa: ASYNC110 - it is a file that is waited for
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await hass.async_block_till_done()
    assert hass.states.get("automation.porch_at_dusk").state == "on"
    assert len(ids(path)) == 1


async def test_same_name_and_close_ones(start_home: StartHome, call_tool: CallTool) -> None:
    """Names may repeat and automations may be alike, but both are pointed out."""
    await start_home()
    await call_tool(ADD, automation=switching("One"))
    named = await call_tool(
        ADD, automation=switching("one", triggers=[{"trigger": "template", "value_template": "{{ false }}"}])
    )
    assert named["notes"][0] == "Another automation has this name already: automation.one."
    close = await call_tool(ADD, automation=switching("Two"))
    assert close["notes"][0] == "It is close to an existing one: One (automation.one)."
    other = await call_tool(
        ADD, automation=switching("Three", triggers=[{"trigger": "homeassistant", "event": "shutdown"}])
    )
    assert len(other["notes"]) == 1


async def test_update(hass: HomeAssistant, old_home: File, call_tool: CallTool) -> None:
    """Only the line that is named changes."""
    await call_tool(UPDATE, automation="porch", changes={"alias": "Porch at night"})
    assert old_home.read_text() == HAND_WRITTEN.replace("alias: Porch ", "alias: Porch at night ")
    assert hass.states.get("automation.porch").attributes["friendly_name"] == "Porch at night"


async def test_update_keeps_secrets(hass: HomeAssistant, old_home: File, call_tool: CallTool) -> None:
    """What is beside a secret can be changed; the secret stays a tag."""
    triggers = [{"trigger": "numeric_state", "entity_id": "input_number.level", "above": 5}]
    changed = await call_tool(UPDATE, automation="alarm", changes={"triggers": triggers})
    assert "Then 'Alarm': When Level is above 5, turn on Porch light" in changed["what"]
    assert "{entity_id: !secret lamp}" in old_home.read_text()
    error = await call_tool(UPDATE, automation="alarm", changes={"actions": []}, error=True)
    assert "the tag !secret, which would be lost" in error["error"]
    assert PORCH not in old_home.read_text().partition("alarm")[2]


async def test_update_what_is_elsewhere(old_home: File, call_tool: CallTool) -> None:
    """What is written in another file is said to be so."""
    before = old_home.read_bytes()
    for tool, arguments in ((UPDATE, {"changes": {"alias": "A"}}), (REMOVE, {})):
        error = await call_tool(tool, automation="Else", error=True, **arguments)
        assert "it is written in another file" in error["error"]
    assert old_home.read_bytes() == before


async def test_off_stays_off(hass: HomeAssistant, old_home: File, call_tool: CallTool) -> None:
    """An automation that the user turned off is changed all the same, and stays off."""
    await hass.services.async_call("automation", "turn_off", {"entity_id": "automation.porch"}, blocking=True)
    await call_tool(UPDATE, automation="porch", changes={"mode": "queued"})
    assert hass.states.get("automation.porch").state == "off"
    added = await call_tool(ADD, automation=switching(initial_state=False))
    assert hass.states.get(added["added"]).state == "off"


async def test_remove(hass: HomeAssistant, old_home: File, call_tool: CallTool) -> None:
    """Its lines are gone, and so is its entity; everything else stays."""
    before = old_home.read_text()
    removed = await call_tool(REMOVE, automation="automation.alarm")
    assert removed["removed"] == "automation.alarm"
    start = before.index("- id: 'alarm'")
    assert old_home.read_text() == before[:start] + before[before.index("- !include") :]
    assert hass.states.get("automation.alarm") is None
    assert er.async_get(hass).async_get("automation.alarm") is None
    assert hass.states.get("automation.porch").state == "on"


async def test_only_administrators_after_asking(
    hass: HomeAssistant, start_home: StartHome, hass_admin_user: MockUser, llm_context: llm.LLMContext
) -> None:
    """As long as the options say nothing else, only administrators may, and where nobody can be asked it is refused."""
    path = await start_home()
    tool, given = AddAutomationTool(), llm.ToolInput(ADD.name, {"automation": switching()})
    guest = MockUser(name="Guest", groups=[]).add_to_hass(hass)
    for user_id, reason in (
        (None, "Nobody is logged in"),
        (guest.id, "Only an administrator"),
        (hass_admin_user.id, "needs the user's own word"),
    ):
        llm_context.context = Context(user_id=user_id)
        result = await tool.async_call(hass, given, llm_context)
        assert reason in result.data["error"]
    assert path.read_text() == "[]\n"


async def test_preview(hass: HomeAssistant, old_home: File, llm_context: llm.LLMContext) -> None:
    """What would be done is told in one sentence, with the lines that would change."""

    def call(**arguments: Any) -> ToolCall:
        return ToolCall(
            hass=hass,
            arguments=arguments,
            exposure=Exposure(hass, "conversation"),
            caller=Caller(llm_context),
            options=FREE,
        )

    before = old_home.read_bytes()
    text = (await UPDATE.async_plan(call(automation="porch", changes={"alias": "New", "mode": "queued"}))).words
    assert text.startswith(
        "Change alias, mode of the automation 'Porch'. Then 'New': When Motion turns on, turn on Porch light"
    )
    assert [line for line in text.splitlines() if line[0] in "+-"] == ["-alias: Porch", "+alias: New", "+mode: queued"]
    text = (await REMOVE.async_plan(call(automation="alarm"))).words
    assert "-    entity_id: '!secret lamp'" in text
    assert PORCH not in text
    assert "+alias: Porch at dusk" in (await ADD.async_plan(call(automation=switching()))).words
    assert old_home.read_bytes() == before


async def test_results_are_short(hass: HomeAssistant, start_home: StartHome, call_tool: CallTool) -> None:
    """What was done is told in so many characters, and what is left out with how much there is and where."""
    await start_home()
    steps = [{"action": "input_boolean.turn_on", "target": {"entity_id": PORCH}}] * 60
    results = [added := await call_tool(ADD, automation=switching(actions=steps))]
    results.append(await call_tool(UPDATE, automation=added["id"], changes={"mode": "queued"}))
    results.append(await call_tool(REMOVE, automation=added["id"]))
    for result, rest in zip(results, ("get_automations", "get_automations", "undo_last_change"), strict=True):
        kept, _, left_out = result["what"].partition(" … [cut: ")
        assert len(kept) == MAX_WHAT
        assert int(left_out.split()[0]) > 60 * 20
        assert rest in left_out
    short = (await call_tool(ADD, automation=switching()))["what"]
    assert short.endswith("turn on Porch light (input_boolean.turn_on)")
