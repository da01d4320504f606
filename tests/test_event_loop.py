"""How long the event loop is held by what looks at many entities: compared within one run, or counted."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import batched
from time import thread_time
from typing import Any
from unittest.mock import patch

import pytest

from custom_components.extended_assist.api import instance as api
from custom_components.extended_assist.automations import describe_values
from custom_components.extended_assist.calls import change_recorder
from custom_components.extended_assist.calls.desired_states import status_of
from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.const import DOMAIN
from custom_components.extended_assist.scheduled.manager import async_get_scheduled_tasks
from custom_components.extended_assist.scheduled.scheduled_task import When
from custom_components.extended_assist.tools.actions import PerformActionTool
from custom_components.extended_assist.tools.scheduled import PendingTool
from homeassistant.auth.models import User
from homeassistant.core import Context, HomeAssistant, ServiceCall
from homeassistant.helpers import area_registry as ar, entity_registry as er, llm
from tests.conftest import ASSISTANT, expose
from tests.panel.conftest import As, admin, as_user
from tests.scheduled.shown import async_set_up_home, make_task

__all__ = ["admin", "as_user"]

pytestmark = pytest.mark.usefixtures("quiet", "assist")

LAMPS = [f"light.lamp_{number}" for number in range(900)]


class Steps:
    """The time that each step of the loop took, of the thread's own."""

    def __init__(self) -> None:
        """Begin with none."""
        self.taken: list[float] = []

    @contextmanager
    def measured(self) -> Iterator[None]:
        """Measure the steps that begin meanwhile."""
        run = asyncio.Handle._run

        def timed(handle: Any) -> None:
            begun = thread_time()
            run(handle)
            self.taken.append(thread_time() - begun)

        with patch.object(asyncio.Handle, "_run", timed):
            yield


async def add_lamps(hass: HomeAssistant) -> str:
    """Add lamps that switch a few at a time, as those of a hub do, and return the id of their area."""
    area = ar.async_get(hass).async_create("Hall")
    registry = er.async_get(hass)
    for entity_id in LAMPS:
        registry.async_get_or_create("light", "test", entity_id, suggested_object_id=entity_id.partition(".")[2])
        registry.async_update_entity(entity_id, area_id=area.id)
        hass.states.async_set(entity_id, "off", {"friendly_name": entity_id})
    expose(hass, *LAMPS)

    async def switch(call: ServiceCall) -> None:
        for number, entity_id in enumerate(call.data["entity_id"]):
            state = call.service.removeprefix("turn_")
            hass.states.async_set(entity_id, state, {"friendly_name": entity_id}, context=call.context)
            if number % 20 == 0:
                await asyncio.sleep(0)

    hass.services.async_register("light", "turn_on", switch)
    hass.services.async_register("light", "turn_off", switch)
    await hass.async_block_till_done()
    return area.id


async def test_one_action_on_many(hass: HomeAssistant) -> None:
    """The checks, the call and what is said of it are steps of their own: none is a third of the whole."""
    entry = await async_set_up_home(hass, {"families": ["actions"]})
    tool = PerformActionTool(ToolboxOptions.of(entry.options, entry.entry_id))
    target = {"area_id": await add_lamps(hass)}

    async def act(service: str) -> None:
        context = llm.LLMContext(DOMAIN, Context(), "en", ASSISTANT, None)
        arguments = {"action": f"light.{service}", "target": target}
        result = await tool.async_call(hass, llm.ToolInput(tool.name, arguments), context)
        assert result.data["outcome"] == {"reached": len(LAMPS)}

    await act("turn_on")  # What is looked at once is looked at.
    shares = []
    for service in ("turn_off", "turn_on", "turn_off"):
        steps = Steps()
        with steps.measured():
            await asyncio.create_task(act(service))
        shares.append(max(steps.taken) / sum(steps.taken))
    assert min(shares) < 1 / 3, shares


async def test_names_are_counted_once(hass: HomeAssistant, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many tasks are listed, the names of all entities are looked through once."""
    entry = await async_set_up_home(hass)
    await add_lamps(hass)
    keeper, counted = await async_get_scheduled_tasks(hass), 0

    def name_of(entity: Any) -> str:
        nonlocal counted
        counted += 1
        return named(entity)

    named = describe_values._named
    monkeypatch.setattr(describe_values, "_named", name_of)
    for lamp, other in batched(LAMPS[:40], 2, strict=True):
        when = When(triggers=[{"trigger": "state", "entity_id": lamp, "to": "on"}])
        condition = {"condition": "state", "entity_id": other, "state": "off"}
        await keeper.async_add(make_task(entry, "Hall", when=when, conditions=[condition]))
    tool = PendingTool(ToolboxOptions.of(entry.options, entry.entry_id))
    context = llm.LLMContext(DOMAIN, Context(), "en", ASSISTANT, None)
    result = await tool.async_call(hass, llm.ToolInput(tool.name, {}), context)
    assert not result.error, result.data
    assert counted < len(LAMPS) + 200


async def test_each_status_is_found_once(hass: HomeAssistant, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many ask for the status of an entity, it is found once for each of its states."""
    entry = await async_set_up_home(hass, {"families": ["actions"]})
    await add_lamps(hass)
    found: list[str] = []

    def counted(before: Any, *more: Any) -> Any:
        found.append(before.entity_id)
        return status_of(before, *more)

    monkeypatch.setattr(change_recorder, "status_of", counted)
    tool = PerformActionTool(ToolboxOptions.of(entry.options, entry.entry_id))
    arguments = {"action": "light.turn_on", "target": {"entity_id": LAMPS}}
    context = llm.LLMContext(DOMAIN, Context(), "en", ASSISTANT, None)
    result = await tool.async_call(hass, llm.ToolInput(tool.name, arguments), context)
    assert not result.error, result.data
    assert set(found) == set(LAMPS)
    assert len(found) == len(LAMPS)


async def test_tools_are_shown_without_the_home(
    hass: HomeAssistant, admin: User, as_user: As, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page of tools says nothing of the home, so our prompt, which looks at all of it, is not made."""
    await async_set_up_home(hass)
    monkeypatch.setattr(api, "async_api_prompt", None)
    send = await as_user(admin)
    found = await send("tools/list")
    assert {"extended_assist__perform_action", "extended_assist__do_later"} <= {tool["name"] for tool in found}
