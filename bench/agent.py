"""Whole turns through our agent and through Home Assistant's own, on the same server with the same tools."""

import asyncio
from asyncio import subprocess
from collections.abc import Awaitable, Callable
from functools import partial
import gc
import json
import os
from pathlib import Path
import shutil
from statistics import median
import sys
import tempfile
from time import perf_counter, process_time
import tracemalloc
from typing import Any, Self

import yaml

from homeassistant.components import conversation
from homeassistant.components.conversation.chat_log import DATA_CHAT_LOGS
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import chat_session

from .hass import add_entry, agent_of, running_home_assistant
from .model_server import TEN_AT_ONCE, THINK_FIRST
from .table import Row

_LIGHTS = 20
_TURNS = 300
_MEMORY_TURNS = 10
_LOG_TURNS = 50
_WARM_UP = 5
_TICKS = 20
_LONE_TURNS = 4
_LATER = 12.0
"""Seconds after which nothing of a turn is left to be done: what was counted is stored ten after it."""
_RELOADS = 15
_QUESTION = "Which lights are on?"
_COMMAND = "Turn on Lamp 1."
_KEY = "test-key"
_MODEL = "claude-haiku-5-5"

_CONFIGURATION = yaml.safe_dump(
    {
        **dict.fromkeys(("homeassistant", "conversation", "intent")),
        "input_boolean": dict.fromkeys(f"relay_{index}" for index in range(_LIGHTS)),
        "template": [
            {
                "light": [
                    {
                        "name": f"Lamp {index}",
                        # A state of their own, so that what became of them can be seen.
                        "state": f"{{{{ is_state('input_boolean.relay_{index}', 'on') }}}}",
                        **{
                            action: {"action": f"input_boolean.{action}", "entity_id": f"input_boolean.relay_{index}"}
                            for action in ("turn_on", "turn_off")
                        },
                    }
                    for index in range(_LIGHTS)
                ]
            }
        ],
    }
)


async def run() -> list[Row]:
    """Measure turn by turn, ours and theirs in alternation."""
    record = Path(tempfile.mkdtemp()) / "responses.jsonl"
    server = await subprocess.create_subprocess_exec(
        sys.executable, "-m", "bench.model_server", _KEY, str(record),
        cwd=Path(__file__).parents[1], stdout=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert server.stdout
        url = (await server.stdout.readline()).decode().split()[-1]
        os.environ["ANTHROPIC_BASE_URL"] = url
        async with running_home_assistant(_CONFIGURATION) as hass:
            return await _measure(hass, url, record)
    finally:
        server.terminate()
        await server.wait()
        shutil.rmtree(record.parent)


async def _measure(hass: HomeAssistant, url: str, record: Path) -> list[Row]:
    """Set both up with Assist alone as their tools, and time them."""
    for index in range(_LIGHTS):
        async_expose_entity(hass, "conversation", f"light.lamp_{index}", True)
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
            # The same tools are called by both.
            "present": 0,
        }
        hass.config_entries.async_update_subentry(entry, subentry, data=data)
        await hass.async_block_till_done()
    entity_ids = {"ours": agent_of(hass, "extended_assist"), "other": agent_of(hass, "anthropic")}
    rows = []
    for case, prepare, question in (
        (f"one tool call, streamed, {_LIGHTS} entities", 0, _QUESTION),
        ("ten tool calls in parallel", 0, TEN_AT_ONCE),
        (f"a log of {_LOG_TURNS * 4} messages", _LOG_TURNS, _QUESTION),
    ):
        talks = {who: await _Talk.begin(hass, entity_id, prepare) for who, entity_id in entity_ids.items()}
        turns = await _alternate(_TURNS, {who: partial(talk.turn, question) for who, talk in talks.items()})
        rows += [
            Row.of("whole turn", case, *_medians(turns, 0), goal=0.95),
            Row.of("first delta", case, *_medians(turns, 1), goal=1.0),
            Row.of("processor", case, *_medians(turns, 2), goal=1.0),
        ]
        assert len(found := set[str]().union(*(talk.results for talk in talks.values()))) == 1, found
        peaks = await _alternate(_MEMORY_TURNS, {who: partial(talk.peak, question) for who, talk in talks.items()})
        rows.append(Row.of("memory, kB", case, *_medians(peaks, 0), goal=1.0))
    talks = {who: await _Talk.begin(hass, entity_id, 0) for who, entity_id in entity_ids.items()}
    lone = await _alternate(_LONE_TURNS, {who: talk.alone for who, talk in talks.items()}, warm_up=0)
    # What else Home Assistant does in the time can only add to it.
    least = {who: min(values[0] for values in measured) * 1000 for who, measured in lone.items()}
    case = f"a turn and the {_LATER:g} seconds after it"
    rows.append(Row.of("processor", case, least["ours"], least["other"], goal=None))
    rows += await _before_the_first_word(hass, entity_ids, record)
    rows.append(await _for_a_command(hass, entity_ids, record))
    reloads = await _alternate(
        _RELOADS,
        {
            name: lambda entry_id=entry_id: _reload(hass, entry_id)
            for name, entry_id in (("ours", ours), ("other", theirs))
        },
    )
    return [*rows, Row.of("set-up", "reload of the entry", *_medians(reloads, 0), goal=None)]


async def _before_the_first_word(hass: HomeAssistant, entity_ids: dict[str, str], record: Path) -> list[Row]:
    """Return what a model that thinks as documented writes, and how often it is asked, before something is heard."""
    tokens: dict[str, float] = {}
    requests: dict[str, float] = {}
    for who, entity_id in entity_ids.items():
        record.write_text("", encoding="utf-8")
        talk = await _Talk.begin(hass, entity_id, 0)
        await talk.turn(f"{_QUESTION} {THINK_FIRST}")
        responses = [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]
        heard = next(index for index, response in enumerate(responses) if response["spoke"]) + 1
        tokens[who] = float(sum(response["tokens"] for response in responses[:heard]))
        requests[who] = float(heard)
    case = "one tool call, default options"
    return [
        Row.of("tokens before the first word", case, tokens["ours"], tokens["other"], goal=1.0),
        Row.of("requests before the first word", case, requests["ours"], requests["other"], goal=1.0),
    ]


async def _for_a_command(hass: HomeAssistant, entity_ids: dict[str, str], record: Path) -> Row:
    """Return how often the model is asked until a command that succeeds is answered."""
    requests: dict[str, float] = {}
    for who, entity_id in entity_ids.items():
        await hass.services.async_call("light", "turn_off", {"entity_id": "light.lamp_1"}, blocking=True)
        record.write_text("", encoding="utf-8")
        talk = await _Talk.begin(hass, entity_id, 0)
        await talk.turn(f"{_COMMAND} {THINK_FIRST}")
        requests[who] = float(len(record.read_text(encoding="utf-8").splitlines()))
    return Row.of("requests", "a command", requests["ours"], requests["other"], goal=0.5)


async def _alternate(
    times: int, kinds: dict[str, Callable[[], Awaitable[tuple[float, ...]]]], *, warm_up: int = _WARM_UP
) -> dict[str, list[tuple[float, ...]]]:
    """Time kinds in turns, each first as often as second, so that what the machine does meets both.

    Each begins with no garbage of the one before. What is there from the beginning is left out of that: to go through all of
    Home Assistant's memory before each turn empties the processor's caches, and then one turn is not like another.
    """
    gc.collect()
    gc.freeze()
    found: dict[str, list[tuple[float, ...]]] = {name: [] for name in kinds}
    for index in range(warm_up + times):
        for name in sorted(kinds, reverse=bool(index % 2)):
            gc.collect()
            measured = await kinds[name]()
            if index >= warm_up:
                found[name].append(measured)
    return found


def _medians(found: dict[str, list[tuple[float, ...]]], column: int) -> tuple[float, float]:
    """Return the medians of ours and theirs, in milliseconds."""
    ours, other = (median(values[column] for values in found[name]) * 1000 for name in ("ours", "other"))
    return ours, other


class _Talk:
    """A conversation with an agent that is put back to its beginning after every measured turn."""

    def __init__(self, hass: HomeAssistant, agent_id: str) -> None:
        self.results: set[str] = set()
        """What tools returned in a turn; one alone where every turn was the same."""
        self._hass = hass
        self._agent_id = agent_id
        self._conversation_id: str | None = None
        self._content: list[conversation.Content] = []

    @classmethod
    async def begin(cls, hass: HomeAssistant, agent_id: str, turns: int) -> Self:
        """Begin a conversation with so many turns of one tool call each; without any, each measured one is new."""
        talk = cls(hass, agent_id)
        for _ in range(turns):
            talk._conversation_id = (await talk._converse(_QUESTION, None)).conversation_id
        if talk._conversation_id:
            talk._content = list(hass.data[DATA_CHAT_LOGS][talk._conversation_id].content)
            assert len(talk._content) == turns * 4 + 1, len(talk._content)
        return talk

    async def turn(self, question: str) -> tuple[float, ...]:
        """Return the seconds of a turn, whole, to the first text, and of the processor."""
        first: list[float] = []
        results: list[Any] = []

        def listen(_: conversation.ChatLog, delta: dict[str, Any]) -> None:
            if delta.get("role") == "tool_result":
                results.append(delta["result"])
            elif delta.get("content") and not first:
                first.append(perf_counter())

        processor = process_time()
        start = perf_counter()
        result = await self._converse(question, listen)
        end = perf_counter()
        for _ in range(_TICKS):  # What a turn puts off is its own as well.
            await asyncio.sleep(0)
        measured = end - start, first[0] - start, process_time() - processor
        assert result.response.error_code is None, result.response.speech
        assert results, "no tool was called"
        assert not any(called["error"] for called in results), results
        self.results.add(str(results))
        self._restore()
        return measured

    async def alone(self) -> tuple[float, ...]:
        """Return the seconds of the processor for a turn, with what is done some seconds after it."""
        processor = process_time()
        await self._converse(_QUESTION, None)
        await asyncio.sleep(_LATER)
        return (process_time() - processor,)

    async def peak(self, question: str) -> tuple[float, ...]:
        """Return the most megabytes that a turn took beyond what was there before it."""
        tracemalloc.start()
        try:
            await self._converse(question, None)
            return (tracemalloc.get_traced_memory()[1] / 1_000_000,)
        finally:
            tracemalloc.stop()
            self._restore()

    async def _converse(self, question: str, listen: Any) -> conversation.ConversationResult:
        context = Context()
        with (
            chat_session.async_get_chat_session(self._hass, self._conversation_id, context=context) as session,
            conversation.async_get_chat_log(self._hass, session, chat_log_delta_listener=listen),
        ):
            return await conversation.async_converse(
                self._hass, question, session.conversation_id, context, language="en", agent_id=self._agent_id
            )

    def _restore(self) -> None:
        """Forget the last turn."""
        if self._conversation_id:
            self._hass.data[DATA_CHAT_LOGS][self._conversation_id].content[:] = self._content


async def _reload(hass: HomeAssistant, entry_id: str) -> tuple[float, ...]:
    """Return the seconds of a reload."""
    start = perf_counter()
    await hass.config_entries.async_reload(entry_id)
    end = perf_counter()
    await asyncio.sleep(0)
    return (end - start,)
