"""Positions of the automations in a YAML file, so that one can be changed and all others keep their bytes.

The file is never loaded and dumped as a whole: that would lose comments, tags and everything else that is not data.
"""

from dataclasses import dataclass, field
import re
from typing import Any

import yaml

from ..results import ToolError

type Meaning = list[str]
"""Tags, anchors and values of an automation, without its formatting: texts, which do not burden garbage collection."""

_CANNOT_READ = "The file of automations cannot be changed: {}. Tell the user, who can mend it in a text editor."


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
    """One automation in the file."""

    dash: int
    """Position of the dash before it."""
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
    """The plain texts of its id and alias."""
    anchors: set[str] = field(default_factory=set)
    aliases: set[str] = field(default_factory=set)

    @property
    def id(self) -> str | None:
        """Return the id, if it has one."""
        return self.names.get("id")


@dataclass(slots=True)
class YamlIndex:
    """The positions of all automations in a text."""

    text: str
    automations: list[IndexedAutomation] = field(default_factory=list)
    column: int = 0
    """Indentation of the dashes."""
    empty_list: tuple[int, int] | None = None
    """Start and end of `[]`, in a file with nothing else."""

    def find(self, automation_id: str) -> IndexedAutomation | None:
        """Return the automation with an id; raises ToolError when there are several."""
        found = [item for item in self.automations if item.id == automation_id]
        if len(found) > 1:
            raise ToolError(_CANNOT_READ.format(f"{len(found)} automations in it have the id {automation_id}"))
        return found[0] if found else None

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


def index_yaml(text: str) -> YamlIndex:
    """Return the index of a file; raise ToolError for a file in which the places of automations cannot be told."""
    try:
        return _IndexBuilder(text).index
    except yaml.YAMLError as err:
        mark = getattr(err, "problem_mark", None)
        where = f" in line {mark.line + 1}" if mark else ""
        raise ToolError(_CANNOT_READ.format(f"it is not valid YAML{where}")) from err


type _Node = yaml.AliasEvent | yaml.ScalarEvent | yaml.SequenceStartEvent | yaml.MappingStartEvent
"""The beginning of anything, or the whole of something that holds nothing."""


class _IndexBuilder:
    """Walks through the events of a file once."""

    def __init__(self, text: str) -> None:
        """Read all of it."""
        self.index = YamlIndex(text)
        self._depth = 0
        self._flow: list[bool] = []
        self._key: str | None = None
        self._end = 0  # Where the last piece of text ended.
        for event in yaml.parse(text, Loader=yaml.CSafeLoader):
            self._take(event)

    def _take(self, event: yaml.Event) -> None:
        """Add one event of the parser."""
        match event:
            case yaml.DocumentStartEvent():
                if self._depth or self._end or self.index.automations:
                    raise ToolError(_CANNOT_READ.format("it holds several documents"))
            case yaml.DocumentEndEvent(explicit=True):
                raise ToolError(_CANNOT_READ.format("it ends with an explicit mark of its end"))
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
            if self.index.empty_list:
                raise ToolError(_CANNOT_READ.format("it is a list in one pair of brackets"))
            item = IndexedAutomation(self._dash(start), start, start)
            item.is_object = isinstance(event, yaml.MappingStartEvent)
            item.on_lines = isinstance(event, yaml.MappingStartEvent) and not event.flow_style
            self.index.automations.append(item)
            self._end = item.dash
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

    def _root(self, event: _Node) -> None:
        """Check the outermost node: it has to be a list."""
        if isinstance(event, yaml.SequenceStartEvent) and not event.flow_style:
            self.index.column = event.start_mark.column
            self._end = event.start_mark.index
        elif isinstance(event, yaml.SequenceStartEvent):
            self.index.empty_list = (event.start_mark.index, -1)
        elif not isinstance(event, yaml.ScalarEvent) or event.start_mark.index != event.end_mark.index:
            raise ToolError(_CANNOT_READ.format("it is not a list"))

    def _entry(self, item: IndexedAutomation, event: _Node) -> None:
        """Add a key of an automation, or the start of the value after it."""
        if self._key is not None:
            if isinstance(event, yaml.ScalarEvent) and self._key in {"id", "alias"} and not event.tag:
                item.names[self._key] = event.value
            self._key = None
            return
        self._key = event.value if isinstance(event, yaml.ScalarEvent) else ""
        # What is between two keys belongs to neither, so that comments there survive both.
        self._end = event.start_mark.index
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
            return end - text.endswith("\n")
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
                raise ToolError(_CANNOT_READ.format("its lines cannot be told apart"))
            position = line - 1


def indented(text: str, column: int) -> str:
    """Return lines moved to the right."""
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
        (data,) = yaml.load(index.text[start:end], Loader=_AutomationLoader)  # noqa: S506 - a safe loader
    except (yaml.YAMLError, ValueError, TypeError) as err:
        reason = "it uses parts of other automations (anchors)" if item.aliases else "it cannot be read by itself"
        raise ToolError(reason) from err
    if not isinstance(data, dict):
        raise ToolError("it is not an object")
    return data
