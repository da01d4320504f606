"""The part of PyYAML that is used here."""

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

class Mark:
    line: int
    column: int
    index: int

class YAMLError(Exception):
    problem: str | None
    problem_mark: Mark | None

class Event:
    start_mark: Mark
    end_mark: Mark

class NodeEvent(Event):
    anchor: str | None

class DocumentStartEvent(Event): ...

class DocumentEndEvent(Event):
    explicit: bool

class AliasEvent(NodeEvent): ...

class ScalarEvent(NodeEvent):
    tag: str | None
    implicit: tuple[bool, bool]
    value: str
    style: str | None

class CollectionStartEvent(NodeEvent):
    tag: str | None
    implicit: bool
    flow_style: bool | None

class SequenceStartEvent(CollectionStartEvent): ...
class MappingStartEvent(CollectionStartEvent): ...
class SequenceEndEvent(Event): ...
class MappingEndEvent(Event): ...

class Node:
    tag: str
    value: Any
    start_mark: Mark
    end_mark: Mark

class ScalarNode(Node):
    value: str

class SequenceNode(Node):
    value: list[Node]

class MappingNode(Node):
    value: list[tuple[Node, Node]]

class CSafeLoader:
    yaml_constructors: ClassVar[dict[str | None, Any]]
    yaml_implicit_resolvers: ClassVar[dict[str, list[tuple[str, Any]]]]
    def __init__(self, stream: str) -> None: ...
    def raw_parse(self) -> int: ...
    def resolve(self, kind: type[Node], value: str, implicit: tuple[bool, bool]) -> str: ...
    @classmethod
    def add_implicit_resolver(cls, tag: str, regexp: Any, first: list[str]) -> None: ...
    @classmethod
    def add_multi_constructor(cls, tag_prefix: str, constructor: Callable[[Any, str, Node], Any]) -> None: ...

class CSafeDumper: ...

def parse(stream: str, Loader: type[CSafeLoader]) -> Iterator[Event]: ...
def compose(stream: str, Loader: type[CSafeLoader]) -> Node | None: ...
def load(stream: str, Loader: type[CSafeLoader]) -> Any: ...
def safe_dump(data: Any, *, allow_unicode: bool = False, sort_keys: bool = True) -> str: ...
def dump(data: Any, *, Dumper: type[CSafeDumper], allow_unicode: bool = False, sort_keys: bool = True) -> str: ...
