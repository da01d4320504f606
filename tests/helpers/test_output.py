"""What is logged is kept for the test that fails, and nothing of it comes out on its own."""

import asyncio
import logging

import pytest


def test_only_pytest_keeps_what_is_logged() -> None:
    """No handler writes to the terminal, where it would come out between the results and after the summary."""
    writing = [handler for handler in logging.getLogger().handlers if type(handler) is logging.StreamHandler]
    assert writing == []
    assert not logging.getLogger("sqlalchemy.engine").isEnabledFor(logging.INFO)


async def test_the_loop_keeps_to_its_thread() -> None:
    """What another thread calls is refused, and no future keeps the stack that made it."""
    loop = asyncio.get_running_loop()
    with pytest.raises(RuntimeError, match="Non-thread-safe"):
        await loop.run_in_executor(None, loop.call_soon, print)
    assert not hasattr(loop.create_future(), "_source_traceback") or loop.create_future()._source_traceback is None
