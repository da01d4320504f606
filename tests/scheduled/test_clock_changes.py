"""Tests of being told that the clock was set."""

import asyncio
import errno
import os
import sys
from typing import Any

import pytest

from custom_components.extended_assist.scheduled import scheduler
from custom_components.extended_assist.scheduled.scheduler import async_watch_clock
from homeassistant.core import HomeAssistant

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the system does not tell of it")


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the system's timer end at once: what tells of that tells of a clock that was set, too."""
    monkeypatch.setattr(scheduler, "_NEVER", 1.0)


@pytest.mark.parametrize("error", [None, errno.ECANCELED, errno.EBADF])
async def test_told(hass: HomeAssistant, soon: None, monkeypatch: pytest.MonkeyPatch, error: int | None) -> None:
    """Whatever the system tells, the clock is looked at, and nothing after the end."""
    read, told = os.read, asyncio.Event()

    def fail(descriptor: int, size: int) -> bytes:
        answer = read(descriptor, size)
        if error and size == 8:
            raise OSError(error, "as the system has it")
        return answer

    monkeypatch.setattr(os, "read", fail)
    stop = async_watch_clock(hass, told.set)
    assert stop
    async with asyncio.timeout(5):
        await told.wait()
    stop()
    stop()


async def test_nothing_to_read(hass: HomeAssistant, soon: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """What somebody else has read already says nothing."""
    read, looked, told = os.read, asyncio.Event(), []

    def empty(descriptor: int, size: int) -> bytes:
        answer = read(descriptor, size)
        if size != 8:
            return answer
        looked.set()
        raise BlockingIOError

    monkeypatch.setattr(os, "read", empty)
    stop = async_watch_clock(hass, lambda: told.append(1))
    assert stop
    async with asyncio.timeout(5):
        await looked.wait()
    assert told == []
    stop()


@pytest.mark.parametrize("call", ["timerfd_create", "timerfd_settime"])
async def test_not_allowed(hass: HomeAssistant, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    """Where the system does not allow it, that is told."""

    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError

    monkeypatch.setattr(os, call, refuse)
    assert async_watch_clock(hass, lambda: None) is None


async def test_other_systems(hass: HomeAssistant, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other systems have no such timer."""
    monkeypatch.setattr(sys, "platform", "darwin")
    assert async_watch_clock(hass, lambda: None) is None
