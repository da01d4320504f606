"""The caller of a tool: the user, the device and the conversation."""

from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass, replace
from typing import Any, Self

from homeassistant.auth.models import User
from homeassistant.components.conversation import ChatLog, UserContent
from homeassistant.core import Context, HomeAssistant, callback
from homeassistant.helpers import llm
from homeassistant.helpers.chat_session import current_session
from homeassistant.util.hass_dict import HassKey

from ..const import DOMAIN
from ..ha_compat.conversation import current_chat_log


@dataclass(frozen=True, slots=True)
class Caller:
    """The user, the device and, if there is one, the conversation of a tool call."""

    llm_context: llm.LLMContext
    chat_log: ChatLog | None = None
    """The conversation's log; None where there is no conversation, such as over MCP."""
    conversation_id: str | None = None

    @classmethod
    def of(cls, llm_context: llm.LLMContext) -> Self:
        """Return the caller of the current tool call, with Home Assistant's current conversation."""
        chat_log = current_chat_log.get()
        return cls(llm_context, chat_log, chat_log.conversation_id if chat_log else None)

    @property
    def assistant(self) -> str:
        """Return the assistant whose exposure counts, such as "conversation"."""
        return self.llm_context.assistant

    @property
    def context(self) -> Context | None:
        """Return the context in which states change for this caller."""
        return self.llm_context.context

    @property
    def user_id(self) -> str | None:
        """Return the id of the user who is logged in, or None."""
        return self.llm_context.context.user_id if self.llm_context.context else None

    @property
    def device_id(self) -> str | None:
        """Return the id of the device that was spoken to, or None."""
        return self.llm_context.device_id

    @property
    def last_message(self) -> str | None:
        """Return the user's last message in the conversation, or None."""
        contents = reversed(self.chat_log.content) if self.chat_log else ()
        return next((content.content for content in contents if isinstance(content, UserContent)), None)

    @property
    def conversation_key(self) -> tuple[str | None, ...]:
        """Return a key of the conversation; where there is none, of the speaker and the device."""
        if self.conversation_id is not None:
            return (self.conversation_id,)
        return (self.llm_context.platform, self.assistant, self.user_id, self.device_id)

    async def async_user(self, hass: HomeAssistant) -> User | None:
        """Return the user who is logged in, or None."""
        return await hass.auth.async_get_user(self.user_id) if self.user_id else None


@contextmanager
def in_conversation(chat_log: ChatLog) -> Iterator[None]:
    """Run the code in this block in a conversation."""
    token = current_chat_log.set(chat_log)
    try:
        yield
    finally:
        current_chat_log.reset(token)


def outside_conversation[**P, R](begin: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Call a function outside any conversation and return its result: messages of the conversation do not count."""
    context = copy_context()
    for variable in (current_chat_log, current_session):
        context.run(variable.set, None)
    return context.run(begin, *args, **kwargs)


async def async_outside_conversation[T](hass: HomeAssistant, work: Coroutine[Any, Any, T]) -> T:
    """Await a coroutine in a task outside any conversation; cancelling the await cancels the task."""
    return await outside_conversation(hass.loop.create_task, work)


def in_context_of_its_own(llm_context: llm.LLMContext) -> llm.LLMContext:
    """Return the LLM context with a new Context for one call, so that its state changes can be told from others."""
    outer = llm_context.context
    own = Context(user_id=outer.user_id, parent_id=outer.id) if outer else Context()
    return replace(llm_context, context=own)


ASKED_LATER: HassKey[set[str]] = HassKey(f"{DOMAIN}_asked_later")
"""The context ids of scheduled questions that an agent is answering."""


@callback
def is_asked_later(hass: HomeAssistant, context: Context | None) -> bool:
    """Return whether a context belongs to a scheduled question, whose answer other people may hear too."""
    asked = hass.data.get(ASKED_LATER, ())
    return context is not None and (context.id in asked or context.parent_id in asked)
