"""Tests that the tables of what an automation may be made of are those of the code."""

from collections.abc import Iterable
from pathlib import Path
import re

import pytest

from custom_components.extended_assist.actions.conditions import CONDITIONS, NESTED, TRIGGERS
from custom_components.extended_assist.actions.listed_triggers import EVENTS, REFUSED
from custom_components.extended_assist.actions.sequences import REFUSED_STEPS, STEPS

PAGE = Path(__file__).parents[2] / "docs" / "tools" / "automations.md"
TABLES: dict[str, Iterable[str]] = {
    "trigger": [*TRIGGERS, *REFUSED],
    "event": EVENTS,
    "condition": [*CONDITIONS, *NESTED],
    "step": [*STEPS, *REFUSED_STEPS, "condition"],
}


def rows(table: str) -> list[tuple[str, str]]:
    """Return the rows of a table by its first heading: the name of each form, and what is said of it."""
    (found,) = re.findall(rf"^\| {table} \|.*\n\|[-|]+\n((?:\|.*\n)+)", PAGE.read_text("utf-8"), re.MULTILINE)
    cells = [line.strip("|").split(" | ", 1) for line in found.splitlines() if not line.startswith("| such as")]
    return [(name, said) for names, said in cells for name in re.findall(r"`([\w.]+)`", names)]


@pytest.mark.parametrize("table", TABLES)
def test_each_form_has_its_row(table: str) -> None:
    """Each form of the code is told once, and no other."""
    assert sorted(name for name, _ in rows(table) if name != "mobile_app") == sorted(set(TABLES[table]))


def test_what_is_refused_is_said_so() -> None:
    """A form is told as refused where it is."""
    said = [name for table in ("trigger", "step") for name, words in rows(table) if words.startswith("refused")]
    assert sorted(said) == sorted([*REFUSED, "event"])
