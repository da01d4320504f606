"""A process that remembers one fact after the other is killed at any moment: what it said it remembers is there."""

import asyncio
from collections.abc import Iterator
import os
from pathlib import Path
import random
import signal
import subprocess
import sys
from time import sleep

import pytest

from custom_components.extended_assist.memory.store import KEY, Memory
from homeassistant.core import HomeAssistant
from tests.helpers.seeds import seeds

_LIVES = """
import asyncio, gc, os, sys
from custom_components.extended_assist.memory.fact import Fact
from custom_components.extended_assist.memory.store import Memory
from homeassistant.core import HomeAssistant

def say(words):
    os.write(1, f"{words}\\n".encode())  # In one piece, or not at all.

async def live(folder, name):
    memory = Memory(HomeAssistant(folder))
    await memory.async_load()
    say("begun")
    for number in range(10_000):
        fact = Fact(f"Fact {number} of this life", id=f"{name}n{number}")
        await memory.async_add([fact], [f"{name}n{number - 5}"] if number % 3 else ())
        say(fact.id)

gc.freeze()
for line in sys.stdin:
    name, folder = line.rstrip("\\n").split(" ", 1)
    if (life := os.fork()) == 0:
        try:
            asyncio.run(live(folder, name))
        finally:
            os._exit(1)
    say(life)
    os.waitpid(life, 0)
    say("dead")
"""
"""Begins a life for each line of its input, in a process of its own: to import Home Assistant takes longer than they live."""


@pytest.fixture(scope="module")
def lives() -> Iterator[subprocess.Popen[str]]:
    """Return the process that begins lives, one after the other."""
    with subprocess.Popen(
        [sys.executable, "-c", _LIVES],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    ) as process:
        assert process.stdin
        yield process
        process.stdin.close()


@pytest.fixture
def hass_config_dir(tmp_path: Path) -> str:
    """Return a folder that may be written to."""
    return str(tmp_path)


@pytest.fixture
def hass_storage() -> dict[str, object]:
    """Return nothing: what is stored goes into files."""
    return {}


@pytest.mark.timeout(240)
@pytest.mark.parametrize("seed", seeds(2))
async def test_killed(hass: HomeAssistant, tmp_path: Path, lives: subprocess.Popen[str], seed: int) -> None:
    """At most the fact that was being written is lost, over several lives, and the file can always be read."""
    chance = random.Random(seed)
    (tmp_path / ".storage").mkdir(exist_ok=True)
    said: list[str] = []
    for life in range(3):
        said += await asyncio.to_thread(lived, lives, f"l{life} {tmp_path}", chance)
        memory = Memory(hass)
        hass.data.pop("storage_manager", None)
        await memory.async_load()
        assert all(memory.find(one) for one in said)
        assert len([*(tmp_path / ".storage").glob(f"{KEY}.unreadable*")]) == 0
    assert len(said) >= 15


def lived(lives: subprocess.Popen[str], where: str, chance: random.Random) -> list[str]:
    """Let a process live and kill it; return what it said."""
    assert lives.stdin
    assert lives.stdout
    lives.stdin.write(f"{where}\n")
    lives.stdin.flush()
    # The process and the one that began it say this in either order.
    first = [lives.stdout.readline() for _ in range(2)]
    (life,) = (int(line) for line in first if line.strip().isdigit())
    assert "begun\n" in first
    said = []
    for _ in range(chance.randrange(5, 25)):
        said.append(lives.stdout.readline().strip())
        assert said[-1] not in ("dead", ""), "it ended by itself"
    sleep(chance.random() / 200)
    os.kill(life, signal.SIGKILL)
    return said + [line.strip() for line in iter(lives.stdout.readline, "dead\n")]
