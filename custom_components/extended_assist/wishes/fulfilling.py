"""The fulfilling of wishes: what is due is begun, once, and what became of it is stored."""

import asyncio
from collections.abc import Callable, Coroutine
from contextvars import Context as ContextVariables
from typing import Any

from homeassistant.auth import EVENT_USER_UPDATED
from homeassistant.const import EVENT_HOMEASSISTANT_STOP
from homeassistant.core import CALLBACK_TYPE, CoreState, Event, HomeAssistant, callback
from homeassistant.helpers.event import async_call_later
from homeassistant.util import dt as dt_util

from ..const import DOMAIN
from ..exposure.safe_log import log_unexpected
from ..results import ToolError
from ..worker.interruptible import ends_task
from . import course, doing
from .acting import Performers
from .clock_changes import async_watch_clock
from .conditions import async_holds
from .course import Occasion
from .gates import Gates
from .looking import FindEyes
from .outcome import Ending, WishOutcome
from .parts import follow_up
from .running import ENDED, UNLOADED, USER_GONE, StoppedError, TaskRun
from .store import WishStore
from .triggers import Triggers
from .vain import InVain
from .watching import Watching
from .wish import What, Wish

LOOK = 30.0
"""Seconds after which the clock is looked at where the system does not tell that it was set, and while something is missing."""
LOOK_RARELY = 6 * 3600.0
"""Seconds after which the clock is looked at in any case."""
READY_TIME = 60.0
"""Seconds that are waited for what an action acts on and is not there, such as that of an integration that loads late."""

NOT_HELD = "not done: its conditions did not hold"
NOT_STORED = "not done: that it was begun could not be stored"

type HappenedListener = Callable[[Wish, float, Ending, str], None]
"""Is called with a wish, the moment of an occurrence that ended, how it did, and what became of it in words."""


def now() -> float:
    """Return the time as the clock has it, in seconds since the epoch."""
    return dt_util.utcnow().timestamp()


class Fulfilling:
    """Takes up the wishes of started entries when they are due.

    Each step of their course is stored before the next one is taken: what was begun is not begun again, and what was not
    stored is not begun.
    """

    def __init__(self, hass: HomeAssistant, store: WishStore) -> None:
        """Take the wishes."""
        self._hass = hass
        self._store = store
        self._triggers = Triggers(hass, self._on_trigger)
        self._gates = Gates(hass)
        self._watching = Watching(hass, store, self.async_look)
        self._performers: dict[str, Performers] = {}
        """What performs the actions of each started entry that are none of Home Assistant's."""
        self._running: dict[str, TaskRun] = {}
        """The runs of the wishes of which something is being done, by the ids of these."""
        self._timer: CALLBACK_TYPE | None = None
        self._started = 0.0
        """When an entry was started last, in seconds since the epoch."""
        self._in_vain = InVain(hass, store, lambda wish: wish.owner.entry_id in self._performers)
        self.happened: set[HappenedListener] = set()
        self._watch = async_watch_clock(hass, self.async_look)
        store.async_listen(self.async_look)
        hass.bus.async_listen(EVENT_USER_UPDATED, self._async_on_user)
        hass.bus.async_listen_once(EVENT_HOMEASSISTANT_STOP, self._on_stop)

    @callback
    def async_start(self, entry_id: str, performers: Performers, find_eyes: FindEyes | None = None) -> None:
        """Begin with the wishes of an entry."""
        if find_eyes is not None:
            self._watching.find_eyes = find_eyes
        self._performers[entry_id] = performers
        self._started = now()
        # Integrations may load late.
        self._in_vain.async_look_later(READY_TIME)
        self.async_look()

    @callback
    def async_stop(self, entry_id: str) -> None:
        """Begin nothing more of an entry, and stop its runs before their next steps."""
        self._performers.pop(entry_id, None)
        for wish in self._store.wishes.values():
            if wish.owner.entry_id == entry_id:
                self.stop_run(wish.id, UNLOADED)
        self.async_look()

    @callback
    def run_of(self, wish_id: str) -> TaskRun | None:
        """Return the run of a wish; None while nothing of it is being done."""
        return self._running.get(wish_id)

    @callback
    def stop_run(self, wish_id: str, reason: str = ENDED) -> TaskRun | None:
        """Stop the run of a wish before its next step and return it; None while nothing of it is being done."""
        if (run := self._running.get(wish_id)) is not None:
            run.stop(reason)
        return run

    async def _async_on_user(self, event: Event) -> None:
        """Stop the runs of a user who may not use Home Assistant any more."""
        user = await self._hass.auth.async_get_user(event.data["user_id"])
        if user is None or not user.is_active:
            for wish in self._store.standing:
                if wish.owner.user_id == event.data["user_id"]:
                    self.stop_run(wish.id, USER_GONE)

    @callback
    def async_look(self, _: Any = None) -> None:
        """Take up what is due, and look again when the next thing is; the clock alone decides, however it was set."""
        if self._timer is not None:
            self._timer()
            self._timer = None
        if self._hass.is_stopping or not self._performers:
            self._in_vain.async_stop()
        started = [wish for wish in self._store.standing if wish.owner.entry_id in self._performers]
        waiting_for_triggers = [wish for wish in started if course.waits_for_triggers(wish)]
        self._triggers.async_set(waiting_for_triggers)
        self._gates.async_set(waiting_for_triggers)
        for wish in waiting_for_triggers:
            self._in_vain.async_follow(wish)
        # While Home Assistant stops, nothing is written until the end: it could be done now and again after the start.
        if self._hass.state is not CoreState.running or not started:
            self._watching.async_set((), now())
            return
        self._triggers.async_retry()
        moment = now()
        looks = self._watching.async_set(started, moment)
        waiting = [wish for wish in started if wish.id not in self._running]
        is_missing = self._triggers.is_missing
        for wish in waiting:
            if course.is_over(wish, moment) or self._can_begin(wish, moment):
                run = self._running[wish.id] = TaskRun(self._hass, wish)
                self._run(self._async_take_up(wish, run))
            elif course.occasion(wish, moment) is not None:
                is_missing = True
        rest = LOOK if is_missing or self._watch is None else LOOK_RARELY
        coming = [at - moment for wish in waiting if (at := course.wakes(wish)) is not None and at > moment]
        # What is done later is no part of the conversation in which it was asked for.
        self._timer = ContextVariables().run(
            async_call_later, self._hass, min([rest, *coming, *looks]), self.async_look
        )

    @callback
    def _on_stop(self, _: Event) -> None:
        """Take back the timer, and the watch over the clock."""
        self.async_look()
        if self._watch is not None:
            self._watch()
        if any(map(course.watching, self._store.standing)):
            # How many looks were answered is not stored with each of them.
            self._hass.async_create_task(self._store.async_save(), f"{DOMAIN} stores what was watched")

    def _can_begin(self, wish: Wish, moment: float) -> bool:
        """Return whether something of a wish is due, and all that it acts on is there or was waited for long enough."""
        if (one := course.occasion(wish, moment)) is None:
            return False
        most = doing.most_late(wish)
        if one.again or one.repeated or one.late > most or doing.is_ready(self._hass, wish):
            return True
        return moment - max(one.moment, self._started) > READY_TIME or one.late > most - LOOK

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something outside of any conversation."""
        ContextVariables().run(self._hass.async_create_task, work, f"{DOMAIN} fulfils a wish", eager_start=False)

    @callback
    def _on_trigger(self, wish_id: str) -> None:
        """Take it that a trigger of a wish fired: from now on, it is due by the clock."""
        if (wish := self._store.wishes.get(wish_id)) is None:
            return
        if wish.progress.in_vain:
            self._run(self._async_on_doubtful(wish))
        elif self._gates.is_shut(wish):
            # Nothing comes due, so nothing is stored: it may fire all day.
            course.refuse(wish, NOT_HELD)
        elif course.triggered(wish, now()):
            self._run(self._store.async_save())

    async def _async_on_doubtful(self, wish: Wish) -> None:
        """Take a trigger of what waits in vain where that is over: else it would be told when what is hidden did something."""
        if not await self._in_vain.async_is_vain(wish) and course.triggered(wish, now()):
            await self._store.async_save()

    async def _async_take_up(self, wish: Wish, run: TaskRun) -> None:
        """Take a wish one step further; then look whether more is due."""
        try:
            await self._async_step(wish, run)
        except (Exception, asyncio.CancelledError) as err:
            if ends_task(err):
                self._running.pop(wish.id, None)
                self.async_look()
                raise
            # It counts as being done until the next start: tried again at once, it would fail without an end.
            log_unexpected("while a wish was fulfilled")
            return
        finally:
            run.close()
        self._running.pop(wish.id, None)
        self.async_look()

    async def _async_step(self, wish: Wish, run: TaskRun) -> None:
        """Fulfil what is due of a wish, pass over it where its conditions do not hold, or end the wish."""
        holds = True
        one = course.occasion(wish, now())
        if one is not None and not one.again and not one.repeated:
            holds = await self._async_holds(wish)
            one = course.occasion(wish, now())
        if one is None:
            course.close(wish, now())
            await self._store.async_save()
        elif one.again or one.repeated:
            await self._async_finish(wish, one, run)
        elif holds:
            await self._async_begin(wish, one, run)
        else:
            course.skip(wish, one, NOT_HELD, now())
            await self._async_tell(wish, one, Ending.SKIPPED, NOT_HELD)

    async def _async_holds(self, wish: Wish) -> bool:
        """Return whether the conditions of a wish hold; one that cannot be asked holds, and it is told then."""
        try:
            return await async_holds(self._hass, wish)
        except (ToolError, asyncio.CancelledError) as err:
            if ends_task(err):
                raise
            return True

    async def _async_begin(self, wish: Wish, one: Occasion, run: TaskRun) -> None:
        """Store that something is begun, then do it, unless it was ended or cannot be done any more."""
        if not self._is_open(wish):
            return
        course.begin(wish, one)
        await self._store.async_save()
        is_stored = not wish.what.actions or await self._store.async_is_stored(wish)
        if not self._is_open(wish):
            course.put_back(wish, one)
            await self._store.async_save()
        elif is_stored:
            await self._async_finish(wish, one, run)
        else:
            # Done now, it could be done again after a crash.
            await self._async_over(wish, one, WishOutcome(Ending.FAILED, NOT_STORED))

    def _is_open(self, wish: Wish) -> bool:
        """Return whether a wish may be begun: it stands, its entry is loaded, and Home Assistant is not stopping."""
        is_running = self._hass.state is CoreState.running
        return is_running and wish.is_standing and wish.owner.entry_id in self._performers

    async def _async_finish(self, wish: Wish, one: Occasion, run: TaskRun) -> None:
        """Do what was begun, and store what became of it; what was stopped before anything was done is due again."""
        try:
            outcome = await doing.async_do(
                self._hass,
                wish,
                one.moment,
                run,
                late=one.late,
                again=one.again,
                missed=one.missed,
                repeated=one.repeated,
                performers=self._performers.get(wish.owner.entry_id),
            )
        except StoppedError:
            if not one.again and not one.repeated:
                course.put_back(wish, one)
            await self._store.async_save()
            return
        await run.async_decided()
        await self._async_over(wish, one, outcome)

    async def _async_over(self, wish: Wish, one: Occasion, outcome: WishOutcome) -> None:
        """Store that an occurrence is over, and tell whoever listens what became of it."""
        if outcome.rest is not None and wish.is_standing:
            # After a part without steps, the delay counts from its moment, however late that is.
            begins = one.moment if one.again or not (wish.what.actions or wish.what.say) else now()
            self._let_follow(wish, outcome.rest, begins)
        course.finish(wish, one, outcome.result, now())
        await self._async_tell(wish, one, outcome.kind, outcome.result)

    def _let_follow(self, wish: Wish, rest: What, since: float) -> None:
        """Let the next part of a wish stand, stored with the end of this one; one of an earlier occurrence gives way."""
        following = follow_up(wish, rest, since)
        for old in self._store.standing:
            if old.after != following.after or old.progress.times or old.id in self._running:
                continue
            if wish.after is not None and old.created > wish.created:
                return  # The rest of a later occurrence stands already.
            del self._store.wishes[old.id]
        self._store.wishes[following.id] = following

    async def _async_tell(self, wish: Wish, one: Occasion, kind: Ending, result: str) -> None:
        """Store what became of an occurrence, and tell whoever listens."""
        await self._store.async_save()
        for listener in [*self.happened]:
            try:
                listener(wish, one.moment, kind, result)
            except Exception:  # noqa: BLE001 - whoever listens, the wish goes on
                log_unexpected("while it was shown what a wish came to")
