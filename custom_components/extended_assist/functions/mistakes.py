"""Mistakes in functions that would be silent: names that mean nothing, and templates where none are rendered."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
import re
from typing import Any, Final

import jinja2
from jinja2 import meta, nodes

from homeassistant.helpers.template import is_template_string

from ..results import Path, texts_in
from ..templates.render import environment
from .yaml_source import PartError

_SPEC: Final = ("name", "description", "parameters")
_KEYWORDS: Final = (
    "additionalProperties",
    "default",
    "description",
    "enum",
    "items",
    "maximum",
    "minimum",
    "properties",
    "required",
    "type",
)
_SENSOR: Final = ("attribute", "index", "name", "select", "value_template")
_PLAIN: Final = {
    "resource": "resource_template",
    "payload": "payload_template",
    "select": "",
    "attribute": "",
    "username": "",
    "password": "",
    "db_url": "",
    "method": "",
    "name": "",
}
"""Settings in which no template is rendered, and what is to be used instead."""
_RUN: Final = frozenset({"context", "repeat", "this", "trigger", "wait", "value", "value_json", "_function_result"})
_HELPERS: Final = frozenset({"exposed_entities", "is_exposed", "is_exposed_entity_in_query", "raise"})
_OTHER_FILES: Final = (nodes.Extends, nodes.FromImport, nodes.Import, nodes.Include)
_SINGLE = re.compile(r"(?<![{$%])\{ ?(\w+) ?\}(?!\})|\$\{(\w+)\}")
_READS = re.compile(r"\s*(?:select|with|values|explain|\()", re.IGNORECASE)
_CUTOFF: Final = 0.75


def check_spec(spec: Mapping[str, Any]) -> None:
    """Raise PartError for a part of the spec that nothing reads, or a keyword of the parameters that is misspelled."""
    for key in spec:
        if key not in _SPEC:
            raise PartError(f"Nothing reads '{key}' here.{_nearest(key, _SPEC)}", ["spec", key])
    _check_keywords(spec.get("parameters"), ["spec", "parameters"])
    parameters = spec.get("parameters")
    if isinstance(parameters, dict) and isinstance(known := parameters.get("properties", {}), dict):
        for index, name in enumerate(parameters.get("required") or ()):
            if name not in known and (near := get_close_matches(str(name), list(known), n=1, cutoff=_CUTOFF)):
                raise PartError(
                    f"There is no parameter '{name}'. Did you mean '{near[0]}'?",
                    ["spec", "parameters", "required", index],
                )


def check_function(spec: Mapping[str, Any], function: Mapping[str, Any]) -> None:
    """Raise PartError for a variable that there is none of, or a template where none is rendered."""
    parameters = spec.get("parameters") or {}
    known = {*parameters.get("properties", {}), *_RUN, *_HELPERS, *environment().globals, *_defined(function)}
    is_open = bool(parameters.get("additionalProperties"))
    _check_sensor_keys(function, ["function"])
    for text, path in texts_in(function):
        place = [key for key in path if isinstance(key, str | int)]
        if _is_plain(function, path):
            if is_template_string(text):
                instead = _PLAIN[str(path[-1])]
                raise PartError(
                    f"No template is rendered in '{path[-1]}'." + (f" Use '{instead}'." if instead else ""),
                    ["function", *place],
                )
            continue
        if (
            not is_template_string(text)
            and (found := _SINGLE.search(text))
            and (name := found[1] or found[2]) in parameters.get("properties", {})
        ):
            raise PartError(f"'{found[0]}' is no template. Write {{{{ {name} }}}}.", ["function", *place])
        if path[-1:] == ("query",) and not is_template_string(text) and not _READS.match(text):
            raise PartError("The query must be a SELECT.", ["function", *place])
        if is_template_string(text):
            _check_template(text, None if is_open else known, ["function", *place])


class _Names(meta.TrackingCodeGenerator):
    """Finds the variables of a template, and computes nothing: constants could take long, and be logged."""

    def __init__(self, environment: jinja2.Environment) -> None:
        """Leave out what computes constants."""
        super().__init__(environment)
        self.optimizer = None


def _check_template(text: str, known: Iterable[str] | None, path: list[str | int]) -> None:
    """Raise PartError for a part of another file, and for a variable that nobody gives where all are known."""
    try:
        tree = environment().parse(text)
    except jinja2.TemplateError:
        return  # Told with its own reason.
    if next(tree.find_all(_OTHER_FILES), None):
        raise PartError("Templates of other files cannot be used here. Write the macro into this template", path)
    if known is not None:
        _check_variables(tree, known, path)


def _check_variables(tree: nodes.Template, known: Iterable[str], path: list[str | int]) -> None:
    """Raise PartError for a variable that nobody gives."""
    guarded = {
        node.node.name
        for kind, names in ((nodes.Test, ("defined", "undefined")), (nodes.Filter, ("default", "d")))
        for node in tree.find_all(kind)
        if node.name in names and isinstance(node.node, nodes.Name)
    }
    assigned = {node.name for node in tree.find_all(nodes.Name) if node.ctx != "load"}
    (names := _Names(environment())).visit(tree)
    for name in sorted(names.undeclared_identifiers - set(known) - assigned):
        near = _nearest(name, known)
        if name in guarded and not near:
            continue
        line = next((node.lineno for node in tree.find_all(nodes.Name) if node.name == name), 1)
        where = f", in line {line} of the template" if line > 1 else ""
        raise PartError(
            f"There is no variable '{name}'{where}.{near or ' Add it to the parameters, or give it a default'}", path
        )


def _nearest(name: str, known: Iterable[str]) -> str:
    """Return the end of a sentence that names the nearest right word, or nothing."""
    near = get_close_matches(name, [one for one in map(str, known) if not one.startswith("_")], n=1, cutoff=_CUTOFF)
    return f" Did you mean '{near[0]}'?" if near else ""


def _check_keywords(schema: Any, path: list[str | int]) -> None:
    """Raise PartError for a word of JSON Schema that is misspelled; others may be for the model."""
    if not isinstance(schema, dict):
        return
    for key, value in schema.items():
        if key not in _KNOWN_KEYWORDS and (near := get_close_matches(str(key), _KEYWORDS, n=1, cutoff=_CUTOFF)):
            raise PartError(f"JSON Schema has no '{key}'. Did you mean '{near[0]}'?", [*path, key])
        if key == "properties" and isinstance(value, dict):
            for name, field in value.items():
                _check_keywords(field, [*path, key, name])
        elif key == "items":
            _check_keywords(value, [*path, key])


_KNOWN_KEYWORDS: Final = frozenset(_KEYWORDS) | {"examples", "minItems", "maxItems", "title", "format", "pattern"}


def _is_plain(function: Mapping[str, Any], path: Path) -> bool:
    """Return whether a text is a setting in which no template is rendered."""
    kind: Any = function
    for key in path[:-1]:
        kind = kind[key]
        if isinstance(kind, dict) and kind.get("type") == "script":
            return False
    if function.get("type") == "script" or not path or path[-1] not in _PLAIN:
        return False
    parent: Any = function
    for key in path[:-1]:
        parent = parent[key]
    if path[-1] in ("select", "attribute"):
        return "sensor" in path
    return isinstance(parent, dict) and ("type" in parent or "sensor" in path)


def _defined(function: Any) -> set[str]:
    """Return the variables that steps of a function define."""
    found: set[str] = set()
    if isinstance(function, dict):
        for key, value in function.items():
            if key == "response_variable" and isinstance(value, str):
                found.add(value)
            elif key == "variables" and isinstance(value, dict):
                found |= {str(name) for name in value}
            elif key == "sensor":
                found |= {
                    str(one["name"])
                    for one in (value if isinstance(value, list) else [value])
                    if isinstance(one, dict) and "name" in one
                }
            if key == "sensor" or isinstance(value, dict | list):
                found |= _defined(value)
    elif isinstance(function, list):
        for item in function:
            found |= _defined(item)
    return found


def _check_sensor_keys(function: Any, path: list[str | int]) -> None:
    """Raise PartError for a key of a sensor that is misspelled."""
    if isinstance(function, list):
        for index, item in enumerate(function):
            _check_sensor_keys(item, [*path, index])
    elif isinstance(function, dict):
        for key, value in function.items():
            if "select" in function and key not in _SENSOR and (near := _nearest(str(key), _SENSOR)):
                raise PartError(f"Nothing reads '{key}' here.{near}", [*path, key])
            _check_sensor_keys(value, [*path, key])
