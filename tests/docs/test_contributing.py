"""CONTRIBUTING.md followed to the letter: its new family of tools is made in a copy of the checkout, whose tests pass."""

from dataclasses import dataclass
import json
from pathlib import Path
import re
import shutil
import subprocess
import sys

import pytest

from .pages import ROOT, Block, blocks, read

GUIDE, HEADING = "CONTRIBUTING.md", "Add a tool"
PACKAGE = "custom_components/extended_assist"
LEFT_OUT = shutil.ignore_patterns(".cache", ".git", "__pycache__")
CONCERNED = (
    *(
        "tests/docs/test_pages.py",
        "tests/docs/test_security.py",
        "tests/docs/test_tools.py",
        "tests/docs/test_words.py",
    ),
    *("tests/flows/test_options.py", "tests/publishing/test_manifest.py", "tests/publishing/test_strings.py"),
    *("tests/api/test_instance.py", "tests/test_leaks.py", "tests/test_reading.py", "tests/flows/test_redaction.py"),
    *("tests/test_translations.py", "tests/tools/test_counting.py"),
)
"""Tests that look at the catalogue, its families or their texts."""
SLOW = ("test_leaks", "test_reading", "test_tools")
"""Of these, only what concerns the new tool."""
ABOUT = "count_entities or prompt_and_schemas or locks or test_other_tools or test_every"


@dataclass(frozen=True)
class Step:
    """A step of the guide: a file, and what it gets."""

    path: str
    block: Block
    under: str
    """The heading, or the key, that is named for it."""


def steps() -> list[Step]:
    """Return the numbered steps with their blocks."""
    text = read(GUIDE).partition(f"## {HEADING}\n")[2].partition("\n## ")[0]
    numbered = re.findall(r"^\d+\. (.*?)(?=^\d+\. |\Z)", text, re.DOTALL | re.MULTILINE)
    shown = [block for block in blocks(GUIDE) if block.heading == HEADING]
    assert len(numbered) == len(shown), "each step has one block"
    found = []
    for step, block in zip(numbered, shown, strict=True):
        sentence = step.partition("```")[0].partition(": `")
        under = re.search(r'under "([^"]+)"|under `([^`]+)`', sentence[0])
        found.append(Step(sentence[2].partition("`")[0], block, (under and (under[1] or under[2])) or ""))
    return found


def follow(step: Step, folder: Path) -> None:
    """Do what a step says in a copy of the checkout."""
    file = folder / step.path
    match step.block.language, file.exists():
        case "python", False:
            file.write_text(step.block.text, encoding="utf-8")
        case "python", True:
            file.write_text(_in_the_catalogue(file.read_text(encoding="utf-8"), step.block.text), encoding="utf-8")
        case "json", True:
            for texts in (file, *(file.parent / "translations").glob("*.json")):
                _add_texts(texts, step.under.split("."), json.loads(step.block.text))
        case "markdown", True:
            text = file.read_text(encoding="utf-8")
            changed = f"{text}\n{step.block.text}" if "##" in step.block.text else _with_row(text, step)
            file.write_text(changed, encoding="utf-8")
        case what:
            pytest.fail(f"{step.path}: {what}")


def _in_the_catalogue(source: str, shown: str) -> str:
    """Return the catalogue with the import and, at its end, the class that are shown."""
    added, _, catalogue = shown.partition("\n\n")
    name = catalogue.rpartition(" ")[2].rstrip(")\n")
    first, rest = source.split("\nfrom .", 1)
    head, tail = f"{first}\nfrom .{rest}".split("\n)\n", 1)
    assert "CATALOGUE: " in head
    imports, own = head.split("\n\nCATALOGUE: ", 1)
    return f"{imports}\n{added}\n\nCATALOGUE: {own}\n    {name},\n)\n{tail}"


def _add_texts(file: Path, keys: list[str], texts: dict[str, str]) -> None:
    """Add texts under a key."""
    whole = json.loads(file.read_text(encoding="utf-8"))
    part = whole
    for key in keys:
        part = part[key]
    part.update(texts)
    file.write_text(json.dumps(whole, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _with_row(text: str, step: Step) -> str:
    """Return a page with a row at the end of the table under a heading, or of its first one."""
    before, heading, after = text.partition(f"# {step.under}\n") if step.under else ("", "", text)
    assert after, f"{step.path} has no heading {step.under}"
    rows = list(re.finditer(r"^\|.*\n(?!\|)", after, re.MULTILINE))
    return f"{before}{heading}{after[: rows[0].end()]}{step.block.text}{after[rows[0].end() :]}"


def run(folder: Path, *arguments: str) -> None:
    """Run a module of Python in the copy; what it says is told when it fails."""
    done = subprocess.run([sys.executable, "-m", *arguments], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{arguments}\n{done.stdout[-6000:]}\n{done.stderr[-2000:]}"


def copy_compiled(folder: Path) -> None:
    """Let the copy of the checkout have what is compiled of it, where that is kept apart; what is changed is compiled anew."""
    if sys.pycache_prefix is not None:
        here, there = (Path(sys.pycache_prefix, *each.parts[1:]) for each in (ROOT, folder))
        for part in ("custom_components", "tests"):
            if (here / part).exists():
                shutil.copytree(here / part, there / part)


@pytest.mark.timeout(600)
def test_new_family(tmp_path: Path) -> None:
    """Nothing but what the guide says is done, and the tests that look at tools pass."""
    folder = tmp_path / "checkout"
    shutil.copytree(ROOT, folder, ignore=LEFT_OUT)
    (folder / ".cache").mkdir()
    (folder / ".cache" / "environments").symlink_to(ROOT / ".cache" / "environments")
    copy_compiled(folder)
    for step in steps():
        follow(step, folder)
    new = [step.path for step in steps() if not (ROOT / step.path).exists()]
    assert len(new) == 2
    # As script/lint --fix does it, without the types, which test_developers.py looks at.
    run(folder, "ruff", "format", "--quiet", "--no-cache", ".")
    run(folder, "ruff", "check", "--fix", "--quiet", "--no-cache", ".")
    chosen = f"not ({' or '.join(SLOW)}) or {ABOUT}"
    run(folder, "pytest", "-q", "--numprocesses", "0", "-k", chosen, *CONCERNED)
