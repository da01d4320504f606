"""How much is sent, and how often: characters of prompt and tools, and requests per question, ours and Home Assistant's own."""

import os
from typing import Any

from homeassistant.components import conversation
from homeassistant.components.energy.data import async_get_manager
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import area_registry as ar, entity_registry as er
from homeassistant.helpers.json import json_dumps
from homeassistant.util import slugify
from tests.claude_server import ClaudeServer, OfflinePlanner, Scenario, Turn, text

from .hass import add_entry, agent_of, running_home_assistant
from .table import Row

_SIZES = {20: 2.0, 200: 1.0, 2000: 0.3}
"""Exposed entities, and the largest ratio that is good enough."""
_MAX_SCHEMAS = 7_500
"""Characters that the tools of the default families may have together."""
_OURS = ("extended_assist__", "answer_when_done")
_PRESENT = (20, 40, 200)
"""Exposed entities of homes in which telling the present is compared with looking; the second is the default limit."""
_STATE = "Is the window 0 on?"
_PAST = "When did the window 0 last change?"
_MAX_PAST = 2
"""Requests that a question about the past may take: one that looks, and one that answers."""
_AREAS = 40
_KEY = "test-key"

_ROOM = (
    *(
        ("light", "Ceiling lamp"),
        ("light", "Reading lamp"),
        ("switch", "Socket"),
        ("cover", "Blind"),
        ("lock", "Door lock"),
    ),
    *(("sensor", "Temperature"), ("sensor", "Humidity"), ("sensor", "Power")),
    *(("binary_sensor", "Window"), ("binary_sensor", "Motion")),
)
"""What a room has; it is the same in every room, apart from its number."""
_MEANS = {
    "light": {"turn_on": [], "turn_off": []},
    "switch": {"turn_on": [], "turn_off": []},
    "cover": {"open_cover": [], "close_cover": []},
    "lock": {"lock": [], "unlock": []},
}
_ENTITIES = [
    {"domain": domain, "name": f"{name} {room}", "unique_id": f"{slugify(name)}_{room}"}
    for room in range(max(_SIZES) // len(_ROOM))
    for domain, name in _ROOM
]


def _template(domain: str, name: str, unique_id: str) -> dict[str, Any]:
    """Return a template entity."""
    return {"name": name, "unique_id": unique_id, "state": "{{ 1 }}", **_MEANS.get(domain, {})}


_CONFIGURATION = """
homeassistant:
conversation:
intent:
recorder:
energy:
template:
""" + "".join("  - " + json_dumps({entity["domain"]: [_template(**entity)]}) + "\n" for entity in _ENTITIES)


async def run() -> list[Row]:
    """Compare what is sent, home by home, and the schemas with their limit."""
    async with ClaudeServer(Scenario([]), api_key=_KEY) as server:
        os.environ["ANTHROPIC_BASE_URL"] = server.url
        async with running_home_assistant(_CONFIGURATION) as hass:
            return await _measure(hass, server)


async def _measure(hass: HomeAssistant, server: ClaudeServer) -> list[Row]:
    """Set both up with what they choose by themselves, and expose more and more."""
    entity_ids = await _furnish(hass)
    await add_entry(hass, "extended_assist", {"next_step_id": "claude"}, {"api_key": _KEY, "base_url": server.url})
    await add_entry(hass, "anthropic", {"api_key": _KEY})
    agents = [agent_of(hass, domain) for domain in ("extended_assist", "anthropic")]
    found, exposed, own = [], 0, 0
    for size in sorted({*_SIZES, *_PRESENT}):
        for entity_id in entity_ids[exposed:size]:
            async_expose_entity(hass, "conversation", entity_id, True)
        exposed = size
        if size in _PRESENT:
            found.append(await _compare_with_looking(hass, server, size))
        if (goal := _SIZES.get(size)) is None:
            continue
        if size == min(_SIZES):
            found += await _count_requests(hass, server, agents)
        sent = [await _ask(hass, server, agent) for agent in agents]
        ours, other = [len(prompt) + len(json_dumps(tools)) for prompt, tools in sent]
        found.append(Row.of("characters", f"prompt and tools, {size} entities", ours, other, goal=goal))
        own = len(json_dumps([tool for tool in sent[0][1] if tool["name"].startswith(_OURS)]))
    return [*found, Row.of("characters", "tools of the default families; limit", own, _MAX_SCHEMAS, goal=1.0)]


async def _furnish(hass: HomeAssistant) -> list[str]:
    """Spread the entities over areas, hide all of them, set the energy dashboard up; returns them room by room."""
    registry, areas = er.async_get(hass), ar.async_get(hass)
    area_ids = [areas.async_create(f"Living room {number}").id for number in range(_AREAS)]
    entity_ids = [f"{entity['domain']}.{entity['unique_id']}" for entity in _ENTITIES]
    for index, entity_id in enumerate(entity_ids):
        registry.async_update_entity(entity_id, area_id=area_ids[index // len(_ROOM) % _AREAS])
    for state in hass.states.async_all():
        async_expose_entity(hass, "conversation", state.entity_id, False)
    manager = await async_get_manager(hass)
    await manager.async_update({"energy_sources": [{"type": "solar", "stat_energy_from": "sensor.power_0"}]})
    return entity_ids


async def _count_requests(hass: HomeAssistant, server: ClaudeServer, agents: list[str]) -> list[Row]:
    """Count the requests of questions, as a planner asks that knows no more than what it is sent."""
    ours, other = [len(await _requests(hass, server, agent, _STATE)) for agent in agents]
    past = len(await _requests(hass, server, agents[0], _PAST))
    return [
        Row.of("requests", "a question about a state", ours, other, goal=1 / 2),
        Row.of("requests", "a question about the past; limit", past, _MAX_PAST, goal=1.0),
    ]


async def _compare_with_looking(hass: HomeAssistant, server: ClaudeServer, size: int) -> Row:
    """Compare what telling the present adds to a request with the request that it saves: the share from which on it pays."""
    sent: list[list[int]] = []
    for limit in (size, 0):
        (entry,) = hass.config_entries.async_entries("extended_assist")
        (agent,) = entry.get_subentries_of_type("conversation")
        hass.config_entries.async_update_subentry(entry, agent, data={**agent.data, "present": limit})
        await hass.async_block_till_done()
        requests = await _requests(hass, server, agent_of(hass, "extended_assist"), _STATE)
        sent.append([len(json_dumps([one["system"], one["tools"], one["messages"]])) for one in requests])
    data = {key: value for key, value in agent.data.items() if key != "present"}
    hass.config_entries.async_update_subentry(entry, agent, data=data)
    await hass.async_block_till_done()
    (told,), (untold, saved) = sent
    return Row.of(
        "characters", f"telling the present; a request to look, {size} entities", told - untold, saved, goal=None
    )


async def _requests(hass: HomeAssistant, server: ClaudeServer, agent_id: str, question: str) -> list[dict[str, Any]]:
    """Return the requests of a question that begins a conversation."""
    server.responder, before = OfflinePlanner(), len(server.message_requests)
    result = await conversation.async_converse(hass, question, None, Context(), language="en", agent_id=agent_id)
    assert result.response.error_code is None, result.response.speech
    assert "Window 0" in result.response.speech["plain"]["speech"], result.response.speech
    return server.message_requests[before:]


async def _ask(hass: HomeAssistant, server: ClaudeServer, agent_id: str) -> tuple[str, list[dict[str, Any]]]:
    """Return the prompt and the tools that an agent sends."""
    server.responder = Scenario([Turn([text("Hello.")])])
    result = await conversation.async_converse(hass, "Hello", None, Context(), language="en", agent_id=agent_id)
    assert result.response.error_code is None, result.response.speech
    body = server.message_requests[-1]
    system = body["system"]
    return system if isinstance(system, str) else "".join(block["text"] for block in system), body["tools"]
