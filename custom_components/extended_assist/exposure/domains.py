"""Tables of domains."""

from typing import Final

from homeassistant.const import Platform

HELPERS: Final = frozenset(
    {
        *("counter", "input_boolean", "input_button", "input_datetime", "input_number", "input_select", "input_text"),
        *("schedule", "timer"),
    }
)
"""Helpers that users create in the UI."""
WITH_ENTITIES: Final = frozenset(
    {*map(str, Platform), *HELPERS}
    | {"alert", "automation", "group", "person", "plant", "proximity", "script", "sun", "zone"}
)
"""Domains with entities, whether or not this home has any."""
ON_OFF: Final = frozenset(
    {"automation", "binary_sensor", "calendar", "fan", "group", "humidifier", "input_boolean", "light", "remote"}
    | {"schedule", "script", "siren", "switch", "update"}
)
"""Domains whose states are on and off; other states of their entities are detected."""
NUMBERS: Final = frozenset({"counter", "input_number", "number"})
"""Domains whose states are numbers."""
ONLY_RUN: Final = frozenset({"automation", "button", "event", "input_button", "scene", "script"})
"""Domains whose state is the time of the last run or press, which cannot be restored."""
