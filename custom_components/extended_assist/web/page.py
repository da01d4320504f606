"""Convert HTML pages and feeds to compact text with headings, lists, tables and links."""

from collections.abc import Iterator
from functools import lru_cache
import re
from typing import Final
from urllib.parse import urljoin
import warnings

from bs4 import BeautifulSoup, MarkupResemblesLocatorWarning, XMLParsedAsHTMLWarning
from bs4.element import CData, NavigableString, Tag

MAX_TAGS: Final = 50_000
"""Tags to read, opening and closing: the smallest take a hundred times their length in memory, and long to read."""
MAX_TEXT: Final = 400_000
"""Characters of a page's text: enough for a hundred results."""
MAX_LINK: Final = 500
"""The most characters of a link's address."""

_DISPLAY_NONE = re.compile(r"(?:^|;)\s*display\s*:\s*none\b", re.IGNORECASE)
_DROPPED = {
    *("audio", "canvas", "datalist", "head", "iframe", "math", "meter", "nav", "noembed", "noframes", "noscript"),
    *("object", "progress", "rp", "script", "select", "style", "svg", "template", "video"),
}
_HEADINGS = {f"h{level}": "#" * level for level in range(1, 7)}
_PARAGRAPHS = frozenset({"blockquote", "dl", "figure", "form", "ol", "p", "pre", "table", "ul", *_HEADINGS})
_BLOCKS = _PARAGRAPHS | {
    *("address", "article", "aside", "body", "caption", "dd", "details", "div", "dt", "fieldset", "figcaption"),
    *("footer", "header", "hr", "html", "legend", "li", "main", "section", "summary", "tbody", "tfoot", "thead", "tr"),
}
_LAYOUT = frozenset({"table", "ul", "ol", *_HEADINGS})
"""Elements that no data table contains."""
_MAX_NAME = 80
"""Characters of the label or title that names a link without text."""
# Invisible characters could hide instructions to a model. Joiners stay between characters that they join.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]|[\u200c\u200d\ufe0e\ufe0f]{3,}|(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])"
    "|(?<=[a-zA-Z\\s])[\ufe0e\ufe0f]"
)
_SPACE = re.compile(r"[ \t\n\r\f\xa0]+")

# These warnings advise programmers about their own pages.
for _advice in (MarkupResemblesLocatorWarning, XMLParsedAsHTMLWarning):
    warnings.filterwarnings("ignore", category=_advice)


def parse(html: str) -> tuple[BeautifulSoup, bool]:
    """Return the tree of a page, and whether it was cut."""
    end, tags = -1, 0
    while tags < MAX_TAGS and (end := html.find("<", end + 1)) >= 0:
        tags += 1
    cut = end >= 0
    return BeautifulSoup(html[:end] if cut else html, "lxml"), cut


def title(soup: BeautifulSoup) -> str:
    """Return the title of a page."""
    return clean(soup.title.get_text()) if soup.title else ""


def base(soup: BeautifulSoup, url: str) -> str:
    """Return the base address of a page's links."""
    tag = soup.find("base", href=True)
    return absolute(url, str(tag["href"])) or url if isinstance(tag, Tag) else url


@lru_cache(1_000)
def absolute(base_url: str, link: str) -> str | None:
    """Return the absolute address of a link, or None unless it is http or https."""
    try:
        target = urljoin(base_url, link.strip())
    except ValueError:
        return None
    if not target.lower().startswith(("http://", "https://")):
        return None
    return _SPACE.sub("%20", target).replace("(", "%28").replace(")", "%29")


def clean(text: str) -> str:
    """Return a text with single spaces and without invisible characters."""
    return _SPACE.sub(" ", seen(text)).strip()


def seen(text: str) -> str:
    """Return a text without invisible characters."""
    return _UNSEEN.sub("", text)


def to_text(soup: BeautifulSoup, url: str) -> str:
    """Return the text of a page: its main part first, then the rest."""
    layout_tables = {
        id(table)
        for node, begins in _steps(soup)
        if begins and isinstance(node, Tag) and node.name in _LAYOUT and (table := node.find_parent("table"))
    }
    writer = _PageWriter(base(soup, url), layout_tables)
    main = soup.find("main") or soup.find(role="main")
    if isinstance(main, Tag) and not any(map(is_hidden, (main, *main.parents))):
        writer.write(main)
        writer.break_line(2)
        writer.write(soup, leave_out=main)
    else:
        writer.write(soup)
    return writer.text()


def is_hidden(tag: Tag) -> bool:
    """Return True for an element with `hidden`, `aria-hidden` or `display: none` in its own style.

    Style sheets are not read: all text of a page counts as a stranger's, hidden or not.
    """
    attributes = tag.attrs
    return (
        "hidden" in attributes
        or str(attributes.get("aria-hidden")).lower() == "true"
        or _DISPLAY_NONE.search(str(attributes.get("style", ""))) is not None
    )


def text_of(tag: Tag) -> str:
    """Return the text of an element without hidden parts."""
    if tag.name in _DROPPED or not tag.contents:
        return tag.get_text(" ")
    return " ".join(
        str(node)
        for child in tag.contents
        if isinstance(child, Tag | NavigableString)
        for node, _ in _steps(child)
        if isinstance(node, NavigableString)
    )


def feed_text(xml: str) -> str:
    """Return XML such as a feed without comments; pages inside it are converted to text."""
    soup = BeautifulSoup(xml, "xml")
    for node in [*soup.find_all(string=True)]:
        if type(node) in (NavigableString, CData):
            if "<" in str(node):
                node.replace_with(NavigableString(to_text(parse(str(node))[0], "")))
        else:
            node.extract()
    return seen(str(soup))


def _steps(root: Tag | NavigableString, leave_out: Tag | None = None) -> Iterator[tuple[Tag | NavigableString, bool]]:
    """Yield visible nodes in document order: elements as they begin and, with False, end; without recursion."""
    stack: list[tuple[Tag | NavigableString, bool]] = [(root, True)]
    while stack:
        node, begins = stack.pop()
        if isinstance(node, NavigableString):
            if type(node) in (NavigableString, CData):
                yield node, True
            continue
        if not begins:
            yield node, False
        elif node is not leave_out and node.name not in _DROPPED and not is_hidden(node):
            yield node, True
            stack.append((node, False))
            stack.extend((child, True) for child in reversed(node.contents) if isinstance(child, Tag | NavigableString))


class _PageWriter:
    """Writes the text of a page with as few spaces and line breaks as possible."""

    def __init__(self, base_url: str, layout: set[int]) -> None:
        self._base = base_url
        self._layout = layout
        self._pieces: list[str] = []
        self._length = 0
        self._breaks = 0
        self._space = False
        self._lists: list[int | None] = []
        """For each open list: the number of its last item, or None without numbers."""
        self._preformatted = 0
        self._link: tuple[Tag, int, int, bool] | None = None
        """The open link: its element, the index of its first piece, and the breaks and space to write before it."""
        self._marked = False
        """True between the mark of a heading or list item and its text."""
        self._row: Tag | None = None
        self._tables: list[bool] = []
        """For each open table: True for a data table, False for a layout table."""

    def text(self) -> str:
        """Return the text written so far, cut to MAX_TEXT."""
        return "".join(self._pieces)[:MAX_TEXT].strip()

    def write(self, root: Tag, leave_out: Tag | None = None) -> None:
        """Write a tree until MAX_TEXT is reached."""
        for node, begins in _steps(root, leave_out):
            if isinstance(node, NavigableString):
                self._add_text(str(node))
            elif begins:
                self._begin(node)
            else:
                self._end(node)
            if self._length > MAX_TEXT:
                break

    def break_line(self, count: int) -> None:
        """End the line, or with 2 the paragraph; inside a row or a link that is a space."""
        if self._row is not None or self._link is not None:
            self._space = True
        elif not self._marked:
            self._breaks = max(self._breaks, count)

    def _add_text(self, text: str) -> None:
        if self._preformatted and self._row is None and self._link is None:
            self._add(seen(text.replace("\r\n", "\n")))
            return
        text = seen(text)
        words = _SPACE.sub(" ", text)
        if words.startswith(" ") and not self._marked:
            self._space = True
        if stripped := words.strip(" "):
            self._add(stripped)
            self._space = words.endswith(" ")

    def _add(self, text: str) -> None:
        """Write a text that is not empty, after the pending breaks."""
        if self._breaks and self._pieces:
            self._pieces.append("\n" * self._breaks)
        elif self._space and self._pieces:
            self._pieces.append(" ")
        self._breaks, self._space, self._marked = 0, False, False
        self._pieces.append(text)
        self._length += len(text) + 1

    def _begin(self, tag: Tag) -> None:
        name = tag.name
        if name in _BLOCKS:
            self.break_line(2 if name in _PARAGRAPHS and not self._lists else 1)
        match name:
            case "br":
                self.break_line(1)
            case "a" if self._link is None:
                self._link = (tag, len(self._pieces), self._breaks, self._space)
                self._breaks, self._space = 0, False
            case "img" if self._link is not None:
                self._add_text(f" {str(tag.get('alt') or '')[:_MAX_NAME]} ")
            case "ul" | "ol":
                self._lists.append(0 if name == "ol" else None)
            case "li":
                self._begin_item()
            case "pre":
                self._preformatted += 1
            case "table":
                self._tables.append(id(tag) not in self._layout)
            case "tr" if self._tables and self._tables[-1] and self._row is None:
                self._add("|")
                self._row, self._space = tag, True
            case "td" | "th" if self._row is None:
                self.break_line(1)
            case _ if name in _HEADINGS and self._row is None and self._link is None:
                self._add_mark(f"{_HEADINGS[name]} ")

    def _begin_item(self) -> None:
        """Write the indentation and the dash or number of a list item."""
        mark = "-"
        if self._lists and (number := self._lists[-1]) is not None:
            self._lists[-1] = number + 1
            mark = f"{number + 1}."
        if self._row is None and self._link is None:
            self._add_mark(f"{'  ' * min(len(self._lists) - 1, 5)}{mark} ")

    def _add_mark(self, mark: str) -> None:
        """Write the mark of a heading or list item; its text follows on the same line."""
        self._add(mark)
        self._marked = True

    def _end(self, tag: Tag) -> None:
        name = tag.name
        match name:
            case "a" if self._link is not None and self._link[0] is tag:
                self._end_link(*self._link)
            case "ul" | "ol":
                self._lists.pop()
            case "pre":
                self._preformatted -= 1
            case "table":
                self._tables.pop()
            case "tr" if self._row is tag:
                self._row = None
            case "td" | "th" if self._row is not None:
                self._space = True
                self._add("|")
                self._space = True
        if name in _BLOCKS:
            self.break_line(2 if name in _PARAGRAPHS and not self._lists else 1)

    def _end_link(self, tag: Tag, start: int, breaks: int, space: bool) -> None:  # noqa: FBT001 - as it was kept
        """Turn the text since the start of a link into a Markdown link."""
        self._link = None
        words = clean("".join(self._pieces[start:])) or clean(
            str(tag.get("aria-label") or tag.get("title") or "")[:_MAX_NAME]
        )
        del self._pieces[start:]
        after, self._breaks, self._space = self._space, breaks, space
        if words:
            href = str(tag.get("href") or "")
            target = None if not href or href.startswith("#") else absolute(self._base, href)
            self._add(words if target is None or len(target) > MAX_LINK else f"[{words}]({target})")
        self._space |= after
