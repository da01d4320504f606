"""The worker's bounds, tried from inside, as root and as another user, with a filter of system calls and without."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, closing
import os
from pathlib import Path
import socket
import sqlite3
import tempfile

import pytest

from custom_components.extended_assist.results import ToolError
from custom_components.extended_assist.worker import host
from custom_components.extended_assist.worker.host import JobFailedError, Worker, WorkerLostError, workers
from homeassistant.core import HomeAssistant

from . import attempts
from .test_host import BOUNDS, SEEN, filled, gone, works

AS_ROOT = pytest.param("", marks=pytest.mark.skipif(os.getuid() != 0, reason="not root here"), id="root")
AS_NOBODY = pytest.param(
    "import os\nif os.getuid() == 0: os.setgroups([]); os.setgid(65534); os.setuid(65534)\n", id="another user"
)
NO_FILTER = "import os, types\nos.uname = lambda: types.SimpleNamespace(machine='riscv64')\n"
IN_PLACE_OF_A_QUERY = """
from extended_assist.worker import database
from extended_assist.worker.messages import JobError
space = {{"__name__": "attempts"}}
exec(compile(open({path!r}, encoding="utf-8").read(), "attempts", "exec"), space)
other = space["neighbor"]()
def ask(connection, text, *_, **__):
    result = space["answer"](connection, text.replace("OTHER", str(other)))
    return {{"columns": ["outcome"], "rows": [[result]], "complete": True}}
def zone(text, _):
    if "|" in text:
        raise JobError(space["answer"](None, text.replace("OTHER", str(other))))
database.ask, database._set_time_zone = ask, zone
main()
"""
KINDS = ("sizes", "network", "files", "system", "processes", "others", "changes", "programs")
NAMES = [name for name, _ in attempts.everything(None, 0, "", 0)] + ["files: ATTACH"]
REFUSED = {
    "sizes": {"MemoryError", "ENOMEM", "EFBIG", "EPERM"},
    "files": {"EPERM", "OperationalError"},
    "network": {"EPERM", "no name"},
}
"""How what is not simply refused with EPERM may end."""
WITHOUT_FILTER = {
    "sizes: memory": {"MemoryError"},
    "sizes: mapped memory": {"ENOMEM"},
    "sizes: a long file": {"EFBIG"},
    "sizes: a write behind the end": {"EFBIG"},
    **{name: {"EMFILE", "EPERM", "no name"} for name in NAMES if name.startswith("network: ")},
    **{name: {"EMFILE", "EACCES", "EPERM", "OperationalError"} for name in NAMES if name.startswith("files: ")},
    **{name: {"EAGAIN", "EMFILE", "EPERM"} for name in NAMES if name.startswith("processes: ")},
    **{name: {"EPERM"} for name in NAMES if name.startswith("system: ") and name.endswith(" limit")},
    "system: become root": {"EPERM"},
}
"""What is refused without a filter too, whoever Home Assistant runs as."""
WITHOUT_FILTER_FROM_ROOT = {
    "others: signal": {"EPERM"},
    "others: kill": {"EPERM"},
    "others: ptrace": {"EPERM"},
    "others: read its memory": {"EPERM"},
    "others: write its memory": {"EPERM"},
    "others: limit its time": {"EPERM"},
    "programs: execv": {"EAGAIN"},
}
"""What is refused besides where root became nobody, whom nothing else belongs to."""


@asynccontextmanager
async def attacked(hass: HomeAssistant, monkeypatch: pytest.MonkeyPatch, before: str) -> AsyncIterator[Worker]:
    """Yield a process that runs the attempts where it would run queries."""
    program = before + host._PROGRAM.replace("; main()", IN_PLACE_OF_A_QUERY.format(path=attempts.__file__))
    with monkeypatch.context() as patch:
        patch.setattr(host, "_PROGRAM", program)
        async with workers(hass).lease(keep=False) as worker:
            yield worker


@pytest.fixture(autouse=True)
async def ended(hass: HomeAssistant) -> AsyncIterator[None]:
    """End what a test leaves behind."""
    yield
    workers(hass).stop()
    await asyncio.sleep(0.05)


@pytest.fixture
def target() -> Iterator[str]:
    """Yield what is attacked: a process of the same user, a folder for everybody, and a port that answers."""
    with tempfile.TemporaryDirectory() as folder, socket.socket() as server:
        Path(folder).chmod(0o777)
        with closing(sqlite3.connect(Path(folder, "database"))) as database:
            database.execute("CREATE TABLE x (y)")
        (existing := Path(folder, "existing")).write_text("s3cret", encoding="utf-8")
        existing.chmod(0o666)
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield f"OTHER|{folder}|{server.getsockname()[1]}"
        assert sorted(each.name for each in Path(folder).iterdir()) == ["database", "existing"]
        assert existing.read_text(encoding="utf-8") == "s3cret"


async def outcomes(worker: Worker, names: Iterable[str], target: str) -> dict[str, str]:
    """Return what became of each attempt in the place of a query."""
    found: dict[str, str] = {}
    for name in names:
        try:
            answer = await worker.request("query", 5.0, key="empty", text=f"{name}|{target}", **BOUNDS)
        except WorkerLostError:
            return found | {name: "the process became another one"}
        found[name] = answer["rows"][0][0]
    return found


@pytest.mark.parametrize("before", [AS_ROOT, AS_NOBODY])
@pytest.mark.parametrize("kind", KINDS)
async def test_in_a_query(
    hass: HomeAssistant, monkeypatch: pytest.MonkeyPatch, socket_enabled: None, target: str, before: str, kind: str
) -> None:
    """Whoever takes over the process while a query runs has what the query had, and nothing else."""
    names = [name for name in NAMES if name.startswith(f"{kind}: ")]
    async with attacked(hass, monkeypatch, before) as worker:
        await filled(worker)
        found = await outcomes(worker, names, target)
    assert len(found) == len(names)
    assert {name: each for name, each in found.items() if each not in REFUSED.get(kind, {"EPERM"})} == {}


@pytest.mark.parametrize("before", [AS_ROOT, AS_NOBODY])
@pytest.mark.parametrize("kind", ["network", "system", "processes", "others", "programs"])
async def test_while_it_is_filled(
    hass: HomeAssistant, monkeypatch: pytest.MonkeyPatch, socket_enabled: None, target: str, before: str, kind: str
) -> None:
    """All but opening files is refused from the first job on."""
    found: dict[str, str] = {}
    async with attacked(hass, monkeypatch, before) as worker:
        for name in NAMES:
            # A name may be in a file.
            if name.startswith(f"{kind}: ") and name != "network: name lookup":
                with pytest.raises(JobFailedError) as err:
                    await worker.request("begin", 5.0, **SEEN | {"time_zone": f"{name}|{target}"})
                found[name] = str(err.value)
    assert {name: each for name, each in found.items() if each != "EPERM"} == {}


@pytest.mark.parametrize("before", [AS_ROOT, AS_NOBODY])
async def test_a_file_of_the_user(
    hass: HomeAssistant, monkeypatch: pytest.MonkeyPatch, socket_enabled: None, target: str, before: str
) -> None:
    """The same holds for a query on one file."""
    found: dict[str, str] = {}
    uri = f"file:{target.split('|')[1]}/database?mode=ro"
    read = {"uri": uri, "views": [], "hidden": [], "time_zone": "", "utc_offset": 0}
    for name in ("files: read", "files: write a new one", "files: sqlite", "changes: unlink", "network: loopback"):
        async with attacked(hass, monkeypatch, before) as worker:
            answer = await worker.request("read", 5.0, text=f"{name}|{target}", **read, **BOUNDS)
            found[name] = answer["rows"][0][0]
    assert {name: each for name, each in found.items() if each not in REFUSED.get(name.split(":")[0], {"EPERM"})} == {}


@pytest.mark.parametrize("before", [AS_ROOT, AS_NOBODY])
async def test_without_filter(
    hass: HomeAssistant, monkeypatch: pytest.MonkeyPatch, socket_enabled: None, target: str, before: str
) -> None:
    """Where the kernel has no filters, limits bind, since root becomes another user before a query runs."""
    expected = WITHOUT_FILTER | (WITHOUT_FILTER_FROM_ROOT if not before else {})
    async with attacked(hass, monkeypatch, before + NO_FILTER) as worker:
        await filled(worker)
        found = await outcomes(worker, expected, target)
        assert {name: each for name, each in found.items() if each not in expected[name]} == {}
        status = await hass.async_add_executor_job(Path(f"/proc/{worker.pid}/status").read_text)
    assert "\nUid:\t0" not in status
    assert "\nSeccomp:\t0" in status
    assert found.keys() == expected.keys()


@pytest.mark.parametrize("before", [AS_ROOT, AS_NOBODY])
async def test_honest_without_filter(hass: HomeAssistant, monkeypatch: pytest.MonkeyPatch, before: str) -> None:
    """What it is for works there as well."""
    monkeypatch.setattr(host, "_PROGRAM", before + NO_FILTER + host._PROGRAM)
    await works(hass)


@pytest.mark.skipif(os.getuid() != 0, reason="not root here")
async def test_neither(hass: HomeAssistant, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where root can neither install a filter nor become another user, nothing runs."""
    cannot = "def fail(*_): raise PermissionError(1, 'not permitted')\nos.setresuid = fail\n"
    with monkeypatch.context() as patch:
        patch.setattr(host, "_PROGRAM", NO_FILTER + cannot + host._PROGRAM)
        with pytest.raises(ToolError, match="cannot be run on this system: the operating system sets no bounds here"):
            await works(hass)
    await works(hass)


@pytest.mark.parametrize("before", [AS_ROOT, AS_NOBODY])
@pytest.mark.parametrize("filtered", [True, False])
async def test_time(hass: HomeAssistant, monkeypatch: pytest.MonkeyPatch, before: str, filtered: bool) -> None:
    """A process that goes on when its time is over is ended, though it ignores what it is sent."""
    endless = (
        "import signal\n"
        "from extended_assist.worker import database\n"
        "def ask(connection, text, *_, **__):\n"
        "    signal.setitimer(signal.ITIMER_REAL, 0)\n"
        "    for number in (signal.SIGALRM, signal.SIGXCPU, signal.SIGTERM): signal.signal(number, signal.SIG_IGN)\n"
        "    while True: pass\n"
        "database.ask = ask\nmain()"
    )
    program = before + ("" if filtered else NO_FILTER) + host._PROGRAM.replace("; main()", "\n" + endless)
    monkeypatch.setattr(host, "_PROGRAM", program)
    monkeypatch.setattr(host, "_GRACE", 0.2)
    pid = 0

    async def work() -> None:
        nonlocal pid
        async with workers(hass).lease(keep=False) as worker:
            await filled(worker)
            pid = worker.pid
            await worker.request("query", 0.3, key="empty", text="SELECT 1", **BOUNDS)

    with pytest.raises(TimeoutError):
        await work()
    assert await gone(pid)
