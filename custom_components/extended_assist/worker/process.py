"""The worker's main program: it runs one job at a time until the pipe is closed."""

from collections.abc import Callable, Mapping
import sqlite3
import sys
from typing import Any, Final

from .database import Databases
from .limits import confine, time_limit
from .messages import JobError, read_message, write_message

READY: Final = "ready"


def main() -> None:
    """Confine this process, then run jobs until the pipe is closed."""
    sent, received = sys.stdout.buffer, sys.stdin.buffer
    try:
        shut_off = confine()
    except (OSError, ValueError) as err:
        write_message(sent, {"error": f"the operating system sets no bounds here ({err})"})
        return
    write_message(sent, {"result": READY})
    databases = Databases(shut_off)
    jobs: Mapping[str, Callable[..., Any]] = {
        "copy": databases.copy,
        "begin": databases.begin,
        "add": databases.add,
        "finish": databases.finish,
        "query": databases.query,
        "read": databases.read,
    }
    while message := read_message(received):
        write_message(sent, _answer(jobs, message))


def _answer(jobs: Mapping[str, Callable[..., Any]], message: dict[str, Any]) -> dict[str, Any]:
    """Run a job; invalid and too large jobs get an answer, too."""
    try:
        with time_limit(message["limit"]):
            return {"result": jobs[message["job"]](**message["arguments"])}
    except JobError as err:
        return {"error": str(err)}
    except sqlite3.Error as err:
        return {"error": f"SQLite gave it up ({err})"}
    except MemoryError:
        return {"error": "it needs more memory than it may have"}
    except RecursionError:
        return {"error": "it is nested too deeply"}
