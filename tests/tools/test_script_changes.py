"""Tests of adding, changing and removing scripts."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockUser, async_capture_events

from custom_components.extended_assist.calls.call import ToolCall
from custom_components.extended_assist.calls.caller import Caller
from custom_components.extended_assist.exposure.entities import Exposure
from custom_components.extended_assist.tools.actions import PerformActionTool, UndoLastChangeTool
from custom_components.extended_assist.tools.automation_changes import AddAutomationTool
from custom_components.extended_assist.tools.automations import GetAutomationsTool
from custom_components.extended_assist.tools.scripts import ExecuteScriptTool
from homeassistant.components.homeassistant.const import DATA_EXPOSED_ENTITIES
from homeassistant.components.homeassistant.exposed_entities import async_should_expose
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import entity_registry as er, llm
from homeassistant.helpers.json import json_dumps
from homeassistant.util.yaml import parse_yaml
from tests.conftest import CallTool
from tests.helpers.automating import ADD, FREE, REMOVE, UPDATE
from tests.helpers.scripting import (
    ASKING,
    CONFIGURATION,
    HIDDEN,
    LAMP,
    LEVEL,
    LOCK,
    SCRIPTS,
    StartScripts,
    lighting,
    start_scripts,
)

__all__ = ["start_scripts"]

UNDO, GET = UndoLastChangeTool(FREE), GetAutomationsTool(FREE)


def state(hass: HomeAssistant, entity_id: str) -> str | None:
    """Return a state."""
    found = hass.states.get(entity_id)
    return found.state if found else None


async def plan_of(hass: HomeAssistant, tool: Any, llm_context: llm.LLMContext, **arguments: Any) -> str:
    """Return what a tool would ask."""
    call = ToolCall(
        hass=hass,
        arguments=arguments,
        exposure=Exposure(hass, "conversation"),
        caller=Caller.of(llm_context),
        options=FREE,
    )
    return (await tool.async_plan(call)).words


async def test_add_runs(hass: HomeAssistant, start_scripts: StartScripts, call_tool: CallTool) -> None:
    """A new script is in the file, loaded, exposed, and does what it says with its fields; people can be told."""
    folder = await start_scripts()
    events = async_capture_events(hass, "extended_assist_script_changed")
    added = await call_tool(ADD, script=lighting())
    assert added["added"] == "script.light_the_room"
    assert added["what"] == (
        "Add the script 'Light the room': When it is run, given level (required yes, selector (number (min 0, max 100))), "
        "set value Level (input_number.set_value) with value {{ level }}, then turn on Lamp (input_boolean.turn_on)"
    )
    assert added["notes"][-1].startswith(
        "From the next conversation on it is a tool of its own; until then run it with"
    )
    assert async_should_expose(hass, "conversation", "script.light_the_room")
    text = (folder / "scripts.yaml").read_text()
    assert text.startswith(SCRIPTS)
    assert parse_yaml(text)["light_the_room"] == lighting()
    assert events[0].data == {"id": "light_the_room", "entity_id": "script.light_the_room", "change": "added"}
    run = await call_tool(ExecuteScriptTool(FREE), script="Light the room", variables={"level": 40})
    assert "error" not in run
    assert (state(hass, LAMP), state(hass, LEVEL)) == ("on", "40.0")
    turned_on = await call_tool(
        PerformActionTool(FREE),
        action="script.turn_on",
        target={"entity_id": "script.light_the_room"},
        data={"variables": {"level": 60}},
    )
    await hass.async_block_till_done()
    assert "error" not in turned_on
    assert state(hass, LEVEL) == "60.0"


async def test_ids(hass: HomeAssistant, start_scripts: StartScripts, call_tool: CallTool) -> None:
    """An id is made of the name, and is never that of another script, of an action or of an entity."""
    await start_scripts()
    hass.states.async_set("script.taken", "off")
    for name, object_id in (
        ("Good night", "good_night_2"),
        ("Hidden", "hidden_2"),
        ("42", "42_2"),
        ("Turn on", "turn_on_2"),
        ("Reload", "reload_2"),
        ("Taken", "taken_2"),
        ("Grüße 💡", "grusse"),
        ("💡", "unknown"),
        ("Good night", "good_night_3"),
    ):
        added = await call_tool(ADD, script={"alias": name, "sequence": []})
        assert added["added"] == f"script.{object_id}", added
    assert any("has this name already: script.good_night" in note for note in added["notes"])


FIELD = {"who": {"selector": {"text": {}}}}
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"sequence": []}, "Give the script a name"),
    ({"alias": "A"}, "A script needs 'sequence'"),
    ({"alias": "A", "sequence": [], "triggers": []}, "Unknown: triggers. A script has alias"),
    ({"alias": "A", "sequence": [], "trigger": []}, "Unknown: trigger"),
    ({"alias": "A", "sequence": [], "mode": "sometimes"}, "does not accept this script"),
    ({"alias": "A", "sequence": [{"action": "input_boolean.turn_on", "target": {"entity_id": HIDDEN}}]}, "exposed"),
    ({"alias": "A", "sequence": [], "fields": {"x": {"default": HIDDEN}}}, "exposed"),
    ({"alias": "A", "sequence": [], "fields": {"x": {"selector": {"entity": {"include_entities": [HIDDEN]}}}}}, "exposed"),
    ({"alias": "A", "sequence": [], "fields": {"states": {}}}, "has a meaning there already"),
    ({"alias": "A", "sequence": [], "fields": {"two words": {}}}, "no name for a variable"),
    ({"alias": "A", "sequence": [], "fields": ["x"]}, "must be an object"),
    ({"alias": "A", "sequence": [], "variables": {"x": f"{{{{ states('{HIDDEN}') }}}}"}}, "exposed"),
    ({"alias": "A", "use_blueprint": {"path": "zebra.yaml"}}, "there is no blueprint 'zebra.yaml'"),
    *(
        ({"alias": "A", "fields": FIELD, "sequence": [step]}, reason)
        for step, reason in (
            ({"action": "{{ who }}"}, "a template cannot be checked"),
            ({"action": "input_boolean.turn_on", "target": {"entity_id": "{{ who }}"}}, "emplate"),
            ({"action": "input_boolean.turn_on", "data": {"entity_id": "{{ who }}"}}, "emplate"),
            ({"action": "input_boolean.turn_on", "target": "{{ who }}"}, "emplate"),
            ({"action": "input_boolean.turn_on", "target": {"area_id": "{{ who }}"}}, "emplate"),
            ({"action": "scene.apply", "data": {"entities": {"{{ who }}": "on"}}}, "emplate"),
            ({"action": "notify.send_message", "target": {"entity_id": "notify.notifier"},
              "data": {"message": "{{ states(who) }}"}}, "states of what is no constant"),
            ({"action": "notify.send_message", "target": {"entity_id": "notify.notifier"},
              "data": {"message": "{{ [who] | map('states') | join }}"}}, "cannot be"),
            ({"condition": "template", "value_template": "{{ is_state(who, 'on') }}"}, "is_state of what is no constant"),
            ({"wait_template": "{{ state_attr(who, 'x') }}"}, "state_attr of what is no constant"),
            ({"condition": "state", "entity_id": "{{ who }}", "state": "on"}, "emplate"),
            ({"scene": "{{ who }}"}, "emplate"),
            ({"repeat": {"for_each": "{{ who }}", "sequence": [
                {"action": "input_boolean.turn_on", "target": {"entity_id": "{{ repeat.item }}"}}]}}, "emplate"),
            ({"variables": {"x": "{{ who }}"}, "sequence": []}, "unknown here"),
            ({"event": "{{ who }}"}, "Firing an event"),
        )
    ),
]  # fmt: skip


async def test_refused(hass: HomeAssistant, start_scripts: StartScripts, call_tool: CallTool) -> None:
    """What is not valid, not exposed or not allowed is refused with the reason, and the file is as it was."""
    folder = await start_scripts()
    before = (folder / "scripts.yaml").read_bytes()
    for config, reason in REFUSED:
        answer = await call_tool(ADD, script=config, error=True)
        assert reason in answer["error"], (config, answer)
        assert "zebra" not in answer["error"].replace(HIDDEN, "").replace("zebra.yaml", "")
    assert (folder / "scripts.yaml").read_bytes() == before
    for given in ({}, {"script": lighting(), "automation": {}}, {"script": lighting(), "scene": {}}):
        assert "Give one of automation, script, scene" in (await call_tool(ADD, error=True, **given))["error"]


READING = (
    *("states[who].state", "states[who][who]", "expand(who)", "area_entities(who)", "device_attr(who, 'name')"),
    *("state_attr(who, 'code')", "has_value(who)", "integration_entities(who)", "label_entities([who])"),
    *(
        "states | selectattr('entity_id', 'eq', who) | list",
        "who | map('states') | list",
        "[who] | select('is_state', 'on')",
    ),
    *("(states)(who)", "[states][0](who)", "closest(who)", "distance(who)", "states.sensor[who]", "this[who]()"),
)


async def test_fields_read_nothing(hass: HomeAssistant, start_scripts: StartScripts, call_tool: CallTool) -> None:
    """However a field is put into a template, it reads no entity by the name that a caller gives."""
    folder = await start_scripts()
    for expression in READING:
        template = f"{{{{ {expression} }}}}"
        places: list[dict[str, Any]] = [
            {"variables": {"x": template}},
            {"if": template, "then": []},
            {"repeat": {"while": [template], "sequence": []}},
            {"wait_for_trigger": [{"trigger": "template", "value_template": template}]},
            {"delay": template},
            {"stop": template},
            {"action": "input_number.set_value", "target": {"entity_id": LEVEL}, "data": {"value": template}},
        ]
        for step in places:
            script = {"alias": "A", "fields": FIELD, "sequence": [step]}
            await call_tool(ADD, script=script, error=True)
        script = {"alias": "A", "fields": FIELD, "variables": {"x": template}, "sequence": []}
        await call_tool(ADD, script=script, error=True)
    for trigger in ({"trigger": "state", "entity_id": "{{ who }}"}, {"trigger": "event", "event_type": "{{ who }}"}):
        script = {"alias": "A", "fields": FIELD, "sequence": [{"wait_for_trigger": [trigger]}]}
        await call_tool(ADD, script=script, error=True)
    assert (folder / "scripts.yaml").read_text() == SCRIPTS


BLUEPRINT = """\
blueprint:
  name: Switch on
  domain: script
  input: {what: {selector: {entity: {}}}}
fields: {note: {}}
sequence:
- action: input_boolean.turn_on
  target: {entity_id: !input what}
"""


async def test_blueprint(hass: HomeAssistant, start_scripts: StartScripts, call_tool: CallTool, tmp_path: Path) -> None:
    """A blueprint of scripts is used with its inputs put in, and what comes out is checked."""
    folder = tmp_path / "blueprints" / "script"
    await asyncio.to_thread(folder.mkdir, parents=True)
    await asyncio.to_thread((folder / "on.yaml").write_text, BLUEPRINT)
    await start_scripts()
    use = {"path": "on.yaml", "input": {"what": LAMP}}
    added = await call_tool(ADD, script={"alias": "On", "use_blueprint": use})
    assert "turn on Lamp" in added["what"]
    await call_tool(ExecuteScriptTool(FREE), script=added["added"], variables={"note": "x"})
    assert state(hass, LAMP) == "on"
    hidden = {"alias": "On", "use_blueprint": {"path": "on.yaml", "input": {"what": HIDDEN}}}
    assert "exposed" in (await call_tool(ADD, script=hidden, error=True))["error"]
    changed = await call_tool(UPDATE, automation=added["added"], changes={"alias": "Lamp on"})
    assert changed["changed"] == added["added"]


async def test_what_a_field_may_be(hass: HomeAssistant, start_scripts: StartScripts, call_tool: CallTool) -> None:
    """A field may be told, counted with and waited for: it names nothing there."""
    await start_scripts()
    message = {
        "action": "notify.send_message",
        "target": {"entity_id": "notify.notifier"},
        "data": {"message": "{{ who }} said hello"},
    }
    steps: list[dict[str, Any]] = [
        message,
        {"delay": {"seconds": "{{ seconds | int(1) }}"}},
        {"condition": "template", "value_template": "{{ who == 'Ann' }}"},
        {"variables": {"twice": "{{ seconds * 2 }}"}},
        {"stop": "Done", "response_variable": "twice"},
    ]
    fields = {"who": None, "seconds": {"default": 1, "selector": {"number": {}}}}
    added = await call_tool(
        ADD, script={"alias": "Greet", "fields": {"who": {}, "seconds": fields["seconds"]}, "sequence": steps}
    )
    assert added["added"] == "script.greet"


async def test_update(hass: HomeAssistant, start_scripts: StartScripts, call_tool: CallTool) -> None:
    """Only what is named changes; comments and all other scripts stay as they are written."""
    folder = await start_scripts()
    changed = await call_tool(UPDATE, automation="Good night", changes={"alias": "Sleep well", "mode": "restart"})
    assert changed["changed"] == "script.good_night"
    expected = SCRIPTS.replace("alias: Good night ", "alias: Sleep well ").replace(
        "{entity_id: input_boolean.lamp}\n", "{entity_id: input_boolean.lamp}\n  mode: restart\n"
    )
    assert (folder / "scripts.yaml").read_text() == expected
    shown = hass.states.get("script.good_night")
    assert shown
    assert (shown.attributes["mode"], shown.name) == ("restart", "Sleep well")
    refused = await call_tool(
        UPDATE, automation="script.hidden", changes={"sequence": [{"delay": 1}], "mode": "queued", "max": 3}
    )
    assert refused["changed"] == "script.hidden"
    kept = {"action": "input_boolean.turn_on", "target": {"entity_id": HIDDEN}}
    refused = await call_tool(UPDATE, automation="script.hidden", changes={"sequence": [kept]}, error=True)
    assert "exposed" in refused["error"]
    assert "nothing in 'changes'" in (await call_tool(UPDATE, automation="script.42", changes={}, error=True))["error"]
    assert (
        "Unknown: triggers"
        in (await call_tool(UPDATE, automation="script.42", changes={"triggers": []}, error=True))["error"]
    )
    unknown = await call_tool(UPDATE, automation="script.nothing", changes={"alias": "A"}, error=True)
    assert "No automation or script or scene 'script.nothing' was found or is exposed" in unknown["error"]


async def test_remove_and_undo(hass: HomeAssistant, start_scripts: StartScripts, call_tool: CallTool) -> None:
    """Every change can be taken back, and every byte comes back."""
    folder = await start_scripts()
    path = folder / "scripts.yaml"
    removed = await call_tool(REMOVE, automation="script.good_night")
    assert removed["removed"] == "script.good_night"
    assert "turn off Lamp" in removed["what"]
    assert hass.states.get("script.good_night") is None
    assert not hass.services.has_service("script", "good_night")
    assert er.async_get(hass).async_get("script.good_night") is None
    assert "hidden:" in path.read_text()
    undone = await call_tool(UNDO)
    assert undone["undone"] == {"script.good_night": "as it was before"}
    assert path.read_text() == SCRIPTS
    assert hass.services.has_service("script", "good_night")
    assert async_should_expose(hass, "conversation", "script.good_night")
    await call_tool(UPDATE, automation="script.good_night", changes={"sequence": [{"delay": 1}]})
    await call_tool(ADD, script=lighting())
    for _ in range(2):
        await call_tool(UNDO)
    assert path.read_text() == SCRIPTS
    assert hass.states.get("script.light_the_room") is None
    added = await call_tool(ADD, script=lighting())
    path.write_text(f"{path.read_text()}mine:\n  sequence: []\n")
    assert (await call_tool(UNDO))["undone"] == {added["added"]: "removed again"}
    assert path.read_text() == f"{SCRIPTS}mine:\n  sequence: []\n"


async def test_undo_says_what_comes_back(
    hass: HomeAssistant, start_scripts: StartScripts, call_tool: CallTool, llm_context: llm.LLMContext
) -> None:
    """Before it is undone, it is told in words and lines."""
    await start_scripts()
    await call_tool(UPDATE, automation="script.good_night", changes={"sequence": [{"delay": 1}]})
    words = await plan_of(hass, UNDO, llm_context)
    assert words.startswith("Change back the script 'Good night': When it is run, turn off Lamp")
    assert "+- action: input_boolean.turn_off" in words.replace("  ", "")


async def test_not_exposed(hass: HomeAssistant, start_scripts: StartScripts, call_tool: CallTool) -> None:
    """Who does not want a script to be run by everybody keeps it from Assist; that is undone as well."""
    folder = await start_scripts()
    hass.data[DATA_EXPOSED_ENTITIES].async_set_expose_new_entities("conversation", True)
    added = await call_tool(ADD, script=lighting(), expose=False)
    assert not async_should_expose(hass, "conversation", added["added"])
    assert "not exposed to Assist, so that only the user" in added["notes"][-1]
    assert "was found or is exposed" in (await call_tool(REMOVE, automation=added["added"], error=True))["error"]
    assert (await call_tool(UNDO))["undone"] == {added["added"]: "removed again"}
    assert (folder / "scripts.yaml").read_text() == SCRIPTS


async def test_question(
    hass: HomeAssistant, start_scripts: StartScripts, call_tool: CallTool, llm_context: llm.LLMContext
) -> None:
    """The question says what it does, who could run it, and what in it is consequential; running it asks as well."""
    await start_scripts()
    unlock = {"alias": "Let me in", "sequence": [
        {"if": [{"condition": "state", "entity_id": LAMP, "state": "on"}],
         "then": [{"action": "lock.unlock", "target": {"entity_id": LOCK}}]},
    ]}  # fmt: skip
    words = await plan_of(hass, AddAutomationTool(FREE), llm_context, script=unlock)
    assert words.startswith("Add the script 'Let me in': When it is run, if Lamp is on, then (unlock Front Door")
    assert (
        "Unlock: Front Door (lock.unlock). Extended Assist asks before it does that, but Assist's own sentences"
        in words
    )
    assert "It will be exposed to Assist: everyone who may talk to Assist, speakers included, can then run it." in words
    assert "+sequence:" in words
    kept = await plan_of(hass, AddAutomationTool(FREE), llm_context, script=lighting(), expose=False)
    assert "It will not be exposed to Assist: nobody can run it by talking" in kept
    assert "asks before" not in kept
    automation = {"alias": "A", "triggers": [], "actions": []}
    words = await plan_of(hass, AddAutomationTool(FREE), llm_context, automation=automation)
    assert "speakers included, can then turn it on and off, and set it off." in words
    await call_tool(ADD, script=unlock)
    asked = await call_tool(
        PerformActionTool(ASKING), action="script.turn_on", target={"entity_id": "script.let_me_in"}, error=True
    )
    assert "needs the user's own word" in asked["error"]
    assert state(hass, LOCK) == "locked"


async def test_only_administrators_after_asking(
    hass: HomeAssistant, start_scripts: StartScripts, call_tool: CallTool, llm_context: llm.LLMContext
) -> None:
    """The marked tool asks, whatever it is to write; nobody but administrators may write."""
    folder = await start_scripts()
    before = (folder / "scripts.yaml").read_bytes()
    assert "user's own word" in (await call_tool(AddAutomationTool(ASKING), script=lighting(), error=True))["error"]
    user = MockUser().add_to_hass(hass)
    user.groups = []
    call_context = llm.LLMContext(
        platform="test", context=Context(user_id=user.id), language="en", assistant="conversation", device_id=None
    )
    result = await AddAutomationTool().async_call(
        hass, llm.ToolInput("extended_assist__add_automation", {"script": lighting()}), call_context
    )
    assert "Only an administrator" in json_dumps(result.data)
    assert (folder / "scripts.yaml").read_bytes() == before


async def test_no_recursion(hass: HomeAssistant, start_scripts: StartScripts, call_tool: CallTool) -> None:
    """A script does not run itself, directly or through others, as an entity or as an action."""
    await start_scripts()
    itself: list[dict[str, Any]] = [
        {"action": "script.good_night"},
        {"action": "script.turn_on", "target": {"entity_id": "script.good_night"}},
        {"action": "homeassistant.toggle", "target": {"entity_id": "script.good_night"}},
        {"parallel": [{"action": "script.good_night"}]},
    ]
    for step in itself:
        refused = await call_tool(UPDATE, automation="script.good_night", changes={"sequence": [step]}, error=True)
        assert "would run itself" in refused["error"], (step, refused)
    await call_tool(ADD, script={"alias": "Outer", "sequence": [{"action": "script.good_night"}]})
    await call_tool(
        ADD,
        script={
            "alias": "Outermost",
            "sequence": [{"action": "script.turn_on", "target": {"entity_id": "script.outer"}}],
        },
    )
    for name in ("outer", "outermost"):
        refused = await call_tool(
            UPDATE, automation="script.good_night", changes={"sequence": [{"action": f"script.{name}"}]}, error=True
        )
        assert "would run itself" in refused["error"], (name, refused)
    stop = {"action": "script.turn_off", "target": {"entity_id": "script.good_night"}}
    assert "changed" in await call_tool(UPDATE, automation="script.good_night", changes={"sequence": [stop]})


async def test_get(hass: HomeAssistant, start_scripts: StartScripts, call_tool: CallTool) -> None:
    """Scripts are listed and told as automations are, without what is hidden."""
    await start_scripts()
    data = await call_tool(GET, kind="script")
    assert data["count"] == 3
    assert 'Good night,script.good_night,good_night,off,never,yes,"When it is run, turn off Lamp' in data["scripts"]
    assert "zebra" not in json_dumps(data)
    details = await call_tool(GET, name="script.good_night", details=True)
    assert details["configuration"]["sequence"] == [{"action": "input_boolean.turn_off", "target": {"entity_id": LAMP}}]
    await call_tool(ExecuteScriptTool(FREE), script="script.good_night")
    details = await call_tool(GET, kind="script", name="Good night", details=True)
    assert details["last_runs"][0]["result"] == "ran"
    hidden = await call_tool(GET, name="script.hidden", details=True)
    assert "zebra" not in json_dumps(hidden)
    assert (await call_tool(GET, kind="script", entity=LAMP))["count"] == 1


@pytest.mark.parametrize(
    ("scripts", "reason"),
    [
        ("{a: {sequence: []}}\n", "one pair of braces"),
        (b"a:\n  alias: \xff\n  sequence: []\n", "not in UTF-8"),
        ("a: [\n", "not valid YAML"),
    ],
)
async def test_damaged(
    hass: HomeAssistant, start_scripts: StartScripts, call_tool: CallTool, scripts: Any, reason: str
) -> None:
    """A file that cannot be told apart is left as it is."""
    folder = await start_scripts()
    content = scripts if isinstance(scripts, bytes) else scripts.encode()
    await asyncio.to_thread((folder / "scripts.yaml").write_bytes, content)
    assert reason in (await call_tool(ADD, script=lighting(), error=True))["error"]
    assert reason in (await call_tool(GET, kind="script"))["note"]
    assert (folder / "scripts.yaml").read_bytes() == content


@pytest.mark.parametrize("text", ["", "{}\n", "{}", "# none\n", SCRIPTS.replace("\n", "\r\n"), SCRIPTS.rstrip()])
async def test_as_files_are(hass: HomeAssistant, start_scripts: StartScripts, call_tool: CallTool, text: str) -> None:
    """Empty files, other line breaks and none at the end are no hindrance; undone, every byte is as it was."""
    folder = await start_scripts(text)
    path = folder / "scripts.yaml"
    await call_tool(ADD, script=lighting())
    assert ("\r\n" in text) is (b"\r\n" in path.read_bytes())
    await call_tool(UPDATE, automation="script.light_the_room", changes={"alias": "B"})
    for _ in range(2):
        await call_tool(UNDO)
    assert path.read_bytes() == text.encode()


async def test_put_back_when_it_cannot_be_loaded(
    hass: HomeAssistant, start_scripts: StartScripts, call_tool: CallTool
) -> None:
    """When Home Assistant cannot load what was written, every byte comes back."""
    folder = await start_scripts()
    (folder / "configuration.yaml").write_text("script: !include scripts.yaml\nbroken: [\n")
    refused = await call_tool(ADD, script=lighting(), error=True)
    assert "Everything was put back as it was before" in refused["error"]
    assert (folder / "scripts.yaml").read_text() == SCRIPTS


async def test_elsewhere(hass: HomeAssistant, start_scripts: StartScripts, call_tool: CallTool) -> None:
    """Scripts that are in other files are not changed, and are said to be; nothing is written where nothing would load."""
    configuration = (
        "script: {elsewhere: {alias: Elsewhere, sequence: []}}\nscene: []\n"
        "input_boolean: {lamp: {name: Lamp}, porch: {name: Porch light}, zebra: {name: Zebra mode}}\n"
        "input_number: {level: {name: Level, min: 0, max: 100}}\ninput_text: {note: {name: Note}, word: {name: Word}}\n"
    )
    folder = await start_scripts("", "", configuration)
    refused = await call_tool(ADD, script=lighting(), error=True)
    assert "Tell the user to add the line 'script ui: !include scripts.yaml'" in refused["error"]
    refused = await call_tool(ADD, scene={"name": "A", "entities": [LAMP]}, error=True)
    assert "Tell the user to add the line 'scene ui: !include scenes.yaml'" in refused["error"]
    assert (folder / "scripts.yaml").read_text() == ""


async def test_another_one_runs(hass: HomeAssistant, start_scripts: StartScripts, call_tool: CallTool) -> None:
    """Where Home Assistant runs another script with the same id, the change is taken back and said to be."""
    other = "script before: {good_night: {alias: Good night, sequence: [{delay: 5}]}}\n"
    folder = await start_scripts(configuration=other + CONFIGURATION.replace("script:", "script ui:"))
    refused = await call_tool(UPDATE, automation="script.good_night", changes={"mode": "restart"}, error=True)
    assert "Everything was put back as it was before" in refused["error"]
    assert (folder / "scripts.yaml").read_text() == SCRIPTS
    refused = await call_tool(REMOVE, automation="script.good_night", error=True)
    assert "Everything was put back as it was before" in refused["error"]
    assert hass.states.get("script.good_night")
    assert (folder / "scripts.yaml").read_text() == SCRIPTS
