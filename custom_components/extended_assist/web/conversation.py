"""Memory of web requests by conversation: their times, for the rate limit, and the rest of long texts."""

from collections import deque
from dataclasses import dataclass, field
from secrets import token_hex
from time import monotonic
from typing import Final

from homeassistant.core import HomeAssistant
from homeassistant.util.hass_dict import HassKey

from ..calls.caller import Caller
from ..const import DOMAIN
from ..results import ToolError

MAX_REQUESTS: Final = 20
"""Requests of one conversation in RATE_SECONDS: enough for any question, too few to scan a network or send much data."""
RATE_SECONDS: Final = 300.0
KEEP_SECONDS: Final = 300.0
"""Seconds for which the rest of a text can be read: the lifetime of a conversation."""
MAX_KEPT: Final = 8
"""The most stored texts of all conversations together; the oldest are dropped."""
_MAX_CONVERSATIONS: Final = 200

type _Conversation = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class KeptText:
    """A text that is longer than one result, with its metadata."""

    address: str
    fetched: str
    title: str
    text: str
    note: str


@dataclass(slots=True)
class WebMemory:
    """The request times and long texts of all conversations."""

    requests: dict[_Conversation, deque[float]] = field(default_factory=dict)
    texts: dict[str, tuple[_Conversation, float, KeptText]] = field(default_factory=dict)

    @staticmethod
    def of(hass: HomeAssistant) -> WebMemory:
        """Return the memory of this Home Assistant."""
        return hass.data.setdefault(_WEB_MEMORY, WebMemory())

    def count_request(self, caller: Caller, tool: str | None = None) -> None:
        """Count a request of a tool; raises ToolError for too many. Each tool that sends data has its own limit."""
        now, who = monotonic(), (*caller.conversation_key, *((tool,) if tool else ()))
        # Whoever asks goes to the end, so that the first is the one who has been silent for longest.
        times = self.requests.pop(who, None) or deque(maxlen=MAX_REQUESTS)
        self.requests[who] = times
        if len(self.requests) > _MAX_CONVERSATIONS:
            del self.requests[next(iter(self.requests))]
        if len(times) == MAX_REQUESTS and now - times[0] < RATE_SECONDS:
            raise ToolError(
                f"This conversation made {MAX_REQUESTS} requests {f'by {tool}' if tool else 'to the web'} within {RATE_SECONDS / 60:g} minutes, which is "
                "the most. Answer with what is known, and say that more can be looked up in a few minutes."
            )
        times.append(now)

    def keep(self, caller: Caller, text: KeptText) -> str:
        """Store a text for its conversation and return its key."""
        key = token_hex(3)
        self.texts[key] = caller.conversation_key, monotonic(), text
        self._forget()
        return key

    def kept(self, caller: Caller, key: str) -> KeptText | None:
        """Return a stored text of this conversation, or None."""
        self._forget()
        who, _, text = self.texts.get(key, ((), 0, None))
        return text if who == caller.conversation_key else None

    def _forget(self) -> None:
        """Drop old texts and those beyond the limit."""
        now = monotonic()
        fresh = {key: kept for key, kept in self.texts.items() if now - kept[1] < KEEP_SECONDS}
        self.texts = dict(list(fresh.items())[-MAX_KEPT:])


_WEB_MEMORY: HassKey[WebMemory] = HassKey(f"{DOMAIN}_web_memory")
