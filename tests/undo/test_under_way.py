"""Undoing what has only begun: it is stopped or set back, waited for, or said to be under way; never called undone while it moves."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import async_fire_time_changed

from custom_components.extended_assist.calls.journal import ASPECTS, STATES, Change, async_get_journal
from custom_components.extended_assist.tools.actions import PerformActionTool, UndoLastChangeTool
from custom_components.extended_assist.undo.states import BEGUN_TIME
from homeassistant.components.cover import CoverEntityFeature
from homeassistant.core import HomeAssistant, ServiceCall, callback
from homeassistant.helpers import llm
from homeassistant.util import dt as dt_util
from tests.conftest import CallTool, expose

pytestmark = pytest.mark.usefixtures("house")

ALL = 255
POSITION, TILT, STATE = "current_position", "current_tilt_position", "state"
type Reaction = tuple[str, dict[str, Any]] | None

CASES: list[tuple[str, str, Any, Any, tuple[str, dict[str, Any]], dict[str, Reaction], list[str], str]] = [
    # entity, aspect, before, wanted, how it is now, what it does upon which action, the actions, what is told
    ("cover.a", POSITION, 0, 100, ("opening", {POSITION: 0}), {"stop_cover": ("closed", {POSITION: 0})}, ["stop_cover", "set_cover_position"], "undone"),
    ("cover.a", POSITION, 0, 100, ("opening", {POSITION: 0}), {}, ["stop_cover"], "cannot_be_undone"),
    ("cover.a", POSITION, 0, 100, ("closed", {POSITION: 0}), {}, ["set_cover_position"], "under_way"),
    ("cover.a", POSITION, 0, 100, ("opening", {POSITION: 30}), {"set_cover_position": ("closing", {POSITION: 30})}, ["set_cover_position"], "under_way"),
    ("cover.a", POSITION, 0, 100, ("opening", {POSITION: 30}), {"set_cover_position": ("closed", {POSITION: 0})}, ["set_cover_position"], "undone"),
    ("cover.a", POSITION, 0, 100, ("opening", {POSITION: 30}), {}, ["set_cover_position"], "cannot_be_undone"),
    ("cover.a", POSITION, 100, 0, ("closing", {POSITION: 100}), {"stop_cover": ("open", {POSITION: 100})}, ["stop_cover", "set_cover_position"], "undone"),
    ("cover.a", POSITION, 100, 0, ("closing", {POSITION: 98}), {"stop_cover": ("open", {POSITION: 98})}, ["stop_cover", "set_cover_position"], "undone"),
    ("cover.a", STATE, "closed", "open", ("closed", {}), {}, ["close_cover"], "under_way"),
    ("cover.a", STATE, "closed", "open", ("opening", {}), {"close_cover": ("closing", {})}, ["close_cover"], "under_way"),
    ("cover.a", STATE, "closed", "open", ("opening", {}), {}, ["close_cover"], "cannot_be_undone"),
    ("cover.a", TILT, 10, 90, ("opening", {POSITION: 0, TILT: 10}), {"stop_cover_tilt": ("closed", {POSITION: 0, TILT: 10})}, ["stop_cover_tilt", "set_cover_tilt_position"], "undone"),
    ("valve.a", POSITION, 0, 100, ("opening", {POSITION: 0}), {"stop_valve": ("closed", {POSITION: 0})}, ["stop_valve", "set_valve_position"], "undone"),
    ("valve.a", POSITION, 0, 100, ("closed", {POSITION: 0}), {}, ["set_valve_position"], "under_way"),
    ("valve.a", STATE, "closed", "open", ("opening", {}), {"close_valve": ("closed", {})}, ["close_valve"], "undone"),
    ("lock.a", STATE, "locked", ["open", "unlocked"], ("locked", {}), {}, ["lock"], "under_way"),
    ("lock.a", STATE, "locked", ["open", "unlocked"], ("unlocking", {}), {"lock": ("locked", {})}, ["lock"], "undone"),
    ("lock.a", STATE, "locked", ["open", "unlocked"], ("unlocking", {}), {}, ["lock"], "cannot_be_undone"),
    ("lock.a", STATE, "unlocked", "locked", ("locking", {}), {"unlock": ("unlocking", {})}, ["unlock"], "under_way"),
    ("light.a", STATE, "off", "on", ("off", {}), {}, ["turn_off"], "under_way"),
    ("light.a", "brightness", 10, 200, ("on", {"brightness": 90}), {"turn_on": ("on", {"brightness": 10})}, ["turn_on"], "undone"),
    ("light.a", "brightness", 10, 200, ("on", {"brightness": 10}), {}, ["turn_on"], "under_way"),
    ("climate.a", "temperature", 20, 25, ("heat", {"temperature": 20}), {}, ["set_temperature"], "under_way"),
    ("climate.a", STATE, "off", "heat", ("off", {}), {}, ["set_hvac_mode"], "under_way"),
    ("vacuum.a", STATE, "docked", "cleaning", ("docked", {}), {}, ["return_to_base"], "under_way"),
    ("vacuum.a", STATE, "docked", "cleaning", ("cleaning", {}), {"return_to_base": ("returning", {})}, ["return_to_base"], "under_way"),
    ("media_player.a", STATE, "off", ["on"], ("off", {}), {}, ["turn_off"], "under_way"),
    ("media_player.a", STATE, "paused", "playing", ("buffering", {}), {"media_pause": ("paused", {})}, ["media_pause"], "undone"),
    ("switch.a", STATE, "off", "on", ("off", {}), {}, ["turn_off"], "under_way"),
    ("water_heater.a", "temperature", 50, 60, ("eco", {"temperature": 50}), {}, ["set_temperature"], "under_way"),
    ("humidifier.a", "humidity", 40, 60, ("on", {"humidity": 40}), {}, ["set_humidity"], "under_way"),
    ("lawn_mower.a", STATE, "docked", "mowing", ("docked", {}), {}, ["dock"], "under_way"),
]  # fmt: skip


@pytest.fixture
def devices(hass: HomeAssistant) -> Callable[[str, dict[str, Reaction]], list[str]]:
    """Return a function that lets an entity react to actions, and keeps which were called."""

    def react(entity_id: str, reactions: dict[str, Reaction]) -> list[str]:
        called: list[str] = []

        @callback
        def handle(call: ServiceCall) -> None:
            called.append(call.service)
            if reaction := reactions.get(call.service):
                now = hass.states.get(entity_id)
                assert now
                hass.states.async_set(entity_id, reaction[0], {**now.attributes, **reaction[1]})

        domain = entity_id.split(".", maxsplit=1)[0]
        names = {*hass.services.async_services().get(domain, {})} | set(SERVICES.get(domain, ()))
        for name in names:
            hass.services.async_register(domain, name, handle)
        return called

    return react


SERVICES = {
    "valve": ("stop_valve", "set_valve_position", "close_valve", "open_valve"),
    "vacuum": ("return_to_base", "start"),
    "water_heater": ("set_temperature",),
    "humidifier": ("set_humidity",),
    "lawn_mower": ("dock",),
}


async def begun(
    hass: HomeAssistant, context: llm.LLMContext, entity_id: str, aspect: str, before: Any, wanted: Any, ago: float = 0
) -> None:
    """Store a change whose device had not moved when the call was over."""
    kept = {
        "before": {aspect: before},
        "after": {aspect: before},
        "wanted": {aspect: wanted if isinstance(wanted, list) else [wanted]},
    }
    if aspect == "temperature":
        kept |= {key: dict.fromkeys(("target_temp_low", "target_temp_high")) | kept[key] for key in ("before", "after")}
    change = Change(ASPECTS, "something", {STATES: {entity_id: {"aspects": {aspect: kept}}}})
    change.assistant, change.user_id = context.assistant, context.context.user_id if context.context else None
    change.device_id = context.device_id
    change.time = dt_util.utcnow().timestamp() - ago
    (await async_get_journal(hass)).add(change)


@pytest.mark.parametrize(("entity_id", "aspect", "before", "wanted", "now", "reactions", "actions", "key"), CASES)
async def test_what_has_begun(
    hass: HomeAssistant,
    call_tool: CallTool,
    llm_context: llm.LLMContext,
    devices: Callable[..., list[str]],
    entity_id: str,
    aspect: str,
    before: Any,
    wanted: Any,
    now: tuple[str, dict[str, Any]],
    reactions: dict[str, Reaction],
    actions: list[str],
    key: str,
) -> None:
    """Each kind of entity is told to go back, and only one that stands still where it was is called undone."""
    hass.states.async_set(entity_id, now[0], {"supported_features": ALL, **now[1]})
    expose(hass, entity_id)
    called = devices(entity_id, reactions)
    await begun(hass, llm_context, entity_id, aspect, before, wanted)
    data = await call_tool(UndoLastChangeTool())
    assert called == actions, data
    assert [one for one in ("undone", "under_way", "cannot_be_undone") if entity_id in data.get(one, {})] == [key], data


async def test_what_cannot_be_stopped_is_not_told_to(
    hass: HomeAssistant, call_tool: CallTool, llm_context: llm.LLMContext, devices: Callable[..., list[str]]
) -> None:
    """A cover without that ability is told to go where it was, and what it does then is told."""
    features = int(CoverEntityFeature.OPEN | CoverEntityFeature.CLOSE)
    hass.states.async_set("cover.a", "opening", {"supported_features": features, POSITION: 0})
    expose(hass, "cover.a")
    called = devices("cover.a", {"close_cover": ("closed", {})})
    await begun(hass, llm_context, "cover.a", POSITION, 0, 100)
    data = await call_tool(UndoLastChangeTool())
    assert called == ["close_cover"]
    assert data["undone"] == {"cover.a": "opening → closed"}


async def test_what_never_came_is_not_waited_for_for_good(
    hass: HomeAssistant, call_tool: CallTool, llm_context: llm.LLMContext, devices: Callable[..., list[str]]
) -> None:
    """Minutes later, a lock that was never unlocked is as before."""
    hass.states.async_set("lock.a", "locked", {})
    expose(hass, "lock.a")
    called = devices("lock.a", {})
    await begun(hass, llm_context, "lock.a", STATE, "locked", "unlocked", ago=BEGUN_TIME + 1)
    data = await call_tool(UndoLastChangeTool())
    assert called == []
    assert data["undone"] == {"lock.a": "locked, as before"}


async def test_open_and_undo_at_once(hass: HomeAssistant, call_tool: CallTool) -> None:
    """A window that was undone before its position changed is closed fifteen seconds later."""
    target = {"entity_id": "cover.kitchen_window"}
    hall = {"entity_id": "cover.hall_window"}
    for where, action in ((hall, "close_cover"), (hall, "open_cover")):
        start = hass.states.get(where["entity_id"])
        assert start
        await call_tool(PerformActionTool(), action=f"cover.{action}", target=where)
        data = await call_tool(UndoLastChangeTool())
        assert not hass.states.get(where["entity_id"]).state.endswith("ing"), data
        for second in range(1, 16):
            async_fire_time_changed(hass, dt_util.utcnow() + timedelta(seconds=second))
            await hass.async_block_till_done()
        now = hass.states.get(where["entity_id"])
        assert now
        assert (now.state, now.attributes[POSITION]) == (start.state, start.attributes[POSITION])
        assert data["undone"].keys() == {where["entity_id"]}
    assert target
