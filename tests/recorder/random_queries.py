# ruff: noqa: S608 - these queries are constants
"""Random queries that every engine understands, and that fail on hidden rows if an engine ever looks at those."""

from typing import Any

from hypothesis import strategies as st

_NUMBER = {"sqlite": "CAST({} AS REAL)", "postgresql": "CAST({} AS DOUBLE PRECISION)", "mariadb": "CAST({} AS DOUBLE)"}
_TABLES = {
    "states": ("state_id", "metadata_id", "last_updated_ts"),
    "states_meta": ("metadata_id",),
    "statistics": ("metadata_id", "start_ts", "mean", "max"),
    "statistics_short_term": ("metadata_id", "start_ts", "mean"),
}
_TEXTS = {"states": "state", "states_meta": "entity_id"}


@st.composite
def _number(draw: Any, engine: str, sources: dict[str, str], depth: int = 2) -> str:
    """Return an expression that is a number on every exposed row."""
    alias = draw(st.sampled_from(sorted(sources)))
    table = sources[alias]
    kind = draw(st.integers(0, 7 if depth else 2))
    if kind <= 1:
        return f"{alias}.{draw(st.sampled_from(_TABLES[table]))}"
    if kind == 2:
        return str(draw(st.sampled_from((0, 1, 2, 3, 7, 20, 1700050000))))
    inner = draw(_number(engine, sources, depth - 1))
    if kind == 3 and table == "states":
        return _NUMBER[engine].format(f"{alias}.state")
    if kind == 4:
        return f"({inner} {draw(st.sampled_from('+-'))} {draw(_number(engine, sources, depth - 1))})"
    if kind == 5:
        return f"abs({inner})"
    if kind == 6 and alias in sources and table in _TEXTS:
        return f"length({alias}.{_TEXTS[table]})"
    return f"CASE WHEN {inner} > 2 THEN {inner} ELSE 1 END"


@st.composite
def _condition(draw: Any, engine: str, sources: dict[str, str], depth: int = 2) -> str:
    """Return a condition."""
    kind = draw(st.integers(0, 8 if depth else 3))
    alias = draw(st.sampled_from(sorted(sources)))
    left = draw(_number(engine, sources, 1))
    if kind <= 1:
        return f"{left} {draw(st.sampled_from(('<', '>', '<=', '>=', '<>', '=')))} {draw(_number(engine, sources, 1))}"
    if kind == 2:
        return f"{alias}.metadata_id {draw(st.sampled_from(('IN', 'NOT IN')))} (1, 3, 4)"
    if kind == 3:
        return f"{left} BETWEEN 1 AND {draw(_number(engine, sources, 0))}"
    if kind == 4 and sources[alias] in _TEXTS:
        return f"{alias}.{_TEXTS[sources[alias]]} {draw(st.sampled_from(('LIKE', 'NOT LIKE')))} '%2%'"
    if kind == 5:
        inner = {"i": "states_meta"}
        return f"EXISTS (SELECT 1 FROM states_meta i WHERE i.metadata_id = {alias}.metadata_id AND {draw(_condition(engine, inner, 0))})"
    if kind == 6:
        inner = {"j": "states_meta"}
        return f"{alias}.metadata_id IN (SELECT {draw(_number(engine, inner, 1))} FROM states_meta j WHERE {draw(_condition(engine, inner, 0))})"
    if kind == 7:
        return f"NOT ({draw(_condition(engine, sources, depth - 1))})"
    word = draw(st.sampled_from(("AND", "OR")))
    return f"({draw(_condition(engine, sources, depth - 1))} {word} {draw(_condition(engine, sources, depth - 1))})"


@st.composite
def _from(draw: Any, engine: str, prefix: str) -> tuple[str, dict[str, str]]:
    """Return what follows FROM, with the aliases in it."""
    sources: dict[str, str] = {}
    text = ""
    for number in range(draw(st.integers(1, 2))):
        table, alias = draw(st.sampled_from(sorted(_TABLES) if number == 0 else ["states_meta"])), f"{prefix}{number}"
        shown = table
        if draw(st.booleans()):
            where = draw(_condition(engine, {"q": table}, 0))
            shown = f"(SELECT q.* FROM {table} q{f' WHERE {where}' if draw(st.booleans()) else ''})"
        sources[alias] = table
        if number == 0:
            text = f"{shown} {alias}"
            continue
        join = draw(st.sampled_from(("JOIN", "LEFT JOIN")))
        extra = f" AND {draw(_condition(engine, sources, 0))}" if draw(st.booleans()) else ""
        text += f" {join} {shown} {alias} ON {alias}.metadata_id = {prefix}0.metadata_id{extra}"
    return text, sources


@st.composite
def _select(draw: Any, engine: str, prefix: str = "a") -> str:
    """Return a SELECT of two numbers, called x and y."""
    text, sources = draw(_from(engine, prefix))
    where = f" WHERE {draw(_condition(engine, sources))}" if draw(st.booleans()) else ""
    one = draw(_number(engine, sources))
    match draw(st.integers(0, 3)):
        case 0:
            return f"SELECT {one} AS x, {draw(_number(engine, sources))} AS y FROM {text}{where}"
        case 1:
            having = " HAVING count(*) > 1" if draw(st.booleans()) else ""
            return f"SELECT {prefix}0.metadata_id AS x, max({one}) AS y FROM {text}{where} GROUP BY {prefix}0.metadata_id{having}"
        case 2:
            return f"SELECT DISTINCT {one} AS x, {prefix}0.metadata_id AS y FROM {text}{where}"
        case _:
            return f"SELECT {one} AS x, count(*) OVER (PARTITION BY {prefix}0.metadata_id) AS y FROM {text}{where}"


@st.composite
def queries(draw: Any, engine: str) -> str:
    """Return a whole query."""
    query = draw(_select(engine))
    match draw(st.integers(0, 4)):
        case 0:
            return f"SELECT x, y FROM ({query}) z WHERE x {draw(st.sampled_from('<>'))} {draw(st.integers(0, 30))}"
        case 1:
            return f"WITH c AS ({query}) SELECT count(*) AS n, max(c.x) AS m FROM c WHERE c.x + c.y > 3"
        case 2:
            return f"SELECT x, y FROM ({query}) z UNION SELECT x, y FROM ({draw(_select(engine, 'b'))}) w"
        case 3:
            return f"WITH c AS ({query}), d AS (SELECT x, count(*) AS n FROM c GROUP BY x) SELECT d.x, d.n FROM d WHERE d.n > 0"
        case _:
            return query
