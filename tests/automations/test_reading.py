"""Tests that nothing keeps the event loop waiting, however many automations there are."""

from collections.abc import Callable
from pathlib import Path
import sys
from time import thread_time
from types import FrameType
from typing import Any
from unittest.mock import patch

import pytest
import yaml

from custom_components.extended_assist.automations.config_includes import include_problem, other_places
from custom_components.extended_assist.automations.yaml_outline import compose
from custom_components.extended_assist.exposure import entities as exposure
from custom_components.extended_assist.tools.automations import GetAutomationsTool
from homeassistant.core import HomeAssistant
from homeassistant.util.yaml import dump
from tests.conftest import CallTool, expose
from tests.helpers.automating import FREE, StartHome, start_home, switching

__all__ = ["start_home"]

MANY = 300
LIMIT = 0.02
"""Seconds for which no other thread may be kept waiting."""


def longest_call(work: Callable[[], object]) -> float:
    """Return the processor time of the longest call into C, in which no other thread runs."""
    begun: list[float] = []
    longest = 0.0

    def measure(_: FrameType, event: str, __: Any) -> None:
        nonlocal longest
        if event == "c_call":
            begun.append(thread_time())
        elif event in {"c_return", "c_exception"} and begun:
            longest = max(longest, thread_time() - begun.pop())

    sys.setprofile(measure)
    try:
        work()
    finally:
        sys.setprofile(None)
    return longest


@pytest.mark.parametrize("find", [lambda folder: other_places(folder, {"1"}), include_problem])
def test_large_files_are_read_in_steps(tmp_path: Path, find: Callable[[Path], object]) -> None:
    """What is written in configuration.yaml itself, however long, keeps no other thread waiting."""
    automations = dump([{"id": str(number), **switching(f"Number {number}")} for number in range(4 * MANY)])
    lines = "".join(f"  {line}" for line in automations.splitlines(keepends=True))
    (tmp_path / "configuration.yaml").write_text(f"automation ui: !include automations.yaml\nautomation:\n{lines}")
    assert longest_call(lambda: find(tmp_path)) < LIMIT


@pytest.mark.parametrize("text", ["", "# nothing", "- &a {b: [1, !secret c]}\n- <<: *a\n  d: |\n    e\n"])
def test_the_same_nodes(text: str) -> None:
    """What is read in steps is what libyaml reads at once."""
    found, expected = compose(text), yaml.compose(text, Loader=yaml.CSafeLoader)
    assert (found is None) == (expected is None)
    assert found is None or yaml.serialize(found) == yaml.serialize(expected)


@pytest.mark.parametrize("text", ["a: 'b", "a: *b", f"{'[' * 5_000}{']' * 5_000}"])
def test_what_cannot_be_read(text: str) -> None:
    """Whatever is wrong with a text, it is one kind of error."""
    with pytest.raises(yaml.YAMLError):
        compose(text)


async def test_finding_one_asks_for_what_was_found(
    hass: HomeAssistant, start_home: StartHome, call_tool: CallTool
) -> None:
    """To find one by its name, the home is looked at once, and not again automation by automation."""
    await start_home(dump([{"id": str(number), **switching(f"Number {number}")} for number in range(MANY)]))
    expose(hass, *hass.states.async_entity_ids("automation"))
    everything = len(hass.states.async_all())
    with patch.object(exposure, "async_should_expose", wraps=exposure.async_should_expose) as asked:
        answer = await call_tool(GetAutomationsTool(FREE), name="Number 277", details=True)
    assert answer["entity_id"] == "automation.number_277"
    assert asked.call_count < everything + MANY // 2
