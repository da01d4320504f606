"""What the operating system allows the worker: memory, time, files, and no other process."""

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
"""Bytes of all that the process holds, its own code included."""
FILE: Final = 512 * 1024 * 1024
"""Bytes of the one file that a large copy may take."""
_OPEN_FILES: Final = 32
_GRACE: Final = 1.0
"""Seconds after which the process is ended that has not given up by itself."""
_LOW_PRIORITY: Final = 10
_NOBODY: Final = 65534
"""The user and the group that own nothing."""


def confine() -> Callable[[], None]:
    """Bound this process for good, and return what shuts it off from all files that are not open, before a query runs.

    Raises OSError or ValueError where the system cannot do that.
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
    """Make sure that the limits will bind, and return what shuts the process off: they bind every user but root.

    Root stays able to read the recorder's file until then. Raises OSError where it may not become another user.
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
    """End the process when it is still busy after a time, whatever it is doing, in seconds of the clock or of work."""
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
    """Stand in a folder that is no more, so that a name without a path leads to nothing."""
    folder = Path(os.environ["TMPDIR"], f"extended_assist_{os.urandom(8).hex()}")
    folder.mkdir(0o700)
    os.chdir(folder)
    folder.rmdir()
