"""Every way in which a server can fail a turn: what the user hears, what is tried anew, and what is left behind."""

import asyncio
from contextlib import nullcontext
from datetime import timedelta
from functools import partial
import logging
from time import monotonic
from typing import Any

import anthropic
import httpx
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, async_fire_time_changed

from custom_components.extended_assist import entity
from custom_components.extended_assist.claude import coordinator, retry
from custom_components.extended_assist.claude.retry import key_of
from custom_components.extended_assist.const import DOMAIN
from homeassistant.config_entries import SOURCE_REAUTH
from homeassistant.core import HomeAssistant
from homeassistant.util import dt as dt_util
from tests.claude.faults import CONTENT, IN_A_STREAM, IN_PLACE_OF_A_STREAM, WHOLE, impatient, tries
from tests.claude_server import ClaudeServer, Fault, Scenario, Turn, text, thinking
from tests.conftest import AGENT, Converse
from tests.helpers.talking import FindLog, assert_every_call_has_a_result, speech

pytestmark = pytest.mark.usefixtures("no_deprecations")

SLACK = 3.0
"""Seconds that a loaded machine may take for everything that is no waiting."""


@pytest.fixture
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try anew at once."""
    monkeypatch.setattr(retry, "_PAUSES", dict.fromkeys(retry._PAUSES, (0.0,)))


async def assert_fails_well(
    converse: Converse,
    chat_log: FindLog,
    turn: Turn,
    said: str,
    *,
    times: int,
    limit: float = SLACK,
    client: anthropic.AsyncAnthropic | None = None,
) -> None:
    """Check that a turn whose every try fails ends in time with a sentence, and leaves what a next turn can go on from."""
    start = monotonic()
    with impatient(client, turn.fault) if client else nullcontext():
        result = await converse("Is the lamp on?", *[turn] * times)
    assert monotonic() - start < limit
    assert said in speech(result)
    assert result.response.error_code == "failed_to_handle"
    log = chat_log(result.conversation_id)
    assert_every_call_has_a_result(log)
    assert log.content[-1].content == speech(result)
    again = await converse("And now?", Turn([text("Fine.")]), conversation_id=result.conversation_id)
    assert speech(again) == "Fine."


@pytest.mark.usefixtures("no_pauses")
@pytest.mark.parametrize(
    ("fault", "said", "tried_anew"),
    IN_A_STREAM,
    ids=lambda value: value.get("error_type", value["kind"]) if isinstance(value, dict) else "",
)
async def test_faults_at_each_point_of_a_stream(
    converse: Converse,
    entry: MockConfigEntry,
    claude_server: ClaudeServer,
    chat_log: FindLog,
    fault: dict[str, Any],
    said: str,
    tried_anew: bool,
) -> None:
    """Before anybody heard of the answer it is asked for once more where that may help, afterwards never."""
    for after in range(len(WHOLE)):
        before = len(claude_server.message_requests)
        expected = tries(after, tried_anew)
        turn = Turn(CONTENT, fault=Fault(**fault, after=after))
        await assert_fails_well(converse, chat_log, turn, said, times=expected, client=entry.runtime_data.client)
        assert len(claude_server.message_requests) - before == expected + 1, after


@pytest.mark.usefixtures("no_pauses")
@pytest.mark.parametrize(
    ("fault", "said", "expected"),
    IN_PLACE_OF_A_STREAM,
    ids=lambda value: f"{value.kind}-{value.status}" if isinstance(value, Fault) else "",
)
async def test_faults_in_place_of_a_stream(
    converse: Converse, claude_server: ClaudeServer, chat_log: FindLog, fault: Fault, said: str, expected: int
) -> None:
    """Every answer that is none has its sentence; what may pass is tried anew."""
    await assert_fails_well(converse, chat_log, Turn(fault=fault), said, times=expected)
    assert len(claude_server.message_requests) == expected + 1


async def test_response_without_end(converse: Converse, chat_log: FindLog, monkeypatch: pytest.MonkeyPatch) -> None:
    """A response that does not come to its end is given up, even while its connection seems alive."""
    monkeypatch.setattr(entity, "Timeouts", partial(retry.Timeouts, response_time=0.5))
    await assert_fails_well(
        converse, chat_log, Turn(CONTENT, fault=Fault("stall", after=2)), "did not answer in time", times=1
    )


@pytest.mark.parametrize(
    "fault",
    [
        Fault("http", status=529),
        Fault("http", status=429, headers={"retry-after": "1"}),
        Fault("http", status=503, body="<html>Try again</html>"),
        Fault("sse_error", error_type="overloaded_error"),
        Fault("sse_error", after=4, error_type="overloaded_error"),
        Fault("disconnect", after=-1),
        Fault("disconnect", after=3),
    ],
    ids=lambda fault: f"{fault.kind}-{fault.status}-{fault.after}",
)
async def test_passing_fault_goes_unnoticed(converse: Converse, claude_server: ClaudeServer, fault: Fault) -> None:
    """With the real pauses, a fault that passes costs seconds and nothing else."""
    start = monotonic()
    result = await converse("Hello", Turn([thinking("Hm."), text("Hi.")], fault=fault), Turn([text("Good evening.")]))
    assert speech(result) == "Good evening."
    assert result.response.error_code is None
    assert len(claude_server.message_requests) == 2
    assert monotonic() - start >= float(fault.headers.get("retry-after", 0))


async def test_nobody_waits_longer_than_stated(converse: Converse, claude_server: ClaudeServer) -> None:
    """A pause beyond what a person waits is not begun; the sentence comes at once."""
    fault = Fault("http", status=429, headers={"retry-after": str(retry.RETRY_TIME + 1)})
    start = monotonic()
    assert "too many requests" in speech(await converse("Hello", Turn(fault=fault)))
    assert monotonic() - start < SLACK
    assert len(claude_server.message_requests) == 1


async def test_all_pauses_together_keep_to_the_limit(converse: Converse, claude_server: ClaudeServer) -> None:
    """However often it is tried, the pauses of a turn add up to no more than stated."""
    start = monotonic()
    assert "overloaded" in speech(await converse("Hello", *[Turn(fault=Fault("http", status=529))] * 9))
    assert monotonic() - start < retry.RETRY_TIME + SLACK
    assert len(claude_server.message_requests) >= 3


async def test_refused_key_asks_for_another(hass: HomeAssistant, converse: Converse, entry: MockConfigEntry) -> None:
    """A key that is refused in a turn starts re-authentication, once, and makes the agent unavailable."""
    for _ in range(2):
        await converse("Hello", Turn(fault=Fault("http", status=401)))
    await hass.async_block_till_done()
    (flow,) = hass.config_entries.flow.async_progress_by_handler(DOMAIN)
    assert flow["context"]["source"] == SOURCE_REAUTH
    assert hass.states.get(AGENT).state == "unavailable"


async def test_a_model_that_the_key_may_not_use(
    hass: HomeAssistant, converse: Converse, entry: MockConfigEntry
) -> None:
    """What is forbidden for one model is told by its agent; the others are there, and nobody is asked for a key."""
    assert "may not use the language model" in speech(await converse("Hello", Turn(fault=Fault("http", status=403))))
    await hass.async_block_till_done()
    assert not hass.config_entries.flow.async_progress_by_handler(DOMAIN)
    assert hass.states.get(AGENT).state != "unavailable"


async def test_unavailable_until_the_server_is_back(
    hass: HomeAssistant, converse: Converse, claude_server: ClaudeServer, caplog: pytest.LogCaptureFixture
) -> None:
    """A server that is gone makes the agent unavailable until a look finds it again; each is logged once."""
    await claude_server.stop()
    for _ in range(2):
        assert "cannot be reached" in speech(await converse("Hello"))
    assert hass.states.get(AGENT).state == "unavailable"
    for back in (False, True):
        if back:
            await claude_server.start()
        async_fire_time_changed(hass, dt_util.utcnow() + coordinator.LOOK_AGAIN * (1 + back) + timedelta(seconds=1))
        await hass.async_block_till_done(wait_background_tasks=True)
        assert (hass.states.get(AGENT).state == "unavailable") is not back
    assert speech(await converse("Hello", Turn([text("Hi.")]))) == "Hi."
    told = [
        record.message
        for record in caplog.records
        if record.levelno > logging.DEBUG and "Extended Assist data" in record.message
    ]
    assert len(told) == 2
    assert told[0].startswith("Error requesting Extended Assist data: ")
    assert told[1] == "Fetching Extended Assist data recovered"


async def test_a_look_that_says_little(
    hass: HomeAssistant, converse: Converse, claude_server: ClaudeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A look that is told to come back later leaves an agent that works as it is."""
    claude_server.models_fault = Fault("http", status=429)
    async_fire_time_changed(hass, dt_util.utcnow() + coordinator.READ_AGAIN + timedelta(seconds=1))
    await hass.async_block_till_done(wait_background_tasks=True)
    assert hass.states.get(AGENT).state != "unavailable"
    assert speech(await converse("Hello", Turn([text("Hi.")]))) == "Hi."


@pytest.mark.parametrize("fault", [None, Fault("http", status=401)])
async def test_unloaded_while_it_looks(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    claude_server: ClaudeServer,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    fault: Fault | None,
) -> None:
    """What a look finds of an entry that was unloaded meanwhile counts for nothing, and no other look follows."""
    begun, answer = asyncio.Event(), asyncio.Event()
    look = coordinator.async_list_models

    async def slow(*args: Any) -> Any:
        begun.set()
        await answer.wait()
        return await look(*args)

    monkeypatch.setattr(coordinator, "async_list_models", slow)
    claude_server.models_fault = fault
    async_fire_time_changed(hass, dt_util.utcnow() + coordinator.READ_AGAIN + timedelta(seconds=1))
    await begun.wait()
    assert await hass.config_entries.async_unload(entry.entry_id)
    answer.set()
    begun.clear()
    await hass.async_block_till_done(wait_background_tasks=True)
    async_fire_time_changed(hass, dt_util.utcnow() + coordinator.READ_AGAIN * 3)
    await hass.async_block_till_done(wait_background_tasks=True)
    assert not begun.is_set()
    assert "Extended Assist data:" not in caplog.text
    assert not [record for record in caplog.records if record.exc_info]


def test_no_connection_in_time() -> None:
    """A server to which no connection comes about in time cannot be reached; one that is slow to answer can."""
    request = httpx.Request("POST", "http://192.0.2.1/v1/messages")
    for cause, key in ((httpx.ConnectTimeout("slow"), "cannot_connect"), (httpx.ReadTimeout("slow"), "timeout")):
        error = anthropic.APITimeoutError(request)
        error.__cause__ = cause
        assert key_of(error) == key


async def test_a_turn_that_works_makes_available_at_once(
    hass: HomeAssistant, converse: Converse, claude_server: ClaudeServer
) -> None:
    """Nobody has to wait for a look; and what passes by itself never makes an agent unavailable."""
    await claude_server.stop()
    await converse("Hello")
    await claude_server.start()
    assert speech(await converse("Hello", Turn([text("Hi.")]))) == "Hi."
    assert hass.states.get(AGENT).state != "unavailable"
    claude_server.responder = Scenario([])
    await converse("Hello", Turn(fault=Fault("http", status=400)))
    assert hass.states.get(AGENT).state != "unavailable"
