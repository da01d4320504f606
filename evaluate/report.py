"""What a run found, as a table and as a picture."""

from collections import Counter
from collections.abc import Iterable
from html import escape
import json
from statistics import median
from typing import Any

from .grading import OUTCOMES, Outcome
from .run import Answered, Turn

PRICES: dict[str, tuple[float, float, float]] = {
    "claude-fable-5-1": (10.0, 50.0, 0.25),
    "claude-opus-5-5": (4.0, 20.0, 0.20),
    "claude-opus-5": (5.0, 25.0, 0.50),
    "claude-sonnet-5-5": (2.0, 10.0, 0.10),
    "claude-sonnet-5": (2.0, 10.0, 0.20),
    "claude-haiku-5-5": (0.10, 0.50, 0.01),
    "claude-haiku-4-5": (1.0, 5.0, 0.10),
}
"""US dollars for a million tokens read, written by the model, and read from the cache, in November 2026.

https://platform.claude.com/docs/en/about-claude/pricing; of Haiku 5.5, what holds for requests below 100,000 tokens.
"""
_WRITE_FIVE_MINUTES, _WRITE_ONE_HOUR = 1.25, 2.0
"""What writing to the cache costs, in prices of reading."""

COLUMNS = (
    "model", "questions", "right", "asked back", "wrong", "claimed", "unasked", "requests", "a message", "tokens in", "cached",
    "out", "first word, s", "in all, s", "US$",
)  # fmt: skip
_COLOURS: dict[Outcome, str] = {"right": "#2e9e5b", "asked back": "#a87400", "wrong": "#d2553c", "claimed": "#8b5fc7"}
_WIDTH, _ROW, _LEFT = 760, 34, 230


def price(model: str, tokens: Counter[str]) -> float | None:
    """Return what tokens cost in US dollars; None where the price of the model is not known."""
    if (prices := PRICES.get(model)) is None:
        return None
    read, written, cached = prices
    for_an_hour = tokens["written_for_an_hour"]
    writing = (tokens["written"] - for_an_hour) * _WRITE_FIVE_MINUTES + for_an_hour * _WRITE_ONE_HOUR
    return (tokens["input"] * read + writing * read + tokens["cached"] * cached + tokens["output"] * written) / 1e6


def row_of(model: str, answered: list[Answered]) -> list[str]:
    """Return the row of a model, as its columns are named."""
    turns = [turn for each in answered for turn in each.turns]
    tokens = sum((turn.tokens for turn in turns), Counter[str]())
    outcomes = Counter(each.verdict.outcome for each in answered)
    requests = sum(turn.requests for turn in turns)
    own = [each.turns[each.main] for each in answered]
    cost = price(model, tokens)
    return [
        model,
        str(len(answered)),
        *(str(outcomes[outcome]) for outcome in OUTCOMES),
        str(sum(len(each.verdict.unasked) for each in answered)),
        str(requests),
        f"{requests / len(turns):.2f}",
        *(f"{tokens[kind]:,}" for kind in ("input", "cached", "output")),
        f"{median(turn.first_word for turn in own):.2f}",
        f"{median(turn.seconds for turn in own):.2f}",
        "not known" if cost is None else f"{cost:.4f}",
    ]


def table(rows: list[list[str]], columns: Iterable[str] = COLUMNS) -> str:
    """Return rows as Markdown."""
    lines = [list(columns), *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    shown = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in lines
    ]
    return "\n".join([shown[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *shown[1:]])


def kinds(answered: list[Answered]) -> str:
    """Return how it went by kind of question."""
    by_kind = {each.question.kind: Counter[str]() for each in answered}
    for each in answered:
        by_kind[each.question.kind][each.verdict.outcome] += 1
    rows = [
        [kind, str(counts.total()), *(str(counts[outcome]) for outcome in OUTCOMES)] for kind, counts in by_kind.items()
    ]
    return table(rows, ("kind", "questions", *OUTCOMES))


def details(model: str, answered: list[Answered]) -> list[dict[str, Any]]:
    """Return every question with its answer, for a file."""
    return [
        {
            "model": model,
            "kind": each.question.kind,
            "language": each.question.language,
            "said": [*(text for text, _ in each.question.before), each.question.text],
            "expected": [fact.told(each.question.language) for fact in each.question.facts],
            "outcome": each.verdict.outcome,
            "unasked": each.verdict.unasked,
            "turns": [{key: getattr(turn, key) for key in Turn.__slots__} for turn in each.turns],
        }
        for each in answered
    ]


def to_json(found: dict[str, list[Answered]]) -> str:
    """Return all questions of all models."""
    return json.dumps(
        [row for model, answered in found.items() for row in details(model, answered)], indent=2, ensure_ascii=False
    )


def picture(found: dict[str, list[Answered]]) -> str:
    """Return an SVG with a bar for each model; it stands on light and dark pages alike."""
    height = _ROW * (len(found) + 1) + 12
    # A grey that is read on white and on black: a page's own colours do not reach into a picture.
    text = "font-family='system-ui, sans-serif' font-size='13' fill='#7d8590'"
    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {_WIDTH} {height}' role='img' aria-label='Answers by model' {text}>",
    ]
    for row, (model, answered) in enumerate(found.items()):
        top, left = row * _ROW + 8, float(_LEFT)
        counts = Counter(each.verdict.outcome for each in answered)
        parts.append(f"<text x='{_LEFT - 10}' y='{top + 17}' text-anchor='end'>{escape(model)}</text>")
        for outcome in OUTCOMES:
            width = (_WIDTH - _LEFT - 10) * counts[outcome] / len(answered)
            parts.append(f"<rect x='{left:.1f}' y='{top}' width='{width:.1f}' height='24' fill='{_COLOURS[outcome]}'/>")
            if width > 24:
                parts.append(
                    f"<text fill='#fff' x='{left + width / 2:.1f}' y='{top + 17}' text-anchor='middle'>{counts[outcome]}</text>"
                )
            left += width
    top = len(found) * _ROW + 14
    for number, outcome in enumerate(OUTCOMES):
        left = _LEFT + number * 125
        parts.append(f"<rect x='{left}' y='{top}' width='12' height='12' fill='{_COLOURS[outcome]}'/>")
        parts.append(f"<text x='{left + 18}' y='{top + 11}'>{outcome}</text>")
    return "\n".join([*parts, "</svg>"]) + "\n"
