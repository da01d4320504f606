"""What the meters of the energy dashboard counted over a span, and what follows from it."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from ..recorder.periods import HOUR, Span
from .energy_balance import Balance, Kind, balance
from .energy_dashboard import Dashboard, Meter

_NIGHT = 24 * HOUR
"""Seconds in which a solar meter may be silent: many are gone while it is dark."""
_FLOWS: tuple[Kind, ...] = ("solar", "grid_in", "grid_out", "battery_in", "battery_out", "home")


class Readings:
    """The changes of the dashboard's statistics over one span, in its units."""

    def __init__(
        self,
        dashboard: Dashboard,
        changes: Mapping[str, Mapping[float, float]],
        first: Mapping[str, float],
        last: Mapping[str, float],
        span: Span,
    ) -> None:
        """Take the changes of each statistic in each period that has data, when each began to be recorded, and until when.

        The span ends where nothing more can have been counted yet.
        """
        self._changes = changes
        self._first = first
        self._last = last
        self._start = -(-span[0].timestamp() // HOUR) * HOUR
        self._end = span[1].timestamp()
        flows = dashboard.of(*_FLOWS)
        self.without_grid = bool(flows) and not dashboard.hides_flows and not self._tells_consumption(dashboard)
        """Whether consumption and shares are unknown because what comes from the grid is, for all or a part of the span."""
        known = flows and not dashboard.hides_flows and not self.without_grid
        self.balance = self._balance(flows) if known and self.total(flows) is not None else None

    def total(self, meters: Iterable[Meter]) -> float | None:
        """Return the sum of meters; None when none of them has data."""
        totals = [sum(periods.values()) for meter in meters if (periods := self._changes.get(meter.statistic_id))]
        return sum(totals) if totals else None

    def device(self, meter: Meter, devices: list[Meter]) -> float | None:
        """Return a device's own use, without the visible devices that are part of it."""
        if (total := self.total([meter])) is None:
            return None
        parts = self.total(part for part in devices if part.part_of == meter.statistic_id) or 0.0
        return total - min(total, parts)

    def late(self, meter: Meter) -> float | None:
        """Return since when a meter is recorded, if that is only a part of the span."""
        first = self._first.get(meter.statistic_id)
        return first if first is not None and first > self._start and self.total([meter]) is not None else None

    def ended(self, meter: Meter) -> float | None:
        """Return until when a meter is recorded, if it has fallen silent in the span."""
        last = self._last.get(meter.statistic_id)
        silence = _NIGHT if meter.kind == "solar" else 0
        return last if last is not None and last < self._end - silence and self.total([meter]) is not None else None

    def _tells_consumption(self, dashboard: Dashboard) -> bool:
        """Return whether a meter of the home or of the grid was there whenever another source was."""
        if self.total(dashboard.of("home")) is not None:
            return True
        grid = [meter for meter in dashboard.of("grid_in") if self.total([meter]) is not None]
        others = [meter for meter in dashboard.of("solar", "battery_out") if self.total([meter]) is not None]
        return (
            bool(grid)
            and self._begin(grid) <= max(self._start, self._begin(others or grid))
            and self._stop(grid) >= min(self._end, self._stop(others or grid))
        )

    def _begin(self, meters: list[Meter]) -> float:
        """Return when the first of some meters began to be recorded."""
        return min(self._first[meter.statistic_id] for meter in meters)

    def _stop(self, meters: list[Meter]) -> float:
        """Return when the last of some meters ceased to be recorded."""
        return max(self._last[meter.statistic_id] for meter in meters)

    def _balance(self, flows: list[Meter]) -> Balance:
        """Return the balance as the dashboard reckons it, without the shares that need a meter that is not there."""
        kinds = self._by_kind(flows)
        if not kinds.get("grid_in"):
            return replace(balance({"home": kinds["home"]}), own_share=None, solar_share=None)
        found = balance(kinds)
        return found if kinds.get("grid_out") else replace(found, solar_share=None)

    def _by_kind(self, meters: list[Meter]) -> dict[Kind, dict[float, float]]:
        """Return the changes of each kind of source, added up by period."""
        added: dict[Kind, dict[float, float]] = {}
        for meter in meters:
            if meter.kind is not None:
                periods = added.setdefault(meter.kind, {})
                for period, change in self._changes.get(meter.statistic_id, {}).items():
                    periods[period] = periods.get(period, 0.0) + change
        return added
