"""Questions to a recorder's database as query_database asks them, without Home Assistant around it."""

import asyncio
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Barrier, Thread
from types import SimpleNamespace
from typing import Any, cast

from sqlalchemy import Engine

from custom_components.extended_assist.recorder.query import Answer, Visible, async_query
from custom_components.extended_assist.worker.host import workers
from homeassistant.core import HomeAssistant
from homeassistant.helpers.recorder import DATA_INSTANCE

ALWAYS = 4_000_000_000.0


def home(url: str, loop: asyncio.AbstractEventLoop) -> HomeAssistant:
    """Return as much of Home Assistant as a question needs, with the recorder at an address."""
    ready = loop.create_future()
    ready.set_result(True)
    instance = SimpleNamespace(
        db_url=url, migration_in_progress=False, async_db_ready=ready, is_alive=lambda: True, dialect_name=""
    )
    threads = ThreadPoolExecutor(2)
    loop.set_default_executor(threads)
    both = Barrier(2)
    for _ in range(2):  # Now, not during a test: what a test starts is looked at afterwards.
        threads.submit(both.wait)

    def run[T](work: Callable[..., T], *arguments: Any) -> asyncio.Future[T]:
        return loop.run_in_executor(threads, work, *arguments)

    return cast(
        "HomeAssistant",
        SimpleNamespace(
            loop=loop,
            data={DATA_INSTANCE: instance},
            config=SimpleNamespace(time_zone="UTC"),
            bus=SimpleNamespace(async_listen_once=lambda *_: None),
            async_add_executor_job=run,
        ),
    )


def everything_of(
    exposed: Collection[str],
    hidden: Collection[str] = (),
    *,
    start: float = 0.0,
    end: float = ALWAYS,
    among: Collection[str] | None = None,
) -> Visible:
    """Return what a question may see: some ids and their statistics, at all times."""
    rows = [(each, each.partition(".")[2].title(), "Hall") for each in sorted(exposed if among is None else among)]
    return Visible(
        entities=rows,
        statistics=rows,
        exposed=sorted(exposed),
        hidden=sorted(hidden),
        start=start,
        end=end,
        scope=f"{start} to {end}",
    )


@dataclass(frozen=True, slots=True)
class Process:
    """A process of the worker."""

    pid: int

    @property
    def peak(self) -> int:
        """Return the most bytes that it held."""
        lines = Path(f"/proc/{self.pid}/status").read_text(encoding="utf-8").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


def processes(hass: HomeAssistant) -> list[Process]:
    """Return the processes that there are."""
    found = workers(hass)
    return [Process(worker.pid) for worker in (*found._idle, *found._busy) if worker.alive]


class Asker:
    """Asks one database, from a loop in a thread of its own; what was copied is kept between questions."""

    def __init__(self, database: Engine) -> None:
        """Take the database."""
        self.loop = asyncio.new_event_loop()
        self._thread = Thread(target=self.loop.run_forever, daemon=True)
        self._thread.start()
        self.hass = self.run(self._home(database.url.render_as_string(hide_password=False)))

    async def _home(self, url: str) -> HomeAssistant:
        return home(url, self.loop)

    def run(self, work: Any) -> Any:
        """Return what a coroutine returns."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(120)

    def ask(self, visible: Visible, query: str, parameters: Mapping[str, Any] | None = None) -> Answer:
        """Return the answer to a query."""
        return cast("Answer", self.run(async_query(self.hass, visible, query, parameters or {})))

    def peak(self) -> int:
        """Return the most bytes that one of the processes held at any time."""
        return max(worker.peak for worker in processes(self.hass))

    def close(self) -> None:
        """End the processes and the loop."""
        self.loop.call_soon_threadsafe(workers(self.hass).stop)
        self.run(asyncio.sleep(0.05))
        self.run(self.loop.shutdown_default_executor())  # Its threads would outlive the test that ends here.
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(5)
        self.loop.close()
