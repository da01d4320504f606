"""Tests of how functions are read: values as they are written, lines, and lists taken apart and put together."""

from typing import Any

from hypothesis import given, settings, strategies as st
import pytest

from custom_components.extended_assist.functions.yaml_source import (
    MAX_TEXT,
    FunctionError,
    join_functions,
    parse_yaml,
    rename_function,
    split_functions,
)
from homeassistant.util.yaml import dump

VALUES: dict[str, Any] = {
    "on": "on",
    "off": "off",
    "yes": "yes",
    "no": "no",
    "y": "y",
    "true": True,
    "False": False,
    "~": None,
    "": None,
    "17:30:00": "17:30:00",
    "1:30": "1:30",
    "2026-03-01": "2026-03-01",
    "2026-03-01 10:00:00": "2026-03-01 10:00:00",
    "0": 0,
    "-5": -5,
    "1_000": 1000,
    "0x1f": 31,
    "010": "010",
    "1.5": 1.5,
    ".5": 0.5,
    "1e3": 1000.0,
    "1.": "1.",
    ".inf": ".inf",
    ".nan": ".nan",
    "1e999": "1e999",
    "9" * 5000: "9" * 5000,
    "=": "=",
    "<<": "<<",
    "null": None,
    "'on'": "on",
    "!!str 5": "5",
    "[a, 1, {b: c}]": ["a", 1, {"b": "c"}],
    '"a\\nb"': "a\nb",
}


@pytest.mark.parametrize("text", VALUES, ids=lambda text: text[:20])
def test_values(text: str) -> None:
    """A value is what is written; only plain numbers, true, false and null are something else than a text."""
    value = parse_yaml(f"x: {text}").value["x"]
    assert (value, type(value)) == (VALUES[text], type(VALUES[text]))


def test_anchors() -> None:
    """What is said once can be used again, and what merges gives way."""
    text = "a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}\nc: *a\nd: {<<: [{x: 5}, *a]}"
    assert parse_yaml(text).value == {
        "a": {"x": 1, "y": 2},
        "b": {"x": 1, "y": 3},
        "c": {"x": 1, "y": 2},
        "d": {"x": 5, "y": 2},
    }
    with pytest.raises(FunctionError, match="Line 1: << merges mappings only"):
        parse_yaml("a: {<<: 3}")


def test_lines() -> None:
    """Each part has its line, and what is missing that of what is around it."""
    written = parse_yaml("a:\n  b:\n    - c\n    -\n      d: 1\n")
    paths = [[], ["a"], ["a", "b"], ["a", "b", 0], ["a", "b", 1, "d"], ["a", "x"], ["a", "b", 7], ["a", "b", 0, "z"]]
    assert [written.line(path) for path in paths] == [1, 1, 2, 3, 5, 1, 2, 3]


@pytest.mark.parametrize(
    "text",
    [
        "- spec: {name: a}\n  function: {}\n- spec: {name: b}\n  function: {}\n",
        "  - spec:\n      name: a\n  - spec:\n      name: b\n",
        "-   spec:\n      name: a\n-   spec:\n      name: b\n",
        "[{spec: {name: a}}, {spec: {name: b}}]",
        "- {spec: {name: a}}\n- {spec: {name: b}}",
        "# all\n\n- spec: &s\n    name: a\n\n# b\n# too\n- spec: {<<: *s, name: b}\n",
        "-\n  spec:\n    name: a\n-\n  spec: {name: b}\n",
        "- spec:\r\n    name: a\r\n- spec:\r\n    name: b\r\n",
        "---\n- spec: {name: a}\n- spec: {name: b}\n",
        '- spec: {name: a}\n  text: "one\n  two"\n- spec: {name: b}\n  text: |\n    - not\n      an item\n',
        "- spec: {name: a}\n- spec: {name: b}\n  # the end\n",
    ],
)
def test_split_and_join(text: str) -> None:
    """A list taken apart and put together is the same list, however it is laid out."""
    items = split_functions(text)
    assert [parse_yaml(item.text).value for item in items] == parse_yaml(text).value
    again = join_functions([item.text for item in items])
    assert parse_yaml(again).value == parse_yaml(text).value
    assert [item.text for item in split_functions(again)] == [item.text for item in items]
    for item in items:
        assert "name" in text.splitlines()[item.line - 1] or item.line <= len(text.splitlines())


def test_what_cannot_be_read() -> None:
    """What is too long, or no text at all, is refused with a sentence."""
    with pytest.raises(FunctionError, match=f"has {MAX_TEXT + 1} characters; at most {MAX_TEXT} are read"):
        parse_yaml("x" * (MAX_TEXT + 1))
    with pytest.raises(FunctionError, match="not YAML that can be read here"):
        parse_yaml("spec: \ud800")


@pytest.mark.parametrize(
    "text",
    [
        "spec: {parameters: {properties: {list: {}, items: {}}}, name: list}\n",
        "spec: {name: name}\n",
        "- spec: {name: e, description: more}\n",
    ],
)
def test_renamed_where_the_name_is_a_word_too(text: str) -> None:
    """Where the name occurs before the name, or the new one does, the function is written anew."""
    value = parse_yaml(text).value
    function = value[0] if isinstance(value, list) else value
    wanted = {"spec": function["spec"] | {"name": "items"}}
    assert parse_yaml(rename_function(text, "items")).value in (wanted, [wanted])


def test_joined_as_pasted() -> None:
    """What was pasted as an item of a list stays so; what cannot be indented is written anew."""
    texts = ["- spec: {name: a}\n", "---\nspec: {name: b}\n", "spec:\n  name: c\n"]
    assert parse_yaml(join_functions(texts)).value == [{"spec": {"name": name}} for name in "abc"]
    assert join_functions(texts).startswith(texts[0])


VALUE = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.text("ab:#-{}[]'\"\n %&*!|>?@,~", max_size=12),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", min_size=1, max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.fixed_dictionaries({"spec": st.just({"name": "x"}), "function": VALUE}), min_size=1, max_size=4))
def test_any_list(functions: list[dict[str, Any]]) -> None:
    """So it is with any list that Home Assistant writes."""
    text = dump(functions)
    whole = parse_yaml(text).value
    items = split_functions(text)
    assert [parse_yaml(item.text).value for item in items] == whole
    assert parse_yaml(join_functions([item.text for item in items])).value == whole
    assert parse_yaml(rename_function(items[0].text, "y")).value == whole[0] | {"spec": {"name": "y"}}
