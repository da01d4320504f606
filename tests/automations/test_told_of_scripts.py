"""Tests of what is told of scripts and scenes that hold secrets, and of addresses that set automations off."""

from typing import Any

import pytest

from custom_components.extended_assist.calls.call import ToolCall
from custom_components.extended_assist.calls.caller import Caller
from custom_components.extended_assist.exposure.entities import Exposure
from custom_components.extended_assist.tools.automations import GetAutomationsTool
from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm
from tests.conftest import CallTool, expose
from tests.helpers.automating import ADD, FREE, REMOVE, UPDATE
from tests.helpers.scripting import StartScripts, start_scripts

__all__ = ["start_scripts"]

GET = GetAutomationsTool(FREE)


async def asked(hass: HomeAssistant, tool: Any, llm_context: llm.LLMContext, **arguments: Any) -> str:
    """Return all that is told when a tool asks."""
    call = ToolCall(
        hass=hass,
        arguments=arguments,
        exposure=Exposure(hass, "conversation"),
        caller=Caller.of(llm_context),
        options=FREE,
    )
    plan = await tool.async_plan(call)
    steps = [(step.words, step.shown, [part.words for part in step.parts]) for step in plan.steps]
    return "\n".join(map(str, (plan.words, *(part for step in steps for part in step))))


async def test_a_field_that_is_called_like_a_secret(
    hass: HomeAssistant, start_scripts: StartScripts, call_tool: CallTool, llm_context: llm.LLMContext
) -> None:
    """A script may have a field for a code: it can be written, read, changed and removed."""
    await start_scripts()
    unlock = {"action": "lock.unlock", "target": {"entity_id": "lock.front_door"}, "data": {"code": "{{ code }}"}}
    script = {"alias": "Open up", "fields": {"code": {"selector": {"text": {}}}}, "sequence": [unlock]}
    await asked(hass, ADD, llm_context, script=script)
    added = await call_tool(ADD, script=script)
    assert "given code" in added["what"]
    told = await call_tool(GET, name=added["added"], details=True)
    assert "code" in str(told["configuration"]["fields"])
    changes = {"description": "x"}
    await asked(hass, UPDATE, llm_context, automation=added["added"], changes=changes)
    assert "changed" in await call_tool(UPDATE, automation=added["added"], changes=changes)
    assert "removed" in await call_tool(REMOVE, automation=added["added"])


SECRET_SCENE = """\
- id: '1'
  name: Cosy
  entities:
    input_text.note: !secret word
    lock.front_door: {state: unlocked, code: 4711, changed_by: !secret word}
"""


async def test_secrets_of_a_scene(
    hass: HomeAssistant, start_scripts: StartScripts, call_tool: CallTool, llm_context: llm.LLMContext, tmp_path: Any
) -> None:
    """A scene's secrets are told to nobody who renames, changes or removes it."""
    (tmp_path / "secrets.yaml").write_text("word: narwhal\n")
    await start_scripts(scenes=SECRET_SCENE)
    expose(hass, "scene.cosy")
    told = [
        await call_tool(GET, name="scene.cosy", details=True),
        await call_tool(GET, kind="scene"),
        await asked(hass, UPDATE, llm_context, automation="scene.cosy", changes={"icon": "mdi:sofa"}),
        await call_tool(UPDATE, automation="scene.cosy", changes={"icon": "mdi:sofa"}),
        await asked(hass, REMOVE, llm_context, automation="scene.cosy"),
        await call_tool(REMOVE, automation="scene.cosy"),
    ]
    assert [text for text in map(str, told) if "narwhal" in text or "4711" in text] == []


READ = """\
- id: '1'
  alias: A
  triggers:
  - trigger: webhook
    webhook_id: sesame-open-now
  actions:
  - action: STEP
    data: DATA
"""


@pytest.mark.parametrize(
    ("step", "data"),
    [
        ("telegram_bot.send_message", "{message: x, target: 49151999}"),
        ("telegram_bot.send_message", "{message: x, chat_id: 49151999}"),
        ("Notify.Sms", "{message: x, target: '49151999'}"),
        ("rest_command.sms", "{message: x, recipients: ['49151999']}"),
        ("matrix.send_message", "{message: x, target: ['49151999']}"),
    ],
)
async def test_addresses(
    hass: HomeAssistant, start_scripts: StartScripts, call_tool: CallTool, tmp_path: Any, step: str, data: str
) -> None:
    """Neither the address that sets an automation off from outside nor who gets a message is told to who asks."""
    folder = await start_scripts()
    (folder / "automations.yaml").write_text(READ.replace("STEP", step).replace("DATA", data))
    await hass.services.async_call("automation", "reload", blocking=True)
    expose(hass, "automation.a")
    told = [await call_tool(GET), await call_tool(GET, name="A", details=True)]
    told += [await call_tool(UPDATE, automation="A", changes={"description": "x"})]
    told += [await call_tool(REMOVE, automation="A")]
    assert [text for text in map(str, told) if "sesame" in text or "49151999" in text] == []
