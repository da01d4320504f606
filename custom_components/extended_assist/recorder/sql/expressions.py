"""Expressions, written anew from the parsed tree: what this module has no way to write cannot be sent."""

from collections.abc import Callable, Mapping
import re
from typing import Any, Final

from sqlglot import exp

from .dialects import UNITS, Rules
from .names import Scope, nearest, quoted, refuse

_NUMBER: Final = re.compile(r"\d{1,40}(\.\d{0,40})?([eE][+-]?\d{1,3})?|\.\d{1,40}([eE][+-]?\d{1,3})?").fullmatch
_MAX_PRECISION: Final = 1000

_BINARY: Final[dict[type[exp.Expr], str]] = {
    exp.Add: "+",
    exp.And: "AND",
    exp.Div: "/",
    exp.DPipe: "||",
    exp.EQ: "=",
    exp.Glob: "GLOB",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.ILike: "ILIKE",
    exp.IntDiv: "DIV",
    exp.JSONExtract: "->",
    exp.JSONExtractScalar: "->>",
    exp.Like: "LIKE",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.Mod: "%",
    exp.Mul: "*",
    exp.NEQ: "<>",
    exp.Or: "OR",
    exp.Sub: "-",
    exp.Xor: "XOR",
}
_MOMENTS: Final[dict[type[exp.Expr], str]] = {
    exp.CurrentDate: "CURRENT_DATE",
    exp.CurrentTime: "CURRENT_TIME",
    exp.CurrentTimestamp: "CURRENT_TIMESTAMP",
}


def only(node: exp.Expr, *parts: str) -> None:
    """Raise QueryError when a part of the query has more to it than the writer knows of."""
    for name, value in node.args.items():
        if value and name not in parts:
            raise refuse(node, f"{name.strip('_').upper()} is not supported in a {type(node).__name__.upper()}.")


class Expressions:
    """Writes expressions for one engine; the values in them are bound, never written."""

    def __init__(self, rules: Rules, parameters: Mapping[str, Any]) -> None:
        """Take the rules of the engine and the values of the query's own parameters."""
        self.rules = rules
        self.bound: dict[str, Any] = {}
        self._parameters = parameters
        self._names: dict[tuple[type, Any], str] = {}
        self._writers: dict[type[exp.Expr], Callable[[Any, Scope], str]] = {
            exp.Anonymous: self._function,
            exp.AtTimeZone: self._at_time_zone,
            exp.Between: self._between,
            exp.Boolean: lambda node, _: "TRUE" if node.this else "FALSE",
            exp.Case: self._case,
            exp.Cast: self._cast,
            exp.Column: self._column,
            exp.Distinct: self._distinct,
            exp.Escape: self._escape,
            exp.Exists: self._exists,
            exp.Extract: self._extract,
            exp.Filter: self._filter,
            exp.GroupConcat: self._group_concat,
            exp.If: lambda node, scope: self._case(exp.Case(ifs=[node], default=node.args.get("false")), scope),
            exp.In: self._in,
            exp.Interval: self._interval,
            exp.Is: self._is,
            exp.Literal: self._literal,
            exp.Neg: lambda node, scope: f"(- {self.write(node.this, scope)})",
            exp.Not: lambda node, scope: f"(NOT {self.write(node.this, scope)})",
            exp.Null: lambda _, __: "NULL",
            exp.NullSafeEQ: self._null_safe,
            exp.NullSafeNEQ: self._null_safe,
            exp.Order: self._order,
            exp.Ordered: self._ordered,
            exp.Paren: lambda node, scope: self.write(node.this, scope),
            exp.Placeholder: lambda node, _: self.bind(self.value(node)),
            exp.RegexpILike: self._regexp,
            exp.RegexpLike: self._regexp,
            exp.Select: self._scalar,
            exp.Subquery: self._scalar,
            exp.Tuple: lambda node, scope: f"({self.write_all(node.expressions, scope)})",
            exp.Window: self._window,
            exp.WithinGroup: self._within_group,
        }

    def write(self, node: exp.Expr, scope: Scope) -> str:
        """Return an expression as it is sent."""
        kind = type(node)
        if kind in _ENGINE_ONLY and kind not in self.rules.nodes:
            raise refuse(node, f"{self._sample(node)} is not something that {self.rules.name} understands here.")
        if node.args.get("negate"):
            positive = node.copy()
            positive.set("negate", None)
            return f"(NOT {self.write(positive, scope)})"
        if operator := _BINARY.get(kind):
            only(node, "this", "expression", "typed", "safe")
            return f"({self.write(node.this, scope)} {operator} {self.write(node.expression, scope)})"
        if moment := _MOMENTS.get(kind):
            only(node)
            return moment
        if writer := self._writers.get(kind):
            return writer(node, scope)
        raise refuse(node, f"{self._sample(node)} is not allowed. Use plain SELECT syntax and the listed tables.")

    def write_all(self, nodes: list[exp.Expr], scope: Scope) -> str:
        """Return expressions, separated by commas."""
        return ", ".join(self.write(node, scope) for node in nodes)

    def query(self, node: exp.Expr, scope: Scope, role: str) -> str:
        """Return a subquery in an expression; written by the class that writes queries."""
        raise NotImplementedError

    def bind(self, value: Any) -> str:
        """Return the placeholder of a value; equal values share one, so that equal expressions stay equal."""
        key = (type(value), value)
        name = self._names.setdefault(key, f"p{len(self._names)}")
        self.bound[name] = value
        return f":{name}"

    def value(self, node: exp.Placeholder) -> Any:
        """Return the value of one of the query's own parameters."""
        name = node.this
        if not isinstance(name, str) or not name:
            raise refuse(node, "name each parameter, like :entity, and give its value in parameters.")
        if name not in self._parameters:
            raise refuse(node, f"there is no value for :{name} in parameters.")
        return self._parameters[name]

    @staticmethod
    def _sample(node: exp.Expr) -> str:
        """Return what to call a part of the query that is refused."""
        return f"'{node.key}'"

    def _literal(self, node: exp.Literal, _: Scope) -> str:
        if node.is_string:
            return self.bind(node.this)
        if not _NUMBER(node.this):
            raise refuse(node, f"'{node.this[:40]}' is not a number.")
        return str(node.this)

    def _column(self, node: exp.Column, scope: Scope) -> str:
        if isinstance(node.this, exp.Star):
            raise refuse(node, "* stands only in a list of columns.")
        found = scope.find(node)
        if found is None:
            return quoted(node.name.lower())
        owner, source = found
        return owner.write(source, node.name.lower())

    def _function(self, node: exp.Anonymous, scope: Scope) -> str:
        name = node.this.lower() if isinstance(node.this, str) else ""
        if name not in self.rules.functions:
            shown = name or node.name
            raise refuse(node, f"there is no function {shown}. {nearest(shown, set(self.rules.functions))}")
        arguments = list(node.expressions)
        if len(arguments) == 1 and isinstance(arguments[0], exp.Star):
            return f"{name}(*)"
        if name == "timestampdiff" and arguments:
            unit = arguments.pop(0)
            return f"{name}({self._unit(unit)}, {self.write_all(arguments, scope)})"
        return f"{name}({self.write_all(arguments, scope)})"

    def _unit(self, node: exp.Expr | None) -> str:
        name = node.name.lower() if node else ""
        if node and name not in UNITS:
            raise refuse(node, f"'{name}' is not a unit of time. {nearest(name, set(UNITS))}")
        return name.upper()

    def _distinct(self, node: exp.Distinct, scope: Scope) -> str:
        only(node, "expressions")
        return f"DISTINCT {self.write_all(node.expressions, scope)}"

    def _between(self, node: exp.Between, scope: Scope) -> str:
        only(node, "this", "low", "high")
        this, low, high = (self.write(node.args[part], scope) for part in ("this", "low", "high"))
        return f"({this} BETWEEN {low} AND {high})"

    def _case(self, node: exp.Case, scope: Scope) -> str:
        only(node, "this", "ifs", "default")
        start = f"CASE {self.write(node.this, scope)}" if node.this else "CASE"
        for branch in node.args["ifs"]:
            start += f" WHEN {self.write(branch.this, scope)} THEN {self.write(branch.args['true'], scope)}"
        if default := node.args.get("default"):
            start += f" ELSE {self.write(default, scope)}"
        return f"({start} END)"

    def _cast(self, node: exp.Cast, scope: Scope) -> str:
        only(node, "this", "to")
        kind = node.args["to"]
        if not isinstance(kind, exp.DataType) or not isinstance(kind.this, exp.DType):
            raise refuse(node, "cast only to a plain type.")
        only(kind, "this", "expressions")
        if (name := self.rules.types.get(kind.this.value)) is None:
            raise refuse(node, f"cannot cast to {kind.this.value}. Types: {', '.join(sorted(self.rules.types))}.")
        if kind.expressions:
            sizes = [part.this.this if isinstance(part, exp.DataTypeParam) else "" for part in kind.expressions]
            if not all(str(size).isdecimal() and int(size) <= _MAX_PRECISION for size in sizes):
                raise refuse(node, f"the size of a type is a number up to {_MAX_PRECISION}.")
            name += f"({', '.join(map(str, sizes))})"
        return f"CAST({self.write(node.this, scope)} AS {name})"

    def _escape(self, node: exp.Escape, scope: Scope) -> str:
        if not isinstance(node.this, exp.Like | exp.ILike):
            raise refuse(node, "ESCAPE belongs to LIKE.")
        like = node.this.copy()
        like.set("negate", None)
        text = f"({self.write(like, scope)[1:-1]} ESCAPE {self.write(node.expression, scope)})"
        return f"(NOT {text})" if node.this.args.get("negate") else text

    def _exists(self, node: exp.Exists, scope: Scope) -> str:
        only(node, "this")
        return f"EXISTS ({self.query(node.this, scope, 'exists')})"

    def _scalar(self, node: exp.Expr, scope: Scope) -> str:
        return f"({self.query(node, scope, 'scalar')})"

    def _in(self, node: exp.In, scope: Scope) -> str:
        only(node, "this", "expressions", "query")
        this = self.write(node.this, scope)
        if query := node.args.get("query"):
            return f"({this} IN ({self.query(query, scope, 'operand')}))"
        if not node.expressions:
            raise refuse(node, "IN needs a list in parentheses.")
        return f"({this} IN ({self.write_all(node.expressions, scope)}))"

    def _is(self, node: exp.Is, scope: Scope) -> str:
        only(node, "this", "expression")
        if not isinstance(node.expression, exp.Null | exp.Boolean):
            raise refuse(node, "IS compares with NULL, TRUE or FALSE.")
        return f"({self.write(node.this, scope)} IS {self.write(node.expression, scope)})"

    def _null_safe(self, node: exp.Binary, scope: Scope) -> str:
        left, right = self.write(node.this, scope), self.write(node.expression, scope)
        same = isinstance(node, exp.NullSafeEQ)
        if self.rules.name == "mariadb":
            return f"({left} <=> {right})" if same else f"(NOT ({left} <=> {right}))"
        return f"({left} IS {'NOT ' if same else ''}DISTINCT FROM {right})"

    def _regexp(self, node: exp.Binary, scope: Scope) -> str:
        only(node, "this", "expression")
        words = {exp.RegexpLike: "REGEXP" if self.rules.name == "mariadb" else "~", exp.RegexpILike: "~*"}
        return f"({self.write(node.this, scope)} {words[type(node)]} {self.write(node.expression, scope)})"

    def _extract(self, node: exp.Extract, scope: Scope) -> str:
        only(node, "this", "expression")
        return f"EXTRACT({self._unit(node.this)} FROM {self.write(node.expression, scope)})"

    def _at_time_zone(self, node: exp.AtTimeZone, scope: Scope) -> str:
        only(node, "this", "zone")
        return f"({self.write(node.this, scope)} AT TIME ZONE {self.write(node.args['zone'], scope)})"

    def _interval(self, node: exp.Interval, scope: Scope) -> str:
        only(node, "this", "unit")
        unit = self._unit(node.args.get("unit"))
        if self.rules.name == "sqlite" or not node.this:
            raise refuse(node, "write a span of time as a modifier, like datetime('now', '-1 day').")
        if self.rules.name == "mariadb":
            return f"INTERVAL {self.write(node.this, scope)} {unit}"
        if not isinstance(node.this, exp.Literal):
            raise refuse(node, "multiply instead: 5 * INTERVAL '1 hour'.")
        return f"CAST({self.bind(f'{node.this.this} {unit}'.strip())} AS interval)"

    def _filter(self, node: exp.Filter, scope: Scope) -> str:
        only(node, "this", "expression")
        return f"{self.write(node.this, scope)} FILTER (WHERE {self.write(node.expression.this, scope)})"

    def _within_group(self, node: exp.WithinGroup, scope: Scope) -> str:
        only(node, "this", "expression")
        return f"{self.write(node.this, scope)} WITHIN GROUP ({self.write(node.expression, scope)})"

    def _group_concat(self, node: exp.GroupConcat, scope: Scope) -> str:
        only(node, "this", "separator")
        separator = node.args.get("separator")
        if self.rules.name == "mariadb":
            ending = ""
            if separator:
                # The grammar wants a literal; a separator has no need of anything that would have to be escaped.
                if not isinstance(separator, exp.Literal) or not re.fullmatch(r"[\w ,;:|/.\-]{0,10}", separator.this):
                    raise refuse(node, "a SEPARATOR is a short text such as ', '.")
                ending = f" SEPARATOR '{separator.this}'"
            return f"group_concat({self.write(node.this, scope)}{ending})"
        order, this = "", node.this
        if isinstance(this, exp.Order):
            order, this = f" ORDER BY {self.write_all(this.expressions, scope)}", this.this
        return f"string_agg({self.write(this, scope)}, {self.write(separator, scope) if separator else 'NULL'}{order})"

    def _order(self, node: exp.Order, scope: Scope) -> str:
        only(node, "this", "expressions")
        start = f"{self.write(node.this, scope)} " if node.this else ""
        return f"{start}ORDER BY {self.write_all(node.expressions, scope)}"

    def _ordered(self, node: exp.Ordered, scope: Scope) -> str:
        only(node, "this", "desc", "nulls_first")
        descending = bool(node.args.get("desc"))
        text = f"{self.write(node.this, scope)}{' DESC' if descending else ''}"
        first = bool(node.args.get("nulls_first"))
        if first == (descending is not self.rules.nulls_are_small):
            return text
        if self.rules.name == "mariadb":
            raise refuse(node, "NULLS FIRST and NULLS LAST are not supported; order by (column IS NULL) before.")
        return f"{text} NULLS {'FIRST' if first else 'LAST'}"

    def _window(self, node: exp.Window, scope: Scope) -> str:
        only(node, "this", "partition_by", "order", "spec", "alias", "over")
        function = self.write(node.this, scope)
        if alias := node.args.get("alias"):
            only(node, "this", "alias", "over")
            return f"{function} OVER {quoted(alias.name.lower())}"
        return f"{function} OVER ({self.window(node, scope)})"

    def window(self, node: exp.Window, scope: Scope) -> str:
        """Return what a window consists of."""
        parts = []
        if partition := node.args.get("partition_by"):
            parts.append(f"PARTITION BY {self.write_all(partition, scope)}")
        if order := node.args.get("order"):
            parts.append(self.write(order, scope))
        if spec := node.args.get("spec"):
            only(spec, "kind", "start", "start_side", "end", "end_side")
            parts.append(self._frame(spec))
        return " ".join(parts)

    def _frame(self, spec: exp.WindowSpec) -> str:
        kind = str(spec.args.get("kind")).upper()
        start = self._bound_of_frame(spec, "start")
        end = self._bound_of_frame(spec, "end") if spec.args.get("end") else "CURRENT ROW"
        if kind not in ("ROWS", "RANGE", "GROUPS"):
            raise refuse(spec, "a frame is ROWS or RANGE.")
        return f"{kind} BETWEEN {start} AND {end}"

    @staticmethod
    def _bound_of_frame(spec: exp.WindowSpec, part: str) -> str:
        value, side = spec.args.get(part), str(spec.args.get(f"{part}_side") or "").upper()
        if isinstance(value, exp.Literal) and not value.is_string and _NUMBER(value.this):
            distance = value.this
        elif isinstance(value, str) and value.upper() in ("UNBOUNDED", "CURRENT ROW"):
            distance = value.upper()
        else:
            raise refuse(spec, "a frame reaches a number of rows, UNBOUNDED or CURRENT ROW.")
        if side not in ("", "PRECEDING", "FOLLOWING"):
            raise refuse(spec, "a frame reaches PRECEDING or FOLLOWING.")
        return f"{distance} {side}".strip()


_ENGINE_ONLY: Final = frozenset(
    {exp.AtTimeZone, exp.Glob, exp.ILike, exp.IntDiv, exp.JSONExtract, exp.JSONExtractScalar, exp.NullSafeEQ}
    | {exp.NullSafeNEQ, exp.RegexpILike, exp.RegexpLike, exp.WithinGroup, exp.Xor}
)
