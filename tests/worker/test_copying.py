"""Tests of a copy from a recorder's file that is not as it should be."""

from collections.abc import Callable
from pathlib import Path
import sqlite3
from typing import Any

import pytest

from custom_components.extended_assist.worker import private_database as attributes
from custom_components.extended_assist.worker.database import Databases
from custom_components.extended_assist.worker.messages import JobError, TooMuchToCopyError
from custom_components.extended_assist.worker.tables import ROW_TABLES

BOUNDS = {"seconds": 3.0, "most_rows": 2_000, "most_characters": 400_000, "longest": 2_000}
_STATISTICS = "(id INTEGER PRIMARY KEY, metadata_id, start_ts, mean, min, max, state, sum, last_reset_ts);"
_SCHEMA = f"""
CREATE TABLE states_meta (metadata_id INTEGER PRIMARY KEY, entity_id);
CREATE TABLE statistics_meta (
  id INTEGER PRIMARY KEY, statistic_id, source, unit_of_measurement, unit_class, has_mean, has_sum
);
CREATE TABLE state_attributes (attributes_id INTEGER PRIMARY KEY, shared_attrs);
CREATE TABLE states (
  state_id INTEGER PRIMARY KEY, metadata_id, state, last_updated_ts, last_changed_ts, last_reported_ts, attributes_id
);
CREATE TABLE statistics {_STATISTICS}
CREATE TABLE statistics_short_term {_STATISTICS}
INSERT INTO states_meta VALUES (1, 'light.lamp'), (2, 'light.hidden');
INSERT INTO state_attributes VALUES (1, '{{"a":1}}'), (2, '{{"b":2}}');
INSERT INTO states VALUES (1, 1, 'on', 100, 100, 100, 1), (2, 1, 'off', 101, 101, 101, 2), (3, 2, 'on', 100, 100, 100, 1);
"""  # noqa: S608 - constants


def recorder_file(folder: Path, more: str = "", name: str = "home-assistant_v2.db") -> Path:
    """Return a recorder's file, with something more written to it."""
    with sqlite3.connect(path := folder / name) as connection:
        connection.executescript(_SCHEMA + more)
    connection.close()
    return path


def copied(path: Path) -> Databases:
    """Return what holds a copy of what is exposed of a file."""
    databases = Databases(lambda: None)
    lamp = [("light.lamp", "Lamp", "Hall")]
    databases.begin(
        time_zone="UTC", utc_offset=0, entities=lamp, statistics=lamp, exposed=["light.lamp"], hidden=["light.hidden"]
    )
    databases.copy(
        uri=f"{path.as_uri()}?mode=ro", tables=list(ROW_TABLES), span=(0.0, 1e9), most_rows=1_000, attributes=True
    )
    databases.finish("key")
    return databases


def rows(databases: Databases, query: str) -> Any:
    """Return the rows of a query."""
    return databases.query("key", query, {}, **BOUNDS)["rows"]


@pytest.mark.parametrize("name", ["a?b#c%41 é.db", "mode=rwc&x.db"])
def test_odd_names(tmp_path: Path, name: str) -> None:
    """The file is found whatever it is called."""
    assert rows(copied(recorder_file(tmp_path, name=name)), "SELECT count(*) FROM states") == [[2]]


@pytest.mark.parametrize(
    "more",
    [
        "INSERT INTO states_meta VALUES (3, CAST(x'ff41' AS TEXT)), (4, NULL), (5, 5), (6, x'6162');",
        "INSERT INTO states_meta VALUES (3, 'light.lamp');",
        "UPDATE state_attributes SET shared_attrs = CAST(x'7bff7d' AS TEXT) WHERE attributes_id = 2;",
        "UPDATE state_attributes SET shared_attrs = x'7b7d' WHERE attributes_id = 2;",
        "UPDATE state_attributes SET shared_attrs = 5 WHERE attributes_id = 2;",
        "DELETE FROM state_attributes WHERE attributes_id = 2;",
    ],
)
def test_odd_rows(tmp_path: Path, more: str) -> None:
    """One row that is broken takes no other with it."""
    databases = copied(recorder_file(tmp_path, more))
    assert rows(databases, "SELECT state FROM states ORDER BY 1") == [["off"], ["on"]]
    assert ['{"a":1}'] in rows(databases, "SELECT shared_attrs FROM state_attributes")


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda path: path.unlink(), "cannot be opened (SQLITE_CANTOPEN)"),
        (lambda path: path.write_bytes(b"no database" * 1_000), "cannot be opened (SQLITE_NOTADB)"),
        (lambda path: path.write_bytes(b""), "cannot be read (no such table"),
        (lambda path: recorder_column(path, "unit_class"), "cannot be read (no such column: unit_class)"),
    ],
)
def test_broken_files(tmp_path: Path, spoil: Callable[[Path], Any], words: str) -> None:
    """A file that cannot be read is said to be that, without its name."""
    spoil(path := recorder_file(tmp_path))
    with pytest.raises(JobError) as err:
        copied(path)
    assert words in str(err.value)
    assert str(tmp_path) not in str(err.value)


def recorder_column(path: Path, column: str) -> None:
    """Take a column away, as in a schema that is older."""
    with sqlite3.connect(path) as connection:
        connection.execute(f"ALTER TABLE statistics_meta DROP COLUMN {column}")
    connection.close()


def test_a_torn_file(tmp_path: Path) -> None:
    """A file with broken pages is said to be that."""
    path = recorder_file(
        tmp_path, "INSERT INTO states SELECT NULL, 1, value, 100, 100, 100, 1 FROM json_each('[1,2,3]');"
    )
    with sqlite3.connect(path) as connection:
        (root,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'states'").fetchone()
    connection.close()
    content = bytearray(path.read_bytes())
    content[(root - 1) * 4096 : (root - 1) * 4096 + 100] = b"\xff" * 100
    path.write_bytes(content)
    with pytest.raises(JobError, match="malformed"):
        copied(path)


def test_a_locked_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that another process holds is said to be that."""
    monkeypatch.setattr("custom_components.extended_assist.worker.copy_rows._BUSY_SECONDS", 0.1)
    other = sqlite3.connect(path := recorder_file(tmp_path), isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(JobError, match="SQLITE_BUSY"):
        copied(path)
    other.close()


def test_too_many_attributes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What SQLite asked for while it copied says what is wrong, and lets go of the file."""
    monkeypatch.setattr(attributes, "MOST", 1)
    path = recorder_file(tmp_path)
    with pytest.raises(TooMuchToCopyError, match="different attributes"):
        copied(path)
    with sqlite3.connect(path, timeout=0) as connection:
        connection.execute("DELETE FROM states")
    connection.close()
