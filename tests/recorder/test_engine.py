"""What differs between databases stands in one file."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine as Database
from sqlalchemy.dialects import mysql, postgresql, sqlite
from sqlalchemy.orm import Session

from custom_components.extended_assist.recorder.engine import MARIADB, MYSQL, POSTGRESQL, SQLITE, engine_for, engine_of
from tests.helpers.databases import EVERY_DATABASE

PACKAGE = Path(__file__).parents[2] / "custom_components" / "extended_assist"
_OF_QUERY_DATABASE = {
    "recorder/user_queries.py",
    "recorder/query.py",
    "recorder/servers.py",
    "recorder/sqlite.py",
    "tools/database.py",
}
"""Files, and the folder `recorder/sql`, that write SQL in the words of each database."""
_NAMES = {"sqlite", "postgresql", "mysql", "mariadb"}
_ASKED = {"dialect", "dialect_name", "is_mariadb"}


def _questions(tree: ast.AST) -> Iterator[int]:
    """Yield the lines that ask which database it is."""
    for node in ast.walk(tree):
        match node:
            case ast.Compare(left=left, comparators=others):
                asked = any(
                    isinstance(part, ast.Constant) and part.value in _NAMES
                    for side in (left, *others)
                    for part in ast.walk(side)
                )
            case ast.MatchValue(value=ast.Constant(value=value)):
                asked = value in _NAMES
            case ast.Attribute(attr=name):
                asked = name in _ASKED
            case ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Constant(value=name), *_]):
                asked = name in _ASKED
            case _:
                continue
        if asked:
            yield node.lineno if hasattr(node, "lineno") else 0


def _asking(files: list[Path]) -> set[str]:
    """Return the places that ask which database it is."""
    return {f"{file.relative_to(PACKAGE)}:{line}" for file in files for line in _questions(ast.parse(file.read_text()))}


def test_no_other_file_asks_which_database_it_is() -> None:
    """Only the engine knows; diagnostics tell the name, and do nothing else by it."""
    engine, diagnostics = PACKAGE / "recorder" / "engine.py", PACKAGE / "diagnostics.py"
    files = [
        file
        for file in PACKAGE.rglob("*.py")
        if file not in (engine, diagnostics)
        and str(file.relative_to(PACKAGE)) not in _OF_QUERY_DATABASE
        and file.parent.name != "sql"
    ]
    assert len(files) > 100
    assert _asking(files) == set()
    assert len(_asking([engine])) >= 4, "the search itself finds nothing"


def test_the_engine_of_each_dialect() -> None:
    """Each dialect has its engine, always the same one, by which statements are kept."""
    assert engine_for(sqlite.dialect()) is SQLITE
    assert engine_for(postgresql.dialect()) is POSTGRESQL
    assert engine_for(mysql.dialect()) is MYSQL
    assert engine_for(mysql.dialect(is_mariadb=True)) is MARIADB


@EVERY_DATABASE
def test_the_engine_of_each_server(database: Database, request: pytest.FixtureRequest) -> None:
    """A session and its connection have the engine of their server."""
    expected = {"sqlite": SQLITE, "postgresql": POSTGRESQL, "mariadb": MARIADB}
    with Session(database) as session:
        engine = engine_of(session)
        assert engine_of(session.connection()) is engine
        assert engine is expected[request.node.callspec.params["shared_database"]]
