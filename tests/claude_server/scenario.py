"""Scenarios: turns that are answered one after the other, written by hand or read from a YAML file."""

from dataclasses import fields
from pathlib import Path
from typing import Any

import yaml

from .turn import Fault, Turn


class Scenario:
    """Answers each request with the next turn."""

    def __init__(self, turns: list[Turn], *, name: str = "scenario") -> None:
        self.name = name
        self.turns = list(turns)
        self.used = 0

    async def respond(self, request_body: dict[str, Any]) -> Turn:
        """Return the next turn, or HTTP 500 when there is none left."""
        if self.used == len(self.turns):
            message = f"The {self.name} is exhausted: all {len(self.turns)} turns were used."
            # Without the header the SDK would ask twice more, with seconds in between.
            return Turn(fault=Fault("http", status=500, message=message, headers={"x-should-retry": "false"}))
        self.used += 1
        return self.turns[self.used - 1]


def load_scenario(path: str | Path) -> Scenario:
    """Read a scenario file; raises ValueError that names the file and the turn for anything it does not know."""
    path = Path(path)
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    try:
        if not isinstance(data, dict) or not isinstance(data.get("turns"), list):
            raise ValueError("a scenario is a mapping with a list of turns")  # noqa: TRY004, TRY301 - one error type
        _only(data, {"turns", "description"})
        turns = []
        for index, item in enumerate(data["turns"]):
            try:
                turns.append(_turn(item))
            except (TypeError, ValueError) as err:
                raise ValueError(f"turn {index + 1}: {err}") from err
    except ValueError as err:
        raise ValueError(f"{path}: {err}") from err
    return Scenario(turns, name=f"scenario {path.name}")


def _turn(item: dict[str, Any]) -> Turn:
    """Build a turn; text alone stands for one text block, as in the API."""
    values = dict(item)
    _only(values, {field.name for field in fields(Turn)})
    if isinstance(content := values.get("content"), str):
        values["content"] = [{"type": "text", "text": content}]
    if fault := values.get("fault"):
        _only(fault, {field.name for field in fields(Fault)})
        values["fault"] = Fault(**fault)
    return Turn(**values)


def _only(mapping: dict[str, Any], known: set[str]) -> None:
    if unknown := sorted(set(mapping) - known):
        raise ValueError(f"unknown key {', '.join(unknown)}; known: {', '.join(sorted(known))}")
