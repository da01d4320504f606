"""The commands in the documentation: ours exist and take these arguments, those of others are known by name.

CONTRIBUTING.md, README.md, docs/evaluation.md, docs/local-models.md, docs/removal.md, docs/soak.md.
"""

from functools import cache
from itertools import pairwise
import os
from pathlib import Path
import re
import shlex
import subprocess
import sys
import tomllib

import pytest

from bench.__main__ import NAMES
from evaluate.report import PRICES
from homeassistant.util.yaml import parse_yaml
from tests.claude_server.others import LITELLM
from tests.soak.__main__ import SOAKS
from tests.soak.page import rows

from .pages import ROOT, Block, blocks, names

OTHERS = {
    "cd": "a shell's own",
    "git": "clones; the checkout under test is such a clone",
    "gunzip": "every Linux has it; the name of the file is compared with that of a real copy in test_removal.py",
    "litellm": "a server of another maker",
    "vllm": "a server of another maker",
    "llama-server": "a server of another maker",
    "ollama": "a server of another maker",
}
"""Programs that are not ours to run, and why."""


def commands() -> list[tuple[Block, list[str]]]:
    """Return the commands of all pages as words, without variables before them."""
    found = []
    for page in names():
        for block in blocks(page, "sh"):
            for line in block.text.splitlines():
                words = shlex.split(line, comments=True)
                while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
                    words = words[1:]
                if words:
                    found.append((block, words))
    return found


COMMANDS = commands()


@pytest.mark.parametrize(
    ("block", "words"), COMMANDS, ids=lambda value: " ".join(value) if isinstance(value, list) else ""
)
def test_command(block: Block, words: list[str]) -> None:
    """A script of ours is there and can be run, and knows its arguments."""
    program, *arguments = words
    if not program.startswith(("script/", ".ci/")):
        assert program in OTHERS, f"{block}: {program}"
        return
    assert os.access(ROOT / program, os.X_OK), f"{block}: {program}"
    KNOWN[program](arguments)


def pytest_takes(arguments: list[str]) -> None:
    """Paths that exist, a part of a name, or what pytest knows."""
    source = (ROOT / "script" / "test").read_text(encoding="utf-8")
    rest = iter(arguments)
    for argument in rest:
        if argument == "--fast":
            assert '"--fast"' in source
        elif argument == "-k":
            (path,) = [each for each in arguments if each.startswith("tests/")]
            assert f"def {next(rest)}(" in (ROOT / path).read_text(encoding="utf-8")
        elif argument == "--numprocesses":
            assert next(rest).isdecimal()
            assert argument in source
        elif argument.startswith("--durations="):
            assert argument.partition("=")[2].isdecimal()
        else:
            assert (ROOT / argument).exists(), argument


def lint_takes(arguments: list[str]) -> None:
    """Only what it compares with."""
    source = (ROOT / "script" / "lint").read_text(encoding="utf-8")
    assert all(f'"{argument}"' in source for argument in arguments)


@cache
def help_of(module: str) -> str:
    """Return what a program of ours says of itself."""
    command = [sys.executable, "-m", module, "--help"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def demo_takes(arguments: list[str]) -> None:
    """What its help names."""
    assert all(argument in help_of("demo") for argument in arguments)


def bench_takes(arguments: list[str]) -> None:
    """The names of measurements."""
    for argument in arguments:
        assert argument in NAMES
        assert "async def run(" in (ROOT / "bench" / f"{argument}.py").read_text(encoding="utf-8")


def evaluate_takes(arguments: list[str]) -> None:
    """Names of models whose price is known, and what its help names, each with a value."""
    rest = iter(arguments)
    for argument in rest:
        if argument.startswith("--"):
            assert argument in help_of("evaluate")
            assert next(rest)
        else:
            assert argument in PRICES


def soak_takes(arguments: list[str]) -> None:
    """The names of soaks, and what its help names."""
    assert all(argument in help_of("tests.soak") for argument in arguments if not argument.isdecimal())


def nothing(arguments: list[str]) -> None:
    """None."""
    assert arguments == []


KNOWN = {
    "script/test": pytest_takes,
    "script/lint": lint_takes,
    "script/demo": demo_takes,
    "script/bench": bench_takes,
    "script/evaluate": evaluate_takes,
    "script/frontend": nothing,
    "script/soak": soak_takes,
    "script/types": nothing,
    "script/upgrade": nothing,
}


def test_commands_of_ours_in_sentences() -> None:
    """A script that is named in a sentence is there too."""
    for page in names():
        for found in re.findall(r"`((?:script|\.ci)/[\w-]+)([^`]*)`", (ROOT / page).read_text(encoding="utf-8")):
            script, arguments = found
            assert os.access(ROOT / script, os.X_OK), f"{page}: {script}"
            if script in KNOWN:
                KNOWN[script](shlex.split(arguments))


def test_soaks() -> None:
    """Each is a module, and the page tells of its last run; there is no other."""
    folder = ROOT / "tests" / "soak"
    running = {
        path.stem for path in folder.glob("*.py") if "\ndef run(budget: Budget)" in path.read_text(encoding="utf-8")
    }
    assert running == SOAKS.keys() == rows((ROOT / "docs" / "soak.md").read_text(encoding="utf-8")).keys()


def test_environments_are_as_described() -> None:
    """The environments that CONTRIBUTING.md names are those of pyproject.toml."""
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]
    assert groups.keys() == {"test", "newest", "llama", "node"}


def test_rooms() -> None:
    """The rooms that CONTRIBUTING.md lists exist, and every folder of the package is among them."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    listed = {
        room
        for line in text.splitlines()
        if line.startswith("| `")
        for room in re.findall(r"`([^`]+)`", line.split("|")[1])
    }
    package = ROOT / "custom_components" / "extended_assist"
    rooms = {room for room in listed if not room.startswith("tests/")}
    assert all((package / room).exists() for room in rooms)
    assert {f"{folder.name}/" for folder in _packages(package)} <= rooms
    assert all((ROOT / room).is_dir() for room in listed - rooms)


def _packages(folder: Path) -> list[Path]:
    return [path.parent for path in folder.glob("*/__init__.py")]


def test_servers_are_those_of_the_recipes() -> None:
    """The configuration of the proxy is YAML, offers the model that the recipe names, and has the key that it asks for."""
    (block,) = blocks("docs/local-models.md", "yaml")
    config = parse_yaml(block.text)
    assert [model["model_name"] for model in config["model_list"]] == [model["id"] for model in LITELLM.models or ()]
    assert config["general_settings"]["master_key"] == LITELLM.api_key
    ports = {port for _, words in COMMANDS for option, port in pairwise(words) if option == "--port"}
    told = set(re.findall(r"Address: `http://192\.168\.1\.10:(\d+)`", (ROOT / block.page).read_text(encoding="utf-8")))
    assert ports < told
