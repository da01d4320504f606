"""The database engines that Home Assistant's recorder serves, one fresh database per test.

With a running recorder: mark the test with `EVERY_ENGINE` and let it ask for `recorder_mock` (or
`async_setup_recorder_instance`) as any recorder test does. Without Home Assistant: mark it with `EVERY_DATABASE` and let
it ask for `database`, an engine on the recorder's own schema. A server that is out of reach skips the test by name.
"""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
import os
from pathlib import Path
from uuid import uuid4

import pytest
import pytest_socket
from sqlalchemy import Engine, create_engine, make_url, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from .quick_recorder import quick_recorder

MEMORY = "memory"
"""SQLite inside the test process, as Home Assistant's own tests use it."""
IN_MEMORY = "sqlite://"
SERVERS = {
    "postgresql": os.environ.get("TEST_POSTGRESQL_URL", "postgresql://postgres@127.0.0.1:5432/postgres"),
    "mariadb": os.environ.get("TEST_MARIADB_URL", "mysql+pymysql://root@127.0.0.1:3306/mysql?charset=utf8mb4"),
}
"""Where the servers are, as an account that may create databases."""
ENGINES = ("sqlite", *SERVERS)

EVERY_ENGINE = pytest.mark.parametrize("recorder_db_url", ENGINES, indirect=True)
EVERY_DATABASE = pytest.mark.parametrize("shared_database", ENGINES, indirect=True)

_CREATE = {
    # What a test writes need not outlive the server.
    "postgresql": ("CREATE DATABASE {name}", "ALTER DATABASE {name} SET synchronous_commit = off"),
    "mariadb": ("CREATE DATABASE {name} CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci",),
}
_SEPARATE_SESSIONS = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = :name"


@contextmanager
def temporary_database(engine: str, folder: Path) -> Iterator[str]:
    """Create an empty database, yield its URL and drop it; skip the test where the server is out of reach."""
    if engine == "sqlite":
        yield f"sqlite:///{folder / 'home-assistant_v2.db'}"
        return
    pytest_socket.enable_socket()  # Home Assistant's test harness forbids it; drivers written in Python need it.
    name = f"test_{uuid4().hex}"
    connector = _connector(engine)
    try:
        with connector.connect() as connection:
            for statement in _CREATE[engine]:
                connection.execute(text(statement.format(name=name)))
    except SQLAlchemyError as err:
        reason = " ".join(str(err).split())
        pytest.skip(f"{engine} at {connector.url.host}:{connector.url.port} is out of reach: {reason}")
    try:
        yield connector.url.set(database=name).render_as_string(hide_password=False)
    finally:
        pytest_socket.enable_socket()
        with connector.connect() as connection:
            if engine == "postgresql":
                connection.execute(text(_SEPARATE_SESSIONS), {"name": name})
            connection.execute(text(f"DROP DATABASE {name}"))


@cache
def _connector(engine: str) -> Engine:
    """Return what connects to a server, as an account that may create databases."""
    return create_engine(make_url(SERVERS[engine]), isolation_level="AUTOCOMMIT", pool_pre_ping=True)


@pytest.fixture
def recorder_db_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """Return the database of the recorder under test; in memory unless the test is marked with EVERY_ENGINE."""
    with quick_recorder() if "async_test_recorder" in request.fixturenames else nullcontext():
        yield from _database_of(request)


def _database_of(request: pytest.FixtureRequest) -> Iterator[str]:
    if (engine := getattr(request, "param", MEMORY)) == MEMORY:
        yield IN_MEMORY  # Almost every test: a folder of its own would be made for nothing.
        return
    with temporary_database(engine, request.getfixturevalue("tmp_path")) as url:
        yield url


@contextmanager
def recorder_schema(url: str) -> Iterator[Engine]:
    """Create the recorder's tables in an empty database and yield an engine on it."""
    # Imported late: Home Assistant's test harness must patch the recorder before anything loads it.
    from homeassistant.components.recorder.db_schema import SCHEMA_VERSION, Base, SchemaChanges  # noqa: PLC0415

    engine = create_engine(url)
    Base.metadata.create_all(engine)
    with Session(engine) as session:
        session.add(SchemaChanges(schema_version=SCHEMA_VERSION))
        session.commit()
    try:
        yield engine
    finally:
        engine.dispose()


@pytest.fixture(scope="module")
def shared_database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Return an engine on a database with the recorder's schema, made once for the tests of a module."""
    with (
        temporary_database(request.param, tmp_path_factory.mktemp("database")) as url,
        recorder_schema(url) as engine,
    ):
        yield engine


@pytest.fixture
def database(shared_database: Engine) -> Engine:
    """Return the module's database, with connections allowed."""
    pytest_socket.enable_socket()
    return shared_database
