"""Starts homes as copies of a process that has imported Home Assistant, which takes longer than they take to start.

Run by the interpreter of an environment. It listens at the socket that its argument names, until the last who has connected
is gone. Each line is a home to be started, as JSON; the answer is the id of its process, whose exit status is in a file once
it has ended.
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
import selectors
import socket
import sys
import threading
import traceback
from typing import Any

from homeassistant import __main__ as program, components
from homeassistant.const import Platform

_UNWRITTEN = 120
"""The exit status, as Python's own, of a program whose last words could not be written."""
FIRST_WAIT = 60.0
"""Seconds for somebody to connect."""
_COMPONENTS = (
    *("analytics", "api", "application_credentials", "assist_pipeline", "auth", "automation", "backup", "battery"),
    *("blueprint", "brands", "config", "counter", "demo", "device_automation", "diagnostics", "door", "energy"),
    *("ffmpeg", "file_upload", "frontend", "garage_door", "gate", "group", "hardware", "hassio", "history"),
    *("homeassistant", "http", "humidity", "illuminance", "image_upload", "input_boolean", "input_button"),
    *("input_datetime", "input_number", "input_select", "input_text", "intent", "labs", "llm", "logbook", "logger"),
    *("lovelace", "map_tiles", "marketplace", "mcp_server", "media_source", "moisture", "motion", "network"),
    *("occupancy", "onboarding", "panel_custom", "persistent_notification", "person", "power", "recorder", "repairs"),
    *("schedule", "script", "search", "stream", "sun", "system_health", "system_log", "tag", "temperature"),
    *("template", "timer", "trace", "vibration", "websocket_api", "window", "zone"),
    *Platform,
)
"""What homes have. Our own integration is not among it: it is imported by each home, as it is there."""
_PACKAGES = (
    *("aiohttp_fast_zlib", "anthropic", "anthropic.resources.beta", "anthropic.types.beta", "bs4", "hass_frontend"),
    *("jsonschema", "lxml.etree", "psutil"),
)
"""What these import late, and what ours imports of others; the SDK alone takes as long as all the rest of a start."""


def import_all() -> None:
    """Import what is there of it; the versions differ, and some of it needs what is not installed."""
    for name in ("homeassistant.bootstrap", *_PACKAGES):
        with suppress(ImportError):
            import_module(name)
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
    for stream, file in ((sys.stdout, home["log"]), (sys.stderr, home["errors"])):
        os.dup2(os.open(file, os.O_WRONLY | os.O_APPEND), stream.fileno())
    os.dup2(os.open(os.devnull, os.O_RDONLY), sys.stdin.fileno())
    os.environ.update(home["environment"])
    sys.path[:0] = filter(None, home["environment"].get("PYTHONPATH", "").split(os.pathsep))
    sys.argv = [home["module"], *home["arguments"]]
    try:
        if home["module"] == "homeassistant":
            return program.main()
        runpy.run_module(home["module"], run_name="__main__", alter_sys=True)
    except SystemExit as err:
        if isinstance(err.code, str):
            sys.stderr.write(f"{err.code}\n")
        return err.code if isinstance(err.code, int) else 0 if err.code is None else 1
    return 0


def end(status: int) -> None:
    """End without taking apart thousands of modules, a quarter of the time of a start."""
    ended = status or _UNWRITTEN
    try:
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        ended = status
    finally:
        os._exit(ended)


def follow(home: dict[str, Any], asker: socket.socket) -> None:
    """Start a home, tell its id, wait for its end and write its status."""
    if (pid := os.fork()) == 0:
        asker.close()
        status = 1
        try:
            status = live(home)
        except Exception:  # noqa: BLE001 - the log of the home tells it
            traceback.print_exc()
        finally:
            end(status)
    asker.sendall(f"{pid}\n".encode())
    asker.close()
    _, ended = os.waitpid(pid, 0)
    file = Path(home["status"])
    file.with_suffix(".new").write_text(str(os.waitstatus_to_exitcode(ended)))
    file.with_suffix(".new").replace(file)


def serve(listener: socket.socket) -> None:
    """Start a home for each line, until nobody is connected any more."""
    with selectors.DefaultSelector() as selector:
        selector.register(listener, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select(FIRST_WAIT):
                asker = key.fileobj
                assert isinstance(asker, socket.socket)
                if asker is listener:
                    selector.register(listener.accept()[0], selectors.EVENT_READ)
                elif not (line := asker.makefile().readline()):
                    selector.unregister(asker)
                    asker.close()
                elif os.fork() == 0:
                    try:
                        # A home goes on with nothing of what the server has.
                        for other in list(selector.get_map().values()):
                            if other.fileobj is not asker:
                                os.close(other.fd)
                        follow(json.loads(line), asker)
                    finally:
                        os._exit(0)
            if len(selector.get_map()) == 1:
                return
            with suppress(ChildProcessError):  # There is none but those that follow a home.
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass


def main() -> None:
    """Listen, then import: whoever connects meanwhile waits."""
    path = Path(sys.argv[1])
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        try:
            listener.listen()
            os.write(sys.stdout.fileno(), b"listening\n")
            import_all()
            gc.freeze()
            serve(listener)
        finally:
            path.unlink()


if __name__ == "__main__":
    main()
