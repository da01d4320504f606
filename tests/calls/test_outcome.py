"""Tests of what is told of the entities that were acted on, with the timing of real devices."""

from time import monotonic
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.extended_assist.api.instance import api_id
from custom_components.extended_assist.calls import change_recorder
from custom_components.extended_assist.tools.actions import PerformActionTool
from homeassistant.components.cover import CoverDeviceClass
from homeassistant.core import HomeAssistant, ServiceCall
from homeassistant.helpers import llm
from tests.conftest import CallTool, expose
from tests.helpers.slow import NEVER, BlindCover, SlowCover, SlowLock, add

pytestmark = pytest.mark.usefixtures("house")


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch, house: None) -> None:
    """Wait as long as in a real home."""
    monkeypatch.setattr(change_recorder, "SETTLE_TIME", 2.0)


async def assist(hass: HomeAssistant, entry: MockConfigEntry, context: llm.LLMContext, name: str, intent: str) -> Any:
    """Return the result of a tool of Assist's own."""
    hass.config_entries.async_update_entry(entry, options={"allow_without_chat": True})
    await hass.async_block_till_done()
    instance = await llm.async_get_api(hass, api_id(entry.entry_id), context)
    tool = next(tool.name for tool in instance.tools if tool.name.endswith(intent))
    return await instance.async_call_tool(llm.ToolInput(tool, {"name": name}))


@pytest.mark.parametrize(
    ("seconds", "tells", "expected", "settle_time"),
    [
        (NEVER, False, {"not_reached": {"Shed": "locked"}}, 2.0),
        (1.0, False, {"reached": {"Shed": "unlocked"}}, 60.0),
        (1.0, True, {"reached": {"Shed": "unlocked"}}, 60.0),
        (30.0, True, {"under_way": {"Shed": "unlocking"}}, 2.0),
    ],
    ids=["stuck", "a second", "a second, telling", "half a minute"],
)
async def test_locks(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    llm_context: llm.LLMContext,
    seconds: float,
    tells: bool,
    expected: dict[str, Any],
    settle_time: float,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Assist's own tool tells what the lock is afterwards, and waits no longer than for that."""
    monkeypatch.setattr(change_recorder, "SETTLE_TIME", settle_time)
    lock = SlowLock("lock.shed", seconds, tells=tells)
    await add(hass, lock)
    begun = monotonic()
    result = await assist(hass, entry, llm_context, "Shed", "HassTurnOff")
    assert monotonic() - begun < 20
    assert isinstance(result.data, llm.IntentResponseDict)
    assert result.data.original.success_results
    assert result.data["outcome"] == expected
    await lock.async_remove()


@pytest.mark.parametrize(
    ("cover", "expected"),
    [
        (SlowCover("cover.attic", 20), {"under_way": {"Attic": "opening"}}),
        (SlowCover("cover.attic", 15, CoverDeviceClass.GARAGE), {"under_way": {"Attic": "opening"}}),
        (BlindCover("cover.attic", 20), {"cannot_be_known": {"Attic": "open"}}),
    ],
    ids=["cover", "garage door", "nobody hears back"],
)
async def test_covers(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    llm_context: llm.LLMContext,
    cover: SlowCover,
    expected: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What moves is under way, and what cannot be known is not waited for."""
    monkeypatch.setattr(change_recorder, "SETTLE_TIME", 3600.0)
    await add(hass, cover)
    result = await assist(hass, entry, llm_context, "Attic", "HassTurnOn")
    assert result.data["outcome"] == expected
    await cover.async_remove()


async def test_heating(hass: HomeAssistant, call_tool: CallTool) -> None:
    """A thermostat that is set, and works at it, is under way."""
    target = {"entity_id": "climate.hvac"}
    data = await call_tool(
        PerformActionTool(), action="climate.set_temperature", target=target, data={"temperature": 18}
    )
    assert data["outcome"] == {"under_way": {"Hvac": "cool, temperature 18.0, measured 22"}}
    data = await call_tool(PerformActionTool(), action="climate.turn_off", target=target)
    assert data["outcome"] == {"reached": 1}


@pytest.mark.parametrize("action", ["scene.turn_on", "script.turn_on", "automation.trigger", "notify.send_message"])
async def test_only_run(hass: HomeAssistant, call_tool: CallTool, action: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """That something was run is not known to have had an effect, nor waited for; the effects that it had are told."""
    monkeypatch.setattr(change_recorder, "SETTLE_TIME", 3600.0)
    domain = action.split(".", maxsplit=1)[0]
    target = {"entity_id": "notify.notifier" if domain == "notify" else f"{domain}.visible"}
    data = await call_tool(
        PerformActionTool(), action=action, target=target, **({"data": {"message": "x"}} if domain == "notify" else {})
    )
    # A scene is told by what it moves.
    assert data["outcome"].get("cannot_be_known", 0) == (0 if domain == "scene" else 1)
    assert data["outcome"].get("reached", 0) == (0 if domain == "notify" else 1)


async def test_many(hass: HomeAssistant, call_tool: CallTool) -> None:
    """Of many entities, those that are as wanted are counted, and the others are named."""
    names = [f"light.lamp_{number}" for number in range(12)]
    for name in [*names, "light.stuck"]:
        hass.states.async_set(name, "off", {"friendly_name": name.split(".")[1]})
    expose(hass, *names, "light.stuck")

    async def light_up(call: ServiceCall) -> None:
        for name in names:
            hass.states.async_set(name, "on", {"friendly_name": name.split(".")[1]}, context=call.context)

    hass.services.async_register("light", "turn_on", light_up)
    target = {"entity_id": [*names, "light.stuck"]}
    data = await call_tool(PerformActionTool(), action="light.turn_on", target=target)
    assert data["outcome"] == {"not_reached": {"stuck": "off"}, "reached": 12}


async def test_hidden_is_not_told(hass: HomeAssistant, call_tool: CallTool) -> None:
    """What a script of the user's moves besides is not told of."""
    hass.states.async_set("script.other", "off")
    data = await call_tool(PerformActionTool(), action="script.visible")
    assert set(data["outcome"]) == {"cannot_be_known", "reached"}
    assert "zebra" not in str(data)
