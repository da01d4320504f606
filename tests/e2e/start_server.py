"""Starts homes as copies of a process that has imported Home Assistant, which takes longer than they take to start.

Run by the interpreter of an environment. Each line of the input is a home to be started, as JSON; printed is the id of its
process, whose exit status is in a file once it has ended.
"""

import atexit
from contextlib import suppress
import gc
from importlib import import_module
import json
import os
from pathlib import Path
import pkgutil
import runpy
import sys
import threading
import traceback
from typing import Any

from homeassistant import __main__ as program, components
from homeassistant.const import Platform

_COMPONENTS = (
    *("api", "auth", "automation", "backup", "blueprint", "brands", "config", "counter", "demo", "device_automation"),
    *("diagnostics", "energy", "ffmpeg", "file_upload", "frontend", "group", "hardware", "history", "homeassistant"),
    *("http", "image_upload", "input_boolean", "input_button", "input_datetime", "input_number", "input_select"),
    *("input_text", "intent", "logbook", "logger", "lovelace", "mcp_server", "media_source", "network", "onboarding"),
    *("person", "persistent_notification", "recorder", "repairs", "schedule", "script", "search", "stream", "sun"),
    *("system_health", "system_log", "template", "timer", "trace", "websocket_api", "zone"),
    *Platform,
)
"""What homes have. Our own integration is not among it: it is imported by each home, as it is there."""


def import_components() -> None:
    """Import what is there of the components; the versions differ, and some of it needs what is not installed."""
    import_module("homeassistant.bootstrap")
    for component in _COMPONENTS:
        with suppress(ImportError):
            package = import_module(f"{components.__name__}.{component}")
            for found in pkgutil.iter_modules(package.__path__):
                with suppress(ImportError):
                    import_module(f"{package.__name__}.{found.name}")


def live(home: dict[str, Any]) -> int:
    """Be the home; returns its exit status."""
    os.setsid()
    os.chdir(home["folder"])
    for fd in (sys.stdout.fileno(), sys.stderr.fileno()):
        os.dup2(os.open(home["log"], os.O_WRONLY | os.O_APPEND), fd)
    os.dup2(os.open(os.devnull, os.O_RDONLY), sys.stdin.fileno())
    os.environ.update(home["environment"])
    sys.path[:0] = filter(None, home["environment"].get("PYTHONPATH", "").split(os.pathsep))
    sys.argv = [home["module"], *home["arguments"]]
    try:
        if home["module"] == "homeassistant":
            return program.main()
        runpy.run_module(home["module"], run_name="__main__", alter_sys=True)
    except SystemExit as err:
        return err.code if isinstance(err.code, int) else 0 if err.code is None else 1
    return 0


def end(status: int) -> None:
    """End without taking apart thousands of modules, a quarter of the time of a start."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def follow(home: dict[str, Any]) -> None:
    """Start a home, tell its id, wait for its end and write its status."""
    if (pid := os.fork()) == 0:
        status = 1
        try:
            status = live(home)
        except Exception:  # noqa: BLE001 - the log of the home tells it
            traceback.print_exc()
        finally:
            end(status)
    os.write(sys.stdout.fileno(), f"{pid}\n".encode())
    # Only the home goes on with what the server was given.
    for fd in (sys.stdin.fileno(), sys.stdout.fileno()):
        os.close(fd)
    _, ended = os.waitpid(pid, 0)
    file = Path(home["status"])
    file.with_suffix(".new").write_text(str(os.waitstatus_to_exitcode(ended)))
    file.with_suffix(".new").replace(file)


def main() -> None:
    """Start a home for each line."""
    import_components()
    gc.freeze()
    for line in sys.stdin:
        if os.fork() == 0:
            try:
                follow(json.loads(line))
            finally:
                os._exit(0)
        with suppress(ChildProcessError):  # There is none but the one that has just begun to follow a home.
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


if __name__ == "__main__":
    main()
