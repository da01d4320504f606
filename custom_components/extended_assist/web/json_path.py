"""A small part of JSONPath: members, items, and wildcards."""

from difflib import get_close_matches
import re
from typing import Any, Final

from ..results import ToolError
from .page import clean

MAX_PATH: Final = 500
_MAX_VALUES = 10_000
_NAMES = 20
_MAX_NAME = 40
_MAX_SHOWN = 100
_COMPARED = 2_000
"""The most names that are compared to suggest the most similar ones."""
_STEP = re.compile(
    r"""\.?(?P<all>\*)|\[(?P<items>\*)\]|\.?(?P<name>[^.\[\]*'"\s]+)|\[(?P<index>-?\d{1,9})\]"""
    r"""|\[(?P<quoted>'[^']*'|"[^"]*")\]"""
)


def select(value: Any, path: str) -> Any:
    """Return the value at a path such as $.list[0].name or $.list[*].name; with * a list of values.

    Raises ToolError that names the last part that exists and its keys.
    """
    rest, done, many = path.strip().removeprefix("$"), "$", False
    values = [value]
    while rest:
        if not (step := _STEP.match(rest)):
            raise ToolError(f"'{path}' is not a path. Write it like $.current.temp, $.list[0] or $.list[*].name.")
        rest = rest[step.end() :]
        found: list[Any] = []
        if step["all"] or step["items"]:
            many = True
            for holder in values:
                found += holder.values() if isinstance(holder, dict) else holder if isinstance(holder, list) else ()
        else:
            key = step["name"] or (step["quoted"] or "")[1:-1]
            for holder in values:
                if step["index"] is not None and isinstance(holder, list):
                    if -len(holder) <= (index := int(step["index"])) < len(holder):
                        found.append(holder[index])
                elif step["index"] is None and isinstance(holder, dict) and key in holder:
                    found.append(holder[key])
        if not found:
            raise ToolError(
                f"There is no '{step[0]}' in {done[-_MAX_SHOWN:]}{_what_is_there(values, step['name'] or step['quoted'])}"
            )
        values, done = found[:_MAX_VALUES], done + step[0]
    return values if many else values[0]


def _shortened(name: str) -> str:
    """Return a name cut so that it cannot contain a sentence."""
    name = clean(name)
    return name if len(name) <= _MAX_NAME else f"{name[:_MAX_NAME]}…"


def _what_is_there(values: list[Any], wanted: str | None) -> str:
    """Return the part of an error that describes the existing value."""
    match values[0]:
        case dict() as members if members:
            names = list(map(str, members))
            near = [name for name in names[:_COMPARED] if len(name) <= _MAX_SHOWN]
            nearest = get_close_matches(wanted, near, n=3) if wanted and len(wanted) <= _MAX_SHOWN else []
            shown = nearest + [name for name in names if name not in nearest][:_NAMES]
            more = f" and {len(names) - len(shown)} more" if len(names) > len(shown) else ""
            return f", which has: {', '.join(map(_shortened, shown))}{more}."
        case list() as items if items:
            return f", which is a list of {len(items)} items: use [0] to [{len(items) - 1}], or [*]."
        case _:
            return ", which holds nothing."
