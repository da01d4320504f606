"""Read the long-term statistics of exposed entities, and the external ones that the user made visible."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, override

import voluptuous as vol

from homeassistant.components.recorder.models import StatisticMeanType, StatisticMetaData
from homeassistant.components.recorder.statistics import get_display_unit
from homeassistant.core import HomeAssistant
from homeassistant.helpers import config_validation as cv
from homeassistant.util import dt as dt_util
from homeassistant.util.json import JsonObjectType, JsonValueType

from ..exposure import Exposure
from ..recorder import async_read
from ..recorder.periods import PERIODS, SHORT, Period, Span, estimate_rows, matching_end, suggest_period
from ..recorder.statistics import (
    Gaps,
    Metadata,
    PeriodRow,
    Totals,
    TotalType,
    read_bounds,
    read_gaps,
    read_metadata,
    read_rows,
    read_totals,
    unit_converter,
)
from ..results import ToolError, fit_rows, format_minute, format_number, significant, to_csv
from ..spans import END, START, time_span
from ..toolbox.call import ToolCall
from ..toolbox.policy import Tier
from ..toolbox.tool import READ_ONLY, ExtendedTool

_MAX_STATISTICS = 10
_MAX_ROWS = 400
"""Rows of one statistic: more than a model can use, few enough to be computed at once."""
_NOTES = 450
"""Characters that the account of one statistic takes beside its rows."""
_TYPES = ("change", "mean", "min", "max", "state")
_COMPILED_AFTER = timedelta(minutes=1)
"""How long after the hour the recorder has surely written its row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Statistic:
    """A statistic that the assistant may see, with what it is asked for."""

    statistic_id: str
    name: str
    metadata: Metadata
    types: tuple[str, ...]
    unit: str | None
    convert: Callable[[float], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Account:
    """What the recorder holds of one statistic."""

    totals: Totals
    compared: Totals | None
    rows: list[PeriodRow]
    gaps: Gaps
    compared_gaps: Gaps | None


class GetStatisticsTool(ExtendedTool):
    """Answer with sums, means and extremes over long spans, by period and against another span."""

    name = "extended_assist__get_statistics"
    title = "Get statistics"
    description = (
        "Totals of sensors over any span, however long ago: change of meters; mean, min and max of measurements; by period "
        "as CSV, and compared with another span."
    )
    annotations = READ_ONLY
    family = "history"
    tier = Tier.READ
    parameters = vol.Schema(
        {
            vol.Required("statistics", description="Entity ids, names, external statistic ids."): vol.All(
                cv.ensure_list, [cv.string], vol.Length(min=1, max=_MAX_STATISTICS)
            ),
            vol.Optional("start", description=START): cv.string,
            vol.Optional("end", description=END): cv.string,
            vol.Optional("hours", description="Back from end, instead of start (default: 24)."): vol.All(
                vol.Coerce(float), vol.Range(min=0, min_included=False)
            ),
            vol.Optional("period", description="Of rows; default: by the span, none when comparing."): vol.In(PERIODS),
            vol.Optional("types", description="Default: all but state, a meter's reading."): vol.All(
                cv.ensure_list, [vol.In(_TYPES)]
            ),
            vol.Optional("unit", description="Unit to convert to."): cv.string,
            vol.Optional("compare_start", description="Start of a span to compare with, alike."): cv.string,
            vol.Optional("compare_end", description="Its end; default: as long."): cv.string,
        }
    )

    @override
    async def async_run(self, call: ToolCall) -> JsonObjectType:
        """Find the statistics, then compute each in the recorder's executor."""
        arguments, hass = call.arguments, call.hass
        now = dt_util.utcnow()
        span = time_span(arguments, now)
        compared = compared_span(arguments, span, now)
        statistics = await _async_find(call)
        period, note = await _async_period(hass, arguments, statistics, span)
        data: JsonObjectType = {"start": format_minute(span[0]), "end": format_minute(span[1])}
        if compared:
            data["compared_with"] = {"start": format_minute(compared[0]), "end": format_minute(compared[1])}
        with_rows = not compared or "period" in arguments
        if with_rows:
            data["period"] = period
        if note:
            data["note"] = note
        accounts = await async_read(hass, _read, statistics, span, compared, period)
        if not any(account.totals.values or account.rows for account in accounts):
            raise ToolError(await _async_no_data(hass, statistics[0], span))
        budget = (call.budget - 200) // len(statistics) - _NOTES
        data["statistics"] = {
            statistic.statistic_id: _describe(statistic, account, period, budget if with_rows else None)
            for statistic, account in zip(statistics, accounts, strict=True)
        }
        return data


def compared_span(arguments: dict[str, Any], span: Span, now: datetime) -> Span | None:
    """Return the span to compare with, as long as span unless its end is given; None when none is asked for."""
    if "compare_start" not in arguments:
        if "compare_end" in arguments:
            raise ToolError("compare_end needs compare_start.")
        return None
    named = {"start": arguments["compare_start"]}
    try:
        if "compare_end" in arguments:
            return time_span({**named, "end": arguments["compare_end"]}, now)
        start, _ = time_span(named, now)
    except ToolError as err:
        raise ToolError(f"The span to compare with is wrong. {err}") from err
    return start, min(matching_end(span, start), now)


async def _async_find(call: ToolCall) -> list[_Statistic]:
    """Return the statistics that the arguments name; raises ToolError when one is not visible or has none."""
    exposure, arguments = call.exposure, call.arguments
    texts: list[str] = arguments["statistics"]
    entities = {text: [entity.entity_id for entity in exposure.search(text)] for text in texts}
    wanted = {entity_id for ids in entities.values() for entity_id in ids} | exposure.external_statistics
    metadata = await async_read(call.hass, read_metadata, wanted)
    found: dict[str, None] = {}
    for text in texts:
        external = [
            statistic_id
            for statistic_id in sorted(exposure.external_statistics & metadata.keys())
            if text.strip().casefold() in (statistic_id, str(metadata[statistic_id][1]["name"]).casefold())
        ]
        if not external and not entities[text]:
            exposure.resolve(text)  # Raises, with what to do instead.
        ids = [*external, *(entity_id for entity_id in entities[text] if entity_id in metadata)]
        if not ids:
            raise ToolError(
                f"'{text}' has no statistics: Home Assistant keeps them only for numeric sensors with a state class. "
                "Use extended_assist__get_history."
            )
        found |= dict.fromkeys(ids)
    if len(found) > _MAX_STATISTICS:
        raise ToolError(f"These names mean {len(found)} statistics; name at most {_MAX_STATISTICS}, by entity id.")
    return [_statistic(call, exposure, statistic_id, metadata[statistic_id]) for statistic_id in found]


def _statistic(call: ToolCall, exposure: Exposure, statistic_id: str, metadata: Metadata) -> _Statistic:
    """Settle name, unit and types of a statistic."""
    meta = metadata[1]
    entity = exposure.entity(statistic_id)
    has = (("change", "state") if meta["has_sum"] else ()) + (
        () if meta["mean_type"] is StatisticMeanType.NONE else ("mean", "min", "max")
    )
    types = tuple(name for name in call.arguments.get("types", _TYPES[:-1]) if name in has)
    if not types:
        raise ToolError(f"{statistic_id} has none of these types; it has {', '.join(has)}.")
    unit = _unit(call.hass, statistic_id, meta, call.arguments.get("unit"))
    converter, own = unit_converter(meta), meta["unit_of_measurement"]
    return _Statistic(
        statistic_id=statistic_id,
        name=entity.name if entity else meta["name"] or statistic_id,
        metadata=metadata,
        types=types,
        unit=unit,
        convert=converter.converter_factory(own, unit) if converter and unit != own else float,
    )


def _unit(hass: HomeAssistant, statistic_id: str, meta: StatisticMetaData, wanted: str | None) -> str | None:
    """Return the unit that is wanted, or the one in which the user sees the statistic."""
    own = meta["unit_of_measurement"]
    if wanted is None:
        return get_display_unit(hass, statistic_id, meta["unit_class"], own)
    converter = unit_converter(meta)
    units = {str(unit) for unit in (converter.VALID_UNITS if converter else {own}) if unit}
    if wanted in units:
        return wanted
    alike = [unit for unit in units if unit.casefold().lstrip("°") == wanted.casefold().lstrip("°")]
    if len(alike) != 1:
        known = f"; use one of {', '.join(sorted(units))}" if len(units) > 1 else " or converted"
        raise ToolError(f"{statistic_id} is in {own or 'no unit'} and cannot be given in '{wanted}'{known}.")
    return alike[0]


async def _async_period(
    hass: HomeAssistant, arguments: dict[str, Any], statistics: list[_Statistic], span: Span
) -> tuple[Period, str | None]:
    """Return the period of the rows and what has to be said of it; raises ToolError when it makes too many rows."""
    period: Period = arguments.get("period") or suggest_period(*span)
    if (rows := estimate_rows(period, *span)) > _MAX_ROWS:
        raise ToolError(
            f"This span has {rows} periods of '{period}', more than {_MAX_ROWS}. Use "
            f"'{next(other for other in PERIODS if estimate_rows(other, *span) <= _MAX_ROWS)}' or a shorter span."
        )
    if period != "5minute":
        return period, None
    bounds = [await async_read(hass, read_bounds, statistic.metadata[0]) for statistic in statistics]
    starts = [short for _, _, short in bounds]
    if all(short is not None and short - SHORT < span[0].timestamp() for short in starts):
        return period, None
    if "period" not in arguments:
        return "hour", None
    oldest = max((short for short in starts if short is not None), default=None)
    kept = f"is kept only since {format_minute(oldest)}" if oldest and None not in starts else "does not exist"
    return "hour", f"'5minute' {kept} for these; the rows are hours."


def _read(
    hass: HomeAssistant, statistics: list[_Statistic], span: Span, compared: Span | None, period: Period
) -> list[_Account]:
    """Compute everything in the recorder's executor."""
    compiled = (span[0], min(span[1], dt_util.utcnow() - _COMPILED_AFTER))
    return [
        _Account(
            totals=read_totals(hass, statistic.metadata, span, _total_types(statistic)),
            compared=read_totals(hass, statistic.metadata, compared, _total_types(statistic)) if compared else None,
            rows=read_rows(hass, statistic.metadata, period, span),
            gaps=read_gaps(hass, statistic.metadata[0], period, compiled),
            compared_gaps=read_gaps(hass, statistic.metadata[0], "hour", compared) if compared else None,
        )
        for statistic in statistics
    ]


def _total_types(statistic: _Statistic) -> list[TotalType]:
    """Return the types that have a total; a meter's reading has none."""
    names: tuple[TotalType, ...] = ("change", "mean", "min", "max")
    return [name for name in names if name in statistic.types] or ["change"]


async def _async_no_data(hass: HomeAssistant, statistic: _Statistic, span: Span) -> str:
    """Say that a span is empty, and where there is data instead."""
    first, last, _ = await async_read(hass, read_bounds, statistic.metadata[0])
    known = (
        "it has none at all yet"
        if first is None or last is None
        else f"it has them from {format_minute(first)} to {format_minute(last)}"
    )
    return f"{statistic.statistic_id} has no statistics from {format_minute(span[0])} to {format_minute(span[1])}; {known}."


def _describe(statistic: _Statistic, account: _Account, period: Period, budget: int | None) -> JsonObjectType:
    """Say what a statistic amounts to; rows take at most about budget characters, or are left out without one."""
    data: JsonObjectType = {"name": statistic.name}
    if statistic.unit:
        data["unit"] = statistic.unit
    values = _converted(statistic, account.totals)
    for name, value in values.items():
        data[name] = significant(value)
        if at := account.totals.reached.get(name):
            data[f"{name}_at"] = format_minute(at[0]) + (" (5 minutes)" if at[1] == SHORT else " (hour)")
    notes = []
    if not values:
        notes.append("No data in this span.")
    if account.compared:
        compared = _compare(statistic, values, _converted(statistic, account.compared))
        if not compared:
            notes.append("No data in the span to compare with.")
        elif account.compared_gaps and account.compared_gaps.count:
            compared["gaps"] = _named(account.compared_gaps)
        data["compared"] = compared
    if values and account.gaps.count:
        data["gaps"] = _named(account.gaps)
    if budget is not None and account.rows:
        cells = [_cells(statistic, row) for row in account.rows]
        kept = fit_rows(reversed(cells), budget)
        data["rows"] = to_csv((period if period != "5minute" else "time", *statistic.types), reversed(kept))
        if left_out := len(cells) - len(kept):
            notes.append(f"{left_out} older rows are left out; take a coarser period or a shorter span.")
        notes += _disagreement(statistic, account, values)
    if notes:
        data["note"] = " ".join(notes)
    return data


def _named(gaps: Gaps) -> list[JsonValueType]:
    """Return the longest gaps as text, and how many more there are."""
    names: list[JsonValueType] = [f"{format_minute(start)} to {format_minute(end)}" for start, end in gaps.longest]
    return [*names, f"{more} shorter ones"] if (more := gaps.count - len(names)) else names


def _converted(statistic: _Statistic, totals: Totals) -> dict[str, float]:
    """Return totals in the unit that the user sees."""
    return {name: _convert(statistic, name, totals.values[name]) for name in statistic.types if name in totals.values}


def _convert(statistic: _Statistic, name: str, value: float) -> float:
    """Convert a value, or a change, which has no zero point."""
    return statistic.convert(value) - (statistic.convert(0.0) if name == "change" else 0.0)


def _compare(statistic: _Statistic, values: dict[str, float], others: dict[str, float]) -> JsonObjectType:
    """Return the values of the other span, with how much higher this one's are."""
    meta = statistic.metadata[1]
    compared: JsonObjectType = {}
    for name, other in others.items():
        account: JsonObjectType = {"value": significant(other)}
        if name in values:
            difference = values[name] - other
            if meta["mean_type"] is StatisticMeanType.CIRCULAR:
                difference = (difference + 180) % 360 - 180
            account["difference"] = significant(difference)
            # A share of degrees means nothing: their zero is arbitrary.
            if name in ("change", "mean") and other > 0 and "°" not in (statistic.unit or ""):
                account["percent"] = round(100 * difference / other, 1)
        compared[name] = account
    return compared


def _cells(statistic: _Statistic, row: PeriodRow) -> list[str]:
    """Return the row of a period."""
    values = (getattr(row, name) for name in statistic.types)
    return [
        _label(row.start),
        *(
            "" if value is None else format_number(_convert(statistic, name, value))
            for name, value in zip(statistic.types, values, strict=True)
        ),
    ]


def _label(start: float | date) -> str:
    """Return when a period begins."""
    return start.isoformat() if isinstance(start, date) else format_minute(start)


def _disagreement(statistic: _Statistic, account: _Account, values: dict[str, float]) -> list[str]:
    """Say why the rows do not add up to the total, where they don't."""
    if "change" not in statistic.types or "change" not in values:
        return []
    added = sum(_convert(statistic, "change", row.change) for row in account.rows if row.change is not None)
    if format_number(added) == format_number(values["change"]):
        return []
    why = (
        "the first holds what changed before it, while nothing was recorded"
        if added > values["change"]
        else "they hold full hours only, the total counts to five minutes"
    )
    return [f"The rows add up to {format_number(added)}: {why}."]
