"""Tests of functions that stand for something built in: what they refuse, and what they say before they are confirmed."""

from datetime import timedelta
import re
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.extended_assist.calls.call import ToolCall
from custom_components.extended_assist.calls.caller import Caller
from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.calls.policy import Policy
from custom_components.extended_assist.exposure.entities import Exposure
from custom_components.extended_assist.functions.definition import read_definition
from custom_components.extended_assist.functions.native import MAX_ENTITIES
from custom_components.extended_assist.functions.tool import UserFunctionTool
from homeassistant.components.recorder import Recorder
from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm
from homeassistant.util import dt as dt_util
from tests.claude_server import ClaudeServer, Turn, tool_use
from tests.conftest import ASSISTANT, CallTool, Converse, expose
from tests.helpers.automating import StartHome, start_home, switching
from tests.helpers.talking import speech

from . import recipes
from .conftest import Ask, Install

__all__ = ["start_home"]

pytestmark = pytest.mark.usefixtures("no_deprecations")

BED = {"domain": "light", "service": "turn_on", "service_data": {"entity_id": "light.bed_light", "brightness_pct": 40}}


def native(name: str) -> str:
    """Return a function that hands all its arguments over."""
    return f"spec: {{name: {name}, parameters: {{additionalProperties: true}}}}\nfunction: {{type: native, name: {name}}}\n"


@pytest.mark.usefixtures("house")
class TestActions:
    """Functions that perform actions."""

    @pytest.mark.parametrize(
        ("name", "arguments", "reason"),
        [
            ("execute_service", {}, "Give a list of 1 to 20 actions"),
            ("execute_service", {"list": []}, "Give a list of 1 to 20 actions"),
            ("execute_service", {"list": [BED] * 21}, "Give a list of 1 to 20 actions"),
            ("execute_service_single", {"domain": "light"}, "Give domain, service and service_data."),
            ("execute_service_single", {**BED, "service_data": ["light.bed_light"]}, "service_data must be an object."),
        ],
    )
    async def test_refused(self, install: Install, ask: Ask, name: str, arguments: dict[str, Any], reason: str) -> None:
        """What is no action is refused with what to give."""
        await install(native(name))
        assert reason in await ask(name, arguments, error=True)

    async def test_said_before(
        self,
        hass: HomeAssistant,
        entry: MockConfigEntry,
        install: Install,
        converse: Converse,
        claude_server: ClaudeServer,
    ) -> None:
        """Before they are confirmed, actions are said in words."""
        await install(native("execute_service"))
        await install(native("execute_service_single"))
        options = {"ask_first": ["perform_action"]}
        hass.config_entries.async_update_entry(entry, options=options)
        await hass.async_block_till_done()
        said = "Turn on: Bed Light, brightness 40 %"
        both = {"list": [BED, {**BED, "service": "turn_off", "service_data": {"entity_id": "light.bed_light"}}]}
        for name, arguments, lines in (
            ("execute_service_single", BED, [said]),
            ("execute_service", both, ["I would do 2 things:", f"- {said}", "- Turn off: Bed Light"]),
        ):
            asked = await converse("Do it.", Turn([tool_use(name, arguments)]), device_id="speaker")
            assert speech(asked).splitlines() == [*lines, "Shall I do that?"]
        assert hass.states.is_state("light.bed_light", "off")


@pytest.mark.parametrize("written", [switching("Dusk"), [switching("Dusk")]], ids=["object", "list"])
async def test_automation_as_an_object(
    hass: HomeAssistant, entry: MockConfigEntry, start_home: StartHome, install: Install, ask: Ask, written: Any
) -> None:
    """An automation may be given as an object, or as the only one of a list."""
    await start_home()
    await _let_everybody(hass, entry)
    await install(native("add_automation"))
    assert (await ask("add_automation", {"automation_config": written}))["added"] == "automation.dusk"
    for wrong, reason in ((5, "must be one automation"), ([], "must be one automation"), ("a: b: c", "not YAML")):
        assert reason in await ask("add_automation", {"automation_config": wrong}, error=True)


async def test_automation_without_automations(
    hass: HomeAssistant, entry: MockConfigEntry, install: Install, ask: Ask
) -> None:
    """In a home without automations, none can be added."""
    await _let_everybody(hass, entry)
    await install(native("add_automation"))
    reason = "Automations are not set up in this home. Tell the user."
    assert await ask("add_automation", {"automation_config": switching()}, error=True) == reason


async def _let_everybody(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """Let everybody administer, without a question."""
    hass.config_entries.async_update_entry(entry, options={"who_may_administer": "anyone", "ask_first": []})
    await hass.async_block_till_done()


@pytest.mark.usefixtures("recorder_mock")
@pytest.mark.parametrize("recorder_db_url", ["sqlite"], indirect=True)
class TestPast:
    """Functions that ask for the past."""

    @pytest.mark.parametrize(
        ("arguments", "reason"),
        [
            ({}, "entity_ids must be a list of texts."),
            ({"entity_ids": [5]}, "entity_ids must be a list of texts."),
            ({"entity_ids": "lamp"}, f"That means {MAX_ENTITIES + 1} entities; name at most {MAX_ENTITIES}"),
            (
                {"entity_ids": ["light.lamp_1"], "start_time": "2026-11-02 00:00", "end_time": "2026-11-01 00:00"},
                "start_time must be before end_time",
            ),
            ({"entity_ids": ["light.lamp_1"], "start_time": "soon"}, "start_time"),
        ],
    )
    async def test_history_refused(
        self, hass: HomeAssistant, install: Install, ask: Ask, arguments: dict[str, Any], reason: str
    ) -> None:
        """What is too much, or no time, is refused with what to give."""
        for number in range(MAX_ENTITIES + 1):
            hass.states.async_set(f"light.lamp_{number}", "on", {"friendly_name": f"Lamp {number}"})
            expose(hass, f"light.lamp_{number}")
        await install(native("get_history"))
        assert reason in await ask("get_history", arguments, error=True)

    @pytest.mark.parametrize(
        ("arguments", "reason"),
        [
            ({"period": "fortnight"}, "'fortnight' is no period. Periods: "),
            ({"types": ["mean", "median"]}, "'median' is no type. Types: "),
        ],
    )
    async def test_statistics_refused(
        self, hass: HomeAssistant, install: Install, ask: Ask, arguments: dict[str, Any], reason: str
    ) -> None:
        """A period or type that there is not is answered with those that there are."""
        hass.states.async_set("sensor.oven", "1")
        expose(hass, "sensor.oven")
        await install(native("get_statistics"))
        now = dt_util.now()
        span = {"start_time": (now - timedelta(days=1)).isoformat(), "end_time": now.isoformat()}
        assert reason in await ask(
            "get_statistics", {"statistic_ids": ["sensor.oven"], **span, **arguments}, error=True
        )

    async def test_no_energy_dashboard(self, recorder_mock: Recorder, install: Install, ask: Ask) -> None:
        """In a home without an energy dashboard, there is nothing to tell of it."""
        await install(native("get_energy"))
        assert await ask("get_energy") == {}


async def test_delay_without_an_entry(hass: HomeAssistant, assist: None, call_tool: CallTool) -> None:
    """A function that belongs to no entry keeps nothing for later: nobody's options would allow it later."""
    options = ToolboxOptions(policy=Policy(allow_without_chat=True))
    tool = UserFunctionTool(read_definition(recipes.TIMER.strip()), options)
    hass.states.async_set("todo.shopping_list", "0")
    expose(hass, "todo.shopping_list")
    arguments = {"item": "milk", "list": "todo.shopping_list", "delay": {"hours": 1}}
    data = await call_tool(tool, error=True, **arguments)
    assert data["error"] == "Nothing can be kept for later from here. Do it now, or tell the user."


async def test_delay_is_said(hass: HomeAssistant, assist: None, llm_context: llm.LLMContext) -> None:
    """Before it is confirmed, a call that waits says until when."""
    hass.states.async_set("todo.shopping_list", "0")
    expose(hass, "todo.shopping_list")
    call = ToolCall(
        hass=hass,
        arguments={"item": "milk", "list": "todo.shopping_list", "delay": {"hours": 1}},
        exposure=Exposure(hass, ASSISTANT),
        caller=Caller(llm_context),
        options=ToolboxOptions(),
    )
    preview = (await UserFunctionTool(read_definition(recipes.TIMER.strip())).async_plan(call)).words
    assert re.fullmatch(r'In 1:00:00: .*\{"item":"milk","list":"todo.shopping_list"\}', preview)
