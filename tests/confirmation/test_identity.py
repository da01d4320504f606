"""A yes, a task and an undo are about a thing, and not about another one that has got its id and its name."""

from collections.abc import Callable
from typing import Any

import pytest

from custom_components.extended_assist.calls.plan import Plan, Step, identity_of
from custom_components.extended_assist.confirmation.recheck import bound
from custom_components.extended_assist.tools.actions import PerformActionTool, UndoLastChangeTool
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er
from tests.conftest import CallTool

LOCK = "lock.front"
FRIENDLY = {"friendly_name": "Front"}


def _replaced(hass: HomeAssistant, platform: str, unique_id: str) -> None:
    """Give the id to another entry."""
    registry = er.async_get(hass)
    registry.async_remove(LOCK)
    hass.states.async_remove(LOCK)
    entry = registry.async_get_or_create("lock", platform, unique_id, suggested_object_id="front")
    assert entry.entity_id == LOCK


def _moved_in(hass: HomeAssistant) -> None:
    """Rename the one away, and another one to its id."""
    registry = er.async_get(hass)
    registry.async_update_entity(LOCK, new_entity_id="lock.was_front")
    hass.states.async_remove(LOCK)
    registry.async_get_or_create("lock", "test", "3", suggested_object_id="other")
    registry.async_update_entity("lock.other", new_entity_id=LOCK)


SWAPS: dict[str, Callable[[HomeAssistant], Any]] = {
    "another unique id": lambda hass: _replaced(hass, "test", "2"),
    "another integration": lambda hass: _replaced(hass, "other", "1"),
    "the unique id in place": lambda hass: er.async_get(hass).async_update_entity(LOCK, new_unique_id="9"),
    "moved in": _moved_in,
    "gone from the registry": lambda hass: er.async_get(hass).async_remove(LOCK),
}
PLANS = {
    "itself": Step("lock.unlock", (LOCK,)),
    "one of two": Step("lock.unlock", ("lock.back", LOCK)),
    "any domain": Step("homeassistant.turn_off", (LOCK,)),
    "in a scene": Step("scene.apply", (), {"entities": {LOCK: "unlocked"}}),
    "in a group": Step("lock.unlock", ("lock.all",)),
    "harmless": Step("lock.lock", (LOCK,)),
}


@pytest.fixture
def locks(hass: HomeAssistant) -> None:
    """Set up two locks, of which the registry has one, and a group of both."""
    er.async_get(hass).async_get_or_create("lock", "test", "1", suggested_object_id="front")
    hass.states.async_set(LOCK, "locked", FRIENDLY)
    hass.states.async_set("lock.back", "locked")
    hass.states.async_set("lock.all", "locked", {"entity_id": [LOCK, "lock.back"]})


@pytest.mark.usefixtures("locks")
@pytest.mark.parametrize("step", PLANS.values(), ids=PLANS)
@pytest.mark.parametrize("swap", SWAPS.values(), ids=SWAPS)
def test_another_thing_is_another_plan(hass: HomeAssistant, step: Step, swap: Callable[[HomeAssistant], Any]) -> None:
    """However the id comes to stand for another entity, what was agreed to is not about that one."""
    plan = Plan((step,), "It")
    before = bound(hass, plan)
    assert bound(hass, plan).fingerprint() == before.fingerprint()
    swap(hass)
    hass.states.async_set(LOCK, "locked", FRIENDLY)
    assert bound(hass, plan).fingerprint() != before.fingerprint()


@pytest.mark.usefixtures("locks")
def test_the_same_thing_is_the_same_plan(hass: HomeAssistant) -> None:
    """Its state, and what other entities become, change nothing; neither does coming back under the same unique id."""
    plan = Plan((Step("lock.unlock", (LOCK,)),), "It")
    before = bound(hass, plan).fingerprint()
    hass.states.async_set(LOCK, "jammed", FRIENDLY)
    er.async_get(hass).async_get_or_create("lock", "test", "7", suggested_object_id="more")
    er.async_get(hass).async_update_entity(LOCK, icon="mdi:lock")
    assert bound(hass, plan).fingerprint() == before
    _replaced(hass, "test", "1")
    assert bound(hass, plan).fingerprint() == before
    assert identity_of(hass, "lock.back") == ""


@pytest.mark.usefixtures("house")
async def test_undo_is_of_the_thing(hass: HomeAssistant, call_tool: CallTool) -> None:
    """What has the id by now is left as it is."""
    lamp = {"entity_id": "light.bed_light"}
    registry = er.async_get(hass)
    await call_tool(PerformActionTool(), action="light.turn_on", target=lamp)
    registry.async_update_entity("light.bed_light", new_unique_id="another")
    data = await call_tool(UndoLastChangeTool())
    assert data["cannot_be_undone"] == {"light.bed_light": "another device has its id by now"}
    assert hass.states.is_state("light.bed_light", "on")
