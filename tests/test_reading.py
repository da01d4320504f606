"""Questions never actuate: whatever is only asked, the home is the same before and after."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, async_capture_events
from pytest_homeassistant_custom_component.components.recorder.common import async_wait_recording_done

from custom_components.extended_assist.calls.policy import Tier
from custom_components.extended_assist.const import CONF_FAMILIES, DOMAIN
from custom_components.extended_assist.tools import CATALOGUE, FAMILIES
from homeassistant.const import EVENT_CALL_SERVICE
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er
from homeassistant.util import dt as dt_util
from tests.claude_server import Turn, text, tool_use
from tests.conftest import Converse
from tests.docs.pages import examples
from tests.helpers.one_home import in_one_home
from tests.helpers.recorded import meter, record, steps

# A database in memory is out of reach for queries.
pytestmark = [
    pytest.mark.parametrize("recorder_db_url", ["sqlite"], indirect=True),
    pytest.mark.usefixtures("recorder_mock", "house"),
]

READING_ACTIONS = {"weather.get_forecasts", "calendar.get_events", "todo.get_items"}

PREFIX = f"{DOMAIN}__"

type Calls = list[tuple[str, dict[str, Any]]]

QUESTIONS: dict[str, Calls] = {
    "Which lights are on?": [("extended_assist__get_entities", {"domain": ["light"], "attributes": ["*"]})],
    "Is the front door locked?": [("extended_assist__get_entities", {"name": "front door"})],
    "Is everything closed?": [
        ("homeassistant__GetLiveContext", {"domain": ["cover"]}),
        ("extended_assist__get_entities", {"domain": ["cover", "lock"]}),
    ],
    "When was the front door last unlocked?": [("extended_assist__get_history", {"entities": ["lock.front_door"]})],
    "Who turned the light off?": [("extended_assist__get_logbook", {"entities": ["light.bed_light"]})],
    "What happened here?": [("extended_assist__get_logbook", {})],
    "How much was it?": [("extended_assist__get_statistics", {"statistics": ["input_number.level"]})],
    "Who am I?": [("extended_assist__get_user_name", {})],
    "What is on my list?": [
        ("todo__get_items", {"todo_list": "Shopping list"}),
        (
            "extended_assist__perform_action",
            {"action": "todo.get_items", "target": {"entity_id": "todo.shopping_list"}},
        ),
    ],
    "What are my plans?": [
        ("calendar__get_events", {"calendar": "Calendar 1", "range": "week"}),
        (
            "extended_assist__perform_action",
            {
                "action": "calendar.get_events",
                "target": {"entity_id": "calendar.calendar_1"},
                "data": {"duration": {"days": 7}},
            },
        ),
    ],
    "Will it rain?": [
        (
            "extended_assist__perform_action",
            {
                "action": "weather.get_forecasts",
                "target": {"entity_id": "weather.demo_weather_south"},
                "data": {"type": "daily"},
            },
        )
    ],
    "How many lights are on?": [
        (
            "extended_assist__render_template",
            {"template": "{{ states.light | selectattr('state', 'eq', 'on') | list | count }}"},
        )
    ],
    "How often did anything change?": [
        (
            "extended_assist__query_database",
            {"query": "SELECT entity_id, count(*) FROM states JOIN states_meta USING (metadata_id) GROUP BY entity_id"},
        )
    ],
    "Which automations are there?": [
        ("extended_assist__get_automations", {}),
        ("extended_assist__get_automations", {"name": "automation.visible", "details": True}),
    ],
    "What would an automation have done?": [
        (
            "extended_assist__rehearse_automation",
            {
                "config": {
                    "triggers": [{"trigger": "state", "entity_id": "lock.front_door"}],
                    "actions": [{"action": "light.toggle", "target": {"entity_id": "light.bed_light"}}],
                }
            },
        ),
        ("extended_assist__rehearse_automation", {}),
    ],
    "What is still pending?": [("extended_assist__pending", {})],
}
ELSEWHERE = {"look", "get_energy", "fetch_url", "scrape_url"}
"""Tools that need more than a house; the web is no part of the home."""


def _from_the_pages() -> dict[str, Calls]:
    """Return the documentation's questions to the tools that only read and are not asked above."""
    asked = {name for calls in QUESTIONS.values() for name, _ in calls}
    return {
        example.question: [(tool.name, example.arguments)]
        for tool in CATALOGUE
        if tool.tier is Tier.READ and tool.name not in asked and tool.name.removeprefix(PREFIX) not in ELSEWHERE
        for example in examples(tool.name.removeprefix(PREFIX))
    }


QUESTIONS.update(_from_the_pages())


def _home(hass: HomeAssistant) -> dict[str, Any]:
    """Return everything that is known of the home's entities, but for the agent itself, what it counts, and the time."""
    registry = er.async_get(hass)
    return {
        state.entity_id: (state.state, dict(state.attributes), state.last_updated)
        for state in hass.states.async_all()
        if (entry := registry.async_get(state.entity_id)) is None or entry.platform != DOMAIN
    }


@pytest.fixture
async def recorded(hass: HomeAssistant, recorder_mock: Any, house: None, entry: MockConfigEntry) -> None:
    """Give the agent every family, and the home a meter with a past."""
    # Of a cover whose kind is not set nothing is a habit: opening it asks.
    er.async_get(hass).async_update_entity("cover.hall_window", device_class="window")
    hass.config_entries.async_update_entry(entry, options={CONF_FAMILIES: list(FAMILIES)})
    await hass.config_entries.async_reload(entry.entry_id)
    now = dt_util.utcnow().replace(minute=0, second=0, microsecond=0)
    rows = meter(steps(now - timedelta(hours=5), now), lambda _: 1)
    await record(hass, "input_number.level", rows, name="Level", unit_of_measurement="kWh", unit_class="energy")
    await async_wait_recording_done(hass)


@pytest.mark.usefixtures("recorded")
@in_one_home("question", QUESTIONS)
async def test_asking_changes_nothing(
    hass: HomeAssistant, converse: Converse, question: str, chat_log: Callable[..., Any]
) -> None:
    """The calls that answer a question leave every state as it was, and perform nothing but what only answers."""
    performed = async_capture_events(hass, EVENT_CALL_SERVICE)
    before = _home(hass)
    calls = QUESTIONS[question]
    answer = await converse(
        question, *(Turn([tool_use(name, arguments)]) for name, arguments in calls), Turn([text("So it is.")])
    )
    await hass.async_block_till_done()
    results = [content for content in chat_log(answer.conversation_id).content if content.role == "tool_result"]
    assert [content.result.error for content in results] == [False] * len(calls), results
    assert _home(hass) == before
    assert {f"{event.data['domain']}.{event.data['service']}" for event in performed} <= READING_ACTIONS
