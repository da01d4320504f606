"""Tests that reading a part of a file shows as much as reading all of it."""

from collections.abc import Callable
from functools import partial
from unittest.mock import patch

from hypothesis import example, given, settings, strategies as st
import pytest

from custom_components.extended_assist.automations import edit
from custom_components.extended_assist.automations.edit import Edit
from custom_components.extended_assist.automations.revert import reverse
from custom_components.extended_assist.automations.yaml_outline import AT_ONCE, Outline, quick_outline, whole_outline
from custom_components.extended_assist.results import ToolError
from tests.automations.files import automation
from tests.automations.styles import CHOMPED, COMMENTS, DEEP, EDITOR, FLOW, JINJA, NESTED_DASHES, OLDER, TEXTS

PIECES = (
    *(
        "- ",
        "-",
        "\n",
        "\n",
        "- id: '1'\n",
        '\n- id: "2"\n',
        "  alias: x",
        "'",
        '"',
        "[",
        "]",
        "{",
        "}",
        "#",
        " # c",
        ": ",
    ),
    *(
        "&a",
        "*a",
        "<<: *a",
        "|",
        "|+",
        ">-\n",
        "    text\n",
        "  ",
        "   - ",
        "---",
        "...",
        "\n---\n",
        "\n...\n",
        "\t",
        "\r\n",
    ),
    *(
        "\r",
        "\x85",
        "\u2028",
        "id: 3",
        "  id: '4'\n",
        "  'id': z\n",
        "? ",
        "!secret x",
        "%TAG",
        "- - a\n",
        "é",
        "\ufeff",
        ",",
    ),
    *("  triggers:\n  - a: 1\n", "  b: {a: 1,\n- c: 2}\n", "  x: \"\n- id: 'z'\n\"\n", "- &q\n", "  - id: 'n'\n"),
    *("-\tid: 'x'\n", "- id: '1' # c\n", "  x: 'two\n\n   lines'\n", "  d: |2\n     t\n\n", "  e: |+\n    t\n\n\n"),
)
"""What files are made of, and what may look like the beginning of an automation and is none, or the other way round."""
WHOLE = [
    part
    for text in (EDITOR, OLDER, JINJA, CHOMPED, TEXTS, FLOW, COMMENTS, DEEP, NESTED_DASHES)
    if (found := quick_outline(text)) is not None
    for part in (text[start:end] for start, end in zip(found.starts, found.starts[1:], strict=False))
]
"""Automations with all that follows them up to the next one."""


def read_whole(text: str) -> Outline | None:
    """Return the outline of all, or None for what cannot be read."""
    try:
        return whole_outline(text)
    except ToolError:
        return None


@settings(max_examples=1500, deadline=None)
@given(
    st.lists(st.sampled_from(PIECES), max_size=14).map("".join),
    st.sampled_from(["", "- id: 'a'\n  b: c\n", "# c\n---\n"]),
)
@example("x: \"\n- id: '2'\n\"\n", "- id: 'a'\n  ")
@example("- id: '2'\n-", "- id: 'a'\n")
def test_parts_are_those_of_the_whole(text: str, start: str) -> None:
    """What is proven part by part is the same when all is read: the number, the places and the ids."""
    text = start + text
    if (quick := quick_outline(text)) is None:
        return
    whole = read_whole(text)
    assert whole is not None
    assert whole.whole is not None
    assert (quick.ids, quick.column) == (whole.ids, whole.column)
    assert [text.index("-", begin) for begin in quick.starts[:-1]] == [item.dash for item in whole.whole.automations]


def result_of(work: Callable[[], Edit]) -> Edit | str:
    """Return a change, or that it was refused."""
    try:
        return work()
    except ToolError as err:
        return str(err)


@settings(max_examples=60, deadline=None)
@given(st.permutations(WHOLE), st.integers(1, 9), st.data())
def test_changes_are_those_of_the_whole(parts: list[str], count: int, data: st.DataObject) -> None:
    """A change of a part is the same, to the character, as when all is read to make and to prove it."""
    chosen = [part for part in parts if part.startswith(parts[0][: len(parts[0]) - len(parts[0].lstrip())] + "-")][
        :count
    ]
    text = "".join(part if part.endswith("\n") else f"{part}\n" for part in chosen)
    found = quick_outline(text)
    assert found is not None
    known = data.draw(st.sampled_from([*filter(None, found.ids), "none"]))
    changes: list[Callable[[], Edit]] = [
        lambda: edit.add(text, automation(5)),
        lambda: edit.update(text, known, {"alias": "Renamed", "mode": "queued"}),
        lambda: edit.update(text, known, {"description": None, "actions": []}),
        lambda: edit.remove(text, known),
    ]
    for work in changes:
        quick = result_of(work)
        with patch.object(edit, "quick_outline", lambda *_: None):
            assert result_of(work) == quick
        if isinstance(quick, Edit) and quick.before is not None:
            undo = partial(_undone, quick, known)
            taken_back = result_of(undo)
            with patch.object(edit, "quick_outline", lambda *_: None):
                assert result_of(undo) == taken_back


def _undone(made: Edit, automation_id: str) -> Edit:
    """Return a change taken back."""
    assert made.before is not None
    return reverse(made.text, automation_id, made.before, made.after, made.previous)


@pytest.mark.parametrize(
    "text",
    [
        "- &a\n  id: '1'\n- *a\n",
        "- id: '1'\n  x: {<<: *a}\n",
        "- id: '1'\n---\n- id: '2'\n",
        "- id: '1'\n  x: \"\n- id: '2'\"\n",
        "- id: '1'\u2028- id: '2'\n",
        "- id: '1'\r- id: '2'\n",
        "%YAML 1.1\n---\n- id: '1'\n",
        "id: '1'\n",
        "[]\n",
        "",
    ],
)
def test_read_as_a_whole(text: str) -> None:
    """Where a part may depend on others, the whole is read."""
    assert quick_outline(text) is None


def test_long_ones_are_parsed_in_steps() -> None:
    """An automation that would keep other threads waiting is read piece by piece, and no less strictly."""
    long = f"- id: '1'\n  variables:\n{'    - text\n' * (AT_ONCE // 10)}"
    assert quick_outline(long) is not None
    assert quick_outline(f"{long}  x: '\n") is None
