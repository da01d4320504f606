"""For the whole of a conversation, everything is sent again as it was; what changes is told in the newest message."""

from datetime import timedelta
from itertools import pairwise
import json
from typing import Any

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry
import voluptuous as vol

from custom_components.extended_assist.const import DOMAIN
from homeassistant.components import conversation
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import issue_registry as ir, llm
from homeassistant.setup import async_setup_component
from tests.claude.sent import assert_append_only, blocks_of
from tests.claude_server import ClaudeServer, Fault, Scenario, Turn, text, thinking, tool_use
from tests.conftest import ASSISTANT, Converse, expose
from tests.helpers.talking import FindLog, assert_every_call_has_a_result, change_agent, speech

pytestmark = pytest.mark.usefixtures("no_deprecations")

GET_ENTITIES = "extended_assist__get_entities"


def answer(words: str) -> Turn:
    """Return an answer that was thought about."""
    return Turn([thinking(f"How to say {words}"), text(words)])


def words_of(message: dict[str, Any]) -> list[str]:
    """Return the texts of a message."""
    return [block["text"] for block in blocks_of(message["content"]) if block["type"] == "text"]


def thoughts(request: dict[str, Any]) -> list[str]:
    """Return what of its thinking the model is sent."""
    return [
        block["thinking"]
        for message in request["messages"]
        for block in blocks_of(message["content"])
        if block["type"] == "thinking"
    ]


class Talk:
    """One conversation with a model whose thinking counts only while nothing before it has changed."""

    def __init__(self, converse: Converse, server: ClaudeServer) -> None:
        """Take who talks."""
        self._converse = converse
        self._server = server
        self.id: str | None = None

    async def say(self, words: str, *turns: Turn) -> str:
        """Say something; return what is answered."""
        self._server.responder = Scenario(list(turns))
        result = await self._converse(words, conversation_id=self.id)
        self.id = result.conversation_id
        return speech(result)

    @property
    def refusals(self) -> list[str]:
        """What the server refused requests with."""
        return self._server.refusals

    @property
    def requests(self) -> list[dict[str, Any]]:
        """The requests so far."""
        return self._server.message_requests


@pytest.fixture
def talk(converse: Converse, claude_server: ClaudeServer) -> Talk:
    """Return a conversation."""
    return Talk(converse, claude_server)


async def test_the_clock_of_an_agent_without_tools(
    hass: HomeAssistant, entry: MockConfigEntry, talk: Talk, freezer: FrozenDateTimeFactory
) -> None:
    """Where no tool tells the time, it is told with each message, and instructions stay as they are."""
    await hass.config.async_set_time_zone("Europe/Berlin")
    freezer.move_to("2026-11-20 19:10:32+00:00")
    await change_agent(hass, entry, llm_hass_api=[], prompt="Be kind.")
    for number in range(3):
        assert await talk.say("Hello", answer(f"Hi {number}.")) == f"Hi {number}."
        freezer.tick(timedelta(minutes=2))
    assert talk.refusals == []
    assert_append_only(talk.requests)
    last = talk.requests[-1]
    (system,) = blocks_of(last["system"])
    assert system["text"].splitlines() == [
        "Be kind.",
        "Each message begins with when it was said, in local time (Europe/Berlin).",
    ]
    clocks = [words_of(message)[0] for message in last["messages"] if message["role"] == "user"]
    assert clocks == [f"(Friday 2026-11-20 20:{minute})" for minute in (10, 12, 14)]
    assert thoughts(last) == ["How to say Hi 0.", "How to say Hi 1."]


async def test_a_template_in_the_instructions(hass: HomeAssistant, entry: MockConfigEntry, talk: Talk) -> None:
    """What the instructions say now is told in the newest message, once."""
    hass.states.async_set("sensor.mood", "bright")
    await change_agent(hass, entry, prompt="Be kind.\nYour mood is {{ states('sensor.mood') }}.")
    await talk.say("Hello", answer("Hi."))
    for _ in range(2):
        hass.states.async_set("sensor.mood", "grumpy")
        await talk.say("Hello", answer("Hm."))
    assert talk.refusals == []
    assert_append_only(talk.requests)
    told = [words_of(message) for message in talk.requests[-1]["messages"] if message["role"] == "user"]
    assert [words[-1] for words in told] == ["Hello"] * 3
    assert [len(words[0].splitlines()) > 1 for words in told] == [False, True, False]
    assert "No longer so:\nYour mood is bright." in told[1][0]
    assert "Now:\nYour mood is grumpy." in told[1][0]
    assert "Be kind" not in told[1][0]
    assert told[1][1] == "Hello"


async def test_what_is_exposed_changes(hass: HomeAssistant, entry: MockConfigEntry, talk: Talk) -> None:
    """An entity that comes or goes is told by its name, and the thinking so far still counts."""
    assert await async_setup_component(hass, "intent", {})
    for name in ("desk", "shelf", "stairs"):
        hass.states.async_set(f"light.{name}", "on", {"friendly_name": name.capitalize()})
    expose(hass, "light.desk", "light.shelf")
    await talk.say("Hello", answer("Hi."))
    expose(hass, "light.stairs")
    async_expose_entity(hass, ASSISTANT, "light.desk", False)
    await talk.say("And now?", Turn([thinking("Hm."), tool_use(GET_ENTITIES, {})]), answer("Fine."))
    assert talk.refusals == []
    assert_append_only(talk.requests)
    (note, words) = words_of(talk.requests[-1]["messages"][2])
    assert "[no area] light: Desk; Shelf" in note.split("Now:")[0]
    assert "[no area] light: Shelf; Stairs" in note.split("Now:")[1]
    assert words == "And now?"


async def test_new_tools_begin_anew(hass: HomeAssistant, entry: MockConfigEntry, talk: Talk) -> None:
    """Tools that come in the middle of a conversation can be called; the thinking so far is let go, once."""
    assert await async_setup_component(hass, "intent", {})
    hass.states.async_set("light.desk", "on", {"friendly_name": "Desk"})
    hass.states.async_set("todo.list", "0", {"friendly_name": "List", "supported_features": 1})
    expose(hass, "light.desk")
    await talk.say("Hello", answer("Hi."))
    before = {tool["name"] for tool in talk.requests[-1]["tools"]}
    async_expose_entity(hass, ASSISTANT, "light.desk", False)
    await talk.say("And now?", answer("Dark."))
    during = talk.requests[-1]
    gone = {name for name in before if name.startswith("light__")}
    assert {tool["name"] for tool in during["tools"]} == before
    assert not gone or "light__HassLightSet" in words_of(during["messages"][-1])[0]
    expose(hass, "light.desk")
    await talk.say("And now?", answer("Bright."))
    await talk.say("Really?", answer("Really."))
    assert talk.refusals == []
    assert thoughts(talk.requests[-1])[-1] == "How to say Bright."


async def test_what_is_cleared_for_space(hass: HomeAssistant, entry: MockConfigEntry, talk: Talk) -> None:
    """After results were cleared, thinking that came before is let go; what is thought from then on counts."""
    await change_agent(hass, entry, context_tokens=8_000)
    for index in range(40):
        hass.states.async_set(f"sensor.number_{index}", str(index), {"friendly_name": f"A rather long name {index}"})
        expose(hass, f"sensor.number_{index}")
    look = Turn([thinking("I look."), tool_use(GET_ENTITIES, {})])
    for index in range(16):
        assert await talk.say("Look", look, answer(f"Seen {index}.")) == f"Seen {index}."
    assert talk.refusals == []
    kept = [len(thoughts(request)) for request in talk.requests]
    cleared = [index for index, (before, after) in enumerate(pairwise(kept), start=1) if after < before]
    assert cleared, kept
    assert kept[cleared[0]] <= 1, "More is left than what was thought in this turn."
    assert any(kept[cleared[0] :]), kept


@pytest.mark.parametrize(
    "fault", [Fault("disconnect", after=7), Fault("sse_error", after=7, error_type="overloaded_error")]
)
async def test_thinking_of_a_response_that_broke_off(
    converse: Converse, claude_server: ClaudeServer, talk: Talk, chat_log: FindLog, fault: Fault
) -> None:
    """What a first try thought is not sent beside what the second thought, in the same turn nor later."""
    broken = Turn([thinking("First."), text("Never heard.")], fault=fault)
    again = Turn([thinking("Second."), tool_use(GET_ENTITIES, {})])
    assert await talk.say("Look", broken, again, answer("Seen.")) == "Seen."
    assert await talk.say("And now?", answer("Fine.")) == "Fine."
    assert talk.refusals == []
    assert thoughts(talk.requests[-1]) == ["Second.", "How to say Seen."]


async def test_a_refused_turn_is_taken_out(talk: Talk, chat_log: FindLog) -> None:
    """What the server declined is not sent again, nor what was said to it; what its tools did is told."""
    await talk.say("Hello", answer("Hi."))
    declined = await talk.say(
        "Something bad",
        Turn([thinking("Hm."), tool_use(GET_ENTITIES, {})]),
        Turn([text("I ca")], stop_reason="refusal"),
    )
    assert "declined" in declined
    await talk.say("Something good", answer("Yes."))
    await talk.say("Thanks", answer("Welcome."))
    assert talk.refusals == []
    last = talk.requests[-1]["messages"]
    assert [message["role"] for message in last] == ["user", "assistant", "user", "assistant", "user"]
    assert "bad" not in str(last)
    assert "I ca" not in str(last)
    note, words = words_of(last[2])
    assert "was declined" in note
    assert GET_ENTITIES in note
    assert words == "Something good"
    assert thoughts(talk.requests[-1]) == ["How to say Hi.", "How to say Yes."]
    assert talk.id
    assert_every_call_has_a_result(chat_log(talk.id))


async def test_only_thinking_is_asked_again(talk: Talk) -> None:
    """A model that thinks and says nothing is asked once more, and what it thought then is not sent beside the next."""
    assert await talk.say("Hello", Turn([thinking("Hm.")]), answer("Hi.")) == "Hi."
    assert "You have said nothing yet" in words_of(talk.requests[1]["messages"][-1])[-1]
    assert "said nothing" in await talk.say("Hello", Turn([thinking("Hm.")]), Turn([thinking("Hm.")]))
    assert await talk.say("And now?", answer("Fine.")) == "Fine."
    assert talk.refusals == []


async def test_two_conversations_at_once(
    converse: Converse, claude_server: ClaudeServer, entry: MockConfigEntry
) -> None:
    """Each conversation has its own beginning, and an entry that is loaded anew forgets them."""
    one, other = Talk(converse, claude_server), Talk(converse, claude_server)
    for talk in (one, other, one, other):
        await talk.say("Hello", answer("Hi."))
    assert one.id != other.id
    assert one.refusals == []
    assert len(entry.runtime_data.snapshots._kept) == 2


async def test_another_agent_in_between(hass: HomeAssistant, entry: MockConfigEntry, talk: Talk) -> None:
    """Home Assistant's own agent answers in the middle of a conversation, and it goes on."""
    await talk.say("Hello", answer("Hi."))
    await conversation.async_converse(hass, "What time is it?", talk.id, Context(), language="en", agent_id=None)
    await talk.say("And now?", answer("Fine."))
    assert talk.refusals == []


REFUSED = (
    "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation."
)


async def test_a_400_about_thinking_is_repaired(
    talk: Talk, caplog: pytest.LogCaptureFixture, claude_server: ClaudeServer
) -> None:
    """The user hears nothing of it: the thinking so far is let go for good, and the log says at debug what was refused."""
    await talk.say("Hello", answer("Hi."))
    refused = Turn(fault=Fault("http", status=400, message=REFUSED))
    assert await talk.say("And now?", refused, answer("Fine.")) == "Fine."
    assert await talk.say("Thanks", answer("Gladly.")) == "Gladly."
    assert [thoughts(request) for request in talk.requests] == [
        [],
        ["How to say Hi."],
        [],
        ["How to say Fine."],
    ]
    (record,) = [record for record in caplog.records if "did not accept the request" in record.getMessage()]
    assert record.levelname == "DEBUG"
    assert "bound to a different conversation" in record.getMessage()


@pytest.mark.parametrize("words", ["tools.1.custom.input_schema: too odd", "Tool 'NAME' cannot be used"])
async def test_a_400_about_a_tool_costs_that_tool(
    hass: HomeAssistant, entry: MockConfigEntry, talk: Talk, words: str
) -> None:
    """It is left out from then on, and a notice names it with the server's reason."""
    await talk.say("Hello", answer("Hi."))
    name = talk.requests[0]["tools"][1]["name"]
    refused = Turn(fault=Fault("http", status=400, message=words.replace("NAME", name)))
    assert await talk.say("And now?", refused, answer("Fine.")) == "Fine."
    assert await talk.say("Thanks", answer("Gladly.")) == "Gladly."
    for request in talk.requests[2:]:
        assert name not in [tool["name"] for tool in request["tools"]]
    agent = next(iter(entry.subentries))
    issue = ir.async_get(hass).async_get_issue(DOMAIN, f"agent_tools_left_out_{agent}")
    assert issue is not None
    assert not issue.is_fixable
    assert name in issue.translation_placeholders["tools"]
    assert talk.refusals == []


async def test_a_400_without_a_cause_is_tried_shorter(talk: Talk) -> None:
    """Where nothing is known of the cause, less is sent; where that does not help, the user hears a sentence."""
    refused = Turn(fault=Fault("http", status=400))
    for index in range(4):
        await talk.say(f"Tell me {index} " + "x" * 30_000, Turn([text("So.")]))
    assert await talk.say("And now?", refused, Turn([text("Fine.")])) == "Fine."
    whole, shorter = talk.requests[-2:]
    assert len(str(shorter)) < len(str(whole)) * 0.7
    count = len(talk.requests)
    assert "did not accept" in await talk.say("And now?", refused, refused)
    assert len(talk.requests) == count + 2


async def test_a_field_that_the_model_does_not_take(talk: Talk) -> None:
    """A model that lists more than it takes is asked with less."""
    words = "output_config.effort: low is not supported by this model"
    assert await talk.say("Hello", Turn(fault=Fault("http", status=400, message=words)), answer("Hi.")) == "Hi."
    assert "effort" not in talk.requests[-1].get("output_config", {})


async def test_each_message_tells_when_it_was_said(
    hass: HomeAssistant, entry: MockConfigEntry, talk: Talk, freezer: FrozenDateTimeFactory
) -> None:
    """The model knows day and time, also for searches of the web, and messages keep theirs."""
    await hass.config.async_set_time_zone("UTC")
    freezer.move_to("2026-11-20 23:56:30+00:00")
    await change_agent(hass, entry, web_search=True)
    for _ in range(3):
        await talk.say("News?", answer("None."))
        freezer.tick(timedelta(minutes=2))
    assert talk.refusals == []
    assert_append_only(talk.requests)
    told = [words_of(message) for message in talk.requests[-1]["messages"] if message["role"] == "user"]
    assert told == [
        ["(Friday 2026-11-20 23:56)", "News?"],
        ["(Friday 2026-11-20 23:58)", "News?"],
        ["(Saturday 2026-11-21 00:00)", "News?"],
    ]


class Sized(llm.Tool):
    """A tool of another integration whose parameter has a name that the service refuses."""

    name = "set_size"
    description = "Sets a size."
    integration = "test"
    parameters = vol.Schema({vol.Required("Größe"): int})

    def __init__(self) -> None:
        """Nothing was called."""
        self.calls: list[Any] = []

    async def async_call(
        self, hass: HomeAssistant, tool_input: llm.ToolInput, llm_context: llm.LLMContext
    ) -> llm.ToolResult:
        """Keep the arguments."""
        self.calls.append(self.parameters(tool_input.tool_args))
        return llm.ToolResult(data={"done": True})


class Sizes(llm.API):
    """An API of another integration, with a good tool and two that the service would refuse."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Declare it."""
        super().__init__(hass=hass, id="sizes", name="Sizes")
        self.sized, self.search, self.broken = Sized(), Sized(), Sized()
        self.search.name = "web_search"
        self.broken.name = "not a name"

    async def async_get_api_instance(self, llm_context: llm.LLMContext) -> llm.APIInstance:
        """Return its tools."""
        return llm.APIInstance(self, "Prompt.", llm_context, [self.sized, self.search, self.broken])


async def test_bad_tools_cost_themselves_only(hass: HomeAssistant, entry: MockConfigEntry, talk: Talk) -> None:
    """Foreign names are exchanged on the way out and back; what cannot be offered is named under Repairs."""
    llm.async_register_api(hass, api := Sizes(hass))
    await change_agent(hass, entry, llm_hass_api=["sizes"], web_search=True)
    call = Turn([thinking("Hm."), tool_use("set_size", {"grosse": 4})])
    assert await talk.say("Make it 4", call, answer("Done.")) == "Done."
    assert await talk.say("Thanks", answer("Gladly.")) == "Gladly."
    assert talk.refusals == []
    assert api.sized.calls == [{"Größe": 4}]
    assert_append_only(talk.requests)
    assert '"input": {"grosse": 4}' in json.dumps(talk.requests[-1]["messages"])
    agent = next(iter(entry.subentries))
    issue = ir.async_get(hass).async_get_issue(DOMAIN, f"agent_tools_left_out_{agent}")
    assert issue is not None
    assert "`web_search`" in issue.translation_placeholders["tools"]
    assert "`not a name`" in issue.translation_placeholders["tools"]
    assert "set_size" not in issue.translation_placeholders["tools"]
    await change_agent(hass, entry, llm_hass_api=[])
    await talk.say("Hello", answer("Hi."))
    assert ir.async_get(hass).async_get_issue(DOMAIN, f"agent_tools_left_out_{agent}") is None
