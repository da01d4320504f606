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
"""Requests of one conversation in RATE_SECONDS: more than any question needs, too few to search a network or carry much out."""
RATE_SECONDS: Final = 300.0
KEEP_SECONDS: Final = 300.0
"""Seconds in which the rest of a text can be read: as long as a conversation lasts."""
MAX_KEPT: Final = 8
"""Texts that are kept for all conversations together, the newest."""
_MAX_CONVERSATIONS: Final = 200

type _Conversation = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class KeptText:
    """A text that is longer than one result, and what goes with it."""

    address: str
    fetched: str
    title: str
    text: str
    note: str


@dataclass(slots=True)
class WebMemory:
    """The times of requests and the long texts of all conversations."""

    requests: dict[_Conversation, deque[float]] = field(default_factory=dict)
    texts: dict[str, tuple[_Conversation, float, KeptText]] = field(default_factory=dict)

    @staticmethod
    def of(hass: HomeAssistant) -> WebMemory:
        """Return the memory of this Home Assistant."""
        return hass.data.setdefault(_WEB_MEMORY, WebMemory())

    def count_request(self, caller: Caller, tool: str | None = None) -> None:
        """Count a request, those of each other tool that sends something out by themselves; raise ToolError when too many."""
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
        """Return the text with a key, or None where it is gone or of another conversation."""
        self._forget()
        who, _, text = self.texts.get(key, ((), 0, None))
        return text if who == caller.conversation_key else None

    def _forget(self) -> None:
        """Forget what is old or too much."""
        now = monotonic()
        fresh = {key: kept for key, kept in self.texts.items() if now - kept[1] < KEEP_SECONDS}
        self.texts = dict(list(fresh.items())[-MAX_KEPT:])


_WEB_MEMORY: HassKey[WebMemory] = HassKey(f"{DOMAIN}_web_memory")
