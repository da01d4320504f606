"""Tests of finding the names of hidden entities in texts."""

from time import process_time

import pytest

from custom_components.extended_assist.exposure.entities import Exposure
from homeassistant.core import HomeAssistant
from tests.conftest import expose

NAMES = ("Zebra mode", "Anna's lamp", "Bad/WC", "Fan (old)", "Dr. Who", "Wi-Fi", "Zebra", "Ünlü")


@pytest.mark.parametrize(
    ("text", "is_hidden"),
    [
        ("Turn on Zebra mode.", True),
        ("zebra_mode failed", True),
        ("Error: 'Anna's lamp' is gone", True),
        ("(Bad/WC)", True),
        ("the fan old one", True),
        ("ask Dr. Who!", True),
        ("no wi-fi, no home", True),
        ("ünlü", True),
        ("input_boolean.hidden_0 is on", True),
        ("zebras modes", False),
        ("Lamp of Anna", False),
        ("Who", False),
        ("Fan, old", True),
        ("", False),
        ("...", False),
        ("Lamp.", False),
    ],
)
async def test_names(hass: HomeAssistant, assist: None, text: str, is_hidden: bool) -> None:
    """Whatever marks a name holds or stands between, it is found, as whole words only."""
    for number, name in enumerate(NAMES):
        hass.states.async_set(f"input_boolean.hidden_{number}", "on", {"friendly_name": name})
    hass.states.async_set("light.lamp", "on", {"friendly_name": "Lamp"})
    hass.states.async_set("light.other", "on", {"friendly_name": "Lamp"})
    expose(hass, "light.lamp")
    assert Exposure(hass, "conversation").names_hidden(text) is is_hidden


async def test_many(hass: HomeAssistant, assist: None) -> None:
    """How many entities are hidden hardly matters for how long it takes to look at a text."""
    for number in range(3_000):
        hass.states.async_set(f"sensor.hidden_{number}", "1", {"friendly_name": f"Thing {number} that is hidden"})
    exposure = Exposure(hass, "conversation")
    assert exposure.names_hidden("thing 2999 that is hidden")
    text = "When Motion turns on for 5 minutes, if Level is below 20, turn on Porch light. " * 5
    started = process_time()
    for _ in range(300):
        assert not exposure.names_hidden(text)
    assert process_time() - started < 0.1
