"""Formats and limits of tool results: CSV, numbers, durations, local times and budgets.

All tools use the same formats: number() rounds to the usual precision of a unit; duration() writes a duration as a clock,
and from a day on also in hours; format_time() writes local time rounded to the second, and format_minute() cuts it to the
minute. In CSV, all values are texts.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
import csv
from datetime import datetime, timedelta
import io
from math import floor, isfinite, log10
import re
from typing import Any, Final

from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers.json import json_dumps
from homeassistant.util import dt as dt_util
from homeassistant.util.json import JsonObjectType

DEFAULT_BUDGET = 4_000
"""The most characters of one result: about a thousand tokens, which the model reads again in each later request."""
MIN_BUDGET = 1_000
MAX_BUDGET = 40_000

_DECIMALS: Final = {
    unit: decimals
    for decimals, units in {
        0: "lx lm ppm ppb µg/m³ μg/m³ mg/m³ rpm Wh VA var mA mV dBm B kB B/s kB/s ms bpm steps",
        1: "°C °F K % ° W V Hz hPa mbar kPa mmHg m/s km/h mph kn mm cm mm/h mm/d L mL gal L/min L/h dB dBA km mi s min g MB",
        3: "m³ ft³ m³/h MWh",
    }.items()
    for unit in units.split()
}
"""The useful decimals of everyday values, by unit."""
_USUAL_DECIMALS: Final = 2
_PRICE: Final = re.compile(r".+/(?:[kM]?Wh|m³|ft³|L|gal)")
"""Matches units such as EUR/kWh; densities have their own rows."""
_PRICE_DECIMALS: Final = 4
_SMALL_DIGITS: Final = 3
"""The significant digits of numbers below one, even if the unit has fewer decimals."""
_NOISE: Final = 1e-9
"""Smaller numbers are rounding errors of a subtraction."""
_EXACT: Final = 2.0**53
"""From this size on, floats cannot represent every whole number, and neither can JSON."""
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)
_LONG = re.compile(r"-?\d+\.\d{5,}", re.ASCII)
"""Matches numbers without a unit that cannot be version numbers."""
_ELLIPSIS = " … [cut: {} more characters; {}]"
_LESS = "ask for less at once"


class ToolError(HomeAssistantError):
    """An expected failure of a tool; the message tells the model what to do next and names nothing hidden."""


class FreeTextError(ToolError):
    """A failure whose message contains untrusted text."""


MARK: Final = "words_of_others"
"""The key of a result that contains untrusted text."""


class OverError(ToolError):
    """A change that can never be undone; the undo continues with the change before it."""


def number(value: float, unit: str | None = None, decimals: int | None = None) -> float:
    """Return a number with the usual precision of its unit, or the decimals that the user chose; whole numbers as int.

    Below one, three significant digits are kept, so that small numbers do not become zero.
    """
    size_of = abs(value)
    if not isfinite(value):
        return value
    if size_of < _NOISE:
        return 0
    if decimals is None:
        unit = unit or ""
        decimals = _DECIMALS.get(unit, _PRICE_DECIMALS if _PRICE.fullmatch(unit) else _USUAL_DECIMALS)
    if size_of < 1:
        decimals = max(decimals, _SMALL_DIGITS - 1 - floor(log10(size_of)))
    rounded = round(float(value), decimals)
    return int(rounded) if rounded.is_integer() and abs(rounded) < _EXACT else rounded


def duration(seconds: float) -> str:
    """Return a duration as a clock, such as 17:40:00; from a day on also in hours: 2 d 17:40:00 (65.67 h)."""
    clock = format_duration(seconds)
    return f"{clock} ({seconds / 3600:.2f} h)" if " d " in clock else clock


def format_number(value: float) -> str:
    """Return a number with six significant digits and without an exponent for everyday sizes."""
    text = f"{value:.6g}"
    return f"{value:.0f}" if "e+" in text and abs(value) < 1e15 else text


def shown(state: str, unit: str | None, decimals: int | None = None) -> str | float:
    """Return a state with a unit as a number; a state without a unit may be a version and stays a text."""
    is_number = (_LONG if unit is None else _NUMBER).fullmatch(state) and isfinite(float(state))
    return number(float(state), unit, decimals) if is_number else state


def round_second(moment: datetime | float) -> datetime:
    """Return a time, or seconds since the epoch, rounded to the second: a float can be slightly below 17:05:00."""
    if not isinstance(moment, datetime):
        moment = dt_util.utc_from_timestamp(moment)
    return (moment + timedelta(milliseconds=500)).replace(microsecond=0)


def format_time(moment: datetime | float) -> str:
    """Return a time, or seconds since the epoch, as local time, rounded to the second.

    The UTC offset is added only if the local time occurs twice, when clocks are set back.
    """
    local = dt_util.as_local(round_second(moment))
    twice = local.replace(fold=0).utcoffset() != local.replace(fold=1).utcoffset()
    return (local if twice else local.replace(tzinfo=None)).isoformat(sep=" ", timespec="seconds")


def format_duration(seconds: float) -> str:
    """Return a duration in seconds as days, hours, minutes and seconds; without days if it is shorter."""
    hours, rest = divmod(round(seconds), 3600)
    days, hours = divmod(hours, 24)
    clock = f"{hours}:{rest // 60:02}:{rest % 60:02}"
    return f"{days} d {clock}" if days else clock


def format_minute(moment: datetime | float) -> str:
    """Return a time, or seconds since the epoch, as local time without seconds, after rounding to the second."""
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
    """Return the number of characters of data as JSON."""
    return len(json_dumps(data))


def cut(text: str, room: int, rest: str = _LESS) -> str:
    """Return a text cut to a number of characters, with a note on the rest."""
    return text if len(text) <= room else text[:room] + _ELLIPSIS.format(len(text) - room, rest)


def enforce(data: JsonObjectType, budget: int) -> JsonObjectType:
    """Return data cut to a budget of characters, the longest text first.

    This is the last safeguard: tools limit their own rows and say how to get the rest.
    """
    while (excess := size(data) - budget) > 0:
        text, path = max(texts_in(data), key=lambda found: len(found[0]), default=("", ()))
        # Quotes and line breaks count twice, so a share of the text is kept rather than a number of characters.
        keep = int(len(text) * (1 - (excess + len(_ELLIPSIS) + len(_LESS) + 10) / size(text)))
        if keep < 1 or not path:
            return {"error": f"The result has {size(data)} characters, more than the {budget} allowed. Ask for less."}
        data = _replaced(data, path, cut(text, keep))
    return data


def _replaced(data: Any, path: Path, text: str) -> Any:
    """Return a copy of data with a new text at a path."""
    if not path:
        return text
    copy: Any = dict(data) if isinstance(data, Mapping) else list(data)
    copy[path[0]] = _replaced(data[path[0]], path[1:], text)
    return copy


type Path = tuple[Any, ...]
"""A path inside data: keys of mappings and indexes of lists."""


def texts_in(value: Any, *, keys: bool = False, path: Path = ()) -> Iterator[tuple[str, Path]]:
    """Yield every text of mappings and lists with its path; with `keys`, also the keys, with the path of their mapping."""
    if isinstance(value, str):
        yield value, path
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if keys:
                yield str(key), path
            yield from texts_in(item, keys=keys, path=(*path, key))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from texts_in(item, keys=keys, path=(*path, index))


def place_of(start: str, path: Path) -> str:
    """Return a path in readable form, such as actions[0].data.message."""
    return start + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
