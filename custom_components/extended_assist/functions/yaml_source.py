"""Functions as their users write them: YAML, read with the line of everything in it, and kept as it was written.

Values are what is written: `on`, `off`, 17:30:00 and dates stay texts, which old YAML takes for other things.
"""

from collections.abc import Sequence
from dataclasses import dataclass
import math
import re
import textwrap
from typing import Any, Final

import yaml

from homeassistant.util.yaml import dump

MAX_TEXT: Final = 200_000
"""Characters that are read at once: more than any list of functions has."""
_MAX_VALUES = 20_000
"""Values in a text, with each use of an anchor counted: a few lines of anchors could stand for billions."""
_MAX_DEPTH = 50
_TAG = "tag:yaml.org,2002:"
_INT = re.compile(r"[-+]?(?:0|[1-9][0-9_]{0,30}|0x[0-9a-fA-F]{1,16})")
_FLOAT = re.compile(r"[-+]?(?:[0-9]*\.[0-9]+(?:[eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+)")

type YamlPath = Sequence[str | int]


class FunctionError(ValueError):
    """An error in a function, with its line where that is known."""

    def __init__(self, reason: str, line: int | None = None) -> None:
        """Take the reason, a sentence for the user, and the line, counted from one."""
        super().__init__(f"Line {line}: {reason}" if line else reason)
        self.reason = reason
        self.line = line


class PartError(ValueError):
    """An error in a part of a function, with the path to the part; whoever has the text finds the line."""

    def __init__(self, reason: str, path: YamlPath = ()) -> None:
        """Take the reason, a sentence for the user, and the path to the part."""
        super().__init__(reason)
        self.path = tuple(path)


class _Loader(yaml.CSafeLoader):
    """A YAML loader for which only numbers, true, false and null are no texts."""

    yaml_implicit_resolvers = {}  # noqa: RUF012 - a class variable of the base


_Loader.add_implicit_resolver(f"{_TAG}null", re.compile(r"(?:~|null|Null|NULL|)$"), ["~", "n", "N", ""])
_Loader.add_implicit_resolver(f"{_TAG}bool", re.compile(r"(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF"))
_Loader.add_implicit_resolver(f"{_TAG}int", re.compile(f"(?:{_INT.pattern})$"), list("-+0123456789"))
_Loader.add_implicit_resolver(f"{_TAG}float", re.compile(f"(?:{_FLOAT.pattern})$"), list("-+0123456789."))
_Loader.add_implicit_resolver(f"{_TAG}merge", re.compile(r"<<$"), ["<"])


class ParsedYaml:
    """A text in YAML: its value, and the lines of its parts."""

    def __init__(self, text: str, value: Any, node: yaml.Node) -> None:
        """Take the text, its value, and the root of its nodes."""
        self.text = text
        self.value = value
        self.node = node

    def line(self, path: YamlPath = ()) -> int:
        """Return the line of a part, or of the innermost one around it that is written."""
        node = self.node
        line = node.start_mark.line
        for key in path:
            if isinstance(node, yaml.MappingNode):
                found = next((pair for pair in node.value if pair[0].value == str(key)), None)
                if found is None:
                    break
                line, node = found[0].start_mark.line, found[1]
            elif isinstance(node, yaml.SequenceNode) and isinstance(key, int) and key < len(node.value):
                node = node.value[key]
                line = node.start_mark.line
            else:
                break
        return line + 1


def parse_yaml(text: str) -> ParsedYaml:
    """Read a text; raise FunctionError with the line for what is no YAML, or not this kind of it."""
    if len(text) > MAX_TEXT:
        raise FunctionError(f"The text has {len(text)} characters; at most {MAX_TEXT} are read")
    try:
        node = yaml.compose(text, _Loader)
    except yaml.YAMLError as err:
        mark = getattr(err, "problem_mark", None)
        problem = getattr(err, "problem", None) or str(err).splitlines()[0]
        raise FunctionError(f"This is not YAML: {problem}", mark.line + 1 if mark else None) from err
    except (ValueError, RecursionError) as err:
        raise FunctionError("This is not YAML that can be read here") from err
    if node is None:
        raise FunctionError("The text is empty")
    return ParsedYaml(text, _ValueBuilder().of(node), node)


class _ValueBuilder:
    """Makes values of nodes, within limits."""

    def __init__(self) -> None:
        """Start with the whole limit of values."""
        self._left = _MAX_VALUES

    def of(self, node: yaml.Node, depth: int = 0) -> Any:
        """Return the value of a node."""
        line = node.start_mark.line + 1
        self._left -= 1
        if self._left < 0:
            raise FunctionError(f"The text stands for more than {_MAX_VALUES} values", line)
        if depth > _MAX_DEPTH:
            raise FunctionError(f"Nested more than {_MAX_DEPTH} deep", line)
        if isinstance(node, yaml.SequenceNode) and node.tag == f"{_TAG}seq":
            return [self.of(item, depth + 1) for item in node.value]
        if isinstance(node, yaml.MappingNode) and node.tag == f"{_TAG}map":
            return self._mapping(node, depth)
        if isinstance(node, yaml.ScalarNode):
            return _scalar(node, line)
        raise FunctionError(f"{node.tag.removeprefix(_TAG)} cannot be used here", line)

    def _mapping(self, node: yaml.MappingNode, depth: int) -> dict[str, Any]:
        """Return the value of a mapping; what it merges in gives way to what it says itself."""
        merged: dict[str, Any] = {}
        own: dict[str, Any] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            value = self.of(value_node, depth + 1)
            if key_node.tag == f"{_TAG}merge":
                for part in value if isinstance(value, list) else [value]:
                    if not isinstance(part, dict):
                        raise FunctionError("<< merges mappings only", line)
                    merged = part | merged
                continue
            if not isinstance(key_node, yaml.ScalarNode):
                raise FunctionError("A key must be a text; a template needs quotes around it", line)
            if key_node.value in own:
                raise FunctionError(f"'{key_node.value}' is there twice", line)
            own[key_node.value] = value
        return merged | own


def _scalar(node: yaml.ScalarNode, line: int) -> Any:
    """Return the value of a scalar."""
    text = node.value
    match node.tag.removeprefix(_TAG):
        case "str":
            return text
        case "null":
            return None
        case "bool":
            return text.lower() == "true"
        case "int" if _INT.fullmatch(text):
            return int(text.replace("_", ""), 16 if "x" in text else 10)
        case "float" if _FLOAT.fullmatch(text):
            return number if math.isfinite(number := float(text)) else text
        case "merge":
            return text
    raise FunctionError(f"{node.tag.removeprefix(_TAG)} cannot be used here", line)


@dataclass(frozen=True, slots=True)
class FunctionText:
    """One function of a list."""

    text: str
    """As it was written, with its comments."""
    line: int
    """The line of the whole text in which this begins."""


def split_functions(text: str) -> list[FunctionText]:
    """Return the functions of a list, or the one that a text holds alone."""
    written = parse_yaml(text)
    node = written.node
    if isinstance(node, yaml.MappingNode):
        return [FunctionText(text, 1)]
    if not isinstance(node, yaml.SequenceNode) or not node.value:
        raise FunctionError("This must be a list of functions, or one function", written.line())
    lines = text.splitlines()
    starts = [item.start_mark.line for item in node.value]
    firsts = [
        _with_comments(lines, start, 0 if not index else starts[index - 1] + 1) for index, start in enumerate(starts)
    ]
    return [
        FunctionText(_item_text(lines[first:last], start - first, value), first + 1)
        for first, last, start, value in zip(firsts, [*firsts[1:], len(lines)], starts, written.value, strict=True)
    ]


def _with_comments(lines: list[str], start: int, end: int) -> int:
    """Return the line in which the comments above an item begin."""
    while start > end and lines[start - 1].startswith("#"):
        start -= 1
    return start


def _item_text(lines: list[str], start: int, value: Any) -> str:
    """Return the text of an item without the dash of the list; written anew where it cannot stand alone."""
    if not lines:  # Another item is in the same line.
        return dump(value)
    comments, first, rest = lines[:start], lines[start], lines[start + 1 :]
    body = textwrap.dedent("\n".join([first.replace("-", " ", 1), *rest]))
    text = "\n".join([*comments, body]).strip("\n") + "\n"
    try:
        alone = parse_yaml(text).value
    except FunctionError:
        alone = None
    return text if alone == value else dump(value)


def rename_function(text: str, name: str) -> str:
    """Return a function under another name, as it was written otherwise."""
    written = parse_yaml(text)
    function = written.value[0] if isinstance(written.value, list) else written.value
    path: YamlPath = [0, "spec", "name"] if isinstance(written.value, list) else ["spec", "name"]
    lines = text.splitlines()
    index = written.line(path) - 1
    lines[index] = lines[index].replace(function["spec"]["name"], name, 1)
    result = "\n".join(lines) + "\n"
    wanted = function | {"spec": function["spec"] | {"name": name}}
    try:
        value = parse_yaml(result).value
    except FunctionError:
        value = None
    return result if value in (wanted, [wanted]) else dump(wanted)


def join_functions(texts: Sequence[str]) -> str:
    """Return functions as a list, as each was written."""
    return "\n".join(_as_item(text) for text in texts)


def _as_item(text: str) -> str:
    """Return a function as an item of a list."""
    lines = text.strip("\n").splitlines()
    first = next((index for index, line in enumerate(lines) if line.strip() and not line.startswith("#")), 0)
    if lines[first].startswith("- "):
        return text.strip("\n") + "\n"
    item = [*lines[:first], f"- {lines[first]}", *(f"  {line}" if line.strip() else "" for line in lines[first + 1 :])]
    result = "\n".join(item) + "\n"
    try:
        whole = parse_yaml(result).value == [parse_yaml(text).value]
    except FunctionError:
        whole = False
    return result if whole else dump([parse_yaml(text).value])
