"""Tests of changing one automation in the text of a file."""

import re
from typing import Any

from hypothesis import given, settings, strategies as st
import pytest

from custom_components.extended_assist.automations import edit
from custom_components.extended_assist.automations.revert import reverse
from custom_components.extended_assist.automations.yaml_positions import index_yaml, load_automation
from custom_components.extended_assist.results import ToolError
from homeassistant.util.yaml import parse_yaml
from tests.automations.files import BAD, GOOD, HAND_WRITTEN, automation

NEW = automation(7) | {"id": "new"}
WITH_ONE = [name for name, text in GOOD.items() if re.search(r"id: '?1'?\r?$", text, re.MULTILINE)]


def items_of(text: str) -> dict[str | None, str]:
    """Return the lines of each automation by its id."""
    index = index_yaml(text)
    return {item.id: text[slice(*index.span(item))].strip() for item in index.automations}


@pytest.mark.parametrize("name", GOOD)
def test_add(name: str) -> None:
    """What was there stays as it was, character by character; the new one comes last."""
    text = GOOD[name]
    added = edit.add(text, NEW)
    if "brackets" not in name:
        assert added.text.startswith(text.partition("...")[0])
    before, after = items_of(text), items_of(added.text)
    assert list(after) == [*before, "new"]
    assert before.items() <= after.items()
    index = index_yaml(added.text)
    assert load_automation(index, index.automations[-1]) == NEW
    assert ("\r\n" in added.text) is ("\r\n" in text)
    assert items_of(edit.remove(added.text, "new").text) == before


@pytest.mark.parametrize("name", WITH_ONE)
def test_update_only_what_is_named(name: str) -> None:
    """Other automations, other parts of the same one, and all comments stay as they were."""
    text = GOOD[name]
    changes: dict[str, Any] = {"alias": "Changed", "mode": "queued"}
    changed = edit.update(text, "1", changes)
    before, after = items_of(text), items_of(changed.text)
    assert {key: value for key, value in after.items() if key != "1"} == {
        key: value for key, value in before.items() if key != "1"
    }
    lines = [line for line in text.splitlines() if not re.search("alias: (Porch|A)\\b", line)]
    assert [line for line in changed.text.splitlines() if line in lines] == lines
    assert re.findall("#.*", changed.text) == re.findall("#.*", text)
    index = index_yaml(changed.text)
    assert load_automation(index, index.find("1")).items() >= changes.items()
    assert reverse(changed.text, "1", changed.before, changed.after, None).text == text


@pytest.mark.parametrize("name", WITH_ONE)
def test_remove(name: str) -> None:
    """Only its own lines go; put back, the text is the same again."""
    text = GOOD[name]
    removed = edit.remove(text, "1")
    before, after = items_of(text), items_of(removed.text)
    assert list(after) == [key for key in before if key != "1"]
    assert after.items() <= before.items()
    again = edit.insert(removed.text, removed.before, removed.previous)
    assert items_of(again.text) == before


@pytest.mark.parametrize(("text", "reason"), BAD.values(), ids=BAD)
def test_refused(text: str, reason: str) -> None:
    """What cannot be told apart is refused for a reason."""
    with pytest.raises(ToolError, match=reason):
        edit.add(text, NEW)


def test_line_breaks_that_belong_to_a_text() -> None:
    """What is added behind a text that ends with empty lines leaves them to it."""
    text = "- id: '1'\n  description: |+\n    text\n\n- id: '2'\n"
    assert edit.update(text, "1", {"mode": "single"}).text == text.replace("\n- id: '2'", "\n  mode: single\n- id: '2'")
    assert edit.remove(text, "1").text == "- id: '2'\n"
    assert edit.update(text, "1", {"description": "x"}).text == "- id: '1'\n  description: x\n- id: '2'\n"


def test_older_names_and_first_key() -> None:
    """A part keeps its place under its present name; the first key can go."""
    text = "- alias: A\n  id: '1'\n  trigger: []\n  action: []\n"
    assert edit.update(text, "1", {"triggers": [], "alias": None}).text == "- id: '1'\n  triggers: []\n  action: []\n"
    assert edit.update(text, "1", {"actions": [{"stop": ""}]}).text == text.replace(
        "action: []", "actions:\n  - stop: ''"
    )


def test_removed_and_unchanged_parts() -> None:
    """A part that is removed takes its line with it; one that is given as it is stays as it is written."""
    text = "- id: '1'\n  mode: single  # one at a time\n  alias: A\n"
    assert edit.update(text, "1", {"mode": "single", "alias": "A"}).text == text
    assert edit.update(text, "1", {"alias": None}).text == text.replace("  alias: A\n", "")


def test_put_back_where_it_does_not_fit() -> None:
    """What was removed is put back where all others stand, be that further to the left or to the right."""
    block = "  - id: '1'\n    description: |\n      a\n\n       b\n    alias: A\n"
    left = "- id: '1'\n  description: |\n    a\n\n     b\n  alias: A\n"
    assert edit.insert("- id: '2'\n", block, None).text == f"{left}- id: '2'\n"
    assert edit.insert("  - id: '2'\n", left, "2").text == f"  - id: '2'\n{block}"
    assert edit.insert("[]\n", block, None).text == block


def test_not_a_number() -> None:
    """What does not come back as it was written is refused."""
    with pytest.raises(ToolError, match="cannot be kept"):
        edit.add("[]\n", NEW | {"variables": {"x": float("nan")}})


def test_comments_stay() -> None:
    """A part with comments inside is not written anew."""
    with pytest.raises(ToolError, match="a comment, which would be lost"):
        edit.update(HAND_WRITTEN, "1", {"triggers": [{"trigger": "time", "at": "17:30:00"}]})


def test_tags_stay() -> None:
    """A part with a secret is refused, unless it is given as it is; the others can be changed, and the tag stays."""
    with pytest.raises(ToolError, match="the tag !secret"):
        edit.update(HAND_WRITTEN, "alarm", {"actions": []})
    changed = edit.update(HAND_WRITTEN, "alarm", {"alias": "Siren"}).text
    assert changed == HAND_WRITTEN.replace("alias: Alarm", "alias: Siren")
    with pytest.raises(ToolError, match="an anchor"):
        edit.update(HAND_WRITTEN, "last", {"actions": [{"stop": ""}]})


def test_anchors_used_by_others() -> None:
    """What others use cannot be removed; what uses others cannot be read alone."""
    text = "- id: a\n  alias: A\n  triggers: &x [1]\n- id: b\n  alias: B\n  triggers: *x\n"
    with pytest.raises(ToolError, match="Others would change with this automation, since they use a part of it"):
        edit.remove(text, "a")
    with pytest.raises(ToolError, match="parts of other automations"):
        edit.update(text, "b", {"alias": "C"})
    assert edit.remove(text, "b").text == text[: text.index("- id: b")]


def test_same_id_twice() -> None:
    """Which of two is meant cannot be known."""
    with pytest.raises(ToolError, match="2 automations in the file have the id 1, in the lines 1 and 2"):
        edit.update("- id: '1'\n- id: '1'\n", "1", {"alias": "A"})


@pytest.mark.parametrize(
    ("text", "changes", "reason"),
    [
        ("- {id: '1', alias: &a A}\n", {"alias": "B"}, "one pair of braces, with an anchor in it"),
        (
            "- {id: '1', alias: A,  # mine\n   mode: single}\n",
            {"alias": "B"},
            "one pair of braces, with a comment in it",
        ),
        ("- {id: '1', alias: !secret a}\n", {"mode": "single"}, "one pair of braces, with the tag !secret in it"),
        ("- id: '1'\n  mode: single\n  mode: queued\n", {"mode": "restart"}, "without changing more than it"),
        ("- alias: A  # mine\n  id: '1'\n", {"alias": None}, "a comment, which would be lost"),
        ("- id: '1'\n  description: |  # mine\n    text\n", {"description": "x"}, "a comment, which would be lost"),
        ("- id: '2'\n", {"mode": "single"}, "not in the file"),
        ("- !mine\n  id: '1'\n  alias: A\n", {"alias": "B"}, "it is not an object"),
    ],
)
def test_update_refused(text: str, changes: dict[str, Any], reason: str) -> None:
    """What cannot be changed alone is refused for a reason."""
    with pytest.raises(ToolError, match=reason):
        edit.update(text, "1", changes)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- {id: '1', alias: A}\n", "- id: '1'\n  alias: B\n"),
        ("- {id: '1', alias: A}  # mine\n- id: '2'\n", "- id: '1'\n  alias: B  # mine\n- id: '2'\n"),
        (
            "  -\n    {id: '1', alias: A, actions: [a, {b: c}]}",
            "  -\n    id: '1'\n    alias: B\n    actions:\n    - a\n    - b: c",
        ),
        ("- {id: '1',\r\n  alias: A}\r\n", "- id: '1'\r\n  alias: B\r\n"),
    ],
)
def test_update_in_braces(text: str, expected: str) -> None:
    """What is written in one pair of braces is written on lines of its own, where nothing is lost."""
    assert edit.update(text, "1", {"alias": "B"}).text == expected


TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n\t"), max_size=40)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**40), 2**40)
    | TEXT
    | st.sampled_from(["on", "17:30:00", "1_0", "~", "!x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(
    st.dictionaries(st.sampled_from(["alias", "actions", "triggers", "variables"]), VALUES, max_size=4),
    st.sampled_from(["one", "hand-written", "crlf", "indented", "brackets"]),
)
def test_whatever_is_added_is_read_back(config: dict[str, Any], name: str) -> None:
    """Any data comes back from Home Assistant's own reader as it was, or is refused: never something else."""
    try:
        added = edit.add(GOOD[name], config | {"id": "new"})
    except ToolError as err:
        assert "cannot be kept" in str(err) or "without changing more" in str(err)  # noqa: PT017 - either is fine
        return
    index = index_yaml(added.text)
    block = added.after or ""
    assert parse_yaml(block.replace("\r\n", "\n")) == [config | {"id": "new"}]
    assert [item.meaning for item in index.automations[:-1]] == [
        item.meaning for item in index_yaml(GOOD[name]).automations
    ]


@pytest.mark.parametrize("kind", ["automation", "script"])
def test_line_breaks_of_the_file(kind: str) -> None:
    """New lines get the line breaks of the file, also where the part that is looked at has none of its own."""
    braces = "- {id: b, alias: B}" if kind == "automation" else "b: {alias: B}"
    first = "- id: a\r\n  alias: A\r\n" if kind == "automation" else "a:\r\n  alias: A\r\n"
    text = f"{first}{braces}"
    changed = [edit.add(text, {"id": "c", "alias": "C"}, kind).text]
    if kind == "automation":
        changed.append(edit.update(text, "b", {"mode": "queued"}, kind).text)
    for result in changed:
        assert result.startswith(first)
        assert result.count("\n") == result.count("\r\n") > text.count("\n")


@pytest.mark.parametrize("kind", ["automation", "script"])
def test_a_kept_block_of_text_gives_way_with_its_line_break(kind: str) -> None:
    """The line break behind a text that keeps all of its own is left whole."""
    head = "- id: a\r\n" if kind == "automation" else "a:\r\n"
    text = f"{head}  description: |+\r\n    b\r\n\r\n  mode: single\r\n"
    result = edit.update(text, "a", {"description": "short"}, kind).text
    assert result == f"{head}  description: short\r\n  mode: single\r\n"


@pytest.mark.parametrize("kind", ["automation", "script"])
def test_the_only_key(kind: str) -> None:
    """The only key of one is not cut out, and that is said."""
    text = "- id: a\n" if kind == "automation" else "a:\n  description: b\n"
    with pytest.raises(ToolError, match="cannot be changed"):
        edit.update(text, "a", {"id" if kind == "automation" else "description": None}, kind)


@pytest.mark.parametrize(
    "text",
    [
        "- id: a\r\n  alias: A\r\n- {id: b, alias: B}",
        "- {id: a, alias: A}\r\n- {id: b, alias: B}",
        "- id: a\n  alias: A\n- {id: b, alias: B}",
    ],
)
def test_what_comes_back_beside_a_line_without_end(text: str) -> None:
    """Where what is left has no line break to go by, what is put back keeps its own."""
    removed = edit.remove(text, "a")
    assert removed.text == "- {id: b, alias: B}"
    assert edit.insert(removed.text, removed.before or "", removed.previous).text == text
