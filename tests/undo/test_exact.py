"""Tests that undo brings back exactly what a call did, and says what it could not."""

import asyncio
from typing import Any
from unittest.mock import patch

import pytest

from custom_components.extended_assist.calls.caller import Caller
from custom_components.extended_assist.calls.journal import Change, async_get_journal
from custom_components.extended_assist.confirmation.untrusted_text import MARK
from custom_components.extended_assist.tools.actions import PerformActionTool, UndoLastChangeTool
from homeassistant.const import EVENT_CALL_SERVICE
from homeassistant.core import Event, HomeAssistant, ServiceCall, callback
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import llm
from tests.conftest import ASSISTANT, CallTool
from tests.helpers.slow import NEVER, BlindCover, SlowCover, SlowLock, add

pytestmark = pytest.mark.usefixtures("house")

BED = {"entity_id": "light.bed_light"}
KITCHEN = {"entity_id": "media_player.kitchen"}
HVAC = {"entity_id": "climate.hvac"}


@pytest.fixture
def called(hass: HomeAssistant) -> list[str]:
    """Return the actions that are called from now on, without those of Home Assistant's own groups."""
    names: list[str] = []

    @callback
    def note(event: Event[Any]) -> None:
        names.append(f"{event.data['domain']}.{event.data['service']}")

    hass.bus.async_listen(EVENT_CALL_SERVICE, note)
    return names


def value(hass: HomeAssistant, entity_id: str, name: str = "state") -> Any:
    """Return a state, or an attribute."""
    state = hass.states.get(entity_id)
    assert state
    return state.state if name == "state" else state.attributes.get(name)


async def service(hass: HomeAssistant, action: str, **data: Any) -> None:
    """Do something as somebody else."""
    await hass.services.async_call(*action.split("."), data, blocking=True)


async def test_later_updates_are_not_of_the_next_call(hass: HomeAssistant, call_tool: CallTool) -> None:
    """A window that still moves while a lamp is turned on does not close when the lamp is undone."""
    cover = SlowCover("cover.attic", 0.1)
    await add(hass, cover)
    await call_tool(PerformActionTool(), action="cover.open_cover", target={"entity_id": "cover.attic"})
    tool = call_tool(PerformActionTool(), action="light.turn_on", target=BED)
    await asyncio.gather(tool, asyncio.sleep(0.2))
    assert value(hass, "cover.attic") == "open"
    data = await call_tool(UndoLastChangeTool())
    assert data["undone"].keys() == {"light.bed_light"}
    assert value(hass, "cover.attic") == "open"
    assert (await call_tool(UndoLastChangeTool()))["under_way"] == {"cover.attic": "open → closing"}
    await cover.async_remove()


@pytest.mark.parametrize(
    ("action", "target", "data", "calls"),
    [
        ("media_player.volume_set", KITCHEN, {"volume_level": 0.2}, ["media_player.volume_set"]),
        ("media_player.shuffle_set", KITCHEN, {"shuffle": True}, ["media_player.shuffle_set"]),
        ("media_player.repeat_set", KITCHEN, {"repeat": "all"}, ["media_player.repeat_set"]),
        ("climate.set_temperature", HVAC, {"temperature": 18}, ["climate.set_temperature"]),
        ("light.turn_on", {"entity_id": "light.ceiling_lights"}, {"brightness": 7}, ["light.turn_on"]),
        ("light.turn_on", BED, {"brightness": 7}, ["light.turn_off"]),
    ],
)
async def test_only_the_opposite(
    hass: HomeAssistant,
    call_tool: CallTool,
    called: list[str],
    action: str,
    target: dict[str, str],
    data: dict[str, Any],
    calls: list[str],
) -> None:
    """Undo calls the one action that sets back what was set, and all else stays."""
    entity_id = target["entity_id"]
    before = hass.states.get(entity_id)
    assert before
    await call_tool(PerformActionTool(), action=action, target=target, data=data)
    changed = hass.states.get(entity_id)
    called.clear()
    undone = await call_tool(UndoLastChangeTool())
    await hass.async_block_till_done()
    assert called == calls
    after = hass.states.get(entity_id)
    assert changed != after
    assert after
    assert (after.state, dict(after.attributes)) == (before.state, dict(before.attributes))
    assert undone["undone"].keys() == {entity_id}


async def test_what_was_so_is_not_recorded(hass: HomeAssistant, call_tool: CallTool) -> None:
    """A light that was on, and was switched off by somebody, does not go on."""
    await service(hass, "light.turn_on", **BED)
    await call_tool(PerformActionTool(), action="light.turn_on", target=BED)
    await service(hass, "light.turn_off", **BED)
    assert "changed nothing" in (await call_tool(UndoLastChangeTool(), error=True))["error"]
    assert value(hass, "light.bed_light") == "off"


async def test_changed_since(hass: HomeAssistant, call_tool: CallTool, called: list[str]) -> None:
    """What somebody has changed since stays theirs; what they did not touch comes back."""
    await call_tool(PerformActionTool(), action="climate.set_temperature", target=HVAC, data={"temperature": 18})
    await call_tool(PerformActionTool(), action="climate.set_humidity", target=HVAC, data={"humidity": 50})
    await service(hass, "climate.set_humidity", **HVAC, humidity=40)
    called.clear()
    data = await call_tool(UndoLastChangeTool())
    assert data["changed_since"] == {"climate.hvac": "humidity: left as it is now"}
    assert "undone" not in data
    assert called == []
    assert (await call_tool(UndoLastChangeTool()))["undone"]["climate.hvac"].startswith("cool, temperature 21")
    assert (value(hass, "climate.hvac", "humidity"), value(hass, "climate.hvac", "temperature")) == (40, 21)
    # A lamp that was turned on and then dimmed by somebody is theirs.
    await call_tool(PerformActionTool(), action="light.turn_on", target=BED, data={"brightness": 200})
    await service(hass, "light.turn_on", **BED, brightness=20)
    assert "undone" not in await call_tool(UndoLastChangeTool())
    assert value(hass, "light.bed_light", "brightness") == 20


async def test_a_failed_undo(hass: HomeAssistant, call_tool: CallTool) -> None:
    """It can be tried again, and never takes back something older instead; not when two are tried at once either."""
    await call_tool(PerformActionTool(), action="input_boolean.turn_on", target={"entity_id": "input_boolean.party"})
    await call_tool(PerformActionTool(), action="light.turn_on", target=BED)
    turn_off = hass.services.async_services_internal()["light"]["turn_off"]

    async def refuse(_: ServiceCall) -> None:
        raise HomeAssistantError("The bulb is loose")

    hass.services.async_register("light", "turn_off", refuse)
    for data in await asyncio.gather(*(call_tool(UndoLastChangeTool()) for _ in range(2))):
        assert data["cannot_be_undone"] == {"light.bed_light": "its device failed: The bulb is loose"}
        assert MARK in data
        assert "try it once more" in data["again"]
    assert value(hass, "input_boolean.party") == "on"
    hass.services.async_services_internal()["light"]["turn_off"] = turn_off
    assert (await call_tool(UndoLastChangeTool()))["undone"].keys() == {"light.bed_light"}
    assert (await call_tool(UndoLastChangeTool()))["undone"].keys() == {"input_boolean.party"}


async def test_partly(hass: HomeAssistant, call_tool: CallTool, called: list[str]) -> None:
    """What came back is not tried again, only the rest."""
    lock = SlowLock("lock.shed", 0)
    await add(hass, lock)
    target = {"entity_id": ["lock.shed", "lock.front_door"]}
    await call_tool(PerformActionTool(), action="lock.unlock", target=target)
    await asyncio.sleep(0.05)
    lock.seconds = NEVER
    data = await call_tool(UndoLastChangeTool())
    assert data["undone"].keys() == {"lock.front_door"}
    assert data["cannot_be_undone"]["lock.shed"].startswith("it did not follow within")
    lock.seconds = 0
    called.clear()
    data = await call_tool(UndoLastChangeTool())
    assert data["undone"] == {"lock.shed": "unlocked → locked"}
    assert called == ["lock.lock"]
    await lock.async_remove()


async def test_not_verified(hass: HomeAssistant, call_tool: CallTool) -> None:
    """What nobody hears back from is not called undone."""
    await add(hass, BlindCover("cover.attic", 0))
    await call_tool(PerformActionTool(), action="cover.open_cover", target={"entity_id": "cover.attic"})
    data = await call_tool(UndoLastChangeTool())
    assert data["cannot_be_known"] == {"cover.attic": "open → closed, is_closed True; assumed, not seen"}
    assert "undone" not in data


async def test_a_slow_device_is_undone_too(hass: HomeAssistant, call_tool: CallTool) -> None:
    """What followed only after the answer was given is known to be of the call."""
    lock = SlowLock("lock.shed", 0.1)
    await add(hass, lock)
    data = await call_tool(PerformActionTool(), action="lock.unlock", target={"entity_id": "lock.shed"})
    assert data["outcome"] == {"not_reached": {"Shed": "locked"}}
    await asyncio.sleep(0.15)
    lock.seconds = 0
    assert (await call_tool(UndoLastChangeTool()))["undone"] == {"lock.shed": "unlocked → locked"}
    await lock.async_remove()


async def test_what_an_automation_answers_with_is_not_of_the_call(hass: HomeAssistant, call_tool: CallTool) -> None:
    """What the user's own automation does because something has changed is not recorded."""
    follow = {
        "id": "follow",
        "alias": "Follow",
        "triggers": [{"trigger": "state", "entity_id": "light.bed_light"}],
        "actions": [{"action": "input_number.increment", "target": {"entity_id": "input_number.level"}}],
    }
    with patch("homeassistant.config.load_yaml_config_file", return_value={"automation": [follow]}):
        await hass.services.async_call("automation", "reload", blocking=True)
    await call_tool(PerformActionTool(), action="light.turn_on", target=BED)
    await hass.async_block_till_done()
    assert value(hass, "input_number.level") == "1.0"
    (change,) = (await async_get_journal(hass)).changes
    assert change.details["states"].keys() == {"light.bed_light"}


@pytest.mark.parametrize("same_conversation", [True, False])
async def test_nobody_at_no_device(hass: HomeAssistant, llm_context: llm.LLMContext, same_conversation: bool) -> None:
    """Two that nobody knows, at no device, are nobody to each other, unless they are in the same conversation."""
    journal = await async_get_journal(hass)
    journal.add(Change("aspects", "light.turn_on", {"states": {}}, assistant=ASSISTANT, conversation_id="one"))
    llm_context.device_id = None
    other = Caller(llm_context, conversation_id="one" if same_conversation else "two")
    assert (journal.last(other) is not None) is same_conversation
    assert journal.last(Caller(llm_context)) is None


async def test_of_the_first_release(hass: HomeAssistant, call_tool: CallTool, called: list[str]) -> None:
    """What 1.0 stored is undone with care: what is as it was then stays, and that more is not known is said."""
    state = hass.states.get("media_player.kitchen")
    assert state
    kept = {"state": state.state, "attributes": {**state.attributes, "volume_level": 0.5}}
    details = {"states": {"media_player.kitchen": kept}, "more": 0}
    change = Change("states", "media_player.volume_set", details, assistant=ASSISTANT, device_id="a satellite")
    (await async_get_journal(hass)).add(change)
    data = await call_tool(UndoLastChangeTool())
    assert called == ["media_player.volume_set"]
    assert value(hass, "media_player.kitchen", "volume_level") == 0.5
    assert data["undone"].keys() == {"media_player.kitchen"}
    assert "before the update" in data["careful"]
