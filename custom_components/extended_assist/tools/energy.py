"""Read the numbers of the energy dashboard, as far as they are exposed."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import override

import voluptuous as vol

from homeassistant.const import PERCENTAGE, UnitOfEnergy
from homeassistant.core import HomeAssistant
from homeassistant.helpers import config_validation as cv
from homeassistant.util import dt as dt_util
from homeassistant.util.json import JsonObjectType

from ..exposure import Exposure
from ..recorder import async_read
from ..recorder.periods import Period, Span, floor_hour, span_before
from ..recorder.statistics import Metadata, read_changes, read_metadata
from ..results import ToolError, fit_rows, format_minute, format_number, to_csv
from ..spans import END, START, time_span
from ..toolbox.call import ToolCall
from ..toolbox.policy import Tier
from ..toolbox.tool import READ_ONLY, ExtendedTool
from .energy_balance import Balance, Kind, balance
from .energy_dashboard import (
    Dashboard,
    Meter,
    async_preferences,
    converter,
    dashboard_period,
    default_span,
    gas_unit,
    visible_dashboard,
    water_unit,
)
from .statistics import compared_span

_MAX_DEVICES = 10
_COMPILED_AFTER = timedelta(minutes=1)
"""How long after the hour the recorder has surely written its row."""
_KWH = UnitOfEnergy.KILO_WATT_HOUR
_FLOWS: tuple[Kind, ...] = ("solar", "grid_in", "grid_out", "battery_in", "battery_out", "home")
_LABELS: dict[Kind, str] = {
    "solar": "solar production",
    "grid_in": "from grid",
    "grid_out": "to grid",
    "battery_in": "battery charged",
    "battery_out": "battery discharged",
    "home": "home meter",
    "gas": "gas",
    "water": "water",
}
_COSTS: dict[Kind, str] = {
    "grid_in": "cost of grid",
    "grid_out": "compensation of grid",
    "gas": "cost of gas",
    "water": "cost of water",
}


class _Readings:
    """The changes of the dashboard's statistics over one span, in its units."""

    def __init__(self, dashboard: Dashboard, changes: Mapping[str, Mapping[float, float]]) -> None:
        """Take the changes of each statistic in each period that has data."""
        self._changes = changes
        self.balance: Balance | None = None
        flows = dashboard.of(*_FLOWS)
        if flows and not dashboard.hides_flows and any(changes.get(meter.statistic_id) for meter in flows):
            self.balance = balance(self._by_kind(flows))

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

    def _by_kind(self, meters: list[Meter]) -> dict[Kind, dict[float, float]]:
        """Return the changes of each kind of source, added up by period."""
        added: dict[Kind, dict[float, float]] = {}
        for meter in meters:
            if meter.kind is not None:
                periods = added.setdefault(meter.kind, {})
                for period, change in self._changes.get(meter.statistic_id, {}).items():
                    periods[period] = periods.get(period, 0.0) + change
        return added


@dataclass(frozen=True, slots=True, kw_only=True)
class _Report:
    """All that an answer is made of."""

    dashboard: Dashboard
    now: _Readings
    before: _Readings
    gas_unit: str
    water_unit: str
    currency: str
    name: Callable[[Meter], str]

    def unit(self, kind: Kind) -> str:
        """Return the unit of a kind of source."""
        return {"gas": self.gas_unit, "water": self.water_unit}.get(kind, _KWH)


class GetEnergyTool(ExtendedTool):
    """Answer with the numbers of the energy dashboard."""

    name = "extended_assist__get_energy"
    title = "Get energy"
    description = (
        "The energy dashboard for a span, beside the span before: solar, grid, battery, gas, water, cost, share of own "
        "production, largest consumers."
    )
    annotations = READ_ONLY
    family = "energy"
    tier = Tier.READ
    parameters = vol.Schema(
        {
            vol.Optional("start", description=f"{START} Default: today."): cv.string,
            vol.Optional("end", description=END): cv.string,
            vol.Optional("compare_start", description="Compare with the span from here instead."): cv.string,
        }
    )

    @classmethod
    @override
    async def async_available(cls, hass: HomeAssistant) -> bool:
        """Return whether an energy dashboard is configured."""
        return await async_preferences(hass) is not None

    @override
    async def async_run(self, call: ToolCall) -> JsonObjectType:
        """Reduce the dashboard to what is exposed and compute it in the recorder's executor."""
        hass, now = call.hass, dt_util.utcnow()
        if (preferences := await async_preferences(hass)) is None:
            raise ToolError(
                "No energy dashboard is configured in Home Assistant. For single meters use "
                "extended_assist__get_statistics."
            )
        asked = _span(call, now)
        span = (asked[0], min(asked[1], floor_hour(now - _COMPILED_AFTER)))
        if span[0] >= span[1]:
            raise ToolError("No full hour of this span has passed; energy is counted by full hours.")
        before = compared_span(call.arguments, span, now) or span_before(span)
        dashboard = visible_dashboard(hass, preferences, call.exposure)
        if not dashboard.meters:
            raise ToolError("An energy dashboard is configured, but nothing of it is exposed. Tell the user.")
        report = await _async_report(hass, dashboard, call.exposure, (span, before))
        data: JsonObjectType = {
            "start": format_minute(span[0]),
            "end": format_minute(span[1]),
            "before": {"start": format_minute(before[0]), "end": format_minute(before[1])},
        }
        notes = _notes(report)
        if span != asked or any(floor_hour(moment) != moment for moment in span):
            notes.append("Counted by full hours.")
        data |= _tables(report, call.budget - 500 - sum(map(len, notes)), notes)
        if notes:
            data["note"] = " ".join(notes)
        return data


def _span(call: ToolCall, now: datetime) -> Span:
    """Return the span that is asked for."""
    if "start" in call.arguments:
        return time_span({key: call.arguments[key] for key in ("start", "end") if key in call.arguments}, now)
    if "end" in call.arguments:
        raise ToolError("end needs start.")
    return default_span(now - _COMPILED_AFTER)


async def _async_report(
    hass: HomeAssistant, dashboard: Dashboard, exposure: Exposure, spans: tuple[Span, Span]
) -> _Report:
    """Read a span and the one before; raises ToolError when the first has no data."""
    ids = {meter.statistic_id for meter in dashboard.meters}
    metadata = await async_read(hass, read_metadata, ids)
    gas, water = gas_unit(hass, dashboard, metadata), water_unit(hass, dashboard, metadata)
    of_water = {meter.statistic_id for meter in (*dashboard.of("water"), *dashboard.water_devices)}
    convert = {
        name: converter(hass, meta, _KWH, water if name in of_water else gas) for name, (_, meta) in metadata.items()
    }
    period = dashboard_period(spans[0])
    found = await async_read(hass, _read, metadata, period, spans)
    now, before = (
        _Readings(
            dashboard,
            {name: {at: convert[name](change) for at, change in periods.items()} for name, periods in changes.items()},
        )
        for changes in found
    )
    if not any(found[0].values()):
        start, end = map(format_minute, spans[0])
        raise ToolError(f"The energy dashboard has no data from {start} to {end}.")

    def name(meter: Meter) -> str:
        entity = exposure.entity(meter.statistic_id)
        known = metadata[meter.statistic_id][1]["name"] if meter.statistic_id in metadata else None
        return meter.name or (entity.name if entity else known) or meter.statistic_id

    return _Report(
        dashboard=dashboard,
        now=now,
        before=before,
        gas_unit=gas,
        water_unit=water,
        currency=hass.config.currency,
        name=name,
    )


def _read(
    hass: HomeAssistant, metadata: dict[str, Metadata], period: Period, spans: tuple[Span, Span]
) -> list[dict[str, dict[float, float]]]:
    """Read the changes of all statistics in the recorder's executor."""
    ids = {metadata_id: statistic_id for statistic_id, (metadata_id, _) in metadata.items()}
    return [
        {ids[number]: changes for number, changes in read_changes(hass, list(ids), period, span).items()}
        for span in spans
    ]


def _notes(report: _Report) -> list[str]:
    """Say what is missing."""
    dashboard, notes = report.dashboard, []
    if dashboard.hidden:
        unknown = [
            text
            for text, hides in (("consumption and shares", dashboard.hides_flows), ("net cost", dashboard.hides_costs))
            if hides
        ]
        notes.append(
            f"{dashboard.hidden} statistics of the dashboard are not exposed and left out"
            + (f"; so {' and '.join(unknown)} cannot be told." if unknown else ".")
        )
    if empty := [report.name(meter) for meter in dashboard.meters if report.now.total([meter]) is None]:
        notes.append(f"No data in this span: {', '.join(dict.fromkeys(empty))}.")
    return notes


def _tables(report: _Report, budget: int, notes: list[str]) -> JsonObjectType:
    """Return totals, single sources and devices as CSV."""
    data: JsonObjectType = {"totals": to_csv(("what", "amount", "unit", "before", "change_percent"), _totals(report))}
    kinds = [kind for kind in _LABELS if len(report.dashboard.of(kind)) > 1]
    if kinds:
        rows = [
            [report.name(meter), _LABELS[kind], *_values(report.now.total([meter]), report.before.total([meter]))]
            for kind in kinds
            for meter in report.dashboard.of(kind)
        ]
        data["sources"] = to_csv(("source", "what", "amount", "before"), rows)
    if prices := {_LABELS[meter.kind]: meter.price for meter in report.dashboard.sources if meter.kind and meter.price}:
        data["prices"] = dict(prices)
    budget -= sum(len(str(value)) for value in data.values())
    for key, unit, devices in (
        ("devices", str(_KWH), report.dashboard.devices),
        ("water_devices", report.water_unit, report.dashboard.water_devices),
    ):
        if rows := _devices(report, devices, tracked=key == "devices"):
            kept = fit_rows(rows[:_MAX_DEVICES], budget)
            data[key] = to_csv(("device", unit, "before"), kept)
            budget -= len(str(data[key]))
            if left_out := len(rows) - len(kept):
                notes.append(f"{left_out} smaller consumers are left out.")
            if {meter.part_of for meter in devices} & {meter.statistic_id for meter in devices}:
                notes.append("A device is counted without those that are part of it, as in the dashboard.")
    return data


def _totals(report: _Report) -> Iterable[list[str]]:
    """Yield what each kind of source amounts to, then the home's balance and the costs."""
    now, before = report.now, report.before
    for kind, label in _LABELS.items():
        if meters := report.dashboard.of(kind):
            yield _row(label, report.unit(kind), now.total(meters), before.total(meters))
    if now.balance:
        then = before.balance
        yield _row("consumption", _KWH, now.balance.consumption, then.consumption if then else None)
        if report.dashboard.of("solar", "battery_out"):
            yield _row("share of own production", PERCENTAGE, now.balance.own_share, then.own_share if then else None)
        if report.dashboard.of("solar"):
            shares = (now.balance.solar_share, then.solar_share if then else None)
            yield _row("share of solar used at home", PERCENTAGE, *shares)
    net = [0.0, 0.0]
    for kind, label in _COSTS.items():
        if meters := [meter for meter in report.dashboard.costs if meter.kind == kind]:
            totals = now.total(meters), before.total(meters)
            yield _row(label, report.currency, *totals)
            sign = -1 if kind == "grid_out" else 1
            net = [sum_ + sign * (total or 0.0) for sum_, total in zip(net, totals, strict=True)]
    if len({meter.kind for meter in report.dashboard.costs}) > 1 and not report.dashboard.hides_costs:
        yield _row("net cost", report.currency, net[0], net[1])


def _devices(report: _Report, devices: list[Meter], *, tracked: bool) -> list[list[str]]:
    """Return the devices with data, largest first, and what no device accounts for where that is known."""
    found = [
        (report.name(meter), value, report.before.device(meter, devices))
        for meter in devices
        if (value := report.now.device(meter, devices)) is not None
    ]
    if found and tracked and report.now.balance and not report.dashboard.hides_devices:
        rest = report.now.balance.consumption - sum(value for _, value, _ in found)
        if rest > 0:
            found.append(("(no device)", rest, None))
    return [[name, *_values(value, then)] for name, value, then in sorted(found, key=lambda device: -device[1])]


def _row(label: str, unit: str, now: float | None, before: float | None) -> list[str]:
    """Return a line of the totals."""
    amount, then = _values(now, before)
    change = ""
    if now is not None and before is not None and before > 0 and unit != PERCENTAGE:
        change = format_number(round(100 * (now - before) / before, 1))
    return [label, amount, unit, then, change]


def _values(*values: float | None) -> list[str]:
    """Return numbers as text; what is not known is empty."""
    return ["" if value is None else format_number(value) for value in values]
