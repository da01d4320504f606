"""Ask an authorised user to approve a call that the speaker may not make or cannot confirm.

The tool result names at once the people who were asked. A yes releases exactly the plan that was shown, once, in a
context of the user who agreed. Requests are not kept over a restart.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from contextvars import Context as ContextVariables
from dataclasses import dataclass, replace
from time import monotonic
from typing import Final, Protocol

import voluptuous as vol

from homeassistant.auth.models import User
from homeassistant.core import Context, HomeAssistant, callback
from homeassistant.helpers import area_registry as ar, device_registry as dr, llm
from homeassistant.util.hass_dict import HassKey

from ..calls.activity import ActivityKind, only_tells, tell
from ..calls.background_calls import BackgroundCall, tell_later
from ..calls.call import ToolCall
from ..calls.caller import Caller
from ..calls.change_recorder import Recording
from ..calls.options import ToolboxOptions
from ..calls.plan import Plan
from ..calls.policy import NotAllowedError, NotHereError, Tier, async_check_speaker
from ..calls.visible_text import one_line, quoted
from ..const import DOMAIN
from ..exposure.entities import Exposure
from ..exposure.safe_log import log_unexpected
from ..results import ToolError
from .confirmation_reason import matters
from .consequential import are_alike
from .phone_approval import PhoneAnswer, async_can_ask, async_first_answer, can_be_shown, has_room
from .question import SAID_NO, has_said_no
from .recheck import async_check_user, check_apis, current_options, digest, selected_apis
from .satellites import async_announce
from .untrusted_text import MEMORY, OwnResult
from .wording import async_lines, names_of, say, spoken_list

WATCHED: Final = 10.0
"""Seconds after which the asker gets a report about an approved call, even if the call still runs."""

_MAX_NAMED: Final = 5
"""Maximum number of actions that the report of an outcome names."""
_MAX_REFUSED: Final = 100
_ASKED: Final = (
    "Nothing was done yet. Asked on the phone: {names}. It is done by itself once they agree, within three minutes, and the "
    "user hears of it. Do not call again or in another way; tell the user who was asked."
)
_TOO_MANY: Final = (
    "Those who may agree to this have too many questions open on their phones. Nothing was done; tell the user."
)
_CHANGED: Final = "It is not as it was asked any more."


class AskingTool(Protocol):
    """A tool whose calls another user can approve."""

    async def async_plan(self, call: ToolCall) -> Plan:
        """Return the plan of a call in the current state of the home."""

    def current_options(self, hass: HomeAssistant) -> ToolboxOptions:
        """Return the current options; raise ToolError if the tool is not available any more."""


type Act = Callable[[ToolCall], Coroutine[None, None, llm.ToolResult]]


@dataclass(frozen=True, slots=True)
class _Refused:
    """A plan that a user refused, and the conversation in which it was asked about."""

    conversation: tuple[str | None, ...]
    plan: Plan
    time: float


_OPEN: HassKey[dict[tuple[str | None, ...], str]] = HassKey(f"{DOMAIN}_open_calls")
"""For each call that waits for approval, the names of the users who were asked."""
_REFUSED: HassKey[deque[_Refused]] = HassKey(f"{DOMAIN}_refused_calls")


async def async_ask_others(call: ToolCall, refusal: NotHereError, tool: AskingTool, act: Act) -> llm.ToolResult:
    """Ask the users named in the options to approve a call that acts; return at once a result that names them.

    The outcome is reported later. Raises the refusal if none of these users may approve the call or can be asked.
    """
    hass, caller = call.hass, call.caller
    may_hear = await _async_may(call, Tier.READ, caller)
    approvers = await async_approvers(call)
    if not approvers:
        raise refusal
    try:
        plan = await tool.async_plan(call)
    except ToolError:
        if may_hear:
            raise
        raise refusal from None
    call.recording.plan, now = plan, digest(hass, plan)
    question = await async_question(call, plan, hass.config.language)
    # The answer of a plan that only reads would go to a speaker who may not read it.
    if only_tells(hass, plan) or not can_be_shown(question):
        raise refusal
    if has_said_no(call, plan) or _was_refused(call, plan):
        raise NotAllowedError(SAID_NO)
    # No await from here on, because the calls of one message run in parallel.
    open_calls = hass.data.setdefault(_OPEN, {})
    key = (call.options.entry_id, caller.assistant, caller.user_id, caller.device_id, _name(call), plan.fingerprint())
    if key not in open_calls:
        users = [user for user in approvers if has_room(hass, user.id)]
        if not users:
            raise ToolError(_TOO_MANY)
        open_calls[key] = spoken_list([quoted(str(user.name)) for user in users])
        waiting = _async_wait(
            _Asked(call, plan, act, tool, key, may_hear=may_hear, digest=now, apis=selected_apis(hass, call.agent)),
            users,
            question,
        )
        # The new context keeps the later call out of the conversation in which it was requested.
        ContextVariables().run(hass.async_create_background_task, waiting, f"{DOMAIN} asks from afar")
    return OwnResult(data={"done": False, "next": _ASKED.format(names=open_calls[key])})


async def async_approvers(call: ToolCall) -> list[User]:
    """Return the users named in the options who may make the call themselves and have a phone."""
    users = [await call.hass.auth.async_get_user(user_id) for user_id in sorted(call.options.policy.ask_on_phones)]
    return [
        user
        for user in users
        if user is not None
        and await _async_may(call, call.tier, _as_user(call.caller, user.id))
        and await async_can_ask(call.hass, user.id)
    ]


async def async_agreed(call: ToolCall, user_id: str) -> ToolCall:
    """Return the call as a call of the user who agreed: in a new context, with the current options and exposure.

    Raises ToolError if the config entry is not loaded any more, or if the user may not make or approve the call.
    """
    options = current_options(call.hass, call.options, call.family)
    await async_check_user(call.hass, call.caller)
    if user_id != call.caller.user_id and user_id not in options.policy.ask_on_phones:
        raise NotAllowedError(_CHANGED)
    caller = _as_user(call.caller, user_id)
    await async_check_user(call.hass, caller)
    await async_check_speaker(call.hass, options.policy, call.tier, caller)
    exposure = Exposure(call.hass, caller.assistant, options.external_statistics)
    recording = Recording(call.recording.what, is_told=call.recording.is_told)
    return replace(call, caller=caller, options=options, exposure=exposure, recording=recording)


def _as_user(caller: Caller, user_id: str) -> Caller:
    """Return a caller for a user, outside the conversation and in a new child context."""
    outer = caller.context
    context = Context(user_id=user_id, parent_id=(outer.parent_id or outer.id) if outer else None)
    return Caller(replace(caller.llm_context, context=context), None, caller.conversation_id)


async def async_question(call: ToolCall, plan: Plan, language: str | None, *, names_asker: bool = True) -> str:
    """Return the question for a plan: who wants it and the full text of each step, consequential steps first."""
    lines = await async_lines(call.hass, call.exposure, plan, language)
    if len(plan.steps) > 1:
        # Long harmless steps must not push a consequential one off the screen.
        steps = zip(plan.steps, lines, strict=True)
        lines = [line for _, line in sorted(steps, key=lambda item: not matters(call, item[0], plan))]
    asker = [say("wants", language, who=await _async_asker(call))] if names_asker else []
    written = "\n".join([*asker, *lines])
    return "\n".join(line for line in written.splitlines() if line.strip())


async def _async_asker(call: ToolCall) -> str:
    """Return the text for the asker: the user's name, and the device spoken to with its area."""
    hass, caller = call.hass, call.caller
    user = await caller.async_user(hass)
    who = [user.name if user is not None else None]
    if caller.device_id and (device := dr.async_get(hass).async_get(caller.device_id)):
        area = ar.async_get(hass).async_get_area(device.area_id or "")
        who += [device.name_by_user or device.name, area.name if area else None]
    return ", ".join(quoted(name) for name in who if name and one_line(name)) or say("somebody", hass.config.language)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A call that waits for approval on a phone."""

    call: ToolCall
    plan: Plan
    act: Act
    tool: AskingTool
    key: tuple[str | None, ...]
    may_hear: bool
    """Whether the asker may read about the home."""
    digest: str
    """The digest of the plan when the users were asked."""
    apis: frozenset[str]
    """The APIs that the calling agent had."""


async def _async_wait(asked: _Asked, users: list[User], question: str) -> None:
    """Wait for an answer, run the plan if it was approved, and report the outcome to the asker."""
    hass, language = asked.call.hass, asked.call.llm_context.language
    name = say("somebody", language)
    begun: BackgroundCall | None = None
    reason = ""
    try:
        answer = await async_first_answer(hass, [user.id for user in users], question)
        name = next((quoted(str(user.name)) for user in users if answer and user.id == answer.user_id), name)
        key, begun, reason = await _async_answered(asked, answer)
    except Exception:  # noqa: BLE001 - nobody waits for it
        log_unexpected("in what was asked from afar")
        key = "failed"
    finally:
        del hass.data[_OPEN][asked.key]
    await _async_tell(asked, say(key, language, name=name), say(key, "en", name=name), begun, reason)


async def _async_answered(asked: _Asked, answer: PhoneAnswer | None) -> tuple[str, BackgroundCall | None, str]:
    """Run the plan if it was approved; return the text key of the outcome, the started call, and an error text."""
    call = asked.call
    if answer is None:
        return "silent", None, ""
    if not answer.agreed:
        refused = call.hass.data.setdefault(_REFUSED, deque(maxlen=_MAX_REFUSED))
        refused.append(_Refused(call.caller.conversation_key, asked.plan, monotonic()))
        tell(call, ActivityKind.REFUSED)
        return "refused", None, ""
    try:
        async with asyncio.timeout(WATCHED):
            agreed = await _async_released(asked, answer.user_id)
    except (ToolError, TimeoutError, vol.Invalid) as err:
        return "outdated", None, str(err) or "it took too long to be checked."
    task = call.hass.async_create_background_task(asked.act(agreed), f"{DOMAIN} call")
    await asyncio.wait({task}, timeout=WATCHED)
    if task.done() and (task.cancelled() or task.result().error):
        key = "failed"
    else:
        is_seen = task.done() and all(act.is_seen(call.hass) for act in agreed.recording.acts.values())
        key = "agreed" if is_seen else "unsure"
    return key, BackgroundCall(agreed, _name(call), task), ""


async def _async_released(asked: _Asked, user_id: str) -> ToolCall:
    """Return the call of the user who agreed; raise ToolError if the call or its conditions have changed."""
    hass = asked.call.hass
    asked.tool.current_options(hass)
    check_apis(hass, asked.call.agent, asked.apis)
    agreed = await async_agreed(asked.call, user_id)
    if digest(hass, await asked.tool.async_plan(agreed)) != asked.digest:
        raise ToolError(_CHANGED)
    agreed.recording.is_agreed, agreed.recording.plan = True, asked.plan
    return agreed


async def _async_tell(asked: _Asked, spoken: str, words: str, begun: BackgroundCall | None, reason: str) -> None:
    """Report the outcome to the asker: on the satellite that was spoken to, otherwise with the next message."""
    call, caller = asked.call, asked.call.caller
    if await async_announce(call.hass, caller.device_id, spoken, Context(user_id=caller.user_id)):
        return

    def told(exposure: Exposure) -> str:
        # The data of the steps may hold untrusted text, and a note cannot carry the mark for it.
        steps = asked.plan.steps[:_MAX_NAMED] if asked.may_hear else ()
        names = [f"{step.action} {spoken_list(names_of(exposure, step.entity_ids))}".strip() for step in steps]
        more = f" {begun.told(exposure)}" if begun is not None and asked.may_hear else ""
        if reason and asked.may_hear and not exposure.names_hidden(reason):
            more = f" The reason: {reason}"
        return f"Somebody was asked about {'; '.join([_name(call), *names])}. Tell the user: {words}{more}"

    tell_later(call.hass, caller, told)


async def _async_may(call: ToolCall, tier: Tier, caller: Caller) -> bool:
    """Return whether a caller may use tools of a tier without approval."""
    try:
        await async_check_speaker(call.hass, call.options.policy, tier, caller)
    except NotAllowedError:
        return False
    return True


@callback
def _was_refused(call: ToolCall, plan: Plan) -> bool:
    """Return whether a user refused this plan, or a part of it, in the same conversation."""
    refused = call.hass.data.get(_REFUSED, ())
    return any(
        one.conversation == call.caller.conversation_key
        and (call.caller.conversation_id is not None or monotonic() - one.time < MEMORY)
        and are_alike(call.hass, one.plan, plan)
        for one in refused
    )


def _name(call: ToolCall) -> str:
    return call.tool_input.tool_name if call.tool_input else ""
