"""A survey: each action of the entity components is performed, undone, and the whole home looked at."""

import asyncio
from collections import Counter
from collections.abc import Awaitable
from datetime import timedelta
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, MockUser, async_fire_time_changed

from custom_components.extended_assist.calls.journal import async_get_journal
from custom_components.extended_assist.tools.actions import UndoLastChangeTool
from homeassistant.const import Platform
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import llm
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
from tests.conftest import CallTool, expose
from tests.helpers.acting import listing

from .actions import CASES

PLATFORMS = [
    *(Platform.ALARM_CONTROL_PANEL, Platform.BUTTON, Platform.CAMERA, Platform.CLIMATE, Platform.COVER, Platform.DATE),
    *(Platform.DATETIME, Platform.FAN, Platform.HUMIDIFIER, Platform.LIGHT, Platform.LOCK, Platform.MEDIA_PLAYER),
    *(
        Platform.NOTIFY,
        Platform.NUMBER,
        Platform.REMOTE,
        Platform.SELECT,
        Platform.SIREN,
        Platform.SWITCH,
        Platform.TEXT,
    ),
    *(Platform.TIME, Platform.UPDATE, Platform.VACUUM, Platform.VALVE, Platform.WATER_HEATER),
]
HELPERS: dict[str, Any] = {
    "input_boolean": {"party": {}},
    "input_button": {"bell": {}},
    "input_number": {"level": {"min": 0, "max": 10, "initial": 2}},
    "input_select": {"mode": {"options": ["a", "b", "c"]}},
    "input_text": {"note": {"initial": "first"}},
    "input_datetime": {
        "both": {"has_date": True, "has_time": True, "initial": "2023-01-02 03:04:05"},
        "day": {"has_date": True, "has_time": False, "initial": "2023-01-02"},
        "clock": {"has_date": False, "has_time": True, "initial": "03:04:05"},
    },
    "counter": {"laps": {"initial": 3}},
    "timer": {"eggs": {"duration": "00:05:00"}, "running": {"duration": "10:00:00"}},
    "script": {
        "visible": {"sequence": [{"action": "input_boolean.toggle", "target": {"entity_id": "input_boolean.party"}}]}
    },
    "automation": [
        {
            "id": "visible",
            "alias": "Visible",
            "triggers": [],
            "actions": [{"action": "input_boolean.toggle", "target": {"entity_id": "input_boolean.party"}}],
        }
    ],
    "scene": [{"name": "Visible", "entities": {"light.bed_light": {"state": "on", "brightness": 42}}}],
}
VOLATILE = frozenset(
    {
        *("cleaned_area", "current", "entity_picture", "finishes_at", "last_transition", "last_triggered"),
        *("media_position", "media_position_updated_at", "next_state", "previous_state", "remaining"),
    }
)
"""What a clock moves, and that something was run."""
ONLY_RUN = ("button.", "input_button.", "scene.", "script.")
REFUSED = ("cannot_be_undone", "cannot_be_known", "not_restored")


@pytest.fixture
async def demo(
    hass: HomeAssistant, assist: None, hass_storage: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Set up everything that Home Assistant's demo has, with devices that answer soon."""
    monkeypatch.setattr("custom_components.extended_assist.calls.change_recorder.SETTLE_TIME", 0.05)
    monkeypatch.setattr("homeassistant.components.demo.lock.LOCK_UNLOCK_DELAY", 0)
    monkeypatch.setattr("homeassistant.components.demo.valve.OPEN_CLOSE_DELAY", 0)
    monkeypatch.setattr("homeassistant.components.shopping_list.common.save_json", lambda *_: None)
    monkeypatch.setattr("homeassistant.components.demo.COMPONENTS_WITH_CONFIG_ENTRY_DEMO_PLATFORM", PLATFORMS)
    monkeypatch.setattr("homeassistant.components.kitchen_sink.COMPONENTS_WITH_DEMO_PLATFORM", [Platform.LAWN_MOWER])
    assert await async_setup_component(hass, "demo", {})
    assert await async_setup_component(hass, "kitchen_sink", {"kitchen_sink": {}})
    for domain, config in HELPERS.items():
        assert await async_setup_component(hass, domain, {domain: config}), domain
    members = ["light.ceiling_lights", "light.kitchen_lights"]
    whole = {"group_type": "light", "name": "Whole", "entities": members, "hide_members": False, "all": False}
    for entry in (
        MockConfigEntry(domain="group", title="Whole", options=whole),
        MockConfigEntry(domain="shopping_list", title="Shopping list"),
    ):
        entry.add_to_hass(hass)
        assert await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()
    await hass.services.async_call("timer", "start", {"entity_id": "timer.running"}, blocking=True)
    old_group = {"object_id": "visible", "entities": ["light.bed_light", "input_boolean.party"]}
    await hass.services.async_call("group", "set", old_group, blocking=True)
    # What the demo begins with cannot be set: a fan without a speed, parts of a percent, a number without its decimal.
    for action, entity_id, data in (
        ("fan.turn_off", "all", {}),
        ("climate.set_humidity", "climate.hvac", {"humidity": 65}),
        ("humidifier.set_humidity", "humidifier.dehumidifier", {"humidity": 55}),
        ("number.set_value", "number.temperature_setting", {"value": 21}),
    ):
        await hass.services.async_call(*action.split("."), {"entity_id": entity_id, **data}, blocking=True)
    expose(hass, *hass.states.async_entity_ids())


def home(hass: HomeAssistant) -> dict[str, Any]:
    """Return everything that can be seen of the home, without what was only run."""
    return {
        state.entity_id: (
            state.state,
            {name: value for name, value in state.attributes.items() if name not in VOLATILE},
        )
        for state in hass.states.async_all()
        if not state.entity_id.startswith(ONLY_RUN)
    }


async def come_to_rest(hass: HomeAssistant) -> None:
    """Let time go by until nothing moves any more."""
    now = dt_util.utcnow()
    for pause in (0, 60):
        now, calm = now + timedelta(seconds=pause), 0
        while calm < 2:
            before = home(hass)
            now += timedelta(seconds=1)
            async_fire_time_changed(hass, now)
            await hass.async_block_till_done()
            calm = calm + 1 if home(hass) == before else 0


async def while_time_goes_by[T](hass: HomeAssistant, work: Awaitable[T]) -> T:
    """Await something while the devices move on by a second."""
    task = asyncio.ensure_future(work)
    await asyncio.wait({task}, timeout=0.02)
    async_fire_time_changed(hass, dt_util.utcnow() + timedelta(seconds=1))
    return await task


async def perform_and_undo(
    hass: HomeAssistant, call_tool: CallTool, case: tuple[str, str, dict[str, Any]]
) -> tuple[str, Any]:
    """Return how an action was undone: exactly, refused, or otherwise, with what tells why."""
    action, entity_id, data = case
    await (await async_get_journal(hass)).async_clear()
    before = home(hass)
    arguments = {"action": action, "data": data} | ({"target": {"entity_id": entity_id}} if entity_id else {})
    performed = await while_time_goes_by(
        hass, call_tool(listing("remote.send_command", "vacuum.send_command"), **arguments)
    )
    await come_to_rest(hass)
    changed = home(hass) != before
    if not (await async_get_journal(hass)).changes:
        return ("other" if changed else "exact"), performed
    undone = await while_time_goes_by(hass, call_tool(UndoLastChangeTool()))
    await come_to_rest(hass)
    after = home(hass)
    differs = {one: (before[one], after.get(one)) for one in before if before[one] != after.get(one)}
    if any(key in undone for key in REFUSED):
        return "refused", undone
    return ("other" if differs else "exact"), (performed, undone, differs)


async def test_survey(
    hass: HomeAssistant,
    demo: None,
    call_tool: CallTool,
    llm_context: llm.LLMContext,
    hass_admin_user: MockUser,
    quiet: None,
) -> None:
    """Each action is undone exactly, or that it cannot be is said."""
    assert len(CASES) >= 120
    llm_context.context = Context(user_id=hass_admin_user.id)
    found: dict[str, list[Any]] = {"exact": [], "refused": [], "other": []}
    for case in CASES:
        kind, why = await perform_and_undo(hass, call_tool, case)
        found[kind].append((case, why))
    assert found["other"] == []
    assert len({case[0] for case in CASES}) > 100
    refused = Counter(case[0].split(".")[0] for case, _ in found["refused"])
    assert sum(refused.values()) < len(CASES) / 4, refused
