"""What is known of a condition before it is asked: whether it can fail, and what has to be known first."""

from typing import Final

from sqlglot import exp

from ..views import COMPUTED_COLUMNS
from .dialects import AGGREGATES
from .names import Scope

COMPARISONS: Final = exp.EQ | exp.NEQ | exp.GT | exp.GTE | exp.LT | exp.LTE | exp.NullSafeEQ | exp.NullSafeNEQ
"""Operators that give an answer for whatever values they are given, and never fail."""


def cannot_fail(node: exp.Expr, scope: Scope) -> bool:
    """Return whether a condition gives an answer on every row there is, hidden ones too, and never an error.

    Only then may the engine look at it before it knows whether a row is exposed.
    """
    if isinstance(node, exp.And | exp.Or | exp.Xor | COMPARISONS):
        return cannot_fail(node.this, scope) and cannot_fail(node.expression, scope)
    if isinstance(node, exp.Not | exp.Paren):
        return cannot_fail(node.this, scope)
    if isinstance(node, exp.Is):
        return cannot_fail(node.this, scope)
    if isinstance(node, exp.Between):
        return all(cannot_fail(node.args[part], scope) for part in ("this", "low", "high"))
    if isinstance(node, exp.In):
        return bool(node.expressions) and all(cannot_fail(part, scope) for part in (node.this, *node.expressions))
    if isinstance(node, exp.Like | exp.ILike):
        pattern = node.expression
        return (
            cannot_fail(node.this, scope)
            and isinstance(pattern, exp.Literal)
            and pattern.is_string
            and "\\" not in pattern.this
        )
    if isinstance(node, exp.Column):
        found = None if isinstance(node.this, exp.Star) else scope.find(node)
        return found is not None and (found[1].table or "", node.name.lower()) not in COMPUTED_COLUMNS
    if isinstance(node, exp.Neg):
        return isinstance(node.this, exp.Literal)
    return isinstance(node, exp.Literal | exp.Placeholder | exp.Boolean | exp.Null)


def conjuncts(node: exp.Expr | None) -> list[exp.Expr]:
    """Return the conditions that an AND joins."""
    if isinstance(node, exp.Paren):
        return conjuncts(node.this)
    if isinstance(node, exp.And):
        return [*conjuncts(node.this), *conjuncts(node.expression)]
    return [node] if node else []


def is_aggregate(node: exp.Expr, scope: Scope) -> bool:
    """Return whether a condition can only be looked at when the rows of a scope have been counted together."""
    for part in node.walk(prune=lambda part: isinstance(part, exp.Select | exp.SetOperation)):
        if isinstance(part, exp.Anonymous | exp.GroupConcat) and (
            isinstance(part, exp.GroupConcat) or part.name.lower() in AGGREGATES
        ):
            places = [scope.find(column) for column in part.find_all(exp.Column)]
            if part.find(exp.Star) or any(place and place[0] is scope for place in places):
                return True
    return False
