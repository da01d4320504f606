"""Tests of the processes: what bounds them, and that whatever becomes of one, the next job finds another."""

import asyncio
import os
from pathlib import Path
import re
import signal
import subprocess
import sys
from typing import Any

import pytest

from custom_components.extended_assist.results import ToolError
from custom_components.extended_assist.worker import host
from custom_components.extended_assist.worker.host import JobFailedError, Worker, WorkerLostError, workers
from custom_components.extended_assist.worker.limits import FILE, MEMORY
from homeassistant.core import HomeAssistant

BOUNDS = {"parameters": {}, "seconds": 5.0, "most_rows": 10, "most_characters": 1_000, "longest": 100}
SEEN: dict[str, Any] = {
    "entities": [("light.lamp", "Lamp", "Hall")],
    "statistics": [],
    "exposed": ["light.lamp"],
    "hidden": [],
    "time_zone": "UTC",
    "utc_offset": 0,
}
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


async def filled(worker: Worker) -> None:
    """Give a process an empty database, unless it has one: it is filled once only."""
    if worker.holds != "empty":
        await worker.request("begin", 5.0, **SEEN)
        await worker.request("finish", 5.0, key="empty")
        worker.holds = "empty"


def is_filled(held: object) -> bool:
    """Return whether a process holds that database."""
    return held == "empty"


async def ask(worker: Worker, query: str = "SELECT 1", limit: float = 6.0) -> Any:
    """Return the rows of a query on it."""
    return (await worker.request("query", limit, key="empty", text=query, **BOUNDS))["rows"]


def alive(pid: int) -> bool:
    """Return whether a process runs."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except FileNotFoundError:
        return False


async def gone(pid: int) -> bool:
    """Return whether a process ends within some seconds."""
    for _ in range(100):
        if not alive(pid):
            return True
        await asyncio.sleep(0.1)
    return False


async def works(hass: HomeAssistant) -> int:
    """Ask something, and return which process answered."""
    async with workers(hass).lease(is_filled) as worker:
        await filled(worker)
        assert await ask(worker) == [[1]]
        return worker.pid


@pytest.fixture(autouse=True)
async def ended(hass: HomeAssistant) -> Any:
    """End what a test leaves behind."""
    yield
    workers(hass).stop()
    await asyncio.sleep(0.05)


async def test_bounds(hass: HomeAssistant, monkeypatch: pytest.MonkeyPatch) -> None:
    """The operating system bounds a process, and nothing of Home Assistant is in it."""
    monkeypatch.setenv("SUPERVISOR_TOKEN", "s3cret")
    async with workers(hass).lease(is_filled) as worker:
        await filled(worker)
        folder = Path(f"/proc/{worker.pid}")
        lines = (folder / "limits").read_text(encoding="utf-8").splitlines()[1:]
        limits = {line[:26].strip(): line[26:].split()[:2] for line in lines}
        assert limits["Max address space"] == [str(MEMORY)] * 2
        assert limits["Max file size"] == [str(FILE)] * 2
        assert limits["Max processes"] == limits["Max core file size"] == ["0", "0"]
        assert int(limits["Max open files"][1]) < 100
        assert int(limits["Max cpu time"][0]) < 20
        environment = (folder / "environ").read_text(encoding="utf-8")
        assert "s3cret" not in environment
        assert os.environ["HOME"] not in environment.split("TMPDIR")[0]
        assert "site-packages" not in (folder / "maps").read_text(encoding="utf-8")
        assert "(deleted)" in str((folder / "cwd").readlink())
        opened = [str(each.readlink()) for each in (folder / "fd").iterdir()]
        # Python's ctypes may keep the library open that it was loaded with.
        assert all(re.search(r"^pipe:|^/dev/null$|\(deleted\)$|/libffi[^/]*$", each) for each in opened), opened
        assert sum("pipe" in each for each in opened) == 2
        assert sum("(deleted)" in each for each in opened) == 1  # The file that large data goes to.
        assert (
            int((folder / "stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[16]) > 0
        )  # Gives way to others.


async def test_filled_once(hass: HomeAssistant) -> None:
    """A process that was filled serves who asks the same; others get a fresh one, since it can open nothing any more."""
    first = await works(hass)
    async with workers(hass).lease(lambda held: held == "something else") as worker:
        assert worker.pid != first
        assert worker.holds is None
        with pytest.raises(JobFailedError, match="nothing is being filled"):
            await worker.request("finish", 5.0, key="empty")
        empty = worker.pid
    assert await works(hass) == first
    async with workers(hass).lease(lambda held: held == "something else") as worker:
        assert worker.pid == empty, "one that holds nothing is as good as a new one"


async def test_kept_for_a_while(hass: HomeAssistant, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that did its job waits for another one, until nobody came."""
    monkeypatch.setattr(host, "IDLE_SECONDS", 0.3)
    first = await works(hass)
    assert await works(hass) == first
    assert await gone(first)
    assert await works(hass) != first


async def test_fresh(hass: HomeAssistant) -> None:
    """A process that is not to be kept is new, and ends with its job."""
    kept = await works(hass)
    async with workers(hass).lease(keep=False) as worker:
        assert worker.pid != kept
        pid = worker.pid
    assert await gone(pid)
    assert await works(hass) == kept


async def test_refusals_end_nothing(hass: HomeAssistant) -> None:
    """A job that cannot be done is an answer; the process goes on."""
    pid = await works(hass)
    with pytest.raises(JobFailedError, match="syntax error"):
        async with workers(hass).lease(is_filled) as worker:
            await ask(worker, "nonsense")
    with pytest.raises(JobFailedError, match="nothing was filled"):
        async with workers(hass).lease(is_filled) as worker:
            await worker.request("query", 1.0, key="another", text="SELECT 1", **BOUNDS)
    assert await works(hass) == pid


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
async def test_killed_while_idle(hass: HomeAssistant, end: signal.Signals) -> None:
    """A process that is ended from outside is replaced."""
    pid = await works(hass)
    os.kill(pid, end)
    assert await gone(pid)
    assert await works(hass) != pid


async def test_killed_while_it_starts(hass: HomeAssistant, monkeypatch: pytest.MonkeyPatch) -> None:
    """So is one that ends before it says that it is ready."""
    with monkeypatch.context() as patch:
        patch.setattr(host, "_PROGRAM", "import os; os.abort()")
        with pytest.raises(ToolError, match="could not be started"):
            await works(hass)
    await works(hass)


@pytest.mark.parametrize("job", ["begin", "finish", "query"])
async def test_killed_at_work(hass: HomeAssistant, job: str) -> None:
    """So is one that is ended in the midst of a job."""

    async def work() -> None:
        async with workers(hass).lease(is_filled) as worker:
            if job != "begin":
                await worker.request("begin", 5.0, **SEEN)
            if job == "query":
                await worker.request("finish", 5.0, key="empty")
            hass.loop.call_later(0.2, os.kill, worker.pid, signal.SIGKILL)
            if job == "query":
                await ask(worker, ENDLESS)
            os.kill(worker.pid, signal.SIGSTOP)
            await worker.request(job, 5.0, **(SEEN if job == "begin" else {"key": "empty"}))

    with pytest.raises(WorkerLostError, match="ended before it answered"):
        await work()
    await works(hass)


async def test_never_answers(hass: HomeAssistant, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that does not answer is killed when time is over."""
    monkeypatch.setattr(host, "_GRACE", 0.3)
    pid = await works(hass)

    async def work() -> None:
        async with workers(hass).lease(is_filled) as worker:
            os.kill(worker.pid, signal.SIGSTOP)
            await ask(worker, limit=0.2)

    with pytest.raises(TimeoutError):
        await work()
    assert await gone(pid)
    await works(hass)


async def test_ends_itself(hass: HomeAssistant) -> None:
    """A process that is too long at one thing ends itself, though nobody tells it to."""
    long = "WITH t(x) AS MATERIALIZED (SELECT printf('%.*c', 900000, 'a')) SELECT instr(x, substr(x, 1, 400000) || 'b') FROM t"
    pid = await works(hass)

    async def work() -> None:
        async with workers(hass).lease(is_filled) as worker:
            await worker.request("query", 0.5, key="empty", text=long, **BOUNDS)

    with pytest.raises(TimeoutError):
        await work()
    assert await gone(pid)
    await works(hass)


@pytest.mark.parametrize(
    "program",
    [
        "print('no message at all', flush=True); input()",
        "import sys; sys.stdout.buffer.write(b'\\xff' * 100); sys.stdout.flush(); input()",
        "import sys; sys.stdout.buffer.write(b'\\0\\0\\0\\5[1,2]'); sys.stdout.flush(); input()",
        "import sys; sys.stdout.buffer.write(b'\\0\\0\\0\\x02{}'); sys.stdout.flush()",
    ],
)
async def test_broken_messages(hass: HomeAssistant, monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    """What is no message ends the process that sent it."""
    monkeypatch.setattr(host, "START_SECONDS", 1.0)
    with monkeypatch.context() as patch:
        patch.setattr(host, "_PROGRAM", program)
        with pytest.raises(ToolError, match="could not be started"):
            await works(hass)
    await works(hass)


async def test_without_bounds(hass: HomeAssistant, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the system sets no bounds, nothing runs."""
    unbounded = "import resource\ndef fail(*_): raise ValueError('not here')\nresource.setrlimit = fail\n"
    with monkeypatch.context() as patch:
        patch.setattr(host, "_PROGRAM", unbounded + host._PROGRAM)
        with pytest.raises(ToolError, match="cannot be run on this system: the operating system sets no bounds here"):
            await works(hass)
    with monkeypatch.context() as patch:
        patch.setattr(host, "_PROGRAM", "import sys; sys.modules['resource'] = None; " + host._PROGRAM)
        with pytest.raises(ToolError, match="could not be started"):
            await works(hass)
    await works(hass)


async def test_cancelled(hass: HomeAssistant) -> None:
    """When nobody waits any more, the process is ended."""
    pids: list[int] = []

    async def run() -> None:
        async with workers(hass).lease(is_filled) as worker:
            await filled(worker)
            pids.append(worker.pid)
            await ask(worker, ENDLESS)

    task = hass.async_create_task(run())
    await asyncio.sleep(0.5)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await gone(pids[0])
    await works(hass)


async def test_two_at_once(hass: HomeAssistant, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two questions run side by side, each in a process of its own; a third waits, but not for ever."""
    pids: set[int] = set()
    free = asyncio.Event()

    async def run(*, keep: bool = True) -> None:
        async with workers(hass).lease(keep=keep) as worker:
            await filled(worker)
            pids.add(worker.pid)
            await free.wait()
            assert await ask(worker) == [[1]]

    await works(hass)
    tasks = [hass.async_create_task(run(keep=number != 1)) for number in range(3)]
    await asyncio.sleep(0.7)
    assert len(pids) == 2
    assert sum(map(alive, pids)) == 2
    monkeypatch.setattr(host, "WAIT_SECONDS", 0.2)
    with pytest.raises(ToolError, match="Ask again in a moment"):
        await works(hass)
    free.set()
    await asyncio.gather(*tasks)
    assert len(workers(hass)._idle) <= host.MOST


async def test_home_assistant_stops(hass: HomeAssistant) -> None:
    """When Home Assistant stops in the midst of a job, nothing is left behind, and nothing is started any more."""
    started = asyncio.Event()
    found = workers(hass)
    pids: list[int] = [await works(hass)]

    async def run() -> None:
        async with found.lease(is_filled) as worker:
            pids.append(worker.pid)
            await filled(worker)
            started.set()
            await ask(worker, ENDLESS)

    task = asyncio.ensure_future(run())
    await started.wait()
    await hass.async_stop()
    with pytest.raises(WorkerLostError):
        await task
    assert all([await gone(pid) for pid in pids])
    with pytest.raises(ToolError):
        await works(hass)


async def test_home_assistant_is_killed(hass: HomeAssistant, tmp_path: Path) -> None:
    """A process whose Home Assistant is gone from one moment to the next ends too."""
    script = tmp_path / "parent.py"
    script.write_text(
        "import asyncio, os\n"
        "from types import SimpleNamespace\n"
        "from tests.worker.test_host import ENDLESS, ask, filled, is_filled\n"
        "from custom_components.extended_assist.worker.host import Workers\n"
        "async def main():\n"
        "    async with Workers(SimpleNamespace(loop=asyncio.get_running_loop())).lease(is_filled) as worker:\n"
        "        await filled(worker)\n"
        "        print(worker.pid, flush=True)\n"
        "        asyncio.get_running_loop().call_later(0.2, os._exit, 9)\n"
        "        await ask(worker, ENDLESS)\n"
        "asyncio.run(main())\n",
        encoding="utf-8",
    )

    def run() -> int:
        environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
        done = subprocess.run([sys.executable, script], check=False, capture_output=True, text=True, env=environment)
        assert done.returncode == 9, done.stderr
        return int(done.stdout)

    pid = await hass.async_add_executor_job(run)
    assert await gone(pid)


async def test_python_behind_a_script(hass: HomeAssistant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where Python is started by a script, nothing is left of either."""
    script = tmp_path / "python"
    script.write_text(f'#!/bin/sh\n"{sys.executable}" "$@"\nexit $?\n', encoding="utf-8")
    script.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(script))
    async with workers(hass).lease(keep=False) as worker:
        await filled(worker)
        pid = worker.pid
        listed = Path(f"/proc/{pid}/task/{pid}/children")
        children = (await hass.async_add_executor_job(listed.read_text)).split()
    assert children
    assert all([await gone(int(each)) for each in (pid, *children)])


async def test_no_folder_for_temporary_files(hass: HomeAssistant, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing can be written, that is said, and the turn is given back."""

    def fail() -> str:
        raise FileNotFoundError("No usable temporary directory found")

    with monkeypatch.context() as patched:
        patched.setattr(host.tempfile, "gettempdir", fail)
        for _ in range(host.MOST + 1):
            with pytest.raises(ToolError, match="could not be started"):
                await works(hass)
    await works(hass)


async def test_half_a_character(hass: HomeAssistant) -> None:
    """A text that is no text is the asker's mistake, and takes nothing with it."""
    async with workers(hass).lease(is_filled) as worker:
        await filled(worker)
        with pytest.raises(JobFailedError, match="surrogates"):
            await ask(worker, "SELECT '\ud800'")
        assert await ask(worker) == [[1]]


def test_no_module_of_home_assistant(tmp_path: Path) -> None:
    """The program imports nothing that does not come with Python."""
    program = host._PROGRAM.replace(
        "main()", "[n for n in sys.modules if n.startswith(('homeassistant', 'sqlalchemy', 'orjson'))]"
    )
    code = program.replace("import main; ", "import main; print(") + ")"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, host._PACKAGE], check=True, capture_output=True, text=True
    )
    assert done.stdout.strip() == "[]"
