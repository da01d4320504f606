"""Decide whether a call needs the user's confirmation, and whether anybody can give it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from homeassistant.components.conversation import ChatLog, UserContent
from homeassistant.const import ATTR_DEVICE_CLASS
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.util.ulid import ulid_to_bytes_or_none

from ..calls.call import ToolCall
from ..calls.caller import Caller
from ..calls.plan import Plan, Step
from ..calls.policy import NotHereError
from ..const import DOMAIN
from ..exposure.domains import WITH_ENTITIES
from ..repair_issues.entries import NOBODY_TO_ASK, async_raise_entry_issue
from ..results import texts_in
from .consequential import CONSEQUENTIAL_DOMAINS, TRIGGER, Leaf, counts, judged_leaves, leaves
from .mentions import Said, is_named, is_said
from .untrusted_text import marks, was_heard
from .wording import Item, names_of, say, spoken_list

ASK_LATER: Final = f"{DOMAIN}.ask_later"
"""The scheduled question to an agent; it counts as outward, as its conversation does not show who chose the words."""
_TASKS: Final = "ai_task"
_GUARDS: Final = CONSEQUENTIAL_DOMAINS - {"cover", "valve"}
"""Domains whose undo is consequential. Opening an entrance is checked as an action of its own."""
_OUTWARD: Final = frozenset({"conversation", "image", "mail", "notify", "stt"})
"""Domains whose actions can send text to somebody outside the house."""
HOUSE: Final = (WITH_ENTITIES - _OUTWARD) | {"homeassistant", "intent", "persistent_notification", DOMAIN}
"""Domains whose actions stay in the house."""

_WRITE_LISTS: Final = frozenset(
    {"calendar.create_event", "intent.HassListAddItem", "todo.add_item", "todo.update_item"}
)
_WRITTEN_WORDS: Final = frozenset({"description", "item", "location", "rename", "summary"})
_LOCAL_LISTS: Final = frozenset({"local_calendar", "local_todo", "shopping_list"})
"""Integrations whose lists and calendars stay in the house."""
_READING: Final = frozenset({"calendar.get_events", "schedule.get_schedule", "todo.get_items", "weather.get_forecasts"})
"""Actions that only return a response and send their arguments to nobody outside."""

_NO_CHAT: Final = (
    "This needs the user's own word, and there is no conversation in which to give it. It can be done by asking a "
    "conversation agent, or an administrator can allow it in the options of Extended Assist."
)
_NO_ANSWER: Final = (
    "This needs the user's own word, and nobody can give it here: an automation or a task has asked for it. It was not "
    "done. An administrator can allow it; a notice in Home Assistant under Settings, Repairs says how."
)
_HEARD_OUTSIDE: Final = (
    "This is not done within half an hour after text that strangers may have written was read, because there is no user here "
    "to ask. Tell the user; they can do it in the app, or by asking a conversation agent."
)


class ReasonKey(StrEnum):
    """The kinds of reasons."""

    ASK_FIRST = "ask_first"
    CONSEQUENTIAL = "consequential"
    OUTSIDE = "outside"


@dataclass(frozen=True, slots=True)
class Reason:
    """The reason why a call needs confirmation."""

    key: ReasonKey


async def async_reason_to_ask(call: ToolCall, plan: Plan) -> Reason | None:
    """Return the reason why a call needs confirmation, or None if it needs none.

    Raises NotHereError if it needs one and nobody can be asked, unless the options allow the call. Without a
    conversation, a consequential or outward call soon after untrusted text always raises it.
    """
    caller = call.caller
    is_consequential, is_outward = _is_consequential(call, plan), goes_out(call, plan)
    if caller.chat_log is None and (is_consequential or is_outward) and _is_wary(call):
        raise NotHereError(_HEARD_OUTSIDE)
    if call.asks_first:
        reason = Reason(ReasonKey.ASK_FIRST)
    elif is_consequential:
        reason = Reason(ReasonKey.CONSEQUENTIAL)
    elif marks(caller.chat_log) and (is_outward or not is_named(call, _moving(plan))):
        reason = Reason(ReasonKey.OUTSIDE)
    else:
        return None
    if can_be_asked(caller):
        return reason
    if call.options.policy.allow_without_chat:
        return None
    if caller.chat_log is None:
        raise NotHereError(_NO_CHAT)
    if call.options.entry_id is not None and not call.options.policy.ask_on_phones:
        async_raise_entry_issue(call.hass, NOBODY_TO_ASK, call.options.entry_id)
    raise NotHereError(_NO_ANSWER)


def _moving(plan: Plan) -> Plan:
    """Return the plan without steps that only read."""
    return replace(plan, steps=tuple(step for step in plan.steps if step.action not in _READING))


def can_be_asked(caller: Caller) -> bool:
    """Return whether a user can answer a question: not in an AI task, nor in a one-message call by an automation."""
    if (chat_log := caller.chat_log) is None or caller.assistant == _TASKS:
        return False
    if caller.user_id is not None or caller.device_id is not None:
        return True
    spoken = sum(isinstance(content, UserContent) for content in chat_log.content)
    # A caller that chooses the conversation id, such as a messenger bot, means to continue the conversation.
    return spoken > 1 or ulid_to_bytes_or_none(caller.conversation_id) is None


@callback
def goes_out(call: ToolCall, plan: Plan) -> bool:
    """Return whether a plan can send data out of the house: messages, web addresses, shared lists, open-world tools."""
    if plan.steps and not any(step.action for step in plan.steps):
        return call.is_open
    if could_tell(call):
        return True
    caller, known = call.caller, call.caller.last_message or ""
    for step in plan.steps:
        for action, entity_id, _ in leaves(call.hass, step):
            if action == ASK_LATER or (action and action.partition(".")[0] not in HOUSE):
                return True
            if action in _WRITE_LISTS and _is_shared(call.hass, entity_id):
                # The fields of a script are unknown, so each of them may be the text that it writes.
                written = {key: step.data[key] for key in _WRITTEN_WORDS & step.data.keys()}
                if not _says(caller.chat_log, written if action == step.action else step.data):
                    return True
        for text, _ in texts_in(step.data):
            if "://" in text and not text.startswith("media-source://") and text not in known:
                return True
    return False


@callback
def _is_shared(hass: HomeAssistant, entity_id: str) -> bool:
    """Return whether people outside the house may be able to read a list or calendar."""
    entry = er.async_get(hass).async_get(entity_id)
    return entry is None or entry.platform not in _LOCAL_LISTS


@callback
def _says(chat_log: ChatLog | None, written: Mapping[str, Any]) -> bool:
    """Return whether the user said the text to be written, or no untrusted text could have chosen it."""
    return chat_log is None or not marks(chat_log) or is_said(chat_log, written)


@callback
def could_tell(call: ToolCall) -> bool:
    """Return whether the tool sends out arguments that untrusted text may have chosen.

    This is so if the conversation holds untrusted text and the user did not say all arguments. Without a conversation,
    it is so if the caller got untrusted text recently, unless the options allow calls without a conversation.
    """
    if not call.sends or call.options.is_fixed:
        return False
    caller = call.caller
    if caller.chat_log is None:
        return was_heard(call.hass, caller) and not call.options.policy.allow_without_chat
    return marks(caller.chat_log) and not is_said(caller.chat_log, call.arguments)


@callback
def _is_consequential(call: ToolCall, plan: Plan) -> bool:
    """Return whether a plan is consequential by the table and the options `always_ask` and `never_ask`."""
    tool = _tool_name(call)
    if tool in call.options.policy.always_ask or any(_does_so(call, step, plan) for step in plan.steps):
        return True
    # An incomplete plan of one of our own tools, whose names have the prefix, may do anything. For tools of other
    # integrations an incomplete plan is normal.
    return not plan.is_whole and tool != _call_name(call) and tool not in call.options.policy.never_ask


@callback
def items_of(call: ToolCall, plan: Plan, lines: list[str]) -> list[Item]:
    """Return one item for each effect of a plan, marked if the user must hear it before a yes counts."""
    # Untrusted text in the conversation may have chosen each of the steps.
    all_matters = marks(call.caller.chat_log)
    items = [] if plan.steps else [Item(plan.sentence, matters=True)]
    for step, line in zip(plan.steps, lines, strict=False):
        if not step.parts:
            items.append(Item(line, all_matters or not plan.is_whole or matters(call, step, plan)))
            continue
        found = [any(matters(call, act, plan) for act in part.acts) for part in step.parts]
        items += [
            Item(part.words, all_matters or does or (part.says_when and any(found[number:])))
            for number, (part, does) in enumerate(zip(step.parts, found, strict=True))
        ]
    return items


def matters(call: ToolCall, step: Step, plan: Plan) -> bool:
    """Return whether a yes counts only after the user heard this step: it is consequential or its action is unknown."""
    return not step.action or _does_so(call, step, plan)


async def async_remark(call: ToolCall, plan: Plan, language: str, *, is_read: bool = True) -> str:
    """Return the plan's remark, and for a written question a hint about covers that have no device class."""
    remarks = [await plan.remark(language)] if plan.remark else []
    if is_read and (covers := covers_without_kind(call, plan)):
        remarks.append(say("without_kind", language, names=spoken_list(names_of(call.exposure, covers))))
    return " ".join(remarks)


def covers_without_kind(call: ToolCall, plan: Plan) -> list[str]:
    """Return the covers for which a plan asks only because they have no device class, so that the user can set one."""
    if call.asks_first or _is_wary(call):
        return []
    listed = call.options.policy.always_ask
    asking = [step for step in plan.steps if _does_so(call, step, plan)]
    found = dict.fromkeys(entity_id for step in asking for entity_id in without_kind(call.hass, step))
    return [entity_id for entity_id in found if not _names(Step("", (entity_id,))) & listed]


def _is_wary(call: ToolCall) -> bool:
    """Return whether untrusted text is in the conversation, or without one, was read by the caller recently."""
    chat_log = call.caller.chat_log
    return was_heard(call.hass, call.caller) if chat_log is None else marks(chat_log)


@callback
def without_kind(hass: HomeAssistant, step: Step) -> list[str]:
    """Return the covers that a step opens and that ask only because they have no device class."""
    return [
        leaf[1]
        for leaf, later in judged_leaves(hass, step)
        if leaf[1].startswith("cover.")
        and (state := hass.states.get(leaf[1])) is not None
        and not state.attributes.get(ATTR_DEVICE_CLASS)
        and counts(hass, leaf, is_later=later)
    ]


def _does_so(call: ToolCall, step: Step, plan: Plan) -> bool:
    """Return whether a step is consequential by the table and the options `always_ask` and `never_ask`."""
    never, always = call.options.policy.never_ask, call.options.policy.always_ask
    for one in [replace(step, entity_ids=(entity_id,)) for entity_id in step.entity_ids] or [step]:
        names = _names(one)
        # What a step before this one did is not known yet.
        judged = judged_leaves(call.hass, one, is_after=step is not plan.steps[0])
        found = [(_names(Step(leaf[0], (leaf[1],))), leaf, later) for leaf, later in judged]
        if names & always or any(inner & always for inner, *_ in found):
            return True
        # An option that exempts automation.trigger in general does not exempt the actions of one automation.
        if names & never and (one.action != TRIGGER or never & {*one.entity_ids}):
            continue
        if one.action == f"{DOMAIN}.undo" and names & CONSEQUENTIAL_DOMAINS:
            return True
        if plan.bound_to and names & _GUARDS:
            return True  # Undo counts in both directions.
        if one.action and any(
            _counts(call, leaf, is_later=later) and not inner & never for inner, leaf, later in found
        ):
            return True
    return False


def _counts(call: ToolCall, leaf: Leaf, *, is_later: bool) -> bool:
    """Return whether one action of a step is consequential.

    A shutter may close a garage. After untrusted text it counts as an entrance, unless the user's last message is about
    covers.
    """
    trusts_shutters = True
    if leaf[1].startswith("cover.") and _is_wary(call):
        trusts_shutters = Said(call.caller.last_message or "").has_kind("cover")
    return counts(call.hass, leaf, is_later=is_later, trusts_shutters=trusts_shutters)


def _names(step: Step) -> set[str]:
    """Return the names under which the options can list a step: action, domains and entity ids."""
    places = {entity_id.partition(".")[0] for entity_id in step.entity_ids}
    return {step.action, step.action.partition(".")[0], *step.entity_ids, *places} - {"", "homeassistant"}


def _call_name(call: ToolCall) -> str:
    return call.tool_input.tool_name if call.tool_input else ""


def _tool_name(call: ToolCall) -> str:
    """Return the tool's name without our prefix, as the options store it."""
    return _call_name(call).removeprefix(f"{DOMAIN}__")
