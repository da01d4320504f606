"""What the energy dashboard lacks, and which exposed meters look as if they were it."""

import re
from typing import Final

from homeassistant.core import State

from ..exposure.entities import Exposure
from ..exposure.name_index import name_of
from .energy_balance import Kind
from .energy_dashboard import Dashboard

_MAX_SIMILAR = 3
_COUNTING = ("total", "total_increasing")
_WHOLE = 3
"""Letters up to which a word has to be there as it is; of longer ones the beginning is enough."""
_WORDS: Final = {
    "export to the grid": "export return feed einspeisung teruglevering injection vertido immissione",
    "grid": "grid mains import utility netz bezug afname réseau soutirage red rete prelievo sieć",
    "solar": "solar pv photovolta inverter zonne fotovolta fotowolta",
    "battery": "battery batterie batterij batería batteria bateria akku akumulator powerwall",
}
"""What a meter of energy may measure, by words of several languages in its name; the first that fits counts."""
_BILLED: Final[dict[Kind, str]] = {"grid_in": "cost of grid", "gas": "cost of gas", "water": "cost of water"}


def missing(dashboard: Dashboard, exposure: Exposure) -> str | None:
    """Return the missing parts of the dashboard, with exposed meters that could be them; None where it has everything."""
    if not (parts := _lacking(dashboard)):
        return None
    used = {meter.statistic_id for meter in dashboard.meters}
    similar: dict[str, list[str]] = {part: [] for part in parts}
    for state in exposure.states("sensor"):
        part = _part(state)
        if part in similar and state.entity_id not in used and len(similar[part]) < _MAX_SIMILAR:
            similar[part].append(name_of(state))
    named = [f"{part} (similar: {', '.join(names)})" if names else part for part, names in similar.items()]
    # What is hidden must look like what does not exist.
    return f"Not in the energy dashboard{' or not exposed' if dashboard.hidden else ''}: {', '.join(named)}."


def _lacking(dashboard: Dashboard) -> list[str]:
    """Return the parts that a dashboard can have and this one has not."""
    own = dashboard.of("solar", "battery_out")
    kinds: tuple[tuple[str, bool], ...] = (
        ("grid", not dashboard.of("grid_in")),
        ("export to the grid", bool(own) and not dashboard.of("grid_out")),
        ("solar", not dashboard.of("solar")),
        ("battery", not dashboard.of("battery_out")),
        ("gas", not dashboard.of("gas")),
        ("water", not dashboard.of("water")),
    )
    parts = [part for part, lacks in kinds if lacks]
    costed = {meter.kind for meter in dashboard.costs}
    costs = [part for kind, part in _BILLED.items() if dashboard.of(kind) and kind not in costed]
    parts += costs if costed else ["cost"]
    return parts if dashboard.devices else [*parts, "single devices"]


def _part(state: State) -> str | None:
    """Return which part of a dashboard a sensor could be, by what it measures and by its name."""
    attributes = state.attributes
    if attributes.get("state_class") not in _COUNTING:
        return None
    measured = str(attributes.get("device_class"))
    if measured != "energy":
        return {"monetary": "cost"}.get(measured, measured)
    words = re.split(r"[\W_]+", f"{state.entity_id} {state.name}".casefold())
    return next((part for part, known in _WORDS.items() if any(_occurs(word, words) for word in known.split())), None)


def _occurs(word: str, words: list[str]) -> bool:
    """Return whether a word, or one that begins with it if it is long enough, is among others."""
    return word in words if len(word) <= _WHOLE else any(other.startswith(word) for other in words)
