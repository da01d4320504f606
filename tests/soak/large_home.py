"""Homes that double in size until the time is over: every question is answered, and the event loop never stands still."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
import json
import subprocess
import sys
from time import monotonic
from typing import Any

from bench.hass import add_entry, running_home_assistant
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import Context
from homeassistant.helpers import llm
from tests.claude_server import ClaudeServer, Scenario

from .budget import Budget, Found

SMALLEST, LARGEST = 500, 64_000
DEADLINE = 10.0
"""Seconds in which a tool answers."""
STANDSTILL = 1.0
"""Seconds for which nothing else happens in the home, from which on it is told."""
TICK = 0.01
HIDDEN_EVERY = 2
KEY = "test-key"
FAMILIES = ["entities", "history", "actions", "templates", "database"]
CALLS: dict[str, dict[str, Any]] = {
    "get_entities": {"domain": ["light"]},
    "get_history": {"entities": ["light.number_8"]},
    "get_logbook": {"hours": 1},
    "render_template": {"template": "{{ states.light | selectattr('state', 'eq', 'on') | list | count }}"},
    "query_database": {"query": "SELECT count(*) FROM states_meta"},
    "perform_action": {"action": "homeassistant.update_entity", "target": {"entity_id": "light.number_8"}},
}
_CONFIGURATION = "homeassistant:\nconversation:\nrecorder:\n  commit_interval: 1\nlogbook:\nhistory:\n"


def run(budget: Budget) -> Found:
    """Ask in one home after the other, each in a process of its own."""
    answers: list[Answer] = []
    for number, _ in enumerate(budget):
        size = SMALLEST * 2**number
        command = [sys.executable, "-m", __name__, str(size)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            answers.append(Answer(size, "the home", 0, 0, f"ended with status {done.returncode}"))
            break
        answers += [Answer(**each) for each in json.loads(done.stdout.splitlines()[-1])]
        if size >= LARGEST:
            break
    slowest, stillest = max(answers, key=lambda each: each.seconds), max(answers, key=lambda each: each.standstill)
    return Found(
        f"homes of {answers[0].size:,} to {answers[-1].size:,} entities",
        f"slowest {slowest.seconds:.2f} s ({slowest.what} of {slowest.size:,}), "
        f"longest standstill {stillest.standstill:.2f} s ({stillest.what} of {stillest.size:,})",
        tuple(f"{each.size:,} entities: {each.what}: {each.problem}" for each in answers if each.problem),
    )


@dataclass(frozen=True)
class Answer:
    """How a home answered one question."""

    size: int
    what: str
    seconds: float
    standstill: float
    """Seconds for which nothing else happened, at the longest."""
    problem: str = ""


async def _ask(size: int) -> list[Answer]:
    """Ask each tool in a home."""
    answers = []
    async with ClaudeServer(Scenario([]), api_key=KEY) as server, running_home_assistant(_CONFIGURATION) as hass:
        entry_id = await add_entry(
            hass, "extended_assist", {"next_step_id": "claude"}, {"api_key": KEY, "base_url": server.url}
        )
        entry = hass.config_entries.async_get_entry(entry_id)
        assert entry is not None
        hass.config_entries.async_update_entry(entry, options={"families": FAMILIES})
        for index in range(size):
            entity_id = f"{('light', 'sensor')[index % 4 // 2]}.number_{index}"
            hass.states.async_set(entity_id, "on", {"friendly_name": f"Number {index}"})
            async_expose_entity(hass, "conversation", entity_id, index % HIDDEN_EVERY == 0)
        await hass.async_block_till_done()
        context = llm.LLMContext(
            platform="soak", context=Context(), language="en", assistant="conversation", device_id=None
        )
        async with _clock() as clock:
            begun = monotonic()
            instance = await llm.async_get_api(hass, f"extended_assist-{entry_id}", context)
            answers.append(Answer(size, "the prompt", monotonic() - begun, clock.longest()))
            for tool, arguments in CALLS.items():
                begun = monotonic()
                result = await instance.async_call_tool(llm.ToolInput(f"extended_assist__{tool}", arguments))
                seconds, standstill = monotonic() - begun, clock.longest()
                problem = (
                    str(result.data)
                    if result.error
                    else f"took {seconds:.1f} s"
                    if seconds > DEADLINE
                    else f"stood still for {standstill:.2f} s"
                    if standstill > STANDSTILL
                    else ""
                )
                answers.append(Answer(size, tool, seconds, standstill, problem))
    return answers


class _Clock:
    """Sees for how long the event loop stood still."""

    def __init__(self) -> None:
        self._last, self._longest = monotonic(), 0.0

    async def run(self) -> None:
        while True:
            await asyncio.sleep(TICK)
            self._see()

    def _see(self) -> None:
        now = monotonic()
        self._longest, self._last = max(self._longest, now - self._last - TICK), now

    def longest(self) -> float:
        """Return the longest standstill since it was asked for last."""
        self._see()
        longest, self._longest = self._longest, 0.0
        return longest


@asynccontextmanager
async def _clock() -> AsyncIterator[_Clock]:
    clock = _Clock()
    task = asyncio.create_task(clock.run())
    try:
        yield clock
    finally:
        task.cancel()


if __name__ == "__main__":
    sys.stdout.write(json.dumps([asdict(answer) for answer in asyncio.run(_ask(int(sys.argv[1])))]) + "\n")
