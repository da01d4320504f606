"""What is known of domains, each table once."""

from typing import Final

from homeassistant.const import Platform

HELPERS: Final = frozenset(
    {
        *("counter", "input_boolean", "input_button", "input_datetime", "input_number", "input_select", "input_text"),
        *("schedule", "timer"),
    }
)
"""Helpers that people make in the UI."""
WITH_ENTITIES: Final = frozenset(
    {*map(str, Platform), *HELPERS}
    | {"alert", "automation", "group", "person", "plant", "proximity", "script", "sun", "zone"}
)
"""Domains of entities, whether or not a home has any."""
ON_OFF: Final = frozenset(
    {"automation", "binary_sensor", "calendar", "fan", "group", "humidifier", "input_boolean", "light", "remote"}
    | {"schedule", "script", "siren", "switch", "update"}
)
"""Domains whose states are on and off; an entity that has another one all the same is found out."""
NUMBERS: Final = frozenset({"counter", "input_number", "number"})
"""Domains whose states are numbers."""
ONLY_RUN: Final = frozenset({"automation", "button", "event", "input_button", "scene", "script"})
"""Domains whose state says when something was run or pressed: nothing that could be brought back."""
