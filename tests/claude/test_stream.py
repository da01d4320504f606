"""Tests of responses as servers may send them, event by event."""

from collections.abc import AsyncIterator
import json
from typing import Any

import pytest

from custom_components.extended_assist.claude.response_blocks import pages_of, to_log
from custom_components.extended_assist.claude.stream import ResponseStream

CITATION = {"type": "web_search_result_location", "url": "https://example.com/", "title": "Example", "cited_text": "x"}


def block(index: int, start: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the events of one block."""
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


BEGIN = [{"type": "message_start", "message": {"usage": {"input_tokens": 100}}}]
SAID = block(0, {"type": "text", "text": "Good evening."})
END: list[dict[str, Any]] = [
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 4}},
    {"type": "message_stop"},
]


async def take(*events: dict[str, Any]) -> tuple[ResponseStream, list[Any]]:
    """Return a response that consists of these events, and its deltas."""

    async def notice() -> str:
        return "(cut)"

    async def send() -> AsyncIterator[object]:
        for event in events:
            yield event

    response = ResponseStream(model="m", tool_names=["paint"], cut_notice=notice, time_limit=5)
    return response, [delta async for delta in response.deltas(send())]


def tokens(deltas: list[Any]) -> list[int]:
    """Return what the server counted, by part."""
    return [delta["native"].tokens for delta in deltas if "native" in delta]


async def test_whole() -> None:
    """A response that comes to its end holds what was said and what it cost."""
    response, deltas = await take(*BEGIN, *SAID, *END)
    assert response.error is None
    assert [delta["content"] for delta in deltas if "content" in delta] == ["Good evening."]
    assert tokens(deltas) == [100]


async def test_ends_early() -> None:
    """A response that simply stops, as some proxies let it, is an error; what was said stays."""
    response, deltas = await take(*BEGIN, *SAID)
    assert isinstance(response.error, ConnectionError)
    assert [delta["native"].blocks for delta in deltas if "native" in delta] == [
        [{"type": "text", "text": "Good evening."}]
    ]


@pytest.mark.parametrize(("edits", "counted"), [([], 100), ([{"type": "clear_tool_uses_20250919"}], 0)])
async def test_edited_by_the_server(edits: list[Any], counted: int) -> None:
    """What the server counted after it had cleared some of a request says nothing of the whole request."""
    end = {**END[0], "context_management": {"applied_edits": edits}}
    _, deltas = await take(*BEGIN, *SAID, end, END[1])
    assert tokens(deltas) == [counted]


async def test_citations_at_once() -> None:
    """What a text is taken from may come with its beginning."""
    text = {"type": "text", "text": "It is so.", "citations": [{**CITATION, "file_id": None}]}
    response, deltas = await take(*BEGIN, *block(0, text), *END)
    assert response.sources == {"https://example.com/": "Example"}
    (native,) = [delta["native"] for delta in deltas if "native" in delta]
    assert native.blocks == [{"type": "text", "text": "It is so.", "citations": [CITATION]}]


async def test_call_of_a_servers_tool_that_cannot_be_read() -> None:
    """A call of the server's own tool that cannot be read is left out, and what comes after it is said."""
    search = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    broken = block(0, search, {"type": "input_json_delta", "partial_json": '{"query": "li'})
    said = block(1, {"type": "text", "text": "Good evening."})
    response, deltas = await take(*BEGIN, *broken, *said, *END)
    assert response.error is None
    assert not [delta for delta in deltas if "tool_calls" in delta]
    assert [delta["content"] for delta in deltas if "content" in delta] == ["Good evening."]


@pytest.mark.parametrize(
    ("content", "pages"),
    [
        ([{"type": "web_search_result", "url": "https://a/", "title": "A"}, "?", {"url": ""}], {"https://a/": "A"}),
        ({"type": "web_fetch_result", "url": "https://b/", "content": {"title": "B"}}, {"https://b/": "B"}),
        ({"type": "web_fetch_result", "url": "https://b/", "content": None}, {"https://b/": "https://b/"}),
        (None, {}),
        ("nothing", {}),
    ],
)
def test_pages(content: Any, pages: dict[str, str]) -> None:
    """The pages of a result are told by title and address, whatever else it holds."""
    result = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": content}
    assert pages_of(result) == pages
    told = [{"title": title, "url": url} for url, title in pages.items()]
    assert json.loads(json.dumps(to_log(result).data)) == {"pages": told}
