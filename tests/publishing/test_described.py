"""What Home Assistant shows of actions, triggers, conditions and icons, by the rules that hassfest has for it."""

import ast
from collections.abc import Iterator
from string import Formatter
from typing import Any

import pytest

from homeassistant.helpers import config_validation as cv, selector

from .files import INTEGRATION, leaves, literals, nodes, read_json, read_yaml, strings

KINDS = ("service", "trigger", "condition")
ICONS: dict[str, dict[str, Any]] = read_json(INTEGRATION / "icons.json")["entity"]


def described(kind: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the actions, triggers or conditions by name."""
    yield from read_yaml(INTEGRATION / f"{kind}s.yaml").items()


def fields(kind: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the fields of all actions, triggers or conditions by their place."""
    for name, one in described(kind):
        yield from ((f"{kind} {name}: {key}", field) for key, field in (one or {}).get("fields", {}).items())


@pytest.mark.parametrize("kind", KINDS)
def test_choices_are_translated(kind: str) -> None:
    """What can be chosen in a field is what is translated under its key, no less and no more."""
    translated = strings()["selector"]
    wrong = {}
    for place, field in fields(kind):
        config = field["selector"].get("select") or {}
        if (key := config.get("translation_key")) is not None:
            options = {one["value"] if isinstance(one, dict) else one for one in config["options"]}
            if options != translated.get(key, {}).get("options", {}).keys():
                wrong[place] = options
    assert not wrong


@pytest.mark.parametrize("kind", KINDS)
def test_targets_and_values_fit(kind: str) -> None:
    """A target can be chosen as it is described, and what a field begins with can be entered in it."""
    for _, one in described(kind):
        if "target" in (one or {}):
            selector.TargetSelector.CONFIG_SCHEMA(one["target"] or {})
    for place, field in fields(kind):
        if "default" in field:
            # Home Assistant's own durations begin with a text as well.
            is_duration = "duration" in field["selector"]
            valid = cv.positive_time_period if is_duration else selector.selector(field["selector"])
            assert valid(field["default"]) is not None, place


def _icons(of: dict[str, Any], place: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what holds a default icon and those of states, by its place."""
    yield place, of
    for name, attribute in of.get("state_attributes", {}).items():
        yield f"{place}::state_attributes::{name}", attribute


def test_icons_differ() -> None:
    """There is an icon for any state, the icon of a state is another one, and the state is one that is translated."""
    texts = leaves(strings()["entity"])
    for platform, entities in ICONS.items():
        for key, entity in entities.items():
            for place, one in _icons(entity, f"{platform}::{key}"):
                assert "default" in one, place
                for state, icon in one.get("state", {}).items():
                    assert icon != one["default"], f"{place}: {state}"
                    assert f"{place}::state::{state}" in texts, f"{place}: {state}"


def test_placeholders_are_filled() -> None:
    """Whatever is to be filled into a text has its name in the code."""
    named = literals() | {keyword.arg for keyword in nodes(ast.keyword) if keyword.arg}
    # What the frontend fills in stands in its own sources.
    texts = {path: text for path, text in leaves(strings()).items() if not path.startswith("config_panel::")}
    unknown = {
        path: name for path, text in texts.items() for _, name, _, _ in Formatter().parse(text) if name not in named
    }
    assert not {path: name for path, name in unknown.items() if name is not None}
