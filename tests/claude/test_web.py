"""Web search and web fetch, which the server runs: what is kept, shown, and what they may not lead to."""

from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, async_mock_service

from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
from tests.claude_server import ClaudeServer, Fault, Turn, text, tool_use
from tests.conftest import Converse, expose
from tests.helpers.talking import FindLog, assert_every_call_has_a_result, change_agent, roles, speech

pytestmark = pytest.mark.usefixtures("no_deprecations")

URL = "https://weather.example/today"


def search(number: int = 1) -> dict[str, Any]:
    """Return a call of the web search."""
    return {"type": "server_tool_use", "id": f"srvtoolu_{number}", "name": "web_search", "input": {"query": "weather"}}


def found(number: int = 1) -> dict[str, Any]:
    """Return its result."""
    page = {"type": "web_search_result", "url": URL, "title": "Today", "encrypted_content": "x" * 9, "page_age": None}
    return {"type": "web_search_tool_result", "tool_use_id": f"srvtoolu_{number}", "content": [page]}


def cited(words: str) -> dict[str, Any]:
    """Return a text that is taken from the page."""
    place = {
        "type": "web_search_result_location",
        "cited_text": "sunny",
        "encrypted_index": "i",
        "title": "Today",
        "url": URL,
    }
    return {**text(words), "citations": [place]}


@pytest.fixture
async def surfing(hass: HomeAssistant, entry: MockConfigEntry) -> list[Any]:
    """Let the agent search the web; return the calls that turn the lamp on."""
    assert await async_setup_component(hass, "intent", {})
    hass.states.async_set("light.lamp", "off", {"friendly_name": "Lamp"})
    expose(hass, "light.lamp")
    await change_agent(hass, entry, web_search=True, web_fetch=True)
    return async_mock_service(hass, "light", "turn_on")


async def test_search_with_citations(
    converse: Converse, claude_server: ClaudeServer, surfing: list[Any], chat_log: FindLog
) -> None:
    """The answer is said without addresses, its sources are shown, and all of it goes back as it came."""
    blocks = [text("I look it up."), search(), found(), cited("It is sunny.")]
    result = await converse("How is the weather?", Turn(blocks))
    assert speech(result) == "It is sunny."
    assert result.response.card["sources"]["content"] == f"Today: {URL}"
    assert len(claude_server.message_requests) == 1
    assert [tool.get("type") for tool in claude_server.message_requests[0]["tools"]][-2:] == [
        "web_search_20250305",
        "web_fetch_20250910",
    ]
    log = chat_log(result.conversation_id)
    assert roles(log) == ["user", "assistant", "tool_result", "assistant"]
    assert log.content[3].result.data == {"pages": [{"title": "Today", "url": URL}]}
    assert_every_call_has_a_result(log)
    await converse("Thanks", Turn([text("Sure.")]), conversation_id=result.conversation_id)
    assert claude_server.message_requests[-1]["messages"][1] == {"role": "assistant", "content": blocks}


async def test_fetch(converse: Converse, claude_server: ClaudeServer, surfing: list[Any]) -> None:
    """A fetched page is a source; one that could not be fetched is none."""
    fetch = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_fetch", "input": {"url": URL}}
    document = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "Sunny."}}
    page = {"type": "web_fetch_result", "url": URL, "content": {**document, "title": "Today"}, "retrieved_at": None}
    place = {"type": "char_location", "cited_text": "Sunny", "document_index": 0, "document_title": "Today"}
    result = await converse(
        "Read it",
        Turn(
            [
                fetch,
                {"type": "web_fetch_tool_result", "tool_use_id": "srvtoolu_1", "content": page},
                {
                    **text("Sunny."),
                    "citations": [{**place, "start_char_index": 0, "end_char_index": 5, "file_id": None}],
                },
            ]
        ),
    )
    assert result.response.card["sources"]["content"] == f"Today: {URL}"
    error = {"type": "web_fetch_tool_result_error", "error_code": "url_not_accessible"}
    again = await converse(
        "Again",
        Turn(
            [
                {**fetch, "id": "srvtoolu_2"},
                {"type": "web_fetch_tool_result", "tool_use_id": "srvtoolu_2", "content": error},
                text("No."),
            ]
        ),
        conversation_id=result.conversation_id,
    )
    assert speech(again) == "No."
    assert "sources" not in again.response.card
    await converse("Thanks", Turn([text("Sure.")]), conversation_id=result.conversation_id)
    (citation,) = claude_server.message_requests[-1]["messages"][1]["content"][2]["citations"]
    assert "file_id" not in citation


@pytest.mark.parametrize("same_response", [True, False])
async def test_what_strangers_write_does_not_move_the_house(
    converse: Converse, surfing: list[Any], chat_log: FindLog, same_response: bool
) -> None:
    """After a search, what acts waits for the user's own word, even within the response that searched."""
    act = tool_use("intent__HassTurnOn", {"name": "Lamp"})
    before = [search(), found()]
    turns = (
        [Turn([*before, act])]
        if same_response
        else [Turn([*before, tool_use("extended_assist__get_user_name")]), Turn([act])]
    )
    here: dict[str, Any] = {"device_id": "speaker"}
    result = await converse("Weather?", *turns, **here)
    assert surfing == []
    assert speech(result).endswith("Shall I do that?")
    assert_every_call_has_a_result(chat_log(result.conversation_id))
    assert result.continue_conversation
    await converse("Yes", Turn([text("Done.")]), conversation_id=result.conversation_id, **here)
    assert len(surfing) == 1


async def test_calls_side_by_side(converse: Converse, claude_server: ClaudeServer, surfing: list[Any]) -> None:
    """A tool of ours that is called before the result of a search comes in still gets its result in the right place."""
    mixed = Turn(
        [tool_use("extended_assist__get_user_name"), search(), found(), text("Now I know the weather.")],
        stop_reason="tool_use",
    )
    result = await converse("Time and weather?", mixed, Turn([text("Noon and sunny.")]))
    assert speech(result) == "Noon and sunny."
    assistant, answers = claude_server.message_requests[-1]["messages"][1:]
    kinds = [block["type"] for block in assistant["content"]]
    assert kinds == ["tool_use", "server_tool_use", "web_search_tool_result", "text"]
    assert [block["type"] for block in answers["content"]] == ["tool_result"]


async def test_paused_search(converse: Converse, claude_server: ClaudeServer, surfing: list[Any]) -> None:
    """A search that takes the server longer than one response goes on in the next."""
    result = await converse(
        "Weather?", Turn([text("I look."), search()], stop_reason="pause_turn"), Turn([found(), cited("Sunny.")])
    )
    assert speech(result) == "Sunny."
    assert [message["role"] for message in claude_server.message_requests[-1]["messages"]] == ["user", "assistant"]
    await converse("Thanks", Turn([text("Sure.")]), conversation_id=result.conversation_id)
    kinds = [block["type"] for block in claude_server.message_requests[-1]["messages"][1]["content"]]
    assert kinds == ["text", "server_tool_use", "web_search_tool_result", "text"]


async def test_search_that_was_cut_off(
    converse: Converse, claude_server: ClaudeServer, surfing: list[Any], chat_log: FindLog
) -> None:
    """A search without a result is not sent back, which the service would refuse, and is answered in the log."""
    broken = Turn([text("I look."), search(1), found(1), search(2), found(2)], fault=Fault("disconnect", after=15))
    result = await converse("Weather?", broken)
    assert result.response.error_code == "failed_to_handle"
    assert_every_call_has_a_result(chat_log(result.conversation_id))
    await converse("Again", Turn([text("Sunny.")]), conversation_id=result.conversation_id)
    sent = claude_server.message_requests[-1]["messages"][1]["content"]
    called = {block["id"] for block in sent if block["type"] == "server_tool_use"}
    assert (
        called
        == {block["tool_use_id"] for block in sent if block["type"] == "web_search_tool_result"}
        == {"srvtoolu_1"}
    )


async def test_a_tool_that_does_not_exist_is_no_stranger(converse: Converse, surfing: list[Any]) -> None:
    """A misspelt name is our own error, after which the right call needs no question."""
    await converse(
        "Turn on the lamp",
        Turn([tool_use("intent__TurnOn", {"name": "Lamp"})], invents=True),
        Turn([tool_use("intent__HassTurnOn", {"name": "Lamp"})]),
        Turn([text("Done.")]),
    )
    assert len(surfing) == 1


async def test_tool_search_leaves_no_trace(
    converse: Converse, claude_server: ClaudeServer, surfing: list[Any], chat_log: FindLog
) -> None:
    """The server's search among our own tools is neither shown nor taken for a stranger's text."""
    look = {"type": "server_tool_use", "id": "srvtoolu_9", "name": "tool_search_tool_bm25", "input": {"query": "lamp"}}
    reference = {"type": "tool_reference", "tool_name": "intent__HassTurnOn"}
    content = {"type": "tool_search_tool_search_result", "tool_references": [reference]}
    result = await converse(
        "Turn on the lamp",
        Turn(
            [
                look,
                {"type": "tool_search_tool_result", "tool_use_id": "srvtoolu_9", "content": content},
                tool_use("intent__HassTurnOn", {"name": "Lamp"}),
            ]
        ),
        Turn([text("Done.")]),
    )
    assert len(surfing) == 1
    assert roles(chat_log(result.conversation_id)) == ["user", "assistant", "tool_result", "assistant"]
