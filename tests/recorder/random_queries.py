# ruff: noqa: S608 - these queries are constants
"""Random queries, the same for the same seed."""

from random import Random

_NUMBER = "CAST({} AS REAL)"
_TABLES = {
    "states": ("state_id", "metadata_id", "last_updated_ts"),
    "states_meta": ("metadata_id",),
    "statistics": ("metadata_id", "start_ts", "mean", "max"),
    "statistics_short_term": ("metadata_id", "start_ts", "mean"),
}
_TEXTS = {"states": "state", "states_meta": "entity_id"}


def _number(rng: Random, sources: dict[str, str], depth: int = 2) -> str:
    """Return an expression that is a number on every exposed row."""
    alias = rng.choice(sorted(sources))
    table = sources[alias]
    kind = rng.randint(0, 8 if depth else 2)
    if kind == 8 and table == "states":
        return f"json_extract(CASE WHEN {alias}.state GLOB '[0-9]*' THEN '1' ELSE 'no json' END, '$')"
    if kind <= 1:
        return f"{alias}.{rng.choice(_TABLES[table])}"
    if kind == 2:
        return str(rng.choice((0, 1, 2, 3, 7, 20, 1700050000)))
    inner = _number(rng, sources, depth - 1)
    if kind == 3 and table == "states":
        return _NUMBER.format(f"{alias}.state")
    if kind == 4:
        return f"({inner} {rng.choice('+-')} {_number(rng, sources, depth - 1)})"
    if kind == 5:
        return f"abs({inner})"
    if kind == 6 and alias in sources and table in _TEXTS:
        return f"length({alias}.{_TEXTS[table]})"
    return f"CASE WHEN {inner} > 2 THEN {inner} ELSE 1 END"


def _condition(rng: Random, sources: dict[str, str], depth: int = 2) -> str:
    """Return a condition."""
    kind = rng.randint(0, 8 if depth else 3)
    alias = rng.choice(sorted(sources))
    left = _number(rng, sources, 1)
    if kind <= 1:
        return f"{left} {rng.choice(('<', '>', '<=', '>=', '<>', '='))} {_number(rng, sources, 1)}"
    if kind == 2:
        return f"{alias}.metadata_id {rng.choice(('IN', 'NOT IN'))} (1, 3, 4)"
    if kind == 3:
        return f"{left} BETWEEN 1 AND {_number(rng, sources, 0)}"
    if kind == 4 and sources[alias] in _TEXTS:
        return f"{alias}.{_TEXTS[sources[alias]]} {rng.choice(('LIKE', 'NOT LIKE'))} '%2%'"
    if kind == 5:
        inner = {"i": "states_meta"}
        return f"EXISTS (SELECT 1 FROM states_meta i WHERE i.metadata_id = {alias}.metadata_id AND {_condition(rng, inner, 0)})"
    if kind == 6:
        inner = {"j": "states_meta"}
        return f"{alias}.metadata_id IN (SELECT {_number(rng, inner, 1)} FROM states_meta j WHERE {_condition(rng, inner, 0)})"
    if kind == 7:
        return f"NOT ({_condition(rng, sources, depth - 1)})"
    word = rng.choice(("AND", "OR"))
    return f"({_condition(rng, sources, depth - 1)} {word} {_condition(rng, sources, depth - 1)})"


def _from(rng: Random, prefix: str) -> tuple[str, dict[str, str]]:
    """Return what follows FROM, with the aliases in it."""
    sources: dict[str, str] = {}
    text = ""
    for number in range(rng.randint(1, 2)):
        table, alias = rng.choice(sorted(_TABLES) if number == 0 else ["states_meta"]), f"{prefix}{number}"
        shown = table
        if rng.random() < 0.5:
            where = _condition(rng, {"q": table}, 0)
            shown = f"(SELECT q.* FROM {table} q{f' WHERE {where}' if rng.random() < 0.5 else ''})"
        sources[alias] = table
        if number == 0:
            text = f"{shown} {alias}"
            continue
        join = rng.choice(("JOIN", "LEFT JOIN"))
        extra = f" AND {_condition(rng, sources, 0)}" if rng.random() < 0.5 else ""
        text += f" {join} {shown} {alias} ON {alias}.metadata_id = {prefix}0.metadata_id{extra}"
    return text, sources


def _select(rng: Random, prefix: str = "a") -> str:
    """Return a SELECT of two numbers, called x and y."""
    text, sources = _from(rng, prefix)
    where = f" WHERE {_condition(rng, sources)}" if rng.random() < 0.5 else ""
    one = _number(rng, sources)
    match rng.randint(0, 3):
        case 0:
            return f"SELECT {one} AS x, {_number(rng, sources)} AS y FROM {text}{where}"
        case 1:
            having = " HAVING count(*) > 1" if rng.random() < 0.5 else ""
            return f"SELECT {prefix}0.metadata_id AS x, max({one}) AS y FROM {text}{where} GROUP BY {prefix}0.metadata_id{having}"
        case 2:
            return f"SELECT DISTINCT {one} AS x, {prefix}0.metadata_id AS y FROM {text}{where}"
        case _:
            return f"SELECT {one} AS x, count(*) OVER (PARTITION BY {prefix}0.metadata_id) AS y FROM {text}{where}"


def query(rng: Random) -> str:
    """Return a whole query."""
    query = _select(rng)
    match rng.randint(0, 6):
        case 0:
            return f"SELECT x, y FROM ({query}) z WHERE x {rng.choice('<>')} {rng.randint(0, 30)}"
        case 1:
            return f"WITH c AS ({query}) SELECT count(*) AS n, max(c.x) AS m FROM c WHERE c.x + c.y > 3"
        case 2:
            return f"SELECT x, y FROM ({query}) z UNION SELECT x, y FROM ({_select(rng, 'b')}) w"
        case 3:
            return f"WITH c AS ({query}), d AS (SELECT x, count(*) AS n FROM c GROUP BY x) SELECT d.x, d.n FROM d WHERE d.n > 0"
        case 4:
            where = _condition(rng, {"s": "states"})
            return f"SELECT length(a.shared_attrs) AS x, s.attributes_id AS y FROM states s JOIN state_attributes a USING (attributes_id) WHERE {where}"
        case 5:
            where = _condition(rng, {"s": "states"})
            return f"SELECT name, area, max(last_updated) AS x, group_concat(state) AS y FROM states s WHERE {where} GROUP BY entity_id"
        case _:
            return query
