"""The caller of a tool: user, device and conversation."""

from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass, replace
from typing import Any, Self

from homeassistant.auth.models import User
from homeassistant.components.conversation import ChatLog, UserContent
from homeassistant.components.conversation.chat_log import current_chat_log
from homeassistant.core import Context, HomeAssistant, callback
from homeassistant.helpers import llm
from homeassistant.helpers.chat_session import current_session
from homeassistant.util.hass_dict import HassKey

from ..const import DOMAIN


@dataclass(frozen=True, slots=True)
class Caller:
    """The user, the device and the conversation of a tool call."""

    llm_context: llm.LLMContext
    chat_log: ChatLog | None = None
    """The chat log; None without a conversation, such as over MCP."""
    conversation_id: str | None = None

    @classmethod
    def of(cls, llm_context: llm.LLMContext) -> Self:
        """Return the caller of the tool call that runs now."""
        chat_log = current_chat_log.get()
        return cls(llm_context, chat_log, chat_log.conversation_id if chat_log else None)

    @property
    def assistant(self) -> str:
        """Return the assistant whose exposure counts, such as "conversation"."""
        return self.llm_context.assistant

    @property
    def context(self) -> Context | None:
        """Return the context of state changes that this caller causes."""
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
        """Return a key of the conversation, or of the user and device if there is none."""
        if self.conversation_id is not None:
            return (self.conversation_id,)
        return (self.llm_context.platform, self.assistant, self.user_id, self.device_id)

    async def async_user(self, hass: HomeAssistant) -> User | None:
        """Return the user who speaks, or None when nobody is logged in."""
        return await hass.auth.async_get_user(self.user_id) if self.user_id else None


@contextmanager
def in_conversation(chat_log: ChatLog) -> Iterator[None]:
    """Run the block as part of a conversation."""
    token = current_chat_log.set(chat_log)
    try:
        yield
    finally:
        current_chat_log.reset(token)


def outside_conversation[**P, R](begin: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Call a function outside any conversation and return its result."""
    context = copy_context()
    for variable in (current_chat_log, current_session):
        context.run(variable.set, None)
    return context.run(begin, *args, **kwargs)


async def async_outside_conversation[T](hass: HomeAssistant, work: Coroutine[Any, Any, T]) -> T:
    """Await work that starts outside any conversation; cancelling the wait cancels the work."""
    return await outside_conversation(hass.loop.create_task, work)


def in_context_of_its_own(llm_context: llm.LLMContext) -> llm.LLMContext:
    """Return the caller with a new context for one call, so that its changes are attributed to this call alone."""
    outer = llm_context.context
    own = Context(user_id=outer.user_id, parent_id=outer.id) if outer else Context()
    return replace(llm_context, context=own)


ASKED_LATER: HassKey[set[str]] = HassKey(f"{DOMAIN}_asked_later")
"""The ids of the contexts of scheduled questions that an agent is answering."""


@callback
def is_asked_later(hass: HomeAssistant, context: Context | None) -> bool:
    """Return whether a message, or a call of its turn, belongs to a scheduled question, whose answer others can hear too."""
    asked = hass.data.get(ASKED_LATER, ())
    return context is not None and (context.id in asked or context.parent_id in asked)
