"""What a condition compares with, worked out before: then it cannot fail, and an index can serve it."""

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, Final

from sqlglot import exp

from ..views import TEXT_COLUMNS
from .conditions import COMPARISONS, cannot_fail
from .names import Scope

_MAX_LISTED: Final = 1_000
"""Values that the answer of a subquery may have to be put in its place."""


class Constants:
    """Puts values in the place of expressions and subqueries that are the same for every row."""

    def __init__(
        self,
        engine: str,
        ask: Callable[[exp.Expr, int], Sequence[Sequence[Any]] | None],
        given: Callable[[Any], exp.Expr],
    ) -> None:
        """Take a way to run a query on its own, which returns None if it cannot be, and one to name a value."""
        self._engine = engine
        self._ask = ask
        self._given = given

    def settled(self, part: exp.Expr, scope: Scope) -> exp.Expr:
        """Return a condition with what does not depend on its row worked out before, so that an index can serve it.

        What is worked out fails before any row is looked at, or not at all.
        """
        if isinstance(part, exp.Not | exp.Paren | exp.And | exp.Or):
            nested = part.copy()
            for name in ("this", "expression"):
                if part.args.get(name):
                    nested.set(name, self.settled(part.args[name], scope))
            return nested
        if isinstance(part, exp.In) and part.args.get("query"):
            return self._list(part, scope)
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
                strict = isinstance(operand, exp.Subquery) or self._engine != "sqlite"
                if not _fits(value, text=is_text, strict=strict):
                    return part
                settled.set(name, self._given(value))
        return settled

    def _list(self, part: exp.In, scope: Scope) -> exp.Expr:
        """Return IN with the rows of its subquery in its place."""
        is_text = self._is_text(part.this, scope)
        rows = None if is_text is None else self._ask(part.args["query"], _MAX_LISTED + 1)
        if (
            rows is None
            or len(rows) > _MAX_LISTED
            or not all(_fits(row[0], text=bool(is_text), strict=True) for row in rows)
        ):
            return part
        if not rows:
            return exp.EQ(this=exp.Literal.number(1), expression=exp.Literal.number(0))
        return exp.In(this=part.this.copy(), expressions=[self._given(row[0]) for row in rows])

    def _is_text(self, node: exp.Expr, scope: Scope) -> bool | None:
        """Return whether a column of a table holds text, or None for anything that is no such column."""
        if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
            return None
        found = scope.find(node)
        if found is None or found[1].table is None:
            return None
        return (found[1].table, node.name.lower()) in TEXT_COLUMNS


def _fits(value: Any, *, text: bool, strict: bool) -> bool:
    """Return whether a column compares with a value as it does with the expression that the value comes from."""
    if value is None or isinstance(value, str if text else bool | int | float | Decimal):
        return True
    return not strict and not text and isinstance(value, str)
