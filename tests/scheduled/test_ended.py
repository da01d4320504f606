"""Tests that what is ended is ended: every way to end a scheduled task, at every moment of it, stops it before its next step."""

import asyncio
from dataclasses import dataclass
from typing import Any

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, async_fire_time_changed

from custom_components.extended_assist.calls.journal import WISH, Change, async_get_journal
from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.confirmation import approval_requests
from custom_components.extended_assist.panel.manual_calls import async_call_by_hand
from custom_components.extended_assist.panel.scheduled import EndTaskTool
from custom_components.extended_assist.scheduled import execution
from custom_components.extended_assist.scheduled.manager import async_get_scheduled_tasks
from custom_components.extended_assist.scheduled.scheduled_task import ScheduledTask
from custom_components.extended_assist.tools.actions import UndoLastChangeTool
from custom_components.extended_assist.tools.scheduled import PendingTool
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import Context, HomeAssistant, ServiceCall, callback
from homeassistant.helpers.event import async_track_state_change_event

from ..conftest import ASSISTANT, CallTool
from ..helpers.acting import house
from .keeping import LAMP, PARTY, Add, Later, Told, add, home, later, told
from .test_meanwhile import LOCK, UNLOCK, Question, ada, question

__all__ = ["ada", "add", "home", "house", "later", "question", "told"]

LAMP_ON = {"action": "light.turn_on", "target": {"entity_id": LAMP}}
PARTY_ON = {"action": "input_boolean.turn_on", "target": {"entity_id": PARTY}}
MOMENTS: dict[str, dict[str, Any]] = {
    "before": {"actions": [LAMP_ON, PARTY_ON]},
    "in a delay": {"actions": [LAMP_ON, {"delay": {"seconds": 3}}, PARTY_ON]},
    "in an action": {"actions": [LAMP_ON, PARTY_ON]},
    "phone": {"actions": [UNLOCK]},
    "agent": {"ask": "How is the weather?"},
}
WAYS = (
    "tool",
    "panel",
    "list",
    "undo",
    "unload",
    "reload",
    "remove",
    "family",
    "exposure",
    "user removed",
    "user turned off",
)
ANSWERED = ("tool", "undo")
"""Ways of which the answer itself says what had begun."""


class Moment:
    """Brings a task to a moment, and looks at what came of it."""

    def __init__(self, hass: HomeAssistant, add: Add, freezer: FrozenDateTimeFactory, question: Question) -> None:
        """Take the home."""
        self._hass, self._add, self._freezer, self._question = hass, add, freezer, question
        self.acts = asyncio.Event()
        self.may_end = asyncio.Event()
        self.is_asked = asyncio.Event()

    async def async_reach(self, moment: str, user_id: str | None) -> ScheduledTask:
        """Return a task that is at a moment now."""
        hass = self._hass
        if moment == "in an action":
            hass.services.async_register("light", "turn_on", self._async_turn_on)
        task = await self._add(600, say="All is done.", user_id=user_id, **MOMENTS[moment])
        if moment == "before":
            return task
        lit = asyncio.Event()
        async_track_state_change_event(hass, LAMP, callback(lambda _: lit.set()))
        self._freezer.tick(601)
        (await async_get_scheduled_tasks(hass))._fulfilling.async_look()
        reached = {"in an action": self.acts, "phone": self._question.asked, "agent": self.is_asked}
        if moment in reached:
            await reached[moment].wait()
            return task
        await lit.wait()
        for _ in range(50):  # Until the delay has begun; the clock stands still.
            await asyncio.sleep(0)
        return task

    async def _async_turn_on(self, _: ServiceCall) -> None:
        """Turn the lamp on, which takes long."""
        self._hass.states.async_set(LAMP, "on")
        self.acts.set()
        await self.may_end.wait()

    async def async_answer(self, *_: Any) -> str:
        """Answer as an agent that takes long."""
        self.is_asked.set()
        await self.may_end.wait()
        return "It rains."

    async def async_go_on(self) -> None:
        """Let everything that waits go on."""
        self.may_end.set()
        if self._question.asked.is_set():
            self._question.answer.set_result(True)
        for _ in range(50):
            await asyncio.sleep(0)
        self._freezer.tick(5)
        async_fire_time_changed(self._hass)
        await self._hass.async_block_till_done()


@pytest.fixture
async def moment(
    hass: HomeAssistant,
    add: Add,
    freezer: FrozenDateTimeFactory,
    question: Question,
    home: MockConfigEntry,
    ada: str,
    monkeypatch: pytest.MonkeyPatch,
) -> Moment:
    """Return what brings a task to a moment; what needs somebody's word is asked on Ada's phone."""
    hass.config_entries.async_update_entry(home, options={"ask_on_phones": [ada]})
    await hass.async_block_till_done()
    made = Moment(hass, add, freezer, question)
    monkeypatch.setattr(execution, "async_answer", made.async_answer)
    monkeypatch.setattr(approval_requests, "async_can_ask", question._async_can_ask)
    return made


@dataclass
class End:
    """Ends a task in a way, and returns what is answered."""

    hass: HomeAssistant
    home: MockConfigEntry
    call_tool: CallTool
    ada: str

    async def async_end(self, task: ScheduledTask, way: str) -> str:
        """End a task."""
        hass, home = self.hass, self.home
        match way:
            case "unload":
                await hass.config_entries.async_unload(home.entry_id)
            case "reload":
                await hass.config_entries.async_reload(home.entry_id)
            case "remove":
                await hass.config_entries.async_remove(home.entry_id)
            case "family":
                hass.config_entries.async_update_entry(home, options={"families": ["wishes"]})
                await hass.config_entries.async_reload(home.entry_id)
            case "exposure":
                for entity_id in (LAMP, PARTY, LOCK):
                    async_expose_entity(hass, ASSISTANT, entity_id, False)
            case "user removed" | "user turned off":
                user = await hass.auth.async_get_user(self.ada)
                assert user
                if way == "user removed":
                    await hass.auth.async_remove_user(user)
                else:
                    await hass.auth.async_update_user(user, is_active=False)
            case _:
                return await self._async_by_hand(task, way)
        return ""

    async def _async_by_hand(self, task: ScheduledTask, way: str) -> str:
        """End a task as somebody does who asks for it."""
        hass, home = self.hass, self.home
        options = ToolboxOptions.of(home.options, home.entry_id)
        match way:
            case "tool":
                return str(await self.call_tool(PendingTool(options), cancel=task.id))
            case "panel":
                context = Context(user_id=self.ada)
                return str(await async_call_by_hand(hass, EndTaskTool(options), {"cancel": task.id}, context, "en"))
            case "list":
                (entity_id,) = [one for one in hass.states.async_entity_ids("todo") if one.endswith("_for_later")]
                target = {"entity_id": entity_id}
                await hass.services.async_call("todo", "remove_item", {"item": task.id}, target=target, blocking=True)
                return ""
        change = Change(WISH, "", {"id": task.id}, ASSISTANT, device_id="a satellite", entry_id=home.entry_id)
        (await async_get_journal(hass)).add(change)
        return str(await self.call_tool(UndoLastChangeTool()))


@pytest.fixture
def end(hass: HomeAssistant, home: MockConfigEntry, call_tool: CallTool, ada: str) -> End:
    """Return what ends a task."""
    return End(hass, home, call_tool, ada)


@pytest.mark.parametrize("when", MOMENTS)
@pytest.mark.parametrize("way", WAYS)
async def test_ended(
    hass: HomeAssistant, moment: Moment, end: End, later: Later, told: Told, ada: str, way: str, when: str
) -> None:
    """Nothing more is done, and nothing is said to be done; what had begun is told."""
    if (way, when) == ("exposure", "agent"):
        pytest.skip("A question names nothing that could be hidden.")
    task = await moment.async_reach(when, ada if way.startswith("user") else None)
    answer = await end.async_end(task, way)
    await moment.async_go_on()
    if when == "before":
        await later(601)
    is_due_again = way == "reload" and when in ("before", "phone")
    if is_due_again:
        # Nothing of it had begun, so that it is done as agreed once the entry is there again.
        assert hass.states.is_state(LOCK if when == "phone" else PARTY, "unlocked" if when == "phone" else "on")
        assert told.words == ["All is done."]
        return
    assert hass.states.is_state(PARTY, "off")
    assert hass.states.is_state(LOCK, "locked")
    assert "All is done." not in " ".join(told.words)
    has_begun = when in ("in a delay", "in an action")
    if way != "exposure":  # A lamp that is hidden shows its own state again.
        assert hass.states.is_state(LAMP, "on" if has_begun else "off")
    stopped = [words for words in told.words if "I stopped" in words]
    if has_begun and way in ANSWERED:
        assert answer.index("had_begun") < answer.index("cancelled'" if way == "tool" else "undone")
        assert "bed light" in answer.casefold()
        assert stopped == []
    elif has_begun and way in ("panel", "list", "unload", "reload", "family", "user turned off"):
        assert len(stopped) == 1
    if has_begun:
        assert str(task.progress.result).startswith(("stopped: ", "not all done: stopped: "))
    assert task.progress.begun is None
