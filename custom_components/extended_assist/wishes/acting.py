"""The actions of a wish that is due: checked as of now, asked for where nobody agreed to them, and performed."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from homeassistant.core import HomeAssistant

from ..actions.check import ResolvedAction, async_check_action
from ..actions.perform import async_perform
from ..actions.planned import planned_steps
from ..actions.run import SequenceRun
from ..actions.sequences import SequenceWalker
from ..happened import Happening
from ..results import ToolError
from ..toolbox.acts import recording
from ..toolbox.afar import async_agreed, async_approvers, async_question
from ..toolbox.call import ToolCall
from ..toolbox.consent import VALID, NoRoomError, async_can_ask, async_first_answer
from ..toolbox.happening import tell
from ..toolbox.identity import bound
from ..toolbox.journal import async_get_journal
from ..toolbox.options import ToolboxOptions
from ..toolbox.plan import Plan
from ..toolbox.policy import NotAllowedError
from ..toolbox.reason import async_reason_to_ask
from ..toolbox.recheck import digest
from ..toolbox.telling import step_for
from .calling import HIDDEN, NotDoneError, async_valid_call
from .conditions import async_holds
from .running import Run, StoppedError
from .wish import Owner, Wish

type Performer = Callable[[HomeAssistant, Owner, Mapping[str, Any], ToolboxOptions], Awaitable[str]]
"""Does what was kept for later under a name of its own, with its data, and says what happened; raises ToolError."""
type Performers = Mapping[str, Performer]

_PATIENCE: Final = VALID + 20
"""Seconds that what comes due together with much else waits to be asked about: those asked first are over by then."""
_ANOTHER: Final = "another device has the id of the one that was meant. Ask the user, and cancel this or make it anew."
_CHANGED: Final = "what was agreed to has changed meanwhile."


async def async_act(call: ToolCall, wish: Wish, performers: Performers, run: Run) -> str:
    """Perform the actions of a wish and return what became of them; raises NotDoneError and StoppedError."""
    steps = wish.what.actions
    if all(map(_is_resolved, steps)):
        results: list[str] = []
        for step in steps:
            try:
                run.check()
                results.append(await _async_step(call, wish, step, performers, run))
            except NotDoneError as err:
                before = f" Before it: {'; '.join(results)}" if results else ""
                raise NotDoneError(f"{err}{before}", err.key) from err
        return "; ".join(results)
    return await _async_sequence(call, wish, run, [_as_step(step) if _is_resolved(step) else step for step in steps])


async def _async_step(call: ToolCall, wish: Wish, step: Mapping[str, Any], performers: Performers, run: Run) -> str:
    """Perform one action on those of its entities that are still exposed."""
    if (perform := performers.get(step["action"])) is not None:
        return await _async_performed(call, wish, step, perform, run)
    entity_ids = step["entity_ids"]
    exposed = [entity_id for entity_id in entity_ids if call.exposure.is_exposed(entity_id)]
    if entity_ids and not exposed:
        raise NotDoneError("none of its entities is exposed any more.", HIDDEN)
    target = {"entity_id": exposed} if step.get("targeted") else {}
    action = await _async_checked(call, step, target)
    plan = _plan_of(call, wish, action)
    if (agreed := await _async_agree(call, wish, plan, run)) is not None:
        await _async_still(call.hass, wish)
        call = agreed
        action = await _async_checked(call, step, target)
        if _plan_of(call, wish, action).fingerprint() != plan.fingerprint():
            raise NotDoneError(_CHANGED)
    call.recording.plan = plan
    answer = await _async_recorded(call, action, run)
    left_out = len(entity_ids) - len(exposed)
    return f"done{_reports(answer)}" + (f"; {left_out} not exposed any more" if left_out else "")


def _plan_of(call: ToolCall, wish: Wish, action: ResolvedAction) -> Plan:
    """Return the plan of one action; raises NotDoneError where it would be done to other things than was agreed to."""
    planned = step_for(call, action.name, action.entity_ids, action.data)
    return _same_things(call, wish, Plan((planned,), planned.words))


def _same_things(call: ToolCall, wish: Wish, plan: Plan) -> Plan:
    """Return a plan bound to its things; raises NotDoneError where one of them has only the id of what was agreed to."""
    plan = bound(call.hass, plan)
    if any(wish.what.things.get(entity_id, thing) != thing for entity_id, thing in plan.things):
        raise NotDoneError(_ANOTHER)
    return plan


async def _async_checked(call: ToolCall, step: Mapping[str, Any], target: Mapping[str, Any]) -> ResolvedAction:
    """Return an action as it may be done now."""
    try:
        return await async_check_action(call, step["action"], dict(target), step.get("data"))
    except ToolError as err:
        raise NotDoneError(str(err), HIDDEN) from err


async def _async_performed(call: ToolCall, wish: Wish, step: Mapping[str, Any], perform: Performer, run: Run) -> str:
    """Let what an entry brings do an action of its own, such as calling a function."""
    call.recording.what = wish.name
    run.begin(call.recording)
    try:
        return await perform(call.hass, wish.owner, step.get("data") or {}, call.options)
    except ToolError as err:
        raise NotDoneError(str(err)) from err


async def _async_recorded(call: ToolCall, action: ResolvedAction, run: Run) -> Mapping[str, Any]:
    """Perform an action so that it can be undone."""
    journal = await async_get_journal(call.hass)
    call.recording.what = action.name
    run.begin(call.recording)
    tell(call, Happening.ACTED)
    try:
        with recording(call.hass, journal, call.exposure, call.caller, call.recording, entry_id=call.options.entry_id):
            return await async_perform(call, action)
    except ToolError as err:
        tell(call, Happening.FAILED)
        raise NotDoneError(str(err)) from err


async def _async_sequence(call: ToolCall, wish: Wish, run: Run, sequence: list[dict[str, Any]]) -> str:
    """Run several steps."""
    walker, walked = await _async_walked(call, sequence)
    plan = _plan_of_sequence(call, wish, walker)
    if (agreed := await _async_agree(call, wish, plan, run)) is not None:
        await _async_still(call.hass, wish)
        call = agreed
        walker, walked = await _async_walked(call, sequence)
        if _plan_of_sequence(call, wish, walker).fingerprint() != plan.fingerprint():
            raise NotDoneError(_CHANGED)
    call.recording.what, call.recording.plan = "running a sequence", plan
    journal = await async_get_journal(call.hass)
    run.begin(call.recording)
    tell(call, Happening.ACTED)
    try:
        with recording(call.hass, journal, call.exposure, call.caller, call.recording, entry_id=call.options.entry_id):
            sequence_run = await SequenceRun.async_create(call, walker, walked)
            answer = await sequence_run.async_run(stopped=run.stopped)
    except ToolError as err:
        tell(call, Happening.FAILED)
        raise NotDoneError(str(err)) from err
    if run.stopped.done() and answer["ended"] != "finished":
        raise StoppedError(_reports(answer))
    failures = answer.get("failures")
    ended = "done" if answer["ended"] == "finished" else str(answer["ended"])
    failed = f"; failed: {'; '.join(map(str, failures))}" if isinstance(failures, list) else ""
    return f"{ended}{_reports(answer)}{failed}"


def _plan_of_sequence(call: ToolCall, wish: Wish, walker: SequenceWalker) -> Plan:
    """Return the plan of several steps; raises NotDoneError where it would be done to other things than was agreed to."""
    return _same_things(call, wish, Plan(planned_steps(call, walker), wish.name, is_whole=not walker.is_open))


async def _async_walked(call: ToolCall, sequence: list[dict[str, Any]]) -> tuple[SequenceWalker, list[dict[str, Any]]]:
    """Return steps as they may be done now, and what has walked them."""
    walker = SequenceWalker(call)
    try:
        return walker, await walker.async_actions(sequence, "actions")
    except ToolError as err:
        raise NotDoneError(str(err), HIDDEN) from err


async def _async_still(hass: HomeAssistant, wish: Wish) -> None:
    """Check anew what was so when somebody was asked, minutes ago; raises NotDoneError."""
    await async_valid_call(hass, wish)
    try:
        holds = await async_holds(hass, wish)
    except ToolError as err:
        raise NotDoneError(str(err), HIDDEN) from err
    if not holds:
        raise NotDoneError("its conditions did not hold any more when it was agreed to.")


async def _async_agree(call: ToolCall, wish: Wish, plan: Plan, run: Run) -> ToolCall | None:
    """Ask from afar where a wish needs somebody's word that was not given: the one who made it, or those of the options.

    Return the call as that of who agreed, or None where nobody needed to; raises NotDoneError.
    """
    if wish.agreed:
        return None
    try:
        await async_reason_to_ask(call, plan)
    except NotAllowedError:
        hass, owner = call.hass, wish.owner
        users = [user.id for user in await async_approvers(call)] if wish.is_household else [owner.user_id]
        users = [user_id for user_id in users if user_id and await async_can_ask(hass, user_id)]
        if not users:
            raise NotDoneError("it needs somebody's word, and nobody can be asked.", "not_done_nobody_to_ask") from None
        asked = digest(hass, plan)
        question = await async_question(call, plan, owner.language, names_asker=wish.is_household)
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
    """Return whether a step was made concrete when it was agreed to."""
    return "entity_ids" in step


def _as_step(step: Mapping[str, Any]) -> dict[str, Any]:
    """Return a concrete step in the syntax of scripts."""
    target = {"target": {"entity_id": step["entity_ids"]}} if step.get("targeted") else {}
    return {"action": step["action"], "data": step.get("data") or {}, **target}


def _reports(answer: Mapping[str, Any]) -> str:
    """Return the outcome of each entity."""
    entities = answer.get("entities")
    reports = "; ".join(f"{key}: {value}" for key, value in entities.items()) if isinstance(entities, dict) else ""
    return f": {reports}" if reports else ""
