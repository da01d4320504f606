"""Limits of the operating system for the worker: memory, time, files, and no other process."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
import math
import os
from pathlib import Path
import resource
import signal
from typing import Final

MEMORY: Final = 256 * 1024 * 1024
"""Bytes of the whole process, with its code."""
FILE: Final = 512 * 1024 * 1024
"""Bytes of the one file for a large copy."""
_OPEN_FILES: Final = 32
_GRACE: Final = 1.0
"""Seconds after which the process is killed if it has not ended by itself."""
_LOW_PRIORITY: Final = 10
_NOBODY: Final = 65534
"""The user and group ids without rights."""


def confine() -> Callable[[], None]:
    """Confine this process for good; return the function that denies all files that are not open, to call before a query.

    Raises OSError or ValueError if the system cannot do that.
    """
    for kind, limit in (
        (resource.RLIMIT_AS, MEMORY),
        (resource.RLIMIT_FSIZE, FILE),
        (resource.RLIMIT_NOFILE, _OPEN_FILES),
        (resource.RLIMIT_NPROC, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (limit, limit))
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, max(os.getpriority(os.PRIO_PROCESS, 0), _LOW_PRIORITY))
    _go_nowhere()
    try:
        # Some kernels have no filters, and some Pythons no ctypes.
        from .system_calls import refuse_others  # noqa: PLC0415

        refuse_others(files=True)
    except ImportError, OSError, AttributeError:
        return _confine_without_filter()
    return partial(refuse_others, files=False)


def _confine_without_filter() -> Callable[[], None]:
    """Confine this process by resource limits, which do not bind root; return the function that gives up root's rights.

    Until then root can read the recorder's file. Raises OSError if the process may not become another user.
    """
    if is_root := os.getuid() == 0:
        os.setresgid(_NOBODY, 0, 0)
        os.setresuid(_NOBODY, 0, 0)

    def shut_off() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))
        if is_root:
            os.setgroups([])
            os.setresgid(_NOBODY, _NOBODY, _NOBODY)
            os.setresuid(_NOBODY, _NOBODY, _NOBODY)

    return shut_off


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """End the process after some seconds of clock or CPU time, whatever it does."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    work = math.ceil(used.ru_utime + used.ru_stime + seconds + _GRACE)
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (work, hard))
    signal.setitimer(signal.ITIMER_REAL, seconds + _GRACE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _go_nowhere() -> None:
    """Change to a deleted folder, so that a name without a path leads to nothing."""
    folder = Path(os.environ["TMPDIR"], f"extended_assist_{os.urandom(8).hex()}")
    folder.mkdir(0o700)
    os.chdir(folder)
    folder.rmdir()
