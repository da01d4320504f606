"""Tests of what is said of scripts and scenes in words."""

from random import Random
from typing import Any

import pytest

from custom_components.extended_assist.automations.describe import DESCRIBERS, AutomationDescriber
from custom_components.extended_assist.exposure.entities import Exposure
from homeassistant.core import HomeAssistant
from tests.helpers.automating import MOTION, PORCH, StartHome, start_home

from .test_describe import DO, DONE, HIDDEN, LEVEL, _step, _with_one_change

__all__ = ["start_home"]

SCRIPTS: list[tuple[dict[str, Any], str]] = [
    ({"alias": "A", "sequence": [DO]}, f"When it is run, {DONE}"),
    ({"sequence": DO, "mode": "queued", "max": 3}, f"When it is run, {DONE}, mode queued, max 3"),
    ({"sequence": []}, "When it is run, nothing"),
    ({}, "When it is run, nothing"),
    (
        {"fields": {"level": {"required": True, "default": 5, "selector": {"number": {"max": 9}}}}, "sequence": [DO]},
        f"When it is run, given level (required yes, default 5, selector (number (max 9))), {DONE}",
    ),
    ({"fields": {"a": None, "b": {}}, "sequence": []}, "When it is run, given a nothing, b (), nothing"),
    ({"fields": ["x"], "sequence": []}, "When it is run, given x, nothing"),
    ({"fields": {"code": {"default": 1}}, "sequence": []}, "When it is run, given code (secret), nothing"),
    (
        {"variables": {"a": 1}, "icon": "mdi:lamp", "sequence": [], "max_exceeded": "silent"},
        "When it is run, nothing, variables (a 1), icon mdi:lamp, max exceeded silent",
    ),
    ({"sequence": [DO | {"target": {"entity_id": HIDDEN}}]}, "When it is run, something not exposed"),
    ({"fields": {"x": {"default": HIDDEN}}, "sequence": []}, "When it is run, given something not exposed, nothing"),
    ({"use_blueprint": {"path": "a.yaml", "input": {"b": PORCH}}}, "When it is run, nothing, use blueprint (path a.yaml, input (b Porch light))"),
]  # fmt: skip
SCENES: list[tuple[dict[str, Any], str]] = [
    ({"name": "A", "entities": {PORCH: "on"}}, "When it is turned on: Porch light on"),
    ({"name": "A", "entities": {PORCH: True, MOTION: False}}, "When it is turned on: Porch light on; Motion off"),
    (
        {"entities": {PORCH: {"state": "on", "brightness": 3, "rgb_color": [1, 2, 3]}}, "icon": "mdi:a"},
        "When it is turned on: Porch light on (brightness 3, rgb color 1, 2 and 3), icon mdi:a",
    ),
    ({"entities": {PORCH: {"state": "on", "code": 5}}}, "When it is turned on: Porch light on (code (secret))"),
    (
        {"entities": {HIDDEN: {"state": "cosy"}, PORCH: "on", "light.gone": "on"}},
        "When it is turned on: something not exposed; Porch light on",
    ),
    ({"entities": {PORCH: f"see {HIDDEN}"}}, "When it is turned on: something not exposed"),
    ({"entities": {PORCH: None}}, "When it is turned on: Porch light nothing"),
    ({"entities": []}, "When it is turned on: nothing"),
    ({}, "When it is turned on: nothing"),
]


@pytest.mark.parametrize(
    ("kind", "config", "words"),
    [*(("script", *case) for case in SCRIPTS), *(("scene", *case) for case in SCENES)],
)
async def test_words(hass: HomeAssistant, start_home: StartHome, kind: str, config: dict[str, Any], words: str) -> None:
    """Each part is said in words, with names, and without what is hidden."""
    await start_home()
    assert DESCRIBERS[kind](hass, Exposure(hass, "conversation")).describe(config) == words


def _script(random: Random) -> dict[str, Any]:
    """Return a script of random parts."""
    fields = {
        "level": {"name": "Level", "description": "how much", "required": True, "default": 5, "example": "7"},
        "lamp": {"selector": {"entity": {"domain": ["light"], "multiple": False}}, "advanced": False},
    }
    return {
        "alias": "A",
        "fields": dict(random.sample(sorted(fields.items()), k=random.randint(1, 2))),
        "sequence": [_step(random, 2) for _ in range(random.randint(1, 2))],
        "mode": random.choice(["single", "restart", "queued"]),
        "max": 4,
        "icon": "mdi:lamp",
        "variables": {"a": {"b": [1, {"c": 2.5}]}, "d": "{{ level }}"},
    }


def _scene(random: Random) -> dict[str, Any]:
    """Return a scene of random states."""
    values: dict[str, Any] = {
        "brightness": 5,
        "rgb_color": [1, 2, 3],
        "color_mode": "rgb",
        "effect": "x",
        "temperature": 2.5,
        "oscillating": True,
        "source": "TV",
        "current_position": 0,
    }
    chosen = dict(random.sample(sorted(values.items()), k=random.randint(0, 5)))
    states: list[Any] = ["on", {"state": "off"}, {"state": "on", **chosen}]
    entities = {entity_id: random.choice(states) for entity_id in (PORCH, MOTION, LEVEL)}
    return {"name": "A", "icon": "mdi:lamp", "entities": entities}


@pytest.mark.parametrize(("kind", "make"), [("script", _script), ("scene", _scene)])
async def test_whole(hass: HomeAssistant, start_home: StartHome, kind: str, make: Any) -> None:
    """Whatever value of 60 scripts and of 60 scenes changes, the words change, but for names and descriptions."""
    await start_home()
    describer: AutomationDescriber = DESCRIBERS[kind](hass, Exposure(hass, "conversation"))
    leaves = 0
    for seed in range(60):
        config = make(Random(seed))
        words = describer.describe(config)
        assert "something not exposed" not in words
        changed = [(path, other) for path, other in _with_one_change(config) if path != "/name"]
        leaves += len(changed)
        assert [path for path, other in changed if describer.describe(other) == words] == [], seed
    assert leaves > 300
    assert describer.describe(config | {"description": "x", "metadata": {"y": 1}}) == words
