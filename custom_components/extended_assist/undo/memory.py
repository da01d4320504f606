"""Undo of remembering, replacing or forgetting a fact."""

from dataclasses import replace

from homeassistant.util.json import JsonObjectType, JsonValueType

from ..calls.call import ToolCall
from ..calls.journal import Change
from ..calls.plan import Plan, Step
from ..confirmation.untrusted_text import async_are_others, marked
from ..const import DOMAIN
from ..memory.fact import Fact
from ..memory.ownership import async_check_ears, async_check_writer
from ..memory.references import is_told
from ..memory.store import Memory, async_get_memory
from ..results import OverError, ToolError

_OVER = "What was remembered or forgotten then is deleted for good. Undo again for the change before."
_FORGOTTEN = "The fact that was changed then is forgotten since. Undo that first, or call remember with its words."
_NOT_YOURS = "The last change here was of what somebody else wanted remembered. Only they can take it back."


async def async_undo_fact(call: ToolCall, change: Change) -> tuple[JsonObjectType, bool]:
    """Forget the facts that the change added, and restore those that it ended; a fact changed in place keeps its id.

    Raises OverError if the facts are deleted, and ToolError if they belong to others or were forgotten since.
    """
    memory = await async_get_memory(call.hass)
    added, ended = await _async_facts(call, memory, change)
    if change.details.get("in_place"):
        (past,) = ended
        restored = replace(past, id=added[0].id, ended=None, replaced_by=None)
        if await memory.async_replace(restored, past.id) is None:
            raise OverError(_OVER)
    else:
        await memory.async_end([fact.id for fact in added], [fact.id for fact in ended])
    undone: dict[str, JsonValueType] = {}
    for key, facts in (("forgotten", added), ("remembered_again", ended)):
        if words := _words(call, facts):
            undone[key] = [*words]
    return marked({"undone": undone}, when=await _async_are_others(call, *added, *ended)), True


async def async_plan_undo_fact(call: ToolCall, change: Change, sentence: str) -> Plan:
    """Return the plan for undoing a change of facts; raises as `async_undo_fact` does."""
    added, ended = await _async_facts(call, await async_get_memory(call.hass), change)
    steps = [
        Step(f"{DOMAIN}.{action}", (), {field: f'"{words}"'}, f'{verb}: "{words}"')
        for action, field, verb, facts in (
            ("forget", "ids", "Forget", added),
            ("remember", "words", "Remember again", ended),
        )
        # Other users may be asked for approval, and must not see a user's own facts.
        for words in _words(call, [fact for fact in facts if fact.user_id is None])
    ]
    if any(fact.user_id is not None for fact in (*added, *ended)):
        steps.append(Step(f"{DOMAIN}.undo", (), {}, sentence))
    return Plan(tuple(steps), sentence, bound_to=change.id, has_free_text=await _async_are_others(call, *added, *ended))


async def _async_are_others(call: ToolCall, *facts: Fact) -> bool:
    """Return whether another user wrote one of the facts, which makes its words untrusted text for this user."""
    return await async_are_others(call.hass, call.caller.user_id, [fact.author for fact in facts])


async def _async_facts(call: ToolCall, memory: Memory, change: Change) -> tuple[list[Fact], list[Fact]]:
    """Return the facts that a change added and that still hold, and the facts that it ended and that are still ended.

    Raises OverError if there are none, and ToolError if the caller may not read or change one of them.
    """
    writer = await async_check_writer(call.hass, call.caller, call.options)
    ears = await async_check_ears(call.hass, call.caller, call.options)
    added, ended = (
        [fact for one in ids if one and (fact := memory.find(one)) and (fact.ended is None) is holds]
        for ids, holds in (([change.details.get("added")], True), (change.details.get("ended", ()), False))
    )
    if not added and not ended:
        raise OverError(_OVER)
    if change.details.get("in_place") and not (added and ended):
        raise ToolError(_FORGOTTEN) if ended else OverError(_OVER)
    if not all(ears.hears(fact) and writer.may_change(fact) for fact in (*added, *ended)):
        raise ToolError(_NOT_YOURS)
    return added, ended


def _words(call: ToolCall, facts: list[Fact]) -> list[str]:
    """Return the words of facts; a fact about a hidden entity is replaced by a neutral text."""
    return [fact.words if is_told(call.hass, call.exposure, fact) else "one about what is hidden" for fact in facts]
