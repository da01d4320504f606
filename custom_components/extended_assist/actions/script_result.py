"""How scripts and automations have ended, as Home Assistant's traces tell: to who calls one, an aborted script looks like one that is done."""

from collections.abc import Iterable
import re
from typing import Any, Final

from homeassistant.components.automation.const import DOMAIN as AUTOMATION_DOMAIN
from homeassistant.components.script.const import DOMAIN as SCRIPT_DOMAIN
from homeassistant.components.trace.util import async_get_trace, async_list_traces
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import entity_registry as er

from ..calls.call import ToolCall
from ..exposure.responses import safe_reason

ENDING_DOMAINS: Final = {AUTOMATION_DOMAIN: "an automation", SCRIPT_DOMAIN: "a script"}
"""Domains whose runs come to an end of their own, and how one of them is called that is not exposed."""
_REASONS: Final = {
    "cancelled": "was stopped",
    "disallowed_recursion_detected": "would have run itself",
    "failed_max_runs": "runs as often as it may already",
    "failed_single": "is running already",
}
_PARTS = re.compile(r"/(conditions?|entity_id|if|until|while)(/|$)")


async def async_not_finished(call: ToolCall) -> dict[str, str]:
    """Return why scripts and automations of the home that ran in a call did not come to their end, by their entity ids.

    Nothing is known of one for which no traces are kept.
    """
    hass, context = call.hass, call.llm_context.context
    found: dict[str, str] = {}
    for short in [one for domain in ENDING_DOMAINS for one in await async_list_traces(hass, domain, None)]:
        ended, domain = short["script_execution"], short["domain"]
        if short["state"] != "stopped" or ended == "finished":
            continue
        key = f"{domain}.{short['item_id']}"
        run: dict[str, Any] = dict(await async_get_trace(hass, key, short["run_id"]))
        # An automation runs in a context of its own.
        if context is None or context.id not in (run["context"].id, run["context"].parent_id):
            continue
        entity_id = er.async_get(hass).async_get_entity_id(domain, domain, short["item_id"]) or key
        failed = {path: step["error"] for path, steps in run["trace"].items() for step in steps if step.get("error")}
        if failed and ended not in _REASONS:
            path = max(failed, key=lambda path: path.count("/"))
            words = f"was aborted at {place_of(path)}: {safe_reason(call.exposure, HomeAssistantError(failed[path]))}"
        else:
            words = _REASONS.get(ended, f"ended early at {last_place(run['trace'])}, where a condition was not met")
        found[entity_id if call.exposure.is_exposed(entity_id) else f"{ENDING_DOMAINS[domain]} that is not exposed"] = (
            words
        )
    return found


def last_place(paths: Iterable[str]) -> str:
    """Return the last step that was begun."""
    steps = [path for path in paths if not _PARTS.search(path)]
    return place_of(steps[-1]) if steps else "its beginning"


def place_of(path: str) -> str:
    """Return a path of a trace as the place in the sequence as it was given."""
    place = "sequence"
    parts = path.removeprefix("sequence/").split("/")
    for index, part in enumerate(parts):
        if part.isdigit():
            repeated = parts[max(index - 2, 0) : index] == ["repeat", "sequence"]
            place += f"[{max(int(part) - repeated, 0)}]"
        else:
            place += f".{part}"
    return place
