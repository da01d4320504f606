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
        for event in yaml.parse(index.text, Loader=yaml.CSafeLoader):
            self._take(event)

    def _take(self, event: yaml.Event) -> None:
        """Add one event of the parser."""
        match event:
            case yaml.DocumentStartEvent():
                if self._begun:
                    raise self.index.unreadable("it holds several documents")
                self._begun = True
            case yaml.DocumentEndEvent(explicit=True):
                self.index.stop = event.start_mark.index
            case yaml.SequenceStartEvent() | yaml.MappingStartEvent():
                self._node(event)
                self._depth += 1
                self._flow.append(bool(event.flow_style))
            case yaml.SequenceEndEvent() | yaml.MappingEndEvent():
                self._leave(event)
            case yaml.ScalarEvent() | yaml.AliasEvent():
                self._node(event)
                if self._depth:
                    self._solid(event.start_mark.index, self._content_end(event))

    def _node(self, event: _Node) -> None:
        """Add a node: a scalar, an alias, or the start of a list or object."""
        if self._depth == 0:
            self._root(event)
            return
        start = event.start_mark.index
        if self._depth == 1:
            item = self.index.automations[-1] if self._is_value else self._item(event)
            self._is_value = self.index.is_keyed and not self._is_value
            item.start = start
            item.is_object = isinstance(event, yaml.MappingStartEvent)
            item.on_lines = isinstance(event, yaml.MappingStartEvent) and not event.flow_style
            self._key = None
        item = self.index.automations[-1]
        if isinstance(event, yaml.AliasEvent):
            item.aliases.add(event.anchor or "")
            item.meaning.append(f"*{event.anchor}")
        else:
            if event.anchor:
                item.anchors.add(event.anchor)
            value = event.value if isinstance(event, yaml.ScalarEvent) else type(event).__name__
            item.meaning.append(f"{event.tag}\n{event.implicit}\n{event.anchor}\n{value}")
        if self._depth == 2 and item.is_object:
            self._entry(item, event)
        if item.keys and (reason := self._reason(event)):
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
            self.index.automations[-1].meaning.append("end")
            if flow:
                self._solid(event.start_mark.index, event.end_mark.index)

    def _solid(self, start: int, end: int) -> None:
        """Add a piece of data; between it and the piece before there can only be punctuation and comments."""
        item = self.index.automations[-1]
        if item.keys and "#" in self.index.text[self._end : start]:
            item.keys[-1].fixed = "a comment"
        self._end = item.end = end
        if item.keys:
            item.keys[-1].end = end

    def _content_end(self, event: yaml.Event) -> int:
        """Return the end of a scalar: without the line breaks after a block of text, unless they belong to it."""
        start, end = event.start_mark.index, event.end_mark.index
        if not isinstance(event, yaml.ScalarEvent) or event.style not in ("|", ">"):
            return end
        text = self.index.text[start:end]
        if "+" in text.partition("\n")[0]:
            return end - text.endswith("\n") - text.endswith("\r\n")
        return start + len(text.rstrip())

    def _reason(self, event: _Node) -> str:
        """Name the part of a node that would be lost if it were written anew; empty for none."""
        if isinstance(event, yaml.AliasEvent) or event.anchor:
            return "an anchor"
        if event.tag:
            return f"the tag {event.tag}" if event.tag.startswith("!") else "a tag"
        if getattr(event, "style", None) in ("|", ">"):
            start = event.start_mark.index
            return "a comment" if "#" in self.index.text[start : self.index.line_end(start)] else ""
        return ""

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
