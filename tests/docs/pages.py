"""The pages, taken apart: blocks, headings, links, tables, and questions with their answers."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import dropwhile, takewhile
import json
from pathlib import Path
import re
from typing import Any

ROOT = Path(__file__).parents[2]
TOOL_PAGES = [f"docs/tools/{path.name}" for path in sorted((ROOT / "docs" / "tools").glob("*.md"))]

_FENCE = re.compile(r"^(?P<indent> *)(?P<marks>`{3,})(?P<language>\S*)[^`]*$")
_HEADING = re.compile(r"^(#{1,6}) +(.+?) *$")
_LINK = re.compile(r"\[(?P<text>[^\]]*)\]\((?P<target>[^)\s]+)\)|<img [^>]*src=\"(?P<image>[^\"]+)\"")


@dataclass(frozen=True)
class Block:
    """A fenced block."""

    page: str
    line: int
    """The line of its first fence."""
    language: str
    text: str
    heading: str
    """The heading that it stands under."""
    intro: str
    """The paragraph before it, or an empty string where a block comes before it."""

    def __str__(self) -> str:
        """Return where it is."""
        return f"{self.page}:{self.line}"


@dataclass(frozen=True)
class Example:
    """A question, the tool call that it leads to, and the answer: data, or the sentence of an error."""

    question: str
    arguments: dict[str, Any]
    answer: dict[str, Any] | str


def names() -> list[str]:
    """Return the pages, as paths in the checkout."""
    paths = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    return sorted(str(path.relative_to(ROOT)) for path in paths)


@cache
def read(page: str) -> str:
    """Return the text of a page."""
    return (ROOT / page).read_text(encoding="utf-8")


@cache
def _parsed(page: str) -> tuple[list[Block], list[str]]:
    """Return the blocks of a page, and its lines with those of blocks emptied."""
    blocks: list[Block] = []
    prose: list[str] = []
    heading = intro = ""
    opened: tuple[int, re.Match[str], list[str]] | None = None
    for number, line in enumerate(read(page).splitlines(), 1):
        fence = _FENCE.match(line)
        if opened is not None:
            start, first, inside = opened
            if fence and len(fence["marks"]) >= len(first["marks"]) and not fence["language"]:
                text = "".join(f"{each.removeprefix(first['indent'])}\n" for each in inside)
                blocks.append(Block(page, start, first["language"], text, heading, intro))
                opened, intro = None, ""
            else:
                inside.append(line)
            prose.append("")
            continue
        if fence:
            opened = number, fence, []
            prose.append("")
            continue
        if found := _HEADING.match(line):
            heading, intro = found[2].strip("`"), ""
        elif line.strip():
            # A paragraph goes on until an empty line.
            intro = f"{intro} {line.strip()}".strip() if prose and prose[-1].strip() else line.strip()
        prose.append(line)
    assert opened is None, f"{page}:{opened and opened[0]} is not closed"
    return blocks, prose


def blocks(page: str, language: str | None = None) -> list[Block]:
    """Return the blocks of a page, of one language if it is given."""
    return [block for block in _parsed(page)[0] if language in (None, block.language)]


def prose(page: str) -> str:
    """Return what a page says outside of its blocks."""
    return "\n".join(_parsed(page)[1])


def anchors(page: str) -> set[str]:
    """Return what links may point to, as GitHub names it."""
    found: dict[str, int] = {}
    for line in _parsed(page)[1]:
        if heading := _HEADING.match(line):
            text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[2]).replace("`", "").replace("*", "")
            anchor = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
            found[anchor] = found.get(anchor, -1) + 1
    return {
        anchor if number == 0 else f"{anchor}-{number}" for anchor, last in found.items() for number in range(last + 1)
    }


def links(page: str) -> Iterator[str]:
    """Yield where a page points to."""
    for found in _LINK.finditer(prose(page)):
        yield found["target"] or found["image"]


def tables(page: str, heading: str | None = None) -> Iterator[list[list[str]]]:
    """Yield the tables of a page, or under a heading: rows of cells, the first of which names the columns."""
    under, rows = "", []
    for line in [*_parsed(page)[1], ""]:
        if found := _HEADING.match(line):
            under = found[2].strip("`")
        if line.startswith("|") and heading in (None, under):
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]
            if not all(re.fullmatch(r":?-+:?", cell) for cell in cells):
                rows.append(cells)
        elif rows:
            yield rows
            rows = []


def examples(tool: str) -> list[Example]:
    """Return the examples under the heading of a tool: each is a question, a call, and what comes of it."""
    found = []
    under = iter([block for page in TOOL_PAGES for block in blocks(page, "json") if block.heading == tool])
    for call in under:
        assert call.intro.startswith("*"), f"{call}: a call comes after a question"
        error = _quoted_after(call)
        answer = error or json.loads(next(under).text)
        found.append(Example(call.intro, json.loads(call.text), answer))
    return found


def _quoted_after(block: Block) -> str:
    """Return the quotation that follows a block, on one line; empty where something else follows."""
    lines = read(block.page).splitlines()[block.line + block.text.count("\n") + 1 :]
    following = dropwhile(lambda line: not line.strip(), lines)
    return " ".join(line.removeprefix(">").strip() for line in takewhile(lambda line: line.startswith(">"), following))
