"""What is drawn: every number at its place, gaps as gaps, nothing that a browser would run."""

from collections.abc import Iterator
from datetime import datetime
from random import Random
import re
from xml.etree import ElementTree as ET
from zoneinfo import ZoneInfo

import pytest

from custom_components.extended_assist.charts.course import Curve, CurveKind, CurvePart, Stripe, longest_active
from custom_components.extended_assist.charts.drawing import draw, time_ticks, value_ticks
from homeassistant.util import dt as dt_util

SVG = "{http://www.w3.org/2000/svg}"
NASTY = "<script>alert(1)</script> ]]> &amp; \"'> \x00\x08\ud800\uffff </svg>"
BERLIN = ZoneInfo("Europe/Berlin")
NUMBER = r"-?\d+(?:\.\d+)?"


@pytest.fixture(autouse=True)
def _berlin() -> Iterator[None]:
    """Let clocks be set as in Berlin."""
    before = dt_util.get_default_time_zone()
    dt_util.set_default_time_zone(BERLIN)
    yield
    dt_util.set_default_time_zone(before)


def at(local: str) -> float:
    """Return a local time as a moment."""
    return datetime.fromisoformat(local).replace(tzinfo=BERLIN).timestamp()


START, END = at("2026-03-10 00:00"), at("2026-03-11 00:00")


def constant(start: float, end: float, value: float) -> CurvePart:
    """Return a part in which one value held."""
    return CurvePart(start, end, value, value, value)


def curve(*parts: CurvePart, kind: CurveKind = CurveKind.STEPS, name: str = "Room", unit: str | None = "°C") -> Curve:
    """Return a curve."""
    return Curve(name, unit, kind, parts)


def parsed(svg: str) -> ET.Element:
    """Return an SVG as XML."""
    return ET.fromstring(svg)  # noqa: S314 - it is ours, and must be XML


def texts(svg: str) -> list[str]:
    """Return what is written."""
    return [element.text or "" for element in parsed(svg).iter(f"{SVG}text")]


def paths(svg: str, style: str) -> list[str]:
    """Return the paths of a style."""
    return [element.get("d", "") for element in parsed(svg).iter(f"{SVG}path") if element.get("class") == style]


def points(path: str) -> list[tuple[float, float]]:
    """Return the points of a line."""
    return [(float(x), float(y)) for x, y in re.findall(rf"({NUMBER}) ({NUMBER})", path)]


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0, 4, [0, 1, 2, 3, 4]),
        (18, 21.5, [18, 19, 20, 21, 22]),
        (0.1, 0.3, [0.1, 0.15, 0.2, 0.25, 0.3]),
        (-5, 12, [-5, 0, 5, 10, 15]),
        (7, 7, [6, 8]),
        (0, 0, [0, 0.5]),
        (1e6, 1e6 + 1, None),
    ],
)
def test_values_are_round(low: float, high: float, expected: list[float] | None) -> None:
    """They begin at or below the lowest and end at or above the highest, also where both are the same."""
    ticks = value_ticks(low, high, 4)
    assert ticks[0] <= low
    assert ticks[-1] >= high
    assert ticks[0] < ticks[-1]
    assert 2 <= len(ticks) <= 7
    if expected and len(expected) > 2:
        assert ticks == expected


def test_any_values() -> None:
    """Whatever the numbers are, there are a few levels around them."""
    random = Random(1)
    for _ in range(2_000):
        low = random.uniform(-1, 1) * 10 ** random.randint(-6, 9)
        high = low + random.choice([0, 1, random.random()]) * 10 ** random.randint(-6, 9)
        ticks = value_ticks(low, high, 4)
        assert 2 <= len(ticks) <= 7, (low, high)
        assert ticks[0] <= low + 1e-8 * (ticks[1] - ticks[0])
        assert ticks[-1] >= high - 1e-8 * (ticks[1] - ticks[0])


@pytest.mark.parametrize(
    ("start", "end", "words"),
    [
        ("2026-03-10 00:00", "2026-03-11 00:00", ["03-10", "04:00", "08:00", "12:00", "16:00", "20:00", "03-11"]),
        ("2026-03-10 09:50", "2026-03-10 10:20", ["09:50", "09:55", "10:00", "10:05", "10:10", "10:15", "10:20"]),
        # The hour from two to three is skipped.
        ("2026-03-29 00:00", "2026-03-29 06:00", ["00:00", "01:00", "03:00", "04:00", "05:00", "06:00"]),
        # It comes twice, and is marked once.
        ("2026-10-25 00:00", "2026-10-25 05:00", ["00:00", "01:00", "02:00", "03:00", "04:00", "05:00"]),
        ("2026-03-01 00:00", "2026-03-08 00:00", ["03-01", "03-03", "03-05", "03-07"]),
        ("2026-01-15 00:00", "2026-12-15 00:00", ["2026-03", "2026-05", "2026-07", "2026-09", "2026-11"]),
    ],
)
def test_times_are_local_and_round(start: str, end: str, words: list[str]) -> None:
    """Also on the days on which clocks are changed."""
    ticks = time_ticks(at(start), at(end), 6)
    assert [word for _, word in ticks] == words
    assert all(at(start) <= moment <= at(end) for moment, _ in ticks)


def test_any_span() -> None:
    """From a minute to a century there are some, and never many."""
    for seconds in (60, 600, 3_600, 86_400, 7 * 86_400, 30 * 86_400, 366 * 86_400, 10 * 366 * 86_400):
        for shift in range(0, 86_400 * 5, 7_777):
            assert len(time_ticks(START + shift, START + shift + seconds, 6)) <= 8


def test_steps() -> None:
    """A value holds until the next one; where nothing is known, there is no line."""
    parts = [constant(START, START + 21_600, 18), constant(START + 21_600, START + 43_200, 22)]
    svg = draw("t", [curve(*parts, constant(START + 64_800, END, 20))], [], START, END)
    lines = [points(path.replace("L", " ")) for path in paths(svg, "l c0 o")]
    assert len(lines) == 2
    first, second = lines
    assert [x for x, _ in first] == [54, 157.5, 157.5, 261]
    assert first[0][1] == first[1][1] > first[2][1] == first[3][1]
    assert [x for x, _ in second] == [364.5, 468]
    assert first[2][1] < second[0][1] < first[0][1]
    assert {"18", "19", "20", "21", "22"} <= set(texts(svg))


@pytest.mark.parametrize(
    ("low", "high", "unit", "levels"),
    [
        (400.1, 400.6, "ppm", ["400", "400.2", "400.4", "400.6"]),
        (0, 3_000_000, "Wh", ["0", "1M", "2M", "3M"]),
        (1.2e9, 1.4e9, None, ["1.2G", "1.25G", "1.3G", "1.35G", "1.4G"]),
        (0.0001, 0.0003, "m³", ["0.0001", "0.00015", "0.0002", "0.00025", "0.0003"]),
    ],
)
def test_levels_differ(low: float, high: float, unit: str | None, levels: list[str]) -> None:
    """Beside the plot is as much of each number as tells it from the others, and no more than has room."""
    svg = draw("t", [curve(CurvePart(START, END, low, high, low), unit=unit)], [], START, END)
    assert [text for text in texts(svg) if re.fullmatch(r"-?[\d.]+[GM]?", text)] == levels


def test_peaks_stay() -> None:
    """What was reached in a part for a moment only is drawn to its top."""
    svg = draw("t", [curve(constant(START, END - 500, 10), CurvePart(END - 500, END, 10, 100, 10))], [], START, END)
    (line,) = paths(svg, "l c0 o")
    heights = [y for _, y in points(line.replace("L", " "))]
    assert max(heights) - min(heights) > 100


def test_band_and_bars() -> None:
    """Means have a band around them; what was counted stands on zero, also where it is negative."""
    means = curve(
        *(CurvePart(START + i * 3600, START + i * 3600 + 3600, i, i + 4, i + 1) for i in range(24)), kind=CurveKind.MEAN
    )
    bars = curve(
        *(constant(START + i * 3600, START + i * 3600 + 3600, float(i - 5)) for i in range(24)),
        kind=CurveKind.BARS,
        unit="kWh",
    )
    svg = draw("t", [means, bars], [], START, END)
    (band,) = paths(svg, "c0 a")
    assert len(points(band.replace("L", " "))) == 48
    drawn = [re.findall(NUMBER, path) for path in paths(svg, "c0 s")][2:]  # Behind the colours of both names.
    assert len(drawn) == 24
    (zero,) = {float(y) for _, y, *_ in drawn}
    tops = [float(numbers[2]) for numbers in drawn]
    assert tops == sorted(tops, reverse=True)
    assert tops[0] > zero == tops[5] > tops[-1]
    assert "Room (kWh)" in texts(svg)


def test_stripes() -> None:
    """States at rest are grey, others are colored, and what is unknown is left out."""
    turns = [(START, START + 40_000, "off"), (START + 40_000, START + 40_001, "on"), (START + 50_000, END, "on")]
    svg = draw("t", [], [Stripe("Front door", turns)], START, END)
    assert texts(svg)[:3] == ["Front door", "off", "on"]
    assert len(paths(svg, "n")) == 1
    short, long = (re.findall(NUMBER, path) for path in paths(svg, "c0 s"))
    assert float(short[2]) == 1.5  # However short, it is seen.
    assert float(long[2]) > 150


def test_nothing_is_run() -> None:
    """Names are texts, whatever they hold; the whole is XML."""
    stripe = Stripe(NASTY, [(START, END, NASTY)])
    svg = draw(NASTY, [curve(constant(START, END, 1), name=NASTY, unit=NASTY)], [stripe], START, END)
    root = parsed(svg.encode().decode())
    assert {element.tag.removeprefix(SVG) for element in root.iter()} == {
        "svg",
        "title",
        "desc",
        "style",
        "rect",
        "path",
        "text",
    }
    assert not [name for element in root.iter() for name in element.attrib if name.startswith("on") or "href" in name]
    assert root.get("role") == "img"
    title, desc = (next(root.iter(f"{SVG}{tag}")) for tag in ("title", "desc"))
    assert root.get("aria-labelledby") == f"{title.get('id')} {desc.get('id')}"
    assert "2026-03-10 00:00" in (desc.text or "")
    assert "url(" not in svg
    assert "@import" not in svg


def test_size() -> None:
    """As many as there may be, of as many parts as there may be, are a file of some hundred kilobytes at most."""
    random = Random(2)
    width = (END - START) / 360
    curves = [
        curve(
            *(
                CurvePart(START + i * width, START + i * width + width, v := random.random(), v + 1, v)
                for i in range(360)
            ),
            name=f"{n}",
        )
        for n in range(8)
    ]
    svg = draw("t", curves, [], START, END)
    assert len(svg) < 300_000
    # Nine names, of which the colors repeat.
    assert len({element.get("class") for element in parsed(svg).iter(f"{SVG}path")}) > 6


def test_edges() -> None:
    """A span of nothing, one part, the largest and smallest numbers."""
    for value in (0.0, -0.0, 1e300, -1e300, 1e-300, 5.0):
        for kind in CurveKind:
            assert "nan" not in draw("t", [curve(constant(START, START, value), kind=kind)], [], START, START)
    assert longest_active([(0, 9, "off"), (9, 10, "on")]) == "on"
    assert longest_active([(0, 9, "off"), (9, 10, "closed")]) == "off"
