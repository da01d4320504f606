"""Queries that try to read past exposure, to change something, or to stop the house.

Each module has two collections: what must be refused, and what may run but must not tell anything of hidden rows.
"""

from types import ModuleType

from . import mariadb, oracles, postgresql, shared, sqlite

_ENGINES: dict[str, ModuleType] = {"sqlite": sqlite, "postgresql": postgresql, "mariadb": mariadb}


def refused(engine: str) -> list[str]:
    """Return the queries that must be refused on an engine."""
    return [*shared.REFUSED, *_ENGINES[engine].REFUSED]


def contained(engine: str) -> list[str]:
    """Return the queries that must act as if hidden rows did not exist."""
    return [*shared.CONTAINED, *_ENGINES[engine].CONTAINED, *oracles.of(engine)]
