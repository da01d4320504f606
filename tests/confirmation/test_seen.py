"""When an entity itself tells that it is all that it was to be: what only may be so is not said to be done."""

from typing import Any

import pytest

from custom_components.extended_assist.calls.desired_states import Status, is_all_known, is_seen, status_of, wanted_of
from homeassistant.core import State

WARM = {"temperature": 21}
BLUE = {"rgb_color": [0, 0, 255]}
WHITE = {"color_mode": "brightness", "brightness": 90}


@pytest.mark.parametrize(
    ("action", "data", "state", "attributes", "seen"),
    [
        ("light.turn_on", {}, "on", {}, True),
        ("light.turn_on", {}, "off", {}, False),
        ("light.turn_on", {"brightness_pct": 50}, "on", {"brightness": 127}, True),
        ("light.turn_on", {"brightness_pct": 50}, "on", {"brightness": 255}, False),
        ("light.turn_on", {"brightness_pct": 50}, "on", {}, False),
        ("light.turn_on", {"brightness_pct": 0}, "off", {}, True),
        ("light.turn_on", BLUE, "on", {"color_mode": "hs", "hs_color": (240, 100), "rgb_color": (0, 0, 255)}, True),
        ("light.turn_on", BLUE, "on", WHITE, False),
        ("light.turn_on", BLUE, "on", {"color_mode": "color_temp", "rgb_color": (200, 200, 255)}, False),
        ("climate.set_temperature", WARM, "heat", WARM, True),
        ("climate.set_temperature", WARM, "heat", {**WARM, "hvac_action": "heating"}, False),
        ("climate.set_temperature", WARM, "off", WARM, False),
        ("climate.set_temperature", {**WARM, "hvac_mode": "heat"}, "heat", WARM, True),
        ("climate.turn_off", {}, "off", {}, True),
        ("cover.stop_cover", {}, "closing", {}, False),
        ("lock.lock", {}, "locked", {}, True),
        ("lock.lock", {}, "locking", {}, False),
        ("lock.lock", {}, "jammed", {}, False),
        ("lock.lock", {}, "unavailable", {}, False),
        ("lock.lock", {}, "locked", {"assumed_state": True}, False),
        ("script.turn_on", {}, "on", {}, False),
        ("media_player.play_media", {}, "playing", {}, False),
    ],
)
def test_seen(action: str, data: dict[str, Any], state: str, attributes: dict[str, Any], seen: bool) -> None:
    """By what the state says, never by what was wanted."""
    entity_id = f"{action.split('.', maxsplit=1)[0]}.one"
    before, now = State(entity_id, "unknown"), State(entity_id, state, attributes)
    wanted = wanted_of(action, data, before)
    assert is_seen(before, now, wanted) is seen
    assert not seen or status_of(before, now, wanted) is Status.REACHED
    assert not is_seen(before, None, wanted)


@pytest.mark.parametrize(
    ("action", "data", "known"),
    [
        ("light.turn_on", {"entity_id": "light.one"}, True),
        ("light.turn_on", {"area_id": ["hall"], "brightness_pct": 5, "effect": "rainbow"}, True),
        ("light.turn_on", {"brightness_step_pct": -20}, False),
        ("light.turn_on", {"color_name": "blue"}, False),
        ("light.turn_off", {"brightness_pct": 5}, False),
        ("light.turn_off", {"transition": 5}, False),
        ("water_heater.set_away_mode", {"away_mode": True}, False),
    ],
)
def test_all_known(action: str, data: dict[str, Any], known: bool) -> None:
    """What is asked for and cannot be looked for is not seen either."""
    assert is_all_known(action, data) is known
