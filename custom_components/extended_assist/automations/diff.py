"""What changes in a configuration, line by line."""

from collections.abc import Mapping
import difflib
import json
from typing import Any

from homeassistant.helpers.json import json_dumps
from homeassistant.util.yaml import dump

from ..results import cut
from .edit import KEY_ORDER

MAX_DIFF = 2_500
"""Characters of a diff, which is shown rather than spoken."""
MAX_PROSE = 200
"""Characters of a name or a description in it, which do nothing."""
_PROSE = frozenset({"alias", "description"})
_VALUES = frozenset({"data", "data_template", "event_data", "input", "target", "trigger_variables", "variables"})
"""Under these, no name makes a value prose."""


def diff(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> str:
    """Return the lines that change, with - and + in front, as in YAML."""
    found = difflib.unified_diff(_lines(before), _lines(after), n=1, lineterm="")
    changed = [line for line in found if not line.startswith(("---", "+++", "@@"))]
    text = "\n".join(changed)
    return text if len(text) <= MAX_DIFF else f"{text[:MAX_DIFF]}\n… ({len(text) - MAX_DIFF} more characters)"


def _lines(config: Mapping[str, Any] | None) -> list[str]:
    """Return a configuration as lines."""
    if config is None:
        return []
    plain = _short(json.loads(json_dumps(config)))
    return dump({key: plain[key] for key in KEY_ORDER if key in plain} | plain).splitlines()


def _short(value: Any, key: str = "") -> Any:
    """Return data whose prose is cut, so that it never pushes out what is done."""
    if isinstance(value, dict):
        return {name: item if name in _VALUES else _short(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [_short(item) for item in value]
    return cut(value, MAX_PROSE, "words for people") if key in _PROSE and isinstance(value, str) else value
