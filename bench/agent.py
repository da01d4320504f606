"""One whole turn through our agent and through Home Assistant's own, on the same server with the same tools."""

import asyncio
from asyncio import subprocess
from collections.abc import Awaitable, Callable
import gc
import os
from pathlib import Path
from statistics import median
import sys
from time import perf_counter

from homeassistant.components import conversation
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import chat_session

from .hass import add_entry, agent_of, running_home_assistant
from .table import Row

_LIGHTS = 20
_TURNS = 60
_WARM_UP = 5
_RELOADS = 15
_QUESTION = "Which lights are on?"
_KEY = "test-key"
_MODEL = "claude-haiku-5-5"

_CONFIGURATION = """
homeassistant:
conversation:
intent:
light:
template:
input_boolean:
""" + "".join(f"  lamp_{index}:\n    name: Lamp {index}\n" for index in range(_LIGHTS))


async def run() -> list[Row]:
    """Measure turn by turn, ours and theirs in alternation."""
    server = await subprocess.create_subprocess_exec(
        sys.executable, "-m", "tests.claude_server", "--planner", "--api-key", _KEY,
        cwd=Path(__file__).parents[1], stdout=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert server.stdout
        url = (await server.stdout.readline()).decode().split()[-1]
        os.environ["ANTHROPIC_BASE_URL"] = url
        async with running_home_assistant(_CONFIGURATION) as hass:
            return await _measure(hass, url)
    finally:
        server.terminate()
        await server.wait()


async def _measure(hass: HomeAssistant, url: str) -> list[Row]:
    """Set both up with Assist alone as their tools, and time them."""
    for state in hass.states.async_all():
        async_expose_entity(hass, "conversation", state.entity_id, True)
    ours = await add_entry(hass, "extended_assist", {"next_step_id": "claude"}, {"api_key": _KEY, "base_url": url})
    theirs = await add_entry(hass, "anthropic", {"api_key": _KEY})
    for entry_id in (ours, theirs):
        entry = hass.config_entries.async_get_known_entry(entry_id)
        subentry = next(iter(entry.get_subentries_of_type("conversation")))
        data = {
            **subentry.data,
            "llm_hass_api": ["assist"],
            "model": _MODEL,
            "chat_model": _MODEL,
            "recommended": False,
        }
        hass.config_entries.async_update_subentry(entry, subentry, data=data)
        await hass.async_block_till_done()
    entity_ids = {"ours": agent_of(hass, "extended_assist"), "other": agent_of(hass, "anthropic")}
    turns = await _alternate(
        _TURNS, {name: lambda entity_id=entity_id: _turn(hass, entity_id) for name, entity_id in entity_ids.items()}
    )
    reloads = await _alternate(
        _RELOADS,
        {
            name: lambda entry_id=entry_id: _reload(hass, entry_id)
            for name, entry_id in (("ours", ours), ("other", theirs))
        },
    )
    case = f"one tool call, streamed, {_LIGHTS} entities"
    return [
        Row.of("whole turn", case, *_medians(turns, 0), goal=1.0),
        Row.of("first delta", case, *_medians(turns, 1), goal=1.0),
        Row.of("set-up", "reload of the entry", *_medians(reloads, 0), goal=None),
    ]


async def _alternate(
    times: int, kinds: dict[str, Callable[[], Awaitable[tuple[float, ...]]]]
) -> dict[str, list[tuple[float, ...]]]:
    """Time kinds in turns, each first as often as second, so that what the machine does meets both."""
    found: dict[str, list[tuple[float, ...]]] = {name: [] for name in kinds}
    for index in range(_WARM_UP + times):
        gc.collect()
        for name in sorted(kinds, reverse=bool(index % 2)):
            measured = await kinds[name]()
            if index >= _WARM_UP:
                found[name].append(measured)
    return found


def _medians(found: dict[str, list[tuple[float, ...]]], column: int) -> tuple[float, float]:
    """Return the medians of ours and theirs, in milliseconds."""
    ours, other = (median(values[column] for values in found[name]) * 1000 for name in ("ours", "other"))
    return ours, other


async def _turn(hass: HomeAssistant, agent_id: str) -> tuple[float, ...]:
    """Return the seconds of a turn in a new conversation, whole and to the first text."""
    first: list[float] = []

    def listen(_: conversation.ChatLog, delta: dict[str, object]) -> None:
        if delta.get("content") and not first:
            first.append(perf_counter())

    context = Context()
    with (
        chat_session.async_get_chat_session(hass, context=context) as session,
        conversation.async_get_chat_log(hass, session, chat_log_delta_listener=listen),
    ):
        start = perf_counter()
        result = await conversation.async_converse(
            hass, _QUESTION, session.conversation_id, context, language="en", agent_id=agent_id
        )
        end = perf_counter()
    assert result.response.error_code is None, result.response.speech
    assert first, "Nothing was streamed"
    return end - start, first[0] - start


async def _reload(hass: HomeAssistant, entry_id: str) -> tuple[float, ...]:
    """Return the seconds of a reload."""
    start = perf_counter()
    await hass.config_entries.async_reload(entry_id)
    end = perf_counter()
    await asyncio.sleep(0)
    return (end - start,)
