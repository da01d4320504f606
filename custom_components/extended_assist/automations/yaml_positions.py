"""Positions of the automations, scripts or scenes in a YAML file, so that one can be changed and all others keep their bytes.

The file is never loaded and dumped as a whole: that would lose comments, tags and everything else that is not data.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
import re
from typing import Any

import yaml

from ..results import ToolError

type Meaning = list[str]
"""Tags, anchors and values of an automation, without its formatting: texts, which do not burden garbage collection."""

KEYED = frozenset({"script"})
"""Kinds that stand in their file under their ids; all others are items of a list, with their ids inside."""

_TEXT = "tag:yaml.org,2002:str"
_RESOLVER = yaml.CSafeLoader("")
_CANNOT_READ = "The file of {}s cannot be changed: {}. Tell the user, who can mend it in a text editor."


class UnchangeableError(ToolError):
    """An item cannot be changed in the text."""

    def __init__(self, kind: str, reason: str) -> None:
        """Take what it is, and why."""
        super().__init__(f"This {kind} cannot be changed here: {reason}. Tell the user to change it by hand.")
        self.reason = reason


class Tagged(str):
    """The text of a tag, such as '!secret porch', which is never resolved."""

    __slots__ = ()


@dataclass(slots=True)
class IndexedKey:
    """One key of an automation with its value."""

    key: str
    start: int
    """Position of its first character."""
    end: int
    """Position after the last character of its value."""
    fixed: str = ""
    """The comment, tag or anchor in it that would be lost if it was written again; empty for none."""


@dataclass(slots=True)
class IndexedAutomation:
    """One automation, script or scene in the file."""

    dash: int
    """Position of the dash before it, or of its id, where that is the key."""
    start: int
    """Position of its first key."""
    end: int = 0
    """Position after the last character of its content."""
    is_object: bool = False
    on_lines: bool = False
    """Whether each of its keys is on a line of its own."""
    keys: list[IndexedKey] = field(default_factory=list)
    meaning: Meaning = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    """The plain texts of its id and its name."""
    anchors: set[str] = field(default_factory=set)
    aliases: set[str] = field(default_factory=set)

    @property
    def id(self) -> str | None:
        """Return the id, if it has one that Home Assistant takes for one."""
        return self.names.get("id")


@dataclass(slots=True)
class YamlIndex:
    """The positions of all automations, scripts or scenes in a text."""

    text: str
    kind: str = "automation"
    """The kind of the items: automation, script or scene."""
    automations: list[IndexedAutomation] = field(default_factory=list)
    column: int = 0
    """Indentation of the dashes or ids."""
    empty_list: tuple[int, int] | None = None
    """Start and end of `[]` or `{}`, in a file with nothing else."""
    stop: int = 0
    """Where the last item ends at the latest: at a mark of the end, or at the end of the text."""

    @property
    def is_keyed(self) -> bool:
        """Return whether all stand under their ids."""
        return self.kind in KEYED

    def unreadable(self, reason: str) -> ToolError:
        """Return the error for a file that cannot be changed."""
        return ToolError(_CANNOT_READ.format(self.kind, reason))

    def find(self, automation_id: str) -> IndexedAutomation | None:
        """Return the first item with an id."""
        return next((item for item in self.automations if item.id == automation_id), None)

    def users(self, item: IndexedAutomation | None, anchors: Collection[str]) -> list[IndexedAutomation]:
        """Return the items but one that use any of these anchors."""
        return [other for other in self.automations if other is not item and not other.aliases.isdisjoint(anchors)]

    def line_start(self, position: int) -> int:
        """Return the start of the line of a position."""
        return self.text.rfind("\n", 0, position) + 1

    def line_end(self, position: int) -> int:
        """Return the end of the line of a position, after its line break."""
        found = self.text.find("\n", position)
        return len(self.text) if found < 0 else found + 1

    def span(self, item: IndexedAutomation) -> tuple[int, int]:
        """Return start and end of the whole lines of an automation."""
        return self.line_start(item.dash), self.line_end(item.end)

    def key_column(self, item: IndexedAutomation) -> int:
        """Return the indentation of the keys of an automation."""
        return item.start - self.line_start(item.start)

    def lines(self, item: IndexedAutomation) -> str:
        """Return the whole lines of an automation."""
        return self.text[slice(*self.span(item))]


def index_yaml(text: str, kind: str = "automation") -> YamlIndex:
    """Return the index of a file; raises ToolError if the positions of its items cannot be found."""
    index = YamlIndex(text, kind, stop=len(text))
    try:
        return _IndexBuilder(index).index
    except yaml.YAMLError as err:
        mark = getattr(err, "problem_mark", None)
        where = f" in line {mark.line + 1}" if mark else ""
        raise index.unreadable(f"it is not valid YAML{where}") from err


_BLOCKS = frozenset("|>")
"""Styles of texts that go over several lines."""


class _IndexBuilder:
    """Builds an index from the parser's events, in one pass."""

    def __init__(self, index: YamlIndex) -> None:
        """Read all of the text of an index."""
        self.index = index
        self._key: str | None = None
        self._end = 0  # Where the last piece of data ended.
        self._is_value = False  # Whether the value of an id comes next, where items are under their ids.
        self._item = IndexedAutomation(0, 0)  # The last item; before the first, one that is in no file.
        flow_styles: list[bool] = []  # Of each list or object that is open.
        is_begun = False
        for event in yaml.parse(index.text, Loader=yaml.CSafeLoader):
            start, end, depth = event.start_mark.index, event.end_mark.index, len(flow_styles)
            if isinstance(event, yaml.NodeEvent):
                if depth:
                    self._add_node(event, start, depth)
                else:
                    self._check_root(event)
                if isinstance(event, yaml.CollectionStartEvent):
                    flow_styles.append(bool(event.flow_style))
                elif depth:
                    self._add_data(start, self._block_end(start, end) if _is_block(event) else end)
            elif isinstance(event, yaml.SequenceEndEvent | yaml.MappingEndEvent):
                is_flow = flow_styles.pop()
                if not flow_styles:
                    index.empty_list = index.empty_list and (index.empty_list[0], end)
                    continue
                self._item.meaning.append("end")
                if is_flow:
                    self._add_data(start, end)
            elif isinstance(event, yaml.DocumentStartEvent):
                if is_begun:
                    raise index.unreadable("it holds several documents")
                is_begun = True
            elif isinstance(event, yaml.DocumentEndEvent) and event.explicit:
                index.stop = start

    def _add_node(self, event: yaml.NodeEvent, start: int, depth: int) -> None:
        """Add a scalar, an alias, or the start of a list or object, which is an item or inside of one."""
        if depth == 1:
            if not self._is_value:
                self._item = self._new_item(event, start)
            self._is_value = self.index.is_keyed and not self._is_value
            self._item.start = start
            self._item.is_object = isinstance(event, yaml.MappingStartEvent)
            self._item.on_lines = isinstance(event, yaml.MappingStartEvent) and not event.flow_style
            self._key = None
        item, anchor = self._item, event.anchor
        reason = ""
        if isinstance(event, yaml.AliasEvent):
            item.aliases.add(anchor or "")
            item.meaning.append(f"*{anchor}")
            reason = "an anchor"
        elif isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent):
            value = event.value if isinstance(event, yaml.ScalarEvent) else type(event).__name__
            item.meaning.append(f"{event.tag}\n{event.implicit}\n{anchor}\n{value}")
            if anchor:
                item.anchors.add(anchor)
                reason = "an anchor"
            elif event.tag:
                reason = f"the tag {event.tag}" if event.tag.startswith("!") else "a tag"
            elif _is_block(event) and "#" in self.index.text[start : self.index.line_end(start)]:
                reason = "a comment"
        if depth == 2 and item.is_object:
            self._add_key_or_value(event)
        if reason and item.keys:
            item.keys[-1].fixed = item.keys[-1].fixed or reason

    def _new_item(self, event: yaml.NodeEvent, start: int) -> IndexedAutomation:
        """Add an item with its dash or id."""
        if self.index.empty_list:
            pair = "an object in one pair of braces" if self.index.is_keyed else "a list in one pair of brackets"
            raise self.index.unreadable(f"it is {pair}")
        if not self.index.is_keyed:
            item = IndexedAutomation(self._dash(start), start, start)
        elif not isinstance(event, yaml.ScalarEvent) or event.value == "<<":
            raise self.index.unreadable("it has ids that are no texts, or merged parts")
        elif start != self.index.line_start(start) + self.index.column:
            raise self.index.unreadable("its lines cannot be told apart")
        else:
            item = IndexedAutomation(start, start, start, names={"id": event.value})
        self.index.automations.append(item)
        self._end = item.dash
        return item

    def _check_root(self, event: yaml.NodeEvent) -> None:
        """Check the outermost node: it has to be a list, or an object where items stand under their ids."""
        shape = yaml.MappingStartEvent if self.index.is_keyed else yaml.SequenceStartEvent
        if isinstance(event, shape) and not event.flow_style:
            self.index.column = event.start_mark.column
            self._end = event.start_mark.index
        elif isinstance(event, shape):
            self.index.empty_list = (event.start_mark.index, -1)
        elif not isinstance(event, yaml.ScalarEvent) or event.start_mark.index != event.end_mark.index:
            raise self.index.unreadable(f"it is not {'an object' if self.index.is_keyed else 'a list'}")

    def _add_key_or_value(self, event: yaml.NodeEvent) -> None:
        """Add a key of an automation, or the start of the value after it."""
        item = self._item
        if self._key is not None:
            named = {"alias"} if self.index.is_keyed else {"id", "alias", "name"}
            if isinstance(event, yaml.ScalarEvent) and self._key in named:
                item.names.pop(self._key, None)  # Of a key that is there twice, the last one counts.
                if _is_text(event):
                    item.names[self._key] = event.value
            self._key = None
            return
        self._key = event.value if isinstance(event, yaml.ScalarEvent) else ""
        # What is between two keys belongs to neither, so that comments there survive both.
        self._end = event.start_mark.index
        if not item.keys and item.on_lines:
            item.start = self._end  # An anchor of the whole may stand in front.
        item.keys.append(IndexedKey(self._key, self._end, self._end))

    def _add_data(self, start: int, end: int) -> None:
        """Add a piece of data; between it and the piece before there can only be punctuation and comments."""
        item = self._item
        if item.keys:
            key = item.keys[-1]
            if self.index.text.find("#", self._end, start) >= 0:
                key.fixed = "a comment"
            key.end = end
        self._end = item.end = end

    def _block_end(self, start: int, end: int) -> int:
        """Return the end of a block of text: without the line breaks after it, unless they belong to it."""
        text = self.index.text[start:end]
        if "+" in text.partition("\n")[0]:
            return end - text.endswith("\n") - text.endswith("\r\n")
        return start + len(text.rstrip())

    def _dash(self, start: int) -> int:
        """Return the position of the dash of the list item whose content begins at start."""
        text, column = self.index.text, self.index.column
        position = start
        while True:
            line = text.rfind("\n", 0, position) + 1
            dash = line + column
            if not text[line:dash].strip() and text[dash : dash + 1] == "-" and not text[dash + 1 : dash + 2].strip():
                return dash
            if line == 0:
                raise self.index.unreadable("its lines cannot be told apart")
            position = line - 1


def _is_block(event: yaml.NodeEvent) -> bool:
    return isinstance(event, yaml.ScalarEvent) and event.style in _BLOCKS


def _is_text(event: yaml.ScalarEvent) -> bool:
    """Return whether a value is loaded as a text, unlike 17, 12:30, yes and !secret, which are no ids to Home Assistant."""
    if event.tag in (None, "!"):
        return _RESOLVER.resolve(yaml.ScalarNode, event.value, event.implicit) == _TEXT
    return event.tag == _TEXT


def indented(text: str, column: int) -> str:
    """Return lines moved to the right, or to the left as far as they are indented."""
    if column < 0:
        return re.sub(rf"^ {{1,{-column}}}", "", text, flags=re.MULTILINE)
    return re.sub(r"^(?=.)", " " * column, text, flags=re.MULTILINE) if column else text


class _AutomationLoader(yaml.CSafeLoader):
    """Loads the data of one automation; tags stay what they are."""


def _tagged(loader: yaml.CSafeLoader, suffix: str, node: yaml.Node) -> Tagged:
    """Return a tag as text."""
    value = node.value if isinstance(node, yaml.ScalarNode) else "…"
    return Tagged(f"!{suffix} {value}".strip())


_AutomationLoader.add_multi_constructor("!", _tagged)


def load_automation(index: YamlIndex, item: IndexedAutomation) -> dict[str, Any]:
    """Return the data of an automation; raises ToolError for one that is no object or depends on others."""
    start, end = index.span(item)
    try:
        found = yaml.load(index.text[start:end], Loader=_AutomationLoader)  # noqa: S506 - a safe loader
        (data,) = found.values() if index.is_keyed else found
    except (yaml.YAMLError, ValueError, TypeError, AttributeError) as err:
        reason = f"it uses parts of other {index.kind}s (anchors)" if item.aliases else "it cannot be read by itself"
        raise UnchangeableError(index.kind, reason) from err
    if not isinstance(data, dict):
        raise UnchangeableError(index.kind, "it is not an object")
    return data


def load_all(text: str, kind: str) -> list[Any] | None:
    """Return the data of all items, with what they use of each other put in; None if that cannot be."""
    try:
        data = yaml.load(text, Loader=_AutomationLoader)  # noqa: S506 - a safe loader
    except yaml.YAMLError, ValueError, TypeError:
        return None
    if kind in KEYED:
        return list(data.values()) if isinstance(data, dict) else []
    return data if isinstance(data, list) else []
