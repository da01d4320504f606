"""Changes of a wish that can be taken back where they could not be stored."""

from collections.abc import Callable
from dataclasses import is_dataclass
from typing import Any

from .wish import Wish


def change_with_restore(wish: Wish, change: Callable[[], None]) -> Callable[[], None]:
    """Make a change of a wish; return the function that takes back what of it nobody has changed again since."""
    parts = [part for part in (wish, wish.owner, wish.when, wish.progress, wish.when.watch) if part is not None]
    before = [*map(_values, parts)]
    change()
    after = [*map(_values, parts)]

    def restore() -> None:
        for part, old, new in zip(parts, before, after, strict=True):
            for name, value in old.items():
                if value != new[name] and getattr(part, name) == new[name]:
                    setattr(part, name, value)

    return restore


def _values(part: Any) -> dict[str, Any]:
    """Return the values of a part by their names, without its own parts."""
    values = {name: getattr(part, name) for name in part.__slots__}
    return {name: value for name, value in values.items() if not is_dataclass(value)}
