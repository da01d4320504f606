"""The course of a task: what its progress becomes when it is due, begun, over, said again, done or put off.

    waits --begin--> begun --finish--> waits, or is said again, or has ended
      ^                |
      +----put_back----+   nothing was done yet

Nothing here touches Home Assistant: the keeper stores each step before the next one is taken.
"""

from dataclasses import dataclass
from math import floor

from .due_times import missed, next_moment
from .scheduled_task import Progress, ScheduledTask, Sighting, Watch, When

AGAIN_AFTER = 600.0
"""Seconds after which something is said again that somebody has to say is done."""
MAX_SAID = 12
"""How often it is said in all."""
REST = 10.0
"""Seconds from one occurrence to the next that a trigger sets off: what happens faster comes together."""

MAX_UNTOLD = 5
"""Messages of a task that are kept for the one who made it."""

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


def expect(task: ScheduledTask, after: float) -> None:
    """Set when a task is due next by the clock, strictly after a moment."""
    task.progress.due = coming(task, after)


def coming(task: ScheduledTask, after: float) -> float | None:
    """Return when a task is due next by the clock, strictly after a moment; None where it is not."""
    due = None if _is_used_up(task) else next_moment(task.when, after)
    return None if due is not None and due > _end(task) else due


def occasion(task: ScheduledTask, now: float) -> Occasion | None:
    """Return the occasion of a task that is due now, or None."""
    progress = task.progress
    if not task.is_standing:
        return None
    if progress.begun is not None:
        return Occasion(progress.begun, progress.begun, max(0.0, now - progress.begun), again=True)
    if progress.due is not None and progress.due <= now:
        newest, count = missed(task.when, progress.due, min(now, _end(task)))
        moment = progress.due if newest is None else newest
        return Occasion(progress.due, moment, now - moment, count)
    if progress.again is not None and progress.again <= now:
        return Occasion(progress.again, progress.again, now - progress.again, repeated=True)
    return None


def wakes(task: ScheduledTask) -> float | None:
    """Return the next moment at which a task has to be looked at, or None where only something that happens concerns it."""
    return task.until.moment if task.next_moment is None else task.next_moment


def is_over(task: ScheduledTask, now: float) -> bool:
    """Return whether the end of a task has come without anything left to do."""
    progress = task.progress
    is_idle = progress.begun is None and progress.due is None and progress.again is None
    return task.is_standing and is_idle and (now > _end(task) or not waits_for_triggers(task))


def waits_for_triggers(task: ScheduledTask) -> bool:
    """Return whether something that happens can still set it off."""
    return task.is_standing and bool(task.when.triggers) and not _is_used_up(task)


def triggered(task: ScheduledTask, now: float) -> bool:
    """Take it that one of its triggers fired; return whether that matters."""
    progress = task.progress
    if not waits_for_triggers(task) or now > _end(task):
        return False
    due = now + task.when.wait
    # Where the clock was put back, the last moment lies ahead and says nothing.
    if progress.last is not None and 0 <= now - progress.last < REST:
        due = max(due, progress.last + REST)
    if progress.due is not None and progress.due <= due:
        return False
    progress.due = due
    return True


def watching(task: ScheduledTask) -> Watch | None:
    """Return the watch of a task for which it is looked still; None where there is none, or it came to something."""
    watch, progress = task.when.watch, task.progress
    is_open = task.is_standing and progress.times == 0 and progress.begun is None
    return watch if is_open and watch is not None and watch.sighting in (Sighting.OPEN, Sighting.UNSEEN) else None


def next_look(watch: Watch, after: float) -> float | None:
    """Return the moment of the next look after another moment; None after the last."""
    number = max(0, floor((after - watch.begins) / watch.every) + 1)
    return watch.begins + number * watch.every if number < watch.looks else None


def is_partly(watch: Watch) -> bool:
    """Return whether fewer than half of the looks were answered."""
    return 2 * watch.answered < watch.looks


def sighted(task: ScheduledTask, watch: Watch, sighting: Sighting, now: float) -> None:
    """Take it that a watch came to something, which is due to be told now."""
    watch.sighting = sighting
    task.when.moment = task.progress.due = now


def refuse(task: ScheduledTask, result: str) -> None:
    """Take it that one of its triggers fired in vain: nothing is due, whatever else is going on."""
    if waits_for_triggers(task) and task.progress.begun is None:
        task.progress.result = result


def begin(task: ScheduledTask, one: Occasion) -> None:
    """Take a task as begun; its next moment is set at once, so that no moment comes twice."""
    progress = task.progress
    progress.begun, progress.again, progress.said, progress.words = one.moment, None, 0, None
    progress.last = max(one.moment, progress.last or one.moment)
    progress.times += 1
    expect(task, one.moment)


def put_back(task: ScheduledTask, one: Occasion) -> None:
    """Take back that a task was begun, before anything was done."""
    task.progress.begun, task.progress.due = None, one.due
    task.progress.times -= 1


def skip(task: ScheduledTask, one: Occasion, result: str, now: float) -> None:
    """Pass over a moment at which nothing is to be done; it does not count."""
    progress = task.progress
    progress.last = max(one.moment, progress.last or one.moment)
    progress.result = result
    expect(task, one.moment)
    close(task, now)


def finish(task: ScheduledTask, one: Occasion, result: str, now: float) -> None:
    """Take what was begun as over, with what became of it."""
    progress = task.progress
    progress.begun, progress.result = None, result
    if one.repeated and progress.again == one.due:
        progress.again = None
    progress.said += 1
    if task.until.done and task.what.then is None and task.is_standing and progress.again is None:
        if progress.said < MAX_SAID and now + AGAIN_AFTER <= _end(task):
            progress.again = now + AGAIN_AFTER
        elif progress.said == MAX_SAID:
            progress.result = UNHEARD
    close(task, now)


def done(task: ScheduledTask, now: float) -> None:
    """Take it that somebody has done what they were told of: ends the occurrence, and the task where nothing more comes."""
    progress = task.progress
    # What is being said right now is not said again either.
    progress.again, progress.said = None, MAX_SAID
    if not task.what.actions:
        # Who has done it need not be told of it any more; what became of actions is another matter.
        progress.untold = None
    if _is_single(task) or (progress.due is None and not waits_for_triggers(task)):
        end(task, "done", now)
    else:
        progress.result = "done"


def snooze(task: ScheduledTask, seconds: float, now: float) -> bool:
    """Put off what was said, also of a task that has ended, or what was not due yet; return whether there is anything."""
    progress = task.progress
    if task.is_standing and progress.times == 0 and progress.due is not None:
        if (watch := watching(task)) is not None:
            _put_off(watch, seconds, now)
            task.when.moment = progress.due + seconds
        progress.due += seconds
        return True
    if progress.times == 0 or not (task.what.say or task.what.ask or task.when.watch):
        return False
    if task.what.actions and progress.begun is None and progress.words == "":
        return False
    if not task.is_standing:
        progress.due = progress.ended = None
    progress.again, progress.said = now + seconds, 0
    return True


def note_told(task: ScheduledTask, at: str, words: str, *, is_told: bool) -> None:
    """Keep words that nobody could be told, with when that was; what could be told is not kept any more."""
    text = " ".join(words.split())
    waiting = [line for line in (task.progress.untold or "").splitlines() if line.partition(": ")[2] != text]
    if not is_told:
        waiting = [*waiting, f"{at}{text}"][-MAX_UNTOLD:]
    task.progress.untold = "\n".join(waiting) or None


def heard(task: ScheduledTask, text: str) -> None:
    """Take it that somebody was told what was kept for them; what was kept since then still is."""
    waiting = task.progress.untold or ""
    if waiting.startswith(text):
        task.progress.untold = waiting.removeprefix(text).strip("\n") or None


def end(task: ScheduledTask, result: str, now: float) -> None:
    """End a task; when it was due is kept, so that this can be taken back."""
    task.progress.ended, task.progress.result = now, result


def close(task: ScheduledTask, now: float) -> None:
    """End a task of which nothing more comes."""
    if is_over(task, now):
        end(task, task.progress.result or OVER, now)


def _put_off(watch: Watch, seconds: float, now: float) -> None:
    """Put off the looks that are still to come."""
    following = next_look(watch, now)
    gone = watch.looks if following is None else round((following - watch.begins) / watch.every)
    watch.looks -= gone
    watch.answered -= gone
    if following is not None:
        watch.begins = following + seconds


def take_back_snooze(task: ScheduledTask, before: When) -> None:
    """Let a watch look when it would have before it was put off."""
    if before.watch is not None and (watch := watching(task)) is not None:
        watch.answered += before.watch.looks - watch.looks
        task.when.moment, watch.begins, watch.looks = before.moment, before.watch.begins, before.watch.looks


def resume(task: ScheduledTask, before: Progress, now: float) -> None:
    """Let a task stand as it did before; what has come and gone meanwhile does not come again."""
    progress = task.progress
    progress.ended, progress.said = None, before.said
    progress.again = before.again if before.again is not None and before.again > now else None
    progress.due = before.due
    if before.due is None or before.due <= max(now, progress.last or now):
        expect(task, now)


def _end(task: ScheduledTask) -> float:
    """Return the moment after which nothing comes due."""
    return float("inf") if task.until.moment is None else task.until.moment


def _is_single(task: ScheduledTask) -> bool:
    """Return whether a task comes once: at a moment, or when something happens before it."""
    return task.until.times == 1 or (task.when.moment is not None and task.when.rule is None)


def _is_used_up(task: ScheduledTask) -> bool:
    """Return whether it has happened as often as it may."""
    progress, until = task.progress, task.until
    if until.times is not None and progress.times >= until.times:
        return True
    moment = task.when.moment
    is_past = moment is not None and progress.last is not None and progress.last >= moment
    return _is_single(task) and (progress.times > 0 or is_past)
