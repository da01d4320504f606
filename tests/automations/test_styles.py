"""Tests of changing each automation of sixty files in the styles that people write."""

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
import re
from typing import Any

import pytest

from custom_components.extended_assist.automations import edit
from custom_components.extended_assist.automations.revert import reverse
from custom_components.extended_assist.automations.yaml_outline import outline_of
from custom_components.extended_assist.results import ToolError
from homeassistant.util.yaml import Secrets, load_yaml
from tests.automations.files import automation
from tests.automations.styles import FILES, STYLES

NEW = automation(77) | {"id": "new"}
ACTIONS = [{"action": "input_boolean.turn_off", "target": {"entity_id": ["input_boolean.lamp"]}}, {"delay": "00:00:01"}]
CHANGES: dict[str, dict[str, Any]] = {
    "rename": {"alias": 'Renamed: it\'s # "new"'},
    "actions": {"actions": ACTIONS},
    "mode": {"mode": "queued", "max": 3},
    "no description": {"description": None},
}
BY_TAG = {"a secret id", "other"}
"""Ids that are not in the file itself."""
REASONS = {
    "in braces": "one pair of braces",
    "comment": "hold a comment",
    "tag": "hold the tag|hold a tag",
    "anchor": "hold an anchor",
    "uses others": "it uses parts of other automations",
    "others would change": "Others would change with",
    "same id": "automations in the file have the id",
    "not alone": "without changing more than it",
    "no key of text": "it cannot be read by itself",
    "block kept": "cannot be kept in Home Assistant's YAML files",
}
REFUSED = {
    "in braces": 12,
    "uses others": 16,
    "tag": 15,
    "comment": 12,
    "same id": 10,
    "others would change": 8,
    "block kept": 10,
    "not alone": 9,
    "anchor": 3,
    "no key of text": 2,
}
"""How many of the changes are refused for each reason."""


@pytest.fixture
def load(tmp_path: Path) -> Callable[[str], list[Any]]:
    """Return a function that loads a text as Home Assistant does."""
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)
    path = tmp_path / "automations.yaml"

    def read(text: str) -> list[Any]:
        path.write_bytes(text.encode())
        found = load_yaml(path, Secrets(tmp_path))
        assert isinstance(found, list)
        return found

    return read


def wanted(before: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """Return an automation as it is meant to be."""
    return edit.merged(before, changes)


def only(text: str, made: edit.Edit) -> bool:
    """Return whether nothing but the lines of one automation changed."""
    old, new = made.before or "", made.after or ""
    places = [place.start() for place in re.finditer(re.escape(old), text)]
    return any(made.text == text[:place] + new + text[place + len(old) :] for place in places)


def tried(reasons: Counter[str], work: Callable[[], edit.Edit]) -> edit.Edit | None:
    """Return a change, or None if it was refused for one of the reasons."""
    try:
        return work()
    except ToolError as err:
        (reason,) = [name for name, pattern in REASONS.items() if re.search(pattern, str(err))]
        reasons[reason] += 1
        return None


def changed(text: str, load: Callable[[str], list[Any]], reasons: Counter[str]) -> Iterator[None]:
    """Do everything with every automation of a file, and look what Home Assistant loads then."""
    before = load(text)
    ids = outline_of(text).ids
    for known, found in zip(ids, before, strict=True):
        is_text = isinstance(found, dict) and isinstance(found.get("id"), str)
        assert known == (found["id"] if is_text and found["id"] not in BY_TAG else None)
    if added := tried(reasons, partial(edit.add, text, NEW)):
        assert load(added.text) == [*before, NEW]
        yield
    for number, known in enumerate(ids):
        if known is None:
            continue
        others = before[:number] + before[number + 1 :]
        for changes in CHANGES.values():
            if made := tried(reasons, partial(edit.update, text, known, changes)):
                assert only(text, made), (known, changes)
                after = load(made.text)
                assert after[:number] + after[number + 1 :] == others
                assert after[number] == wanted(before[number], changes)
                work = partial(reverse, made.text, known, made.before, made.after, made.previous)
                if undone := tried(reasons, work):
                    assert load(undone.text) == before
                yield
        if gone := tried(reasons, partial(edit.remove, text, known)):
            assert only(text, gone) or len(ids) == 1
            assert load(gone.text) == others
            if back := tried(reasons, partial(edit.insert, gone.text, gone.before, gone.previous)):
                assert sorted(map(repr, load(back.text))) == sorted(map(repr, before))
            yield


@pytest.mark.timeout(240)
def test_each_automation(load: Callable[[str], list[Any]]) -> None:
    """Rename, change, add, remove and undo: nothing else changes, and Home Assistant loads what was meant, or it is refused."""
    assert len(STYLES) == 60
    reasons: Counter[str] = Counter()
    done = sum(1 for text in STYLES.values() for _ in changed(text, load, reasons))
    assert done == 1101
    assert dict(reasons) == REFUSED
