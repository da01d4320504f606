"""Tests of what states count as, and what sets them."""

import pytest

from custom_components.extended_assist.habits.kinds import action, is_leading, meant, raw_states, states_of, words
from homeassistant.core import State


@pytest.mark.parametrize(
    ("domain", "state", "counts"),
    [
        ("climate", "heat", "heat"),
        ("climate", "unavailable", None),
        ("cover", "opening", "open"),
        ("light", "unknown", None),
        ("media_player", "paused", "on"),
        ("switch", None, None),
    ],
)
def test_meant(domain: str, state: str | None, counts: str | None) -> None:
    """What is on its way counts as there, and what nobody set says nothing."""
    assert meant(domain, state) == counts


def test_states() -> None:
    """A heating has modes, everything else two states; a trigger names all that count as one."""
    assert states_of("climate.hall") >= {"off", "heat"}
    assert states_of("cover.hall") == {"open", "closed"}
    assert set(raw_states("media_player", "off")) == {"off", "standby"}
    assert raw_states("light", "on") == "on"


@pytest.mark.parametrize(
    ("entity_id", "state", "name", "said"),
    [
        ("climate.hall", "heat", "climate.set_hvac_mode", "set Hall to heat"),
        ("cover.hall", "open", "cover.open_cover", "opened Hall"),
        ("cover.hall", "closed", "cover.close_cover", "closed Hall"),
        ("light.hall", "off", "light.turn_off", "turned off Hall"),
    ],
)
def test_action(entity_id: str, state: str, name: str, said: str) -> None:
    """Each state has the action that sets it, and words."""
    step = action(entity_id, state)
    assert (step["action"], step["target"]) == (name, {"entity_id": entity_id})
    assert step.get("data", {}) == ({"hvac_mode": state} if entity_id.startswith("climate") else {})
    assert words("Hall", entity_id.partition(".")[0], state) == said


def test_leading() -> None:
    """What tells of people is left out unless asked for, what tells of devices always."""
    assert words("Door", "binary_sensor", "on") == "Door became on"
    motion, battery = (State("binary_sensor.one", "on", {"device_class": kind}) for kind in ("motion", "battery"))
    assert not is_leading(motion, presence=False)
    assert is_leading(motion, presence=True)
    assert not is_leading(battery, presence=True)
    assert not is_leading(State("climate.hall", "heat"), presence=True)
