"""Whole queries, written anew so that a hidden row can neither be read nor be noticed.

Every table stands for a view on its exposed rows. That alone keeps hidden rows out of every result, but an engine may look
at a condition before it looks at the view's own, and a condition that fails on a hidden row would tell of it. So:

- A condition that cannot fail whatever the row (comparisons of columns and values) is left where it is, for the indexes.
- Any other condition is moved out of the subquery that reads the tables, behind a fence: a LIMIT or OFFSET that changes
  nothing, and across which the engines move no condition.
- A subquery in FROM or WITH that computes anything from rows not yet behind a fence ends with a fence itself.
"""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final, override

from sqlglot import exp

from ..views import COLUMNS
from .conditions import cannot_fail, conjuncts, is_aggregate
from .constants import Constants
from .dialects import Rules
from .expressions import only
from .names import QueryError, Scope, nearest, quoted, refuse
from .sources import OPERAND, PART, SOURCE, TOP, FromClauses, Join, Table, Written

type Evaluate = Callable[[str, Mapping[str, Any]], Sequence[Sequence[Any]]]
"""Runs a query that touches no row of the query it is part of, and returns its rows."""

_MAX_LISTED = 1_000
"""Values that the answer of a subquery may have to be put in its place."""
_SET_OPERATIONS: Final[dict[type[exp.Expr], str]] = {
    exp.Union: "UNION",
    exp.Intersect: "INTERSECT",
    exp.Except: "EXCEPT",
}


class Writer(FromClauses):
    """Writes one query."""

    def __init__(
        self, rules: Rules, parameters: Mapping[str, Any], view: Callable[[str], str], evaluate: Evaluate
    ) -> None:
        """Take the rules of the engine, the query's parameters, the name of a table's view and a way to ask the engine."""
        super().__init__(rules, parameters, view)
        self._evaluate = evaluate
        self._rows = 0
        self._constants = Constants(rules.name, self._ask, self._given)

    def statement(self, node: exp.Expr, max_rows: int) -> Written:
        """Return the whole statement, cut to a number of rows."""
        return self.whole(node, None, TOP, max_rows)

    @override
    def query(self, node: exp.Expr, scope: Scope, role: str) -> str:
        return self.whole(node, scope, role).text

    @override
    def whole(self, node: exp.Expr, outer: Scope | None, role: str, max_rows: int | None = None) -> Written:
        """Return a SELECT, VALUES or set operation with the WITH before it."""
        if isinstance(node, exp.Subquery | exp.Paren):
            only(node, "this", "alias")
            return self.whole(node.this, outer, role, max_rows)
        known = dict(self.tables)
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
        if role == SOURCE and not (written.fenced or written.plain or ending):
            ending = f" {self.rules.fence}"
        written.fenced = written.fenced or bool(ending)
        written.text = f"{prefix}{written.text}{ending}"
        self.tables = known
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
                first = given or self.whole(body.this.copy(), outer, TOP).columns
                self.tables[name] = Table(first, fenced=True, recurring=True)
            # The engines keep conditions from outside out of a recursive query by themselves, and allow no fence in it.
            written = self.whole(body, outer, TOP if recursive else SOURCE)
            columns = given or written.columns
            if len(columns) != len(written.columns):
                raise refuse(query, f"'{name}' has {len(written.columns)} columns, but {len(columns)} names.")
            self.tables[name] = Table(columns, fenced=True if recursive else written.fenced)
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
        left, right = (
            self._arm(part, outer, role if role == OPERAND else PART) for part in (node.this, node.expression)
        )
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
        written = self.whole(node, outer, role)
        if not isinstance(node, exp.Select) or any(
            node.args.get(part) for part in ("order", "limit", "offset", "with_")
        ):
            names = ", ".join(map(quoted, written.columns))
            written.text = f'SELECT {names} FROM ({written.text}) AS "part"'  # noqa: S608 - written here
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
        joins = self.sources(node, scope)
        where = conjuncts(node.args["where"].this if node.args.get("where") else None)
        having = node.args["having"].this if node.args.get("having") else None
        items = self._items(node, scope)

        open_rows = any(not join.source.fenced for join in joins)
        if open_rows:
            where = [self._constants.settled(part, scope) for part in where]
            for join in joins:
                join.conditions = [self._constants.settled(part, scope) for part in join.conditions]
        computes = not all(cannot_fail(item, scope) for item, _ in items)
        late, inner = where, ""
        if open_rows and (
            not all(
                cannot_fail(part, scope) for part in (*where, *(part for join in joins for part in join.conditions))
            )
            or not all(cannot_fail(part, scope) or is_aggregate(part, scope) for part in conjuncts(having))
            or (role == OPERAND and computes)
        ):
            late, inner = self._behind_fence(joins, where, scope)
            open_rows = False
        if joins and not inner:
            if open_rows:
                self.match_attributes(joins, where, scope)
            tables = f" FROM {self.from_clause(joins, scope)}"
        else:
            tables = ""

        text = f"SELECT {self._distinct_word(node)}{self._list(items, scope)}"
        rest = self._where(late, scope) + self._grouping(node, having, scope)
        if scope.rows:
            needed = ", ".join(
                f'{quoted(f"t_{alias}")}.{quoted(column)} AS "{name}"' for (alias, column), name in scope.needed.items()
            )
            tables = f" FROM (SELECT {needed or '1'} FROM {inner} {self.rules.fence}) AS {scope.rows}"  # noqa: S608 - written here
        return Written(
            text=f"{text}{tables}{rest}",
            columns=tuple(name.lower() for _, name in items),
            header=tuple(name for _, name in items),
            fenced=not open_rows,
            plain=not computes,
        )

    def _behind_fence(self, joins: list[Join], where: list[exp.Expr], scope: Scope) -> tuple[list[exp.Expr], str]:
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
                self.fence(join.source)
            return where, ""
        late = [part for part in where if not self._may_be_early(part, scope)]
        early = [part for part in where if self._may_be_early(part, scope)]
        for join in held:
            late = [part for part in join.conditions if not self._may_be_early(part, scope)] + late
            join.conditions = [part for part in join.conditions if self._may_be_early(part, scope)]
        self.match_attributes(joins, early, scope)
        inner = self.from_clause(joins, scope) + self._where(early, scope)
        self._rows += 1
        scope.rows = f'"rows{self._rows}"'
        return late, inner

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

    def _ask(self, query: exp.Expr, max_rows: int) -> Sequence[Sequence[Any]] | None:
        """Return the rows of a query, or None when it depends on the query around it."""
        # Names that only the query around it knows are unknown to a new writer.
        writer = Writer(self.rules, self._parameters, self.view, self._evaluate)
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
