"""What a wish does when it is due: everything is checked anew, then done, then said."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from homeassistant.const import STATE_UNAVAILABLE
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.util import dt as dt_util

from ..actions.sequences import SequenceWalker
from ..const import DOMAIN
from ..exposure.entities import Exposure
from ..exposure.safe_log import log_unexpected
from ..results import ToolError, format_time, texts_in
from ..worker.interruptible import ends_task
from . import course
from .account import told_shortly
from .acting import Performers, async_act
from .asking import async_answer
from .calling import HIDDEN, NotDoneError, async_valid_call
from .conditions import async_holds
from .delivery import async_deliver
from .outcome import Ending, Performed, WishOutcome
from .parts import MAX_DELAY, taking_back, with_words
from .running import StoppedError, TaskRun
from .wish import Audience, Hearer, Sighting, Watch, What, Wish
from .words import said_time, say

MAX_LATE = 300.0
"""Seconds that an action may be late: a light that goes on hours too late is worse than one that does not."""
LATE_TOLD = 60.0
"""Seconds from which on it is told that something comes late."""
LONGEST = 900.0
"""Seconds after which what does not come to an end is given up."""
INTERRUPTED = "begun, and Home Assistant stopped before it was over"
UNTOLD = "this could not be told to anybody yet"
_SIGHTINGS: Final[Mapping[Sighting, tuple[Ending, str]]] = {
    Sighting.SEEN: (Ending.HAPPENED, "seen"),
    Sighting.UNSEEN: (Ending.SKIPPED, "not seen until its time was over"),
    Sighting.BLIND: (Ending.FAILED, "given up: there were no pictures, or no model that can look at them"),
}
UNHEARD = "not said: nobody could be told yet"
UNSAID = "not said: it was ended meanwhile"


async def async_do(
    hass: HomeAssistant,
    wish: Wish,
    moment: float,
    run: TaskRun,
    *,
    late: float,
    again: bool,
    missed: int = 0,
    repeated: bool = False,
    performers: Performers | None = None,
) -> WishOutcome:
    """Do what is due, tell it, and return what became of it; raises StoppedError where it was stopped before it began.

    `again` says that it was begun before and Home Assistant stopped meanwhile; `missed` how many earlier occurrences were
    left out; `repeated` that only what was said is said again.
    """
    try:
        async with asyncio.timeout(LONGEST):
            if again:
                outcome = await _async_after_stop(hass, wish)
            elif repeated:
                await async_valid_call(hass, wish, performers or {})
                words = await _async_words_again(hass, wish) or await _async_name(hass, wish)
                outcome = WishOutcome(Ending.HAPPENED, words=words, said="said again")
            else:
                outcome = await _async_do(hass, wish, moment, run, late=late, performers=performers or {})
    except NotDoneError as err:
        complaint = await _async_complaint(hass, wish, moment, err.key)
        reason = f"not done: {await _async_reason(hass, wish, err)}"
        rest = taking_back(wish.what) if run.has_acted else None
        outcome = WishOutcome(Ending.NOT_DONE, reason, complaint=complaint, rest=rest)
    except StoppedError as err:
        outcome = await _async_stopped(hass, wish, moment, run, str(err))
    except (Exception, asyncio.CancelledError) as err:
        if ends_task(err):
            raise
        log_unexpected("in a wish")
        complaint = await _async_complaint(hass, wish, moment, "not_done_failed")
        rest = taking_back(wish.what) if run.has_acted else None
        outcome = WishOutcome(Ending.FAILED, "not done: it failed unexpectedly", complaint=complaint, rest=rest)
    if outcome.complaint and wish.what.then is not None:
        key = "no_rest" if outcome.rest is None else "only_back"
        outcome = replace(outcome, complaint=say(key, wish.owner.language, text=outcome.complaint))
    if outcome.words and not repeated:
        outcome = replace(
            outcome, words=_as_it_comes(wish, outcome.words, moment, late=late, again=again, missed=missed)
        )
    outcome = await _async_told(hass, wish, moment, outcome, run)
    if wish.what.actions and not repeated:
        wish.progress.words = outcome.words
    return outcome


async def _async_stopped(hass: HomeAssistant, wish: Wish, moment: float, run: TaskRun, reports: str) -> WishOutcome:
    """Return the outcome of a run that was stopped, with reports of what it had begun; raises StoppedError where it can be begun anew."""
    await run.async_decided()
    if not run.has_begun:
        if wish.is_standing:
            raise StoppedError
        return WishOutcome(Ending.NOT_DONE, f"not done: {run.reason}")
    if not run.has_acted and not wish.is_standing:
        return WishOutcome(Ending.NOT_DONE, UNSAID)
    is_told = wish.is_standing or run.tells_owner
    complaint = await _async_complaint(hass, wish, moment, "stopped") if is_told else ""
    result = f"stopped: {run.reason}{reports and f'; done before that{reports}'}"
    rest = taking_back(wish.what) if run.has_acted else None
    return WishOutcome(Ending.NOT_DONE, result, complaint=complaint, rest=rest)


async def _async_told(
    hass: HomeAssistant, wish: Wish, moment: float, outcome: WishOutcome, run: TaskRun
) -> WishOutcome:
    """Tell an outcome, and return it with whether that went well."""
    await run.async_decided()
    words, complaint, results = outcome.words, outcome.complaint, [outcome.result] if outcome.result else []
    if words and not wish.is_standing:
        words = ""
        results.append(UNSAID)
    if complaint and (not words or not _is_for_owner(hass, wish)):
        if not await _async_tell(hass, _of_owner(hass, wish), moment, complaint):
            results.append(UNTOLD)
        complaint = ""
    kind, words = outcome.kind, f"{complaint} {words}" if words and complaint else words
    if words:
        telling = _async_tell(hass, wish, moment, words, answerable=wish.until.done)
        try:
            is_told = await run.async_unless_ended(telling)
        except StoppedError:
            results.append(UNSAID)
        else:
            results.append(outcome.said if is_told else UNHEARD)
            kind = kind if is_told or outcome.result else Ending.NOT_DONE
    return replace(outcome, kind=kind, words=words, result="; ".join(results) or f"due at {format_time(moment)}")


@callback
def _is_for_owner(hass: HomeAssistant, wish: Wish) -> bool:
    """Return whether those for whom a wish is may hear what was not done of it: it is not for somebody else alone."""
    if wish.audience.hearer is not Hearer.PERSON:
        return True
    person = hass.states.get(wish.audience.target or "")
    return person is not None and person.attributes.get("user_id") == wish.owner.user_id is not None


@callback
def _of_owner(hass: HomeAssistant, wish: Wish) -> Wish:
    """Return a wish as one that its owner hears of, rather than those for whom it is."""
    match wish.audience.hearer:
        case Hearer.HERE:
            return wish
        case Hearer.EVERYONE if wish.is_household:
            return wish
        case Hearer.PERSON if _is_for_owner(hass, wish):
            return wish
    return replace(wish, audience=Audience())


@callback
def is_ready(hass: HomeAssistant, wish: Wish) -> bool:
    """Return whether all that a wish acts on is there: integrations may load late, and devices be away for a moment."""
    registry = er.async_get(hass)
    for text, path in texts_in(wish.what.actions, keys=True):
        if path and path[-1] in ("action", "service"):
            if text.count(".") == 1 and not hass.services.has_service(*text.split(".")) and DOMAIN not in text:
                return False
        elif (state := hass.states.get(text)) is None:
            if text in registry.entities:
                return False
        elif state.state == STATE_UNAVAILABLE:
            return False
    return True


async def _async_do(
    hass: HomeAssistant, wish: Wish, moment: float, run: TaskRun, *, late: float, performers: Performers
) -> WishOutcome:
    """Check everything as of now, act, and return what is to be said; raises NotDoneError and StoppedError."""
    what, call = wish.what, await async_valid_call(hass, wish, performers)
    if wish.when.watch is not None and wish.when.watch.sighting is Sighting.HIDDEN:
        raise NotDoneError("its cameras may not be looked at any more.", HIDDEN)
    try:
        walker = SequenceWalker(call, keep=True)
        if wish.when.triggers:
            await walker.async_triggers(wish.when.triggers)
        # Whether they hold was asked before; those that cannot be asked hold nothing back there.
        await async_holds(hass, wish)
    except ToolError as err:
        raise NotDoneError(str(err), HIDDEN) from err
    if wish.when.watch is not None:
        return await _async_sighted(hass, wish, wish.when.watch)
    outcome = WishOutcome(Ending.LATE if late >= LATE_TOLD else Ending.HAPPENED, words=what.say or "")
    if what.actions and late > most_late(wish):
        reason = f"not done: {round(late / 60)} minutes late is too late for an action"
        complaint = await _async_complaint(hass, wish, moment, "not_done_late")
        words = outcome.words if wish.until.done else ""
        outcome = replace(outcome, kind=Ending.MISSED, result=reason, words=words, complaint=complaint)
    elif what.actions:
        try:
            done = await async_act(call, wish, performers, run)
        except NotDoneError as err:
            if not (err.key and wish.until.done):
                raise
            done = Performed(f"not done: {await _async_reason(hass, wish, err)}", err.key)
        outcome = await _async_acted(hass, wish, moment, outcome, done)
    elif what.then is not None:
        outcome = replace(outcome, rest=what.then)
    if what.ask:
        await run.async_check()
        run.has_asked = True
        answer = await run.async_unless_stopped(async_answer(hass, wish, what.ask))
        outcome = replace(outcome, words=f"{outcome.words} {answer}".strip())
    return outcome


@callback
def most_late(wish: Wish) -> float:
    """Return how many seconds the actions of a task may be late: what turns off again is better done late than never."""
    return MAX_DELAY if wish.what.takes_back else MAX_LATE


async def _async_acted(
    hass: HomeAssistant, wish: Wish, moment: float, outcome: WishOutcome, done: Performed
) -> WishOutcome:
    """Return an outcome with what the actions came to: words beside them are said only where all of it is done.

    What the user is to do is said in any case.
    """
    if done.key:
        complaint = await _async_complaint(hass, wish, moment, done.key, done.what)
        words = outcome.words if wish.until.done else ""
        rest = taking_back(wish.what, keeps_words=wish.until.done)
        return replace(outcome, kind=Ending.NOT_DONE, result=done.result, words=words, complaint=complaint, rest=rest)
    words, rest = outcome.words, None if done.is_cut_short else wish.what.then
    if rest is not None and not (done.is_known and not done.is_nothing) and not wish.until.done:
        rest = with_words(rest, lambda text: say("unchecked", wish.owner.language, text=text))
    if done.is_nothing and not wish.until.done:
        return replace(outcome, kind=Ending.SKIPPED, result=done.result, words="", rest=rest)
    if words and not done.is_known and not wish.until.done:
        words = say("unchecked", wish.owner.language, text=words)
    return replace(outcome, result=done.result, words=words, rest=rest)


async def _async_after_stop(hass: HomeAssistant, wish: Wish) -> WishOutcome:
    """Return the outcome of a wish that was begun before Home Assistant stopped: nothing of it is done again."""
    if not wish.what.actions and not wish.what.ask:
        said = "said, maybe twice: Home Assistant stopped meanwhile"
        return WishOutcome(Ending.HAPPENED, words=await _async_words(hass, wish), said=said, rest=wish.what.then)
    interrupted = say("interrupted", wish.owner.language, name=await _async_name(hass, wish))
    words = (wish.what.say or "") if wish.until.done or not wish.what.actions else ""
    return WishOutcome(Ending.FAILED, INTERRUPTED, words=words, complaint=interrupted, rest=taking_back(wish.what))


async def _async_sighted(hass: HomeAssistant, wish: Wish, watch: Watch) -> WishOutcome:
    """Return the outcome of a watch."""
    kind, result = _SIGHTINGS.get(watch.sighting, (Ending.FAILED, "it was never looked"))
    if watch.sighting is Sighting.UNSEEN and course.is_partly(watch):
        kind, result = Ending.FAILED, "not seen, but most looks failed"
    return WishOutcome(kind, result, words=await _async_words(hass, wish))


async def _async_words(hass: HomeAssistant, wish: Wish) -> str:
    """Return the words of a wish; of a watch, those on what it came to, in which nothing stands that was in a picture."""
    if (watch := wish.when.watch) is None:
        return wish.what.say or ""
    language = wish.owner.language
    exposure = Exposure(hass, wish.owner.assistant)
    await exposure.async_prepare()
    see = say("unnamed", language) if exposure.names_hidden(watch.see) else watch.see
    if watch.sighting is Sighting.SEEN and wish.what.say and not exposure.names_hidden(wish.what.say):
        return wish.what.say
    is_partly = watch.sighting is Sighting.UNSEEN and course.is_partly(watch)
    return say("watch_partly" if is_partly else f"watch_{watch.sighting}", language, see=see)


async def _async_words_again(hass: HomeAssistant, wish: Wish) -> str:
    """Return the words that are said once more; of a task with actions, those in which its outcome was told."""
    if not wish.what.actions:
        return await _async_words(hass, wish)
    exposure, words = Exposure(hass, wish.owner.assistant), wish.progress.words or ""
    await exposure.async_prepare()
    return "" if exposure.names_hidden(words) else words


def _as_it_comes(wish: Wish, words: str, moment: float, *, late: float, again: bool, missed: int) -> str:
    """Return words with what is to be said about when they come."""
    language = wish.owner.language
    if late >= LATE_TOLD:
        words = say("late", language, time=said_time(moment), text=words)
    if missed:
        words = say("missed", language, text=words, count=missed)
    return say("again", language, text=words) if again else words


async def _async_complaint(hass: HomeAssistant, wish: Wish, moment: float, key: str, what: str = "") -> str:
    """Return the sentence on steps that are not done; empty where nothing is said."""
    if not key:
        return ""
    return say(key, wish.owner.language, name=await _async_name(hass, wish), time=said_time(moment), what=what)


async def _async_name(hass: HomeAssistant, wish: Wish) -> str:
    """Return the name of a wish, unless that names an entity which is hidden now."""
    exposure, name, what = Exposure(hass, wish.owner.assistant), wish.name, wish.what
    await exposure.async_prepare()
    said = [part.say for part in what.parts if part.say]
    if any(part.actions for part in what.parts) and any(words.startswith(name) for words in said):
        name = told_shortly(What(what.actions))  # Words beside an action may claim that it is done.
    return say("unnamed", wish.owner.language) if exposure.names_hidden(name) else name


async def _async_reason(hass: HomeAssistant, wish: Wish, error: ToolError) -> str:
    """Return why something was not done, unless that names what is hidden now."""
    exposure = Exposure(hass, wish.owner.assistant)
    await exposure.async_prepare()
    return "something in it is not exposed any more." if exposure.names_hidden(str(error)) else str(error)


async def _async_tell(hass: HomeAssistant, wish: Wish, moment: float, words: str, *, answerable: bool = False) -> bool:
    """Say words to those whom a wish is for, or keep them for later; return whether somebody's device took them."""
    try:
        is_told = await async_deliver(hass, wish, words, answerable=answerable)
    except (Exception, asyncio.CancelledError) as err:
        if ends_task(err):
            raise
        log_unexpected("while something was told")
        is_told = False
    course.note_told(wish, f"{format_time(moment)}: ", words, is_told=is_told)
    return is_told


async def async_tell_in_vain(hass: HomeAssistant, wish: Wish) -> None:
    """Tell the one who wants it that a wish waits in vain."""
    words = say("in_vain", wish.owner.language, name=await _async_name(hass, wish))
    await _async_tell(hass, _of_owner(hass, wish), dt_util.utcnow().timestamp(), words)
