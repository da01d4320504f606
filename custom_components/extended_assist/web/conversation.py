"""What is remembered of a conversation: how many requests it made, and the rest of long texts."""

from collections import deque
from dataclasses import dataclass, field
from secrets import token_hex
from time import monotonic
from typing import Final

from homeassistant.components.conversation.chat_log import current_chat_log
from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm
from homeassistant.util.hass_dict import HassKey

from ..const import DOMAIN
from ..results import ToolError

MAX_REQUESTS: Final = 20
"""Requests of one conversation in RATE_SECONDS: more than any question needs, too few to search a network or carry much out."""
RATE_SECONDS: Final = 300.0
KEEP_SECONDS: Final = 300.0
"""Seconds in which the rest of a text can be read: as long as a conversation lasts."""
MAX_KEPT: Final = 8
"""Texts that are kept for all conversations together, the newest."""
_MAX_CONVERSATIONS: Final = 200

type _Who = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Text:
    """A text that is longer than one result, and what goes with it."""

    address: str
    fetched: str
    title: str
    text: str
    note: str


@dataclass(slots=True)
class Memory:
    """What is remembered of all conversations."""

    requests: dict[_Who, deque[float]] = field(default_factory=dict)
    texts: dict[str, tuple[_Who, float, Text]] = field(default_factory=dict)

    @staticmethod
    def of(hass: HomeAssistant) -> Memory:
        """Return that of this Home Assistant."""
        return hass.data.setdefault(_MEMORY, Memory())

    def count_request(self, llm_context: llm.LLMContext) -> None:
        """Count a request; raise ToolError when there were too many."""
        now, who = monotonic(), _who(llm_context)
        # Whoever asks goes to the end, so that the first is the one who has been silent for longest.
        times = self.requests.pop(who, None) or deque(maxlen=MAX_REQUESTS)
        self.requests[who] = times
        if len(self.requests) > _MAX_CONVERSATIONS:
            del self.requests[next(iter(self.requests))]
        if len(times) == MAX_REQUESTS and now - times[0] < RATE_SECONDS:
            raise ToolError(
                f"This conversation made {MAX_REQUESTS} requests to the web within {RATE_SECONDS / 60:g} minutes, which is "
                "the most. Answer with what is known, and say that more can be looked up in a few minutes."
            )
        times.append(now)

    def keep(self, llm_context: llm.LLMContext, text: Text) -> str:
        """Keep a text and return its key."""
        key = token_hex(3)
        self.texts[key] = _who(llm_context), monotonic(), text
        self._forget()
        return key

    def kept(self, llm_context: llm.LLMContext, key: str) -> Text | None:
        """Return a text that was kept for the same conversation."""
        self._forget()
        who, _, text = self.texts.get(key, ((), 0, None))
        return text if who == _who(llm_context) else None

    def _forget(self) -> None:
        """Forget what is old or too much."""
        now = monotonic()
        fresh = {key: kept for key, kept in self.texts.items() if now - kept[1] < KEEP_SECONDS}
        self.texts = dict(list(fresh.items())[-MAX_KEPT:])


_MEMORY: HassKey[Memory] = HassKey(f"{DOMAIN}_web_memory")


def _who(llm_context: llm.LLMContext) -> _Who:
    """Return which conversation this is; where there is none, who speaks from where."""
    if (chat_log := current_chat_log.get()) is not None:
        return (chat_log.conversation_id,)
    user_id = llm_context.context.user_id if llm_context.context else None
    return (llm_context.platform, llm_context.assistant, user_id, llm_context.device_id)
