"""What is worth another try, and how soon, while somebody waits for an answer."""

from time import monotonic

import anthropic

RETRY_TIME = 8.0
"""Seconds of a turn after which nothing is tried anew: about as long as a speaker waits without a word."""

_PAUSES = {
    "cannot_connect": (0.0, 1.0),
    "interrupted": (0.0, 1.0),
    "server_error": (0.5, 2.0),
    "overloaded": (0.5, 1.0, 2.0, 4.0),
    "rate_limited": (1.0, 2.0, 4.0),
}
"""Seconds before each further try, by cause. A kept connection may just have gone stale, so that the first is free; where
there is no connection at all, waiting longer does not bring it back. What is missing here fails the same way again."""


class Patience:
    """The tries of one turn."""

    def __init__(self, retry_time: float = RETRY_TIME) -> None:
        """Start to count when the first request is about to be sent."""
        self._ends = monotonic() + retry_time
        self._tries: dict[str, int] = {}

    def pause(self, key: str, error: Exception) -> float | None:
        """Return the seconds to wait before the next try, or None when it is not worth one."""
        pauses = _PAUSES.get(key, ())
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
    """Return a header of the answer that an error came with."""
    return str(error.response.headers.get(name, "")) if isinstance(error, anthropic.APIStatusError) else ""
