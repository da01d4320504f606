"""Blueprints when something fails: nothing unfinished is told, and who wants to know does."""

from typing import Any

import pytest

from custom_components.extended_assist.const import DOMAIN
from homeassistant.core import HomeAssistant
from tests.claude_server import ClaudeServer, Fault, Scenario, Turn, text
from tests.tools.test_history import House, house as past

from ..helpers.blueprints import (
    AUTOMATION,
    DOOR_TODAY,
    FAILED,
    NAMES,
    OPEN,
    TASK,
    At,
    Model,
    SetUp,
    at,
    door,
    models,
    set_up,
    trace,
)
from ..helpers.telling import Told, told

__all__ = ["at", "models", "past", "set_up", "told"]

pytestmark = pytest.mark.usefixtures("no_deprecations")


@pytest.mark.parametrize("has_notice", [True, False])
@pytest.mark.parametrize(
    "turn",
    [
        Turn(fault=Fault("http", status=401)),
        Turn(fault=Fault("http", status=500, headers={"x-should-retry": "false"})),
        Turn([text("Good morning, the door was")], fault=Fault("sse_error", after=5)),
        Turn([]),
        None,
    ],
    ids=["key", "server", "half", "empty", "gone"],
)
@pytest.mark.parametrize("name", NAMES)
async def test_agent_fails(
    hass: HomeAssistant,
    set_up: SetUp,
    told: Told,
    at: At,
    claude_server: ClaudeServer,
    name: str,
    turn: Turn | None,
    has_notice: bool,
) -> None:
    """Nothing unfinished is told; the notice is, where it is wished for; the trace shows why."""
    claude_server.responder = Scenario([turn] if turn else [])
    inputs = {"ai_task": TASK} if name == "unusual_today" else {}
    inputs |= {"earliest": "00:00:00", "latest": "23:59:59"} if name == "morning_report" else {}
    await set_up(name, failure_notice=has_notice, **inputs)
    if turn is None:
        (entry,) = hass.config_entries.async_entries(DOMAIN)
        assert await hass.config_entries.async_unload(entry.entry_id)
    await hass.services.async_call("automation", "trigger", {"entity_id": AUTOMATION}, blocking=True)
    await hass.async_block_till_done()
    assert told.everywhere("Title", FAILED) if has_notice else told == Told()
    last = trace(hass)
    assert last["script_execution"] == "aborted"
    all_steps = [step for steps in last["trace"].values() for step in steps]
    assert [step["error"] for step in all_steps if "gave no" in step.get("error", "")]
    answers = [
        step["changed_variables"]["answer"] for step in all_steps if "answer" in step.get("changed_variables", {})
    ]
    given = [answer["response"] for answer in answers if answer]
    assert bool(given) is (turn is not None), "what came instead of an answer is there to be read"
    # An answer without words is asked for once more.
    requests = 0 if turn is None else 1 if turn.content or turn.fault else 2
    assert len(claude_server.message_requests) == requests


@pytest.mark.parametrize(
    "judge",
    [
        None,
        lambda _: {"looked": False, "unusual": False, "message": ""},
        lambda _: {"looked": True, "unusual": True, "message": " "},
        lambda _: {"looked": True},
    ],
)
async def test_no_judgement(
    hass: HomeAssistant, past: House, set_up: SetUp, told: Told, at: At, claude_server: ClaudeServer, judge: Any
) -> None:
    """Silence means that nothing was unusual, so a day without a judgement is told of."""
    claude_server.responder = Model(DOOR_TODAY, door, judge)
    await set_up("unusual_today", ai_task=TASK)
    await at("2026-03-10 21:00:00")
    assert told.everywhere("Title", FAILED)
    assert trace(hass)["script_execution"] == "aborted"


async def test_one_does_not_answer(
    hass: HomeAssistant, past: House, set_up: SetUp, told: Told, at: At, claude_server: ClaudeServer
) -> None:
    """A phone or satellite that fails keeps the words from nobody else."""
    claude_server.responder = Model(DOOR_TODAY, door)
    told.unreachable = True
    await set_up("morning_report")
    await at("2026-03-11 07:00:00")
    assert (told.messages, told.announced, told.spoken, told.others) == ([], [], [OPEN], [OPEN])
