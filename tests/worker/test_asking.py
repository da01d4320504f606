"""Tests of what a query may do in a process: all of SQLite's own functions that compute something, and nothing else."""

import sqlite3

import pytest

from custom_components.extended_assist.worker.messages import JobError
from custom_components.extended_assist.worker.run_query import ask, lock, with_views

BOUNDS = {"seconds": 2.0, "most_rows": 100, "most_characters": 10_000, "longest": 1_000}
HARMLESS = [
    "abs(-1)",
    "acos(1)",
    "acosh(1)",
    "asin(1)",
    "asinh(1)",
    "atan(1)",
    "atan2(1,2)",
    "atanh(0)",
    "ceil(1.5)",
    "ceiling(1.5)",
    "char(65)",
    "coalesce(NULL,1)",
    "concat('a',1)",
    "concat_ws('-','a','b')",
    "cos(1)",
    "cosh(1)",
    "date('now')",
    "datetime('now')",
    "degrees(1)",
    "exp(1)",
    "floor(1.5)",
    "format('%d',1)",
    "glob('a*','abc')",
    "hex('a')",
    "ifnull(NULL,1)",
    "iif(1,2,3)",
    "instr('abc','b')",
    "json('[1]')",
    "json_array(1,2)",
    "json_array_length('[1,2]')",
    "json_error_position('[1')",
    "json_extract('{\"a\":1}','$.a')",
    "json_insert('{}','$.a',1)",
    "json_object('a',1)",
    "json_patch('{}','{\"a\":1}')",
    "json_pretty('[1]')",
    "json_quote('a')",
    "json_remove('{\"a\":1}','$.a')",
    "json_replace('{\"a\":1}','$.a',2)",
    "json_set('{}','$.a',1)",
    "json_type('[1]')",
    "json_valid('[1]')",
    "jsonb('[1]')",
    "jsonb_array(1)",
    "jsonb_extract('[1]','$[0]')",
    "jsonb_insert('{}','$.a',1)",
    "jsonb_object('a',1)",
    "jsonb_patch('{}','{}')",
    "jsonb_remove('[1]','$[0]')",
    "jsonb_replace('[1]','$[0]',2)",
    "jsonb_set('[1]','$[0]',2)",
    "julianday('now')",
    "length('abc')",
    "like('a%','abc')",
    "likelihood(1,0.5)",
    "likely(1)",
    "ln(2)",
    "log(2)",
    "log(2,8)",
    "log10(2)",
    "log2(2)",
    "lower('A')",
    "ltrim('_a')",
    "max(1,2)",
    "min(1,2)",
    "mod(5,3)",
    "nullif(1,2)",
    "octet_length('a')",
    "pi()",
    "pow(2,3)",
    "power(2,3)",
    "printf('%d',1)",
    "quote('a')",
    "radians(1)",
    "random()",
    "randomblob(4)",
    "replace('abc','b','x')",
    "round(1.5)",
    "round(1.234,2)",
    "rtrim('a_')",
    "sign(-1)",
    "sin(1)",
    "sinh(1)",
    "sqrt(4)",
    "strftime('%H','now')",
    "substr('abc',2)",
    "substring('abc',2,1)",
    "tan(1)",
    "tanh(1)",
    "time('now')",
    "timediff('2026-01-02','2026-01-01')",
    "trim('_a_')",
    "trunc(1.5)",
    "typeof(1)",
    "unhex('41')",
    "unicode('a')",
    "unixepoch()",
    "unlikely(1)",
    "upper('a')",
    "zeroblob(4)",
    "sqlite_version()",
    "CURRENT_TIMESTAMP",
    "CURRENT_DATE",
    "CURRENT_TIME",
    "'{\"a\":1}'->'$.a'",
    "'{\"a\":1}'->>'$.a'",
    "'abc'LIKE'a%'",
    "'abc'GLOB'a*'",
]
AGGREGATES = [
    "avg(x)",
    "count(*)",
    "count(DISTINCT(x))",
    "group_concat(x)",
    "group_concat(x,',')",
    "json_group_array(x)",
    "json_group_object(x,x)",
    "jsonb_group_array(x)",
    "max(x)",
    "min(x)",
    "string_agg(x,',')",
    "sum(x)",
    "total(x)",
]
WINDOWS = [
    "row_number()",
    "rank()",
    "dense_rank()",
    "percent_rank()",
    "cume_dist()",
    "ntile(2)",
    "lag(x)",
    "lag(x,1,0)",
    "lead(x)",
    "first_value(x)",
    "last_value(x)",
    "nth_value(x,2)",
    "sum(x)",
    "count(*)",
    "group_concat(x)",
]


@pytest.fixture
def connection() -> sqlite3.Connection:
    """Return a locked database with a table."""
    found = sqlite3.connect(":memory:", isolation_level=None)
    found.execute("CREATE TABLE t (x)")
    found.execute("INSERT INTO t VALUES (1), (2), (3)")
    lock(found)
    return found


def test_harmless_functions(connection: sqlite3.Connection) -> None:
    """At least 95 in a hundred of SQLite's own functions run; which there are depends on its version."""
    queries = [
        *(f"SELECT {each}" for each in HARMLESS),
        *(f"SELECT {each} FROM t" for each in AGGREGATES),  # noqa: S608 - constants
        *(f"SELECT {each} OVER (ORDER BY x) FROM t" for each in WINDOWS),  # noqa: S608 - constants
        *("SELECT value FROM json_each('[1]')", "SELECT atom FROM json_tree('[1]')", "PRAGMA table_info(t)"),
    ]
    failed = {}
    for query in queries:
        try:
            assert ask(connection, query, {}, **BOUNDS)["rows"]
        except JobError as err:
            failed[query] = str(err)
    assert len(queries) > 130
    assert len(failed) / len(queries) <= 0.05, failed
    assert not [problem for problem in failed.values() if not problem.startswith("no such function")]


@pytest.mark.parametrize(
    "query",
    [
        *("SELECT load_extension('x')", "SELECT sqlite_log(1, 'x')", "SELECT changes()", "SELECT total_changes()"),
        *("SELECT last_insert_rowid()", "SELECT fts3_tokenizer('simple')", "SELECT rtreecheck('t')", "SELECT fts5()"),
        *("ATTACH ':memory:' AS a", "DETACH main", "VACUUM INTO 'x'", "VACUUM", "REINDEX", "ANALYZE"),
        *(
            "PRAGMA query_only = OFF",
            "PRAGMA journal_mode = WAL",
            "PRAGMA temp_store_directory = '/'",
            "PRAGMA database_list",
        ),
        *("PRAGMA hard_heap_limit = 0", "SELECT * FROM pragma_database_list", "PRAGMA writable_schema = ON"),
        *("INSERT INTO t VALUES (1)", "UPDATE t SET x = 1", "DELETE FROM t", "DROP TABLE t", "CREATE TABLE u (x)"),
        *("CREATE TEMP TABLE u (x)", "CREATE VIRTUAL TABLE u USING fts5(x)", "CREATE TEMP VIEW u AS SELECT 1"),
        *("BEGIN", "SAVEPOINT s", "SELECT * FROM dbstat", "SELECT count(*) FROM dbstat", "SELECT * FROM sqlite_dbpage"),
        *(
            "SELECT count(*) FROM sqlite_stmt",
            "SELECT count(*) FROM DBSTAT",
            "SELECT 1 FROM Sqlite_DbPage",
            "SELECT * FROM sqlite_temp_master",
            "SELECT 1; SELECT 2",
            "",
            "-- nothing",
        ),
    ],
)
def test_nothing_else(connection: sqlite3.Connection, query: str) -> None:
    """What changes something, reaches beyond the database, or looks into the engine is refused."""
    with pytest.raises(JobError):
        ask(connection, query, {}, **BOUNDS)
    assert ask(connection, "SELECT count(*) FROM t", {}, **BOUNDS)["rows"] == [[3]]


def test_counting_what_has_no_columns(connection: sqlite3.Connection) -> None:
    """Rows of subqueries and tables can be counted, whatever they are called."""
    for query in (
        "SELECT count(*) FROM (SELECT 1)",
        "WITH q AS (SELECT 1) SELECT count(*) FROM q",
        "SELECT count(*) FROM json_each('[5]')",
    ):
        assert ask(connection, query, {}, **BOUNDS)["rows"] == [[1]]


def test_values(connection: sqlite3.Connection) -> None:
    """Values come as JSON can hold them, cut where they are long."""
    query = "SELECT 9e999, x'00ff', printf('%1500d', 1), CAST(x'ff41' AS TEXT), NULL, 9223372036854775807"
    (row,) = ask(connection, query, {}, **BOUNDS)["rows"]
    assert row[0] == "inf"
    assert row[1] == "x'00ff'"
    assert row[2].endswith(" … [500 more characters]")
    assert row[3] == "\ufffdA"
    assert row[4:] == [None, 9223372036854775807]
    many = ask(connection, "SELECT printf('%900d', x) FROM t, json_each('[1,2,3,4,5,6]')", {}, **BOUNDS)
    assert len(many["rows"]) == 11
    assert not many["complete"]


def test_views_before_a_query() -> None:
    """Views are put before a query, whether it has some of its own or not."""
    views = {"v": "SELECT 1"}
    assert with_views("SELECT 2", views) == "WITH v AS (SELECT 1) SELECT 2"
    assert with_views(" with a AS (SELECT 3) SELECT 2", views) == "WITH v AS (SELECT 1), a AS (SELECT 3) SELECT 2"
    assert (
        with_views("WITH RECURSIVE a AS (SELECT 3) SELECT 2", views)
        == "WITH RECURSIVE v AS (SELECT 1), a AS (SELECT 3) SELECT 2"
    )
