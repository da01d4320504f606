"""Draw numbers and states over time as SVG with its own background, readable on light and dark pages."""

from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from html import escape
from math import ceil, floor, log10
import re
from typing import Final

from homeassistant.util import dt as dt_util

from ..results import format_minute, number
from .course import AT_REST, Curve, CurveKind, CurvePart, Stripe

_WIDTH: Final = 480
_LEFT, _RIGHT, _TOP = 54, 468, 8
_LINE, _PLOT, _STRIPE = 19, 130, 18
_MOST_VALUES, _MOST_TIMES = 4, 6
_LETTER: Final = 7.0
"""The approximate width of a letter."""
_SEEN: Final = 1.5
"""The minimum width of a state."""


def draw(title: str, curves: Sequence[Curve], stripes: Sequence[Stripe], start: float, end: float) -> str:
    """Return the chart of a time span: one plot for the curves of each unit, and the states below."""
    drawing = _Drawing(start, end)
    for key in dict.fromkeys(map(_plot_of, curves)):
        drawing.add_plot([curve for curve in curves if _plot_of(curve) == key])
    drawing.add_stripes(stripes)
    drawing.add_times()
    size = f'width="{_WIDTH}" height="{drawing.y + 4:g}"'
    names = ", ".join([one.name for one in curves] + [one.name for one in stripes])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {_WIDTH} {drawing.y + 4:g}" role="img" '
        f'aria-labelledby="t d"><title id="t">{as_xml(title)}</title>'
        f'<desc id="d">{as_xml(f"{names}: {format_minute(start)} … {format_minute(end)}")}</desc>'
        f'<style>{STYLE}</style><rect class="b" {size} rx="8"/>{"".join(drawing.marks)}</svg>'
    )


def _plot_of(curve: Curve) -> tuple[str | None, bool]:
    """Return the key of the plot that a curve belongs to."""
    return curve.unit, curve.kind is CurveKind.BARS


class _Drawing:
    """The drawing so far, from top to bottom."""

    def __init__(self, start: float, end: float) -> None:
        """Start at the top."""
        self.start, self.end = start, max(end, start + 1)
        self.ticks = time_ticks(self.start, self.end, _MOST_TIMES)
        self.y: float = _TOP
        self.marks: list[str] = []

    def x(self, moment: float) -> float:
        """Return the x coordinate of a time."""
        share = (min(max(moment, self.start), self.end) - self.start) / (self.end - self.start)
        return round(_LEFT + (_RIGHT - _LEFT) * share, 1)

    def write(self, x: float, y: float, text: str, anchor: str = "start", style: str = "k") -> None:
        """Write a text."""
        self.marks.append(f'<text class="{style}" x="{x:g}" y="{y:g}" text-anchor="{anchor}">{as_xml(text)}</text>')

    def path(self, style: str, points: str) -> None:
        """Draw a path."""
        self.marks.append(f'<path class="{style}" d="M{points}"/>')

    def add_plot(self, curves: list[Curve]) -> None:
        """Draw curves below their names."""
        unit, kind = curves[0].unit, curves[0].kind
        for index, curve in enumerate(curves):
            self.path(f"c{index % COLORS} s", f"{_LEFT} {self.y + 4:g}h10v10h-10z")
            self.write(
                _LEFT + 16, self.y + 13, cut_name(curve.name) + (f" ({unit})" if unit and not index else ""), style=""
            )
            self.y += _LINE
        values = [value for curve in curves for part in curve.parts for value in (part.low, part.high, part.value)]
        values += [0.0] if kind is CurveKind.BARS else []
        levels = value_ticks(min(values), max(values), _MOST_VALUES)
        bottom, per_unit = self.y + 4 + _PLOT, _PLOT / (levels[-1] - levels[0])

        def y(value: float) -> float:
            return round(bottom - (value - levels[0]) * per_unit, 1)

        for moment, _ in self.ticks:
            self.path("g", f"{self.x(moment)} {bottom}V{bottom - _PLOT}")
        for level in levels:
            self.path("g", f"{_LEFT} {y(level)}H{_RIGHT}")
            self.write(_LEFT - 6, y(level) + 4, level_text(level), "end")
        for index, curve in enumerate(curves):
            color = f"c{index % COLORS}"
            if curve.kind is CurveKind.BARS:
                for part in curve.parts:
                    room = self.x(part.end) - self.x(part.start)
                    left, width = room * (0.1 + 0.8 * index / len(curves)), max(0.8 * room / len(curves), 0.5)
                    self.path(
                        f"{color} s", f"{self.x(part.start) + left:.1f} {y(0)}V{y(part.value)}h{width:.1f}V{y(0)}z"
                    )
                continue
            for run in curve.runs():
                at = [(self.x((part.start + part.end) / 2), part) for part in run]
                if curve.kind is CurveKind.MEAN:
                    around = [f"{x} {y(part.high)}" for x, part in at] + [f"{x} {y(part.low)}" for x, part in at[::-1]]
                    self.path(f"{color} a", "L".join(around) + "z")
                    line = [f"{x} {y(part.value)}h.1" for x, part in at]
                else:
                    line = [f"{x} {y(value)}" for part in run for x, value in self._steps(part)]
                self.path(f"l {color} o", "L".join(line))
        self.y = bottom + 6

    def _steps(self, part: CurvePart) -> Iterator[tuple[float, float]]:
        """Yield the points of a part: its extremes and its last value."""
        begin = self.x(part.start)
        if part.low != part.high:
            yield from ((begin, part.low), (begin, part.high))
        yield from ((begin, part.value), (self.x(part.end), part.value))

    def add_stripes(self, stripes: Sequence[Stripe]) -> None:
        """Draw states, each stripe below its name."""
        for stripe in stripes:
            states = dict.fromkeys(state for _, _, state in stripe.turns if state not in AT_REST)
            styles = {state: f"c{index % COLORS} s" for index, state in enumerate(states)}
            self.write(_LEFT, self.y + 13, cut_name(stripe.name), style="")
            self.y += _LINE
            # What happened for a moment only lies above what was before and after it.
            for begin, end, state in sorted(stripe.turns, key=lambda turn: turn[2] in styles):
                style = styles.get(state, "n")
                left, room = self.x(begin), max(self.x(end) - self.x(begin), _SEEN)
                self.path(style, f"{left} {self.y:g}h{room:.1f}v{_STRIPE}h{-room:.1f}z")
                if len(state) * _LETTER + 8 <= room:
                    self.write(left + 5, self.y + 13, state, style="k" if style == "n" else "w")
            self.y += _STRIPE + 6

    def add_times(self) -> None:
        """Write the times below everything."""
        free = 0.0
        for moment, words in self.ticks:
            half = len(words) * _LETTER / 2
            x = min(max(self.x(moment), half), _WIDTH - half)
            if x - half >= free:
                self.write(x, self.y + 12, words, "middle")
                free = x + half + 6
        self.y += _LINE


COLORS: Final = 6
"""The number of colours; further curves or states use them again."""
STYLE: Final = (
    "text{font:12px system-ui,sans-serif;fill:#3d434a}.b{fill:#f7f8f9}.g{stroke:#cdd2d8}"
    ".l{stroke-width:1.7;stroke-linejoin:round}.a{opacity:.25}"
    ".c0{fill:#1769aa;stroke:#1769aa}.c1{fill:#b8560b;stroke:#b8560b}.c2{fill:#2a7d32;stroke:#2a7d32}"
    ".c3{fill:#8e3a9d;stroke:#8e3a9d}.c4{fill:#b3263f;stroke:#b3263f}.c5{fill:#00767a;stroke:#00767a}"
    ".n{fill:#c3c9d0}text.w{font-size:11px;fill:#fff}text.k{font-size:11px}"
    "@media(prefers-color-scheme:dark){text,text.k{fill:#d9dde2}.b{fill:#24282d}.g{stroke:#454b52}"
    ".c0{fill:#63b1ee;stroke:#63b1ee}.c1{fill:#f0a35a;stroke:#f0a35a}.c2{fill:#76c77e;stroke:#76c77e}"
    ".c3{fill:#d18fe0;stroke:#d18fe0}.c4{fill:#f0788c;stroke:#f0788c}.c5{fill:#4fc4c8;stroke:#4fc4c8}"
    ".n{fill:#50575f}text.w{fill:#111}}.o{fill:none}.s,.a{stroke:none}"
)


_UNWRITABLE: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Characters that XML does not allow."""
_DIGITS: Final = 12
_NAME: Final = 44


def level_text(level: float) -> str:
    """Return a round value as a short label."""
    for size, letter in ((1e9, "G"), (1e6, "M")):
        if abs(level) >= size:
            return f"{number(level / size, decimals=_DIGITS)}{letter}"
    # All digits that tell it from the next one, whatever those of a single value would be worth.
    return f"{number(level, decimals=_DIGITS)}"


def as_xml(text: str) -> str:
    """Return a text escaped for XML."""
    return escape(_UNWRITABLE.sub("", text))


def cut_name(name: str) -> str:
    """Return the beginning of a name."""
    return name if len(name) <= _NAME else f"{name[: _NAME - 1]}…"


_MINUTES: Final = (1, 5, 15, 30, 60, 120, 180, 240, 360, 720)
_DAYS: Final = (1, 2, 7, 14)
_MONTHS: Final = (1, 2, 3, 6, 12, 24, 60, 120)
_NOISE: Final = 1e-9
_DAY_MINUTES: Final = 24 * 60
_MONTH_MINUTES: Final = 31 * _DAY_MINUTES


def value_ticks(low: float, high: float, most: int) -> list[float]:
    """Return about `most` round values that cover a range."""
    length = (high - low) or abs(high) or 1.0
    exact = length / most
    power = floor(log10(exact))
    nice = next(nice for nice in (1, 2, 5, 10) if nice * 10.0**power >= exact * (1 - _NOISE))
    step = nice * 10.0**power
    first, last = floor(low / step + _NOISE), ceil(high / step - _NOISE)
    # By way of a text, the digits stay as few as they are.
    return [float(f"{count * nice}e{power}") for count in range(first, max(last, first + 1) + 1)]


def time_ticks(start: float, end: float, most: int) -> list[tuple[float, str]]:
    """Return about `most` round local times within a span, in seconds since the epoch, with their labels."""
    minutes = (end - start) / 60
    first, last = _local(start).date(), _local(end).date()
    days = [first + timedelta(days=count) for count in range((last - first).days + 1)]
    if (step := next((one for one in _MINUTES if minutes / one <= most), None)) is not None:
        moments = [
            datetime.combine(day, time(minute // 60, minute % 60))
            for day in days
            for minute in range(0, _DAY_MINUTES, step)
        ]
    elif (step := next((one for one in _DAYS if minutes / one / _DAY_MINUTES <= most), None)) is not None:
        moments = [datetime.combine(day, time()) for day in days if day.toordinal() % step == step // 7]
    else:
        step = next((one for one in _MONTHS if minutes / one / _MONTH_MINUTES <= most), _MONTHS[-1])
        firsts = (date(month // 12, month % 12 + 1, 1) for month in range(_month(first), _month(last) + 1, 1))
        moments = [datetime.combine(day, time()) for day in firsts if _month(day) % step == 0]
        return _within(moments, "%Y-%m", "%Y-%m", start, end)
    return _within(moments, "%H:%M", "%m-%d" if first != last else "%H:%M", start, end)


def _within(moments: list[datetime], words: str, at_midnight: str, start: float, end: float) -> list[tuple[float, str]]:
    """Return the local times that exist and are within a span."""
    zone = dt_util.get_default_time_zone()
    ticks = []
    for naive in moments:
        moment = naive.replace(tzinfo=zone).timestamp()
        # What the clock skips when it is set forward would stand at a time of another name.
        if start <= moment <= end and _local(moment).replace(tzinfo=None) == naive:
            ticks.append((moment, naive.strftime(at_midnight if naive.time() == time() else words)))
    return ticks


def _local(moment: float) -> datetime:
    """Return a moment as local time."""
    return dt_util.as_local(dt_util.utc_from_timestamp(moment))


def _month(day: date) -> int:
    """Return the number of a day's month."""
    return day.year * 12 + day.month - 1
