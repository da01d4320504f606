"""Adding and reading one automation of many: our tools beside Home Assistant's own editor."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
import gc
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, Self

import aiohttp

from homeassistant.auth.const import GROUP_ID_ADMIN
from homeassistant.auth.models import User
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.const import EVENT_CALL_SERVICE
from homeassistant.core import Context, Event, HomeAssistant, callback
from homeassistant.helpers import llm
from homeassistant.util.yaml import dump

from .hass import running_home_assistant
from .table import Row

_TURNS = {1_000: 12, 3_600: 4}
"""Turns in a file of so many automations; the larger one has 1.8 MB."""
_WARM_UP = 2
_GOAL = 1.0
_LONGEST_HOLD = 20.0
"""Milliseconds for which the event loop may be held at once."""
_BEAT = 0.001
"""Seconds between two looks at the clock: rarely enough to leave the processor to what is measured."""
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
        rows: list[Row] = []
        for count, turns in _TURNS.items():
            path.write_text(dump([_automation(number) for number in range(count)]))
            await hass.services.async_call("automation", "reload", blocking=True)
            for entity_id in hass.states.async_entity_ids():
                async_expose_entity(hass, "conversation", entity_id, True)
            async with _editor(hass, user) as editor:
                ours, get = _tools(hass, user.id)
                rows += await _measure_adding(hass, {"ours": ours, "theirs": editor.save}, count, turns)
                rows += await _measure_reading(hass, get, editor, count, turns)
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
async def _editor(hass: HomeAssistant, user: User) -> AsyncGenerator[_Editor]:
    """Log in to the editor."""
    client_id = "http://127.0.0.1/"
    token = hass.auth.async_create_access_token(await hass.auth.async_create_refresh_token(user, client_id))
    url = f"http://127.0.0.1:{hass.http.server_port}/api/config/automation/config/"
    async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {token}"}) as session:
        yield _Editor(session, url)


def _tools(hass: HomeAssistant, user_id: str) -> tuple[_Save, _Save]:
    """Return functions that add and look with our tools, as an administrator who is not asked."""
    # After Home Assistant has put its folder of custom components in place.
    from custom_components.extended_assist.toolbox.options import ToolboxOptions  # noqa: PLC0415
    from custom_components.extended_assist.toolbox.policy import Policy  # noqa: PLC0415
    from custom_components.extended_assist.tools.automation_changes import AddAutomationTool  # noqa: PLC0415
    from custom_components.extended_assist.tools.automations import GetAutomationsTool  # noqa: PLC0415

    options = ToolboxOptions(policy=Policy(ask_first=frozenset()))
    adding, getting = AddAutomationTool(options), GetAutomationsTool(options)
    context = llm.LLMContext("bench", Context(user_id=user_id), "en", "conversation", None)

    async def add(config: dict[str, Any]) -> None:
        automation = {key: value for key, value in config.items() if key != "id"}
        result = await adding.async_call(hass, llm.ToolInput(adding.name, {"automation": automation}), context)
        assert not result.error, result.data

    async def get(arguments: dict[str, Any]) -> None:
        result = await getting.async_call(hass, llm.ToolInput(getting.name, arguments), context)
        assert not result.error, result.data

    return add, get


async def _measure_adding(hass: HomeAssistant, kinds: dict[str, _Save], count: int, turns: int) -> list[Row]:
    """Time both until the new automation is loaded, with and without Home Assistant's loading itself."""
    reloading = _Reloads(hass)
    times: dict[str, list[float]] = {f"{name} {part}": [] for name in kinds for part in ("all", "own")}
    held: dict[str, list[float]] = {name: [] for name in times}
    for turn in range(turns + _WARM_UP):
        for name in sorted(kinds, reverse=bool(turn % 2)):
            gc.collect()
            config = _automation(count + 2 * turn + (name == "ours")) | {"alias": f"{name} {turn}"}
            reloading.begin()
            start = perf_counter()
            async with _Heartbeat(reloading) as heartbeat:
                await kinds[name](config)
                await reloading.done.wait()
            took = perf_counter() - start
            if turn >= _WARM_UP:
                times[f"{name} all"].append(took * 1000)
                times[f"{name} own"].append((took - reloading.took) * 1000)
                held[f"{name} all"].append(heartbeat.longest * 1000)
                held[f"{name} own"].append(heartbeat.longest_own * 1000)
    found = {name: median(values) for name, values in times.items()}
    where = f"add one to {count}"
    return [
        Row.of("automations", f"{where}, until it is loaded (ms)", found["ours all"], found["theirs all"], goal=_GOAL),
        Row.of("automations", f"{where}, without the loading (ms)", found["ours own"], found["theirs own"], goal=_GOAL),
        # Between turns a shared machine does other things, so that the largest of all would be theirs.
        Row.of(
            "automations",
            f"{where}, longest hold of the event loop (ms), limit",
            median(held["ours own"]),
            _LONGEST_HOLD,
            goal=1.0,
        ),
        Row.of(
            "automations",
            f"{where}, the same while it is loaded (ms)",
            median(held["ours all"]),
            median(held["theirs all"]),
            goal=None,
        ),
    ]


async def _measure_reading(hass: HomeAssistant, get: _Save, editor: _Editor, count: int, turns: int) -> list[Row]:
    """Time a list and all about one, beside opening one in the editor."""
    automation_id = _automation(count // 2)["id"]
    kinds: dict[str, Callable[[], Awaitable[None]]] = {
        "list them": lambda: get({}),
        "tell all about one": lambda: get({"name": automation_id, "details": True}),
        "open": lambda: editor.open(automation_id),
    }
    times: dict[str, list[float]] = {name: [] for name in kinds}
    held: dict[str, list[float]] = {name: [] for name in kinds}
    reloading = _Reloads(hass)
    for _ in range(turns):
        for name, work in kinds.items():
            gc.collect()
            start = perf_counter()
            async with _Heartbeat(reloading) as heartbeat:
                await work()
            times[name].append((perf_counter() - start) * 1000)
            held[name].append(heartbeat.longest * 1000)
    rows: list[Row] = []
    for name in ("list them", "tell all about one"):
        where = f"{name}, of {count}"
        rows += [
            Row.of("automations", f"{where} (ms)", median(times[name]), median(times["open"]), goal=_GOAL),
            Row.of(
                "automations",
                f"{where}, longest hold of the event loop (ms), limit",
                median(held[name]),
                _LONGEST_HOLD,
                goal=1.0,
            ),
        ]
    return rows


class _Reloads:
    """Knows when Home Assistant loads automations anew."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Watch the action that both use, and the event after it."""
        self.done = asyncio.Event()
        self.running = False
        self.moments = 0
        """How often loading began or ended."""
        self.took = 0.0
        self._start = 0.0
        hass.bus.async_listen(EVENT_CALL_SERVICE, self._called)
        hass.bus.async_listen("automation_reloaded", self._loaded)

    def begin(self) -> None:
        self.done.clear()

    @callback
    def _called(self, event: Event[Any]) -> None:
        if (event.data["domain"], event.data["service"]) == ("automation", "reload"):
            self.running, self._start = True, perf_counter()
            self.moments += 1

    @callback
    def _loaded(self, _: Event[Any]) -> None:
        self.running, self.took = False, perf_counter() - self._start
        self.moments += 1
        self.done.set()


class _Heartbeat:
    """Measures for how long the event loop does nothing else."""

    def __init__(self, reloads: _Reloads) -> None:
        """Start with nothing measured."""
        self.longest = 0.0
        self.longest_own = 0.0
        self._reloads = reloads

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._beat())
        await asyncio.sleep(0)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _beat(self) -> None:
        last, seen = perf_counter(), self._reloads.moments
        while True:
            await asyncio.sleep(_BEAT)
            now = perf_counter()
            self.longest = max(self.longest, now - last - _BEAT)
            if not self._reloads.running and seen == self._reloads.moments:
                self.longest_own = max(self.longest_own, now - last - _BEAT)
            last, seen = now, self._reloads.moments
