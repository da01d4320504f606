"""Nothing of anybody's own, or of what is hidden, gets out: each person, from each device, through each agent, with each tool."""

from itertools import product
import json
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, MockUser

from custom_components.extended_assist.api.instance import api_id
from custom_components.extended_assist.flows.agent import default_agent, default_task
from custom_components.extended_assist.memory.fact import Fact
from custom_components.extended_assist.tools import FAMILIES
from homeassistant.components import ai_task, conversation
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import device_registry as dr, entity_registry as er, llm
from homeassistant.setup import async_setup_component
from tests.claude_server import ClaudeServer, Scenario, Turn, text, tool_use
from tests.confirmation.doors import CORE_AGENT, TASK, Call, Mcp, Model
from tests.confirmation.test_matrix import add_core_agent
from tests.conftest import AGENT, MODEL, async_set_up

from .people import async_memory, by_administrator

pytestmark = pytest.mark.usefixtures("quiet", "hass_storage")

PERSONS = ("anna", "ben", "guest", "nobody")
DEVICES = ("none", "phone", "satellite")
AGENTS = ("our agent", "core's agent", "task", "mcp")
WORDS = {"anna": "aardvark", "ben": "buffalo", "household": "hedgehog", "hidden": "hyena", "attic": "antelope"}
"""A word that is in one fact only."""
RECALL, REMEMBER = "extended_assist__recall", "extended_assist__remember"
UNDO = "extended_assist__undo_last_change"
CALLS = (
    *(Call(RECALL, arguments) for arguments in ({}, {"words": " ".join(WORDS.values())}, {"about": "Anna"})),
    *(Call(RECALL, {"words": word}) for word in WORDS.values()),
    Call(RECALL, {"about": "Zebra lamp"}),
    *(Call(REMEMBER, {"fact": f"The {word} is here.", "whose": "household"}) for word in ("animal", "lamp")),
    *(Call(REMEMBER, {"forget": [one]}) for one in ("annasx", "benxxx", "hidden")),
    Call(REMEMBER, {"fact": "x", "whose": "me", "replaces": ["annasx", "benxxx"]}),
    Call(REMEMBER, {"forget": ["everything"]}),
    Call(UNDO),
)


class Home:
    """A home whose people have facts of their own, and what a model is told in it."""

    def __init__(self, hass: HomeAssistant, server: ClaudeServer, entry: MockConfigEntry) -> None:
        """Take what it is made of."""
        self.hass, self.server, self.entry = hass, server, entry
        self.users: dict[str, str | None] = {"nobody": None}
        self.devices: dict[str, str | None] = {"none": None}

    async def told(self, agent: str, person: str, device: str, *calls: Call) -> tuple[str, str]:
        """Return all that a model is told when somebody speaks: before its calls, which it makes at once, and after them."""
        user_id, device_id = self.users[person], self.devices[device]
        before = len(self.server.requests)
        api = api_id(self.entry.entry_id)
        if agent == "mcp":
            context = llm.LLMContext("mcp_server", Context(user_id=user_id), "*", "conversation", device_id)
            instance = await llm.async_get_api(self.hass, api, context)
            heard = await Mcp(self.hass, self.server, [api]).say(*calls, user_id=user_id)
            return instance.api_prompt, json.dumps(heard.results)
        asked = Turn([tool_use(call.tool, call.arguments) for call in calls])
        self.server.responder = Scenario([asked, Turn([text("Done.")])])
        if agent == "task":
            (selected,) = [one for one in llm.async_get_apis(self.hass) if one.id == api]
            await ai_task.async_generate_data(
                self.hass,
                task_name="leaks",
                entity_id=TASK,
                instructions="Go on",
                llm_api=selected,
                context=Context(user_id=user_id),
            )
        else:
            agent_id = AGENT if agent == "our agent" else CORE_AGENT
            result = await conversation.async_converse(
                self.hass, "Remember!", None, Context(user_id=user_id), "en", agent_id, device_id
            )
            assert result.response.error_code is None, result.response.speech
        first, *rest = (json.dumps(request.body, ensure_ascii=False) for request in self.server.requests[before:])
        return first, "".join(rest)


@pytest.fixture
async def home(hass: HomeAssistant, assist: None, claude_server: ClaudeServer, monkeypatch: pytest.MonkeyPatch) -> Home:
    """Set up the home: two who live there, one who may only look, a phone, a satellite, and a hidden lamp."""
    for component in ("intent", "ai_task"):
        assert await async_setup_component(hass, component, {})
    entry = await async_set_up(hass, claude_server, default_agent([], MODEL), default_task([], MODEL))
    # Where nothing is ever asked, whatever is done is told at once.
    options = {"families": list(FAMILIES), "ask_first": [], "allow_without_chat": True}
    hass.config_entries.async_update_entry(entry, options=options)
    await hass.async_block_till_done()
    monkeypatch.setenv("ANTHROPIC_BASE_URL", claude_server.url)
    await add_core_agent(hass, [api_id(entry.entry_id)])
    made = Home(hass, claude_server, entry)
    for name in ("anna", "ben", "guest"):
        user = MockUser(name=name.capitalize(), is_active=name != "guest").add_to_hass(hass)
        made.users[name] = user.id
    for name in ("phone", "satellite"):
        device = dr.async_get(hass).async_get_or_create(config_entry_id=entry.entry_id, identifiers={("test", name)})
        made.devices[name] = device.id
    er.async_get(hass).async_get_or_create("assist_satellite", "test", "x", device_id=made.devices["satellite"])
    hass.states.async_set("person.anna", "home", {"friendly_name": "Anna", "user_id": made.users["anna"]})
    hass.states.async_set("light.zebra", "on", {"friendly_name": "Zebra lamp"})
    hass.states.async_set("light.seen", "on", {"friendly_name": "Seen lamp"})
    for assistant in ("conversation", "ai_task"):
        async_expose_entity(hass, assistant, "light.seen", True)
    await async_memory(
        hass,
        Fact(f"Anna has an {WORDS['anna']}.", made.users["anna"], id="annasx", entities=["person.anna"]),
        Fact(f"Ben has a {WORDS['ben']}.", made.users["ben"], id="benxxx"),
        by_administrator(hass, Fact(f"There is a {WORDS['household']}.", id="shared")),
        Fact(f"The zebra lamp is a {WORDS['hidden']}.", entities=["light.zebra"], id="hidden"),
        Fact(f"Anna has a hidden {WORDS['attic']}.", made.users["anna"], entities=["light.zebra"], id="both"),
    )
    return made


def may_hear(agent: str, person: str, device: str, *, elsewhere: bool) -> set[str]:
    """Return whose words may be told."""
    if agent in ("task", "mcp") and not elsewhere:
        return set()
    is_known = person in ("anna", "ben") and device != "satellite" and agent != "task"
    return {"household", *([person] if is_known else ())}


@pytest.mark.parametrize("elsewhere", [False, True], ids=["", "elsewhere"])
@pytest.mark.parametrize("agent", AGENTS)
async def test_nobody_hears_more(hass: HomeAssistant, home: Home, agent: str, elsewhere: bool) -> None:
    """Prompt and results hold the words that are for whoever speaks there, and no others."""
    if elsewhere:
        options = {**home.entry.options, "memory_elsewhere": True}
        hass.config_entries.async_update_entry(home.entry, options=options)
        await hass.async_block_till_done()
    for person, device in product(PERSONS, DEVICES):
        if agent == "mcp" and device == "satellite":
            continue  # A program speaks from no room.
        prompt, results = await home.told(agent, person, device, *CALLS[:8])
        allowed = may_hear(agent, person, device, elsewhere=elsewhere)
        for told in (prompt, prompt + results):
            assert {key for key, word in WORDS.items() if f" {word}." in told} == allowed, (person, device)


@pytest.mark.parametrize("agent", AGENTS)
async def test_nobody_changes_more(hass: HomeAssistant, home: Home, agent: str) -> None:
    """Whatever is tried, nobody's own facts are changed by another, nor do answers tell of them."""
    memory = await async_memory(hass)
    for person, device in product(("guest", "nobody", "ben"), DEVICES):
        if agent == "mcp" and device == "satellite":
            continue
        # What asks is called alone, and so is what could bring back what must not have gone.
        for calls in (CALLS[8:-2], CALLS[-2:-1], CALLS[-1:]):
            told = "".join(await home.told(agent, person, device, *calls))
            assert not any(f" {WORDS[key]}." in told for key in ("anna", "hidden", "attic")), (person, device, calls)
            assert memory.find("annasx") in memory.held, (person, device, calls)
            assert memory.find("hidden") in memory.held
            assert memory.find("shared") in memory.held


async def test_off_at_once(hass: HomeAssistant, home: Home) -> None:
    """Switching memory off takes facts out of prompt and tools at once, in conversations that go on as well."""
    home.server.responder = Model(lambda call, _: call.tool, ())
    first = await conversation.async_converse(hass, "Hello", None, Context(user_id=home.users["anna"]), "en", AGENT)
    assert WORDS["anna"] in json.dumps(home.server.requests[-1].body)
    families = [family for family in FAMILIES if family != "memory"]
    hass.config_entries.async_update_entry(home.entry, options={**home.entry.options, "families": families})
    await hass.async_block_till_done()
    home.server.responder = Model(lambda call, _: call.tool, ())
    context = Context(user_id=home.users["anna"])
    await conversation.async_converse(hass, "And now?", first.conversation_id, context, "en", AGENT)
    body: dict[str, Any] = home.server.requests[-1].body
    assert WORDS["anna"] not in json.dumps(body["system"])
    await conversation.async_converse(hass, "Anew", None, context, "en", AGENT)
    body = home.server.requests[-1].body
    assert not [word for word in WORDS.values() if word in json.dumps(body)]
    assert not [tool["name"] for tool in body["tools"] if tool["name"] in (RECALL, REMEMBER)]
