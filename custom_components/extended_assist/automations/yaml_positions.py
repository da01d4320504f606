"""Positions of the automations, scripts or scenes in a YAML file, so that one can be changed and all others keep their bytes.

The file is never loaded and dumped as a whole: that would lose comments, tags and everything else that is not data.
"""

from collections.abc import Callable, Collection
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
    """The text of a tag, such as '!secret porch'; what it stands for is never looked up."""

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
    """The comment, tag or anchor in it that writing it anew would lose; empty for none."""


@dataclass(slots=True)
class IndexedAutomation:
    """One automation, script or scene in the file."""

    dash: int
    """Position of the dash before it, or of the id that it stands under."""
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
    """What they are: automation, script or scene."""
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


def index_yaml(text: str, kind: str = "automation") -> YamlIndex:
    """Return the index of a file; raise ToolError for a file in which the places of its items cannot be told."""
    index = YamlIndex(text, kind, stop=len(text))
    try:
        return _IndexBuilder(index).index
    except yaml.YAMLError as err:
        mark = getattr(err, "problem_mark", None)
        where = f" in line {mark.line + 1}" if mark else ""
        raise index.unreadable(f"it is not valid YAML{where}") from err


type _Node = yaml.AliasEvent | yaml.ScalarEvent | yaml.SequenceStartEvent | yaml.MappingStartEvent
"""The beginning of anything, or the whole of something that holds nothing."""
_BLOCKS = frozenset("|>")
"""Styles of texts that go over several lines."""


class _IndexBuilder:
    """Walks through the events of a file once."""

    def __init__(self, index: YamlIndex) -> None:
        """Read all of its text."""
        self.index = index
        self._begun = False
        self._depth = 0
        self._flow: list[bool] = []
        self._key: str | None = None
        self._end = 0  # Where the last piece of text ended.
        self._is_value = False  # Whether what stands under an id comes next.
        self._at = IndexedAutomation(0, 0)  # The last item; before the first, one that is in no file.
        steps: dict[type[yaml.Event], Callable[[Any], None]] = {
            yaml.DocumentStartEvent: self._document,
            yaml.DocumentEndEvent: self._document_end,
            yaml.SequenceStartEvent: self._enter,
            yaml.MappingStartEvent: self._enter,
            yaml.SequenceEndEvent: self._leave,
            yaml.MappingEndEvent: self._leave,
            yaml.ScalarEvent: self._scalar,
            yaml.AliasEvent: self._alias,
        }
        for event in yaml.parse(index.text, Loader=yaml.CSafeLoader):
            if step := steps.get(type(event)):
                step(event)

    def _document(self, event: yaml.DocumentStartEvent) -> None:
        """Add the beginning of a document."""
        if self._begun:
            raise self.index.unreadable("it holds several documents")
        self._begun = True

    def _document_end(self, event: yaml.DocumentEndEvent) -> None:
        """Add the end of the document."""
        if event.explicit:
            self.index.stop = event.start_mark.index

    def _enter(self, event: yaml.SequenceStartEvent | yaml.MappingStartEvent) -> None:
        """Add the start of a list or object."""
        if self._depth:
            self._node(event, event.start_mark.index, type(event).__name__)
        else:
            self._root(event)
        self._depth += 1
        self._flow.append(bool(event.flow_style))

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        """Add a scalar."""
        if not self._depth:
            self._root(event)
            return
        start, end = event.start_mark.index, event.end_mark.index
        self._node(event, start, event.value)
        self._solid(start, self._block_end(start, end) if event.style in _BLOCKS else end)

    def _alias(self, event: yaml.AliasEvent) -> None:
        """Add the use of an anchor."""
        if not self._depth:
            self._root(event)
            return
        self._node(event, event.start_mark.index, "")
        self._solid(event.start_mark.index, event.end_mark.index)

    def _node(self, event: _Node, start: int, value: str) -> None:
        """Add what is in the list or object of all items: a scalar, an alias, or the start of a list or object."""
        if self._depth == 1:
            item = self._at = self._at if self._is_value else self._item(event)
            self._is_value = self.index.is_keyed and not self._is_value
            item.start = start
            item.is_object = isinstance(event, yaml.MappingStartEvent)
            item.on_lines = isinstance(event, yaml.MappingStartEvent) and not event.flow_style
            self._key = None
        item, anchor = self._at, event.anchor
        if isinstance(event, yaml.AliasEvent):
            item.aliases.add(anchor or "")
            item.meaning.append(f"*{anchor}")
            reason = "an anchor"
        else:
            tag = event.tag
            item.meaning.append(f"{tag}\n{event.implicit}\n{anchor}\n{value}")
            reason = ""
            if anchor:
                item.anchors.add(anchor)
                reason = "an anchor"
            elif tag:
                reason = f"the tag {tag}" if tag.startswith("!") else "a tag"
            elif isinstance(event, yaml.ScalarEvent) and event.style in _BLOCKS:
                reason = "a comment" if "#" in self.index.text[start : self.index.line_end(start)] else ""
        if self._depth == 2 and item.is_object:
            self._entry(item, event)
        if reason and item.keys:
            item.keys[-1].fixed = item.keys[-1].fixed or reason

    def _item(self, event: _Node) -> IndexedAutomation:
        """Add an item with its dash or id."""
        start = event.start_mark.index
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

    def _root(self, event: _Node) -> None:
        """Check the outermost node: it has to be a list, or an object where items stand under their ids."""
        shape = yaml.MappingStartEvent if self.index.is_keyed else yaml.SequenceStartEvent
        if isinstance(event, shape) and not event.flow_style:
            self.index.column = event.start_mark.column
            self._end = event.start_mark.index
        elif isinstance(event, shape):
            self.index.empty_list = (event.start_mark.index, -1)
        elif not isinstance(event, yaml.ScalarEvent) or event.start_mark.index != event.end_mark.index:
            raise self.index.unreadable(f"it is not {'an object' if self.index.is_keyed else 'a list'}")

    def _entry(self, item: IndexedAutomation, event: _Node) -> None:
        """Add a key of an automation, or the start of the value after it."""
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

    def _leave(self, event: yaml.Event) -> None:
        """Add the end of a list or object."""
        self._depth -= 1
        flow = self._flow.pop()
        if self._depth == 0 and self.index.empty_list:
            self.index.empty_list = (self.index.empty_list[0], event.end_mark.index)
        elif self._depth:
            self._at.meaning.append("end")
            if flow:
                self._solid(event.start_mark.index, event.end_mark.index)

    def _solid(self, start: int, end: int) -> None:
        """Add a piece of data; between it and the piece before there can only be punctuation and comments."""
        item = self._at
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
