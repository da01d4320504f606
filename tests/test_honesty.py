"""What a model reads after it acted: what was verified, never that something was done where nothing was."""

from collections.abc import Callable
from dataclasses import dataclass
import json
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.extended_assist.const import CONF_ASK_FIRST, CONF_FAMILIES, CONF_NEVER_ASK, DOMAIN
from custom_components.extended_assist.tools import FAMILIES
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er
from tests.claude.sent import blocks_of
from tests.claude_server import ClaudeServer, Turn, text, tool_use
from tests.conftest import Converse

pytestmark = pytest.mark.usefixtures("house", "no_deprecations")

PERFORM = "extended_assist__perform_action"
SCRIPT = "extended_assist__execute_script"
LIGHT = {"entity_id": "light.bed_light"}
CLAIMS = ("success", '"done":true', "has been turned", "was turned")
"""Words that would claim more than was seen."""


@dataclass(frozen=True)
class Case:
    """A call, and what the model must and must not read of it."""

    tool: str
    arguments: dict[str, Any]
    reads: str
    error: bool = False
    changed: bool = False
    """Whether the home really changed."""


CASES: dict[str, Case] = {
    "done": Case(PERFORM, {"action": "light.turn_on", "target": LIGHT}, "off → on", changed=True),
    "nothing changed": Case(PERFORM, {"action": "light.turn_off", "target": LIGHT}, "off, as before"),
    "hidden": Case(
        PERFORM,
        {"action": "light.turn_on", "target": {"entity_id": "light.zebra"}},
        "not found or is not exposed",
        error=True,
    ),
    "partly": Case(
        PERFORM,
        {"action": "light.turn_off", "target": {"area_id": "Kitchen"}},
        "2 more in this target not touched",
        changed=True,
    ),
    "unknown action": Case(PERFORM, {"action": "light.explode", "target": LIGHT}, "There is no action", error=True),
    "wrong data": Case(
        PERFORM,
        {"action": "light.turn_on", "target": LIGHT, "data": {"brightness_pct": "very"}},
        "does not take",
        error=True,
    ),
    "wrong entity": Case(
        PERFORM,
        {"action": "light.turn_on", "target": {"entity_id": "lock.front_door"}},
        "cannot do light.turn_on",
        error=True,
    ),
    "refused by the device": Case(
        PERFORM, {"action": "lock.open", "target": {"entity_id": "lock.front_door"}}, "lock.front_door", error=True
    ),
    "later": Case(
        "extended_assist__do_later",
        {"when": {"after": 60}, "action": {"action": "light.turn_on", "target": LIGHT}},
        '"next"',
    ),
    "later by the tool for now": Case(
        PERFORM, {"action": "light.turn_on", "target": LIGHT, "delay": 60}, "wrong arguments", error=True
    ),
    "never": Case(PERFORM, {"action": "homeassistant.restart"}, "cannot be used by assistants", error=True),
    "asked first": Case(SCRIPT, {"sequence": [{"action": "light.turn_on", "target": LIGHT}]}, "Nothing was done yet"),
    "nothing to undo": Case("extended_assist__undo_last_change", {}, "changed nothing", error=True),
    "nothing to cancel": Case("extended_assist__pending", {"cancel": "abc"}, "Nothing with id", error=True),
    "unknown name": Case("intent__HassTurnOn", {"name": "Unicorn"}, "Unicorn", error=True),
    "unknown tool": Case("intent__HassTurnAround", {"name": "Bed"}, "no tool named", error=True),
    "wrong arguments": Case(PERFORM, {"do": "it"}, "wrong arguments", error=True),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
async def test_results_claim_nothing_that_was_not_seen(
    hass: HomeAssistant, entry: MockConfigEntry, converse: Converse, claude_server: ClaudeServer, case: Case
) -> None:
    """A call that did nothing is an error or says so; one that did tells what was and what is."""
    options = {CONF_FAMILIES: [*FAMILIES], CONF_ASK_FIRST: ["execute_script"], CONF_NEVER_ASK: ["lock.open"]}
    hass.config_entries.async_update_entry(entry, options=options)
    await hass.config_entries.async_reload(entry.entry_id)
    before = _home(hass)
    calls, here = (
        Turn([tool_use(case.tool, case.arguments)], invents=case.reads == "no tool named"),
        {"device_id": "speaker"},
    )
    answer = await converse("Please", calls, Turn([text("Hm.")]), **here)
    # A question is spoken without the model, which reads of it with the next message.
    await converse("What?", Turn([text("Hm.")]), conversation_id=answer.conversation_id, **here)
    (result,) = [
        block
        for message in claude_server.message_requests[-1]["messages"]
        for block in blocks_of(message["content"])
        if block["type"] == "tool_result"
    ]
    read = result["content"] if isinstance(result["content"], str) else json.dumps(result["content"])
    assert case.reads in read
    assert bool(result.get("is_error")) is case.error, read
    assert [claim for claim in CLAIMS if claim in read.lower()] == []
    assert (_home(hass) != before) is case.changed


def _home(hass: HomeAssistant) -> dict[str, str]:
    """Return the states of everything but the integration's own entities."""
    ours = {entity.entity_id for entity in er.async_get(hass).entities.values() if entity.platform == DOMAIN}
    return {state.entity_id: state.state for state in hass.states.async_all() if state.entity_id not in ours}


async def test_the_prompt_asks_for_it(
    converse: Converse, claude_server: ClaudeServer, find: Callable[[Any], str]
) -> None:
    """Every request of an agent with tools says that nothing may be claimed that no tool reported."""
    await converse("Hello", Turn([text("Hello.")]))
    said = find(claude_server.message_requests[-1]["system"])
    assert "Say that something was done only if a tool called since the user's last message reported it done" in said
    assert "exactly the same arguments" in said


@pytest.fixture
def find() -> Callable[[Any], str]:
    """Return a function that gives the text of a system prompt in whichever form it is sent."""
    return lambda system: system if isinstance(system, str) else " ".join(block["text"] for block in system)
