"""Read the numbers of the energy dashboard, as far as they are exposed."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import override

import voluptuous as vol

from homeassistant.const import PERCENTAGE, UnitOfEnergy
from homeassistant.core import HomeAssistant
from homeassistant.helpers import config_validation as cv
from homeassistant.util import dt as dt_util
from homeassistant.util.json import JsonObjectType

from ..calls.call import ToolCall
from ..calls.policy import Tier
from ..exposure.entities import Exposure
from ..ha_compat.energy import async_preferences
from ..llm_tools.extended_tool import READ_ONLY, ExtendedTool
from ..recorder import async_read
from ..recorder.periods import END, START, Period, Span, floor_hour, span_before, time_span
from ..recorder.statistics import Metadata, read_changes, read_first_rows, read_last_ends, read_metadata
from ..results import ToolError, fit_rows, format_minute, number, to_csv
from .energy_balance import Kind
from .energy_dashboard import (
    Dashboard,
    Meter,
    converter,
    dashboard_period,
    default_span,
    gas_unit,
    visible_dashboard,
    water_unit,
)
from .energy_missing import missing
from .energy_readings import Readings
from .statistics import compared_span
from .statistics_answers import COMPILED_AFTER

_MAX_DEVICES = 10
_MAX_NAMES = 6
"""The most meters that are named for one reason."""
_KWH = UnitOfEnergy.KILO_WATT_HOUR
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Report:
    """The data of an answer."""

    dashboard: Dashboard
    now: Readings
    before: Readings
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
        """Reduce the dashboard to its exposed part and compute it in the recorder's executor."""
        hass, now = call.hass, dt_util.utcnow()
        if (preferences := await async_preferences(hass)) is None:
            raise ToolError(
                "No energy dashboard is configured in Home Assistant. For single meters use "
                "extended_assist__get_statistics."
            )
        asked = _span(call, now)
        span = (asked[0], min(asked[1], floor_hour(now - COMPILED_AFTER)))
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
        if lacks := missing(dashboard, call.exposure):
            data["missing"] = lacks
        notes = _notes(report)
        if span != asked or any(floor_hour(moment) != moment for moment in span):
            notes.append("Counted by full hours.")
        data |= _tables(report, call.budget - 500 - len(lacks or "") - sum(map(len, notes)), notes)
        if notes:
            data["note"] = " ".join(notes)
        return data


def _span(call: ToolCall, now: datetime) -> Span:
    """Return the span that is asked for."""
    if "start" in call.arguments:
        return time_span({key: call.arguments[key] for key in ("start", "end") if key in call.arguments}, now)
    if "end" in call.arguments:
        raise ToolError("end needs start.")
    return default_span(now - COMPILED_AFTER)


async def _async_report(
    hass: HomeAssistant, dashboard: Dashboard, exposure: Exposure, spans: tuple[Span, Span]
) -> _Report:
    """Read a span and the previous one; raises ToolError if the first has no data."""
    ids = {meter.statistic_id for meter in dashboard.meters}
    metadata = await async_read(hass, read_metadata, ids)
    gas, water = gas_unit(hass, dashboard, metadata), water_unit(hass, dashboard, metadata)
    of_water = {meter.statistic_id for meter in (*dashboard.of("water"), *dashboard.water_devices)}
    convert = {
        name: converter(hass, meta, _KWH, water if name in of_water else gas) for name, (_, meta) in metadata.items()
    }
    period = dashboard_period(spans[0])
    compiled = floor_hour(dt_util.utcnow() - COMPILED_AFTER)
    ends = [(start, min(end, compiled)) for start, end in spans]
    found, first, last = await async_read(hass, _read, metadata, period, spans)
    if not any(found[0].values()):
        start, end = map(format_minute, spans[0])
        known = f"Its data begin at {format_minute(min(first.values()))}" if first else "It has none at all yet"
        raise ToolError(f"The energy dashboard has no data from {start} to {end}. {known}.")
    now, before = (
        Readings(
            dashboard,
            {name: {at: convert[name](change) for at, change in periods.items()} for name, periods in changes.items()},
            first,
            ended,
            span,
        )
        for changes, ended, span in zip(found, last, ends, strict=True)
    )

    def name(meter: Meter) -> str:
        # Its integration names an external statistic, so its id is told instead.
        entity = exposure.entity(meter.statistic_id)
        return meter.name or (entity.name if entity else meter.statistic_id)

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
) -> tuple[list[dict[str, dict[float, float]]], dict[str, float], list[dict[str, float]]]:
    """Read in the recorder's executor the changes in each span, when each statistic began, and until when each span has it."""
    ids = {metadata_id: statistic_id for statistic_id, (metadata_id, _) in metadata.items()}
    changes = [
        {ids[metadata_id]: found for metadata_id, found in read_changes(hass, list(ids), period, span).items()}
        for span in spans
    ]
    first = {ids[metadata_id]: begin for metadata_id, begin in read_first_rows(hass, ids).items()}
    last = [{ids[metadata_id]: end for metadata_id, end in read_last_ends(hass, ids, span).items()} for span in spans]
    return changes, first, last


def _notes(report: _Report) -> list[str]:
    """Return notes about missing data."""
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
    now, before, meters = report.now, report.before, dashboard.meters
    if now.without_grid:
        notes.append(
            "What comes from the grid is not known for all of the span; so consumption and shares cannot be told."
        )
    if empty := [report.name(meter) for meter in meters if now.total([meter]) is None]:
        notes.append(f"No data in this span: {_names(empty)}.")
    for which, readings in (("this span", now), ("the span before", before)):
        if parts := [report.name(meter) + part for meter in meters if (part := _part(readings, meter))]:
            notes.append(f"Recorded for a part of {which} only: {_names(parts)}.")
    if before.total(meters) is None:
        notes.append("Nothing is recorded of the span before.")
    if now.balance and now.balance.consumption < 0:
        notes.append("The meters contradict each other: less than nothing was consumed.")
    return notes


def _part(readings: Readings, meter: Meter) -> str:
    """Return from when to when a meter has data in a span; empty if that is the whole span."""
    edges = (("since", readings.late(meter)), ("until", readings.ended(meter)))
    return "".join(f" {word} {format_minute(at)}" for word, at in edges if at)


def _names(names: list[str]) -> str:
    """Return names in a row, without repetitions, and how many more there are."""
    unique = list(dict.fromkeys(names))
    more = f" and {len(unique) - _MAX_NAMES} more" if len(unique) > _MAX_NAMES else ""
    return ", ".join(unique[:_MAX_NAMES]) + more


def _tables(report: _Report, budget: int, notes: list[str]) -> JsonObjectType:
    """Return totals, single sources and devices as CSV."""
    data: JsonObjectType = {"totals": to_csv(("what", "amount", "unit", "before", "change_percent"), _totals(report))}
    kinds = [kind for kind in _LABELS if len(report.dashboard.of(kind)) > 1]
    if kinds:
        rows = [
            [
                report.name(meter),
                _LABELS[kind],
                *_values(report.unit(kind), report.now.total([meter]), report.before.total([meter])),
            ]
            for kind in kinds
            for meter in report.dashboard.of(kind)
        ]
        data["sources"] = to_csv(("source", "what", "amount", "before"), rows)
    prices: JsonObjectType = {
        f"{_LABELS[meter.kind]}, {report.name(meter)}" if meter.kind in kinds else _LABELS[meter.kind]: meter.price
        for meter in report.dashboard.sources
        if meter.kind and meter.price
    }
    if prices:
        data["prices"] = prices
    budget -= sum(len(str(value)) for value in data.values())
    for key, unit, devices in (
        ("devices", str(_KWH), report.dashboard.devices),
        ("water_devices", report.water_unit, report.dashboard.water_devices),
    ):
        if rows := _devices(report, devices, unit, tracked=key == "devices"):
            kept = fit_rows(rows[:_MAX_DEVICES], budget)
            data[key] = to_csv(("device", unit, "before"), kept)
            budget -= len(str(data[key]))
            if left_out := len(rows) - len(kept):
                notes.append(f"{left_out} smaller consumers are left out.")
            if {meter.part_of for meter in devices} & {meter.statistic_id for meter in devices}:
                notes.append("A device is counted without those that are part of it, as in the dashboard.")
    return data


def _totals(report: _Report) -> Iterable[list[str]]:
    """Yield the totals of each kind of source, then the home's balance and the costs."""
    now, before = report.now, report.before
    for kind, label in _LABELS.items():
        if meters := report.dashboard.of(kind):
            yield _row(label, report.unit(kind), now.total(meters), before.total(meters))
    if now.balance:
        then = before.balance
        yield _row("consumption", _KWH, now.balance.consumption, then.consumption if then else None)
        if now.balance.own_share is not None and report.dashboard.of("solar", "battery_out"):
            yield _row("share of own production", PERCENTAGE, now.balance.own_share, then.own_share if then else None)
        if now.balance.solar_share is not None:
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


def _devices(report: _Report, devices: list[Meter], unit: str, *, tracked: bool) -> list[list[str]]:
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
    return [[name, *_values(unit, value, then)] for name, value, then in sorted(found, key=lambda device: -device[1])]


def _row(label: str, unit: str, now: float | None, before: float | None) -> list[str]:
    """Return a line of the totals."""
    amount, then = _values(unit, now, before)
    change = ""
    if now is not None and before is not None and before > 0 and unit != PERCENTAGE:
        (change,) = _values(PERCENTAGE, round(100 * (now - before) / before, 1))
    return [label, amount, unit, then, change]


def _values(unit: str, *values: float | None) -> list[str]:
    """Return numbers as text; unknown ones are empty."""
    return ["" if value is None else str(number(value, unit)) for value in values]
