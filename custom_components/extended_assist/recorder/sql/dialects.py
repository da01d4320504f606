"""The part of each engine's SQL that may be used: how it is read, which functions and types it has, how it fences."""

from collections.abc import Callable
from dataclasses import dataclass
import logging
from typing import Any, ClassVar, Final

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.dialects.mysql import MySQL
from sqlglot.dialects.postgres import Postgres
from sqlglot.dialects.sqlite import SQLite
from sqlglot.parsers.mysql import MySQLParser
from sqlglot.parsers.postgres import PostgresParser
from sqlglot.parsers.sqlite import SQLiteParser
from sqlglot.tokenizer_core import TokenType

# sqlglot logs statements that it cannot parse: the user's question is not for the log.
logging.getLogger("sqlglot").setLevel(logging.CRITICAL)

# Every other function is read as nothing but a name and arguments: sqlglot then has no opinion on what it means.
_SYNTAX_OF_THEIR_OWN: Final = frozenset({"CAST", "EXTRACT", "GROUP_CONCAT", "STRING_AGG"})


def _functions(base: type[Dialect]) -> dict[str, Any]:
    """Return how a parser reads functions: only those whose arguments are no plain list are known to it."""
    parsers = base.parser_class.FUNCTION_PARSERS
    return {name: parse for name, parse in parsers.items() if name in _SYNTAX_OF_THEIR_OWN}


def _arrow(kind: type[exp.Binary]) -> Callable[..., exp.Expr]:
    """Return how -> and ->> are read: as an operator, without a look into the path."""
    return lambda parser, this, path: parser.expression(kind(this=this, expression=path))


_ARROWS: Final = {TokenType.ARROW: _arrow(exp.JSONExtract), TokenType.DARROW: _arrow(exp.JSONExtractScalar)}


class _SQLite(SQLite):
    class Parser(SQLiteParser):
        FUNCTIONS: ClassVar[dict[str, Any]] = {}
        FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {k: v for k, v in _functions(SQLite).items() if k == "CAST"}
        CONCAT_OPERATORS: ClassVar[dict[TokenType, Any]] = {**SQLiteParser.CONCAT_OPERATORS, **_ARROWS}


class _PostgreSQL(Postgres):
    class Parser(PostgresParser):
        FUNCTIONS: ClassVar[dict[str, Any]] = {}
        FUNCTION_PARSERS: ClassVar[dict[str, Any]] = _functions(Postgres)
        COLUMN_OPERATORS: ClassVar[dict[TokenType, Any]] = {**PostgresParser.COLUMN_OPERATORS, **_ARROWS}


class _MariaDB(MySQL):
    class Parser(MySQLParser):
        FUNCTIONS: ClassVar[dict[str, Any]] = {}
        FUNCTION_PARSERS: ClassVar[dict[str, Any]] = _functions(MySQL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What may be written for an engine, and how."""

    name: str
    dialect: type[Dialect]
    functions: frozenset[str]
    types: dict[str, str]
    """The types that a value may be cast to: sqlglot's name, and how the engine writes it."""
    nodes: frozenset[type[exp.Expr]]
    """Operators that not every engine has."""
    fence: str
    """Ends a subquery across which the engine never moves a condition, and which changes no row."""
    nulls_are_small: bool
    correlated_tables: bool
    """Whether a subquery in FROM may name columns of the query around it."""
    like: str
    """How LIKE is written so that capital letters count as they do on a plain installation of the engine."""


AGGREGATES: Final = frozenset(
    {
        "avg", "bool_and", "bool_or", "corr", "count", "every", "group_concat", "max", "min", "mode", "percentile_cont",
        "percentile_disc", "regr_intercept", "regr_slope", "std", "stddev", "stddev_pop", "stddev_samp", "string_agg",
        "sum", "total", "var_pop", "var_samp", "variance",
    }
)  # fmt: skip
_WINDOW: Final = frozenset(
    {
        "cume_dist", "dense_rank", "first_value", "lag", "last_value", "lead", "nth_value", "ntile", "percent_rank", "rank",
        "row_number",
    }
)  # fmt: skip
_SHARED: Final = _WINDOW | {
    "abs", "avg", "ceil", "ceiling", "coalesce", "concat", "count", "exp", "floor", "ln", "lower", "ltrim", "max", "min",
    "mod", "nullif", "pow", "power", "replace", "round", "rtrim", "sign", "sqrt", "substr", "substring", "sum", "trim",
    "upper",
}  # fmt: skip

SQLITE: Final = Rules(
    name="sqlite",
    dialect=_SQLite,
    functions=_SHARED
    | {
        "date", "datetime", "format", "group_concat", "ifnull", "iif", "instr", "json_array_length", "json_extract",
        "json_type", "json_valid", "julianday", "length", "log", "log10", "log2", "printf", "strftime", "time",
        "total", "typeof", "unixepoch",
    },
    types={
        "BIGINT": "INTEGER", "DECIMAL": "NUMERIC", "DOUBLE": "REAL", "FLOAT": "REAL", "INT": "INTEGER", "TEXT": "TEXT",
        "VARCHAR": "TEXT",
    },
    nodes=frozenset({exp.Glob, exp.JSONExtract, exp.JSONExtractScalar, exp.NullSafeEQ, exp.NullSafeNEQ}),
    fence="LIMIT -1",
    nulls_are_small=True,
    correlated_tables=True,
    like="LIKE",
)  # fmt: skip

POSTGRESQL: Final = Rules(
    name="postgresql",
    dialect=_PostgreSQL,
    functions=_SHARED
    | {
        "bool_and", "bool_or", "char_length", "corr", "date_bin", "date_part", "date_trunc", "every", "greatest",
        "json_array_length", "json_typeof", "least", "left", "length", "log", "mode", "now", "percentile_cont",
        "percentile_disc", "regr_intercept", "regr_slope", "right", "split_part", "stddev", "stddev_pop", "stddev_samp",
        "strpos", "to_char", "to_timestamp", "trunc", "var_pop", "var_samp", "variance", "width_bucket",
    },
    types={
        "BIGINT": "bigint", "BOOLEAN": "boolean", "DATE": "date", "DECIMAL": "numeric", "DOUBLE": "double precision",
        "FLOAT": "real", "INT": "integer", "INTERVAL": "interval", "JSON": "json", "JSONB": "jsonb", "SMALLINT": "smallint",
        "TEXT": "text", "TIME": "time", "TIMESTAMP": "timestamp", "TIMESTAMPTZ": "timestamptz", "VARCHAR": "varchar",
    },
    nodes=frozenset(
        {exp.AtTimeZone, exp.ILike, exp.JSONExtract, exp.JSONExtractScalar, exp.NullSafeEQ, exp.NullSafeNEQ}
        | {exp.RegexpILike, exp.RegexpLike, exp.WithinGroup}
    ),
    fence="OFFSET 0",
    nulls_are_small=False,
    correlated_tables=True,
    like="LIKE",
)  # fmt: skip

MARIADB: Final = Rules(
    name="mariadb",
    dialect=_MariaDB,
    functions=_SHARED
    | {
        "char_length", "concat_ws", "date", "date_add", "date_format", "date_sub", "datediff", "day", "dayname", "dayofmonth",
        "dayofweek", "dayofyear", "from_unixtime", "greatest", "hour", "if", "ifnull", "instr", "json_extract", "json_length",
        "json_unquote", "json_valid", "json_value", "last_day", "least", "left", "length", "locate", "log", "log10", "log2",
        "median", "minute", "month", "monthname", "now", "percentile_cont", "percentile_disc", "quarter", "right", "second",
        "std", "stddev", "stddev_pop", "stddev_samp", "time", "timestampdiff", "truncate", "unix_timestamp", "utc_timestamp",
        "var_pop", "var_samp", "variance", "week", "weekday", "year",
    },
    types={
        "BIGINT": "SIGNED", "CHAR": "CHAR", "DATE": "DATE", "DATETIME": "DATETIME", "DECIMAL": "DECIMAL", "DOUBLE": "DOUBLE",
        "FLOAT": "DOUBLE", "INT": "SIGNED", "TEXT": "CHAR", "TIME": "TIME", "TIMESTAMP": "DATETIME", "UBIGINT": "UNSIGNED",
        "UINT": "UNSIGNED", "VARCHAR": "CHAR",
    },
    nodes=frozenset({exp.IntDiv, exp.NullSafeEQ, exp.NullSafeNEQ, exp.RegexpLike, exp.WithinGroup, exp.Xor}),
    fence="LIMIT 18446744073709551615",
    nulls_are_small=True,
    correlated_tables=False,
    like="LIKE",
)  # fmt: skip

RULES: Final = {rules.name: rules for rules in (SQLITE, POSTGRESQL, MARIADB)}
UNITS: Final = frozenset(
    {"century", "day", "days", "decade", "dow", "doy", "epoch", "hour", "hours", "isodow", "isoyear", "microsecond"}
    | {"millisecond", "minute", "minutes", "month", "months", "quarter", "second", "seconds", "week", "weeks", "year"}
    | {"years"}
)
