"""Tests of what becomes of values and errors of servers."""

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy.exc import DBAPIError

from custom_components.extended_assist.recorder.user_queries import _bound, _plain, _problem


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (Decimal("1.50"), 1.5),
        (datetime(2026, 1, 2, 3, 4, 5, 600_000, UTC), "2026-01-02 03:04:06+00:00"),
        (datetime(9999, 12, 31, 23, 59, 59, 999_999, UTC), "9999-12-31 23:59:59+00:00"),
        (date(2026, 1, 2), "2026-01-02"),
        (time(3, 4), "03:04:00"),
        (timedelta(hours=1), "1:00:00"),
        (b"\x01\xff", "01ff"),
        (memoryview(b"\x02"), "02"),
        ({"a": [1]}, '{"a":[1]}'),
        ([1, None], "[1,null]"),
        ("x" * 30_000, "x" * 20_000),
        (None, None),
        (7, 7),
    ],
)
def test_plain(value: Any, plain: Any) -> None:
    """Whatever a server returns becomes what JSON holds, and no longer than it may be."""
    assert _plain(value) == plain


class ServerError(Exception):
    """As drivers raise it: with a code beside its arguments, or as the first of them."""

    def __init__(self, *args: Any, pgcode: str | None = None, message: str | None = None) -> None:
        """Take what the server said."""
        super().__init__(*args)
        self.pgcode = pgcode
        self.diag = SimpleNamespace(message_primary=message)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ServerError(pgcode="57014"), "stopped after"),
        (ServerError(1969, "a row's secret"), "stopped after"),
        (ServerError(pgcode="25006"), "only SELECT"),
        (ServerError(1792, "a row's secret"), "only SELECT"),
        (ServerError(pgcode="42703", message='column "a" does not exist'), 'column "a" does not exist'),
        (ServerError(pgcode="42P01"), "does not understand it"),
        (ServerError(1054, "Unknown column 'a'"), "Unknown column 'a'"),
        (ServerError(pgcode="22012", message="a row's secret"), "with code 22012"),
        (ServerError(), "with code None"),
        (None, "with code None"),
    ],
)
def test_problem(error: ServerError | None, said: str) -> None:
    """What is wrong with a query is told; what a server says of rows is not."""
    told = _problem(DBAPIError("SELECT a", {}, error))  # type: ignore[arg-type]
    assert said in told
    assert "secret" not in told


def test_bound() -> None:
    """Only what has a value is taken for the name of one."""
    assert _bound("SELECT :a, :b, x::text", {"a": 1}) == "SELECT :a, \\:b, x::text"
