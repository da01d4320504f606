"""What the statistics tool answers: totals, when extremes were reached, gaps, rows."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta

from homeassistant.const import PERCENTAGE
from homeassistant.util import dt as dt_util
from homeassistant.util.json import JsonObjectType, JsonValueType

from ..exposure.fixed_values import is_fixed_unit
from ..ha_compat.recorder import StatisticMeanType
from ..recorder.periods import HOUR, SHORT, Period, Span, floor_hour, following_day
from ..recorder.statistics import Metadata, PeriodRow, as_moment
from ..recorder.statistics_totals import Gaps, Reached, Totals
from ..results import fit_rows, format_minute, number, to_csv

COMPILED_AFTER = timedelta(minutes=1)
"""How long after the hour the recorder has surely written its row."""
_MAX_TIES = 4
"""Periods that are named when several have the same highest or lowest value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistic:
    """A statistic that the assistant may see, with what it is asked for."""

    statistic_id: str
    name: str
    metadata: Metadata
    types: tuple[str, ...]
    unit: str | None
    convert: Callable[[float], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What the recorder holds of one statistic."""

    totals: Totals
    compared: Totals | None
    rows: list[PeriodRow]
    gaps: Gaps
    compared_gaps: Gaps | None


def describe(statistic: Statistic, account: Account, period: Period | None, span: Span, budget: int) -> JsonObjectType:
    """Say what a statistic amounts to; rows take at most about budget characters."""
    data: JsonObjectType = {"name": statistic.name}
    if statistic.unit and is_fixed_unit(statistic.unit):
        data["unit"] = statistic.unit
    values = _converted(statistic, account.totals)
    for name, value in values.items():
        data[name] = number(value, statistic.unit)
        if at := account.totals.reached.get(name):
            data[f"{name}_at"] = _when(at)
    notes = []
    if not values:
        notes.append("No data in this span.")
    if account.compared:
        compared = _compare(statistic, values, _converted(statistic, account.compared))
        gaps = account.compared_gaps
        if not compared:
            since = f"; the recording began at {format_minute(gaps.since)}" if gaps and gaps.since else ""
            notes.append(f"No data in the span to compare with{since}.")
        elif gaps:
            compared |= _missing(gaps)
        data["compared"] = compared
    if values or account.gaps.since:
        data |= _missing(account.gaps)
    if period and account.rows:
        labels = [_label(row, period, span, account.gaps.since) for row in account.rows]
        data |= _extremes(statistic, account.rows, labels)
        cells = [[label, *_cells(statistic, row)] for label, row in zip(labels, account.rows, strict=True)]
        kept = fit_rows(reversed(cells), budget)
        data["rows"] = to_csv((period if period != "5minute" else "time", *statistic.types), reversed(kept))
        if left_out := len(cells) - len(kept):
            notes.append(f"{left_out} older rows are left out; take a coarser period or a shorter span.")
        notes += _disagreement(statistic, account, values)
    if notes:
        data["note"] = " ".join(notes)
    return data


def _when(reached: Reached) -> str:
    """Return when a value was reached: a row, or several in which it lasted; each time where it came back."""
    row = " (5 minutes)" if reached.seconds == SHORT else " (hour)"
    times = [
        format_minute(start) + (row if stop - start == reached.seconds else f" to {format_minute(stop)}")
        for start, stop in reached.first
    ]
    if more := reached.count - len(times):
        times.append(f"{more} more times")
    return ", ".join(times)


def _missing(gaps: Gaps) -> JsonObjectType:
    """Say since when there is a recording, where that is not the whole span, and where it has gaps."""
    data: JsonObjectType = {}
    if gaps.since:
        data["recorded_since"] = format_minute(gaps.since)
    if gaps.count:
        data["gaps"] = _named(gaps)
    return data


def _named(gaps: Gaps) -> list[JsonValueType]:
    """Return the longest gaps as text, and how many more there are."""
    names: list[JsonValueType] = [f"{format_minute(start)} to {format_minute(end)}" for start, end in gaps.longest]
    return [*names, f"{more} shorter ones"] if (more := gaps.count - len(names)) else names


def _converted(statistic: Statistic, totals: Totals) -> dict[str, float]:
    """Return totals in the unit that the user sees."""
    return {name: as_shown(statistic, name, totals.values[name]) for name in statistic.types if name in totals.values}


def as_shown(statistic: Statistic, name: str, value: float) -> float:
    """Convert a value, or a change, which has no zero point."""
    return statistic.convert(value) - (statistic.convert(0.0) if name == "change" else 0.0)


def _compare(statistic: Statistic, values: dict[str, float], others: dict[str, float]) -> JsonObjectType:
    """Return the values of the other span, with how much higher this one's are."""
    meta = statistic.metadata[1]
    compared: JsonObjectType = {}
    for name, other in others.items():
        said = number(other, statistic.unit)
        account: JsonObjectType = {"value": said}
        if name in values:
            # Of the numbers as they are told, so that all three agree.
            difference = number(values[name], statistic.unit) - said
            if meta["mean_type"] is StatisticMeanType.CIRCULAR:
                difference = (difference + 180) % 360 - 180
            account["difference"] = number(difference, statistic.unit)
            # A share of degrees means nothing: their zero is arbitrary.
            if name in ("change", "mean") and other > 0 and "°" not in (statistic.unit or ""):
                account["percent"] = number(round(100 * (values[name] - other) / other, 1), PERCENTAGE)
        compared[name] = account
    return compared


def _cells(statistic: Statistic, row: PeriodRow) -> list[str]:
    """Return the values of a period."""
    values = (getattr(row, name) for name in statistic.types)
    return [
        "" if value is None else str(number(as_shown(statistic, name, value), statistic.unit))
        for name, value in zip(statistic.types, values, strict=True)
    ]


def _label(row: PeriodRow, period: Period, span: Span, since: float | None) -> str:
    """Return when a period begins, and from when or until when it counts where that is not the whole of it."""
    if not isinstance(row.start, date):
        return format_minute(row.start)
    label = row.start.isoformat()
    compiled = floor_hour(dt_util.utcnow() - COMPILED_AFTER).timestamp()
    begin, end = max(span[0].timestamp(), since or 0), min(span[1].timestamp(), compiled)
    if as_moment(row.start) < begin:
        label += f" from {_beside(row.start, -(-begin // HOUR) * HOUR)}"
    if as_moment(following_day(row.start, period)) > end:
        label += f" until {_beside(row.start, min(-(-end // HOUR) * HOUR, compiled))}"
    return label


def _beside(day: date, moment: float) -> str:
    """Return a moment, without its day where that is said."""
    return format_minute(moment).removeprefix(f"{day.isoformat()} ")


def _extremes(statistic: Statistic, rows: list[PeriodRow], labels: list[str]) -> JsonObjectType:
    """Name the periods with the highest and the lowest change or mean, all where several have the same."""
    data: JsonObjectType = {}
    circular = statistic.metadata[1]["mean_type"] is StatisticMeanType.CIRCULAR
    for name in ("change", "mean"):
        if name not in statistic.types or circular:
            continue
        values = {
            label: number(as_shown(statistic, name, value), statistic.unit)
            for label, row in zip(labels, rows, strict=True)
            if (value := getattr(row, name)) is not None
        }
        # A day that has only begun is no day of little use.
        whole = {label: value for label, value in values.items() if " from " not in label and " until " not in label}
        for word, among, choose in (("highest", values, max), ("lowest", whole, min)):
            if len(among) > 1:
                best = choose(among.values())
                ties = [label for label, value in among.items() if value == best]
                more = f" and {len(ties) - _MAX_TIES} more" if len(ties) > _MAX_TIES else ""
                data[f"{word}_{name}"] = f"{best} in {', '.join(ties[:_MAX_TIES])}{more}"
    return data


def _disagreement(statistic: Statistic, account: Account, values: dict[str, float]) -> list[str]:
    """Say why the rows do not add up to the total, where they don't."""
    if "change" not in statistic.types or "change" not in values:
        return []
    added = sum(as_shown(statistic, "change", row.change) for row in account.rows if row.change is not None)
    said = number(added, statistic.unit)
    if said == number(values["change"], statistic.unit):
        return []
    why = (
        "the first holds what changed before it, while nothing was recorded"
        if added > values["change"]
        else "they hold full hours only, the total counts to five minutes"
    )
    return [f"The rows add up to {said}: {why}."]
