"""Read values from a page with CSS selectors."""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
import re
from typing import Final

from bs4 import BeautifulSoup
from bs4.element import Tag
from soupsieve import SelectorSyntaxError

from ..results import ToolError
from .page import absolute, base, clean, is_hidden, parse, text_of

MAX_SELECTOR: Final = 500
MAX_VALUES: Final = 100
"""The most values of one selector."""
MAX_VALUE: Final = 1_000
"""The most characters of one value."""

_LINKS = frozenset({"href", "src"})
_BRACKETS = re.compile(r"\[[^\]]*\]|\([^)]*\)")
_PART = re.compile(r"[.#]?[A-Za-z_][\w-]*")
_SIMILAR = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A selector, and the data to read from its matches."""

    selector: str
    attribute: str | None = None
    """The attribute to read in place of the text."""
    every: bool = False
    """True to read all matches, and not only the first."""


@dataclass(frozen=True, slots=True)
class Found:
    """The matches of one selector."""

    matches: int
    values: list[str | None]
    """None for an element without the attribute."""
    hint: str = ""


def select(html: str, url: str, wanted: Iterable[Wanted]) -> tuple[list[Found], bool]:
    """Return the matches of each selector, and whether the page was cut."""
    soup, cut = parse(html)
    base_url = base(soup, url)
    return [_select(soup, base_url, each) for each in wanted], cut


def _select(soup: BeautifulSoup, base_url: str, wanted: Wanted) -> Found:
    """Return the matches of one selector; raises ToolError if it is not valid."""
    try:
        tags = soup.select(wanted.selector)
    except (SelectorSyntaxError, NotImplementedError) as err:
        raise ToolError(f"'{wanted.selector}' is not a CSS selector: {str(err).splitlines()[0].rstrip('.:')}.") from err
    if not tags:
        return Found(0, [], _similar(soup, wanted.selector))
    values = [_value(tag, base_url, wanted.attribute) for tag in tags[: MAX_VALUES if wanted.every else 1]]
    hint = ""
    if wanted.attribute is not None and not any(value is not None for value in values):
        hint = f"No '{wanted.attribute}' there; the first has: {', '.join(tags[0].attrs) or 'no attributes'}."
    return Found(len(tags), values, hint)


def _value(tag: Tag, base_url: str, attribute: str | None) -> str | None:
    """Return the text or an attribute of an element."""
    if attribute is None:
        if any(map(is_hidden, (tag, *tag.parents))):
            return ""
        return clean(text_of(tag))[:MAX_VALUE]
    value = tag.get(attribute)
    if value is None:
        return None
    text = clean(value if isinstance(value, str) else " ".join(value))
    return ((absolute(base_url, text) or text) if attribute in _LINKS else text)[:MAX_VALUE]


def _similar(soup: BeautifulSoup, selector: str) -> str:
    """Return a hint: the parts of a selector that the page does not contain, and similar names in it."""
    known: set[str] = set()
    for tag in soup.descendants:
        if not isinstance(tag, Tag):
            continue
        known.add(tag.name)
        known.update(f".{name}" for name in tag.get_attribute_list("class") if name)
        known.update(f"#{name}" for name in tag.get_attribute_list("id") if name)
    missing = [part for part in dict.fromkeys(_PART.findall(_BRACKETS.sub("", selector))) if part not in known]
    if not missing:
        return "Its parts occur, but not together. Try a shorter selector."
    similar = {
        part: get_close_matches(part, [name for name in known if (name[0] in ".#") == (part[0] in ".#")], n=_SIMILAR)
        for part in missing
    }
    return " ".join(
        f"No {part} there" + (f"; similar: {', '.join(names)}." if names else ".") for part, names in similar.items()
    )
