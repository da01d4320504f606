"""Charts beside answers about the past, shown to the user; they never replace a number."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from typing import Final

from homeassistant.util import dt as dt_util
from homeassistant.util.json import JsonObjectType

from ..calls.call import ToolCall
from ..calls.chat_images import async_show, screen_of
from ..charts.course import Curve, CurveKind, CurvePart, Stripe, Turn
from ..charts.drawing import draw
from ..exposure.entities import ExposedEntity
from ..exposure.safe_log import log_unexpected
from ..ha_compat.recorder import StatisticMeanType
from ..recorder import async_read
from ..recorder.chart_points import read_points
from ..recorder.history import EntityHistory, Question, Subject
from ..recorder.periods import HOUR, SHORT, Period, Span, following_day
from ..recorder.statistics import PeriodRow, as_moment, read_rows
from ..results import format_minute
from .history_answers import CIRCULAR, Wording
from .statistics_answers import Account, Statistic, as_shown

MAX_CURVES: Final = 8
MAX_STRIPES: Final = 12
_LEAST: Final = 3
"""The least parts of a curve that shows more than its numbers."""
_DEADLINE: Final = 3.0
"""Seconds that an answer waits for its chart."""
_TOLD: Final[JsonObjectType] = {"chart": "shown to the user with your answer"}
"""The note to the model about the chart, so that it does not say that it cannot draw."""
_PERIODS: Final[tuple[tuple[timedelta, Period], ...]] = (
    (timedelta(days=4), "hour"),
    (timedelta(days=62), "day"),
    (timedelta(days=500), "week"),
)
"""The default period of the drawn rows, by length of the span."""


async def async_chart_history(
    call: ToolCall,
    entities: Mapping[str, ExposedEntity],
    subjects: Sequence[Subject],
    answers: Mapping[str, EntityHistory],
    wording: Wording,
) -> JsonObjectType:
    """Show a chart of entities; return the note to the model."""
    question = wording.question
    told = [
        subject
        for subject in subjects
        if not answers[subject.entity_id].is_empty and _is_worth_it(entities[subject.entity_id], answers, question)
    ]
    numbers = [subject for subject in told if subject.numeric][:MAX_CURVES]
    states = [subject for subject in told if not subject.numeric][:MAX_STRIPES]
    if screen_of(call.hass, call.caller) is None or not (numbers or states):
        return {}
    try:
        async with asyncio.timeout(_DEADLINE):
            found = await async_read(
                call.hass, read_points, [*numbers, *states], question.attribute, question.start, question.end
            )
            curves = [
                Curve(_name(entities[one.entity_id], question), _unit(one, question), CurveKind.STEPS, parts)
                for one in numbers
                if len(parts := [part for part in found[one.entity_id] if isinstance(part, CurvePart)]) >= _LEAST
            ]
            stripes = [
                _stripe(entities[one.entity_id], turns, wording)
                for one in states
                if (turns := [turn for turn in found[one.entity_id] if isinstance(turn, tuple)])
            ]
            return await _async_show(
                call, curves, stripes, (question.start, question.end), [one.entity_id for one in (*numbers, *states)]
            )
    except Exception:  # noqa: BLE001 - whatever goes wrong with a picture, the answer stands
        log_unexpected("while a chart was drawn")
        return {}


def _is_worth_it(entity: ExposedEntity, answers: Mapping[str, EntityHistory], question: Question) -> bool:
    """Return whether a chart shows something: a value changed, in one unit."""
    answer = answers[entity.entity_id]
    if question.before is not None or answer.unit_before:
        return False
    if answer.account is not None:
        return answer.account.changes > 0 if question.condition is None else len(answer.account.tallies) > 1
    is_circular = entity.state.attributes.get("state_class") == CIRCULAR
    return answer.numbers is not None and answer.numbers.count >= _LEAST and not is_circular


def _stripe(entity: ExposedEntity, turns: Sequence[Turn], wording: Wording) -> Stripe:
    """Return the stripe of a state."""
    told = [(begin, end, str(wording.value(entity, state))) for begin, end, state in turns]
    return Stripe(_name(entity, wording.question), told)


def _name(entity: ExposedEntity, question: Question) -> str:
    """Return the name of a curve."""
    return entity.name if question.attribute is None else f"{entity.name}: {question.attribute}"


def _unit(subject: Subject, question: Question) -> str | None:
    """Return the unit of a curve."""
    return subject.unit if question.attribute is None else None


async def async_chart_statistics(
    call: ToolCall, statistics: Sequence[Statistic], accounts: Sequence[Account], period: Period | None, span: Span
) -> JsonObjectType:
    """Show a chart of statistics by period; return the note to the model."""
    if screen_of(call.hass, call.caller) is None:
        return {}
    try:
        async with asyncio.timeout(_DEADLINE):
            rows = [account.rows for account in accounts]
            drawn = period or _period_for(span)
            if period is None:
                metadata = [statistic.metadata for statistic in statistics[:MAX_CURVES]]
                rows = [await async_read(call.hass, read_rows, one, drawn, span) for one in metadata]
            curves = [
                curve
                for statistic, found in zip(statistics[:MAX_CURVES], rows, strict=False)
                if (curve := _curve(statistic, found, drawn, span)) and len(curve.parts) >= _LEAST
            ]
            exposed = [one.statistic_id for one in statistics if call.exposure.entity(one.statistic_id)]
            return await _async_show(call, curves, [], (span[0].timestamp(), span[1].timestamp()), exposed)
    except Exception:  # noqa: BLE001 - whatever goes wrong with a picture, the answer stands
        log_unexpected("while a chart was drawn")
        return {}


def _period_for(span: Span) -> Period:
    """Return the period of the drawn rows."""
    return next((period for longest, period in _PERIODS if span[1] - span[0] <= longest), "month")


def _curve(statistic: Statistic, rows: Sequence[PeriodRow], period: Period, span: Span) -> Curve | None:
    """Return the curve of a statistic: the changes of a meter, the means of a measurement."""
    if statistic.metadata[1]["mean_type"] is StatisticMeanType.CIRCULAR:
        return None
    name = next(name for name in ("change", "mean", "max", "min", "state") if name in statistic.types)
    kind = {"change": CurveKind.BARS, "mean": CurveKind.MEAN}.get(name, CurveKind.STEPS)
    parts = []
    for row in rows:
        if (value := getattr(row, name)) is None:
            continue
        start = max(as_moment(row.start), span[0].timestamp())
        values = [as_shown(statistic, name, value)]
        if kind is CurveKind.MEAN:
            values += [as_shown(statistic, name, extreme) for extreme in (row.min, row.max) if extreme is not None]
        parts.append(CurvePart(start, _end_of(row, period), min(values), max(values), values[0]))
    return Curve(statistic.name, statistic.unit, kind, parts)


def _end_of(row: PeriodRow, period: Period) -> float:
    """Return when a period ends."""
    if isinstance(row.start, float | int):
        return row.start + (SHORT if period == "5minute" else HOUR)
    return dt_util.start_of_local_day(following_day(row.start, period)).timestamp()


async def _async_show(
    call: ToolCall,
    curves: Sequence[Curve],
    stripes: Sequence[Stripe],
    span: tuple[float, float],
    entity_ids: Collection[str],
) -> JsonObjectType:
    """Draw and show a chart if there is something to draw; return the note to the model."""
    if not (curves or stripes):
        return {}
    begins = [part.start for curve in curves for part in curve.parts] + [
        turn[0] for one in stripes for turn in one.turns
    ]
    # What was before the recording began would be an empty half of the picture.
    span = max(span[0], min(begins)), span[1]
    names = ", ".join([one.name for one in curves] + [one.name for one in stripes])
    title = f"{format_minute(span[0])} … {format_minute(span[1])}: {names}"
    svg = await call.hass.async_add_executor_job(draw, title, curves, stripes, *span)
    is_shown = async_show(call.hass, call.caller, svg.encode(), "image/svg+xml", title, entity_ids=entity_ids)
    return dict(_TOLD) if is_shown else {}
