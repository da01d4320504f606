"""The course of numbers and states as an SVG, which brings its own ground along: it reads well on light and on dark."""

from collections.abc import Iterator, Sequence
from typing import Final

from ..results import format_minute
from .axes import time_ticks, value_ticks
from .course import AT_REST, Curve, CurveKind, CurvePart, Stripe
from .style import COLORS, STYLE
from .texts import as_xml, cut_name, level_text

_WIDTH: Final = 480
_LEFT, _RIGHT, _TOP = 54, 468, 8
_LINE, _PLOT, _STRIPE = 19, 130, 18
_MOST_VALUES, _MOST_TIMES = 4, 6
_LETTER: Final = 7.0
"""How wide a letter is, about."""
_SEEN: Final = 1.5
"""The least width of a state."""


def draw(title: str, curves: Sequence[Curve], stripes: Sequence[Stripe], start: float, end: float) -> str:
    """Return the chart of a span: the curves of each unit together, and the stripes below them."""
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
    """Return which curves are drawn together."""
    return curve.unit, curve.kind is CurveKind.BARS


class _Drawing:
    """What is drawn so far, from top to bottom."""

    def __init__(self, start: float, end: float) -> None:
        """Begin at the top."""
        self.start, self.end = start, max(end, start + 1)
        self.ticks = time_ticks(self.start, self.end, _MOST_TIMES)
        self.y: float = _TOP
        self.marks: list[str] = []

    def x(self, moment: float) -> float:
        """Return where a moment is."""
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
        """Yield the points of a part: all that it reached, and what held then."""
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
