"""Tests of the grammar of queries: what is refused with a reason, and what is answered in the words of one engine."""

from pathlib import Path
import subprocess
import sys

import pytest
from sqlalchemy import Engine

from custom_components.extended_assist.recorder import servers
from custom_components.extended_assist.recorder.sql import prepare
from custom_components.extended_assist.results import ToolError

from .test_query import ask, homes, shared_homes

__all__ = ["homes", "shared_homes"]

EVERYWHERE = (
    ("SELECT sum(m.*) FROM states_meta m", "* stands only in a list of columns"),
    ("SELECT x.* FROM states s", "there is no 'x' in FROM. Nearest: s."),
    ("SELECT state FROM states WHERE state IN ()", "IN needs a list in parentheses"),
    ("SELECT CAST(mean AS DECIMAL(9999, 2)) FROM statistics", "the size of a type is a number up to "),
    (
        "SELECT sum(mean) OVER (ORDER BY start_ts ROWS BETWEEN metadata_id PRECEDING AND CURRENT ROW) FROM statistics",
        "a frame reaches a number of rows",
    ),
    ("SELECT s.state FROM states s LEFT SEMI JOIN states_meta m ON 1 = 1", "LEFT SEMI JOIN is not supported"),
    ("SELECT s.state FROM states s RIGHT JOIN states_meta m USING (metadata_id)", "write ON instead of USING"),
    ("SELECT s.state FROM states s JOIN states_meta m USING (entity_id)", "no column 'entity_id' on both sides"),
    ("WITH a(x, y) AS (SELECT state FROM states) SELECT x FROM a", "'a' has 1 columns, but 2 names."),
    ("SELECT state FROM states UNION SELECT state, metadata_id FROM states", "the parts have 1 and 2 columns."),
    ("SELECT state FROM states INTERSECT ALL SELECT state FROM states", "INTERSECT ALL is not supported."),
    ("SELECT state FROM (SELECT state FROM states OFFSET 1) x", "OFFSET needs a LIMIT."),
    ("SELECT state_id FROM states ORDER BY 5", "ORDER BY"),
    ("SELECT round()", "round"),
)
"""What no engine is asked."""
IN_ENGINES = {
    "sqlite": (
        ("SELECT INTERVAL '1 day'", "write a span of time as a modifier"),
        ("SELECT state FROM states WHERE state GLOB 'a*' ESCAPE '!'", "ESCAPE belongs to LIKE"),
    ),
    "postgresql": (
        ("SELECT extract(fortnight FROM now())", "'fortnight' is not a unit of time. Nearest: month"),
        ("SELECT state FROM states WHERE state IS 'on'", "IS compares with NULL, TRUE or FALSE."),
        ("SELECT now() - INTERVAL metadata_id DAY FROM states", "multiply instead: 5 * INTERVAL '1 hour'."),
        ("SELECT max(count(*)) FROM states", "aggregate function calls cannot be nested"),
    ),
    "mariadb": (
        ("SELECT timestampdiff(FORTNIGHT, from_unixtime(0), now())", "'fortnight' is not a unit of time."),
        ("SELECT group_concat(state SEPARATOR '[') FROM states", "a SEPARATOR is a short text such as ', '."),
        ("SELECT state FROM states ORDER BY state NULLS LAST", "NULLS FIRST and NULLS LAST are not supported"),
        ("SELECT max(count(*)) FROM states", "Invalid use of group function"),
    ),
}
"""What one engine is not asked, and what it says itself."""


def test_every_refusal_teaches(homes: tuple[str, Engine, Engine, Engine]) -> None:
    """What cannot be asked is refused with what it is, and what to write instead."""
    wrong: dict[str, str] = {}
    for query, words in (*EVERYWHERE, *IN_ENGINES[homes[0]]):
        try:
            wrong[query] = str(ask(homes[1], query).rows[:2])
        except ToolError as err:
            if words not in str(err):
                wrong[query] = str(err)
    assert wrong == {}


SAME = "SELECT state FROM states WHERE metadata_id = 5 ORDER BY state_id LIMIT 1"
ANSWERED: dict[str, dict[str, list[list[str]]]] = {
    "": {
        f"({SAME}) UNION ALL ({SAME})": [["unavailable"]] * 2,
        f"{SAME.partition(' ORDER')[0]} INTERSECT ({SAME})": [["unavailable"]],
        "SELECT count(*) FROM states_meta a LEFT JOIN states_meta b": [["16"]],
    },
    "sqlite": {
        "WITH v(a, b) AS (VALUES (1, 'x'), (2, 'y')) SELECT v.a, v.b FROM v ORDER BY v.a": [["1", "x"], ["2", "y"]],
        "SELECT count(*) FROM states_meta WHERE metadata_id < (SELECT 'a')": [["4"]],
    },
    "postgresql": {
        "WITH v(a, b) AS (VALUES (1, 'x'), (2, 'y')) SELECT v.a, v.b FROM v ORDER BY v.a": [["1", "x"], ["2", "y"]],
        "SELECT CAST('2026-01-02' AS DATE), CAST('10:00' AS TIME)": [["2026-01-02", "10:00:00"]],
    },
    "mariadb": {
        "SELECT timestampdiff(SECOND, from_unixtime(0), from_unixtime(60))": [["60"]],
        "SELECT count(*) FROM states_meta WHERE now() > now() - INTERVAL metadata_id DAY": [["4"]],
        "SELECT CAST('2026-01-02' AS DATE)": [["2026-01-02"]],
    },
}
"""What an engine's own grammar does not have, or no other engine has."""


def test_answered_in_the_engines_words(homes: tuple[str, Engine, Engine, Engine]) -> None:
    """What is written in a way that only some engines know is answered where it can be."""
    for query, rows in (ANSWERED[""] | ANSWERED[homes[0]]).items():
        assert ask(homes[1], query).rows == rows, query


def test_older_servers(homes: tuple[str, Engine, Engine, Engine], monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that is too old, or another one, is not asked."""
    monkeypatch.setattr(servers, "_OLDEST_MARIADB", (99, 1))
    if homes[0] == "mariadb":
        with pytest.raises(ToolError, match=r"MariaDB 99\.1 or newer only"):
            ask(homes[1], "SELECT 1")
    else:
        assert ask(homes[1], "SELECT 1").rows == [["1"]]


def test_compiled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The library that reads queries is compiled in a process of its own, once."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "sqlglot"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path))
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", str(tmp_path))
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    prepare()
    assert "sqlglot" not in sys.modules
    assert list(tmp_path.rglob("sqlglot/parser.*.pyc"))
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("compiled again"))
    prepare()
