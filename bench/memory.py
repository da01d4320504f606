"""What memory costs: characters of the instructions and the time to the first word with no facts, some, and as many as there can be."""

import gc
import os
from statistics import median
from time import perf_counter
from typing import Any

from homeassistant.components import conversation
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import chat_session
from tests.claude_server import ClaudeServer, Scenario, Turn, text
from tests.memory.questions import FACTS, QUESTIONS

from .hass import add_entry, agent_of, running_home_assistant
from .table import Row

_SIZES = (100, 1_000)
_TURNS = 30
_WARM_UP = 5
_KEY = "test-key"
_MAX_MORE = 1_500
"""Characters that facts may add to the instructions."""
_SEARCHES = 20
_READ_LIMIT = 500.0
"""Milliseconds, in a thread, that a start may take longer."""
_LIMIT = 100.0
"""Milliseconds, in a thread, that a search may take before a speaker notices."""
_LOOP_LIMIT = 10.0
"""Milliseconds on the event loop that go unnoticed."""
_CONFIGURATION = """
homeassistant:
conversation:
intent:
light:
template:
input_boolean:
""" + "".join(f"  lamp_{index}:\n    name: Lamp {index}\n" for index in range(20))


async def run() -> list[Row]:
    """Compare turns with facts with those without any, in alternation."""
    async with ClaudeServer(Scenario([]), api_key=_KEY) as server:
        os.environ["ANTHROPIC_BASE_URL"] = server.url
        async with running_home_assistant(_CONFIGURATION) as hass:
            entry_id = await add_entry(
                hass, "extended_assist", {"next_step_id": "claude"}, {"api_key": _KEY, "base_url": server.url}
            )
            entry = hass.config_entries.async_get_known_entry(entry_id)
            families = ["entities", "history", "energy", "user", "actions", "memory"]
            hass.config_entries.async_update_entry(entry, options={"families": families})
            await hass.async_block_till_done()
            return [*await _turns(hass, server), *await _searches(hass)]


async def _turns(hass: HomeAssistant, server: ClaudeServer) -> list[Row]:
    """Measure whole first messages; what is remembered is exchanged between them without being stored."""
    from custom_components.extended_assist.memory.store import async_get_memory  # noqa: PLC0415

    memory = await async_get_memory(hass)
    held = {size: _facts(size) for size in (0, *_SIZES)}
    agent_id = agent_of(hass, "extended_assist")
    times: dict[int, list[float]] = {size: [] for size in held}
    characters: dict[int, int] = {}
    for turn in range(_WARM_UP + _TURNS):
        for size in sorted(held, reverse=bool(turn % 2)):
            memory._facts = held[size]  # noqa: SLF001 - only what is held is measured
            gc.collect(0)
            taken = await _first_word(hass, server, agent_id)
            characters[size] = _length(server.message_requests[-1]["system"])
            server.requests.clear()
            if turn >= _WARM_UP:
                times[size].append(taken * 1_000)
    memory._facts = {}  # noqa: SLF001
    rows = []
    for size in _SIZES:
        case = f"{size} facts, against none"
        goal = (characters[0] + _MAX_MORE) / characters[0]
        rows += [
            Row.of("prompt, characters", case, float(characters[size]), float(characters[0]), goal=goal),
            Row.of("first word (ms)", case, median(times[size]), median(times[0]), goal=1.5),
        ]
    return rows


def _length(system: Any) -> int:
    """Return the number of characters of instructions."""
    return len(system) if isinstance(system, str) else sum(len(block["text"]) for block in system)


def _facts(count: int) -> dict[str, Any]:
    """Return facts of the household, by their ids."""
    from custom_components.extended_assist.memory.fact import Fact  # noqa: PLC0415

    made = (Fact(f"{FACTS[number % len(FACTS)]} ({number})", id=f"n{number}", said=number) for number in range(count))
    return {fact.id: fact for fact in made}


async def _first_word(hass: HomeAssistant, server: ClaudeServer, agent_id: str) -> float:
    """Return the seconds until the first word of an answer in a new conversation."""
    server.responder = Scenario([Turn([text("Good morning.")])])
    heard: list[float] = []

    def listen(_log: conversation.ChatLog, delta: Any) -> None:
        if delta.get("content") and not heard:
            heard.append(perf_counter())

    context = Context()
    with (
        chat_session.async_get_chat_session(hass, None, context=context) as session,
        conversation.async_get_chat_log(hass, session, chat_log_delta_listener=listen),
    ):
        start = perf_counter()
        await conversation.async_converse(
            hass, "Good morning", session.conversation_id, context, language="en", agent_id=agent_id
        )
    return heard[0] - start


async def _searches(hass: HomeAssistant) -> list[Row]:
    """Time a search of everything, in the thread where it is made, and what a prompt takes of the event loop."""
    from custom_components.extended_assist.exposure.entities import Exposure  # noqa: PLC0415
    from custom_components.extended_assist.memory.ownership import FactAccess  # noqa: PLC0415
    from custom_components.extended_assist.memory.prompt import _block  # noqa: PLC0415
    from custom_components.extended_assist.memory.search import features, search  # noqa: PLC0415

    facts = list(_facts(max(_SIZES)).values())
    start = perf_counter()
    read = [features(fact.words) for fact in facts]
    begun = (perf_counter() - start) * 1_000
    searched, told = [], []
    for question, _ in QUESTIONS[: _WARM_UP + _SEARCHES]:
        start = perf_counter()
        search(question, read)
        searched.append((perf_counter() - start) * 1_000)
        start = perf_counter()
        _block(hass, Exposure(hass, "conversation"), facts, FactAccess(household=True))
        told.append((perf_counter() - start) * 1_000)
    where = f"of {len(facts)} facts"
    return [
        Row.of("memory", f"reading the words {where}, once, in a thread, against the limit (ms)", begun, _READ_LIMIT, goal=1.0),
        Row.of("memory", f"a search {where}, in a thread, against the limit (ms)", median(searched[_WARM_UP:]), _LIMIT, goal=1.0),
        Row.of("memory", f"what a prompt tells {where}, on the event loop, against the limit (ms)", median(told[_WARM_UP:]), _LOOP_LIMIT, goal=1.0),
    ]  # fmt: skip
