"""SQL as the model writes it: parsed, checked against allow-lists, and written anew for the engine.

Importing its modules imports sqlglot, which takes a while: only ever do it in the recorder's executor, after prepare().
"""

from contextlib import suppress
from importlib.util import cache_from_source, find_spec
import os
from pathlib import Path
import subprocess
import sys

_COMPILE_TIME = 5.0
"""Seconds that compiling may take; what is not compiled by then is compiled while it is imported."""


def prepare() -> None:
    """Compile sqlglot in a process of its own, once after it was installed.

    Python compiles a module in one step, during which no other thread runs: the largest ones would hold the event loop.
    """
    if sys.dont_write_bytecode or "sqlglot" in sys.modules:
        return
    spec = find_spec("sqlglot")
    if (
        spec is None
        or spec.origin is None
        or Path(cache_from_source(str(Path(spec.origin).with_name("parser.py")))).exists()
    ):
        return
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with suppress(OSError, subprocess.TimeoutExpired):
        subprocess.run(
            [sys.executable, "-c", "from sqlglot.dialects import mysql, postgres, sqlite"],
            env=environment,
            timeout=_COMPILE_TIME,
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
