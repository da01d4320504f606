"""Writers that are killed: run as a process of its own, which forks one writer after the other.

`python -m tests.automations.kill FOLDER` prints what a sample of them left as JSON; script/soak kills on.
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

from custom_components.extended_assist.automations import edit, file
from tests.automations.files import GOOD, automation

SAMPLE = 60
"""Writers that are killed at any moment, and about as many before a line, for a quick look."""
MORE = 240
"""Further writers, where too few of the first were killed late or early enough."""
ENOUGH = 6
SAMPLE_SEED = 6
LONGEST = 0.01  # seconds until a writer is killed, longer than most writes take
NAMES = ("brackets", "one", "hand-written")
FILES = {file.__file__}


def writer(path: Path, folder: Path, number: int) -> None:
    """Add an automation, as the store does."""
    new = automation(number) | {"id": f"new {number}"}
    file.change(path, partial(edit.add, config=new), lambda before, _: file.keep_copy(folder, f"{number:06}", before))


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


class Killer:
    """Kills writers in a folder, and counts what they left."""

    def __init__(self, folder: Path, seed: int = SAMPLE_SEED) -> None:
        """Take the folder, and the seed that says when they are killed."""
        self.found: Counter[str] = Counter()
        self._path, self._kept = folder / "automations.yaml", folder / "copies"
        self._random = random.Random(seed)
        self._number = 0

    def at_lines(self, most: int) -> None:
        """Kill writers before lines that are up to so many lines apart, from the first to the last; 1 takes every line."""
        for name in NAMES:
            line = self._random.randrange(most)
            while self._at_line(name, line):
                line += self._random.randint(1, most)

    def _at_line(self, name: str, line: int) -> bool:
        """Kill a writer before a line; return whether it got that far."""
        number, valid = self._next(GOOD[name])

        def work() -> None:
            sys.settrace(die_at(line))
            writer(self._path, self._kept, number)

        killed = was_killed(fork(work))
        self.found[f"line: {check(self._path, valid)}"] += 1
        return killed

    def at_any_time(self) -> None:
        """Kill a writer at some moment."""
        number, valid = self._next(GOOD[self._random.choice(NAMES)])
        pid = fork(lambda: writer(self._path, self._kept, number))
        time.sleep(self._random.random() * LONGEST)
        os.kill(pid, signal.SIGKILL)
        was_killed(pid)
        self.found[f"time: {check(self._path, valid)}"] += 1

    def look_back(self) -> None:
        """Let a last writer end well, and count what all of them left."""
        self._number += 1
        writer(self._path, self._kept, self._number)
        self.found["beside the file at the end"] = sum(item.is_file() for item in self._path.parent.iterdir()) - 1
        self.found["copies"] = len(list(self._kept.iterdir()))

    def _next(self, text: str) -> tuple[int, tuple[str, str]]:
        """Begin with a file; return the number of its change, and both versions."""
        self._path.write_text(text)
        self._number += 1
        new = automation(self._number) | {"id": f"new {self._number}"}
        return self._number, (text, edit.add(text, new).text)


def sample(folder: Path) -> dict[str, int]:
    """Kill a few writers."""
    killer = Killer(folder)
    killer.at_lines(most=8)
    for number in range(SAMPLE + MORE):
        # On a busy machine, writers get as far as the end less often.
        if number >= SAMPLE and min(killer.found[f"time: {what}"] for what in ("old", "new")) >= ENOUGH:
            break
        killer.at_any_time()
    killer.look_back()
    return killer.found


if __name__ == "__main__":
    sys.stdout.write(json.dumps(sample(Path(sys.argv[1]))))
