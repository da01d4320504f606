"""Run the actions of a scheduled task and verify their outcome, because nobody waits for the answer."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from homeassistant.components.script.const import DOMAIN as SCRIPT_DOMAIN
from homeassistant.const import STATE_ON
from homeassistant.core import HomeAssistant, SupportsResponse

from ..actions.check import ResolvedAction, async_check_action
from ..actions.perform import async_perform, planned_steps
from ..actions.run import SequenceEnd, SequenceRun
from ..actions.sequences import SequenceWalker
from ..calls.activity import ActivityKind, tell
from ..calls.call import ToolCall
from ..calls.change_recorder import Act, async_until, recording
from ..calls.desired_states import Status, is_set, status_of
from ..calls.journal import async_get_journal
from ..calls.options import ToolboxOptions
from ..calls.outcome import reported_acts
from ..calls.plan import Plan
from ..calls.policy import NotAllowedError
from ..calls.settable_attributes import STATE
from ..confirmation.approval_requests import async_agreed, async_approvers, async_question
from ..confirmation.confirmation_reason import async_reason_to_ask
from ..confirmation.phone_approval import VALID, NoRoomError, async_can_ask, async_first_answer
from ..confirmation.recheck import are_agreed, bound, digest
from ..confirmation.wording import step_for
from ..exposure.entities import Exposure
from ..results import ToolError
from .lifecycle import Performed
from .parts import targets_of
from .run import StoppedError, TaskRun
from .scheduled_task import Owner, ScheduledTask
from .tool_call import HIDDEN, NotDoneError, async_valid_call
from .triggers import async_holds

type Performer = Callable[[HomeAssistant, Owner, Mapping[str, Any], ToolboxOptions], Awaitable[str]]
"""Does what was kept for later under a name of its own, with its data, and says what happened; raises ToolError."""
type Performers = Mapping[str, Performer]

_PATIENCE: Final = VALID + 20
"""Seconds that what comes due together with much else waits to be asked about: those asked first are over by then."""
_ANOTHER: Final = "another device has the id of the one that was meant. Ask the user, and cancel this or make it anew."
RUN_TIME: Final = 300.0
"""Seconds that a sequence may take when it is due: nobody waits for it, but it is not kept over a restart."""
_ENDS: Final[Mapping[SequenceEnd, str]] = {
    SequenceEnd.EARLY: "ended_early",
    SequenceEnd.FAILED: "failed_partly",
    SequenceEnd.OVER: "failed_partly",
    SequenceEnd.HIDDEN: "hidden_partly",
}
"""The keys of the words about sequences that did not come to their end."""
NOTHING: Final = "nothing done: no action in it applied"
_CHANGED: Final = "what was agreed to has changed meanwhile."


async def async_act(call: ToolCall, task: ScheduledTask, performers: Performers, run: TaskRun) -> Performed:
    """Perform the actions of a task, verify them, and return what they came to; raises NotDoneError and StoppedError."""
    steps = task.what.actions
    if not all(map(_is_resolved, steps)):
        return await _async_sequence(
            call, task, run, [_as_step(step) if _is_resolved(step) else step for step in steps]
        )
    results: list[Performed] = []
    for step in steps:
        try:
            await run.async_check()
            results.append(await _async_step(call, task, step, performers, run))
        except NotDoneError as err:
            before = f" Before it: {'; '.join(one.result for one in results)}" if results else ""
            raise NotDoneError(f"{err}{before}", "failed_partly" if before and err.key else err.key) from err
    return await _async_verified(
        call,
        task,
        run,
        "; ".join(one.result for one in results),
        next((one.key for one in results if one.key), ""),
        is_whole=all(one.is_known for one in results),
    )


async def _async_verified(
    call: ToolCall, task: ScheduledTask, run: TaskRun, result: str, key: str, *, is_whole: bool
) -> Performed:
    """Return the outcome of actions, once the entities tell it; with a key, it is known already that not all was done."""
    verifying = async_verify(call.hass, str(call.llm_context.assistant), run.acts, is_whole=is_whole)
    verdict = await run.async_unless_stopped(verifying)
    exposure = Exposure(call.hass, str(call.llm_context.assistant))
    is_known = verdict.is_known and all(map(exposure.is_exposed, targets_of(task.what.actions)))
    if verdict.missing:
        return Performed(
            f"not all done: {result}; not reached: {', '.join(verdict.missing)}", "not_reached", spoken(verdict.missing)
        )
    if verdict.moving:
        return Performed(
            f"not all done: {result}; still under way: {', '.join(verdict.moving)}", "under_way", spoken(verdict.moving)
        )
    unknown = "" if is_known or key else "; whether it worked cannot be known"
    return Performed(result + unknown, key, is_known=is_known)


async def _async_step(
    call: ToolCall, task: ScheduledTask, step: Mapping[str, Any], performers: Performers, run: TaskRun
) -> Performed:
    """Perform one action on those of its entities that are still exposed."""
    if (perform := performers.get(step["action"])) is not None:
        return Performed(await _async_performed(call, task, step, perform, run), is_known=False)
    entity_ids = step["entity_ids"]
    exposed = [entity_id for entity_id in entity_ids if call.exposure.is_exposed(entity_id)]
    if entity_ids and not exposed:
        raise NotDoneError("none of its entities is exposed any more.", HIDDEN)
    target = {"entity_id": exposed} if step.get("targeted") else {}
    action = await _async_checked(call, step, target)
    plan = _plan_of(call, task, action)
    if (agreed := await _async_agree(call, task, plan, run)) is not None:
        await _async_still(call.hass, task)
        call = agreed
        action = await _async_checked(call, step, target)
        if _plan_of(call, task, action).fingerprint() != plan.fingerprint():
            raise NotDoneError(_CHANGED)
    call.recording.plan = plan
    answer = await _async_recorded(call, action, run)
    acted = {*action.entity_ids}
    is_whole = action.supports_response is SupportsResponse.ONLY or (
        bool(acted) and call.recording.acts.keys() >= acted
    )
    if failures := answer.get("failures"):
        return Performed(f"not all done: {_reports({'entities': failures}).removeprefix(': ')}", "failed_partly")
    if left_out := len(entity_ids) - len(exposed):
        result = f"done{_reports(answer)}; {left_out} not exposed any more"
        return Performed(result, "hidden_partly", is_known=is_whole)
    return Performed(f"done{_reports(answer)}", is_known=is_whole)


def _plan_of(call: ToolCall, task: ScheduledTask, action: ResolvedAction) -> Plan:
    """Return the plan of one action; raises NotDoneError where it would be done to other things than was agreed to."""
    planned = step_for(call, action.name, action.entity_ids, action.data)
    return _same_things(call, task, Plan((planned,), planned.words))


def _same_things(call: ToolCall, task: ScheduledTask, plan: Plan) -> Plan:
    """Return a plan bound to its things; raises NotDoneError where one of them has only the id of what was agreed to."""
    plan = bound(call.hass, plan)
    if any(task.what.things.get(entity_id, thing) != thing for entity_id, thing in plan.things):
        raise NotDoneError(_ANOTHER)
    return plan


async def _async_checked(call: ToolCall, step: Mapping[str, Any], target: Mapping[str, Any]) -> ResolvedAction:
    """Return an action as it may be done now."""
    try:
        return await async_check_action(call, step["action"], dict(target), step.get("data"))
    except ToolError as err:
        raise NotDoneError(str(err), HIDDEN) from err


async def _async_performed(
    call: ToolCall, task: ScheduledTask, step: Mapping[str, Any], perform: Performer, run: TaskRun
) -> str:
    """Let what an entry brings do an action of its own, such as calling a function."""
    call.recording.what = task.name
    await run.async_begin(call.recording)
    try:
        return await perform(call.hass, task.owner, step.get("data") or {}, call.options)
    except ToolError as err:
        raise NotDoneError(str(err)) from err


async def _async_recorded(call: ToolCall, action: ResolvedAction, run: TaskRun) -> Mapping[str, Any]:
    """Perform an action so that it can be undone."""
    journal = await async_get_journal(call.hass)
    call.recording.what = action.name
    await run.async_begin(call.recording)
    tell(call, ActivityKind.ACTED)
    try:
        with recording(call.hass, journal, call.exposure, call.caller, call.recording, entry_id=call.options.entry_id):
            return await async_perform(call, action)
    except ToolError as err:
        tell(call, ActivityKind.FAILED)
        raise NotDoneError(str(err)) from err


async def _async_sequence(
    call: ToolCall, task: ScheduledTask, run: TaskRun, sequence: list[dict[str, Any]]
) -> Performed:
    """Run several steps."""
    walker, walked = await _async_walked(call, sequence)
    plan = _plan_of_sequence(call, task, walker)
    if (agreed := await _async_agree(call, task, plan, run)) is not None:
        await _async_still(call.hass, task)
        call = agreed
        walker, walked = await _async_walked(call, sequence)
        if _plan_of_sequence(call, task, walker).fingerprint() != plan.fingerprint():
            raise NotDoneError(_CHANGED)
    call.recording.what, call.recording.plan = "running a sequence", plan
    journal = await async_get_journal(call.hass)
    await run.async_begin(call.recording)
    tell(call, ActivityKind.ACTED)
    try:
        with recording(call.hass, journal, call.exposure, call.caller, call.recording, entry_id=call.options.entry_id):
            sequence_run = await SequenceRun.async_create(call, walker, walked)
            answer = await sequence_run.async_run(RUN_TIME, run.interrupted)
    except ToolError as err:
        tell(call, ActivityKind.FAILED)
        raise NotDoneError(str(err)) from err
    if sequence_run.end is SequenceEnd.STOPPED:
        raise StoppedError(_reports(answer))
    failures = answer.get("failures")
    failed = f"; failed: {'; '.join(map(str, failures))}" if isinstance(failures, list) else ""
    if (key := _ENDS.get(sequence_run.end)) is not None:
        return Performed(f"not all done: {answer['ended']}{_reports(answer)}{failed}", key)
    if sequence_run.has_left_all_out:
        return Performed(NOTHING, is_cut_short=sequence_run.end is SequenceEnd.STOPPED_ITSELF, is_nothing=True)
    result = f"done{_reports(answer)}"
    done = await _async_verified(call, task, run, result, "", is_whole=sequence_run.is_whole)
    return replace(done, is_cut_short=sequence_run.end is SequenceEnd.STOPPED_ITSELF)


def _plan_of_sequence(call: ToolCall, task: ScheduledTask, walker: SequenceWalker) -> Plan:
    """Return the plan of several steps; raises NotDoneError where it would be done to other things than was agreed to."""
    return _same_things(call, task, Plan(planned_steps(call, walker), task.name, is_whole=not walker.is_open))


async def _async_walked(call: ToolCall, sequence: list[dict[str, Any]]) -> tuple[SequenceWalker, list[dict[str, Any]]]:
    """Return steps as they may be done now, and what has walked them."""
    walker = SequenceWalker(call)
    try:
        return walker, await walker.async_actions(sequence, "actions")
    except ToolError as err:
        raise NotDoneError(str(err), HIDDEN) from err


async def _async_still(hass: HomeAssistant, task: ScheduledTask) -> None:
    """Check anew what was so when somebody was asked, minutes ago; raises NotDoneError."""
    await async_valid_call(hass, task)
    try:
        holds = await async_holds(hass, task)
    except ToolError as err:
        raise NotDoneError(str(err), HIDDEN) from err
    if not holds:
        raise NotDoneError("its conditions did not hold any more when it was agreed to.")


async def _async_agree(call: ToolCall, task: ScheduledTask, plan: Plan, run: TaskRun) -> ToolCall | None:
    """Ask from afar where a task needs somebody's word that was not given: the one who made it, or those of the options.

    Return the call as that of who agreed, or None where nobody needed to; raises NotDoneError.
    """
    if task.agreed and (task.agreed_to is None or are_agreed(call.hass, plan, task.agreed_to)):
        return None
    try:
        await async_reason_to_ask(call, plan)
    except NotAllowedError:
        hass, owner = call.hass, task.owner
        users = [user.id for user in await async_approvers(call)] if task.is_household else [owner.user_id]
        users = [user_id for user_id in users if user_id and await async_can_ask(hass, user_id)]
        if not users:
            raise NotDoneError("it needs somebody's word, and nobody can be asked.", "not_done_nobody_to_ask") from None
        asked = digest(hass, plan)
        question = await async_question(call, plan, owner.language, names_asker=task.is_household)
        try:
            waiting = async_first_answer(hass, users, question, patience=_PATIENCE, language=owner.language)
            answer = await run.async_unless_stopped(waiting)
        except NoRoomError:
            reason = "it needs somebody's word, who had too many questions open."
            raise NotDoneError(reason, "not_done_nobody_agreed") from None
        if answer is None or not answer.agreed:
            raise NotDoneError("it needs the user's word, who did not agree.", "not_done_nobody_agreed") from None
        if digest(hass, plan) != asked:
            raise NotDoneError(_CHANGED) from None
        try:
            return await async_agreed(call, answer.user_id)
        except ToolError as err:
            raise NotDoneError("it may not be done any more.") from err
    return None


def _is_resolved(step: Mapping[str, Any]) -> bool:
    return "entity_ids" in step


def _as_step(step: Mapping[str, Any]) -> dict[str, Any]:
    target = {"target": {"entity_id": step["entity_ids"]}} if step.get("targeted") else {}
    return {"action": step["action"], "data": step.get("data") or {}, **target}


def _reports(answer: Mapping[str, Any]) -> str:
    entities = answer.get("entities")
    reports = "; ".join(f"{key}: {value}" for key, value in entities.items()) if isinstance(entities, dict) else ""
    return f": {reports}" if reports else ""


PATIENCE: Final = 30.0
"""Seconds in which a device may report its new state: some are asked for it twice a minute."""
LONGEST_WAY: Final = 120.0
"""Seconds in which what moves, such as a cover or a garage door, may get to its end."""
_MAX_NAMED: Final = 4
_RECORDED: Final = ("automation.", "scene.", "script.")
"""Domains that only run other actions, which are recorded separately."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of all acts of a task."""

    missing: tuple[str, ...] = ()
    """Names of the entities that are not as wanted."""
    moving: tuple[str, ...] = ()
    """Names of those that are still on their way."""
    is_known: bool = True
    """True if the states of the entities confirm every action."""


async def async_verify(hass: HomeAssistant, assistant: str, acts: Mapping[str, Act], *, is_whole: bool) -> Verdict:
    """Wait until it is known what became of acts, as long as it can change; is_whole says that acts are all that was done."""
    now, entity_ids = hass.loop.time(), acts.keys()
    acts = reported_acts(hass, Exposure(hass, assistant), acts)
    # What a script does that was only begun is not recorded.
    is_whole = is_whole and not any(is_running(hass, entity_id) for entity_id in entity_ids)
    await async_until(hass, acts, lambda: not _open(hass, acts, Status.NOT_REACHED, Status.UNDER_WAY), now + PATIENCE)
    await async_until(hass, acts, lambda: not _open(hass, acts, Status.UNDER_WAY), now + LONGEST_WAY)
    exposure = Exposure(hass, assistant)
    found = {entity_id: achieved(hass, act) for entity_id, act in acts.items()}
    known = {entity_id: status for entity_id, status in found.items() if not entity_id.startswith(_RECORDED)}

    def named(status: Status) -> tuple[str, ...]:
        return tuple(entity.name for one in found if found[one] is status and (entity := exposure.entity(one)))

    is_there = all(map(hass.states.get, entity_ids))
    is_known = is_whole and is_there and Status.CANNOT_BE_KNOWN not in (known or found).values()
    return Verdict(named(Status.NOT_REACHED), named(Status.UNDER_WAY), is_known)


def achieved(hass: HomeAssistant, act: Act) -> Status:
    """Return the status of an act, by which something is done once it is set, such as the temperature of what heats."""
    now = hass.states.get(act.before.entity_id)
    status = act.status(hass)
    if is_running(hass, act.before.entity_id):
        return Status.UNDER_WAY
    if status is Status.UNDER_WAY and is_set(act.since, now, act.wanted):
        return Status.REACHED
    if status is Status.NOT_REACHED and not act.is_all_known and act.wanted is not None:
        # A light that fades takes its time, and how long is not looked at.
        state = {key: value for key, value in act.wanted.items() if key == STATE}
        if status_of(act.since, now, state) is Status.REACHED:
            return Status.CANNOT_BE_KNOWN
    return status


def is_running(hass: HomeAssistant, entity_id: str) -> bool:
    """Return whether an entity is a script that still runs."""
    return entity_id.startswith(f"{SCRIPT_DOMAIN}.") and hass.states.is_state(entity_id, STATE_ON)


def spoken(names: tuple[str, ...]) -> str:
    """Return names as they are said; of many, the first ones."""
    more = f" (+{len(names) - _MAX_NAMED})" if len(names) > _MAX_NAMED else ""
    return ", ".join(names[:_MAX_NAMED]) + more


def _open(hass: HomeAssistant, acts: Mapping[str, Act], *statuses: Status) -> bool:
    return any(achieved(hass, act) in statuses for act in acts.values())
