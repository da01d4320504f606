"""Tests of the dialogs that mend what notices are about, over the API that the frontend uses."""

import json
from pathlib import Path
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator, WebSocketGenerator

from custom_components.extended_assist import repairs
from custom_components.extended_assist.const import DOMAIN
from custom_components.extended_assist.functions.manager import loaded_functions
from custom_components.extended_assist.repair_issues.agents import LEFT_OUT, SUBENTRY_ISSUES, WITHOUT_RULES
from custom_components.extended_assist.repair_issues.entries import (
    ASKS_NOW,
    CHANGE_ISSUES,
    ENTRY_ISSUES,
    NOBODY_TO_ASK,
    async_raise_entry_issue,
)
from custom_components.extended_assist.repairs import ENTRY_FLOWS, FLOWS
from homeassistant.components import assist_pipeline
from homeassistant.config_entries import ConfigSubentry
from homeassistant.core import HomeAssistant
from homeassistant.helpers import issue_registry as ir
from homeassistant.setup import async_setup_component
from tests.claude_server import Turn, text
from tests.conftest import AGENT, Converse
from tests.helpers.noticed import GREET, broken, every_issue, issues, without_tools
from tests.helpers.talking import change_agent, speech

__all__ = ["broken"]

ANSWERS = {"model_gone": {"model": "claude-haiku-5-5"}, "model_deprecated": {"model": "claude-haiku-5-5"}}

pytestmark = pytest.mark.usefixtures("no_deprecations")


async def test_agent_bypassed(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    converse: Converse,
    hass_client: ClientSessionGenerator,
    hass_ws_client: WebSocketGenerator,
) -> None:
    """An assistant that handles commands locally first is pointed out, and the dialog lets its sentences through."""
    assert await async_setup_component(hass, "assist_pipeline", {})
    assert await async_setup_component(hass, "repairs", {})
    (pipeline,) = assist_pipeline.async_get_pipelines(hass)
    await assist_pipeline.async_update_pipeline(hass, pipeline, prefer_local_intents=True)
    settings = {key: value for key, value in pipeline.to_json().items() if key != "id"}
    mine = {**settings, "name": "Kitchen", "conversation_engine": AGENT, "prefer_local_intents": True}
    websocket = await hass_ws_client()
    await websocket.send_json_auto_id({"type": "assist_pipeline/pipeline/create", **mine})
    assert (await websocket.receive_json())["success"]
    await converse("Hello", Turn([text("Hi.")]))
    issue = issues(hass)["agent_bypassed"]
    assert issue.translation_placeholders == {"agent": "Claude", "assistants": "Kitchen"}

    client = await hass_client()
    flow = await (
        await client.post("/api/repairs/issues/fix", json={"handler": DOMAIN, "issue_id": issue.issue_id})
    ).json()
    assert flow["step_id"] == "confirm"
    assert flow["description_placeholders"]["assistants"] == "Kitchen"
    done = await (await client.post(f"/api/repairs/issues/fix/{flow['flow_id']}", json={})).json()
    assert done["type"] == "create_entry"
    pipelines = assist_pipeline.async_get_pipelines(hass)
    assert [(one.name, one.prefer_local_intents) for one in pipelines] == [(pipeline.name, True), ("Kitchen", False)]
    await converse("Hello", Turn([text("Hi.")]))
    assert issues(hass) == {}


async def begin(client: Any, issue: ir.IssueEntry) -> dict[str, Any]:
    """Open the dialog of an issue; returns its first form or menu."""
    start = {"handler": DOMAIN, "issue_id": issue.issue_id}
    return await (await client.post("/api/repairs/issues/fix", json=start)).json()


async def go_on(client: Any, step: dict[str, Any], **answer: Any) -> dict[str, Any]:
    """Answer a step of a dialog; returns the next one or the end."""
    return await (await client.post(f"/api/repairs/issues/fix/{step['flow_id']}", json=answer)).json()


async def fix(client: Any, issue: ir.IssueEntry, **answer: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Go through the dialog of an issue; returns its form and its end."""
    form = await begin(client, issue)
    return form, await go_on(client, form, **answer)


@pytest.fixture
async def dialogs(hass: HomeAssistant, hass_client: ClientSessionGenerator) -> Any:
    """Return a client that opens dialogs as the frontend does."""
    assert await async_setup_component(hass, "repairs", {})
    return await hass_client()


async def test_tools_are_chosen_from_the_notice(hass: HomeAssistant, entry: MockConfigEntry, dialogs: Any) -> None:
    """The dialog offers what the agent's form offers, and refuses what it refuses; none is no answer."""
    agent = await without_tools(hass, entry)
    form = await begin(dialogs, issues(hass)["agent_without_tools"])
    assert (form["step_id"], form["description_placeholders"]) == ("tools", {"agent": "Claude", "assist": "Assist"})
    offered = {option["value"] for option in form["data_schema"][0]["selector"]["select"]["options"]}
    own = f"{DOMAIN}-{entry.entry_id}"
    assert {own, "assist"} <= offered
    for chosen, error in (([], "tools_required"), (["assist", own], "assist_twice")):
        form = await go_on(dialogs, form, llm_hass_api=chosen)
        assert form["errors"] == {"llm_hass_api": error}
    assert (await go_on(dialogs, form, llm_hass_api=[own]))["type"] == "create_entry"
    await hass.async_block_till_done()
    assert entry.subentries[agent.subentry_id].data["llm_hass_api"] == [own]
    assert issues(hass) == {}


async def test_tools_that_are_gone(
    hass: HomeAssistant, entry: MockConfigEntry, converse: Converse, dialogs: Any
) -> None:
    """A turn that finds tools missing points it out; the dialog starts with those that are left."""
    own = f"{DOMAIN}-{entry.entry_id}"
    await change_agent(hass, entry, llm_hass_api=[own, "another"])
    assert issues(hass) == {}
    assert "can be chosen again under Repairs" in speech(await converse("Hello", Turn([text("Hi.")])))
    form, done = await fix(dialogs, issues(hass)["agent_tools_missing"], llm_hass_api=[own])
    assert form["data_schema"][0]["description"]["suggested_value"] == [own]
    assert done["type"] == "create_entry"
    await hass.async_block_till_done()
    assert speech(await converse("Hello", Turn([text("Hi.")]))) == "Hi."
    assert issues(hass) == {}


async def test_function_is_mended_from_the_notice(
    hass: HomeAssistant, entry: MockConfigEntry, broken: ConfigSubentry, dialogs: Any
) -> None:
    """The editor holds what was written, says what is wrong, and takes what is right; all else of the function stays."""
    menu = await begin(dialogs, issues(hass)["function_not_served"])
    assert (menu["type"], menu["menu_options"]) == ("menu", ["mend", "turn_off"])
    assert menu["description_placeholders"]["function"] == "Greeting"
    form = await go_on(dialogs, menu, next_step_id="mend")
    assert form["data_schema"][0]["description"]["suggested_value"] == "spec: {name: greet"
    form = await go_on(dialogs, form, function=GREET.replace("greet", "extended_assist__greet"))
    assert form["errors"] == {"function": "invalid_function"}
    assert "Names that begin with extended_assist__" in form["description_placeholders"]["problem"]
    assert (await go_on(dialogs, form, function=GREET))["type"] == "create_entry"
    await hass.async_block_till_done()
    assert entry.subentries[broken.subentry_id].data == {"function": GREET, "tier": "control"}
    assert issues(hass) == {}
    assert [function.definition.name for function in loaded_functions(hass, entry.entry_id)] == ["greet"]


async def test_function_is_turned_off_from_the_notice(
    hass: HomeAssistant, entry: MockConfigEntry, broken: ConfigSubentry, dialogs: Any
) -> None:
    """What was written is kept."""
    _, done = await fix(dialogs, issues(hass)["function_not_served"], next_step_id="turn_off")
    assert done["type"] == "create_entry"
    await hass.async_block_till_done()
    assert entry.subentries[broken.subentry_id].data == {**broken.data, "enabled": False}
    assert issues(hass) == {}


async def test_dialog_of_what_is_not_loaded(hass: HomeAssistant, entry: MockConfigEntry, dialogs: Any) -> None:
    """Whatever is to be mended, a dialog that was left open ends with a sentence when the entry is not there any more."""
    every_issue(hass, entry)
    found = {key: await begin(dialogs, issue) for key, issue in issues(hass).items() if issue.is_fixable}
    mend = await go_on(dialogs, await begin(dialogs, issues(hass)["function_not_served"]), next_step_id="mend")
    assert {step["type"] for step in found.values()} == {"form", "menu"}
    await hass.config_entries.async_unload(entry.entry_id)
    for key, step in found.items():
        answer = {"next_step_id": "turn_off"} if key == "function_not_served" else ANSWERS.get(key, {})
        end = await go_on(dialogs, step, **answer)
        assert (end["type"], end["reason"]) == ("abort", "entry_not_loaded"), key
    assert (await go_on(dialogs, mend, function=GREET))["reason"] == "entry_not_loaded"
    every_issue(hass, entry)
    for key in FLOWS:
        assert (await begin(dialogs, issues(hass)[key]))["reason"] == "entry_not_loaded"


def test_every_dialog_has_its_words() -> None:
    """Each issue that a dialog can mend has one, and each step, error and end of it stands in strings.json."""
    assert set(FLOWS) == {*SUBENTRY_ISSUES} - {LEFT_OUT}
    strings = json.loads((Path(repairs.__file__).parent / "strings.json").read_text())["issues"]
    assert set(strings) == {*SUBENTRY_ISSUES, *ENTRY_ISSUES, *CHANGE_ISSUES, WITHOUT_RULES}
    assert set(ENTRY_FLOWS) == {*ENTRY_ISSUES, *CHANGE_ISSUES}
    for key in ENTRY_FLOWS:
        assert set(strings[key]["fix_flow"]["step"]) == {"confirm"}
    assert not [key for key in (WITHOUT_RULES, LEFT_OUT) if "fix_flow" in strings[key]]
    for key, flow in FLOWS.items():
        steps = {name.removeprefix("async_step_") for name in dir(flow) if name.startswith("async_step_")}
        shown = set(strings[key]["fix_flow"]["step"])
        # A step that only leads on, or only does something, shows nothing.
        assert steps - {"init", "turn_off", "ignore"} <= shown <= steps
        assert strings[key]["fix_flow"]["abort"].keys() == {"entry_not_loaded"}


async def test_model_that_is_being_switched_off(
    hass: HomeAssistant, entry: MockConfigEntry, hass_client: ClientSessionGenerator
) -> None:
    """A deprecated model is pointed out with its day, and its successors are offered, those of its line first."""
    assert await async_setup_component(hass, "repairs", {})
    client = await hass_client()
    await change_agent(hass, entry, model="claude-sonnet-4-5")
    issue = issues(hass)["model_deprecated"]
    assert issue.translation_placeholders["agent"] == "Claude"
    assert issue.translation_placeholders["date"] == "2026-11-30"
    form, done = await fix(client, issue, model="claude-haiku-5-5")
    assert form["description_placeholders"]["model"] == "claude-sonnet-4-5"
    offered = [option["value"] for option in form["data_schema"][0]["selector"]["select"]["options"]]
    assert offered == ["claude-opus-5-5", "claude-haiku-5-5", "claude-haiku-4-5-20251001"]
    assert done["type"] == "create_entry"
    await hass.async_block_till_done()
    (agent,) = entry.subentries.values()
    assert agent.data["model"] == "claude-haiku-5-5"
    assert issues(hass) == {}


async def test_model_that_is_gone(
    hass: HomeAssistant, entry: MockConfigEntry, converse: Converse, hass_client: ClientSessionGenerator
) -> None:
    """A model that a turn does not find is pointed out; another of its line is suggested."""
    assert await async_setup_component(hass, "repairs", {})
    client = await hass_client()
    await change_agent(hass, entry, model="claude-haiku-1")
    assert issues(hass) == {}
    assert "does not exist" in speech(await converse("Hello", Turn([text("Hi.")])))
    form, _ = await fix(client, issues(hass)["model_gone"], model="claude-haiku-5-5")
    assert form["data_schema"][0]["default"] == "claude-haiku-5-5"
    await hass.async_block_till_done()
    assert issues(hass) == {}
    assert speech(await converse("Hello", Turn([text("Hi.")]))) == "Hi."


async def test_an_older_entry_is_told_once(
    hass: HomeAssistant, entry: MockConfigEntry, hass_client: ClientSessionGenerator
) -> None:
    """That consequential actions ask now; a new entry, or one that was told, is not."""
    assert await async_setup_component(hass, "repairs", {})
    assert ASKS_NOW not in issues(hass)
    hass.config_entries.async_update_entry(entry, minor_version=1)
    await hass.config_entries.async_reload(entry.entry_id)
    issue = issues(hass)[ASKS_NOW]
    assert issue.is_persistent
    form, done = await fix(await hass_client(), issue)
    assert form["description_placeholders"] == {"entry": "Extended Assist"}
    assert done["type"] == "create_entry"
    await hass.config_entries.async_reload(entry.entry_id)
    assert ASKS_NOW not in issues(hass)
    assert entry.options == {}


async def test_allowing_where_nobody_can_be_asked(
    hass: HomeAssistant, entry: MockConfigEntry, hass_client: ClientSessionGenerator
) -> None:
    """The dialog sets the option of the entry; it goes with the entry."""
    assert await async_setup_component(hass, "repairs", {})
    async_raise_entry_issue(hass, NOBODY_TO_ASK, entry.entry_id)
    _, done = await fix(await hass_client(), issues(hass)[NOBODY_TO_ASK])
    assert done["type"] == "create_entry"
    assert entry.options == {"allow_without_chat": True}
    async_raise_entry_issue(hass, NOBODY_TO_ASK, entry.entry_id)
    await hass.config_entries.async_remove(entry.entry_id)
    assert NOBODY_TO_ASK not in issues(hass)
    async_raise_entry_issue(hass, NOBODY_TO_ASK, entry.entry_id)
    assert NOBODY_TO_ASK not in issues(hass)
