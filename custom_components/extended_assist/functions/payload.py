"""Bodies of requests: the structure is read from what the user wrote, and the values are put into it as values.

In JSON, XML and YAML the text is parsed with a mark in the place of each value, and written anew; a form is taken apart. What
cannot be parsed is refused. In any other text, a value stays inside the quotes that are written around it.
"""

from collections.abc import Callable, Sequence
import json
import re
from secrets import token_hex
from typing import Any, Final
from urllib.parse import quote, unquote_plus
from xml.dom import Node, minidom
from xml.parsers.expat import ExpatError

import yaml

from ..results import ToolError
from .address import encoded
from .rendering import JsonText, Piece, Value

_FORM = re.compile(r"[\w.\[\]%-]+=")
_YAML = re.compile(r"(?:---\n|#.*\n|\s*\n)*(?:- |[\w\"'-]+:[ \n])")
_PLAIN = re.compile(r"[^\W\d_][\w.+/-]*(?: [\w.+/-]+)*")
_YAML_WORDS: Final = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_XML_BEGIN = re.compile(r"\s*<\?xml.*?\?>\s*", re.DOTALL)
_IN_WORD = re.compile(r"(?<=\w)'(?=\w)")
_SCALARS = (bool, int, float)


class _Body:
    """A body in which marks stand for values."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        """Choose marks that nobody can guess."""
        nonce = f"v{token_hex(8)}"
        self.values = [piece for piece in pieces if isinstance(piece, Value)]
        numbers = iter(range(len(self.values)))
        self.text = "".join(f"{nonce}n{next(numbers)}z" if isinstance(piece, Value) else piece for piece in pieces)
        self.mark = re.compile(f"{nonce}n([0-9]+)z")

    def filled(self, text: str, write: Callable[[Value], str] = lambda value: value.text) -> str:
        """Return a text with its values."""
        return self.mark.sub(lambda match: write(self.values[int(match[1])]), text)

    def only(self, text: str) -> Value | None:
        """Return the value that a text is."""
        match = self.mark.fullmatch(text.strip())
        return self.values[int(match[1])] if match else None

    def inside_quotes(self, text: str) -> str:
        """Return a text with its values, each of which stays inside the quotes that are written around it."""
        written: list[str] = []
        end = 0
        for match in self.mark.finditer(text):
            written += [text[end : match.start()], _quoted(self.values[int(match[1])].text, text, match)]
            end = match.end()
        return "".join([*written, text[end:]])


def _quoted(value: str, text: str, match: re.Match[str]) -> str:
    """Return a value as a part of what is in quotes, if it is."""
    before, after = _IN_WORD.sub("", text[: match.start()]), text[match.end() :]
    if before.replace('\\"', "").count('"') % 2 and '"' in after:
        return json.dumps(value, ensure_ascii=False)[1:-1]
    for sign in "'`":
        if before.count(sign) % 2 and sign in after and (sign in value or "\\" in value):
            raise ToolError(
                f"An argument holds {sign} or a backslash, which would end what it stands in. Leave it out."
            )
    return value


def to_payload(pieces: Sequence[Piece], media_type: str = "") -> str:
    """Return the body of a request, of a type that its user says or that it looks like."""
    body = _Body(pieces)
    if not body.values or body.only(body.text):
        # All as written, or all by the model.
        return body.filled(body.text)
    media_type, text = media_type.lower(), body.text.lstrip()
    if "json" in media_type or (not media_type and text[:1] in ("{", "[")):
        return _to_json(body, must=bool(media_type) or text[0] == "{")
    if "xml" in media_type or (not media_type and text.startswith("<")):
        return _to_xml(body)
    if "form-urlencoded" in media_type or (not media_type and _FORM.match(text)):
        return "&".join(_to_field(body, field) for field in body.text.split("&"))
    if "yaml" in media_type or (not media_type and _looks_like_yaml(text)):
        return _to_yaml(body)
    if "multipart" in media_type or text.startswith("--"):
        if any(re.search(r'[\r\n]|"', value.text) for value in body.values):
            raise ToolError("An argument holds quotes or line breaks, which would end its part. Leave them out.")
        return body.filled(body.text)
    return body.inside_quotes(body.text)


def _to_field(body: _Body, field: str) -> str:
    """Return a field of a form; in one that is JSON or XML itself, values are values of that."""
    name, is_pair, content = field.partition("=")
    inner = unquote_plus(content).lstrip()
    if is_pair and inner[:1] in ("{", "[", "<") and body.mark.search(inner) and not body.only(inner):
        content = quote(_to_xml(body, inner) if inner[0] == "<" else _to_json(body, inner), safe="")
        return f"{body.filled(name, encoded)}={content}"
    return body.filled(field, encoded)


def _to_json(body: _Body, text: str | None = None, *, must: bool = True) -> str:
    """Return JSON, or several lines of it."""
    text = body.text if text is None else text
    try:
        return _json_value(body, text)
    except ValueError, RecursionError:
        pass
    try:
        return "\n".join(_json_value(body, line) if line.strip() else line for line in text.split("\n"))
    except (ValueError, RecursionError) as err:
        if not must:
            return body.inside_quotes(text)
        raise _unreadable("JSON") from err


def _json_value(body: _Body, text: str) -> str:
    """Return one JSON value with its values; raises ValueError for what is none."""
    parts: list[str] = []
    quoted, end = False, 0
    for match in body.mark.finditer(text):
        part = text[end : match.start()]
        quoted ^= len(re.findall(r'(?<!\\)(?:\\\\)*"', part)) % 2 == 1
        # Outside of quotes, a mark is a text of its own, told from others by the sign before it.
        parts += [part, match[0] if quoted else f'"\\u0000{match[0]}"']
        end = match.end()

    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        made = {fill(key): value for key, value in found}
        if len(made) < len(found):
            raise ToolError("An argument takes the name of another field of the body. Give another.")
        return made

    def fill(value: str) -> str:
        return body.inside_quotes(value.removeprefix("\0"))

    def values(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: values(item) for key, item in value.items()}
        if isinstance(value, list):
            return [values(item) for item in value]
        if not isinstance(value, str):
            return value
        if value.startswith("\0") and (own := body.only(value[1:])):
            return _as_json(own)
        return fill(value)

    read = json.loads("".join([*parts, text[end:]]), object_pairs_hook=pairs)
    return json.dumps(values(read), ensure_ascii=False)


def _as_json(value: Value) -> Any:
    """Return a value outside of quotes: a text is one, unless it is a number, true, false or null, or written as JSON."""
    if not isinstance(value.value, str):
        try:
            return json.loads(json.dumps(value.value))
        except TypeError, ValueError:
            return value.text
    try:
        read = json.loads(value.text)
    except ValueError, RecursionError:
        return value.text
    return read if isinstance(value.value, JsonText) or read is None or isinstance(read, _SCALARS) else value.text


def _to_xml(body: _Body, text: str | None = None) -> str:
    """Return XML."""
    text = body.text if text is None else text
    if any(_NOT_XML.search(value.text) for value in body.values):
        raise ToolError("An argument holds control characters, which cannot be sent here. Leave them out.")
    try:
        document = minidom.parseString(text.strip().encode())  # noqa: S318 - its user wrote it
    except (ExpatError, ValueError) as err:
        raise _unreadable("XML") from err
    found = 0
    nodes: list[Any] = [document]
    while nodes:
        node = nodes.pop()
        nodes += node.childNodes or ()
        for attribute in dict(node.attributes or {}).values():
            found += len(body.mark.findall(attribute.value))
            attribute.value = body.filled(attribute.value)
        if node.nodeType in (Node.TEXT_NODE, Node.CDATA_SECTION_NODE):
            found += len(body.mark.findall(node.data))
            node.data = body.filled(node.data)
            if node.nodeType == Node.CDATA_SECTION_NODE and "]]>" in node.data:
                node.parentNode.replaceChild(document.createTextNode(node.data), node)
    if found < len(body.mark.findall(text)):
        raise ToolError(
            "This function puts an argument where XML has no values, such as a name or a comment. Tell the user."
        )
    begin = _XML_BEGIN.match(text)
    return (begin[0] if begin else "") + "".join(node.toxml() for node in document.childNodes)


def _looks_like_yaml(text: str) -> bool:
    """Return whether a text of several lines is YAML."""
    if "\n" not in text.strip() or not _YAML.match(text):
        return False
    try:
        return isinstance(yaml.compose(text, yaml.CSafeLoader), yaml.MappingNode | yaml.SequenceNode)
    except yaml.YAMLError, RecursionError:
        return False


def _to_yaml(body: _Body) -> str:
    """Return YAML: what the user wrote, with each scalar that holds a value written anew."""
    try:
        root = yaml.compose(body.text, yaml.CSafeLoader)
    except (yaml.YAMLError, RecursionError) as err:
        raise _unreadable("YAML") from err
    scalars: list[yaml.ScalarNode] = []
    nodes = [root]
    while nodes:
        node = nodes.pop()
        if isinstance(node, yaml.ScalarNode):
            scalars.append(node)
        elif isinstance(node, yaml.MappingNode):
            nodes += [part for pair in node.value for part in pair]
        elif isinstance(node, yaml.SequenceNode):
            nodes += node.value
    text, found = body.text, 0
    for node in sorted(scalars, key=lambda one: one.start_mark.index, reverse=True):
        if count := len(body.mark.findall(node.value)):
            found += count
            text = text[: node.start_mark.index] + _yaml_scalar(body, node) + text[node.end_mark.index :]
    if body.mark.search(text):
        raise ToolError("This function puts an argument where YAML has no values, such as a comment. Tell the user.")
    return text


def _yaml_scalar(body: _Body, node: Any) -> str:
    """Return a scalar of YAML, which JSON is a part of."""
    is_bare = not node.style  # None, or empty where libyaml reads.
    value = body.only(node.value) if is_bare else None
    if value is not None and not isinstance(value.value, str):
        return json.dumps(_as_json(value), ensure_ascii=False)
    text = body.filled(node.value)
    is_plain = _PLAIN.fullmatch(text) and text.lower() not in _YAML_WORDS and is_bare
    is_number = value is not None and re.fullmatch(r"-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?", text)
    end = "\n" if node.style in ("|", ">") else ""
    return (text if is_plain or is_number else json.dumps(text, ensure_ascii=False)) + end


def _unreadable(language: str) -> ToolError:
    """Return the error for a body that its own language cannot read."""
    return ToolError(
        f"The body of this function is no {language}, so no value can be put into it. Tell the user to look for commas, quotes "
        "and brackets in payload_template, or to say another Content-Type in headers."
    )
