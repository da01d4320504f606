"""What a server refused once is left out from the first request of the next conversation on."""

from collections.abc import AsyncGenerator
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.extended_assist.claude import request_repair as room
from custom_components.extended_assist.claude.request_repair import KEPT_FOR, Refused
from custom_components.extended_assist.const import DOMAIN
from homeassistant.core import HomeAssistant
from homeassistant.helpers import issue_registry as ir, llm
from tests.claude.test_append_only import GET_ENTITIES, Talk, answer, thoughts, words_of
from tests.claude.test_hostile import Odd, OddAPI
from tests.claude_server import ClaudeServer, Fault, Scenario, Turn, text, thinking, tool_use
from tests.claude_server.kinds import MODEL_KINDS
from tests.conftest import Converse
from tests.helpers.talking import change_agent

pytestmark = pytest.mark.usefixtures("no_deprecations")


@pytest.fixture
async def claude_server(socket_enabled: None) -> AsyncGenerator[ClaudeServer]:
    """Return a server that lists a model of each kind."""
    async with ClaudeServer(Scenario([]), models=list(MODEL_KINDS.values())) as server:
        yield server


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return the time, which the test can change."""
    now = [1_000.0]
    monkeypatch.setattr(room, "monotonic", lambda: now[0])
    return now


def refusal(words: str) -> Turn:
    """Return a refusal."""
    return Turn(fault=Fault("http", status=400, message=words))


@pytest.fixture
def new_talk(converse: Converse, claude_server: ClaudeServer) -> Any:
    """Return what begins a conversation."""
    return lambda: Talk(converse, claude_server)


async def test_a_field(new_talk: Any, clock: list[float]) -> None:
    """A field that the model does not take is left out at once, until a day has gone by."""
    bad = refusal("output_config.effort: low is not supported by this model")
    assert await new_talk().say("Hello", bad, answer("Hi.")) == "Hi."
    for _ in range(2):
        talk = new_talk()
        assert await talk.say("Hello", answer("Hi.")) == "Hi."
        assert "output_config" not in talk.requests[-1]
        assert "thinking" not in talk.requests[-1]
    assert len(talk.requests) == 4
    clock[0] += KEPT_FOR
    await new_talk().say("Hello", answer("Hi."))
    assert talk.requests[-1]["output_config"] == {"effort": "low"}
    assert talk.refusals == []


async def test_a_field_that_was_not_to_blame(new_talk: Any) -> None:
    """What does not help is not remembered."""
    bad = refusal("output_config.effort: low is not supported by this model")
    assert "did not accept" in await new_talk().say("Hello", bad, refusal("Odd."), refusal("Odd."))
    talk = new_talk()
    await talk.say("Hello", answer("Hi."))
    assert talk.requests[-1]["output_config"] == {"effort": "low"}


async def test_thinking_that_went_astray(new_talk: Any) -> None:
    """A refusal of earlier thinking says nothing of the fields."""
    talk = new_talk()
    await talk.say("Hello", answer("Hi."))
    assert await talk.say("And now?", refusal("Invalid `signature` in `thinking` block"), answer("Fine.")) == "Fine."
    assert thoughts(talk.requests[-1]) == []
    talk = new_talk()
    await talk.say("Hello", answer("Hi."))
    assert talk.requests[-1]["thinking"]["type"] == "adaptive"


async def test_the_length_of_an_answer(hass: HomeAssistant, entry: MockConfigEntry, new_talk: Any) -> None:
    """A model that cannot write as much as the user allows is asked for what it can."""
    await change_agent(hass, entry, plain=True, max_tokens=9_000)
    words = "max_tokens: 9000 > 4096, which is the maximum allowed number of output tokens for this model"
    assert await new_talk().say("Hello", refusal(words), answer("Hi.")) == "Hi."
    talk = new_talk()
    assert await talk.say("Hello", answer("Hi.")) == "Hi."
    assert [request["max_tokens"] for request in talk.requests] == [9_000, 4_096, 4_096]


@pytest.mark.parametrize(
    "words",
    [
        "This model's maximum context length is 16384 tokens. However, you requested 20480 tokens.",
        "the request exceeds the available context size, try increasing it",
        "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000",
    ],
)
async def test_the_length_of_a_conversation(
    hass: HomeAssistant, entry: MockConfigEntry, new_talk: Any, words: str, clock: list[float]
) -> None:
    """Servers word it differently; the next conversation stays below, until a day has gone by."""
    await change_agent(hass, entry, plain=True, llm_hass_api=[], context_tokens=64_000)

    async def tell(*turns: Turn) -> int:
        talk = new_talk()
        for index in range(4):
            await talk.say(f"Tell {index} " + "x" * 20_000, answer("So."))
        assert await talk.say("And now?", *turns, answer("Fine.")) == "Fine."
        return len(str(talk.requests[-1]))

    assert await tell(refusal(words)) < 45_000
    assert await tell() < 45_000
    clock[0] += KEPT_FOR
    assert await tell() > 80_000


async def test_a_tool(hass: HomeAssistant, entry: MockConfigEntry, new_talk: Any, clock: list[float]) -> None:
    """A refused tool is left out at once and named, until it is another or a day has gone by."""
    odd, good = Odd(), Odd()
    good.name = "good"
    llm.async_register_api(hass, OddAPI(hass, odd, good))
    await change_agent(hass, entry, llm_hass_api=["odd"])
    issue_id = f"agent_tools_left_out_{next(iter(entry.subentries))}"

    async def offered(*turns: Turn) -> list[str]:
        talk = new_talk()
        assert await talk.say("Hello", *turns, answer("Hi.")) == "Hi."
        return [tool["name"] for tool in talk.requests[-1]["tools"]]

    assert await offered(refusal("tools.0.custom.input_schema: too odd")) == ["good"]
    assert await offered() == ["good"]
    issue = ir.async_get(hass).async_get_issue(DOMAIN, issue_id)
    assert issue is not None
    assert "too odd" in issue.translation_placeholders["tools"]
    odd.description = "Mended."
    assert await offered() == ["odd", "good"]
    assert ir.async_get(hass).async_get_issue(DOMAIN, issue_id) is None
    odd.description = "Odd."
    assert await offered() == ["good"]
    clock[0] += KEPT_FOR
    assert await offered() == ["odd", "good"]


async def test_forgotten_on_reload(hass: HomeAssistant, entry: MockConfigEntry, new_talk: Any) -> None:
    """Whoever changes anything sees at once whether it is taken now."""
    bad = refusal("output_config.effort: low is not supported by this model")
    await new_talk().say("Hello", bad, answer("Hi."))
    await hass.config_entries.async_reload(entry.entry_id)
    talk = new_talk()
    await talk.say("Hello", answer("Hi."))
    assert talk.requests[-1]["output_config"] == {"effort": "low"}


def test_what_was_refused_of_one_model() -> None:
    """Another model of the server may take it."""
    refused = Refused()
    refused.keep_context("one", 500)
    assert refused.context("one", 900) == 500
    assert refused.context("one", 300) == 300
    assert refused.context("other", 900) == 900


async def test_refused_twice(new_talk: Any) -> None:
    """What the tools of declined turns did is told until a turn is answered."""
    talk = new_talk()
    await talk.say("Hello", answer("Hi."))
    call = Turn([thinking("Hm."), tool_use(GET_ENTITIES, {})])
    declined = Turn([text("I ca")], stop_reason="refusal")
    await talk.say("Something bad", call, declined)
    await talk.say("Something worse", declined)
    assert await talk.say("Something good", answer("Yes.")) == "Yes."
    note, words = words_of(talk.requests[-1]["messages"][2])
    assert "The 2 messages before this one were declined" in note
    assert GET_ENTITIES in note
    assert words == "Something good"
    assert await talk.say("Thanks", answer("Welcome.")) == "Welcome."
    told = [words for message in talk.requests[-1]["messages"] for words in words_of(message) if "declined" in words]
    assert told == [note]
    assert talk.refusals == []


MANUAL = {"thinking": "enabled", "thinking_budget": 1_024}


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("enabled, without effort", MANUAL),
        ("enabled, with effort", MANUAL),
        ("adaptive or enabled", MANUAL),
        ("adaptive, never off", {}),
        ("adaptive or between tools", {}),
        ("adaptive only when asked", {}),
    ],
)
async def test_repaired_between_calls(
    hass: HomeAssistant, entry: MockConfigEntry, new_talk: Any, kind: str, options: dict[str, Any]
) -> None:
    """In the middle of a turn, thinking that was let go leaves a request that the service takes, and so do the next."""
    await change_agent(hass, entry, model=MODEL_KINDS[kind]["id"], **options)
    talk = new_talk()
    call = Turn([thinking("I look."), tool_use(GET_ENTITIES, {})])
    await talk.say("Hello", answer("Hi."))
    assert await talk.say("Look", call, refusal("Something is odd."), call, answer("Seen.")) == "Seen."
    assert await talk.say("And now?", call, answer("Fine.")) == "Fine."
    assert talk.refusals == []
    asked = [request.get("thinking", {}).get("type") for request in talk.requests]
    assert asked[0] == asked[-1] == options.get("thinking", "adaptive")
