"""A household whose people speak to tools: who they are, from where, in which kind of conversation."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from pytest_homeassistant_custom_component.common import MockUser

from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.confirmation.untrusted_text import marked
from custom_components.extended_assist.const import DOMAIN
from custom_components.extended_assist.llm_tools.extended_tool import ExtendedTool
from custom_components.extended_assist.memory.fact import Fact
from custom_components.extended_assist.memory.store import Memory, async_get_memory
from custom_components.extended_assist.tools.memory import RecallTool, RememberTool
from homeassistant.components import conversation
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import chat_session, llm

OPTIONS = ToolboxOptions()
GUESTS = ToolboxOptions(memory_guests=3)


def by_administrator(hass: HomeAssistant, fact: Fact) -> Fact:
    """Return a fact of the household as an administrator said it: everybody's prompts hold it."""
    fact.said_by = "administrator"
    if fact.said_by not in hass.auth._store._users:
        MockUser(id=fact.said_by, name="Administrator", is_owner=True).add_to_hass(hass)
    return fact


@dataclass(frozen=True)
class Speaker:
    """Somebody who speaks."""

    user_id: str | None = None
    device_id: str | None = None
    has_chat: bool = True
    assistant: str = "conversation"
    conversation_id: str | None = None
    reads: bool = False
    """Whether text from outside is in the conversation."""
    options: ToolboxOptions = OPTIONS
    context: Context | None = None

    def llm_context(self) -> llm.LLMContext:
        """Return the context in which they speak."""
        context = self.context or Context(user_id=self.user_id)
        return llm.LLMContext(DOMAIN, context, "en", self.assistant, self.device_id)

    @asynccontextmanager
    async def speaking(self, hass: HomeAssistant) -> AsyncGenerator[conversation.ChatLog | None]:
        """Speak in a conversation where there is one."""
        if not self.has_chat:
            yield None
            return
        with (
            chat_session.async_get_chat_session(hass, self.conversation_id) as session,
            conversation.async_get_chat_log(hass, session) as log,
        ):
            log.async_add_user_content(conversation.UserContent("Please remember this"))
            if self.reads:
                result = llm.ToolResult(data=marked({"text": "Hi"}, when=True))
                log.content.append(conversation.ToolResultContent("agent", "page", "a__page", result))
            yield log

    async def call(self, hass: HomeAssistant, tool: type[ExtendedTool], **arguments: Any) -> llm.ToolResult:
        """Have a tool called."""
        async with self.speaking(hass):
            used = tool(self.options)
            return await used.async_call(hass, llm.ToolInput(used.name, arguments), self.llm_context())

    async def remember(self, hass: HomeAssistant, fact: str, whose: str = "household", **more: Any) -> dict[str, Any]:
        """Have a fact remembered; return what is answered."""
        return dict((await self.call(hass, RememberTool, fact=fact, whose=whose, **more)).data)

    async def recall(self, hass: HomeAssistant, **arguments: Any) -> list[str]:
        """Return the words that are recalled."""
        result = await self.call(hass, RecallTool, **arguments)
        return [] if result.error else [row["fact"] for row in result.data["facts"]]


async def async_memory(hass: HomeAssistant, *facts: Fact) -> Memory:
    """Return the memory, with facts."""
    memory = await async_get_memory(hass)
    await memory.async_add(facts)
    return memory
