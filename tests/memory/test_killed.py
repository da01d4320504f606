"""A process that remembers one fact after the other is killed at any moment: what it said it remembers is there."""

import asyncio
from pathlib import Path
import random
import sys

import pytest

from custom_components.extended_assist.memory.keeper import KEY, Memory
from homeassistant.core import HomeAssistant
from tests.seeds import seeds

_LIFE = """
import asyncio, sys
from custom_components.extended_assist.memory.fact import Fact
from custom_components.extended_assist.memory.keeper import Memory
from homeassistant.core import HomeAssistant

async def live():
    memory = Memory(HomeAssistant(sys.argv[1]))
    await memory.async_load()
    print("begun", len(memory.held), flush=True)
    for number in range(10_000):
        fact = Fact(f"Fact {number} of this life", id=f"{sys.argv[2]}n{number}")
        await memory.async_add([fact], [f"{sys.argv[2]}n{number - 5}"] if number % 3 else ())
        print(fact.id, flush=True)

asyncio.run(live())
"""


@pytest.fixture
def hass_config_dir(tmp_path: Path) -> str:
    """Return a folder that may be written to."""
    return str(tmp_path)


@pytest.fixture
def hass_storage() -> dict[str, object]:
    """Return nothing: what is stored goes into files."""
    return {}


@pytest.mark.parametrize("seed", seeds(2))
async def test_killed(hass: HomeAssistant, tmp_path: Path, seed: int) -> None:
    """At most the fact that was being written is lost, over several lives, and the file can always be read."""
    chance = random.Random(seed)
    (tmp_path / ".storage").mkdir(exist_ok=True)
    said: list[str] = []
    for life in range(3):
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", _LIFE, str(tmp_path), f"l{life}", stdout=asyncio.subprocess.PIPE,
            cwd=Path(__file__).parents[2],
        )  # fmt: skip
        assert process.stdout
        assert (await process.stdout.readline()).startswith(b"begun")
        said += [(await process.stdout.readline()).decode().strip() for _ in range(chance.randrange(5, 25))]
        await asyncio.sleep(chance.random() / 200)
        process.kill()
        said += (await process.stdout.read()).decode().split("\n")[:-1]
        await process.wait()
        memory = Memory(hass)
        hass.data.pop("storage_manager", None)
        await memory.async_load()
        assert all(memory.find(one) for one in said)
        assert len([*(tmp_path / ".storage").glob(f"{KEY}.unreadable*")]) == 0
    assert len(said) >= 15
