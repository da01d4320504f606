"""Where energy went, by the rules of Home Assistant's energy dashboard.

The source of the rules is `computeConsumptionSingle`, `calculateSolarConsumedGauge` and the self-sufficiency gauge of
Home Assistant's frontend (`src/data/energy.ts`): what enters the home is shared out period by period, in a fixed order.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

type Kind = Literal["solar", "grid_in", "grid_out", "battery_in", "battery_out", "home", "gas", "water"]
type Changes = Mapping[float, float]
"""The change in each period that has data, by the period's first moment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flows:
    """Where the energy of one period came from and went, in kWh."""

    used: float
    solar_used: float
    solar_to_grid: float
    solar_to_battery: float
    battery_used: float
    battery_to_grid: float
    grid_to_battery: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """What the home used over a span."""

    consumption: float
    """In kWh."""
    own_share: float | None
    """Percent of the consumption that did not come from the grid; None without consumption."""
    solar_share: float | None
    """Percent of the solar energy that was used at home, at once or from the battery; None without solar energy."""


def share_out(*, grid_in: float, grid_out: float, solar: float, battery_in: float, battery_out: float) -> Flows:
    """Share out the energy of one period: batteries are charged and the grid is fed by the sun first."""
    grid_in, grid_out, solar = max(grid_in, 0.0), max(grid_out, 0.0), max(solar, 0.0)
    battery_in, battery_out = max(battery_in, 0.0), max(battery_out, 0.0)
    used = grid_in + solar + battery_out - grid_out - battery_in
    remaining = max(used, 0.0)

    # More from the grid than was used can only have gone into the battery.
    surplus = max(0.0, min(battery_in, grid_in - remaining))
    battery_in -= surplus
    grid_in -= surplus

    solar_to_battery = min(solar, battery_in)
    battery_in -= solar_to_battery
    solar -= solar_to_battery
    solar_to_grid = min(solar, grid_out)
    grid_out -= solar_to_grid
    solar -= solar_to_grid
    battery_to_grid = min(battery_out, grid_out)
    battery_out -= battery_to_grid
    grid_to_battery = surplus + min(grid_in, battery_in)

    solar_used = min(remaining, solar)
    remaining -= solar_used
    return Flows(
        used=used,
        solar_used=solar_used,
        solar_to_grid=solar_to_grid,
        solar_to_battery=solar_to_battery,
        battery_used=min(battery_out, remaining),
        battery_to_grid=battery_to_grid,
        grid_to_battery=grid_to_battery,
    )


def balance(changes: Mapping[Kind, Changes]) -> Balance:
    """Return the balance of a span from the changes of each kind of source, added up over its sources."""
    home = changes.get("home", {})
    kinds: tuple[Kind, ...] = ("grid_in", "grid_out", "solar", "battery_in", "battery_out")
    periods = sorted({period for kind in (*kinds, "home") for period in changes.get(kind, {})})
    flows = []
    consumption = 0.0
    for period in periods:
        grid_in, grid_out, solar, battery_in, battery_out = (changes.get(kind, {}).get(period, 0.0) for kind in kinds)
        flow = share_out(
            grid_in=grid_in, grid_out=grid_out, solar=solar, battery_in=battery_in, battery_out=battery_out
        )
        flows.append(flow)
        # A meter of the whole home, where there is one, knows better than the sum of the sources.
        consumption += max(home[period], 0.0) if period in home else flow.used
    from_grid = sum(changes.get("grid_in", {}).values())
    produced = sum(changes.get("solar", {}).values())
    return Balance(
        consumption=consumption,
        own_share=100 * (1 - min(1.0, from_grid / consumption)) if consumption > 0 else None,
        solar_share=_solar_share(flows, produced, with_battery="battery_in" in changes) if produced else None,
    )


def _solar_share(flows: list[Flows], produced: float, *, with_battery: bool) -> float | None:
    """Return the share of solar energy used at home, following it through the battery, last in first out.

    What leaves the battery beyond what entered it in the span is left out: its source is unknown.
    """
    if not with_battery:
        return 100 * sum(flow.solar_used for flow in flows) / produced
    used = returned = 0.0
    stored: list[tuple[bool, float]] = []
    for flow in flows:
        used += flow.solar_used
        returned += flow.solar_to_grid
        stored += [(False, flow.grid_to_battery)] if flow.grid_to_battery else []
        stored += [(True, flow.solar_to_battery)] if flow.solar_to_battery else []
        used += _drain(stored, flow.battery_used)
        returned += _drain(stored, flow.battery_to_grid)
    return 100 * used / (used + returned) if used + returned else None


def _drain(stored: list[tuple[bool, float]], amount: float) -> float:
    """Take an amount from the top of what is stored and return how much of it was solar."""
    solar = 0.0
    while amount > 0 and stored:
        from_sun, energy = stored.pop()
        taken = min(amount, energy)
        if taken < energy:
            stored.append((from_sun, energy - taken))
        solar += taken if from_sun else 0.0
        amount -= taken
    return solar
