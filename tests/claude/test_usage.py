"""Tests of what agents use: counted in sensors and traces, kept over restarts, and limited by month."""

from datetime import timedelta
from typing import Any

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, async_fire_time_changed
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator

from custom_components.extended_assist.claude.usage import REQUESTS, SHOW_DELAY, TOKENS, async_get_meters, tokens_of
from custom_components.extended_assist.const import CONF_MONTHLY_TOKENS, CONF_PROMPT_CACHE, DOMAIN
from homeassistant.components import conversation
from homeassistant.components.conversation.trace import ConversationTraceEventType, async_get_traces
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er, issue_registry as ir
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
from tests.claude_server import ClaudeServer, Fault, Turn, text, tool_use
from tests.conftest import Converse

pytestmark = pytest.mark.usefixtures("no_deprecations")

STORE = f"{DOMAIN}.usage"
USAGE = {
    "input_tokens": 10,
    "cache_read_input_tokens": 2_000,
    "cache_creation_input_tokens": 300,
    "output_tokens": 40,
}
COUNTED = {"input_tokens": 10, "cached_tokens": 2_000, "cache_written_tokens": 300, "output_tokens": 40, "requests": 1}
SUM = sum(USAGE.values())


def answer(words: str = "Good evening.", **options: Any) -> Turn:
    """Return an answer with known tokens."""
    return Turn([text(words)], usage=USAGE, **options)


async def shown(hass: HomeAssistant) -> dict[str, int]:
    """Return what the sensors show, by kind."""
    await gathered(hass)
    registry = er.async_get(hass)
    found = {}
    for kind in (*TOKENS, REQUESTS):
        (entity_id,) = [
            entity.entity_id
            for entity in registry.entities.values()
            if entity.platform == DOMAIN and entity.unique_id.endswith(f"_{kind}") and entity.domain == "sensor"
        ]
        found[kind] = int(hass.states.get(entity_id).state)
    return found


async def gathered(hass: HomeAssistant) -> None:
    """Wait until what was counted is told."""
    async_fire_time_changed(hass, dt_util.utcnow() + timedelta(seconds=SHOW_DELAY + 0.1))
    await hass.async_block_till_done()


async def issues(hass: HomeAssistant) -> list[str]:
    """Return what the active issues are about."""
    await gathered(hass)
    return [
        str(issue.translation_key)
        for (domain, _), issue in ir.async_get(hass).issues.items()
        if domain == DOMAIN and issue.active
    ]


def speech(result: conversation.ConversationResult) -> str:
    """Return what is said."""
    return str(result.response.speech["plain"]["speech"])


async def limit(hass: HomeAssistant, entry: MockConfigEntry, tokens: int) -> None:
    """Limit the month's tokens of the agent."""
    (agent,) = entry.subentries.values()
    hass.config_entries.async_update_subentry(entry, agent, data={**agent.data, CONF_MONTHLY_TOKENS: tokens})
    await hass.async_block_till_done()


async def test_sensors(hass: HomeAssistant, entry: MockConfigEntry, converse: Converse) -> None:
    """Every request counts, whether it is a round of tools, a turn or one that breaks off."""
    assert set((await shown(hass)).values()) == {0}
    await converse("Hello", answer())
    assert await shown(hass) == COUNTED
    await converse("Hello", Turn([tool_use("extended_assist__get_user_name", {})], usage=USAGE), answer())
    assert await shown(hass) == {kind: 3 * count for kind, count in COUNTED.items()}
    await converse("Hello", answer(fault=Fault("disconnect", after=3)))
    assert (await shown(hass))["input_tokens"] == 40
    assert (await shown(hass))["requests"] == 4
    state = hass.states.get("sensor.claude_tokens_read_from_cache")
    assert state.attributes["state_class"] == "total_increasing"
    assert state.attributes["unit_of_measurement"] == "tokens"


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        ({}, (0, 0, 0, 0)),
        ({"input_tokens": 5, "output_tokens": None, "cache_read_input_tokens": "many"}, (5, 0, 0, 0)),
        ({"input_tokens": -5, "output_tokens": 2.5}, (0, 0, 0, 0)),
    ],
)
def test_odd_usage(usage: dict[str, Any], counted: tuple[int, ...]) -> None:
    """A server may count as little as it likes; sensors never go back."""
    assert tuple(tokens_of(usage).values()) == counted


async def test_restart(
    hass: HomeAssistant, entry: MockConfigEntry, converse: Converse, hass_storage: dict[str, Any]
) -> None:
    """What was counted is stored soon, and shown again by a Home Assistant that finds it."""
    (agent,) = entry.subentries.values()
    await converse("Hello", answer())
    async_fire_time_changed(hass, dt_util.utcnow() + timedelta(seconds=11))
    await hass.async_block_till_done()
    (stored,) = hass_storage[STORE]["data"].values()
    assert stored["counts"] == COUNTED
    await hass.config_entries.async_unload(entry.entry_id)
    del hass.data[f"{DOMAIN}_usage"]
    hass_storage[STORE]["data"][agent.subentry_id]["counts"]["requests"] = 7
    hass_storage[STORE]["data"]["gone"] = stored
    await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()
    assert await shown(hass) == COUNTED | {"requests": 7}
    async_fire_time_changed(hass, dt_util.utcnow() + timedelta(seconds=11))
    await hass.async_block_till_done()
    assert list(hass_storage[STORE]["data"]) == [agent.subentry_id]


async def test_removed_agent_is_forgotten(hass: HomeAssistant, entry: MockConfigEntry, converse: Converse) -> None:
    """Nothing is kept of an entry that is removed."""
    (agent,) = entry.subentries.values()
    await converse("Hello", answer())
    meters = await async_get_meters(hass)
    assert meters.of(agent.subentry_id).usage.counts
    await hass.config_entries.async_remove(entry.entry_id)
    assert not meters.of(agent.subentry_id).usage.counts


async def test_trace(
    hass: HomeAssistant, entry: MockConfigEntry, converse: Converse, claude_server: ClaudeServer
) -> None:
    """The conversation trace tells the tokens of each request in the words of Home Assistant's own agents."""
    (agent,) = entry.subentries.values()
    hass.config_entries.async_update_subentry(entry, agent, data={**agent.data, CONF_PROMPT_CACHE: "5m"})
    await hass.async_block_till_done()
    await converse("Hello", answer())
    events = async_get_traces()[-1].as_dict()["events"]
    (told,) = [
        event["data"]
        for event in events
        if event["event_type"] == ConversationTraceEventType.AGENT_DETAIL and "usage" in event["data"]
    ]
    assert told["stats"] == {
        "input_tokens": 2_310,
        "uncached_input_tokens": 10,
        "cache_creation_input_tokens": 300,
        "cached_input_tokens": 2_000,
        "output_tokens": 40,
        "stop_reason": "end_turn",
    }
    assert told["usage"].items() >= USAGE.items()


async def test_limit_of_the_month(
    hass: HomeAssistant, entry: MockConfigEntry, converse: Converse, freezer: FrozenDateTimeFactory
) -> None:
    """At 80 % the user is warned, past the limit nothing more is sent, and the next month all is well again."""
    freezer.move_to("2026-11-30 12:00:00-08:00")
    await limit(hass, entry, 4 * SUM)
    for expected in ([], [], [], ["tokens_used_up"]):
        assert speech(await converse("Hello", answer())) == "Good evening."
        assert await issues(hass) == expected
    assert "used up my tokens for this month" in speech(await converse("Hello"))
    assert (await shown(hass))["requests"] == 4
    await limit(hass, entry, 5 * SUM)
    assert await issues(hass) == ["tokens_nearly_used"]
    freezer.move_to("2026-12-01 00:01:00-08:00")
    await limit(hass, entry, 2 * SUM)
    assert await issues(hass) == []
    assert speech(await converse("Hello", answer())) == "Good evening."
    assert (await shown(hass))["requests"] == 5


async def test_used_up_in_the_middle_of_a_turn(hass: HomeAssistant, entry: MockConfigEntry, converse: Converse) -> None:
    """A turn that has begun is finished."""
    await limit(hass, entry, SUM)
    result = await converse("Hello", Turn([tool_use("extended_assist__get_user_name", {})], usage=USAGE), answer())
    assert speech(result) == "Good evening."
    assert await issues(hass) == ["tokens_used_up"]
    (agent,) = entry.subentries.values()
    hass.config_entries.async_remove_subentry(entry, agent.subentry_id)
    await hass.async_block_till_done()
    assert await issues(hass) == []


@pytest.mark.parametrize("raised", [{CONF_MONTHLY_TOKENS: 1_000_000}, {}])
async def test_limit_is_raised_from_the_notice(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    converse: Converse,
    hass_client: ClientSessionGenerator,
    raised: dict[str, int],
) -> None:
    """The notice asks for another limit, or none, and the agent goes on."""
    assert await async_setup_component(hass, "repairs", {})
    await limit(hass, entry, SUM)
    await converse("Hello", answer())
    await gathered(hass)
    (issue_id,) = [key[1] for key in ir.async_get(hass).issues if key[0] == DOMAIN]
    client = await hass_client()
    flow = await (await client.post("/api/repairs/issues/fix", json={"handler": DOMAIN, "issue_id": issue_id})).json()
    assert flow["step_id"] == "limit"
    assert flow["description_placeholders"] == {"agent": "Claude", "limit": f"{SUM:,}".replace(",", "\u202f")}
    done = await (await client.post(f"/api/repairs/issues/fix/{flow['flow_id']}", json=raised)).json()
    assert done["type"] == "create_entry"
    await hass.async_block_till_done()
    (agent,) = entry.subentries.values()
    assert agent.data.get(CONF_MONTHLY_TOKENS) == raised.get(CONF_MONTHLY_TOKENS)
    assert await issues(hass) == []
    assert speech(await converse("Hello", answer())) == "Good evening."
