"""Adding and reading one automation of many: our tools beside Home Assistant's own editor."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
import gc
from pathlib import Path
from statistics import median
from time import perf_counter, thread_time
from typing import Any, Self

import aiohttp

from homeassistant.auth.const import GROUP_ID_ADMIN
from homeassistant.auth.models import User
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import Context, HomeAssistant, ServiceCall
from homeassistant.helpers import llm
from homeassistant.util.yaml import dump

from .hass import running_home_assistant
from .table import Row

_TURNS = {1_000: 7, 3_600: 3}
"""Turns in a file of so many automations; the larger one has 1.8 MB."""
_WARM_UP = 1
_GOAL = 1.0
_LONGEST_STEP = 20.0
"""Milliseconds for which one step of the event loop may take the processor."""
_CONFIGURATION = """
homeassistant:
conversation:
config:
input_boolean: {motion: , porch: }
automation: !include automations.yaml
"""


async def run() -> list[Row]:
    """Measure turn by turn, ours and theirs in alternation."""
    async with running_home_assistant(_CONFIGURATION) as hass:
        path = Path(hass.config.path("automations.yaml"))
        user = await hass.auth.async_create_user("bench", group_ids=[GROUP_ID_ADMIN])
        reloads = Reloads(hass)
        rows: list[Row] = []
        for count, turns in _TURNS.items():
            path.write_text(dump([_automation(number) for number in range(count)]))
            await hass.services.async_call("automation", "reload", blocking=True)
            for entity_id in hass.states.async_entity_ids():
                async_expose_entity(hass, "conversation", entity_id, True)
            async with open_editor(hass, user) as editor:
                call = await _tools(hass, user.id)
                rows += await _measure_adding(
                    reloads, {"ours": partial(_add, call), "theirs": editor.save}, count, turns
                )
                rows += await _measure_reading(reloads, call, editor, count, turns)
                rows += await _measure_changing(reloads, call, count, turns)
        return rows


def _automation(number: int) -> dict[str, Any]:
    """Return one automation, of the size that people's have."""
    return {
        "id": str(1_700_000_000_000 + number),
        "alias": f"Automation {number}",
        "description": "Turns the light on for a while.",
        "triggers": [{"trigger": "state", "entity_id": ["input_boolean.motion"], "to": "on", "for": {"minutes": 5}}],
        "conditions": [{"condition": "time", "after": "17:30:00", "before": "23:00:00"}],
        "actions": [
            {"action": "input_boolean.turn_on", "target": {"entity_id": "input_boolean.porch"}},
            {"delay": "00:05:00"},
            {"action": "input_boolean.turn_off", "target": {"entity_id": "input_boolean.porch"}},
        ],
        "mode": "single",
    }


type _Save = Callable[[dict[str, Any]], Awaitable[None]]
type _Call = Callable[..., Awaitable[None]]
"""Calls a tool by its name, with its arguments."""


class _Editor:
    """Home Assistant's editor, through its HTTP API."""

    def __init__(self, session: aiohttp.ClientSession, url: str) -> None:
        """Take a session that is logged in."""
        self._session = session
        self._url = url

    async def save(self, config: dict[str, Any]) -> None:
        async with self._session.post(self._url + config["id"], json=config) as response:
            assert response.status == 200, await response.text()

    async def open(self, automation_id: str) -> None:
        async with self._session.get(self._url + automation_id) as response:
            assert response.status == 200, await response.text()


@asynccontextmanager
async def open_editor(hass: HomeAssistant, user: User) -> AsyncGenerator[_Editor]:
    """Log in to the editor."""
    client_id = "http://127.0.0.1/"
    token = hass.auth.async_create_access_token(await hass.auth.async_create_refresh_token(user, client_id))
    url = f"http://127.0.0.1:{hass.http.server_port}/api/config/automation/config/"
    async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {token}"}) as session:
        yield _Editor(session, url)


async def _tools(hass: HomeAssistant, user_id: str) -> _Call:
    """Return a function that calls our tools, as an administrator who is not asked."""
    # After Home Assistant has put its folder of custom components in place.
    from custom_components.extended_assist.calls.options import ToolboxOptions  # noqa: PLC0415
    from custom_components.extended_assist.calls.policy import Policy  # noqa: PLC0415
    from custom_components.extended_assist.exposure.name_index import async_get_names  # noqa: PLC0415
    from custom_components.extended_assist.tools.actions import UndoLastChangeTool  # noqa: PLC0415
    from custom_components.extended_assist.tools.automation_changes import (  # noqa: PLC0415
        AddAutomationTool,
        UpdateAutomationTool,
    )
    from custom_components.extended_assist.tools.automations import GetAutomationsTool  # noqa: PLC0415

    # As an entry does when it is set up.
    await async_get_names(hass).async_fill()
    options = ToolboxOptions(policy=Policy(ask_first=frozenset(), allow_without_chat=True))
    classes = (AddAutomationTool, GetAutomationsTool, UndoLastChangeTool, UpdateAutomationTool)
    tools = {tool.name.partition("__")[2]: tool for tool in (one(options) for one in classes)}
    context = llm.LLMContext("bench", Context(user_id=user_id), "en", "conversation", None)

    async def call(tool: str, /, **arguments: Any) -> None:
        result = await tools[tool].async_call(hass, llm.ToolInput(tools[tool].name, arguments), context)
        assert not result.error, result.data

    return call


async def _add(call: _Call, config: dict[str, Any]) -> None:
    """Add with our tool, which gives the id."""
    await call("add_automation", automation={key: value for key, value in config.items() if key != "id"})


async def _measure_adding(reloads: Reloads, kinds: dict[str, _Save], count: int, turns: int) -> list[Row]:
    """Time both until the new automation is loaded, with and without Home Assistant's loading itself."""
    times: dict[str, list[float]] = {f"{name} {part}": [] for name in kinds for part in ("all", "own")}
    steps: dict[str, list[float]] = {name: [] for name in times}
    for turn in range(turns + _WARM_UP):
        for name in sorted(kinds, reverse=bool(turn % 2)):
            gc.collect()
            config = _automation(count + 2 * turn + (name == "ours")) | {"alias": f"{name} {turn}"}
            reloads.done.clear()
            start = perf_counter()
            with _Steps(reloads) as longest:
                await kinds[name](config)
                await reloads.done.wait()
            took = perf_counter() - start
            if turn >= _WARM_UP:
                times[f"{name} all"].append(took * 1000)
                times[f"{name} own"].append((took - reloads.took) * 1000)
                steps[f"{name} all"].append(longest.of_all)
                steps[f"{name} own"].append(longest.own)
    found = {name: median(values) for name, values in times.items()}
    where = f"add one to {count}"
    return [
        Row.of("automations", f"{where}, until it is loaded (ms)", found["ours all"], found["theirs all"], goal=_GOAL),
        Row.of("automations", f"{where}, without the loading (ms)", found["ours own"], found["theirs own"], goal=_GOAL),
        _step_row(where, steps["ours own"]),
        Row.of(
            "automations",
            f"{where}, the same while it is loaded (ms)",
            max(steps["ours all"]),
            max(steps["theirs all"]),
            goal=None,
        ),
    ]


async def _measure_reading(reloads: Reloads, call: _Call, editor: _Editor, count: int, turns: int) -> list[Row]:
    """Time lists and all about one, beside opening one in the editor."""
    automation = _automation(count // 2)
    kinds: dict[str, Callable[[], Awaitable[None]]] = {
        "list them": lambda: call("get_automations"),
        "list those with a word in the name": lambda: call("get_automations", name="automation"),
        "tell all about one": lambda: call("get_automations", name=automation["id"], details=True),
        "tell all about one by its name": lambda: call("get_automations", name=automation["alias"], details=True),
        "open": lambda: editor.open(automation["id"]),
    }
    times: dict[str, list[float]] = {name: [] for name in kinds}
    steps: dict[str, list[float]] = {name: [] for name in kinds}
    for _ in range(turns):
        for name, work in kinds.items():
            gc.collect()
            start = perf_counter()
            with _Steps(reloads) as longest:
                await work()
            times[name].append((perf_counter() - start) * 1000)
            steps[name].append(longest.own)
    rows: list[Row] = []
    for name in kinds.keys() - {"open"}:
        where = f"{name}, of {count}"
        rows += [
            Row.of("automations", f"{where} (ms)", median(times[name]), median(times["open"]), goal=_GOAL),
            _step_row(where, steps[name]),
        ]
    return sorted(rows, key=lambda row: row.case)


async def _measure_changing(reloads: Reloads, call: _Call, count: int, turns: int) -> list[Row]:
    """Find the longest steps of changing one and of undoing that."""
    automation_id = _automation(count // 2)["id"]
    steps: dict[str, list[float]] = {"change": [], "undo": []}
    for turn in range(turns):
        changes = {"conditions": [{"condition": "time", "after": f"1{turn}:00:00"}]}
        gc.collect()
        with _Steps(reloads) as longest:
            await call("update_automation", automation=automation_id, changes=changes)
        steps["change"].append(longest.own)
        with _Steps(reloads) as longest:
            await call("undo_last_change")
        steps["undo"].append(longest.own)
    return [_step_row(f"{name} one of {count}", found) for name, found in steps.items()]


def _step_row(where: str, steps: list[float]) -> Row:
    """Return the row of the longest of all steps beside the limit."""
    case = f"{where}, processor time of the longest step of the event loop (ms), limit"
    return Row.of("automations", case, max(steps), _LONGEST_STEP, goal=1.0)


class Reloads:
    """Knows when Home Assistant loads automations anew."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Stand before the action that both use; what it gives back when it ends is part of it."""
        self.done = asyncio.Event()
        self.running = False
        self.took = 0.0
        self.at_turn: Callable[[], None] | None = None
        """Called right before loading begins or ends."""
        self._reload = hass.services.async_services_for_domain("automation")["reload"]
        hass.services.async_register("automation", "reload", self._async_reload, schema=self._reload.schema)

    async def _async_reload(self, call: ServiceCall) -> None:
        self._turn(running=True)
        start = perf_counter()
        try:
            await self._reload.job.target(call)
        finally:
            self._turn(running=False)
            self.took = perf_counter() - start
            self.done.set()

    def _turn(self, *, running: bool) -> None:
        if self.at_turn:
            self.at_turn()
        self.running = running


class _Steps:
    """Measures the longest step of the event loop, in milliseconds of processor time, which others' load does not change."""

    def __init__(self, reloads: Reloads) -> None:
        """Start with nothing measured."""
        self.of_all = 0.0
        self.own = 0.0
        """The longest outside of Home Assistant's loading; of a step in which that begins or ends, the part outside."""
        self._reloads = reloads
        self._run = asyncio.Handle._run  # noqa: SLF001 - what the loop calls for each step
        self._since = 0.0

    def __enter__(self) -> Self:
        def run(handle: asyncio.Handle) -> None:
            self._since = thread_time()
            self._run(handle)
            self._count()

        asyncio.Handle._run = run  # type: ignore[method-assign]  # noqa: SLF001
        self._reloads.at_turn = self._count
        self._since = thread_time()
        return self

    def __exit__(self, *_: object) -> None:
        self._count()
        asyncio.Handle._run = self._run  # type: ignore[method-assign]  # noqa: SLF001
        self._reloads.at_turn = None

    def _count(self) -> None:
        """Count what the step took so far."""
        now = thread_time()
        took, self._since = (now - self._since) * 1000, now
        self.of_all = max(self.of_all, took)
        if not self._reloads.running:
            self.own = max(self.own, took)
