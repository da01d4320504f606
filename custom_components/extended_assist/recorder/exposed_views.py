"""The recorder's tables as views on exposed rows, for queries that a user wrote.

They are no wall against a query that is meant to get around them; what a model writes is asked of a copy instead.
"""

from collections.abc import Collection
from typing import Final

_STATISTICS: Final = (
    "id, metadata_id, start_ts, start_ts AS start, mean, min, max, state, sum, last_reset_ts, created_ts"
)
_STATES: Final = (
    "state_id, metadata_id, state, last_updated_ts, last_updated_ts AS last_updated, last_changed_ts, "
    "last_changed_ts AS last_changed, last_reported_ts, old_state_id, attributes_id"
)


def exposed_views(
    base: str, entity_ids: Collection[str], statistic_ids: Collection[str], attributes: str = "shared_attrs"
) -> dict[str, str]:
    """Return the SELECT behind each view; base is what stands before the name of a table of the recorder's own."""
    entities = f"SELECT metadata_id FROM {base}states_meta WHERE entity_id IN ({_texts(entity_ids)})"  # noqa: S608 - quoted
    statistics = f"SELECT id FROM {base}statistics_meta WHERE statistic_id IN ({_texts(statistic_ids)})"  # noqa: S608 - quoted
    states = f"FROM {base}states WHERE metadata_id IN ({entities})"
    return {
        "states_meta": f"SELECT metadata_id, entity_id FROM {base}states_meta WHERE entity_id IN ({_texts(entity_ids)})",  # noqa: S608 - quoted
        "states": f"SELECT {_STATES} {states}",
        "state_attributes": f"SELECT attributes_id, {attributes} AS shared_attrs FROM {base}state_attributes "  # noqa: S608 - quoted
        f"WHERE attributes_id IN (SELECT attributes_id {states})",
        "statistics_meta": f"SELECT * FROM {base}statistics_meta WHERE statistic_id IN ({_texts(statistic_ids)})",  # noqa: S608 - quoted
        "statistics": f"SELECT {_STATISTICS} FROM {base}statistics WHERE metadata_id IN ({statistics})",  # noqa: S608 - quoted
        "statistics_short_term": f"SELECT {_STATISTICS} FROM {base}statistics_short_term WHERE metadata_id IN ({statistics})",  # noqa: S608 - quoted
    }


def _texts(ids: Collection[str]) -> str:
    """Return ids as a list of literals; no id holds a quote or a backslash, and one that does is left out."""
    return ", ".join(f"'{each}'" for each in sorted(ids) if "'" not in each and "\\" not in each) or "NULL"
