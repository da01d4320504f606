"""From the text of a query to a tree."""

from sqlglot import exp
from sqlglot.errors import ParseError, SqlglotError

from .dialects import Rules
from .names import QueryError

_MAX_CHARACTERS = 10_000


def parse(query: str, rules: Rules) -> exp.Expr:
    """Return the only SELECT in a text; raises QueryError for anything else."""
    if len(query) > _MAX_CHARACTERS:
        raise QueryError(f"The query has {len(query)} characters; at most {_MAX_CHARACTERS} are allowed.")
    if "\0" in query:
        raise QueryError("The query contains a zero character.")
    try:
        trees = [tree for tree in rules.dialect().parse(query) if tree]
    except ParseError as err:
        found = err.errors[0] if err.errors else {}
        raise QueryError(
            f"Line {found.get('line')}, column {found.get('col')}: {found.get('description')}, "
            f"near '{found.get('highlight')}'. Write it as {rules.name} does."
        ) from err
    except SqlglotError as err:
        raise QueryError("The query cannot be read: is there a quote or comment without an end?") from err
    except RecursionError as err:
        raise QueryError("The query is nested too deeply.") from err
    if len(trees) != 1:
        raise QueryError("Write exactly one SELECT.")
    tree = trees[0]
    while isinstance(tree, exp.Subquery | exp.Paren) and not any(
        value for name, value in tree.args.items() if name != "this"
    ):
        tree = tree.this
    if not isinstance(tree, exp.Select | exp.Union | exp.Intersect | exp.Except):
        raise QueryError("Only SELECT is allowed; nothing can be changed.")
    return tree
