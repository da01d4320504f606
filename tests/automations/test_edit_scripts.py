"""Tests of changing one script in the text of a file, where scripts stand under their ids."""

from typing import Any

from hypothesis import given, settings, strategies as st
import pytest

from custom_components.extended_assist.automations import edit
from custom_components.extended_assist.automations.revert import reverse
from custom_components.extended_assist.automations.yaml_positions import index_yaml, load_automation
from custom_components.extended_assist.results import ToolError
from homeassistant.util.yaml import parse_yaml

NEW: dict[str, Any] = {
    "id": "new_one",
    "alias": "New",
    "sequence": [{"action": "light.turn_on", "data": {"brightness_pct": "{{ level }}"}}, {"delay": "00:00:05"}],
    "fields": {"level": {"required": True, "selector": {"number": {"min": 0, "max": 100}}}},
    "icon": "mdi:lamp",
}
ENTRIES = (
    "good_night:\n  alias: Good night  # sleep well\n  # all off\n  sequence:\n  - action: light.turn_off\n    target: {entity_id: all}\n",
    "'quoted':\n  alias: 'on'\n  sequence: []\n",
    '"42":\n    alias: Number\n    sequence:\n        - delay: 5\n',
    "7:\n  alias: Seven\n  sequence: []\n",
    "flow: {alias: Flow, sequence: []}\n",
    "with_anchor: &all\n  alias: A\n  sequence: &steps\n  - delay: 1\n  mode: single\n",
    "texts:\n  description: |+\n    a: b\n\n    # no comment\n\n  alias: Texts\n  sequence: []\n",
    "folded:\n\n  alias: >-\n    a\n    b\n\n\n  sequence: []   # done\n",
    "secret:\n  variables: {code: !secret code}\n  alias: Secret\n  sequence: []\n",
    "included: !include other.yaml\n",
    "nothing:\n",
    "wide  :\n        alias: Wide\n        sequence: []\n",
)
"""Scripts as people write them."""
BETWEEN = ("", "\n", "# ----- more -----\n", "\n\n  # indented\n", "  \n")
EMPTY = ("", "{}\n", "{}", "# none\n", "---\n", "{ }  # none yet\n")
UPDATABLE = {"good_night", "quoted", "42", "7", "with_anchor", "texts", "folded", "secret", "wide"}


def plain(entry: str) -> str:
    """Return an entry without tags, for a reader that has no files."""
    return entry.replace("!include", "").replace("!secret", "")


def blocks(text: str) -> dict[str | None, str]:
    """Return the lines of each script by its id."""
    index = index_yaml(text, "script")
    return {item.id: text[slice(*index.span(item))] for item in index.automations}


@st.composite
def files(draw: st.DrawFn) -> str:
    """Return files of scripts in the ways in which people write them."""
    chosen = draw(st.lists(st.sampled_from(ENTRIES), unique=True, max_size=5))
    if not chosen:
        return draw(st.sampled_from(EMPTY))
    text = draw(st.sampled_from(["", "---\n", "# Scripts\n"]))
    for entry in chosen:
        text += draw(st.sampled_from(BETWEEN)) + entry
    if draw(st.booleans()):
        text = "".join(f"  {line}" if line.strip() else line for line in text.removeprefix("---\n").splitlines(True))
    if draw(st.booleans()) and not chosen[-1].startswith("texts"):
        text = text.rstrip("\n")
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text


@settings(max_examples=250, deadline=None)
@given(files(), st.data())
def test_every_other_byte_stays(text: str, data: st.DataObject) -> None:
    """Whatever is added, changed or removed, all else keeps its bytes, and Home Assistant reads what was meant."""
    before = blocks(text)
    added = edit.add(text, NEW, "script")
    if "{" not in text.partition("#")[0].strip()[:1]:
        assert added.text.startswith(text)
    assert {key: block.strip() for key, block in blocks(added.text).items() if key != "new_one"} == {
        key: block.strip() for key, block in before.items()
    }
    read = parse_yaml(plain(added.text))
    assert isinstance(read, dict)
    assert read["new_one"] == {key: value for key, value in NEW.items() if key != "id"}
    assert [str(key) for key in read] == [*before, "new_one"]
    assert blocks(edit.remove(added.text, "new_one", "script").text).keys() == before.keys()
    if not before:
        return
    script = data.draw(st.sampled_from(sorted(filter(None, before))))
    removed = edit.remove(text, script, kind="script")
    others = {key: block for key, block in before.items() if key != script}
    assert [block.rstrip() for block in blocks(removed.text).values()] == [one.rstrip() for one in others.values()]
    assert removed.before
    if script in UPDATABLE | {"flow"}:
        again = edit.insert(removed.text, removed.before, removed.previous, "script")
        assert {key: block.rstrip() for key, block in blocks(again.text).items()} == {
            key: block.rstrip() for key, block in before.items()
        }
    if script not in UPDATABLE:
        with pytest.raises(ToolError):
            edit.update(text, script, {"alias": "Changed"}, "script")
        return
    changed = edit.update(text, script, {"alias": "Changed", "mode": "queued", "max": 3}, "script")
    assert {key: block for key, block in blocks(changed.text).items() if key != script} == others
    index = index_yaml(changed.text, "script")
    item = index.find(script)
    assert item
    assert load_automation(index, item).items() >= {"alias": "Changed", "mode": "queued", "max": 3}.items()
    assert changed.after
    restored = reverse(changed.text, script, changed.before, changed.after, changed.previous, kind="script")
    assert restored.text.rstrip("\r\n") == text.rstrip("\r\n")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("- id: '1'\n", "The file of scripts cannot be changed: it is not an object"),
        ("null\n", "it is not an object"),
        ("{a: {sequence: []}}\n", "one pair of braces"),
        ("a: &x\n  sequence: []\n<<: *x\n", "merged parts"),
        ("? [a, b]\n: sequence: []\n", "ids that are no texts"),
        ("? a\n: sequence: []\n", "its lines cannot be told apart"),
        ("&x a: 1\n*x : 2\n", "ids that are no texts"),
        ("a:\n  sequence: [\n", "it is not valid YAML in line"),
        ("a: 1\n---\nb: 2\n", "several documents"),
    ],
)
def test_unreadable(text: str, reason: str) -> None:
    """What cannot be told apart is refused for a reason."""
    with pytest.raises(ToolError, match=reason):
        edit.add(text, NEW, "script")


@pytest.mark.parametrize(
    ("text", "script", "reason"),
    [
        ("a: {alias: A}\n", "a", "it is written in one pair of braces"),
        ("a:\n  alias: A\na:\n  alias: B\n", "a", "2 scripts in the file have the id a"),
        ("7:\n  alias: A\n'7':\n  alias: B\n", "7", "2 scripts in the file have the id 7"),
        ("a: &x\n  mode: single\nb: *x\n", "b", "it uses parts of other scripts"),
        ("a:\n  alias: A\n  variables: &x {}\nb:\n  fields: *x\n", "b", "parts of other scripts"),
        ("a:\n  alias: A\n", "b", "not in the file of scripts"),
        ("a:\n  alias: A\n  # mine\n  alias: B\n", "a", "without changing more than it"),
    ],
)
def test_update_refused(text: str, script: str, reason: str) -> None:
    """What cannot be changed alone is refused for a reason."""
    with pytest.raises(ToolError, match=reason):
        edit.update(text, script, {"alias": "C"}, "script")


def test_used_by_others() -> None:
    """What others use is not removed, and what is there again is not added twice."""
    text = "a: &x\n  alias: A\n  sequence: []\nb: *x\n"
    with pytest.raises(ToolError, match="Others would change with this script, since they use a part of it"):
        edit.remove(text, "a", kind="script")
    added = edit.add("", NEW, "script")
    assert edit.remove(added.text, "new_one", "script").text == "{}\n"
    with pytest.raises(ToolError, match="is there again already"):
        edit.insert(added.text, added.after or "", None, "script")


def test_scenes_keep_their_names() -> None:
    """A scene begins with its id and name, as in the editor of Home Assistant."""
    scene = {"entities": {"light.a": {"state": "on"}}, "name": "Tea", "id": "5"}
    added = edit.add("[]\n", scene, "scene")
    assert added.text == "- id: '5'\n  name: Tea\n  entities:\n    light.a:\n      state: 'on'\n"
    assert edit.update(added.text, "5", {"name": "Coffee"}, "scene").text == added.text.replace("Tea", "Coffee")
