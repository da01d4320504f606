"""What is told before a change of an automation, script or scene is undone: what there would be then, and no secrets."""

from typing import Any

import pytest

from custom_components.extended_assist.calls.call import ToolCall
from custom_components.extended_assist.calls.caller import Caller
from custom_components.extended_assist.calls.plan import Part, Plan
from custom_components.extended_assist.confirmation.consequential import is_consequential
from custom_components.extended_assist.exposure.entities import Exposure
from custom_components.extended_assist.results import ToolError
from custom_components.extended_assist.tools.actions import UndoLastChangeTool
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm
from homeassistant.util.yaml import dump
from tests.conftest import CallTool, expose
from tests.helpers.automating import FREE, MOTION, PORCH, REMOVE, UPDATE, StartHome, start_home
from tests.helpers.scripting import SCENES, StartScripts, start_scripts

__all__ = ["start_home", "start_scripts"]

UNDO = UndoLastChangeTool(FREE)
ZEBRA = "input_boolean.zebra"
WRITTEN: dict[str, Any] = {
    "id": "1",
    "alias": "A",
    "triggers": [{"trigger": "state", "entity_id": MOTION}],
    "conditions": [],
    "actions": [{"service": "input_boolean.turn_on", "target": {"entity_id": PORCH}}],
    "mode": "single",
}


async def plan_of(hass: HomeAssistant, llm_context: llm.LLMContext) -> Plan:
    """Return what the user would be asked."""
    exposure, caller = Exposure(hass, "conversation"), Caller.of(llm_context)
    return await UNDO.async_plan(ToolCall(hass=hass, arguments={}, exposure=exposure, caller=caller, options=FREE))


async def parts_of(hass: HomeAssistant, llm_context: llm.LLMContext) -> tuple[Part, ...]:
    """Return the parts of the question."""
    (step,) = (await plan_of(hass, llm_context)).steps
    return step.parts


def matters(hass: HomeAssistant, part: Part) -> bool:
    """Return whether a part must be told before a yes."""
    return any(not act.action or is_consequential(hass, act) for act in part.acts)


async def test_what_others_changed_since_is_told(
    hass: HomeAssistant, start_home: StartHome, call_tool: CallTool, llm_context: llm.LLMContext
) -> None:
    """Undoing leaves it, so that it is told as it is now, and the lines that change are the others."""
    path = await start_home(dump([WRITTEN]))
    expose(hass, "automation.a", "lock.door")
    hass.states.async_set("lock.door", "locked")
    await call_tool(UPDATE, automation="automation.a", changes={"mode": "queued"})
    theirs = {**WRITTEN, "mode": "queued", "actions": [{"service": "lock.unlock", "entity_id": "lock.door"}]}
    path.write_text(dump([theirs]))
    (step,) = (await plan_of(hass, llm_context)).steps
    assert "unlock door (lock.unlock)" in step.words
    assert "turn on Porch light" not in step.words
    assert [line for line in step.shown.splitlines() if line[0] in "+-"] == ["-mode: queued", "+mode: single"]
    assert [part.words for part in step.parts if matters(hass, part)] == ["unlock door (lock.unlock)"]
    await call_tool(UNDO)
    assert "lock.unlock" in path.read_text()


async def test_no_secrets(
    hass: HomeAssistant, start_home: StartHome, call_tool: CallTool, llm_context: llm.LLMContext
) -> None:
    """What is a secret elsewhere is none of what is told, neither in words nor in lines."""
    said = [{"action": "persistent_notification.create", "data": {"message": f"Use {code}"}} for code in (9753, 4711)]
    locks = [{"action": "lock.unlock", "target": {"entity_id": "lock.door"}, "data": {"code": "9753"}}]
    await start_home(dump([{**WRITTEN, "actions": [*said, *locks]}]), secrets="door: 4711\n")
    expose(hass, "automation.a", "lock.door")
    hass.states.async_set("lock.door", "locked")
    await call_tool(REMOVE, automation="automation.a")
    plan = await plan_of(hass, llm_context)
    assert "Use (secret)" in plan.words
    told = [plan.words, plan.sentence, *(part.words for part in plan.steps[0].parts)]
    assert not [text for text in told for code in ("4711", "9753") if code in text]


@pytest.mark.parametrize(
    "step",
    [
        {"service": "lock.unlock", "target": {"entity_id": "lock.door"}},
        {"action": "script.zebra_feeding"},
        {"action": "!secret what", "target": {"entity_id": "lock.door"}},
        {"action": "homeassistant.turn_off", "target": {"entity_id": "lock.hidden"}},
    ],
)
async def test_what_matters(
    hass: HomeAssistant, start_home: StartHome, call_tool: CallTool, llm_context: llm.LLMContext, step: dict[str, Any]
) -> None:
    """It is found in what is written, whatever of that may be told."""
    text = dump([{**WRITTEN, "actions": [*WRITTEN["actions"], step]}]).replace("'!secret what'", "!secret what")
    await start_home(text, secrets="what: lock.unlock\n")
    for entity_id in ("lock.door", "lock.hidden"):
        hass.states.async_set(entity_id, "locked")
    expose(hass, "automation.a", "lock.door")
    async_expose_entity(hass, "conversation", "lock.hidden", False)
    await call_tool(REMOVE, automation="automation.a")
    parts = await parts_of(hass, llm_context)
    assert [matters(hass, part) for part in parts if not part.says_when and not part.words.startswith("mode")] == [
        False,
        True,
    ]


async def test_what_a_blueprint_does_is_not_known(
    hass: HomeAssistant, start_home: StartHome, call_tool: CallTool, llm_context: llm.LLMContext
) -> None:
    """Which one it is, and with which inputs, is told before a yes."""
    text = (
        "blueprint: {name: B, domain: automation, input: {lamp: {}}}\ntriggers: []\n"
        "actions: [{action: input_boolean.turn_on, target: {entity_id: !input lamp}}]\n"
    )
    used = {"id": "1", "alias": "A", "use_blueprint": {"path": "b.yaml", "input": {"lamp": PORCH}}}
    await start_home(dump([used]), blueprints__automation__b=text)
    expose(hass, "automation.a")
    await call_tool(REMOVE, automation="automation.a")
    (told,) = [part for part in await parts_of(hass, llm_context) if matters(hass, part)]
    assert told.words == "use blueprint (path b.yaml, input (lamp Porch light))"


async def test_several_hidden_ones(
    hass: HomeAssistant, start_scripts: StartScripts, call_tool: CallTool, llm_context: llm.LLMContext
) -> None:
    """A scene with several that may not be named is told, and comes back."""
    more = "    lock.hidden: unlocked\n    lock.other: locked\n"
    folder = await start_scripts(scenes=f"{SCENES}{more}")
    before = (folder / "scenes.yaml").read_text()
    expose(hass, "scene.mixed")
    await call_tool(REMOVE, automation="scene.mixed")
    parts = await parts_of(hass, llm_context)
    assert any(matters(hass, part) for part in parts)
    assert "hidden" not in " ".join(part.words for part in parts)
    await call_tool(UNDO)
    assert (folder / "scenes.yaml").read_text() == before


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"automations.yaml": "- id: [\n"}, "not valid YAML"),
        ({"automations.yaml": "a: b\n"}, "not a list"),
        ({"configuration.yaml": "automation: !include_dir_list some\n"}, "automations.yaml"),
    ],
)
async def test_file_that_cannot_be_changed(
    hass: HomeAssistant,
    start_home: StartHome,
    call_tool: CallTool,
    llm_context: llm.LLMContext,
    files: dict[str, str],
    reason: str,
) -> None:
    """Nobody is asked then, nothing is written, and it can be undone once that is mended."""
    path = await start_home(dump([WRITTEN]))
    before = path.read_text()
    expose(hass, "automation.a")
    await call_tool(UPDATE, automation="automation.a", changes={"mode": "queued"})
    kept = {name: path.with_name(name).read_text() for name in files}
    for name, text in files.items():
        path.with_name(name).write_text(text)
    now = path.read_text()
    with pytest.raises(ToolError, match=reason):
        await plan_of(hass, llm_context)
    for _ in range(2):
        assert reason in (await call_tool(UNDO, error=True))["error"]
    assert path.read_text() == now
    for name, text in kept.items():
        path.with_name(name).write_text(text)
    await call_tool(UNDO)
    assert path.read_text() == before


async def test_nothing_of_what_is_hidden_now(
    hass: HomeAssistant, start_home: StartHome, call_tool: CallTool, llm_context: llm.LLMContext
) -> None:
    """Who changed it once is not told what it has become since it was hidden."""
    path = await start_home(dump([WRITTEN]))
    expose(hass, "automation.a")
    await call_tool(UPDATE, automation="automation.a", changes={"mode": "queued"})
    path.write_text(path.read_text().replace("alias: A", "alias: Surprise for Anna"))
    await hass.services.async_call("automation", "reload", blocking=True)
    async_expose_entity(hass, "conversation", "automation.a", False)
    plan = await plan_of(hass, llm_context)
    assert "Surprise" not in plan.words
    assert "Porch light" not in plan.words
    assert "not exposed any more" in (await call_tool(UNDO, error=True))["error"]
    assert "queued" in path.read_text()
