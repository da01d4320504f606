"""Tests of work in a thread of its own."""

import asyncio
from collections.abc import Callable
import threading
import time
from typing import Any

import pytest

from custom_components.extended_assist.worker import interruptible as module
from custom_components.extended_assist.worker.interruptible import async_run_interruptible
from homeassistant.core import HomeAssistant
from homeassistant.util.thread import ThreadWithException


def ours() -> list[threading.Thread]:
    """Return the threads that work for us."""
    return [thread for thread in threading.enumerate() if thread.name == "extended_assist test"]


async def gone(seconds: float = 2) -> None:
    """Wait until no thread works for us any more."""
    async with asyncio.timeout(seconds):
        while ours():  # noqa: ASYNC110 - threads are waited for
            await asyncio.sleep(0.01)


async def test_result_and_error(hass: HomeAssistant) -> None:
    """What the work returns or raises reaches the one who waits."""
    assert await async_run_interruptible(hass, "test", 5, lambda: 41 + 1) == 42
    assert await async_run_interruptible(hass, "test", 5, lambda: None) is None
    with pytest.raises(ZeroDivisionError):
        await async_run_interruptible(hass, "test", 5, lambda: 1 // 0)


async def test_time_is_over(hass: HomeAssistant) -> None:
    """Work that takes too long is ended, whatever it catches."""

    def work() -> None:
        while True:
            try:
                time.sleep(0.001)
            except Exception:  # noqa: BLE001, S112 - as careless code does
                continue

    with pytest.raises(TimeoutError):
        await async_run_interruptible(hass, "test", 0.05, work)
    await gone()


async def test_nobody_waits(hass: HomeAssistant) -> None:
    """When nobody waits any more, the work is ended."""
    begun = threading.Event()

    def work() -> None:
        begun.set()
        while True:
            time.sleep(0.001)

    task = hass.async_create_task(async_run_interruptible(hass, "test", 60, work))
    await hass.async_add_executor_job(begun.wait)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await gone()


@pytest.mark.parametrize("work", [lambda: 1, lambda: 1 // 0], ids=["result", "error"])
async def test_done_when_nobody_waits(
    hass: HomeAssistant, caplog: pytest.LogCaptureFixture, work: Callable[[], int]
) -> None:
    """A result that comes just when nobody waits for it any more is dropped."""
    task = hass.async_create_task(async_run_interruptible(hass, "test", 60, work))
    for thread in ours():
        thread.join()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await hass.async_block_till_done()
    assert "InvalidStateError" not in caplog.text


async def test_cannot_be_interrupted(
    hass: HomeAssistant, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread that waits inside a library cannot be ended; that is logged, once, and the answer does not wait for it."""
    monkeypatch.setattr(module, "_TRY_AGAIN", 0.001)
    wait = threading.Event()
    with pytest.raises(TimeoutError):
        await async_run_interruptible(hass, "test", 0.01, wait.wait)
    message = "The thread 'extended_assist test' could not be interrupted"
    async with asyncio.timeout(5):
        while message not in caplog.text:  # noqa: ASYNC110 - a log is waited for
            await asyncio.sleep(0.01)
    wait.set()
    await gone()
    assert caplog.text.count(message) == 1


async def test_ends_in_this_moment(
    hass: HomeAssistant, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread that has ended when it is to be ended is no error."""
    wait = threading.Event()

    def too_late(thread: ThreadWithException, _: Any) -> None:
        wait.set()
        thread.join()
        raise ValueError("Nonexistent thread id")

    monkeypatch.setattr(ThreadWithException, "raise_exc", too_late)
    with pytest.raises(TimeoutError):
        await async_run_interruptible(hass, "test", 0.01, wait.wait)
    assert ours() == []
    assert "ValueError" not in caplog.text
