# ruff: noqa: PTH101, PTH104, PTH108, PTH116, PTH208, PTH211, S103, S606 - each attempt is one call of the system
"""What the worker must not be able to do: each is attempted inside the process, in the place of a query or of filling.

The worker runs this file by itself, before its own program: it imports nothing but Python.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
import ctypes
import errno
import fcntl
import mmap
import os
from pathlib import Path
import resource
import signal
import socket
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from typing import Any

_libc = ctypes.CDLL(None, use_errno=True)
_NUMBERS = {"io_uring_setup": 425, "clone3": 435, "openat2": 437, "pidfd_getfd": 438}
"""Calls that have the same numbers on both architectures."""


def neighbor() -> int:
    """Start another process of the same user, to be attacked, and return its id; it ends with this one."""
    here = os.getpid()
    if child := os.fork():
        return child
    for number in range(3):
        os.close(number)
    while os.getppid() == here:
        time.sleep(0.05)
    os._exit(0)


def _libc_call(name: str, *arguments: Any) -> int:
    """Call the C library, as whoever runs code of his own would."""
    result = int(getattr(_libc, name)(*arguments))
    if result == -1:
        raise OSError(ctypes.get_errno(), name)
    return result


def _system_call(name: str, *arguments: Any) -> int:
    return _libc_call("syscall", ctypes.c_long(_NUMBERS[name]), *arguments)


def _fork() -> None:
    if os.fork() == 0:
        os._exit(0)


def _system() -> None:
    if code := os.system("true"):  # noqa: S605, S607
        raise OSError(errno.EPERM, f"code {code}")


def _thread() -> None:
    try:
        threading.Thread(target=int).start()
    except RuntimeError as err:
        raise OSError(errno.EPERM, str(err)) from err


def _own_file() -> int:
    """Return the file that large data goes to."""
    for number in range(3, 32):
        with suppress(OSError):
            if stat.S_ISREG(os.fstat(number).st_mode) and fcntl.fcntl(number, fcntl.F_GETFL) & os.O_RDWR:
                return number
    raise RuntimeError("no file is open")


def _attach(connection: sqlite3.Connection, path: str) -> None:
    """Attach a database as SQLite's own code would if nothing authorized it."""
    connection.set_authorizer(None)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 10)
    connection.execute("ATTACH ? AS other", (path,))
    connection.execute("SELECT count(*) FROM other.sqlite_schema")


def _raise(kind: int) -> None:
    try:
        resource.setrlimit(kind, (1 << 40, 1 << 40))
    except ValueError as err:  # Python's name for EPERM here.
        raise PermissionError(errno.EPERM, str(err)) from err


def _clone3() -> None:
    arguments = (ctypes.c_uint64 * 8)()
    arguments[4] = signal.SIGCHLD
    if _system_call("clone3", arguments, ctypes.c_size_t(64)) == 0:
        os._exit(0)


def processes() -> dict[str, Callable[[], Any]]:
    """Return the attempts to have a process or a program."""
    return {
        "fork": _fork,
        "clone3": _clone3,
        "forkpty": lambda: os.forkpty()[0] or os._exit(0),
        "posix_spawn": lambda: os.posix_spawn("/bin/true", ["true"], {}),
        "subprocess": lambda: subprocess.run(["/bin/true"], check=True, close_fds=False),
        "system": _system,
        "popen": lambda: subprocess.check_output("true", shell=True),  # noqa: S602, S607
        "thread": _thread,
    }


def programs() -> dict[str, Callable[[], Any]]:
    """Return the attempts to become another program."""
    return {
        "execv": lambda: os.execv("/bin/true", ["true"]),
        "execve of itself": lambda: os.execve(sys.executable, ["python", "-c", ""], {}),
    }


def network(port: int) -> dict[str, Callable[[], Any]]:
    """Return the attempts to reach anything over a network or a socket."""
    return {
        "loopback": lambda: socket.socket().connect(("127.0.0.1", port)),
        "tcp": socket.socket,
        "tcp, version 6": lambda: socket.socket(socket.AF_INET6),
        "udp": lambda: socket.socket(type=socket.SOCK_DGRAM),
        "unix": lambda: socket.socket(socket.AF_UNIX),
        "raw": lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1),
        "netlink": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW),
        "a pair": socket.socketpair,
        "name lookup": lambda: socket.getaddrinfo(b"localhost", 80),
    }


def files(connection: sqlite3.Connection | None, other: int, folder: str) -> dict[str, Callable[[], Any]]:
    """Return the attempts to open anything."""
    existing = f"{folder}/existing"
    attempts: dict[str, Callable[[], Any]] = {
        "read": lambda: Path(existing).read_text(encoding="utf-8"),
        "read the accounts": lambda: Path("/etc/passwd").read_text(encoding="utf-8"),
        "read its program": lambda: Path(sys.executable).read_bytes(),
        "write a new one": lambda: Path(f"{folder}/new").write_text("x", encoding="utf-8"),
        "append": lambda: os.open(existing, os.O_WRONLY | os.O_APPEND),
        "without a name": lambda: os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o600),
        "a path": lambda: os.open(existing, os.O_PATH),
        "a folder": lambda: os.listdir(folder),
        "openat2": lambda: _system_call("openat2", -100, existing.encode(), b"\0" * 24, 24),
        "sqlite": lambda: sqlite3.connect(f"file:{existing}?mode=ro", uri=True).execute("SELECT 1 FROM sqlite_schema"),
        "another's environment": lambda: Path(f"/proc/{other}/environ").read_bytes(),
        "another's memory": lambda: os.open(f"/proc/{other}/mem", os.O_RDWR),
        "its own memory": lambda: os.open("/proc/self/mem", os.O_RDWR),
        "the device for memory": lambda: os.open("/dev/mem", os.O_RDWR),
        "in memory": lambda: os.memfd_create("x"),
        "io_uring": lambda: _system_call("io_uring_setup", 1, ctypes.create_string_buffer(120)),
        "a pipe": os.pipe,
        "inotify": lambda: _libc_call("inotify_init1", 0),
    }
    if connection is not None:
        attempts["ATTACH"] = lambda: _attach(connection, f"file:{existing}?mode=ro")
    return attempts


def changes(folder: str) -> dict[str, Callable[[], Any]]:
    """Return the attempts to change files without opening any."""
    existing = f"{folder}/existing"
    return {
        "mkdir": lambda: Path(f"{folder}/sub").mkdir(),
        "rename": lambda: os.rename(existing, f"{folder}/renamed"),
        "unlink": lambda: os.unlink(existing),
        "link": lambda: os.link(existing, f"{folder}/linked"),
        "symlink": lambda: os.symlink(existing, f"{folder}/symlinked"),
        "chmod": lambda: os.chmod(existing, 0o777),
        "truncate": lambda: os.truncate(existing, 0),
        "mkfifo": lambda: os.mkfifo(f"{folder}/fifo"),
        "utime": lambda: os.utime(existing),
        "stat": lambda: os.stat(existing),
    }


def others(other: int) -> dict[str, Callable[[], Any]]:
    """Return the attempts on another process of the same user, and on the one that asks."""
    text = ctypes.create_string_buffer(16)
    vector = (ctypes.c_size_t * 2)(ctypes.addressof(text), 16)
    return {
        "signal": lambda: os.kill(other, 0),
        "kill": lambda: os.kill(other, signal.SIGUSR1),
        "signal the one that asks": lambda: os.kill(os.getppid(), 0),
        "signal everybody": lambda: os.kill(-1, 0),
        "signal the group": lambda: os.killpg(0, 0),
        "queue a signal": lambda: _libc_call("sigqueue", other, 0, None),
        "hold it": lambda: os.pidfd_open(other),
        "take its file": lambda: _system_call("pidfd_getfd", 0, 0, 0),
        "ptrace": lambda: _libc_call("ptrace", 16, other, None, None),
        "read its memory": lambda: _libc_call("process_vm_readv", other, vector, 1, vector, 1, 0),
        "write its memory": lambda: _libc_call("process_vm_writev", other, vector, 1, vector, 1, 0),
        "limit its time": lambda: resource.prlimit(other, resource.RLIMIT_CPU, (1, 1)),
        "read its limits": lambda: resource.prlimit(other, resource.RLIMIT_AS),
        "own signals of a file": lambda: _libc_call("fcntl", 0, 8, other),
        "its priority": lambda: os.setpriority(os.PRIO_PROCESS, other, 19),
    }


def system() -> dict[str, Callable[[], Any]]:
    """Return the attempts on the system that only root could make; none does harm where it can be made."""
    return {
        "mount": lambda: _libc_call("mount", b"none", b"/nowhere/at/all", b"tmpfs", 0, None),
        "chroot": lambda: os.chroot("/nowhere/at/all"),
        "unshare": lambda: _libc_call("unshare", 0x10000000),
        "setns": lambda: _libc_call("setns", 0, 0),
        "become root": lambda: os.setuid(0),
        "name": lambda: _libc_call("sethostname", b"", -1),
        "clock": lambda: _libc_call("clock_settime", 99, ctypes.create_string_buffer(16)),
        "restart": lambda: _libc_call("reboot", 0x1234),
        "swap": lambda: _libc_call("swapoff", b"/nowhere/at/all"),
        "memory limit": lambda: _raise(resource.RLIMIT_AS),
        "file limit": lambda: _raise(resource.RLIMIT_NOFILE),
        "process limit": lambda: _raise(resource.RLIMIT_NPROC),
        "size limit": lambda: _raise(resource.RLIMIT_FSIZE),
    }


def sizes() -> dict[str, Callable[[], Any]]:
    """Return the attempts to take more than is allowed."""
    return {
        "memory": lambda: bytearray(300 << 20),
        "mapped memory": lambda: mmap.mmap(-1, 300 << 20),
        "shared memory": lambda: _libc_call("shmget", 0, 300 << 20, 0o1600),
        "a long file": lambda: os.ftruncate(_own_file(), 513 << 20),
        "a write behind the end": lambda: os.pwrite(_own_file(), b"x", 513 << 20),
    }


def everything(connection: sqlite3.Connection | None, other: int, folder: str, port: int) -> Iterator[tuple[str, Any]]:
    """Yield all attempts by their kind and name."""
    for kind, attempts in {
        # Those that could end this process or take something away come last.
        "sizes": sizes(),
        "network": network(port),
        "files": files(connection, other, folder),
        "system": system(),
        "processes": processes(),
        "others": others(other),
        "changes": changes(folder),
        "programs": programs(),
    }.items():
        yield from ((f"{kind}: {name}", attempt) for name, attempt in attempts.items())


def outcome(attempt: Callable[[], Any]) -> str:
    """Return what became of an attempt: 'done', or the name of the error."""
    try:
        attempt()
    except socket.gaierror:
        return "no name"
    except OSError as err:
        return errno.errorcode.get(err.errno or 0, repr(err))
    except (MemoryError, sqlite3.Error) as err:
        return type(err).__name__
    return "done"


def answer(connection: sqlite3.Connection | None, text: str) -> str:
    """Return what became of the attempt that a text of the form 'kind: name|process|folder|port' names."""
    name, other, folder, port = text.split("|")
    return outcome(dict(everything(connection, int(other), folder, int(port)))[name])
