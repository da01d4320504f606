"""What is watched while something is measured: the event loop, and the size of this process."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
import gc
from pathlib import Path
from time import perf_counter


@asynccontextmanager
async def heartbeat() -> AsyncGenerator[list[float]]:
    """Yield a list whose first item becomes the longest time, in milliseconds, between two beats of the event loop."""
    longest = [0.0]

    async def beat() -> None:
        last = perf_counter()
        while True:
            await asyncio.sleep(0.001)
            now = perf_counter()
            longest[0] = max(longest[0], (now - last) * 1000 - 1)
            last = now

    task = asyncio.create_task(beat())
    await asyncio.sleep(0.003)
    longest[0] = 0.0
    try:
        yield longest
        await asyncio.sleep(0.002)
    finally:
        task.cancel()


def forget_peak() -> None:
    """Let the peak begin anew."""
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def peak() -> float:
    """Return the highest size of this process since then, in MiB."""
    status = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024
