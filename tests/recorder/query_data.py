"""A home's past with canaries in what is hidden, for tests of queries."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
import json
from pathlib import Path
from typing import Any

import pytest_socket
from sqlalchemy import Engine, insert, text

from custom_components.extended_assist.results import ToolError
from tests.helpers.databases import recorder_schema, temporary_database

from .asking import Asker, everything_of

NUMERIC = frozenset({"sensor.temperature", "sensor.power"})
"""Entities whose every state is a number: no cast of an exposed state fails."""
MIXED = NUMERIC | {"light.kitchen", "binary_sensor.door"}
HIDDEN = frozenset({"sensor.canary_hidden", "light.canary"})
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


def _attributes(entity: str, *, clean: bool) -> dict[str, Any]:
    """Return what an entity's attributes are, or what of them may be seen."""
    if entity in HIDDEN:
        return {"friendly_name": "CANARYNAME", "canary": "CANARYATTRIBUTE", "unit_of_measurement": "canaries"}
    shown = {
        "friendly_name": entity.split(".")[1].title(),
        "unit_of_measurement": "°C",
        "offset": 1.5,
        "options": ["a", "b"],
    }
    if clean:
        return shown | {"entity_id": [entity], "nested": {"who": {}, "deep": [{"name": "x"}]}}
    return shown | {
        "access_token": "s3cret",
        "entity_picture": "/api/x?token=s3cret",
        "source": "sensor.canary_hidden",
        "entity_id": ["light.canary", entity],
        "nested": {"who": {"light.canary": 1}, "deep": [{"name": "x", "password": "s3cret"}]},
    }


def fill(engine: Engine, entity_ids: Collection[str] | None = None, *, leak: bool = False) -> None:
    """Write the past of all entities, or of some, as it were in a home that never had any other.

    In that home, rows are numbered without gaps, and attributes hold nothing that would have to be left out. With a leak,
    one row of a hidden entity stands there as if it were an exposed one's.
    """
    # Imported late: Home Assistant's test harness must patch the recorder before anything loads it.
    from homeassistant.components.recorder import db_schema as schema  # noqa: PLC0415

    clean = entity_ids is not None
    entities = [each for each in _ENTITIES if entity_ids is None or each in entity_ids]
    statistics = [each for each in _STATISTICS if entity_ids is None or each in entity_ids]
    states = [row for row in map(_state_row, range(360)) if row["entity"] in entities]
    if leak:
        states.append(_state_row(3) | {"entity": entities[0]})
    for number, row in enumerate(states, 1):
        entity = entities.index(row.pop("entity"))
        row["state_id"] = number
        row["metadata_id"] = entity + 1
        # In a home with hidden entities, what is hidden in attributes changes at times.
        row["attributes_id"] = entity + 1 + (0 if clean or number % 4 else len(entities))
    with engine.begin() as connection:
        for table, rows in (
            (schema.StatesMeta, [{"metadata_id": n, "entity_id": each} for n, each in enumerate(entities, 1)]),
            (schema.StateAttributes, [*_attribute_rows(entities, clean=clean)]),
            (schema.States, states),
            (schema.StatisticsMeta, [_statistics_meta_row(n, each) for n, each in enumerate(statistics, 1)]),
            (schema.Statistics, [*_statistics_rows(statistics)]),
            (schema.StatisticsShortTerm, [*_statistics_rows(statistics)]),
        ):
            connection.execute(insert(table), rows)


def _state_row(number: int) -> dict[str, Any]:
    """Return a row of states, with its entity instead of ids."""
    entity = _ENTITIES[number % len(_ENTITIES)]
    later = 200_000_000 if entity in HIDDEN and number % 4 else 0
    return {
        "entity": entity,
        "state": _state(entity, number // len(_ENTITIES)),
        "last_updated_ts": START + number * 600 + number / 8 + later,
        "last_changed_ts": START + number * 600 if number % 5 == 0 else None,
        "last_reported_ts": None,
        "old_state_id": None,
        "context_user_id_bin": b"CANARYUSER",
    }


def _attribute_rows(entities: list[str], *, clean: bool) -> Iterator[dict[str, Any]]:
    """Yield the attributes of entities, twice in a home where what is hidden in them changes."""
    number = 0
    for token in ("s3cret",) if clean else ("s3cret", "s3cret2"):
        for entity in entities:
            number += 1
            attributes = json.dumps(_attributes(entity, clean=clean), ensure_ascii=False, separators=(",", ":"))
            yield {"attributes_id": number, "hash": number, "shared_attrs": attributes.replace("s3cret", token)}


def _statistics_meta_row(number: int, statistic: str) -> dict[str, Any]:
    """Return what is known of a statistic."""
    return {
        "id": number,
        "statistic_id": statistic,
        "source": statistic.split(":", maxsplit=1)[0] if ":" in statistic else "recorder",
        "unit_of_measurement": "kWh" if "power" in statistic else "°C",
        "unit_class": None,
        "has_mean": True,
        "has_sum": "power" in statistic,
        "name": None,
        "mean_type": 1,
    }


def _statistics_rows(statistics: list[str]) -> Iterator[dict[str, Any]]:
    """Yield fifty hours of statistics."""
    written = 0
    for number in range(200):
        index = number % len(_STATISTICS)
        if _STATISTICS[index] in statistics:
            written += 1
            yield {
                "id": written,
                "metadata_id": statistics.index(_STATISTICS[index]) + 1,
                "start_ts": float(START + number // 4 * _HOUR),
                "created_ts": float(START),
                "mean": 271828.18 if index >= 2 else 20 + number / 16,
                "min": 19.0 + number % 3,
                "max": 271828.0 if index >= 2 else 25.0 + number % 7,
                "sum": number * 1.25 if index == 1 else None,
                "state": number / 2,
            }


@contextmanager
def filled(
    engine: str, folder: Path, entity_ids: Collection[str] | None = None, *, leak: bool = False
) -> Iterator[Engine]:
    """Yield a database with the past of some entities, or of all."""
    folder.mkdir(parents=True, exist_ok=True)
    with temporary_database(engine, folder) as url, recorder_schema(url) as database:
        fill(database, entity_ids, leak=leak)
        pytest_socket.enable_socket()
        yield database


def url_of(database: Engine) -> str:
    """Return the address of a database with its password."""
    return database.url.render_as_string(hide_password=False)


type Outcome = tuple[str, Any, Any]


@contextmanager
def asked(database: Engine) -> Iterator[Asker]:
    """Yield what asks a database."""
    asker = Asker(database)
    try:
        yield asker
    finally:
        pytest_socket.enable_socket()
        asker.close()


def outcome(
    asker: Asker,
    query: str,
    exposed: Collection[str],
    parameters: Mapping[str, Any] | None = None,
    *,
    mixed: bool = True,
) -> Outcome:
    """Return what the model learns from a query, in a home that has hidden entities or one that has none."""
    hidden = HIDDEN if mixed else ()
    try:
        answer = asker.ask(everything_of(exposed, hidden), query, parameters)
    except ToolError as err:
        return ("error", str(err), None)
    return ("rows", answer.header, answer.rows)


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
