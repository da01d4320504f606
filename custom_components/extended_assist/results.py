"""Formats and limits of results: CSV, significant digits, local times, budgets."""

from collections.abc import Iterable, Mapping, Sequence
import csv
from datetime import datetime
import io
import re
from typing import Any

from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers.json import json_dumps
from homeassistant.util import dt as dt_util
from homeassistant.util.json import JsonObjectType

from .walk import Path, texts_in

DEFAULT_BUDGET = 4_000
"""Characters of one result: about a thousand tokens, read again by the model in every later round."""
MIN_BUDGET = 1_000
MAX_BUDGET = 40_000

_DECIMAL = re.compile(r"-?\d+\.\d+(?:[eE][-+]?\d+)?")
_ELLIPSIS = " … [cut: {} more characters; ask for less at once]"


class ToolError(HomeAssistantError):
    """An expected failure of a tool; the message tells the model what to do next and names nothing hidden."""


class OverError(ToolError):
    """What can never be undone any more; the change before it is the last one then."""


def format_number(value: float) -> str:
    """Return a number with six significant digits and without an exponent for everyday sizes."""
    text = f"{value:.6g}"
    return f"{value:.0f}" if "e+" in text and abs(value) < 1e15 else text


def significant(value: float) -> float:
    """Return a number with six significant digits, as a number."""
    return float(f"{value:.6g}")


def format_state(state: str) -> str:
    """Return a state as it is, or a number with six significant digits."""
    return format_number(float(state)) if _DECIMAL.fullmatch(state) else state


def format_time(moment: datetime | float) -> str:
    """Return a moment, or seconds since the epoch, as local time to the second.

    The UTC offset is added only where the local time occurs twice, when clocks are set back.
    """
    if not isinstance(moment, datetime):
        moment = dt_util.utc_from_timestamp(moment)
    local = dt_util.as_local(moment)
    twice = local.replace(fold=0).utcoffset() != local.replace(fold=1).utcoffset()
    return (local if twice else local.replace(tzinfo=None)).isoformat(sep=" ", timespec="seconds")


def format_duration(seconds: float) -> str:
    """Return a duration as hours, minutes and seconds, with days where there are any."""
    hours, rest = divmod(round(seconds), 3600)
    days, hours = divmod(hours, 24)
    clock = f"{hours}:{rest // 60:02}:{rest % 60:02}"
    return f"{days} d {clock}" if days else clock


def format_minute(moment: datetime | float) -> str:
    """Return a moment as format_time does, to the minute."""
    text = format_time(moment)
    return text[:16] + text[19:]


def to_csv(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return rows as CSV with a header line."""
    output = io.StringIO()
    writer = csv.writer(output, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return output.getvalue()


def fit_rows(rows: Iterable[Sequence[str]], budget: int) -> list[Sequence[str]]:
    """Return the first rows that fit into a budget of characters, at least one.

    Rows may be an iterator over a large result: it is not read further than needed.
    """
    kept: list[Sequence[str]] = []
    for row in rows:
        budget -= sum(map(len, row)) + len(row)
        if budget < 0 and kept:
            break
        kept.append(row)
    return kept


def size(data: Any) -> int:
    """Return the number of characters of data as JSON, as the model will read it."""
    return len(json_dumps(data))


def enforce(data: JsonObjectType, budget: int) -> JsonObjectType:
    """Return data cut to a budget of characters, its longest text first.

    The last safeguard: tools fit their own rows and say how to get the rest.
    """
    while (excess := size(data) - budget) > 0:
        text, path = max(texts_in(data), key=lambda found: len(found[0]), default=("", ()))
        # Quotes and line breaks count twice, so a share of the text is kept rather than a number of characters.
        keep = int(len(text) * (1 - (excess + len(_ELLIPSIS) + 10) / size(text)))
        if keep < 1 or not path:
            return {"error": f"The result has {size(data)} characters, more than the {budget} allowed. Ask for less."}
        data = _replaced(data, path, text[:keep] + _ELLIPSIS.format(len(text) - keep))
    return data


def _replaced(data: Any, path: Path, text: str) -> Any:
    """Return a copy of data with another text at the end of path."""
    if not path:
        return text
    copy: Any = dict(data) if isinstance(data, Mapping) else list(data)
    copy[path[0]] = _replaced(data[path[0]], path[1:], text)
    return copy
