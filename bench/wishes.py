"""What stands for later beside automations with the same triggers: processor, memory, and setting one up."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
import gc
from itertools import cycle
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
import tracemalloc
from typing import Any

from homeassistant.auth.const import GROUP_ID_ADMIN
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import llm
from homeassistant.util import dt as dt_util
from homeassistant.util.yaml import dump

from .automations import Reloads, open_editor
from .hass import add_entry, running_home_assistant
from .table import Row
from .warp import Warp

_STANDING = 200
"""The most that can stand."""
_CHANGES = 2_000
_DAY = timedelta(days=1)
_START = 120.0
"""Seconds after a start in which some things are looked at once."""
_REST = 15.0
"""Seconds in which everything that the changes set off comes to its end."""
_TURNS = 7
_WARM_UP = 1
_GOAL = 1.0
_OF_EACH = 50
"""Doors and meters in the home, and what waits for each kind of thing."""
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_CONFIGURATION = f"""
homeassistant:
conversation:
config:
automation: !include automations.yaml
input_boolean: {{away: , lamp: , {", ".join(f"door_{number}: " for number in range(_OF_EACH))}}}
input_number: {{{", ".join(f"power_{number}: {{min: 0, max: 1000}}" for number in range(_OF_EACH))}}}
"""
_ACTION = {"action": "input_boolean.turn_on", "target": {"entity_id": "input_boolean.lamp"}}
_AWAY = {"condition": "state", "entity_id": "input_boolean.away", "state": "on"}

type _Call = Callable[[str, dict[str, Any]], Awaitable[Any]]


async def run() -> list[Row]:
    """Measure turn by turn, what stands in our hands and in Home Assistant's in alternation."""
    async with running_home_assistant(_CONFIGURATION) as hass:
        await hass.config.async_set_time_zone("Europe/Berlin")
        for entity_id in hass.states.async_entity_ids():
            async_expose_entity(hass, "conversation", entity_id, True)
        entry_id = await add_entry(hass, "extended_assist", {"next_step_id": "tools"}, {"name": "Tools"})
        home = _Home(hass, entry_id, await _tools(hass, entry_id))
        rows = await home.measure_memory()
        rows += await home.measure_changes("none of which sets anything off", _quiet_changes())
        rows += await home.measure_changes("a fifth of which meet a condition that does not hold", _refused_changes())
        rows += await home.measure_day()
        return rows + await home.measure_setting_up()


def _tomorrow() -> datetime:
    """Return the day that is measured."""
    return dt_util.now() + _DAY


def _time_of(number: int) -> str:
    return f"{7 + number % 12:02}:{number % 60:02}"


def _task(number: int) -> dict[str, Any]:
    """Return what is asked for: a time, a rule, or something that happens; nothing is due tomorrow."""
    kind, one = divmod(number, _OF_EACH)
    day = _tomorrow() + _DAY * (1 + one % 5)
    if kind == 0:
        return {"when": {"at": f"{day:%Y-%m-%d} {_time_of(one)}"}, "action": _ACTION}
    if kind == 1:
        rule = f"FREQ=WEEKLY;BYDAY={_WEEKDAYS[day.weekday()][:2].upper()}"
        return {"when": {"repeat": rule, "at": _time_of(one)}, "action": _ACTION}
    task: dict[str, Any] = {"when": {"triggers": [_trigger(number)]}, "action": _ACTION}
    return task | ({"while": [_AWAY]} if _is_conditional(one) else {})


def _automation(number: int) -> dict[str, Any]:
    """Return the automation that does the same."""
    kind, one = divmod(number, _OF_EACH)
    day = _tomorrow() + _DAY * (1 + one % 5)
    triggers: list[dict[str, Any]] = [{"trigger": "time", "at": f"{_time_of(one)}:00"}]
    conditions: list[dict[str, Any]] = []
    if kind == 0:
        template = f"{{{{ now().date() | string == '{day:%Y-%m-%d}' }}}}"
        conditions = [{"condition": "template", "value_template": template}]
    elif kind == 1:
        triggers[0]["weekday"] = [_WEEKDAYS[day.weekday()]]
    else:
        triggers = [_trigger(number)]
        conditions = [_AWAY] if _is_conditional(one) else []
    return {
        "id": str(1_700_000_000_000 + number),
        "alias": f"Automation {number}",
        "triggers": triggers,
        "conditions": conditions,
        "actions": [_ACTION],
        "mode": "single",
    }


def _trigger(number: int) -> dict[str, Any]:
    """Return a trigger of a state, or of a number for a while."""
    kind, one = divmod(number, _OF_EACH)
    if kind == 2:
        return {"trigger": "state", "entity_id": f"input_boolean.door_{one}", "to": "on"}
    above = {"trigger": "numeric_state", "entity_id": f"input_number.power_{one}", "above": 900}
    return above | {"for": {"minutes": 5}}


def _is_conditional(one: int) -> bool:
    return one % 5 == 0


type _Change = tuple[str, str]


def _quiet_changes() -> list[_Change]:
    """Return changes of everything that something waits for, as they come in a home all day; none is waited for."""
    doors = [("input_boolean.door_{}", state) for state in ("unavailable", "off")]
    power = [("input_number.power_{}", state) for state in ("300", "320", "950", "310")]
    return _spread([*doors, *power])


def _refused_changes() -> list[_Change]:
    """Return changes of which a fifth would set something off, if only its condition held."""
    doors = [
        (f"input_boolean.door_{one}", state)
        for one in range(_OF_EACH)
        if _is_conditional(one)
        for state in ("on", "off")
    ]
    quiet = _quiet_changes()
    return [
        doors[index // 5 * 2 % len(doors) + index % 5] if index % 5 < 2 else quiet[index] for index in range(_CHANGES)
    ]


def _spread(steps: list[_Change]) -> list[_Change]:
    """Return the steps of each entity in their order, entity by entity, again and again."""
    one_round = [(entity_id.format(one), state) for entity_id, state in steps for one in range(_OF_EACH)]
    return [one_round[index % len(one_round)] for index in range(_CHANGES)]


async def _tools(hass: HomeAssistant, entry_id: str) -> _Call:
    """Return a function that calls our tools, as administrators who are not asked: in turn, since each has room for fifty."""
    # After Home Assistant has put its folder of custom components in place.
    from custom_components.extended_assist.calls.options import ToolboxOptions  # noqa: PLC0415
    from custom_components.extended_assist.calls.policy import Policy  # noqa: PLC0415
    from custom_components.extended_assist.tools.scheduled import DoLaterTool, PendingTool  # noqa: PLC0415

    users = [await hass.auth.async_create_user(f"bench {number}", group_ids=[GROUP_ID_ADMIN]) for number in range(5)]
    turns = cycle(users)
    options = ToolboxOptions(entry_id=entry_id, policy=Policy(ask_first=frozenset(), allow_without_chat=True))
    tools = {tool.name.partition("__")[2]: tool for tool in (DoLaterTool(options), PendingTool(options))}

    async def call(tool: str, arguments: dict[str, Any]) -> Any:
        context = llm.LLMContext("bench", Context(user_id=next(turns).id), "en", "conversation", None)
        result = await tools[tool].async_call(hass, llm.ToolInput(tools[tool].name, arguments), context)
        assert not result.error, result.data
        return result.data

    return call


class _Home:
    """A home in which either tasks stand or automations are on."""

    def __init__(self, hass: HomeAssistant, entry_id: str, call: _Call) -> None:
        """Take Home Assistant, and what calls our tools."""
        self._hass = hass
        self._entry_id = entry_id
        self._call = call
        self._path = Path(hass.config.path("automations.yaml"))

    async def measure_memory(self) -> list[Row]:
        """Compare what is held while they stand; what is loaded with the first of them is there already."""
        sizes: dict[str, float] = {}
        await self._stand(0, 4)
        await self._automate(0, 4)
        for name, begin in (("ours", self._stand), ("theirs", self._automate)):
            tracemalloc.start()
            before = _held()
            await begin(4, _STANDING)
            sizes[name] = (_held() - before) / 1000
            tracemalloc.stop()
        return [Row.of("wishes", f"{_STANDING}, memory (kB)", sizes["ours"], sizes["theirs"], goal=_GOAL)]

    async def measure_changes(self, case: str, changes: list[_Change]) -> list[Row]:
        """Compare what state changes cost while they stand."""

        async def change() -> float:
            for index, (entity_id, state) in enumerate(changes):
                self._hass.states.async_set(entity_id, state)
                if index % 20 == 0:
                    await self._hass.async_block_till_done()
            await self._hass.async_block_till_done()
            # What came too fast is taken up after a rest.
            with Warp(self._hass.loop):
                await asyncio.sleep(_REST)
            await self._hass.async_block_till_done()
            return 0.0

        return await self._alternate(f"{_CHANGES} state changes, {case}", change)

    async def measure_day(self) -> list[Row]:
        """Compare what a day costs on which nothing is due."""

        async def go_by() -> float:
            start = process_time()
            with Warp(self._hass.loop):
                # What is looked at once after a start is no part of a day.
                await asyncio.sleep(_START)
                once = process_time() - start
                await asyncio.sleep(_DAY.total_seconds())
            return once

        return await self._alternate("a day on which nothing is due", go_by)

    async def measure_setting_up(self) -> list[Row]:
        """Compare setting one up, until it stands, with saving one in Home Assistant's editor, until it is loaded."""
        await self._switch("ours")
        reloads = Reloads(self._hass)
        user = await self._hass.auth.async_create_user("editor", group_ids=[GROUP_ID_ADMIN])
        times: dict[str, list[float]] = {"ours": [], "theirs": []}
        await self._call("pending", {"cancel": (await self._call("pending", {}))["pending"][-1]["id"]})
        async with open_editor(self._hass, user) as editor:
            for turn in range(2 * (_TURNS + _WARM_UP)):
                name = ("ours", "theirs")[turn % 2]
                number = _STANDING - 1 - turn // 2 * 7
                gc.collect()
                reloads.done.clear()
                start = perf_counter()
                if name == "ours":
                    made = await self._call("do_later", _task(number))
                else:
                    await editor.save(_automation(number) | {"id": str(turn)})
                    await reloads.done.wait()
                times[name].append((perf_counter() - start) * 1000)
                await self._hass.async_block_till_done()
                if name == "ours":
                    await self._call("pending", {"cancel": made["id"]})
        ours, theirs = (median(each[_WARM_UP:]) for each in times.values())
        return [Row.of("wishes", f"set one up beside {_STANDING - 1} (ms)", ours, theirs, goal=_GOAL)]

    async def _alternate(self, case: str, work: Callable[[], Awaitable[float]]) -> list[Row]:
        """Compare the processor time of work, less the seconds that it says do not count, while ours stand or theirs are on."""
        times: dict[str, list[float]] = {"ours": [], "theirs": []}
        for turn in range(2 * (_TURNS + _WARM_UP)):
            # Who comes first changes from turn to turn.
            name = ("ours", "theirs")[(turn + turn // 2) % 2]
            await self._switch(name)
            gc.collect()
            start = process_time()
            uncounted = await work()
            times[name].append((process_time() - start - uncounted) * 1000)
        ours, theirs = (median(each[_WARM_UP:]) for each in times.values())
        return [Row.of("wishes", f"{case}, processor (ms)", ours, theirs, goal=_GOAL)]

    async def _switch(self, name: str) -> None:
        """Let ours stand, or theirs, as after a start: what was left of the clock that ran ahead is gone."""
        for number in range(_OF_EACH):
            self._hass.states.async_set(f"input_boolean.door_{number}", "off")
            self._hass.states.async_set(f"input_number.power_{number}", "310")
        automations = {"entity_id": self._hass.states.async_entity_ids("automation")}
        entries = self._hass.config_entries
        await self._hass.services.async_call("automation", "turn_off", automations, blocking=True)
        await entries.async_unload(self._entry_id)
        if name == "ours":
            await entries.async_setup(self._entry_id)
        else:
            await self._hass.services.async_call("automation", "turn_on", automations, blocking=True)
        await self._hass.async_block_till_done()

    async def _stand(self, first: int, end: int) -> None:
        """Ask for those of some numbers."""
        for number in range(first, end):
            await self._call("do_later", _task(number))
        await self._hass.async_block_till_done()

    async def _automate(self, _first: int, end: int) -> None:
        """Let Home Assistant load automations up to a number."""
        self._path.write_text(dump([_automation(number) for number in range(end)]))
        await self._hass.services.async_call("automation", "reload", blocking=True)
        await self._hass.async_block_till_done()


def _held() -> int:
    """Return the bytes in use."""
    gc.collect()
    return tracemalloc.get_traced_memory()[0]
