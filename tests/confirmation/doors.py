"""The doors through which tools are called: our agent, core's agent, a task, and MCP; all are asked in the same way."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
import json
from typing import Any, override

from mcp.shared.memory import create_connected_server_and_client_session
from slugify import slugify

from homeassistant.components import ai_task, conversation, mcp_server
from homeassistant.components.mcp_server.server import create_server
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import intent, llm
from tests.claude_server import ClaudeServer, Turn, text, tool_use
from tests.conftest import AGENT

CORE_AGENT = "conversation.core"
TASK = "ai_task.claude_ai_task"


@dataclass(frozen=True)
class Call:
    """A call of a tool by its own name, of one of the selected APIs."""

    tool: str
    arguments: dict[str, Any] = field(default_factory=dict)
    api: int = 0


@dataclass
class Heard:
    """What came of a message."""

    results: list[dict[str, Any]]
    """The results of the calls as the model reads them."""
    offered: list[str]
    """The names of all tools."""
    conversation_id: str | None = None
    response: intent.IntentResponse | None = None
    targets: list[str] = field(default_factory=list)
    """The entities that the response says were acted on."""


def offered_name(tool: str, api_name: str, api_id: str, offered: list[str]) -> str:
    """Return the name under which a tool of an API is offered: merged APIs may put a namespace before it.

    Home Assistant makes it of the name of the API or of its id, depending on the version.
    """
    names = (f"{slugify(api_name)}__{tool}", f"{slugify(api_id)}__{tool}", tool)
    return next(name for name in names if name in offered)


class Model:
    """Calls what it is told to, then says that it is done."""

    def __init__(self, name_of: Callable[[Call, list[str]], str], calls: tuple[Call, ...]) -> None:
        """Take what finds the name of a call's tool among those that are offered, and the calls of one message."""
        self._name_of = name_of
        self._calls = calls
        self._called = 0
        self.heard = Heard([], [])

    async def respond(self, request_body: dict[str, Any]) -> Turn:
        """Make the calls one by one, each by the name under which its tool is offered."""
        self.heard.offered = [tool["name"] for tool in request_body["tools"]]
        if self._called:
            (result,) = (
                block for block in request_body["messages"][-1]["content"] if block.get("type") == "tool_result"
            )
            content = result["content"]
            self.heard.results.append(json.loads(content if isinstance(content, str) else content[0]["text"]))
        if self._called == len(self._calls):
            return Turn([text("Done.")])
        call = self._calls[self._called]
        self._called += 1
        return Turn([tool_use(self._name_of(call, self.heard.offered), call.arguments)])


class Door(ABC):
    """One way to call the tools of the selected APIs."""

    can_answer = True
    """Whether the user can answer a question in a second message."""
    is_ours = True
    """Whether tools that bring no rules of ours get some."""
    asks_itself = False
    """Whether the question is spoken, and its answer heard, without the model."""

    def __init__(self, hass: HomeAssistant, server: ClaudeServer, selected: list[str]) -> None:
        """Take the APIs that the door was given."""
        self.hass = hass
        self.server = server
        self.selected = selected

    def offered_name(self, call: Call, offered: list[str]) -> str:
        """Return the name under which the tool of a call is offered."""
        (api,) = (api for api in llm.async_get_apis(self.hass) if api.id == self.selected[call.api])
        return offered_name(call.tool, api.name, api.id, offered)

    @abstractmethod
    async def say(
        self, *calls: Call, words: str = "Go on", user_id: str | None = None, conversation_id: str | None = None
    ) -> Heard:
        """Let the model make calls, in the name of a user or of nobody."""


class OurAgent(Door):
    """Our agent."""

    agent_id = AGENT
    asks_itself = True

    @override
    async def say(
        self, *calls: Call, words: str = "Go on", user_id: str | None = None, conversation_id: str | None = None
    ) -> Heard:
        """Say something to the agent."""
        self.server.responder = model = Model(self.offered_name, calls)
        result = await conversation.async_converse(
            self.hass, words, conversation_id, Context(user_id=user_id), language="en", agent_id=self.agent_id
        )
        assert result.response.error_code is None, result.response.speech
        model.heard.conversation_id, model.heard.response = result.conversation_id, result.response
        return model.heard


class CoreAgent(OurAgent):
    """Home Assistant's own agent for Claude."""

    agent_id = CORE_AGENT
    is_ours = False
    asks_itself = False


class Task(Door):
    """Our model for tasks, which hears one message only."""

    can_answer = False

    @override
    async def say(
        self, *calls: Call, words: str = "Go on", user_id: str | None = None, conversation_id: str | None = None
    ) -> Heard:
        """Run a task."""
        self.server.responder = model = Model(self.offered_name, calls)
        apis = {api.id: api for api in llm.async_get_apis(self.hass)}
        selected = [apis[api_id] for api_id in self.selected]
        await ai_task.async_generate_data(
            self.hass,
            task_name="matrix",
            entity_id=TASK,
            instructions="Go on",
            llm_api=selected[0] if len(selected) == 1 else llm.MergedAPI(selected),
            context=Context(user_id=user_id),
        )
        return model.heard


class Mcp(Door):
    """Home Assistant's server for other programs."""

    can_answer = False
    is_ours = False

    @override
    async def say(
        self, *calls: Call, words: str = "Go on", user_id: str | None = None, conversation_id: str | None = None
    ) -> Heard:
        """Call tools as a client does."""
        context = llm.LLMContext(
            platform=mcp_server.DOMAIN,
            context=Context(user_id=user_id),
            language="*",
            assistant=conversation.DOMAIN,
            device_id=None,
        )
        server = await create_server(self.hass, self.selected, context)
        async with create_connected_server_and_client_session(server) as session:
            heard = Heard([], [tool.name for tool in (await session.list_tools()).tools])
            for call in calls:
                result = await session.call_tool(self.offered_name(call, heard.offered), call.arguments)
                said = result.content[0].text
                # What the server itself refuses, it does in plain words.
                heard.results.append(json.loads(said) if said.startswith("{") else {"error": said})
        return heard


DOORS: dict[str, type[Door]] = {"our agent": OurAgent, "core's agent": CoreAgent, "task": Task, "mcp": Mcp}
