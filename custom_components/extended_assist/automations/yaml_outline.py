"""Find where each automation or scene begins without reading the others, so that changing one of thousands is quick.

A line with a dash at the column of the list begins an automation, unless it is inside of a quoted text or a pair of brackets. Each part
between two such lines is therefore parsed by itself: a quote or bracket that is not closed, or anything else that reaches beyond the
part, fails there. A part that is valid by itself means the same in any file, unless an anchor connects it with another one, or a mark
begins another document. A file for which this cannot be proven is read as a whole.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
import re

import yaml
from yaml.composer import Composer

from ..results import ToolError
from .yaml_positions import KEYED, IndexedAutomation, YamlIndex, index_yaml

AT_ONCE = 50_000
"""Largest number of characters for one call of libyaml, during which no other thread can run."""


class _EventLoader(Composer, yaml.CSafeLoader):
    """Makes nodes of libyaml's events one by one."""

    def __init__(self, text: str) -> None:
        """Take the text."""
        yaml.CSafeLoader.__init__(self, text)
        Composer.__init__(self)


def compose(text: str) -> yaml.Node | None:
    """Return the root of a text, None for an empty one; raises YAMLError."""
    try:
        return _EventLoader(text).get_single_node()
    except RecursionError as err:
        raise yaml.YAMLError from err


def parse(text: str) -> None:
    """Parse a text to its end; raises YAMLError."""
    if len(text) <= AT_ONCE:
        yaml.CSafeLoader(text).raw_parse()
        return
    for _ in yaml.parse(text, Loader=yaml.CSafeLoader):
        pass


_LINE = r"(?: *(?:#[^\n]*)?\r?\n)*"
_HEAD = re.compile(rf"{_LINE}(?:---(?: +#[^\n]*| *)\r?\n{_LINE})?(?=( *)-(?:[ \t\r\n]|\Z))")
"""Comments, and a mark of the beginning, before the first dash."""
_MARKS = ("\n---", "\n...")
_OTHER_LINE_BREAKS = "\x85\u2028\u2029"
_ANCHOR = re.compile(r"(?:^|[\s\[{,:?-])[&*][\w-]", re.MULTILINE)
"""An anchor or its use, or a part of a text that looks like one."""


@dataclass(slots=True)
class Outline:
    """The automations of a text in their order, and where each begins."""

    text: str
    ids: list[str | None]
    column: int
    """Indentation of the dashes."""
    starts: list[int]
    """Where the part of each begins, and the end of the text; empty for a text that is read as a whole."""
    kind: str = "automation"
    """The kind of the items: automation, script or scene."""
    whole: YamlIndex | None = None
    """The index of such a text."""

    def find(self, automation_id: str) -> int | None:
        """Return the number of the automation with an id; raises ToolError when there are several."""
        found = self.numbers(automation_id)
        if len(found) > 1:
            raise ToolError(
                f"{len(found)} {self.kind}s in the file have the id {automation_id}, in the {self.lines(found)}, of which Home "
                "Assistant loads one. Tell the user to give each an id of its own."
            )
        return found[0] if found else None

    def numbers(self, automation_id: str) -> list[int]:
        """Return the numbers of all automations with an id."""
        return [number for number, known in enumerate(self.ids) if known == automation_id]

    def lines(self, numbers: Iterable[int]) -> str:
        """Name the line or lines in which automations begin."""
        starts = [
            self.starts[number] if self.whole is None else self.whole.automations[number].dash for number in numbers
        ]
        lines = [str(self.text.count("\n", 0, start) + 1) for start in starts]
        return f"line{'s' if len(lines) > 1 else ''} {' and '.join(lines)}"

    def part(self, first: int, end: int) -> OutlinePart:
        """Return some automations with all that follows them; all of them if the text is read as a whole."""
        if self.whole is not None:
            return OutlinePart(self, slice(0, len(self.text)), self.whole, 0)
        place = slice(self.starts[first], self.starts[end])
        return OutlinePart(self, place, index_yaml(self.text[place], self.kind), first)

    def part_of(self, automation_id: str, *, with_neighbour: bool = False) -> OutlinePart:
        """Return the automation with an id, which has to be there, or it and another one beside it."""
        if (number := self.find(automation_id)) is None:
            raise ToolError(f"This {self.kind} is not in the file of {self.kind}s any more. Look again what there is.")
        first = max(number - with_neighbour, 0)
        part = self.part(first, min(max(number + 1, first + 1 + with_neighbour), len(self.ids)))
        part.number = number
        return part


@dataclass(slots=True)
class OutlinePart:
    """A part of a text that can be changed as if it were the whole file."""

    outline: Outline
    place: slice
    index: YamlIndex
    first: int
    """Number of the first automation in it."""
    number: int = 0
    """Number of the automation to change."""
    is_new: bool = False
    """Whether that automation is yet to be inserted."""

    @property
    def item(self) -> IndexedAutomation:
        """Return the automation to change."""
        return self.index.automations[self.number - self.first]

    @property
    def previous(self) -> str | None:
        """Return the id of the nearest automation in front of it that has one."""
        return next(filter(None, reversed(self.outline.ids[: self.number])), None)

    def put_back(self, changed: str) -> str:
        """Return the whole text with this part changed; raises UnprovenError unless the changed part is still valid by itself."""
        text, start, end = self.outline.text, self.place.start, self.place.stop
        if self.outline.whole is None:
            found = quick_outline(changed, self.outline.kind)
            if (
                (found is None or found.column != self.outline.column)
                or (self.first and found.starts[0])
                or (end < len(text) and not changed.endswith("\n"))
            ):
                raise UnprovenError
        return f"{text[:start]}{changed}{text[end:]}"


class UnprovenError(Exception):
    """A change cannot be proven by reading one part alone."""


def outline_of(text: str, kind: str = "automation") -> Outline:
    """Return the outline of a text; raises ToolError if the positions of its items cannot be found."""
    return quick_outline(text, kind) or whole_outline(text, kind)


def whole_outline(text: str, kind: str = "automation") -> Outline:
    """Return the outline by reading everything."""
    index = index_yaml(text, kind)
    return Outline(text, [item.id for item in index.automations], index.column, [], kind, index)


def quick_outline(text: str, kind: str = "automation") -> Outline | None:
    """Return the outline by parsing each part by itself; None if the text is not proven to consist of such parts."""
    head = None if kind in KEYED else _HEAD.match(text)
    if head is None or any(text.find(mark, max(head.end() - 1, 0)) >= 0 for mark in _MARKS):
        return None
    if any(mark in text for mark in _OTHER_LINE_BREAKS) or text.count("\r") != text.count("\r\n"):
        return None
    column = len(head[1])
    begins = re.compile(rf"\n {{{column}}}-(?=[ \t\r\n]|\Z)")
    starts = [head.end(), *(found.start() + 1 for found in begins.finditer(text, head.end())), len(text)]
    try:
        parse(head[0])
        parts = [text[start:end] for start, end in pairwise(starts)]
        # First the parts that may use anchors: if one does, the text is read as a whole.
        known = {
            part: _id(part, column, maybe_anchor=True)
            for part in parts
            if ("&" in part or "*" in part) and _ANCHOR.search(part)
        }
        ids = [known[part] if part in known else _id(part, column) for part in parts]
    except yaml.YAMLError, _ConnectedError:
        return None
    return Outline(text, ids, column, starts, kind)


class _ConnectedError(Exception):
    """A part is connected with others, or may be."""


def _id(part: str, column: int, *, maybe_anchor: bool = False) -> str | None:
    """Return the id of the automation in a part; raise an error unless it means the same in any other file."""
    parse(part)
    first, other = _patterns(column)
    if not maybe_anchor and (found := first.match(part)) and not other.search(part, found.end() - 1):
        return found[1] or found[2] or ""
    (item,) = index_yaml(part).automations
    if item.anchors or item.aliases:
        raise _ConnectedError
    return item.id


@cache
def _patterns(column: int) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return patterns of a part that begins with a quoted id, and of what could be another one or say it in another way."""
    key = column + 2
    return (
        re.compile(rf" {{{column}}}- id: +(?:'([^'\n]*)'|\"([^\"\\\n]*)\")(?: +#[^\n]*| *)\r?\n"),
        re.compile(rf"\n {{{key}}}(?:id *:|[\"'?<&!*])"),
    )
