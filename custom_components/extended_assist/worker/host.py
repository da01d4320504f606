"""Home Assistant's side of the worker: it starts processes on demand and ends idle ones.

A process runs one job at a time. After any error, and if nobody waits for the answer any more, the process is killed, and
the next job gets a new one.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
import os
from pathlib import Path
import signal
import sys
import tempfile
from typing import Any, Final

from homeassistant.const import EVENT_HOMEASSISTANT_STOP
from homeassistant.core import Event, HomeAssistant, callback
from homeassistant.helpers.json import json_bytes
from homeassistant.util.hass_dict import HassKey
from homeassistant.util.json import json_loads_object

from ..const import DOMAIN, LOGGER
from ..results import ToolError
from .messages import LENGTH_BYTES, MAX_MESSAGE, pack

MOST: Final = 2
"""The most processes at once."""
IDLE_SECONDS: Final = 120.0
"""Seconds without a job after which a process is ended."""
START_SECONDS: Final = 10.0
WAIT_SECONDS: Final = 20.0
"""The most seconds that a job waits for a process."""
_GRACE: Final = 3.0
"""Seconds after the time limit in which the process ends by itself."""
_LARGE: Final = 50_000
"""Bytes from which a message is parsed in a thread."""
_OUT_OF_TIME: Final = frozenset({-signal.SIGALRM, -signal.SIGXCPU})

# The package as a name without its content: what it holds besides the worker needs Home Assistant.
_PROGRAM: Final = (
    "import sys, types; p = types.ModuleType('extended_assist'); p.__path__ = [sys.argv[1]]; sys.modules[p.__name__] = p; "
    "from extended_assist.worker.process import main; main()"
)
_PACKAGE: Final = str(Path(__file__).parents[1])
_KEPT_ENVIRONMENT: Final = ("LD_LIBRARY_PATH", "PYTHONPYCACHEPREFIX", "TZDIR")


class JobFailedError(ToolError):
    """The worker could not do a job; the message is the worker's."""


class WorkerLostError(ToolError):
    """The process ended before it answered."""


class Worker:
    """One process."""

    def __init__(
        self, process: asyncio.subprocess.Process, sent: asyncio.StreamWriter, received: asyncio.StreamReader
    ) -> None:
        """Store a started process and its pipes."""
        self._process = process
        self._sent = sent
        self._received = received
        self.holds: object = None
        """The key of the data in the process; None until they are complete."""
        self.idle_timer: asyncio.TimerHandle | None = None

    @property
    def pid(self) -> int:
        """Return the id of the process."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Return whether the process runs."""
        if self._process.returncode is not None:
            return False
        try:  # The loop may not have heard yet; this only looks, and leaves it to the loop to take note.
            return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
        except ChildProcessError:
            return False

    async def request(self, job: str, limit: float, **arguments: Any) -> Any:
        """Return the answer to a job.

        Raises JobFailedError with the worker's reason, TimeoutError at the time limit, and WorkerLostError.
        """
        return await self.request_packed(pack_job(job, limit, arguments), limit)

    async def request_packed(self, message: bytes, limit: float) -> Any:
        """Return the answer to a packed job."""
        try:
            async with asyncio.timeout(limit + _GRACE):
                self._sent.write(message)
                await self._sent.drain()
                return await self.answer()
        except TimeoutError:
            self.kill()
            raise
        except (OSError, EOFError, ValueError) as err:
            self.kill()
            if await self._process.wait() in _OUT_OF_TIME:
                raise TimeoutError from err
            raise WorkerLostError(
                "The process that reads the database was ended before it answered, most likely because it took too much "
                "memory. Ask for less: fewer entities, a shorter span, or aggregates."
            ) from err

    async def answer(self) -> Any:
        """Read one answer."""
        head = await self._received.readexactly(LENGTH_BYTES)
        if (length := int.from_bytes(head)) > MAX_MESSAGE:
            raise ValueError("a message that is no message")
        body = await self._received.readexactly(length)
        if length > _LARGE:
            answer = await asyncio.get_running_loop().run_in_executor(None, json_loads_object, body)
        else:
            answer = json_loads_object(body)
        if "error" in answer:
            raise JobFailedError(str(answer["error"]))
        if "result" not in answer:
            raise ValueError("an answer that is none")
        return answer["result"]

    @callback
    def kill(self) -> None:
        """Kill the process."""
        if self.idle_timer:
            self.idle_timer.cancel()
        if self.alive:
            with suppress(ProcessLookupError):
                # The whole group: where Python is started by a script, that is another process.
                os.killpg(self.pid, signal.SIGKILL)


def pack_job(job: str, limit: float, arguments: dict[str, Any]) -> bytes:
    """Return a job as bytes, in any thread. Raises JobFailedError for a lone surrogate in a text."""
    try:
        return pack(json_bytes({"job": job, "limit": limit, "arguments": arguments}))
    except TypeError as err:
        raise JobFailedError(str(err)) from err


@dataclass(slots=True)
class Workers:
    """The worker processes of this Home Assistant."""

    hass: HomeAssistant
    _idle: list[Worker] = field(default_factory=list)
    _busy: set[Worker] = field(default_factory=set)
    _leases: int = 0
    """Processes in use or starting."""
    _turns: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MOST))
    _stopped: bool = False

    @asynccontextmanager
    async def lease(
        self, suits: Callable[[object], bool] = lambda _: False, *, keep: bool = True
    ) -> AsyncIterator[Worker]:
        """Yield a process for some jobs: one with suitable data, an empty one, or a new one.

        The process is kept only if the caller wants it and it returned nothing but valid answers.
        """
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                await self._turns.acquire()
        except TimeoutError as err:
            raise ToolError("Other questions are being worked on. Ask again in a moment.") from err
        self._leases += 1
        try:
            worker = self._take(suits) if keep else None
            if worker is None:
                self._make_room()
                worker = await self._start()
            self._busy.add(worker)
            kept = False
            try:
                yield worker
                kept = keep
            except JobFailedError:
                kept = keep
                raise
            finally:
                self._busy.discard(worker)
                if kept and worker.alive and not self._stopped:
                    self._rest(worker)
                else:
                    worker.kill()
        finally:
            self._leases -= 1
            self._turns.release()

    def _take(self, suits: Callable[[object], bool]) -> Worker | None:
        """Remove and return an idle process with suitable data, or an empty one; each gets data only once."""
        for worker in [worker for worker in self._idle if not worker.alive]:
            self._end(worker)
        usable = [worker for worker in self._idle if worker.holds is None or suits(worker.holds)]
        if not usable:
            return None
        worker = max(usable, key=lambda worker: worker.holds is not None)
        self._idle.remove(worker)
        if worker.idle_timer:
            worker.idle_timer.cancel()
        return worker

    def _make_room(self) -> None:
        """End an idle process if a new one would exceed the limit."""
        while self._idle and len(self._idle) + self._leases > MOST:
            self._idle.pop(0).kill()

    def _rest(self, worker: Worker) -> None:
        """Keep an idle process for a while."""
        self._idle.append(worker)
        worker.idle_timer = self.hass.loop.call_later(IDLE_SECONDS, self._end, worker)

    @callback
    def _end(self, worker: Worker) -> None:
        """End an idle process."""
        if worker in self._idle:
            self._idle.remove(worker)
            worker.kill()

    async def _start(self) -> Worker:
        """Start a process, and wait until it has confined itself."""
        if not sys.executable or self._stopped:
            raise ToolError("Queries need a Python to run in a process of its own, and there is none. Tell the user.")
        environment = {name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ}
        try:
            folder = await self.hass.loop.run_in_executor(None, tempfile.gettempdir)
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-I", "-S", "-c", _PROGRAM, _PACKAGE),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                cwd="/",
                env=environment | {"TMPDIR": folder},
                start_new_session=True,
            )
        except OSError as err:
            LOGGER.error("The process for queries could not be started: %s", err)
            raise ToolError("The process for queries could not be started; the log says why. Tell the user.") from err
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("a process without pipes")
        worker = Worker(process, process.stdin, process.stdout)
        try:
            async with asyncio.timeout(START_SECONDS):
                await worker.answer()
        except JobFailedError as err:
            worker.kill()
            LOGGER.error("The process for queries has no bounds, and is not used: %s", err)
            raise ToolError(f"Queries cannot be run on this system: {err}. Tell the user.") from err
        except (TimeoutError, EOFError, ValueError) as err:
            worker.kill()
            LOGGER.error("The process for queries ended while it started")
            raise ToolError("The process for queries could not be started. Tell the user.") from err
        except BaseException:
            worker.kill()
            raise
        return worker

    @callback
    def stop(self, _: Event | None = None) -> None:
        """End all processes."""
        self._stopped = True
        for worker in (*self._idle, *self._busy):
            worker.kill()
        self._idle.clear()


_WORKERS: HassKey[Workers] = HassKey(f"{DOMAIN}_workers")


@callback
def workers(hass: HomeAssistant) -> Workers:
    """Return the worker processes of this Home Assistant; none starts yet."""
    if _WORKERS not in hass.data:
        hass.data[_WORKERS] = found = Workers(hass)
        hass.bus.async_listen_once(EVENT_HOMEASSISTANT_STOP, found.stop)
    return hass.data[_WORKERS]
