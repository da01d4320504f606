"""Writers that are killed: run as a process of its own, which forks one writer after the other.

`python -m tests.automations.kill FOLDER` prints what was found as JSON.
"""

from collections import Counter
from collections.abc import Callable
from functools import partial
import json
import os
from pathlib import Path
import random
import signal
import sys
import time
from types import FrameType
from typing import Any

from custom_components.extended_assist.automations import copies, edit, file
from tests.automations.files import GOOD, automation

TIMED_ROUNDS = 200
LONGEST = 0.01  # seconds until a writer is killed, longer than most writes take
NAMES = ("brackets", "one", "hand-written")
FILES = {module.__file__ for module in (copies, file)}


def writer(path: Path, folder: Path, number: int) -> None:
    """Add an automation, as the store does."""
    new = automation(number) | {"id": f"new {number}"}
    file.change(path, partial(edit.add, config=new), copies.keeper(folder, f"{number:06}"))


def die_at(line: int) -> Callable[..., Any]:
    """Return a trace function that kills this process before the n-th line of what writes."""
    left = [line]

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        if frame.f_code.co_filename not in FILES:
            return None
        if event == "line":
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left[0] -= 1
        return trace

    return trace


def fork(work: Callable[[], None]) -> int:
    """Do something in a process of its own and return its id."""
    pid = os.fork()
    if pid:
        return pid
    try:
        work()
    except BaseException:  # noqa: BLE001 - the fork must not come back
        os._exit(1)
    os._exit(0)


def was_killed(pid: int) -> bool:
    """Wait for a process; it must end well or be killed."""
    _, status = os.waitpid(pid, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, "a writer failed"
    return os.WIFSIGNALED(status)


def check(path: Path, valid: tuple[str, str]) -> str:
    """Check what a killed writer left, and that the next writer leaves nothing beside the file."""
    content = path.read_text()
    assert content in valid, "neither the one version nor the other"
    names = {found.name for found in path.parent.iterdir() if found.is_file()}
    assert names <= {path.name, file.leftover(path).name}, names
    outcome = "new" if content == valid[1] else "left over" if len(names) > 1 else "old"
    path.write_text(valid[0])
    return outcome


def rounds(folder: Path) -> dict[str, int]:
    """Kill writers at every line, then at any time."""
    path, kept = folder / "automations.yaml", folder / "copies"
    found: Counter[str] = Counter()
    number = 0
    for name in NAMES:
        text = GOOD[name]
        line = 0
        while True:
            path.write_text(text)
            number += 1
            valid = (text, edit.add(text, automation(number) | {"id": f"new {number}"}).text)

            def work(line: int = line, number: int = number) -> None:
                sys.settrace(die_at(line))
                writer(path, kept, number)

            killed = was_killed(fork(work))
            found[f"line: {check(path, valid)}"] += 1
            if not killed:
                break
            line += 1
    random.seed(6)
    for _ in range(TIMED_ROUNDS):
        text = GOOD[random.choice(NAMES)]
        path.write_text(text)
        number += 1
        valid = (text, edit.add(text, automation(number) | {"id": f"new {number}"}).text)
        pid = fork(lambda number=number: writer(path, kept, number))
        time.sleep(random.random() * LONGEST)
        os.kill(pid, signal.SIGKILL)
        was_killed(pid)
        found[f"time: {check(path, valid)}"] += 1
    writer(path, kept, number + 1)
    found["beside the file at the end"] = sum(item.is_file() for item in folder.iterdir()) - 1
    found["copies"] = len(list(kept.iterdir()))
    return found


if __name__ == "__main__":
    sys.stdout.write(json.dumps(rounds(Path(sys.argv[1]))))
