"""The one way to look at every text inside data."""

from collections.abc import Iterator, Mapping
from typing import Any

type Path = tuple[Any, ...]
"""The way to something inside data: keys of dicts, and numbers of items of lists."""


def texts_in(value: Any, *, keys: bool = False, path: Path = ()) -> Iterator[tuple[str, Path]]:
    """Yield every text inside dicts and lists with the way to it; with keys, these too, with the way to their dict."""
    if isinstance(value, str):
        yield value, path
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if keys:
                yield str(key), path
            yield from texts_in(item, keys=keys, path=(*path, key))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from texts_in(item, keys=keys, path=(*path, index))


def place_of(start: str, path: Path) -> str:
    """The way to something as a person reads it, such as actions[0].data.message."""
    return start + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
