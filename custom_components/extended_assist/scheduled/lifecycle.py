"""The states of a scheduled task and the outcomes of its occurrences."""

from dataclasses import dataclass
from enum import StrEnum
from math import floor

from .due_times import missed, next_moment
from .scheduled_task import Progress, ScheduledTask, Sighting, Watch, What, When

AGAIN_AFTER = 600.0
"""Seconds until a message that needs "done" is repeated."""
MAX_SAID = 12
"""The most repetitions of a message."""
REST = 10.0
"""The least seconds between two occurrences by a trigger; faster ones are merged."""

MAX_UNTOLD = 5
"""The most undelivered messages of a task."""

OVER = "its time was over"
UNHEARD = f"said {MAX_SAID} times, and nobody said that it is done"


@dataclass(frozen=True, slots=True)
class Occasion:
    """A due occurrence."""

    due: float
    """The first missed due time, in seconds since the epoch."""
    moment: float
    """The latest due time."""
    late: float
    """Seconds since the latest due time."""
    missed: int = 0
    """The number of due times before it that were missed."""
    again: bool = False
    """Whether Home Assistant stopped during an earlier execution."""
    repeated: bool = False
    """Whether only the message is repeated."""


def expect(task: ScheduledTask, after: float) -> None:
    """Set the next due time by the clock, strictly after a timestamp."""
    task.progress.due = coming(task, after)


def coming(task: ScheduledTask, after: float) -> float | None:
    """Return the next due time by the clock, strictly after a timestamp, or None."""
    due = None if _is_used_up(task) else next_moment(task.when, after)
    return None if due is not None and due > _end(task) else due


def occasion(task: ScheduledTask, now: float) -> Occasion | None:
    """Return the due occurrence of a task, or None."""
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
    """Return when the scheduler must look at a task next, or None if only a trigger matters."""
    return task.until.moment if task.next_moment is None else task.next_moment


def is_over(task: ScheduledTask, now: float) -> bool:
    """Return whether a task has reached its end with nothing left to do."""
    progress = task.progress
    is_idle = progress.begun is None and progress.due is None and progress.again is None
    return task.is_standing and is_idle and (now > _end(task) or not waits_for_triggers(task))


def waits_for_triggers(task: ScheduledTask) -> bool:
    """Return whether a trigger can still start the task."""
    return task.is_standing and bool(task.when.triggers) and not _is_used_up(task)


def triggered(task: ScheduledTask, now: float) -> bool:
    """Record that a trigger fired; return whether the task is due because of it."""
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
    """Return the camera watch of a task while it is active, or None."""
    watch, progress = task.when.watch, task.progress
    is_open = task.is_standing and progress.times == 0 and progress.begun is None
    return watch if is_open and watch is not None and watch.sighting in (Sighting.OPEN, Sighting.UNSEEN) else None


def next_look(watch: Watch, after: float) -> float | None:
    """Return the time of the next check after a timestamp; None after the last."""
    number = max(0, floor((after - watch.begins) / watch.every) + 1)
    return watch.begins + number * watch.every if number < watch.looks else None


def is_partly(watch: Watch) -> bool:
    """Return whether fewer than half of the checks had an answer."""
    return 2 * watch.answered < watch.looks


def sighted(task: ScheduledTask, watch: Watch, sighting: Sighting, now: float) -> None:
    """Record the result of a camera watch, which makes the task due."""
    watch.sighting = sighting
    task.when.moment = task.progress.due = now


def refuse(task: ScheduledTask, result: str) -> None:
    """Record that a trigger fired without effect; nothing becomes due."""
    if waits_for_triggers(task) and task.progress.begun is None:
        task.progress.result = result


def begin(task: ScheduledTask, one: Occasion) -> None:
    """Mark a task as started and set its next due time at once, so that no due time is used twice."""
    progress = task.progress
    progress.begun, progress.again, progress.said, progress.words = one.moment, None, 0, None
    progress.last = max(one.moment, progress.last or one.moment)
    progress.times += 1
    expect(task, one.moment)


def put_back(task: ScheduledTask, one: Occasion) -> None:
    """Revert the start of a task that has done nothing yet."""
    task.progress.begun, task.progress.due = None, one.due
    task.progress.times -= 1


def skip(task: ScheduledTask, one: Occasion, result: str, now: float) -> None:
    """Skip a due time; it does not count as an occurrence."""
    progress = task.progress
    progress.last = max(one.moment, progress.last or one.moment)
    progress.result = result
    expect(task, one.moment)
    close(task, now)


def finish(task: ScheduledTask, one: Occasion, result: str, now: float) -> None:
    """Mark the started occurrence as ended, with its result."""
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
    """Record that the user did it: ends the occurrence, and the task if no other follows."""
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
    """Postpone the last message, even of an ended task, or the next due time; return whether there is one."""
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
    """Store undelivered words with their time, or drop stored words that were delivered."""
    text = " ".join(words.split())
    waiting = [line for line in (task.progress.untold or "").splitlines() if line.partition(": ")[2] != text]
    if not is_told:
        waiting = [*waiting, f"{at}{text}"][-MAX_UNTOLD:]
    task.progress.untold = "\n".join(waiting) or None


def heard(task: ScheduledTask, text: str) -> None:
    """Record that stored words were delivered; words stored since then are kept."""
    waiting = task.progress.untold or ""
    if waiting.startswith(text):
        task.progress.untold = waiting.removeprefix(text).strip("\n") or None


def end(task: ScheduledTask, result: str, now: float) -> None:
    """End a task. Its due time is kept for undo."""
    task.progress.ended, task.progress.result = now, result


def close(task: ScheduledTask, now: float) -> None:
    """End a task that has no further occurrence."""
    if is_over(task, now):
        end(task, task.progress.result or OVER, now)


def _put_off(watch: Watch, seconds: float, now: float) -> None:
    """Postpone the remaining checks."""
    following = next_look(watch, now)
    gone = watch.looks if following is None else round((following - watch.begins) / watch.every)
    watch.looks -= gone
    watch.answered -= gone
    if following is not None:
        watch.begins = following + seconds


def take_back_snooze(task: ScheduledTask, before: When) -> None:
    """Restore the check times from before a snooze."""
    if before.watch is not None and (watch := watching(task)) is not None:
        watch.answered += before.watch.looks - watch.looks
        task.when.moment, watch.begins, watch.looks = before.moment, before.watch.begins, before.watch.looks


def resume(task: ScheduledTask, before: Progress, now: float) -> None:
    """Restore the progress of a task; due times that passed meanwhile do not come again."""
    progress = task.progress
    progress.ended, progress.said = None, before.said
    progress.again = before.again if before.again is not None and before.again > now else None
    progress.due = before.due
    if before.due is None or before.due <= max(now, progress.last or now):
        expect(task, now)


def _end(task: ScheduledTask) -> float:
    """Return the time after which nothing is due."""
    return float("inf") if task.until.moment is None else task.until.moment


def _is_single(task: ScheduledTask) -> bool:
    """Return whether a task has one occurrence: at a time, or by a trigger before a time."""
    return task.until.times == 1 or (task.when.moment is not None and task.when.rule is None)


def _is_used_up(task: ScheduledTask) -> bool:
    """Return whether a task has had all its occurrences."""
    progress, until = task.progress, task.until
    if until.times is not None and progress.times >= until.times:
        return True
    moment = task.when.moment
    is_past = moment is not None and progress.last is not None and progress.last >= moment
    return _is_single(task) and (progress.times > 0 or is_past)


class Ending(StrEnum):
    """The ways in which an occurrence can end."""

    HAPPENED = "happened"
    LATE = "late"
    """Done, but late."""
    MISSED = "missed"
    """Too late to be done."""
    SKIPPED = "skipped"
    """The conditions did not hold."""
    NOT_DONE = "not_done"
    """Could not be done or delivered."""
    FAILED = "failed"
    """Failed, or the outcome is unknown."""


@dataclass(frozen=True, slots=True)
class TaskOutcome:
    """The outcome of an occurrence."""

    kind: Ending
    result: str = ""
    """The result in words for the model; empty for a mere message."""
    words: str = ""
    """The message for the audience."""
    said: str = "said"
    """The word in the result for a delivered message."""
    complaint: str = ""
    """The message to the owner about what failed."""
    rest: What | None = None
    """The part that follows after a delay, or None."""


@dataclass(frozen=True, slots=True)
class Performed:
    """The outcome of the actions of one occurrence."""

    result: str
    """In words for the model."""
    key: str = ""
    """The key of the sentence on failures; empty if all actions succeeded."""
    what: str = ""
    """The names in that sentence."""
    is_known: bool = True
    """True if the states of the entities confirm every action."""
    is_cut_short: bool = False
    """True if a `stop` step ended the sequence; later parts do not run."""
    is_nothing: bool = False
    """True if the sequence ended as written without an action, such as an `if` whose condition was false."""
