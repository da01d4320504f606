"""Tests of undoing a change of an automation while others change the same file."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from random import Random
import re
from typing import Any

import pytest

from custom_components.extended_assist.automations import edit
from custom_components.extended_assist.automations.revert import ChangedSinceError, reverse
from custom_components.extended_assist.automations.yaml_positions import indented, index_yaml, load_automation
from custom_components.extended_assist.results import ToolError
from homeassistant.exceptions import HomeAssistantError
from homeassistant.util.yaml import dump, parse_yaml
from tests.automations.files import GOOD, automation

ID = "1"
HOUSE = """\
# The house
- id: '1'
  alias: Porch  # the old one
  description: >-
    Turns the porch
    light on.

  # when it is dark
  triggers:
    - trigger: state
      entity_id: binary_sensor.door
      to: 'on'
  actions:
    - action: light.turn_on
      target: {entity_id: light.porch}
  mode: queued  # one after the other
- id: '2'
  alias: Other
  triggers: []
  actions: []
"""


def undone(text: str, change: edit.Edit) -> str:
    """Return a text with a change of the automation taken back."""
    return reverse(text, ID, change.before, change.after, change.previous).text


def loaded(text: str, automation_id: str = ID) -> dict[str, Any] | None:
    """Return the data of an automation in a text."""
    index = index_yaml(text)
    item = index.find(automation_id)
    return load_automation(index, item) if item else None


@pytest.mark.parametrize(
    "changes",
    [
        {"alias": "New"},
        {"mode": None},
        {"alias": None, "mode": None},
        {"description": None, "triggers": None, "variables": {"x": 1}},
        {"description": "x\ny", "max": 3, "actions": []},
        {"triggers": [{"trigger": "time", "at": "17:30:00"}], "conditions": []},
        {"description": None, "triggers": None, "actions": None, "mode": None, "alias": "B"},
    ],
)
@pytest.mark.parametrize("style", ["", "indented", "crlf", "no line break at the end"])
def test_undone_to_the_byte(changes: dict[str, Any], style: str) -> None:
    """Where nobody wrote in between, key by key comes to what was there, and so it does beside what others wrote."""
    text = indented(HOUSE, 2) if style == "indented" else HOUSE.replace("\n", "\r\n") if style == "crlf" else HOUSE
    text = text.partition("- id: '2'")[0].rstrip() if style.startswith("no") else text
    change = edit.update(text, ID, changes)
    more = "" if style.startswith("no") else "# mine\n"
    assert undone(f"{more}{change.text}", change).removesuffix("\n") == f"{more}{text}".removesuffix("\n")


def test_indentation_is_meaning() -> None:
    """A step that somebody moved into a branch by its indentation alone is not taken for what was written."""
    change = edit.update(HOUSE, ID, {"actions": [{"if": [], "then": [{"stop": ""}]}, {"action": "lock.lock"}]})
    moved = change.text.replace("  - action: lock.lock", "    - action: lock.lock")
    assert moved.split() == change.text.split()
    assert moved != change.text
    with pytest.raises(ChangedSinceError, match="changed actions of"):
        undone(moved, change)


def test_what_others_wrote_beside_it_stays() -> None:
    """Comments, other keys and formatting of the same automation stay when one key is set back."""
    change = edit.update(HOUSE, ID, {"alias": "New", "mode": None, "variables": {"x": 1}})
    theirs = change.text.replace("# when it is dark", "# when it is really dark").replace("to: 'on'", 'to: "off"')
    theirs = theirs.replace("    x: 1\n", "    x: 1  # a number\n")
    expected = HOUSE.replace("# when it is dark", "# when it is really dark").replace("to: 'on'", 'to: "off"')
    text = undone(theirs, change)
    assert "# a number" in text
    assert re.sub(r"\n +# a number", "", text) == expected


@pytest.mark.parametrize(
    ("old", "new", "part"),
    [
        ("alias: New", "alias: Newer", "alias"),
        ("x: 1", "x: 1.0", "variables"),
        ("x: 1", "x: on", "variables"),
        ("    x: 1\n", "    # why\n    x: 1\n", "a comment in variables"),
    ],
)
def test_the_same_part(old: str, new: str, part: str) -> None:
    """Where others changed the same part, nothing is undone, and the part is named."""
    change = edit.update(HOUSE, ID, {"alias": "New", "variables": {"x": 1}})
    theirs = change.text.replace(old, new)
    assert theirs != change.text
    with pytest.raises(ChangedSinceError, match=f"has changed {part} of this automation since"):
        undone(theirs, change)


def test_set_back_by_others() -> None:
    """What others have set back already stays as they wrote it, and the rest is undone."""
    change = edit.update(HOUSE, ID, {"alias": "New", "mode": "restart"})
    theirs = change.text.replace("alias: New", 'alias: "Porch"')
    assert undone(theirs, change) == HOUSE.replace("alias: Porch", 'alias: "Porch"')


def test_older_names() -> None:
    """A part that the editor has given its present name in the meantime is the same part."""
    older = HOUSE.replace("triggers:", "trigger:").replace("- trigger: state", "- platform: state")
    change = edit.update(older, ID, {"actions": [{"service": "light.turn_on", "target": {"entity_id": "light.a"}}]})
    theirs = change.text.replace("service:", "action:").replace("entity_id: light.a", "entity_id: [light.a]")
    theirs = theirs.replace("  trigger:", "  triggers:").replace("- platform:", "- trigger:")
    text = undone(theirs, change)
    assert loaded(text) == loaded(HOUSE)
    given = edit.update(HOUSE, ID, {"actions": [{"event": "x", "event_data": {"service": "a"}}]})
    with pytest.raises(ChangedSinceError, match="actions"):
        undone(given.text.replace("service: a", "action: a"), given)


def test_never_twice() -> None:
    """What is there again is not put there a second time, and what is gone is not removed."""
    removed = edit.remove(HOUSE, ID)
    with pytest.raises(ChangedSinceError, match="is there again already"):
        undone(HOUSE, removed)
    added = edit.add("[]\n", automation(7) | {"id": ID})
    with pytest.raises(ChangedSinceError, match="is gone already"):
        undone("[]\n", added)


def test_anchor_that_others_use_by_now() -> None:
    """A part is not set back where another automation has come to use what is there."""
    change = edit.update(HOUSE, ID, {"mode": "single", "variables": {"x": 1}})
    theirs = change.text.replace("variables:", "variables: &x") + "- id: '3'\n  variables: *x\n"
    with pytest.raises(ChangedSinceError, match="use a part of it through an anchor"):
        undone(theirs, change)
    with pytest.raises(ToolError, match="an anchor"):
        edit.update(theirs, ID, {"variables": {"x": 2}})


def test_anchors_of_others() -> None:
    """What used parts of another automation comes back beside it as it was, and not without it."""
    text = "- id: a\n  alias: A\n  triggers: &x [1]\n- id: '1'\n  alias: B\n  triggers: *x\n"
    removed = edit.remove(text, ID)
    assert undone(removed.text, removed) == text
    with pytest.raises(ToolError, match="uses parts of others"):
        undone(removed.text.replace("&x ", ""), removed)


# ── Random files, changes and edits by others ────────────────────────────────────────────────────────────────────────

_VALUES: Mapping[str, tuple[Any, ...]] = {
    "alias": ("A", "Grüße: 'x'", "# no comment", "17:30:00", "on"),
    "description": ("", "one\ntwo\n", "long " * 40, None),
    "mode": ("single", "queued", "restart", None),
    "triggers": (
        [],
        [{"trigger": "state", "entity_id": "light.a", "to": "on"}],
        [{"trigger": "time", "at": "17:30:00"}],
    ),
    "conditions": ([], [{"condition": "state", "entity_id": "light.a", "state": "on"}], None),
    "actions": ([], [{"delay": "00:05:00"}], [{"if": [], "then": [{"stop": "x"}]}, {"action": "light.turn_on"}]),
    "variables": ({"x": 1}, {"x": {"y": ["on", True, None]}}, None),
}


def _by_the_editor(text: str, _: Random) -> str:
    """Save an automation in the editor, which loads the file and dumps all of it, with keys in its order."""
    data: Any = parse_yaml(text.replace("\r\n", "\n"))
    return dump([{key: item[key] for key in (*edit.KEY_ORDER, *item) if key in item} for item in data])


def _reindented(text: str, _: Random) -> str:
    return indented(text, 3)


def _commented(text: str, random: Random) -> str:
    """Write comments between the lines of keys, and behind some."""
    lines = text.splitlines(keepends=True)
    places = [number for number, line in enumerate(lines) if re.match(r" *-? *[a-z]+: [a-z]+\r?\n$", line)]
    for place in sorted(random.sample(places, min(3, len(places))), reverse=True):
        lines[place] = re.sub(r"(\r?\n)$", r"  # MINE\1", lines[place])
    return "".join(["# MINE\n", *lines])


def _reordered(text: str, random: Random) -> str:
    """Write the keys of the automation in another order."""
    config = loaded(text)
    assert config
    index = index_yaml(text)
    start, end = index.span(index.find(ID))
    keys = list(config)
    random.shuffle(keys)
    block = indented(dump([{key: config[key] for key in keys}]), index.column)
    return f"{text[:start]}{block}{text[end:]}"


def _another_key(text: str, random: Random) -> str:
    return edit.update(text, ID, {"max_exceeded": random.choice(["silent", "warning"])}).text


def _same_key(text: str, random: Random) -> str:
    key = random.choice(list(_VALUES))
    return edit.update(text, ID, {key: random.choice(_VALUES[key])}).text


def _other_automation(text: str, _: Random) -> str:
    return edit.add(text, automation(3) | {"id": "theirs"}).text


EDITS: list[Callable[[str, Random], str]] = [
    *(_by_the_editor, _reindented, _commented, _reordered, _another_key, _same_key, _other_automation)
]
FILES = [GOOD[name] for name in ("one", "crlf", "hand-written", "indented", "no line break at the end")] + [HOUSE]


@pytest.mark.parametrize("seed", range(200))
def test_whatever_others_do(seed: int) -> None:
    """What others changed is there afterwards and what we changed is gone; or nothing is undone, and the part is named."""
    random = Random(seed)
    text = random.choice(FILES)
    kind = random.choice(["update", "update", "add", "remove"])
    keys = random.sample(list(_VALUES), random.randint(1, 3))
    changes = {key: random.choice(_VALUES[key]) for key in keys}
    try:
        if kind == "update":
            change = edit.update(text, ID, changes)
        elif kind == "remove":
            change = edit.remove(text, ID)
        else:
            text = edit.remove(text, ID).text
            change = edit.add(text, {"id": ID, "alias": "A", **{k: v for k, v in changes.items() if v is not None}})
    except ToolError:  # Comments and tags that would be lost.
        return
    theirs = change.text
    for made in random.sample(EDITS, random.randint(1, 2)):
        if kind == "remove" and made in (_reordered, _another_key, _same_key):
            continue
        with suppress(HomeAssistantError):  # Not every file takes every edit, such as one with tags the editor.
            theirs = made(theirs, random)
    before, left, now = loaded(text), loaded(change.text), loaded(theirs)
    others = [item.meaning for item in index_yaml(theirs).automations if item.id != ID]
    try:
        result = undone(theirs, change)
    except ChangedSinceError as err:
        parts = re.findall(r"(?:changed|and) (?:a comment in )?(\w+)", str(err))
        assert parts
        assert all(part in changes or kind == "add" for part in parts)
        return
    assert [item.meaning for item in index_yaml(result).automations if item.id != ID] == others
    if kind == "add":
        assert loaded(result) is None
        return
    after = loaded(result)
    assert after is not None
    assert before is not None
    if kind == "remove":
        assert after == before
        return
    assert left is not None
    assert now is not None
    for key in {*before, *left, *now}:
        ours = before.get(key) != left.get(key)
        if ours and key not in before and now.get(key) in ([], "", "single") and now.get(key) != left.get(key):
            ours = False  # They have set it back by themselves, in other words.
        assert after.get(key) == (before if ours else now).get(key), key
    lost = theirs.count("# MINE") - result.count("# MINE")
    assert lost == 0


ONE = {
    "automation": "- id: 'i{0}'\n  alias: A{0}\n  mode: single\n",
    "script": "i{0}:\n  alias: A{0}\n  mode: single\n",
}


@pytest.mark.parametrize("kind", ONE)
def test_the_last_one_without_a_line_break(kind: str) -> None:
    """What ended a file without a line break comes back in front of what was written behind it since."""
    tail = ONE[kind].format(7)
    text = "".join(ONE[kind].format(number) for number in range(2)).rstrip("\n")
    removed = edit.remove(text, "i1", kind)
    assert removed.before is not None
    back = reverse(f"{removed.text}{tail}", "i1", removed.before, None, removed.previous, kind=kind)
    assert back.text == f"{text}\n{tail}"


@pytest.mark.parametrize("kind", ONE)
def test_the_only_one_without_a_line_break(kind: str) -> None:
    """It comes back in front of what was written behind the empty list or object since."""
    text = ONE[kind].format(1).rstrip("\n")
    removed = edit.remove(text, "i1", kind)
    back = reverse(f"{removed.text}# mine\n", "i1", removed.before, None, removed.previous, kind=kind)
    assert back.text == f"{text}\n# mine\n"
