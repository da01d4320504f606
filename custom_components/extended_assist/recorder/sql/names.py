"""What the names in a query stand for."""

from dataclasses import dataclass, field
from difflib import get_close_matches
from hashlib import blake2s
import re
from typing import Final, Self

from sqlglot import exp

from ...results import ToolError

_PLAIN: Final = re.compile(r"[a-z_][a-z0-9_]{0,30}").fullmatch


class QueryError(ToolError):
    """The query asks for something that is not there or not allowed; the message says where and what is nearest."""


def refuse(node: exp.Expr, problem: str) -> QueryError:
    """Return the error for a part of a query, with its place where the parser knows it."""
    for part in node.walk(bfs=False):
        if "line" in part.meta:
            # The parser notes where a word ends.
            column = part.meta["col"] - (part.meta.get("end", 0) - part.meta.get("start", 0))
            return QueryError(f"Line {part.meta['line']}, column {column}: {problem}")
    return QueryError(problem)


def nearest(name: str, known: set[str]) -> str:
    """Return the known names nearest to one that is unknown, as a sentence."""
    found = get_close_matches(name, sorted(known), n=3, cutoff=0.4) or sorted(known)[:12]
    return f"Nearest: {', '.join(found)}." if found else ""


def quoted(name: str) -> str:
    """Return a name as it is sent to the engine: in quotes, and free of anything that could end them.

    A name that is not plain is replaced by a digest, so that no letter the model chose for it reaches the engine.
    """
    plain = name if _PLAIN(name) else f"x_{blake2s(name.encode(), digest_size=10).hexdigest()}"
    return f'"{plain}"'


@dataclass(slots=True, kw_only=True)
class Source:
    """Something that rows come from in a FROM clause."""

    alias: str
    columns: tuple[str, ...]
    text: str
    """The source as it is sent, with its alias."""
    table: str | None = None
    """The recorder's table, where it is one."""
    fenced: bool = False
    """Whether its rows are exposed ones at whatever moment the engine looks at them."""
    matched: str | None = None
    """The source as it is sent where its rows are joined by id to exposed ones, if that makes it another."""
    recurring: bool = False
    """Whether it is the recursive query that it is part of."""
    merged: frozenset[str] = frozenset()
    """Columns that USING made one with those of an earlier source."""


@dataclass(slots=True, kw_only=True)
class Scope:
    """The names that a SELECT can use."""

    outer: Self | None
    sources: dict[str, Source] = field(default_factory=dict)
    aliases: set[str] = field(default_factory=set)
    """The names that the SELECT gives to its own columns."""
    rows: str | None = None
    """The name of the fenced subquery that the rows of all sources now come from, once there is one."""
    needed: dict[tuple[str, str], str] = field(default_factory=dict)
    """The columns to be taken out of that subquery, and their names there."""

    def find(self, column: exp.Column) -> tuple[Scope, Source] | None:
        """Return where a column comes from, or None for the name of a result column of this SELECT.

        Raises QueryError for an unknown or ambiguous name.
        """
        name, qualifier = column.name.lower(), column.table.lower()
        if column.args.get("db") or column.args.get("catalog"):
            raise refuse(column, f"write '{column.name}' with at most an alias before it.")
        scope: Scope | None = self
        while scope:
            if qualifier in scope.sources:
                source = scope.sources[qualifier]
                if name in source.columns:
                    return scope, source
                raise refuse(column, f"'{qualifier}' has no column '{name}'. {nearest(name, set(source.columns))}")
            if not qualifier:
                found = [
                    source for source in scope.sources.values() if name in source.columns and name not in source.merged
                ]
                if len(found) > 1:
                    candidates = " or ".join(f"{source.alias}.{name}" for source in found)
                    raise refuse(column, f"'{name}' is ambiguous. Write {candidates}.")
                if found:
                    return scope, found[0]
                if scope is self and name in scope.aliases:
                    return None
            scope = scope.outer
        raise self._unknown(column, name, qualifier)

    def _unknown(self, column: exp.Column, name: str, qualifier: str) -> QueryError:
        """Return the error for a name that no scope knows."""
        sources: dict[str, Source] = {}
        scope: Scope | None = self
        while scope:
            sources = scope.sources | sources
            scope = scope.outer
        if qualifier:
            return refuse(column, f"there is no '{qualifier}' in FROM. {nearest(qualifier, set(sources))}")
        known = {name for source in sources.values() for name in source.columns}
        hint = " Texts stand in single quotes." if column.this.args.get("quoted") else ""
        return refuse(column, f"there is no column '{name}'.{hint} {nearest(name, known)}")

    def write(self, source: Source, name: str) -> str:
        """Return a column of this scope as it is sent, through the fence if there is one."""
        if self.rows is None:
            return f"{quoted(f't_{source.alias}')}.{quoted(name)}"
        column = self.needed.setdefault((source.alias, name), f"c{len(self.needed)}")
        return f'{self.rows}."{column}"'
