"""Tests of what is sent so that the server reads from its cache, against a model of that cache."""

from collections.abc import Callable
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.extended_assist.claude.caching import PromptCache, with_marks
from custom_components.extended_assist.const import CONF_PROMPT_CACHE
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
from tests.claude_server import ClaudeServer, Turn, text, thinking, tool_use
from tests.claude_server.cache import MINIMUM, input_tokens, marks
from tests.conftest import Converse, expose

pytestmark = pytest.mark.usefixtures("no_deprecations")

GET_ENTITIES = "extended_assist__get_entities"
MARK = {"type": "ephemeral"}


type Choose = Callable[[str], Any]


@pytest.fixture
def choose(hass: HomeAssistant, entry: MockConfigEntry) -> Choose:
    """Return a function that sets how long the agent's requests are cached."""

    async def change(cache: str) -> None:
        (subentry,) = entry.subentries.values()
        hass.config_entries.async_update_subentry(entry, subentry, data={**subentry.data, CONF_PROMPT_CACHE: cache})
        await hass.async_block_till_done()

    return change


@pytest.fixture
async def home(hass: HomeAssistant, assist: None) -> None:
    """A home large enough that its description is worth caching."""
    assert await async_setup_component(hass, "intent", {})
    for index in range(100):
        entity_id = f"light.lamp_{index}"
        hass.states.async_set(entity_id, "on", {"friendly_name": f"Lamp {index}"})
        expose(hass, entity_id)


def read(server: ClaudeServer) -> list[tuple[int, int, int]]:
    """Return for each request what was found in the cache, how much it held, and how much the one before held."""
    sizes = [input_tokens(request) for request in server.message_requests]
    return list(zip(server.cache.found, sizes, [0, *sizes], strict=False))


def request(**fields: Any) -> dict[str, Any]:
    """Return a request as the loop builds it."""
    message = {"role": "user", "content": [{"type": "text", "text": "Hello"}]}
    return {"system": "Be kind.", "tools": [{"name": "a"}, {"name": "b"}], "messages": [message]} | fields


@pytest.mark.parametrize(("cache", "lasting"), [("5m", MARK), ("1h", {"type": "ephemeral", "ttl": "1h"})])
def test_marks(cache: str, lasting: dict[str, str]) -> None:
    """Tools and system prompt for as long as chosen, the end of the messages for five minutes."""
    given = request()
    assert with_marks(given, PromptCache(cache)) == {
        "system": [{"type": "text", "text": "Be kind.", "cache_control": lasting}],
        "tools": [{"name": "a"}, {"name": "b", "cache_control": lasting}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Hello", "cache_control": MARK}]}],
    }
    assert given == request()


def test_without_caching_nothing_is_added() -> None:
    """A server that may not know the field does not see it."""
    assert with_marks(request(), PromptCache.OFF) == request()


def test_no_tools_and_no_prompt() -> None:
    """What is not sent is not marked."""
    given = {key: value for key, value in request().items() if key not in ("system", "tools")}
    marked = with_marks(given, PromptCache.FIVE_MINUTES)
    assert marked.keys() == given.keys()


def test_last_two_messages_of_the_user_are_marked() -> None:
    """The end of this request, and the end of the one before."""
    messages = [
        {"role": role, "content": [{"type": "text", "text": f"{index}a"}, {"type": "text", "text": f"{index}b"}]}
        for index, role in enumerate(["user", "assistant"] * 3 + ["user"])
    ]
    marked = with_marks(request(messages=messages), PromptCache.FIVE_MINUTES)
    assert list(marks(marked | {"model": "m"})) == ["tools.1", "system.0", "messages.4.1", "messages.6.1"]


def test_deferred_tool_is_not_marked() -> None:
    """The server refuses it; the mark goes to the last tool that is always there."""
    tools = [{"name": "a"}, {"name": "b", "defer_loading": True}]
    marked = with_marks(request(tools=tools), PromptCache.FIVE_MINUTES)
    assert marked["tools"] == [{"name": "a", "cache_control": MARK}, tools[1]]


async def test_everything_is_read_from_the_second_request_on(
    hass: HomeAssistant, home: None, converse: Converse, claude_server: ClaudeServer, choose: Choose
) -> None:
    """Over turns and rounds of tools, each request finds all that the one before it held, however many blocks came since."""
    await choose("5m")
    look = tool_use(GET_ENTITIES, {"name": "lamp 7"})
    first = await converse("Hello", Turn([thinking("Hm."), text("Good evening.")]))
    for turns in (
        [Turn([text("I look."), look]), Turn([text("On.")])],
        [Turn([look] * 25), Turn([thinking("So."), look, look]), Turn([text("On.")])],
        [Turn([text(f"Part {index}.") for index in range(30)] + [look]), Turn([text("On.")])],
        [Turn([text("Bye.")])],
    ):
        hass.states.async_set(
            "light.lamp_7", "off", {"friendly_name": "Lamp 7"}
        )  # What changes in the home must not matter.
        await converse("And now?", *turns, conversation_id=first.conversation_id)
    found = read(claude_server)
    assert len(found) == 9
    assert found[0][0] == 0
    assert [(before, size) for got, size, before in found[1:] if got != before] == []
    assert sum(got for got, _, _ in found[1:]) / sum(size for _, size, _ in found[1:]) > 0.9


async def test_without_marks_nothing_is_read(
    home: None, converse: Converse, claude_server: ClaudeServer, choose: Choose
) -> None:
    """The cache of these tests keeps nothing by itself."""
    await choose("off")
    first = await converse("Hello", Turn([text("Good evening.")]))
    await converse("And now?", Turn([text("Bye.")]), conversation_id=first.conversation_id)
    assert claude_server.cache.found == [0, 0]
    last = claude_server.message_requests[-1]
    optional = {"context_management", "thinking", "output_config"}
    assert last.keys() - optional == {"model", "max_tokens", "system", "tools", "messages", "stream"}
    assert {key for tool in last["tools"] for key in tool} == {"name", "description", "input_schema"}
    assert marks(last) == {}


async def test_new_conversation_reads_prompt_and_tools(
    home: None, converse: Converse, claude_server: ClaudeServer, choose: Choose
) -> None:
    """What all conversations share is found by the next one; with the hour, also after a silence."""
    moment = 0.0
    claude_server.cache.now = lambda: moment
    for cache, silence, again in (("5m", 200, True), ("5m", 400, False), ("1h", 400, True), ("1h", 4000, False)):
        await choose(cache)
        moment += 10_000
        await converse("Hello", Turn([text("Good evening.")]))
        moment += silence
        await converse("Which lamps are on?", Turn([text("All.")]))
        last = claude_server.message_requests[-1]
        shared = input_tokens(last | {"messages": []})
        assert shared > MINIMUM
        assert claude_server.cache.found[-1] == (shared if again else 0)


async def test_changing_instructions_still_share_the_tools(
    hass: HomeAssistant,
    home: None,
    entry: MockConfigEntry,
    converse: Converse,
    claude_server: ClaudeServer,
    choose: Choose,
) -> None:
    """The user's instructions may hold a template that changes with every request; the tools come before them."""
    (subentry,) = entry.subentries.values()
    hass.config_entries.async_update_subentry(
        entry, subentry, data={**subentry.data, "prompt": "It is {{ now().microsecond }} {{ range(9999) | random }}."}
    )
    await choose("5m")
    for _ in range(2):
        await converse("Hello", Turn([text("Good evening.")]))
    tools = input_tokens(claude_server.message_requests[-1] | {"system": [], "messages": []})
    assert tools > MINIMUM
    assert claude_server.cache.found == [0, tools]


async def test_lifetimes(converse: Converse, home: None, claude_server: ClaudeServer, choose: Choose) -> None:
    """All four marks of a request in a conversation, in the order that the server checks."""
    await choose("1h")
    await converse("Hello", Turn([tool_use("extended_assist__get_user_name", {})]), Turn([text("Late.")]))
    assert list(marks(claude_server.message_requests[-1]).values()) == ["1h", "1h", "5m", "5m"]
