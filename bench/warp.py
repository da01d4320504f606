"""Hours in moments: a clock that goes on at once whenever the event loop would wait for it."""

import asyncio
from datetime import UTC, datetime, tzinfo
import time
from typing import Any, Self

from homeassistant.helpers import event
from homeassistant.util import dt as dt_util

_MOST = 60.0
"""Seconds by which the clock goes on at once where nothing is due."""
_PAUSE = 0.001
"""Seconds that are waited for threads, while which the clock stands still."""


class Warp:
    """While it is open, waiting takes no time: timers run in their order, at what is then their time by every clock."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Take the loop in which it is opened."""
        self._loop: Any = loop
        self._selector = loop._selector  # type: ignore[attr-defined]  # noqa: SLF001 - what the loop waits with
        self._ahead = 0.0
        self._threads = 0
        self._kept: list[tuple[Any, str, Any]] = []

    def __enter__(self) -> Self:
        """Let the clock run ahead."""
        loop_time, wall, select = self._loop.time, time.time, self._selector.select
        in_executor = self._loop.run_in_executor

        def now() -> float:
            return wall() + self._ahead

        def utcnow() -> datetime:
            return datetime.fromtimestamp(now(), UTC)

        def local(zone: tzinfo | None = None) -> datetime:
            return datetime.fromtimestamp(now(), zone or dt_util.get_default_time_zone())

        def wait(timeout: float | None = None) -> Any:
            if (found := select(0)) or (timeout is not None and timeout <= 0):
                return found
            if self._threads:
                return select(_PAUSE)
            self._ahead += _MOST if timeout is None else min(timeout, _MOST)
            return found

        def run_in_executor(*arguments: Any) -> Any:
            self._threads += 1
            future = in_executor(*arguments)
            future.add_done_callback(self._leave)
            return future

        self._set(self._loop, "time", lambda: loop_time() + self._ahead)
        self._set(self._loop, "run_in_executor", run_in_executor)
        self._set(self._selector, "select", wait)
        self._set(time, "time", now)
        self._set(event, "time_tracker_timestamp", now)
        self._set(event, "time_tracker_utcnow", utcnow)
        self._set(dt_util, "utcnow", utcnow)
        self._set(dt_util, "now", local)
        return self

    def __exit__(self, *_: object) -> None:
        """Give every clock back."""
        while self._kept:
            owner, name, value = self._kept.pop()
            setattr(owner, name, value)

    def _set(self, owner: Any, name: str, value: Any) -> None:
        self._kept.append((owner, name, getattr(owner, name)))
        setattr(owner, name, value)

    def _leave(self, _: object) -> None:
        self._threads -= 1
