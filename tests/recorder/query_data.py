"""A home's past with canaries in what is hidden, for tests of queries."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
import json
from pathlib import Path
from typing import Any

import pytest_socket
from sqlalchemy import Engine, insert, text

from custom_components.extended_assist.recorder.query import Database, query_database
from custom_components.extended_assist.results import ToolError
from tests.databases import recorder_schema, temporary_database

NUMERIC = frozenset({"sensor.temperature", "sensor.power"})
"""Entities whose every state is a number: no cast of an exposed state fails."""
MIXED = NUMERIC | {"light.kitchen", "binary_sensor.door"}
CANARIES = ("canary", "314159", "271828", "s3cret")
START = 1_700_000_000
_HOUR = 3600
_ENTITIES = (
    "sensor.temperature",
    "sensor.power",
    "sensor.canary_hidden",
    "light.canary",
    "light.kitchen",
    "binary_sensor.door",
)
_STATISTICS = ("sensor.temperature", "sensor.power", "sensor.canary_hidden", "opower:canary")


def _state(entity: str, number: int) -> str:
    match entity:
        case "sensor.temperature":
            return f"{20 + number % 17 / 4:.2f}"
        case "sensor.power":
            return str(number * 7 % 900)
        case "sensor.canary_hidden":
            return "314159.26" if number % 2 else "CANARYSTATE"
        case "light.canary":
            return "CANARYSTATE"
        case "light.kitchen":
            return "unavailable" if number % 11 == 0 else "on" if number % 2 else "off"
        case _:
            return "on" if number % 3 else "off"


def _attributes(entity: str) -> dict[str, Any]:
    if entity in ("sensor.canary_hidden", "light.canary"):
        return {"friendly_name": "CANARYNAME", "canary": "CANARYATTRIBUTE", "unit_of_measurement": "canaries"}
    return {
        "friendly_name": entity.split(".")[1].title(),
        "unit_of_measurement": "°C",
        "offset": 1.5,
        "options": ["a", "b"],
        "access_token": "s3cret",
        "entity_picture": "/api/x?token=s3cret",
        "source": "sensor.canary_hidden",
        "entity_id": ["light.canary", entity],
        "nested": {"who": {"light.canary": 1}},
    }


def fill(engine: Engine, entity_ids: Collection[str] | None = None) -> None:
    """Write the past of some entities, or of all; ids are the same either way."""
    # Imported late: Home Assistant's test harness must patch the recorder before anything loads it.
    from homeassistant.components.recorder import db_schema as schema  # noqa: PLC0415

    wanted = set(_ENTITIES) | set(_STATISTICS) if entity_ids is None else set(entity_ids)
    meta = [{"metadata_id": n, "entity_id": e} for n, e in enumerate(_ENTITIES, 1) if e in wanted]
    attributes = [
        {"attributes_id": n, "hash": n, "shared_attrs": json.dumps(_attributes(e), ensure_ascii=False)}
        for n, e in enumerate(_ENTITIES, 1)
        if e in wanted
    ]
    states = []
    for number in range(360):
        index = number % len(_ENTITIES)
        hidden = _ENTITIES[index] in ("sensor.canary_hidden", "light.canary")
        later = 200_000_000 if hidden and number % 4 else 0
        states.append(
            {
                "state_id": number + 1,
                "metadata_id": index + 1,
                "state": _state(_ENTITIES[index], number // len(_ENTITIES)),
                "last_updated_ts": START + number * 600 + number / 8 + later,
                "last_changed_ts": START + number * 600 if number % 5 == 0 else None,
                "last_reported_ts": None,
                "old_state_id": number + 1 - len(_ENTITIES) if number >= len(_ENTITIES) else None,
                "attributes_id": index + 1,
                "context_user_id_bin": b"CANARYUSER",
            }
        )
    statistics_meta = [
        {
            "id": n,
            "statistic_id": s,
            "source": s.split(":", maxsplit=1)[0] if ":" in s else "recorder",
            "unit_of_measurement": "kWh" if "power" in s else "°C",
            "unit_class": None,
            "has_mean": True,
            "has_sum": "power" in s,
            "name": None,
            "mean_type": 1,
        }
        for n, s in enumerate(_STATISTICS, 1)
        if s in wanted
    ]
    statistics = [
        {
            "id": number + 1,
            "metadata_id": number % 4 + 1,
            "start_ts": float(START + number // 4 * _HOUR),
            "created_ts": float(START),
            "mean": 271828.18 if number % 4 >= 2 else 20 + number / 16,
            "min": 19.0 + number % 3,
            "max": 271828.0 if number % 4 >= 2 else 25.0 + number % 7,
            "sum": number * 1.25 if number % 4 == 1 else None,
            "state": number / 2,
        }
        for number in range(200)
    ]
    shown = {row["id"] for row in statistics_meta}
    ids = {row["metadata_id"] for row in meta}
    with engine.begin() as connection:
        for table, rows in (
            (schema.StatesMeta, meta),
            (schema.StateAttributes, attributes),
            (schema.States, [row for row in states if row["metadata_id"] in ids]),
            (schema.StatisticsMeta, statistics_meta),
            (schema.Statistics, [row for row in statistics if row["metadata_id"] in shown]),
            (schema.StatisticsShortTerm, [row for row in statistics if row["metadata_id"] in shown]),
        ):
            connection.execute(insert(table), rows)


@contextmanager
def filled(engine: str, folder: Path, entity_ids: Collection[str] | None = None) -> Iterator[Engine]:
    """Yield a database with the past of some entities, or of all."""
    folder.mkdir(parents=True, exist_ok=True)
    with temporary_database(engine, folder) as url, recorder_schema(url) as database:
        fill(database, entity_ids)
        pytest_socket.enable_socket()
        yield database


def url_of(database: Engine) -> str:
    """Return the address of a database with its password."""
    return database.url.render_as_string(hide_password=False)


type Outcome = tuple[str, Any, Any]


def outcome(
    database: Engine, query: str, exposed: Collection[str], parameters: Mapping[str, Any] | None = None
) -> Outcome:
    """Return what the model learns from a query."""
    try:
        answer = query_database(Database(url=url_of(database)), query, parameters or {}, exposed, exposed)
    except ToolError as err:
        return ("error", str(err), None)
    return ("rows", answer.header, sorted(answer.rows))


def tells(result: Outcome, query: str = "") -> str | None:
    """Return the canary that a result contains, if it is not one that the query itself brought along."""
    said = repr(result).casefold()
    return next((canary for canary in CANARIES if canary in said and canary not in query.casefold()), None)


def contents(database: Engine) -> dict[str, Any]:
    """Return everything that a write could have changed."""
    from sqlalchemy import inspect  # noqa: PLC0415 - only here

    with database.connect() as connection:
        tables = sorted(inspect(connection).get_table_names())
        quote = database.dialect.identifier_preparer.quote
        return {
            table: sorted(
                repr([bytes(value) if isinstance(value, memoryview) else value for value in row])
                for row in connection.execute(text(f"SELECT * FROM {quote(table)}"))  # noqa: S608 - its own tables
            )
            for table in tables
        }
