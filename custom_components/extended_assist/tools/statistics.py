"""Read the long-term statistics of exposed entities, and the external ones that the user made visible."""

from datetime import datetime
from difflib import get_close_matches
from typing import Any, override

import voluptuous as vol

from homeassistant.core import HomeAssistant
from homeassistant.helpers import config_validation as cv
from homeassistant.util import dt as dt_util
from homeassistant.util.json import JsonObjectType

from ..calls.call import ToolCall
from ..calls.policy import Tier
from ..exposure.entities import Exposure, NotExposedError, normalize
from ..exposure.fixed_values import is_fixed_unit
from ..ha_compat.recorder import StatisticMeanType, StatisticMetaData, get_display_unit
from ..llm_tools.extended_tool import READ_ONLY, ExtendedTool
from ..recorder import async_read
from ..recorder.periods import (
    END,
    PERIODS,
    SHORT,
    START,
    Period,
    Span,
    estimate_rows,
    matching_end,
    time_span,
)
from ..recorder.statistics import Metadata, read_bounds, read_metadata, read_rows, unit_converter
from ..recorder.statistics_totals import TotalType, read_gaps, read_totals
from ..results import ToolError, format_minute
from .charts import async_chart_statistics
from .statistics_answers import COMPILED_AFTER, Account, Statistic, describe

_MAX_STATISTICS = 10
_MAX_ROWS = 400
"""Rows of one statistic: more than a model can use, few enough to be computed at once."""
_NOTES = 650
"""Characters that the account of one statistic takes beside its rows."""
_TYPES = ("change", "mean", "min", "max", "state")
_SUGGESTIONS = 4
_LIKE = 0.5
"""How like a text a name has to be to be worth naming."""
_TELLING = 3
"""Letters from which a word of a name tells something."""


class GetStatisticsTool(ExtendedTool):
    """Answer with sums, means and extremes over long spans, by period and against another span."""

    name = "extended_assist__get_statistics"
    title = "Get statistics"
    description = (
        "Totals of sensors over any span, however long ago: change of meters; mean, min and max of measurements, with when; "
        "compared with another span; with period also rows, the highest and lowest."
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
            vol.Optional("hours", description="Back from end instead (default: 24)."): vol.All(
                vol.Coerce(float), vol.Range(min=0, min_included=False)
            ),
            vol.Optional("period", description="For rows by period."): vol.In(PERIODS),
            vol.Optional("types", description="Default: all but state, a meter's reading."): vol.All(
                cv.ensure_list, [vol.In(_TYPES)]
            ),
            vol.Optional("unit", description="To convert to."): cv.string,
            vol.Optional("compare_start", description="Of a span to compare with, alike."): cv.string,
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
        period, note = await _async_period(hass, arguments.get("period"), statistics, span)
        data: JsonObjectType = {"start": format_minute(span[0]), "end": format_minute(span[1])}
        if compared:
            data["compared_with"] = {"start": format_minute(compared[0]), "end": format_minute(compared[1])}
        if period:
            data["period"] = period
        if note:
            data["note"] = note
        accounts = await async_read(hass, _read, statistics, span, compared, period)
        if not any(account.totals.values or account.rows for account in accounts):
            raise ToolError(await _async_no_data(hass, statistics[0], span))
        budget = (call.budget - 200) // len(statistics) - _NOTES
        data["statistics"] = {
            statistic.statistic_id: describe(statistic, account, period, span, budget)
            for statistic, account in zip(statistics, accounts, strict=True)
        }
        return data | await async_chart_statistics(call, statistics, accounts, period, span)


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


async def _async_find(call: ToolCall) -> list[Statistic]:
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
            raise NotExposedError(f"'{text}' was not found or is not exposed. {await _async_similar(call, text)}")
        ids = [*external, *(entity_id for entity_id in entities[text] if entity_id in metadata)]
        if not ids:
            raise ToolError(
                f"'{text}' has no statistics: Home Assistant keeps them only for numeric sensors with a state class. "
                f"Use extended_assist__get_history. {await _async_similar(call, text)}"
            )
        found |= dict.fromkeys(ids)
    if len(found) > _MAX_STATISTICS:
        raise ToolError(f"These names mean {len(found)} statistics; name at most {_MAX_STATISTICS}, by entity id.")
    return [_statistic(call, exposure, statistic_id, metadata[statistic_id]) for statistic_id in found]


async def _async_similar(call: ToolCall, text: str) -> str:
    """Return which visible statistics have a name or id like a text."""
    metadata = await async_read(call.hass, read_metadata, None)
    labels: dict[str, str] = {}
    names: dict[str, str] = {}
    for statistic_id, (_, meta) in metadata.items():
        if call.exposure.is_statistic_exposed(statistic_id):
            entity = call.exposure.entity(statistic_id)
            known = entity.names if entity else (meta["name"] or statistic_id,)
            # Its integration names an external statistic, so its id is told instead.
            names[statistic_id] = f"{known[0]} ({statistic_id})" if entity else statistic_id
            labels |= {normalize(label): statistic_id for label in (*known, statistic_id)}
    alike = await call.hass.async_add_executor_job(_alike, normalize(text), labels)
    if not alike:
        return "Call extended_assist__get_entities to see what is exposed."
    return f"Nearest: {', '.join(names[found] for found in alike)}."


def _alike(text: str, labels: dict[str, str]) -> list[str]:
    """Return the ids whose labels are like a text or share a word with it, nearest first."""
    near = get_close_matches(text, labels, n=2 * _SUGGESTIONS, cutoff=_LIKE)
    words = [word for word in text.split() if len(word) >= _TELLING]
    sharing = [label for label in labels if any(word in label for word in words)]
    return list(dict.fromkeys(labels[label] for label in (*near, *sharing)))[:_SUGGESTIONS]


def _statistic(call: ToolCall, exposure: Exposure, statistic_id: str, metadata: Metadata) -> Statistic:
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
    return Statistic(
        statistic_id=statistic_id,
        name=entity.name if entity else _given_name(call, meta) or statistic_id,
        metadata=metadata,
        types=types,
        unit=unit,
        convert=converter.converter_factory(own, unit) if converter and unit != own else float,
    )


def _given_name(call: ToolCall, meta: StatisticMetaData) -> str | None:
    """Return the name of an external statistic if the call gave it; its integration can name it as somebody outside wants."""
    return next(
        (text for text in call.arguments["statistics"] if normalize(text) == normalize(meta["name"] or "")), None
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
        shown = "no unit" if not own else own if is_fixed_unit(own) else "another unit"
        raise ToolError(f"{statistic_id} is in {shown} and cannot be given in '{wanted}'{known}.")
    return alike[0]


async def _async_period(
    hass: HomeAssistant, period: Period | None, statistics: list[Statistic], span: Span
) -> tuple[Period | None, str | None]:
    """Return the period of the rows and what has to be said of it; raises ToolError when it makes too many rows."""
    if period is None:
        return None, None
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
    oldest = max((short for short in starts if short is not None), default=None)
    kept = f"is kept only since {format_minute(oldest)}" if oldest and None not in starts else "does not exist"
    return "hour", f"'5minute' {kept} for these; the rows are hours."


def _read(
    hass: HomeAssistant, statistics: list[Statistic], span: Span, compared: Span | None, period: Period | None
) -> list[Account]:
    """Compute everything in the recorder's executor."""
    compiled = (span[0], min(span[1], dt_util.utcnow() - COMPILED_AFTER))
    return [
        Account(
            totals=read_totals(hass, statistic.metadata, span, _total_types(statistic)),
            compared=read_totals(hass, statistic.metadata, compared, _total_types(statistic)) if compared else None,
            rows=read_rows(hass, statistic.metadata, period, span) if period else [],
            gaps=read_gaps(hass, statistic.metadata[0], period or "hour", compiled),
            compared_gaps=read_gaps(hass, statistic.metadata[0], "hour", compared) if compared else None,
        )
        for statistic in statistics
    ]


def _total_types(statistic: Statistic) -> list[TotalType]:
    """Return the types that have a total; a meter's reading has none."""
    names: tuple[TotalType, ...] = ("change", "mean", "min", "max")
    return [name for name in names if name in statistic.types] or ["change"]


async def _async_no_data(hass: HomeAssistant, statistic: Statistic, span: Span) -> str:
    """Say that a span is empty, and where there is data instead."""
    first, last, _ = await async_read(hass, read_bounds, statistic.metadata[0])
    known = (
        "it has none at all yet"
        if first is None or last is None
        else f"it has them from {format_minute(first)} to {format_minute(last)}"
    )
    return f"{statistic.statistic_id} has no statistics from {format_minute(span[0])} to {format_minute(span[1])}; {known}."
