"""The course of a wish: what its progress becomes when it is due, begun, over, said again, done or put off.

    waits --begin--> begun --finish--> waits, or is said again, or has ended
      ^                |
      +----put_back----+   nothing was done yet

Nothing here touches Home Assistant: the keeper stores each step before the next one is taken.
"""

from dataclasses import dataclass
from math import floor

from .moments import missed, next_moment
from .wish import Progress, Sighting, Watch, When, Wish

AGAIN_AFTER = 600.0
"""Seconds after which something is said again that somebody has to say is done."""
MAX_SAID = 12
"""How often it is said in all."""
REST = 10.0
"""Seconds from one occurrence to the next that a trigger sets off: what happens faster comes together."""

MAX_UNTOLD = 5
"""Messages of a wish that are kept for the one who made it."""

OVER = "its time was over"
UNHEARD = f"said {MAX_SAID} times, and nobody said that it is done"


@dataclass(frozen=True, slots=True)
class Occasion:
    """Something that is due."""

    due: float
    """When it came due first, in seconds since the epoch."""
    moment: float
    """The newest of the moments at which it came due."""
    late: float
    """Seconds since that moment."""
    missed: int = 0
    """How many moments before it were missed."""
    again: bool = False
    """Whether it was begun before, and Home Assistant stopped before it was over."""
    repeated: bool = False
    """Whether only what was said before is said again."""


def expect(wish: Wish, after: float) -> None:
    """Set when a wish is due next by the clock, strictly after a moment."""
    wish.progress.due = coming(wish, after)


def coming(wish: Wish, after: float) -> float | None:
    """Return when a wish is due next by the clock, strictly after a moment; None where it is not."""
    due = None if _is_used_up(wish) else next_moment(wish.when, after)
    return None if due is not None and due > _end(wish) else due


def occasion(wish: Wish, now: float) -> Occasion | None:
    """Return the occasion of a wish that is due now, or None."""
    progress = wish.progress
    if not wish.is_standing:
        return None
    if progress.begun is not None:
        return Occasion(progress.begun, progress.begun, max(0.0, now - progress.begun), again=True)
    if progress.due is not None and progress.due <= now:
        newest, count = missed(wish.when, progress.due, min(now, _end(wish)))
        moment = progress.due if newest is None else newest
        return Occasion(progress.due, moment, now - moment, count)
    if progress.again is not None and progress.again <= now:
        return Occasion(progress.again, progress.again, now - progress.again, repeated=True)
    return None


def wakes(wish: Wish) -> float | None:
    """Return the next moment at which a wish has to be looked at, or None where only something that happens concerns it."""
    return wish.until.moment if wish.next_moment is None else wish.next_moment


def is_over(wish: Wish, now: float) -> bool:
    """Return whether the end of a wish has come without anything left to do."""
    progress = wish.progress
    is_idle = progress.begun is None and progress.due is None and progress.again is None
    return wish.is_standing and is_idle and (now > _end(wish) or not waits_for_triggers(wish))


def waits_for_triggers(wish: Wish) -> bool:
    """Return whether something that happens can still set it off."""
    return wish.is_standing and bool(wish.when.triggers) and not _is_used_up(wish)


def triggered(wish: Wish, now: float) -> bool:
    """Take it that one of its triggers fired; return whether that matters."""
    progress = wish.progress
    if not waits_for_triggers(wish) or now > _end(wish):
        return False
    due = now + wish.when.wait
    # Where the clock was put back, the last moment lies ahead and says nothing.
    if progress.last is not None and 0 <= now - progress.last < REST:
        due = max(due, progress.last + REST)
    if progress.due is not None and progress.due <= due:
        return False
    progress.due = due
    return True


def watching(wish: Wish) -> Watch | None:
    """Return the watch of a wish for which it is looked still; None where there is none, or it came to something."""
    watch, progress = wish.when.watch, wish.progress
    is_open = wish.is_standing and progress.times == 0 and progress.begun is None
    return watch if is_open and watch is not None and watch.sighting in (Sighting.OPEN, Sighting.UNSEEN) else None


def next_look(watch: Watch, after: float) -> float | None:
    """Return the moment of the next look after another moment; None after the last."""
    number = max(0, floor((after - watch.begins) / watch.every) + 1)
    return watch.begins + number * watch.every if number < watch.looks else None


def is_partly(watch: Watch) -> bool:
    """Return whether fewer than half of the looks were answered."""
    return 2 * watch.answered < watch.looks


def sighted(wish: Wish, watch: Watch, sighting: Sighting, now: float) -> None:
    """Take it that a watch came to something, which is due to be told now."""
    watch.sighting = sighting
    wish.when.moment = wish.progress.due = now


def refuse(wish: Wish, result: str) -> None:
    """Take it that one of its triggers fired in vain: nothing is due, whatever else is going on."""
    if waits_for_triggers(wish) and wish.progress.begun is None:
        wish.progress.result = result


def begin(wish: Wish, one: Occasion) -> None:
    """Take a wish as begun; its next moment is set at once, so that no moment comes twice."""
    progress = wish.progress
    progress.begun, progress.again, progress.said, progress.words = one.moment, None, 0, None
    progress.last = max(one.moment, progress.last or one.moment)
    progress.times += 1
    expect(wish, one.moment)


def put_back(wish: Wish, one: Occasion) -> None:
    """Take back that a wish was begun, before anything was done."""
    wish.progress.begun, wish.progress.due = None, one.due
    wish.progress.times -= 1


def skip(wish: Wish, one: Occasion, result: str, now: float) -> None:
    """Pass over a moment at which nothing is to be done; it does not count."""
    progress = wish.progress
    progress.last = max(one.moment, progress.last or one.moment)
    progress.result = result
    expect(wish, one.moment)
    close(wish, now)


def finish(wish: Wish, one: Occasion, result: str, now: float) -> None:
    """Take what was begun as over, with what became of it."""
    progress = wish.progress
    progress.begun, progress.result = None, result
    if one.repeated and progress.again == one.due:
        progress.again = None
    progress.said += 1
    if wish.until.done and wish.what.then is None and wish.is_standing and progress.again is None:
        if progress.said < MAX_SAID and now + AGAIN_AFTER <= _end(wish):
            progress.again = now + AGAIN_AFTER
        elif progress.said == MAX_SAID:
            progress.result = UNHEARD
    close(wish, now)


def done(wish: Wish, now: float) -> None:
    """Take it that somebody has done what they were told of: ends the occurrence, and the wish where nothing more comes."""
    progress = wish.progress
    # What is being said right now is not said again either.
    progress.again, progress.said = None, MAX_SAID
    if not wish.what.actions:
        # Who has done it need not be told of it any more; what became of actions is another matter.
        progress.untold = None
    if _is_single(wish) or (progress.due is None and not waits_for_triggers(wish)):
        end(wish, "done", now)
    else:
        progress.result = "done"


def snooze(wish: Wish, seconds: float, now: float) -> bool:
    """Put off what was said, also of a wish that has ended, or what was not due yet; return whether there is anything."""
    progress = wish.progress
    if wish.is_standing and progress.times == 0 and progress.due is not None:
        if (watch := watching(wish)) is not None:
            _put_off(watch, seconds, now)
            wish.when.moment = progress.due + seconds
        progress.due += seconds
        return True
    if progress.times == 0 or not (wish.what.say or wish.what.ask or wish.when.watch):
        return False
    if wish.what.actions and progress.begun is None and progress.words == "":
        return False
    if not wish.is_standing:
        progress.due = progress.ended = None
    progress.again, progress.said = now + seconds, 0
    return True


def note_told(wish: Wish, at: str, words: str, *, is_told: bool) -> None:
    """Keep words that nobody could be told, with when that was; what could be told is not kept any more."""
    text = " ".join(words.split())
    waiting = [line for line in (wish.progress.untold or "").splitlines() if line.partition(": ")[2] != text]
    if not is_told:
        waiting = [*waiting, f"{at}{text}"][-MAX_UNTOLD:]
    wish.progress.untold = "\n".join(waiting) or None


def heard(wish: Wish, text: str) -> None:
    """Take it that somebody was told what was kept for them; what was kept since then still is."""
    waiting = wish.progress.untold or ""
    if waiting.startswith(text):
        wish.progress.untold = waiting.removeprefix(text).strip("\n") or None


def end(wish: Wish, result: str, now: float) -> None:
    """End a wish; when it was due is kept, so that this can be taken back."""
    wish.progress.ended, wish.progress.result = now, result


def close(wish: Wish, now: float) -> None:
    """End a wish of which nothing more comes."""
    if is_over(wish, now):
        end(wish, wish.progress.result or OVER, now)


def _put_off(watch: Watch, seconds: float, now: float) -> None:
    """Put off the looks that are still to come."""
    following = next_look(watch, now)
    gone = watch.looks if following is None else round((following - watch.begins) / watch.every)
    watch.looks -= gone
    watch.answered -= gone
    if following is not None:
        watch.begins = following + seconds


def take_back_snooze(wish: Wish, before: When) -> None:
    """Let a watch look when it would have before it was put off."""
    if before.watch is not None and (watch := watching(wish)) is not None:
        watch.answered += before.watch.looks - watch.looks
        wish.when.moment, watch.begins, watch.looks = before.moment, before.watch.begins, before.watch.looks


def resume(wish: Wish, before: Progress, now: float) -> None:
    """Let a wish stand as it did before; what has come and gone meanwhile does not come again."""
    progress = wish.progress
    progress.ended, progress.said = None, before.said
    progress.again = before.again if before.again is not None and before.again > now else None
    progress.due = before.due
    if before.due is None or before.due <= max(now, progress.last or now):
        expect(wish, now)


def _end(wish: Wish) -> float:
    """Return the moment after which nothing comes due."""
    return float("inf") if wish.until.moment is None else wish.until.moment


def _is_single(wish: Wish) -> bool:
    """Return whether a wish comes once: at a moment, or when something happens before it."""
    return wish.until.times == 1 or (wish.when.moment is not None and wish.when.rule is None)


def _is_used_up(wish: Wish) -> bool:
    """Return whether it has happened as often as it may."""
    progress, until = wish.progress, wish.until
    if until.times is not None and progress.times >= until.times:
        return True
    moment = wish.when.moment
    is_past = moment is not None and progress.last is not None and progress.last >= moment
    return _is_single(wish) and (progress.times > 0 or is_past)
