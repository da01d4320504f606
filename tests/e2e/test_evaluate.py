"""Whole runs of the measurement, with models whose score is known."""

import asyncio
from datetime import UTC, datetime
import json
from pathlib import Path
from typing import Any

import pytest

from evaluate.__main__ import PLANNER
from evaluate.questions import KINDS
from tests.claude_server import ClaudeServer
from tests.evaluate.models import ORACLE, PARROT, Models

from .instance import CHECKOUT, interpreter, process_environment
from .programs import Program, lines_of

pytestmark = pytest.mark.timeout(300)

ABSENT = "no-such-model"
SEED = 7
QUESTIONS = 40
"""Enough that every kind is among them."""


async def evaluate(folder: Path, *arguments: str, key: str = "") -> str:
    """Run the program; return what it prints."""
    variables = {"ANTHROPIC_API_KEY": key}
    program = Program("newest", "evaluate", folder / "run", "--seed", str(SEED), *arguments, variables=variables)
    (lines,) = await asyncio.to_thread(lines_of, program)
    return "\n".join(lines)


async def test_scores_tell_models_apart(tmp_path: Path) -> None:
    """A model that knows the answers is right about all of them; one that always says the same about next to none,
    and one that is not there about none: its refusals are no modest answers.
    """
    until = datetime.now(UTC)
    file, drawn = tmp_path / "answers.json", tmp_path / "answers.svg"
    async with ClaudeServer(Models(SEED, until), api_key="test-key") as server:
        asked = ("--server", server.url, "--until", until.isoformat(), "--questions", str(QUESTIONS))
        printed = await evaluate(
            tmp_path, ORACLE, PARROT, ABSENT, *asked, "--json", str(file), "--svg", str(drawn), key="test-key"
        )
    rows: list[dict[str, Any]] = json.loads(file.read_bytes())
    by_model = {model: [row for row in rows if row["model"] == model] for model in (ORACLE, PARROT, ABSENT)}
    assert [len(found) for found in by_model.values()] == [QUESTIONS] * 3
    assert {row["kind"] for row in rows} == set(KINDS)
    assert [row for row in by_model[ORACLE] if row["outcome"] != "right"] == []
    assert sum(row["outcome"] == "right" for row in by_model[PARROT]) <= 1
    assert {row["outcome"] for row in by_model[PARROT]} >= {"wrong", "claimed"}
    assert {row["outcome"] for row in by_model[ABSENT]} == {"wrong"}
    assert "messages failed and count as wrong; the first: The language model chosen for this agent" in printed
    assert any(turn["tokens"]["output"] for row in by_model[ORACLE] for turn in row["turns"])
    assert f"| {ORACLE} | {QUESTIONS} " in printed
    assert PARROT in drawn.read_text(encoding="utf-8")
    assert PLANNER not in printed


async def test_without_a_model_the_planner_answers() -> None:
    """What it prints says that no model was asked; this once it is run as its users run it."""
    asked = ("--seed", str(SEED), "--questions", "3", "--kind", "command")
    process = await asyncio.create_subprocess_exec(
        interpreter("newest"), "-m", "evaluate", *asked,
        cwd=CHECKOUT, env=process_environment() | {"ANTHROPIC_API_KEY": ""},
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, errors = await process.communicate()
    assert process.returncode == 0, errors.decode()[-4000:]
    printed = out.decode()
    assert printed.startswith("No model was asked")
    assert f"| {PLANNER} | 3 " in printed
