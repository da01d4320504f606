"""Home Assistant with faults: `python -m tests.automations.faulty -c FOLDER` is `hass`, in which one step of a change fails.

Which step, and how, is read from a file in the folder at each step; it strikes once. Nothing of it is in the integration.
"""

import asyncio
from collections.abc import Callable
from functools import partial, wraps
from importlib import import_module
from inspect import iscoroutinefunction
import json
import os
from pathlib import Path
import signal
import sys
import time
from typing import Any

ROOM = "custom_components.extended_assist.automations"
STEPS: dict[str, tuple[str, str, str]] = {
    "copy to be kept": (f"{ROOM}.commit", "keep_copy", "before"),
    "intent to be stored": (f"{ROOM}.commit", "write_intents", "before"),
    "intent stored": (f"{ROOM}.commit", "write_intents", "after"),
    "file to be replaced": (f"{ROOM}.file", "swap", "before"),
    "file replaced": (f"{ROOM}.file", "swap", "after"),
    "to be loaded": (f"{ROOM}.commit:Settler", "_async_load", "before"),
    "loaded": (f"{ROOM}.commit:Settler", "_async_load", "after"),
    "to be exposed": (f"{ROOM}.commit:Settler", "_async_record", "before"),
    "exposed": ("custom_components.extended_assist.calls.journal:Journal", "async_save", "before"),
    "journal stored": ("custom_components.extended_assist.calls.journal:Journal", "async_save", "after"),
    "recorded": (f"{ROOM}.commit:Settler", "_async_record", "after"),
    "to be ended": (f"{ROOM}.commit:Settler", "_async_end", "before"),
    "ended": (f"{ROOM}.commit:Settler", "_async_end", "after"),
}
"""Where each step of a change is, and whether the fault comes before it or after it."""
HOWS = ("kill", "stop", "cancel", "fail")
FAULT = "fault.json"
TASK = "change of a"
"""How the name of the task begins that changes an automation, a script or a scene."""


def set_fault(folder: Path, step: str, how: str) -> None:
    """Have a step fail, once."""
    (folder / FAULT).write_text(json.dumps([step, how]))


class Faults:
    """Strikes where the file says."""

    def __init__(self, folder: Path) -> None:
        """Take the folder, and get in the way of every step."""
        self._path = folder / FAULT
        self._loop: asyncio.AbstractEventLoop | None = None
        for step, (place, name, when) in STEPS.items():
            module, _, owner = place.partition(":")
            holder: Any = import_module(module)
            holder = getattr(holder, owner) if owner else holder
            setattr(holder, name, self._wrapped(getattr(holder, name), step, when))

    def _wrapped(self, call: Callable[..., Any], step: str, when: str) -> Callable[..., Any]:
        """Return a function with a fault before or after it."""

        @wraps(call)
        async def run_task(*arguments: Any, **named: Any) -> Any:
            self._loop = asyncio.get_running_loop()
            if when == "before" and self._strike(step):
                await asyncio.sleep(0)
            result = await call(*arguments, **named)
            if when == "after" and self._strike(step):
                await asyncio.sleep(0)
            return result

        @wraps(call)
        def run(*arguments: Any, **named: Any) -> Any:
            if when == "before" and self._strike(step):
                time.sleep(0.1)  # Until the event loop has cancelled.
            result = call(*arguments, **named)
            if when == "after" and self._strike(step):
                time.sleep(0.1)
            return result

        return run_task if iscoroutinefunction(call) else run

    def _strike(self, step: str) -> bool:
        """Strike if it is this step's turn."""
        if not self._path.exists() or (found := json.loads(self._path.read_text()))[0] != step:
            return False
        self._path.rename(self._path.with_suffix(".struck"))
        match found[1]:
            case "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            case "stop":
                os.kill(os.getpid(), signal.SIGTERM)
            case "cancel":
                for loop in [self._loop] if self._loop else []:
                    loop.call_soon_threadsafe(partial(_cancel, loop))
            case "fail":
                raise RuntimeError("a fault")
        return True


def _cancel(loop: asyncio.AbstractEventLoop) -> None:
    """Cancel the task of a change."""
    for task in asyncio.all_tasks(loop):
        if task.get_name().startswith(TASK):
            task.cancel()


if __name__ == "__main__":
    from homeassistant import __main__, bootstrap  # noqa: F401 - before anything imports what it replaces

    config = Path(sys.argv[sys.argv.index("-c") + 1])
    sys.path.insert(0, str(config))
    Faults(config)
    sys.exit(__main__.main())
