"""Each rule is broken here once at least, and requests that are near it are let through."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import Any

from anthropic import APIError, APIStatusError, AsyncAnthropic

from tests.claude_server import ClaudeServer, Fault, Scenario, Turn, redacted_thinking, text, thinking, tool_use
from tests.claude_server.kinds import MODEL_KINDS
from tests.claude_server.rules import RULES
from tests.claude_server.rules.rule import REFUSAL_AGAIN, Rule
from tests.claude_server.rules.thinking import BINDING_BETA
from tests.claude_server.server import RULE_HEADER

from .broken import BROKEN, FINE, HAIKU, HAIKU_4, OPUS, SAID, SEARCH, Body, assistant, tool, user

_BLIND = MODEL_KINDS["without thinking"] | {"id": "blind", "capabilities": {}}
MODELS = [*MODEL_KINDS.values(), _BLIND]
DROP = {
    "thinking": {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}},
    "betas": BINDING_BETA,
}
_FINE = Turn([text("Fine.")])


class Talk:
    """A client that says what it is told to, and goes on with the conversation."""

    def __init__(self, server: ClaudeServer, client: AsyncAnthropic) -> None:
        """Take both."""
        self.server = server
        self._client = client
        # Of another version of the SDK, so that its types do not get in front of the rules.
        self.headers = {"X-Stainless-Package-Version": "99.0.0"}
        self.body: Body = {"model": HAIKU, "max_tokens": 500, "tools": [tool()], "messages": [user(SAID)]}

    async def send(self, turn: Turn = _FINE, **change: Any) -> Body:
        """Send the body, changed, and return the answer."""
        self.server.responder = Scenario([turn])
        body = self.body | change
        headers = self.headers | ({"anthropic-beta": betas} if (betas := body.pop("betas", None)) else {})
        answer: Any = await self._client.post("/v1/messages", body=body, cast_to=object, options={"headers": headers})
        assert isinstance(answer, dict)
        return answer

    async def go_on(self, turn: Turn, *blocks: Body) -> list[Body]:
        """Send the body, take the answer and what is said to it into the messages, and return them."""
        answer = await self.send(turn)
        said = list(blocks) or [
            {"type": "tool_result", "tool_use_id": block["id"], "content": "done"}
            for block in answer["content"]
            if block["type"] == "tool_use"
        ]
        self.body["messages"] = [*self.body["messages"], assistant(*answer["content"]), user(*(said or [SAID]))]
        return list(self.body["messages"])

    async def refused(self, rule: Rule, **change: Any) -> None:
        """Check that a rule refuses the body, changed, and no other rule before it."""
        try:
            answer = await self.send(**change)
        except APIStatusError as err:
            error: Any = err.body
            status, message = err.status_code, error["error"]["message"]
            name = err.response.headers[RULE_HEADER]
        else:
            status, message, name = REFUSAL_AGAIN, answer["stop_reason"], rule.name
        assert status == rule.status, f"{rule.name}: {message} comes of {str(change)[:300]}"
        assert (rule.words in message, name) == (True, rule.name), (rule.name, name, message)


@asynccontextmanager
async def talking(**options: Any) -> AsyncIterator[Talk]:
    """Run a server, and something to say to it."""
    async with (
        ClaudeServer(Scenario([]), models=MODELS, every_rule=True, **options) as server,
        AsyncAnthropic(base_url=server.url, api_key="test-key", max_retries=0) as client,
    ):
        yield Talk(server, client)


async def _foreign_signature(talk: Talk, rule: Rule) -> None:
    for block in ({"type": "thinking", "thinking": "x", "signature": "x"}, {"type": "redacted_thinking", "data": "x"}):
        field = "data" if "data" in block else "signature"
        words = f"Invalid `{field}` in `{block['type']}` block"
        await talk.refused(replace(rule, words=words), messages=[user(SAID), assistant(block, SAID), user(SAID)])


async def _modified_thinking(talk: Talk, rule: Rule) -> None:
    said = await talk.go_on(Turn([thinking("Hm."), text("Fine.")]))
    first = said[1]["content"][0]
    await talk.refused(rule, messages=[said[0], assistant(first | {"thinking": "No."}, SAID), said[2]])
    async with talking(omits_thinking=True) as other:
        said = await other.go_on(Turn([thinking("Hm."), text("Fine.")]))
        assert said[1]["content"][0]["thinking"] == ""
        await other.send(messages=[said[0], assistant(said[1]["content"][0] | {"thinking": "No."}, SAID), said[2]])


async def _mixed_thinking(talk: Talk, rule: Rule) -> None:
    """What breaks off after its thinking and is tried again leaves the thinking of two responses in one message."""
    broken = await talk.send(Turn([thinking("Hm."), text("Fine.")]))
    said = await talk.go_on(Turn([thinking("So."), redacted_thinking(), text("Fine."), tool_use("look")]))
    first, redacted, *rest = said[1]["content"]
    for blocks in ([broken["content"][0], first, redacted], [first], [redacted], [redacted, first]):
        await talk.refused(rule, messages=[said[0], assistant(*blocks, *rest), said[2]])
    await talk.send()
    await talk.send(messages=[said[0], assistant(*rest), said[2]])


async def _bound_thinking(talk: Talk, rule: Rule) -> None:
    """Whatever changes before a thinking block makes it useless, but for marks, options, and tools nobody has found yet."""
    talk.body |= {"system": "Be brief."}
    await talk.go_on(Turn([thinking("Hm."), text("One.")]), {"type": "text", "text": "And?"})
    said = await talk.go_on(Turn([thinking("So."), tool_use("look")]))
    system, tools = talk.body["system"], talk.body["tools"]
    alone = [said[0], assistant(*said[1]["content"][1:]), *said[2:]]
    gap = [*said[:3], assistant(*said[3]["content"][1:]), said[4]]
    for change in (
        {"system": "Be verbose."},
        {"system": ""}
        if False
        else {"system": [{"type": "text", "text": system}, {"type": "text", "text": "It is noon."}]},
        {"tools": [*tools, tool(name="new")]},
        {"tools": [tool(description="changed")]},
        {"messages": [user({"type": "text", "text": "Hi"}), *said[1:]]},
        {"messages": [*said[:3], assistant(*said[3]["content"]), said[4], assistant(SAID), user(SAID)][2:]},
    ):
        await talk.refused(rule, **change)
        answer = await talk.send(**change | DROP)
        assert {entry["reason"] for entry in answer["input_transformations"]} == {"prefix_binding_mismatch"}, answer
    for change in (
        {"system": [{"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}]},
        {"tools": [*tools, tool(name="new", defer_loading=True)]},
        {"max_tokens": 900, "output_config": {"effort": "low"}, "tool_choice": {"type": "none"}},
        {"messages": alone},
        {"messages": gap},
        {"system": "Be verbose.", "model": HAIKU_4, "messages": [said[0], assistant(SAID), said[2]]},
        {"system": "Be verbose.", "messages": [*alone[:3], assistant(*said[3]["content"][1:]), said[4]]},
    ):
        await talk.send(**change)
    async with talking(new_account=False) as older:
        said = await older.go_on(Turn([thinking("Hm."), text("One.")]))
        answer = await older.send(system="New.", betas=BINDING_BETA)
        assert [entry["type"] for entry in answer["input_transformations"]] == ["thinking_mismatch_allowed"]


async def _container(talk: Talk, rule: Rule) -> None:
    """What code left behind is there for who names the answer's container, and for nobody who names another."""
    talk.body["tools"] = [{"type": "code_execution_20260521", "name": "code_execution"}]
    name = (await talk.send())["container"]["id"]
    await talk.send(container=name)
    for other in ("container_none", {"id": "container_none"}):
        await talk.refused(rule, container=other)


async def _moved_thinking(talk: Talk, rule: Rule) -> None:
    """Thinking may be left out from its beginning, from its end, or all of it, but neither between nor for a while."""
    for words in ("One.", "Two.", "Three."):
        await talk.go_on(Turn([thinking("Hm."), text(words)]))
    said = talk.body["messages"]
    bare = [
        message | {"content": message["content"][1:]} if message["role"] == "assistant" else message for message in said
    ]
    await talk.refused(rule, messages=[*said[:3], bare[3], *said[4:]])
    for kept in ([*bare[:3], *said[3:]], [*said[:5], *bare[5:]], bare):
        await talk.send(messages=kept)
    talk.body["messages"] = bare
    later = await talk.go_on(Turn([thinking("So."), text("Four.")]))
    await talk.send()
    await talk.refused(rule, messages=[*said, *later[7:]])
    await talk.send(messages=[*said, *later[7:]], **DROP)


async def _manual_thinking_first(talk: Talk, rule: Rule) -> None:
    talk.body |= {"model": HAIKU_4, "thinking": {"type": "enabled", "budget_tokens": 1_024}, "max_tokens": 2_000}
    said = await talk.go_on(Turn([thinking("Hm."), tool_use("look")]))
    bare = [said[0], assistant(said[1]["content"][1]), said[2]]
    await talk.refused(rule, messages=bare)
    await talk.send(messages=bare, thinking={"type": "disabled"})
    await talk.send(messages=[*bare, assistant(SAID), user(SAID)])
    talk.body["messages"] = [user(SAID)]
    await talk.go_on(Turn([tool_use("look")]))
    await talk.send()


async def _refused_turn_left_in(talk: Talk, rule: Rule) -> None:
    """The refused turn must go, with its question; the same question alone may be asked again."""
    await talk.go_on(_FINE, {"type": "text", "text": "Do evil."})
    before = talk.body["messages"][:-1]
    said = await talk.go_on(Turn([text("I")], stop_reason="refusal"), {"type": "text", "text": "Then good."})
    await talk.refused(rule)
    await talk.refused(rule, messages=[*before, user(*said[2]["content"], *said[4]["content"])])
    await talk.send(messages=[*before, user(*said[4]["content"])])
    await talk.send(messages=said[:3])
    await talk.send()


async def _prefill(talk: Talk, rule: Rule) -> None:
    """A response that paused is sent back as it is, and nothing else ends with the model."""
    for body in BROKEN["prefill"]:
        await talk.refused(rule, **body)
    searched = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}}
    answer = await talk.send(Turn([text("I look."), searched], stop_reason="pause_turn"), tools=[SEARCH])
    await talk.send(tools=[SEARCH], messages=[user(SAID), assistant(*answer["content"])])


async def _search_result(talk: Talk, rule: Rule) -> None:
    page = {
        "type": "web_search_result",
        "url": "https://a.example",
        "title": "A",
        "encrypted_content": "x",
        "page_age": None,
    }
    searched = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}}
    found = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [page]}
    said = await talk.go_on(Turn([searched, found, text("Sunny.")]))
    await talk.send()
    changed = found | {"content": [page | {"encrypted_content": "y"}]}
    await talk.refused(rule, messages=[said[0], assistant(searched, changed, SAID), said[2]])


async def _fields(talk: Talk, rule: Rule) -> None:
    """The types are those of the SDK that this process has installed, so only its own requests are held against them."""
    await talk.send(colour="red")
    talk.headers = {}
    await talk.refused(rule, colour="red")


_IN_TURN: dict[str, Callable[[Talk, Rule], Awaitable[None]]] = {
    name.removeprefix("_"): value
    for name, value in (
        *(("_fields", _fields), ("_foreign_signature", _foreign_signature), ("_modified_thinking", _modified_thinking)),
        *(("_mixed_thinking", _mixed_thinking), ("_bound_thinking", _bound_thinking), ("_prefill", _prefill)),
        ("_moved_thinking", _moved_thinking),
        *(("_manual_thinking_first", _manual_thinking_first), ("_refused_turn_left_in", _refused_turn_left_in)),
        *(("_search_result", _search_result), ("_container", _container)),
    )
}


async def _broken(rule: Rule) -> None:
    """Break a rule."""
    async with talking() as talk:
        if step := _IN_TURN.get(rule.name):
            await step(talk, rule)
            return
        for body in BROKEN[rule.name]:
            # Without tools of its own, unless the request brings some.
            talk.body.pop("tools", None)
            await talk.refused(rule, **body)


async def check_near_the_rules() -> None:
    """What is just within the rules is let through."""
    async with talking() as talk:
        for body in FINE:
            talk.body.pop("tools", None)
            assert (await talk.send(**body))["stop_reason"] == "end_turn", body


async def check_thinking_of_a_response_that_broke_off() -> None:
    """The thinking that came before a response broke off may come back, however much of it there was."""
    async with talking() as talk:
        broken = Turn([thinking("Hm."), text("Fine.")], fault=Fault("sse_error"))
        with suppress(APIError):
            await talk.send(broken)
        (signature,) = talk.server.memory.thoughts
        block = {"type": "thinking", "thinking": "Hm.", "signature": signature}
        await talk.send(messages=[user(SAID), assistant(block, SAID), user(SAID)])


async def check_each_rule_has_its_row() -> None:
    """Each rule has a name of its own, a text, an address, and something that breaks it; and there is nothing besides."""
    names = [rule.name for rule in RULES]
    assert len(set(names)) == len(names)
    assert set(names) == BROKEN.keys() | _IN_TURN.keys(), set(names) ^ (BROKEN.keys() | _IN_TURN.keys())
    for rule in RULES:
        assert rule.refuses.endswith("."), rule.name
        assert rule.page.address.startswith("https://"), rule.name


async def check_models_of_every_kind() -> None:
    """Every kind of model is listed, and answers."""
    async with talking() as talk:
        for model in MODEL_KINDS.values():
            talk.body.pop("tools", None)
            assert (await talk.send(model=model["id"]))["stop_reason"] == "end_turn"
    assert OPUS in {model["id"] for model in MODELS}


RULE_CHECKS = {f"rule {rule.name}": partial(_broken, rule) for rule in RULES}
