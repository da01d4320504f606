"""Where the rows of a SELECT come from."""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp

from ..views import COLUMNS, MATCHED_ATTRIBUTES
from .conditions import conjuncts
from .dialects import Rules
from .expressions import Expressions, only
from .names import Scope, Source, nearest, quoted, refuse

TOP, SOURCE, OPERAND, PART = "top", "source", "operand", "part"
"""Where a query stands: alone, in FROM or WITH, on the right of IN, or beside a UNION."""


@dataclass(slots=True, kw_only=True)
class Written:
    """A query as it is sent."""

    text: str
    columns: tuple[str, ...]
    """The names of its columns, as other parts of the query know them."""
    header: tuple[str, ...]
    """The same, as the model wrote them."""
    fenced: bool
    """Whether no condition from outside is looked at before its rows are known to be exposed."""
    plain: bool = True
    """Whether its columns are columns of tables as they are, with nothing computed that could fail."""


@dataclass(slots=True)
class Table:
    """A WITH query."""

    columns: tuple[str, ...]
    fenced: bool
    recurring: bool = False
    """Whether this is the query itself, inside its own definition."""


@dataclass(slots=True, kw_only=True)
class Join:
    """A source of a SELECT, and how it is joined to those before it."""

    source: Source
    words: str = ""
    using: tuple[str, ...] = ()
    conditions: list[exp.Expr] = field(default_factory=list)


class FromClauses(Expressions):
    """Writes what follows FROM: views in the place of tables, and nothing else that has a name in the database."""

    def __init__(self, rules: Rules, parameters: Mapping[str, Any], view: Callable[[str], str]) -> None:
        """Take the rules of the engine, the query's parameters and the name of a table's view."""
        super().__init__(rules, parameters)
        self.view = view
        self.tables: dict[str, Table] = {}

    @abstractmethod
    def whole(self, node: exp.Expr, outer: Scope | None, role: str, max_rows: int | None = None) -> Written:
        """Return a whole query: a SELECT, VALUES or set operation with the WITH before it."""

    def sources(self, node: exp.Select, scope: Scope) -> list[Join]:
        """Return the sources of a SELECT and make them known to its scope."""
        if not node.args.get("from_"):
            return []
        only(node.args["from_"], "this")
        joins = [Join(source=self._source(node.args["from_"].this, scope))]
        for join in node.args.get("joins") or ():
            only(join, "this", "side", "kind", "on", "using")
            joins.append(self._join(join, scope))
        return joins

    def _join(self, node: exp.Join, scope: Scope) -> Join:
        """Return one joined source."""
        side, kind = (str(node.args.get(part) or "").upper() for part in ("side", "kind"))
        if side not in ("", "LEFT", "RIGHT", "FULL") or kind not in ("", "INNER", "OUTER", "CROSS"):
            raise refuse(node, f"{side} {kind} JOIN is not supported.")
        using = tuple(column.name.lower() for column in node.args.get("using") or ())
        if using and side in ("RIGHT", "FULL"):
            raise refuse(node, f"write ON instead of USING in a {side} JOIN.")
        before = {name for source in scope.sources.values() for name in source.columns}
        source = self._source(node.this, scope)
        for name in using:
            if name not in before or name not in source.columns:
                raise refuse(node, f"there is no column '{name}' on both sides of USING.")
        source.merged = frozenset(using)
        conditions = conjuncts(node.args.get("on"))
        # SQLite takes CROSS JOIN as an order to keep the tables as they stand.
        plain = kind != "CROSS" and (self.rules.name == "sqlite" or bool(using or conditions))
        words = f"{side} JOIN" if side else "JOIN" if plain else "CROSS JOIN"
        return Join(source=source, words=words, using=using, conditions=conditions)

    def _source(self, node: exp.Expr, scope: Scope) -> Source:
        """Return one table, WITH query or subquery of a FROM clause."""
        alias = node.alias.lower() or (
            node.name.lower() if isinstance(node, exp.Table) else f"subquery {len(scope.sources)}"
        )
        given = (
            tuple(c.name.lower() for c in (node.args["alias"].args.get("columns") or ()))
            if node.args.get("alias")
            else ()
        )
        if alias in scope.sources:
            raise refuse(node, f"'{alias}' occurs twice in FROM; give each an alias.")
        if isinstance(node, exp.Table):
            source = self._named(node, alias)
        elif isinstance(node, exp.Subquery | exp.Values):
            only(node, "this", "alias", "expressions")
            written = self.whole(node if isinstance(node, exp.Values) else node.this, scope.outer, SOURCE)
            source = Source(alias=alias, columns=written.columns, text=f"({written.text})", fenced=written.fenced)
        else:
            raise refuse(node, "FROM takes tables and subqueries only.")
        if given and (source.table or len(given) != len(source.columns)):
            raise refuse(node, f"'{alias}' has {len(source.columns)} columns, but {len(given)} names.")
        names = f" ({', '.join(map(quoted, given))})" if given else ""
        source.columns = given or source.columns
        if source.table == "state_attributes":
            source.matched = f"{self.view(MATCHED_ATTRIBUTES)} AS {quoted(f't_{alias}')}"
        source.text = f"{source.text} AS {quoted(f't_{alias}')}{names}"
        scope.sources[alias] = source
        return source

    def _named(self, node: exp.Table, alias: str) -> Source:
        """Return a table or WITH query, by its name alone."""
        name = node.name.lower()
        known = {*self.tables, *COLUMNS}
        if not isinstance(node.this, exp.Identifier) or node.args.get("db") or node.args.get("catalog"):
            raise refuse(node, f"write only the table's own name. Tables: {', '.join(COLUMNS)}.")
        only(node, "this", "alias")
        if table := self.tables.get(name):
            return Source(
                alias=alias,
                columns=table.columns,
                text=quoted(f"q_{name}"),
                fenced=table.fenced,
                recurring=table.recurring,
            )
        if name not in COLUMNS:
            raise refuse(node, f"there is no table '{name}'. {nearest(name, known)}")
        return Source(alias=alias, columns=COLUMNS[name], text=self.view(name), table=name)

    def fence(self, source: Source) -> None:
        """Put a source behind a fence of its own."""
        if not source.fenced:
            name = quoted(f"t_{source.alias}")
            columns = ", ".join(map(quoted, source.columns))
            source.text = f"(SELECT {columns} FROM {source.text} {self.rules.fence}) AS {name}"  # noqa: S608 - written here
            source.fenced = True

    def match_attributes(self, joins: list[Join], where: list[exp.Expr], scope: Scope) -> None:
        """Spare the search for exposed states where attributes are joined to them anyway.

        Only where no row of attributes can come out without the row of states: an inner join, or the optional side.
        """
        if any(join.words.startswith(("RIGHT", "FULL")) for join in joins):
            return
        for join in joins:
            if join.source.matched is None:
                continue
            conditions = [*where, *(part for other in joins if other.words == "JOIN" for part in other.conditions)]
            if join.words == "LEFT JOIN":
                conditions += join.conditions
            pairs = [part for part in conditions if isinstance(part, exp.EQ)]
            if any(self._joins_states(pair, join.source, scope) for pair in pairs) or (
                join.using == ("attributes_id",)
                and any(source.table == "states" and not source.merged for source in scope.sources.values())
                and len(scope.sources) == 2
            ):
                join.source.text = join.source.matched

    @staticmethod
    def _joins_states(pair: exp.EQ, attributes: Source, scope: Scope) -> bool:
        """Return whether a condition says that the attributes are those of a row of states."""
        if not isinstance(pair.this, exp.Column) or not isinstance(pair.expression, exp.Column):
            return False
        places = [scope.find(column) for column in (pair.this, pair.expression)]
        if any(column.name.lower() != "attributes_id" for column in (pair.this, pair.expression)):
            return False
        sources = [place[1] for place in places if place and place[0] is scope]
        return attributes in sources and any(source.table == "states" for source in sources)

    def from_clause(self, joins: list[Join], scope: Scope) -> str:
        """Return what follows FROM."""
        text = joins[0].source.text
        for join in joins[1:]:
            text += f" {join.words} {join.source.text}"
            if join.using:
                text += f" USING ({', '.join(map(quoted, join.using))})"
            elif join.conditions:
                text += f" ON {' AND '.join(self.write(part, scope) for part in join.conditions)}"
            elif join.words not in ("JOIN", "CROSS JOIN"):
                text += " ON 1 = 1"
        return text
