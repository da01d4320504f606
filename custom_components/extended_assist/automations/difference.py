"""What changes in a configuration, line by line."""

from collections.abc import Mapping
import difflib
import json
from typing import Any

from homeassistant.helpers.json import json_dumps
from homeassistant.util.yaml import dump

from .edit import KEY_ORDER

MAX_DIFF = 2_500
"""Characters of a diff, which is shown rather than spoken."""


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
    plain = json.loads(json_dumps(config))
    return dump({key: plain[key] for key in KEY_ORDER if key in plain} | plain).splitlines()
