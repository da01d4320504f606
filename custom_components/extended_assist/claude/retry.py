"""What is worth another try, and how soon: while somebody waits for an answer, or while nobody does."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from time import monotonic

import anthropic

RETRY_TIME = 8.0
"""Seconds of a turn after which nothing is tried anew: about as long as a speaker waits without a word."""
RESPONSE_TIMEOUT = 180.0
"""Seconds for one response, however lively: enough for the default length from a slow server, and an end to any other."""

TASK_RETRY_TIME = 300.0
"""The same for a task, which nobody stands and waits for: longer than the pause after a minute's limit."""
TASK_TIMEOUT = 900.0
"""Seconds for one response to a task, which may be a long text."""
TASK_EVENT_TIMEOUT = 180.0
"""Seconds of silence in a task: a long document, or a long thought, may take its time."""

_PAUSES: Mapping[str, tuple[float, ...]] = {
    "cannot_connect": (0.0, 1.0),
    "interrupted": (0.0, 1.0),
    "server_error": (0.5, 2.0),
    "overloaded": (0.5, 1.0, 2.0, 4.0),
    "rate_limited": (1.0, 2.0, 4.0),
}
"""Seconds before each further try, by cause. A kept connection may just have gone stale, so that the first is free; where
there is no connection at all, waiting longer does not bring it back. What is missing here fails the same way again."""
_TASK_PAUSES: Mapping[str, tuple[float, ...]] = {
    "cannot_connect": (0.0, 1.0, 5.0),
    "interrupted": (0.0, 1.0, 5.0),
    "server_error": (0.5, 2.0, 10.0),
    "overloaded": (1.0, 5.0, 15.0, 30.0, 60.0),
    "rate_limited": (5.0, 15.0, 30.0, 60.0),
}


@dataclass(frozen=True, slots=True)
class Patience:
    """How long is waited for a server."""

    retry_time: float = RETRY_TIME
    """Seconds after which nothing is tried anew."""
    response_time: float = RESPONSE_TIMEOUT
    """Seconds for one response."""
    silence: float | None = None
    """Seconds without any event, or None for what the connection has."""
    pauses: Mapping[str, tuple[float, ...]] = field(default_factory=lambda: _PAUSES)


def task_patience(silence: float) -> Patience:
    """Return the patience for a task, on a connection that bears so many seconds of silence."""
    return Patience(TASK_RETRY_TIME, TASK_TIMEOUT, max(silence, TASK_EVENT_TIMEOUT), _TASK_PAUSES)


class Retry:
    """The tries of one turn."""

    def __init__(self, patience: Patience | None = None) -> None:
        """Start to count when the first request is about to be sent."""
        patience = patience or Patience()
        self._pauses = patience.pauses
        self._ends = monotonic() + patience.retry_time
        self._tries: dict[str, int] = {}

    def pause(self, key: str, error: Exception) -> float | None:
        """Return the seconds to wait before the next try, or None when it is not worth one."""
        pauses = self._pauses.get(key, ())
        tried = self._tries[key] = self._tries.get(key, -1) + 1
        if (
            tried >= len(pauses)
            or isinstance(error, anthropic.APITimeoutError)
            or _header(error, "x-should-retry") == "false"
        ):
            return None
        seconds = pauses[tried] if (asked := _asked_pause(error)) is None else asked
        return seconds if monotonic() + seconds <= self._ends else None


def _asked_pause(error: Exception) -> float | None:
    """Return the seconds that the server asks to wait; a date, which proxies may send, counts as not asked."""
    try:
        return max(0.0, float(_header(error, "retry-after")))
    except ValueError:
        return None


def _header(error: Exception, name: str) -> str:
    return str(error.response.headers.get(name, "")) if isinstance(error, anthropic.APIStatusError) else ""
