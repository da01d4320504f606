"""The tables that a query may name, each as a view on its exposed rows."""

from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
import re
from typing import Final

from homeassistant.helpers.json import json_dumps
from homeassistant.util.json import json_loads_object

_STATISTICS: Final = (
    "id",
    "metadata_id",
    "start_ts",
    "mean",
    "mean_weight",
    "min",
    "max",
    "state",
    "sum",
    "last_reset_ts",
    "created_ts",
)
COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    "states": (
        "state_id",
        "metadata_id",
        "state",
        "last_updated_ts",
        "last_changed_ts",
        "last_reported_ts",
        "old_state_id",
        "attributes_id",
    ),
    "states_meta": ("metadata_id", "entity_id"),
    "state_attributes": ("attributes_id", "shared_attrs"),
    "statistics": _STATISTICS,
    "statistics_short_term": _STATISTICS,
    "statistics_meta": (
        "id",
        "statistic_id",
        "source",
        "unit_of_measurement",
        "unit_class",
        "has_mean",
        "has_sum",
        "name",
        "mean_type",
    ),
}
"""Every table and column there is, for the model. Users, contexts and hashes are left out, and so are unused columns."""

TEXT_COLUMNS: Final = frozenset(
    {
        ("states", "state"),
        ("states_meta", "entity_id"),
        ("state_attributes", "shared_attrs"),
        ("statistics_meta", "statistic_id"),
        ("statistics_meta", "source"),
        ("statistics_meta", "unit_of_measurement"),
        ("statistics_meta", "unit_class"),
        ("statistics_meta", "name"),
    }
)
MATCHED_ATTRIBUTES: Final = "matched_attributes"
"""The attributes of all states, cleaned: only ever written where they are joined to exposed states by their id."""
COMPUTED_COLUMNS: Final = frozenset({("state_attributes", "shared_attrs")})
"""Columns that are not stored as they are shown."""

ENTITY_ID_PATTERN: Final = r"[A-Za-z_][A-Za-z0-9_]*\.[A-Za-z0-9_]"
"""Finds whatever could be an entity id, exposed or not: a view cannot know which ids existed when a row was written."""
SECRET_PATTERN: Final = "token|password|passwd|secret|api_?key|entity_picture|user_id"  # noqa: S105 - a pattern
"""Finds the names of attributes that hold credentials, or addresses that carry one."""

_hidden_key = re.compile(f"{ENTITY_ID_PATTERN}|{SECRET_PATTERN}", re.IGNORECASE).search
_hidden_value = re.compile(ENTITY_ID_PATTERN).search


@lru_cache(maxsize=128)
def exposed_attributes(shared_attrs: str | None) -> str | None:
    """Return the attributes of a state without secrets and without values that name an entity.

    The same rule is written in SQL for the other engines. Many states share their attributes, so results are kept.
    """
    if shared_attrs is None:
        return None
    try:
        attributes = json_loads_object(shared_attrs)
    except ValueError:
        return None
    return json_dumps(
        {
            key: value
            for key, value in attributes.items()
            if not _hidden_key(key)
            and not (
                _hidden_value(value)
                if isinstance(value, str)
                else isinstance(value, dict | list) and _hidden_value(json_dumps(value))
            )
        }
    )


def view(
    table: str, base: Callable[[str], str], attributes: Callable[[str], str], ids: Mapping[str, Collection[int]]
) -> str:
    """Return the SELECT that a view on the exposed rows of a table stands for.

    base names a table as the engine must see it, attributes makes the expression that shows a column of attributes, and
    ids holds the exposed metadata ids of "states" and "statistics".
    """
    entities, statistics = (
        ", ".join(map(str, sorted(map(int, ids[kind])))) or "NULL" for kind in ("states", "statistics")
    )
    source = "state_attributes" if table == MATCHED_ATTRIBUTES else table
    columns = ", ".join(
        f'{attributes(f'b."{column}"')} AS "{column}"' if (source, column) in COMPUTED_COLUMNS else f'b."{column}"'
        for column in COLUMNS[source]
    )
    # SQLite's authorizer learns which view a table is read for only where a column besides the row's number is read.
    match table:
        case "states":
            exposed = f'b."metadata_id" IN ({entities})'
        case "states_meta":
            exposed = f'b."metadata_id" IN ({entities}) AND b."entity_id" IS NOT NULL'
        case "state_attributes":
            exposed = (
                f'b."attributes_id" IN (SELECT s."attributes_id" FROM {base("states")} AS s '  # noqa: S608 - as below
                f'WHERE s."metadata_id" IN ({entities})) AND b."shared_attrs" IS NOT NULL'
            )
        case "matched_attributes":
            exposed = 'b."shared_attrs" IS NOT NULL'
        case "statistics_meta":
            exposed = f'b."id" IN ({statistics}) AND b."statistic_id" IS NOT NULL'
        case _:
            exposed = f'b."metadata_id" IN ({statistics})'
    return f"SELECT {columns} FROM {base(source)} AS b WHERE {exposed}"  # noqa: S608 - only names above and integers
