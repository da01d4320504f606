"""Reading tool results, whichever tool of a kind brought them: by the names of their keys, at any depth."""

from collections.abc import Iterator
import csv
import io
from typing import Any

import yaml


def values(data: Any, key: str) -> Iterator[Any]:
    """Find the values of a key at any depth."""
    if isinstance(data, dict):
        for name, value in data.items():
            if name == key:
                yield value
            else:
                yield from values(value, key)
    elif isinstance(data, list):
        for item in data:
            yield from values(item, key)


def facts(data: Any, path: str = "") -> Iterator[str]:
    """Put plain values into words as they are named: "kitchen minimum: 18.2"."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield from facts(value, f"{path} {key}".strip())
    elif isinstance(data, list):
        for item in data:
            yield from facts(item, path)
    elif data is not None:
        shown = str(data).strip()
        yield f"{path}:\n{shown}" if "\n" in shown else f"{path}: {shown}"


def table(value: Any) -> list[dict[str, str]]:
    """Read a CSV table with a header, or rows that are objects already."""
    if isinstance(value, str):
        return list(csv.DictReader(io.StringIO(value)))
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def entities(data: Any) -> list[dict[str, str]]:
    """Return id, name, area, state and unit of the entities in a result of get_entities or GetLiveContext."""
    for found in values(data, "entities"):
        return table(found)
    for found in values(data, "result"):
        # Live context: a sentence, then a list in YAML.
        listed = yaml.safe_load(str(found).partition("\n")[2]) or []
        return [
            {
                "name": str(item.get("names", "")),
                "area": str(item.get("areas", "")),
                "state": str(item.get("state", "")),
                "unit": str((item.get("attributes") or {}).get("unit_of_measurement", "")),
            }
            for item in listed
        ]
    return []


def changes(data: Any) -> list[dict[str, str]]:
    """Return the listed changes of a history result, newest first."""
    for key in ("newest_changes", "changes", "rows", "states"):
        for found in values(data, key):
            if rows := table(found):
                return sorted(rows, key=lambda row: row.get("time", ""), reverse=True)
    return []


def last_begun(data: Any) -> list[dict[str, str]]:
    """Return when each state of a history result last began, in the form of changes, newest first."""
    rows = [row for found in values(data, "per_state") for row in table(found) if row.get("last_begun")]
    return sorted(({"time": row["last_begun"], "state": row["state"]} for row in rows), key=_time, reverse=True)


def _time(row: dict[str, str]) -> str:
    return row["time"]


def accounts(data: Any) -> list[Any]:
    """Return what a result says of each entity, where it keeps them apart."""
    for found in values(data, "entities"):
        if isinstance(found, dict):
            return list(found.values())
    return [data]


def notes(data: Any) -> str:
    """Return what a result says about itself, for the end of an answer."""
    return "".join(f" ({note})" for note in values(data, "note"))
