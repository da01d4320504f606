"""Who made a change, as Home Assistant itself writes it: in contexts of its own making."""

from datetime import timedelta
import random
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import async_fire_time_changed
from pytest_homeassistant_custom_component.components.recorder.common import async_wait_recording_done

from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.habits.changes import By
from custom_components.extended_assist.habits.row_reader import Contexts, RowReader
from custom_components.extended_assist.recorder import async_read
from custom_components.extended_assist.simulation.historical_state import Stretch
from custom_components.extended_assist.tools.actions import PerformActionTool
from homeassistant.components import conversation
from homeassistant.components.recorder import Recorder
from homeassistant.core import Context, HomeAssistant
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
from tests.conftest import CallTool, expose
from tests.helpers.databases import EVERY_ENGINE

from .homes import ulid

WHO = ("user", "clock", "follower", "script", "scene", "assist", "ours", "unknown", "apple")
TURN_ON = "input_boolean.turn_on"


def lamp(name: str) -> str:
    return f"input_boolean.{name}"


def step(name: str) -> dict[str, Any]:
    return {"action": TURN_ON, "target": {"entity_id": lamp(name)}}


@EVERY_ENGINE
async def test_by(recorder_mock: Recorder, hass: HomeAssistant, assist: None, call_tool: CallTool) -> None:
    """People at a dashboard and at a switch count; whatever else acts does not."""
    begin = dt_util.utcnow().timestamp()
    config = {
        "input_boolean": {name: {"name": f"{name} lamp"} for name in WHO},
        "automation": [
            {"alias": "Clock", "triggers": {"trigger": "time_pattern", "seconds": "/1"}, "actions": step("clock")},
            {
                "alias": "Follower",
                "triggers": {"trigger": "state", "entity_id": lamp("user"), "to": "on"},
                "actions": step("follower"),
            },
        ],
        "script": {"one": {"sequence": [step("script")]}},
        "scene": [{"name": "One", "entities": {lamp("scene"): "on"}}],
    }
    for domain, given in config.items():
        assert await async_setup_component(hass, domain, {domain: given})
    await hass.async_block_till_done()
    expose(hass, *map(lamp, WHO))
    await async_wait_recording_done(hass)
    user = await hass.auth.async_create_user("Ben")
    context = Context(user_id=user.id)

    async def call(domain: str, service: str, entity_id: str, context: Context | None = None) -> None:
        await hass.services.async_call(domain, service, {"entity_id": entity_id}, blocking=True, context=context)

    hass.states.async_set("switch.wall", "off")
    await call("input_boolean", "turn_on", lamp("user"), context)
    hass.states.async_set("switch.wall", "on")
    async_fire_time_changed(hass, dt_util.utcnow() + timedelta(seconds=1))
    await call("script", "turn_on", "script.one", Context(user_id=user.id))
    await call("scene", "turn_on", "scene.one", Context(user_id=user.id))
    said = await conversation.async_converse(
        hass,
        "turn on the assist lamp",
        None,
        Context(user_id=user.id),
        language="en",
        agent_id=conversation.HOME_ASSISTANT_AGENT,
    )
    assert said.response.error_code is None, said.response.speech
    await call_tool(PerformActionTool(ToolboxOptions()), action=TURN_ON, target={"entity_id": lamp("ours")})
    await call("input_boolean", "turn_on", lamp("unknown"), Context())
    apple = Context()
    hass.bus.async_fire("homekit_state_change", {}, context=apple)
    await call("input_boolean", "turn_on", lamp("apple"), apple)
    await hass.async_block_till_done()
    await hass.services.async_call("automation", "turn_off", {"entity_id": "all"}, blocking=True)
    await async_wait_recording_done(hass)
    for name in WHO:
        assert hass.states.is_state(lamp(name), "on"), name

    end = dt_util.utcnow().timestamp() + 10

    def read(hass: HomeAssistant) -> dict[str, By]:
        reader = RowReader(hass, [*map(lamp, WHO), "switch.wall"], float("inf"))
        changes = reader.read([Stretch(begin - 10, begin - 5, end)], begin - 10, end)
        return {
            changes.series[number][0].partition(".")[2]: By(by)
            for number, by in zip(changes.numbers, changes.by, strict=True)
            if changes.series[number][1] == "on"
        }

    assert await async_read(hass, read) == {
        **dict.fromkeys(("user", "apple"), By.USER),
        "wall": By.DEVICE,
        **dict.fromkeys(("clock", "follower", "script", "scene", "assist", "ours"), By.MACHINE),
        "unknown": By.NOBODY_KNOWN,
    }


@pytest.mark.parametrize(
    ("age", "called", "by"),
    [(0.1, None, By.DEVICE), (60, None, By.MACHINE), (0.1, 8, By.MACHINE), (0.1, 30, By.DEVICE)],
    ids=["the wall", "a script that waited", "the echo of an automation", "long after it"],
)
def test_without_a_user(age: float, called: float | None, by: By) -> None:
    """What nobody called for has a context that is made with it, unless it tells late what was called for."""
    contexts = Contexts()
    if called is not None:
        contexts.calls["light.one"] = [1_000 - called]
    assert contexts.by(1_000.0, "light.one", (ulid(random.Random(1), 1_000 - age), None, None)) is by
    assert contexts.by(1_000.0, "light.one", (None, None, None)) is By.NO_CONTEXT
