"""Undo of adding, changing or removing an automation, script or scene."""

import asyncio
from typing import Any

from homeassistant.const import CONF_ID
from homeassistant.util.json import JsonObjectType

from ..automations.check import MAX_NAME
from ..automations.config_includes import include_problem
from ..automations.describe import DESCRIBERS, diff, parts_of, shown
from ..automations.file import try_change
from ..automations.loading import FILES
from ..automations.query import exposed_automation, visible_block
from ..automations.revert import ChangedSinceError
from ..automations.secret_values import SecretValues, read_secrets
from ..automations.store import UNSEEN, ConfigStore, async_get_store
from ..automations.yaml_positions import index_yaml, load_automation
from ..calls.call import ToolCall
from ..calls.journal import Change
from ..calls.plan import Plan, Step
from ..calls.policy import Tier, async_check_speaker
from ..const import DOMAIN
from ..results import OverError, ToolError

_TELL = "Tell the user"
_AGAIN = "Once that is set back, undo again; if it is undone again as it is now, this change is given up."
_GIVEN_UP = (
    "It is given up: the change before this one is the last one from here on. If the user still wants it taken back, change it "
    "with the tools for automations."
)


async def async_undo_automation(call: ToolCall, change: Change) -> tuple[JsonObjectType, bool]:
    """Write an automation, script or scene as it was before the change.

    Raises OverError if it is gone or hidden, or if a second undo meets the same conflict with a later change, and
    ToolError if it was not undone.
    """
    await async_check_speaker(call.hass, call.options.policy, Tier.ADMINISTER, call.caller)
    store, details = async_get_store(call.hass, FILES[change.kind]), change.details
    if not _is_seen(call, change):
        raise OverError(f"The {change.kind} of the last change is gone or not exposed any more, so nothing was undone.")
    if problem := await call.hass.async_add_executor_job(include_problem, store.path.parent, change.kind):
        raise ToolError(problem)
    try:
        made = await store.async_restore(call, change)
    except ChangedSinceError as err:
        if details.get("refused") == str(err):
            raise OverError(f"{err} {_GIVEN_UP}") from err
        details["refused"] = str(err)
        told = str(err) if _TELL in str(err) else f"{err} {_TELL}."
        raise ChangedSinceError(f"{told} {_AGAIN}") from err
    answer: JsonObjectType = {
        "undone": {
            made.entity_id or details["id"]: "removed again" if details["before"] is None else "as it was before"
        }
    }
    return answer | ({"note": made.problem} if made.problem else {}), True


async def async_plan_undo_automation(call: ToolCall, change: Change) -> Plan | None:
    """Return the plan for undoing a change, with the lines that change; None if it cannot be described.

    Later changes of others in the same item would stay, so the plan shows them as they are now. Raises ToolError if the
    file cannot be changed at all.
    """
    await call.exposure.async_prepare()
    if not _is_seen(call, change):
        return None
    store = async_get_store(call.hass, FILES[change.kind])
    blocks, secrets = await call.hass.async_add_executor_job(_blocks, store, change)
    after, before = (_read(block, change.kind) for block in blocks)
    if (now := before or after) is None or (before is None) != (blocks[1] is None):
        return None
    hidden = SecretValues(call.exposure, [before, after], secrets)
    told = visible_block(call, now, hidden)
    await asyncio.sleep(0)  # Each call takes long if there are thousands of names.
    others = visible_block(call, after, hidden) if after and before else None
    await asyncio.sleep(0)
    lines = diff(others if before else told, told if before else None)
    verb = "Change back" if before and after else "Bring back" if before else "Remove again"
    name = str(told.get("alias") or told.get("name") or change.details["id"])
    title = f"{verb} the {change.kind} '{name if len(name) <= MAX_NAME else f'{name[: MAX_NAME - 1]}…'}'"
    account = f"{title}: {DESCRIBERS[change.kind](call.hass, call.exposure).describe(told)}"
    parts = parts_of(call, change.kind, now, told=told, runs=before is not None)
    step = Step(f"{DOMAIN}.undo", (), {}, account, title=title, parts=parts, shown=shown(lines))
    return Plan((step,), account, is_whole=False, bound_to=change.id)


def _is_seen(call: ToolCall, change: Change) -> bool:
    """Return whether the added or changed item is exposed; also True if it was removed or was never to be exposed."""
    details = change.details
    if details["after"] is None or details.get(UNSEEN):
        return True
    return exposed_automation(call, details["id"], change.kind) is not None


def _blocks(store: ConfigStore, change: Change) -> tuple[list[str | None], set[str]]:
    """Return the current lines, the lines after the undo, and the user's secret values. Reads files, so it blocks."""
    details, secrets = change.details, read_secrets(store.path.parent)
    if problem := include_problem(store.path.parent, change.kind):
        raise ToolError(problem)
    try:
        edit = try_change(store.path, store.undoing(change))
    except ChangedSinceError:  # The undo itself will report the conflict.
        return [details.get("after"), details.get("before")], secrets
    return [edit.before, edit.after], secrets


def _read(block: str | None, kind: str) -> dict[str, Any] | None:
    """Parse one item from its lines and return it without its id; None without lines, or if the lines do not parse."""
    if block is None:
        return None
    try:
        index = index_yaml(block, kind)
        (item,) = index.automations
        config = load_automation(index, item)
    except ToolError, ValueError:
        return None
    config.pop(CONF_ID, None)
    return config
