"""Whole queries, written anew so that a hidden row can neither be read nor be noticed.

Every table stands for a view on its exposed rows. That alone keeps hidden rows out of every result, but an engine may look
at a condition before it looks at the view's own, and a condition that fails on a hidden row would tell of it. So:

- A condition that cannot fail whatever the row (comparisons of columns and values) is left where it is, for the indexes.
- Any other condition is moved out of the subquery that reads the tables, behind a fence: a LIMIT or OFFSET that changes
  nothing, and across which the engines move no condition.
- A subquery in FROM or WITH that computes anything from rows not yet behind a fence ends with a fence itself.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final, override

from sqlglot import exp

from ..views import COLUMNS, TEXT_COLUMNS
from .dialects import AGGREGATES, Rules
from .expressions import COMPARISONS, Expressions, cannot_fail, only
from .names import QueryError, Scope, Source, nearest, quoted, refuse

type Evaluate = Callable[[str, Mapping[str, Any]], Sequence[Sequence[Any]]]
"""Runs a query that touches no row of the query it is part of, and returns its rows."""

_MAX_LISTED = 1_000
"""Values that the answer of a subquery may have to be put in its place."""
_SET_OPERATIONS: Final[dict[type[exp.Expr], str]] = {
    exp.Union: "UNION",
    exp.Intersect: "INTERSECT",
    exp.Except: "EXCEPT",
}
_TOP, _SOURCE, _OPERAND, _PART = "top", "source", "operand", "part"
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
class _Table:
    """A WITH query."""

    columns: tuple[str, ...]
    fenced: bool
    recurring: bool = False
    """Whether this is the query itself, inside its own definition."""


@dataclass(slots=True, kw_only=True)
class _Join:
    """A source of a SELECT, and how it is joined to those before it."""

    source: Source
    words: str = ""
    using: tuple[str, ...] = ()
    conditions: list[exp.Expr] = field(default_factory=list)


class Writer(Expressions):
    """Writes one query."""

    def __init__(
        self, rules: Rules, parameters: Mapping[str, Any], view: Callable[[str], str], evaluate: Evaluate
    ) -> None:
        """Take the rules of the engine, the query's parameters, the name of a table's view and a way to ask the engine."""
        super().__init__(rules, parameters)
        self._view = view
        self._evaluate = evaluate
        self._tables: dict[str, _Table] = {}
        self._rows = 0

    def statement(self, node: exp.Expr, max_rows: int) -> Written:
        """Return the whole statement, cut to a number of rows."""
        return self._query(node, None, _TOP, max_rows)

    @override
    def query(self, node: exp.Expr, scope: Scope, role: str) -> str:
        return self._query(node, scope, role).text

    def _query(self, node: exp.Expr, outer: Scope | None, role: str, max_rows: int | None = None) -> Written:
        """Return a SELECT, VALUES or set operation with the WITH before it."""
        if isinstance(node, exp.Subquery | exp.Paren):
            only(node, "this", "alias")
            return self._query(node.this, outer, role, max_rows)
        known = dict(self._tables)
        prefix = self._with(node.args["with_"], outer) if node.args.get("with_") else ""
        if isinstance(node, exp.Select):
            written = self._select(node, outer, role)
        elif isinstance(node, exp.Values):
            written = self._values(node, outer)
        elif isinstance(node, exp.Union | exp.Intersect | exp.Except):
            written = self._set_operation(node, outer, role)
        else:
            raise refuse(node, "only one SELECT is allowed here.")
        ending = self._limit(node, max_rows)
        if role == _SOURCE and not (written.fenced or written.plain or ending):
            ending = f" {self.rules.fence}"
        written.fenced = written.fenced or bool(ending)
        written.text = f"{prefix}{written.text}{ending}"
        self._tables = known
        return written

    def _with(self, node: exp.With, outer: Scope | None) -> str:
        """Return a WITH clause; its tables get names that no table of the database has."""
        only(node, "expressions", "recursive")
        parts = []
        for query in node.expressions:
            only(query, "this", "alias", "materialized", "scalar")
            name = query.alias.lower()
            if name in COLUMNS:
                raise refuse(query, f"'{name}' is a table; give the WITH query another name.")
            given = tuple(column.name.lower() for column in query.args["alias"].args.get("columns") or ())
            body = query.this.unnest() if isinstance(query.this, exp.Subquery) else query.this
            if recursive := isinstance(body, exp.Union) and any(
                table.name.lower() == name for table in body.expression.find_all(exp.Table)
            ):
                first = given or self._query(body.this.copy(), outer, _TOP).columns
                self._tables[name] = _Table(first, fenced=True, recurring=True)
            # The engines keep conditions from outside out of a recursive query by themselves, and allow no fence in it.
            written = self._query(body, outer, _TOP if recursive else _SOURCE)
            columns = given or written.columns
            if len(columns) != len(written.columns):
                raise refuse(query, f"'{name}' has {len(written.columns)} columns, but {len(columns)} names.")
            self._tables[name] = _Table(columns, fenced=True if recursive else written.fenced)
            parts.append(f"{quoted(f'q_{name}')} ({', '.join(map(quoted, columns))}) AS ({written.text})")
        return f"WITH {'RECURSIVE ' if node.args.get('recursive') else ''}{', '.join(parts)} "

    def _values(self, node: exp.Values, outer: Scope | None) -> Written:
        """Return a list of rows."""
        only(node, "expressions", "alias")
        rows = [row.expressions if isinstance(row, exp.Tuple) else [row] for row in node.expressions]
        scope = Scope(outer=outer)
        text = ", ".join(f"({self.write_all(row, scope)})" for row in rows)
        columns = tuple(f"column{number + 1}" for number in range(len(rows[0])))
        return Written(text=f"VALUES {text}", columns=columns, header=columns, fenced=True)

    def _set_operation(self, node: exp.SetOperation, outer: Scope | None, role: str) -> Written:
        """Return a UNION, INTERSECT or EXCEPT; its columns are those of its first part."""
        only(node, "this", "expression", "distinct", "with_", "order", "limit", "offset")
        left, right = (self._arm(part, outer, role if role == _OPERAND else _PART) for part in (node.this, node.expression))
        if len(left.columns) != len(right.columns):
            raise refuse(node, f"the parts have {len(left.columns)} and {len(right.columns)} columns.")
        word = f"{_SET_OPERATIONS[type(node)]}{'' if node.args.get('distinct') else ' ALL'}"
        if word not in ("UNION", "UNION ALL", "INTERSECT", "EXCEPT"):
            raise refuse(node, f"{word} is not supported.")
        text = f"{left.text} {word} {right.text}"
        if order := node.args.get("order"):
            only(order, "expressions")
            text += f" {self.write(order, Scope(outer=None, aliases=set(left.columns)))}"
        return Written(
            text=text,
            columns=left.columns,
            header=left.header,
            fenced=left.fenced and right.fenced,
            plain=left.plain and right.plain,
        )

    def _arm(self, node: exp.Expr, outer: Scope | None, role: str) -> Written:
        """Return a part of a set operation; whatever is more than a SELECT becomes a subquery, as all engines accept."""
        written = self._query(node, outer, role)
        if not isinstance(node, exp.Select) or any(node.args.get(part) for part in ("order", "limit", "offset", "with_")):
            names = ", ".join(map(quoted, written.columns))
            written.text = f"SELECT {names} FROM ({written.text}) AS \"part\""  # noqa: S608 - written here
        return written

    def _limit(self, node: exp.Expr, max_rows: int | None) -> str:
        """Return LIMIT and OFFSET of a query; their values are whole numbers, and the whole statement's is bounded."""
        numbers: dict[str, int] = {}
        for part in ("limit", "offset"):
            if clause := node.args.get(part):
                if isinstance(clause, exp.Fetch):
                    raise refuse(clause, "write LIMIT instead of FETCH.")
                only(clause, "expression")
                value = clause.expression
                number = self.value(value) if isinstance(value, exp.Placeholder) else value.this
                if not isinstance(value, exp.Literal | exp.Placeholder) or not str(number).isdecimal():
                    raise refuse(clause, f"{part.upper()} is a whole number.")
                numbers[part] = int(number)
        if max_rows is not None:
            numbers["limit"] = min(numbers.get("limit", max_rows), max_rows)
        if "offset" in numbers and "limit" not in numbers:
            raise refuse(node, "OFFSET needs a LIMIT.")
        return "".join(f" {part.upper()} {numbers[part]}" for part in ("limit", "offset") if part in numbers)

    def _select(self, node: exp.Select, outer: Scope | None, role: str) -> Written:
        """Return one SELECT without its LIMIT."""
        only(
            node, "expressions", "distinct", "from_", "joins", "where", "group", "having", "windows", "order", "limit",
            "offset", "with_",
        )  # fmt: skip
        scope = Scope(outer=outer, aliases={item.alias.lower() for item in node.expressions if item.alias})
        joins = self._sources(node, scope)
        where = _conjuncts(node.args["where"].this if node.args.get("where") else None)
        having = node.args["having"].this if node.args.get("having") else None
        items = self._items(node, scope)

        open_rows = any(not join.source.fenced for join in joins)
        if open_rows:
            where = [self._settled(part, scope) for part in where]
            for join in joins:
                join.conditions = [self._settled(part, scope) for part in join.conditions]
        computes = not all(cannot_fail(item, scope) for item, _ in items)
        late, inner = where, ""
        if open_rows and (
            not all(cannot_fail(part, scope) for part in (*where, *(part for join in joins for part in join.conditions)))
            or not all(cannot_fail(part, scope) or _is_aggregate(part, scope) for part in _conjuncts(having))
            or (role == _OPERAND and computes)
        ):
            late, inner = self._behind_fence(joins, where, scope)
            open_rows = False
        tables = f" FROM {self._from(joins, scope)}" if joins and not inner else ""

        text = f"SELECT {self._distinct_word(node)}{self._list(items, scope)}"
        rest = self._where(late, scope) + self._grouping(node, having, scope)
        if scope.rows:
            needed = ", ".join(
                f'{quoted(f"t_{alias}")}.{quoted(column)} AS "{name}"' for (alias, column), name in scope.needed.items()
            )
            tables = f" FROM (SELECT {needed or '1'} FROM {inner} {self.rules.fence}) AS {scope.rows}"  # noqa: S608
        return Written(
            text=f"{text}{tables}{rest}",
            columns=tuple(name.lower() for _, name in items),
            header=tuple(name for _, name in items),
            fenced=not open_rows,
            plain=not computes,
        )

    def _behind_fence(self, joins: list[_Join], where: list[exp.Expr], scope: Scope) -> tuple[list[exp.Expr], str]:
        """Put the rows of a SELECT behind a fence.

        Returns the conditions that are left for outside, and the subquery that the rows come from; it is empty where
        every source got a fence of its own.
        """
        held = [join for join in joins if not all(self._may_be_early(part, scope) for part in join.conditions)]
        if any(join.source.recurring for join in joins) or (
            held and any(join.words.split()[0] in ("LEFT", "RIGHT", "FULL") for join in joins[1:])
        ):
            # A condition of an outer join cannot be moved out of it, and a recursive query not into a subquery.
            for join in joins:
                self._fence(join.source)
            return where, ""
        late = [part for part in where if not self._may_be_early(part, scope)]
        early = [part for part in where if self._may_be_early(part, scope)]
        for join in held:
            late = [part for part in join.conditions if not self._may_be_early(part, scope)] + late
            join.conditions = [part for part in join.conditions if self._may_be_early(part, scope)]
        inner = self._from(joins, scope) + self._where(early, scope)
        self._rows += 1
        scope.rows = f'"rows{self._rows}"'
        return late, inner

    def _sources(self, node: exp.Select, scope: Scope) -> list[_Join]:
        """Return the sources of a SELECT and make them known to its scope."""
        if not node.args.get("from_"):
            return []
        only(node.args["from_"], "this")
        joins = [_Join(source=self._source(node.args["from_"].this, scope))]
        for join in node.args.get("joins") or ():
            only(join, "this", "side", "kind", "on", "using")
            joins.append(self._join(join, scope))
        return joins

    def _join(self, node: exp.Join, scope: Scope) -> _Join:
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
        conditions = _conjuncts(node.args.get("on"))
        # SQLite takes CROSS JOIN as an order to keep the tables as they stand.
        plain = kind != "CROSS" and (self.rules.name == "sqlite" or bool(using or conditions))
        words = f"{side} JOIN" if side else "JOIN" if plain else "CROSS JOIN"
        return _Join(source=source, words=words, using=using, conditions=conditions)

    def _source(self, node: exp.Expr, scope: Scope) -> Source:
        """Return one table, WITH query or subquery of a FROM clause."""
        alias = node.alias.lower() or (node.name.lower() if isinstance(node, exp.Table) else f"subquery {len(scope.sources)}")
        given = tuple(c.name.lower() for c in (node.args["alias"].args.get("columns") or ())) if node.args.get("alias") else ()
        if alias in scope.sources:
            raise refuse(node, f"'{alias}' occurs twice in FROM; give each an alias.")
        if isinstance(node, exp.Table):
            source = self._named(node, alias)
        elif isinstance(node, exp.Subquery | exp.Values):
            only(node, "this", "alias", "expressions")
            written = self._query(
                node if isinstance(node, exp.Values) else node.this, scope.outer, _SOURCE
            )
            source = Source(alias=alias, columns=written.columns, text=f"({written.text})", fenced=written.fenced)
        else:
            raise refuse(node, "FROM takes tables and subqueries only.")
        if given and (source.table or len(given) != len(source.columns)):
            raise refuse(node, f"'{alias}' has {len(source.columns)} columns, but {len(given)} names.")
        names = f" ({', '.join(map(quoted, given))})" if given else ""
        source.columns = given or source.columns
        source.text = f"{source.text} AS {quoted(f't_{alias}')}{names}"
        scope.sources[alias] = source
        return source

    def _named(self, node: exp.Table, alias: str) -> Source:
        """Return a table or WITH query, by its name alone."""
        name = node.name.lower()
        known = {*self._tables, *COLUMNS}
        if not isinstance(node.this, exp.Identifier) or node.args.get("db") or node.args.get("catalog"):
            raise refuse(node, f"write only the table's own name. Tables: {', '.join(COLUMNS)}.")
        only(node, "this", "alias")
        if table := self._tables.get(name):
            return Source(
                alias=alias,
                columns=table.columns,
                text=quoted(f"q_{name}"),
                fenced=table.fenced,
                recurring=table.recurring,
            )
        if name not in COLUMNS:
            raise refuse(node, f"there is no table '{name}'. {nearest(name, known)}")
        return Source(alias=alias, columns=COLUMNS[name], text=self._view(name), table=name)

    def _fence(self, source: Source) -> None:
        """Put a source behind a fence of its own."""
        if not source.fenced:
            name = quoted(f"t_{source.alias}")
            columns = ", ".join(map(quoted, source.columns))
            source.text = f"(SELECT {columns} FROM {source.text} {self.rules.fence}) AS {name}"  # noqa: S608 - written here
            source.fenced = True

    def _from(self, joins: list[_Join], scope: Scope) -> str:
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
            elif join.words == "JOIN" and self.rules.name == "postgresql":
                text += " ON TRUE"
        return text

    def _where(self, parts: list[exp.Expr], scope: Scope) -> str:
        return f" WHERE {' AND '.join(self.write(part, scope) for part in parts)}" if parts else ""

    def _distinct_word(self, node: exp.Select) -> str:
        if distinct := node.args.get("distinct"):
            only(distinct, "expressions")
            return "DISTINCT "
        return ""

    def _items(self, node: exp.Select, scope: Scope) -> list[tuple[exp.Expr, str]]:
        """Return the result columns with their names; * is spelled out."""
        items: list[tuple[exp.Expr, str]] = []
        for item in node.expressions:
            bare = item.unalias()
            if isinstance(bare, exp.Star) or (isinstance(bare, exp.Column) and isinstance(bare.this, exp.Star)):
                only(bare if isinstance(bare, exp.Star) else bare.this)
                items += self._star(bare, scope)
            elif isinstance(bare, exp.Column):
                items.append((bare, item.alias or bare.name))
            else:
                called = bare.this.name if isinstance(bare, exp.Window | exp.Filter) else bare.name
                plain = isinstance(bare, exp.Anonymous | exp.Window | exp.Filter)
                items.append((bare, item.alias or (called.lower() if plain and called else f"column{len(items) + 1}")))
        if not items:
            raise refuse(node, "SELECT what? Name the columns.")
        return items

    def _star(self, node: exp.Expr, scope: Scope) -> list[tuple[exp.Expr, str]]:
        """Return the columns that * stands for."""
        wanted = node.args["table"].name.lower() if isinstance(node, exp.Column) else None
        if wanted is not None and wanted not in scope.sources:
            raise refuse(node, f"there is no '{wanted}' in FROM. {nearest(wanted, set(scope.sources))}")
        return [
            (exp.column(name, table=source.alias, quoted=True), name)
            for source in scope.sources.values()
            if wanted in (None, source.alias)
            for name in source.columns
            if wanted is not None or name not in source.merged
        ]

    def _list(self, items: list[tuple[exp.Expr, str]], scope: Scope) -> str:
        return ", ".join(f"{self.write(item, scope)} AS {quoted(name.lower())}" for item, name in items)

    def _grouping(self, node: exp.Select, having: exp.Expr | None, scope: Scope) -> str:
        """Return what follows WHERE."""
        text = ""
        if group := node.args.get("group"):
            only(group, "expressions")
            text += f" GROUP BY {self.write_all(group.expressions, scope)}"
        if having:
            text += f" HAVING {self.write(having, scope)}"
        if windows := node.args.get("windows"):
            text += " WINDOW " + ", ".join(
                f"{quoted(window.name.lower())} AS ({self.window(window, scope)})" for window in windows
            )
        if order := node.args.get("order"):
            only(order, "expressions")
            parts = [self._order_key(part, scope) for part in order.expressions]
            text += f" ORDER BY {', '.join(parts)}"
        return text

    def _order_key(self, node: exp.Ordered, scope: Scope) -> str:
        """Return a key of ORDER BY; a name alone means a result column first, as in every engine."""
        key = node.this
        if isinstance(key, exp.Column) and not key.table and key.name.lower() in scope.aliases:
            return self.write(node, Scope(outer=None, aliases=scope.aliases))
        return self.write(node, scope)

    def _may_be_early(self, part: exp.Expr, scope: Scope) -> bool:
        """Return whether a condition may stand in the subquery that reads the tables."""
        if not cannot_fail(part, scope):
            return False
        found = [scope.find(column) for column in part.find_all(exp.Column)]
        return self.rules.correlated_tables or all(place is not None and place[0] is scope for place in found)

    def _settled(self, part: exp.Expr, scope: Scope) -> exp.Expr:
        """Return a condition with what does not depend on its row worked out before, so that an index can serve it.

        What is worked out fails before any row is looked at, or not at all.
        """
        if isinstance(part, exp.Not | exp.Paren | exp.And | exp.Or):
            settled = part.copy()
            for name in ("this", "expression"):
                if part.args.get(name):
                    settled.set(name, self._settled(part.args[name], scope))
            return settled
        if isinstance(part, exp.In) and part.args.get("query"):
            return self._settled_list(part, scope)
        if not isinstance(part, exp.Between | COMPARISONS):
            return part
        operands = ("this", "low", "high") if isinstance(part, exp.Between) else ("this", "expression")
        kinds = [self._is_text(part.args[name], scope) for name in operands]
        if kinds.count(None) == len(kinds):
            return part
        is_text = next(kind for kind in kinds if kind is not None)
        settled = part.copy()
        for name, kind in zip(operands, kinds, strict=True):
            operand = part.args[name]
            if kind is None and not cannot_fail(operand, scope):
                rows = self._ask(operand if isinstance(operand, exp.Subquery) else exp.select(operand.copy()), 2)
                if rows is None or len(rows) > 1:
                    return part
                value = rows[0][0] if rows else None
                strict = isinstance(operand, exp.Subquery) or self.rules.name != "sqlite"
                if not _fits(value, text=is_text, strict=strict):
                    return part
                settled.set(name, self._given(value))
        return settled

    def _settled_list(self, part: exp.In, scope: Scope) -> exp.Expr:
        """Return IN with the rows of its subquery in its place."""
        is_text = self._is_text(part.this, scope)
        rows = None if is_text is None else self._ask(part.args["query"], _MAX_LISTED + 1)
        if rows is None or len(rows) > _MAX_LISTED or not all(_fits(row[0], text=bool(is_text), strict=True) for row in rows):
            return part
        if not rows:
            return exp.EQ(this=exp.Literal.number(1), expression=exp.Literal.number(0))
        return exp.In(this=part.this.copy(), expressions=[self._given(row[0]) for row in rows])

    def _ask(self, query: exp.Expr, max_rows: int) -> Sequence[Sequence[Any]] | None:
        """Return the rows of a query, or None when it depends on the query around it."""
        # Names that only the query around it knows are unknown to a new writer.
        writer = Writer(self.rules, self._parameters, self._view, self._evaluate)
        try:
            written = writer.statement(query.copy(), max_rows)
        except QueryError:
            return None
        return self._evaluate(written.text, writer.bound)

    def _given(self, value: Any) -> exp.Expr:
        """Return a value as part of a query."""
        name = f"worked out {len(self._parameters)}"
        self._parameters = {**self._parameters, name: float(value) if isinstance(value, Decimal) else value}
        return exp.Placeholder(this=name)

    def _is_text(self, node: exp.Expr, scope: Scope) -> bool | None:
        """Return whether a column of a table holds text, or None for anything that is no such column."""
        if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
            return None
        found = scope.find(node)
        if found is None or found[1].table is None:
            return None
        return (found[1].table, node.name.lower()) in TEXT_COLUMNS


def _conjuncts(node: exp.Expr | None) -> list[exp.Expr]:
    """Return the conditions that an AND joins."""
    if isinstance(node, exp.Paren):
        return _conjuncts(node.this)
    if isinstance(node, exp.And):
        return [*_conjuncts(node.this), *_conjuncts(node.expression)]
    return [node] if node else []


def _is_aggregate(node: exp.Expr, scope: Scope) -> bool:
    """Return whether a condition can only be looked at when the rows of a scope have been counted together."""
    for part in node.walk(prune=lambda part: isinstance(part, exp.Select | exp.SetOperation)):
        if isinstance(part, exp.Anonymous | exp.GroupConcat) and (
            isinstance(part, exp.GroupConcat) or part.name.lower() in AGGREGATES
        ):
            places = [scope.find(column) for column in part.find_all(exp.Column)]
            if part.find(exp.Star) or any(place and place[0] is scope for place in places):
                return True
    return False


def _fits(value: Any, *, text: bool, strict: bool) -> bool:
    """Return whether a column compares with a value as it does with the expression that the value comes from."""
    if value is None or isinstance(value, str if text else bool | int | float | Decimal):
        return True
    return not strict and not text and isinstance(value, str)
