"""Queries that try to read past exposure, to change something, or to stop the house, in the words of every engine.

Whatever they are, they must act exactly as in a home that never had anything hidden.
"""

from . import mariadb, oracles, postgresql, shared, sqlite


def queries() -> list[str]:
    """Return all of them."""
    own = (sqlite.QUERIES, postgresql.QUERIES, mariadb.QUERIES)
    return [*dict.fromkeys([*shared.QUERIES, *(query for each in own for query in each), *oracles.queries()])]
