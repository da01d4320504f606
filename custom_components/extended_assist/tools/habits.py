"""Find what people do repeatedly by hand and could automate, and note habits that they decline."""

import asyncio
from bisect import bisect_left
from collections.abc import Callable
from itertools import batched, islice
from time import monotonic
from typing import Any, Final, override

import voluptuous as vol

from homeassistant.components.recorder.const import ALL_DOMAIN_EXCLUDE_ATTRS
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import config_validation as cv, entity_registry as er, llm
from homeassistant.util import dt as dt_util
from homeassistant.util.json import JsonObjectType

from ..automations.check import async_check, normalized
from ..calls.call import ToolCall
from ..calls.journal import HABIT, Change
from ..calls.plan import Step
from ..calls.policy import Tier
from ..confirmation.consequential import is_consequential
from ..exposure.groups import is_group, members_of
from ..ha_compat.automations import async_validate_automation
from ..ha_compat.recorder import is_entity_recorded
from ..habits.changes import By
from ..habits.dismissed import async_get_declined, declined_from
from ..habits.find import Doer, FoundHabits, Sought, async_doers, find_habits, read_home
from ..habits.habit import LEFT_ON, TIME, Habit
from ..habits.kinds import SETTABLE, action, is_leading, states_of
from ..habits.left_on import was_left_on
from ..llm_tools.extended_tool import READ_ONLY, ExtendedTool
from ..recorder import async_read, ready_recorder
from ..results import ToolError, format_minute, size
from ..simulation.historical_state import NotReplayableError, SimulationOutcome
from ..simulation.run import Rehearsed, RehearsedSpan, rehearse

_DAYS: Final = 42
_FEWEST: Final = 7
_MOST_DAYS: Final = 90
_AT_ONCE: Final = 5
"""The most habits in one answer."""
_TRIED: Final = 15
"""The most habits whose automation is checked and simulated for one answer."""
_DAY: Final = 86_400.0
_ONE: Final = 4.0
"""Seconds that the simulation of one habit may take."""
_SHOWN: Final = 3
_SLICE: Final = 100
"""Entities that are checked at a time."""
_COUNTED: Final = (
    "what was done in the app or on a dashboard, and at the devices themselves (a switch on the wall and a device's own "
    "schedule look the same)"
)
_UNTOLD: Final = "Agents and programs that act in a user's own name look like that user."


class FindHabitsTool(ExtendedTool):
    """Find what people do repeatedly by hand."""

    name = "extended_assist__find_habits"
    title = "Find habits"
    description = (
        "What people in this home do by hand again and again, and the automation that would do it, with how often that would "
        "have been right. Offer one; after a yes, pass its automation to add_automation; after a no, call decline_habit."
    )
    annotations = READ_ONLY
    family = "rehearsal"
    tier = Tier.READ
    deadline = 120.0
    parameters = vol.Schema(
        {
            vol.Optional("days", description=f"How far back, {_FEWEST} to {_MOST_DAYS}. Default: {_DAYS}."): vol.All(
                vol.Coerce(int), vol.Range(_FEWEST, _MOST_DAYS)
            ),
            vol.Optional("entity", description="Only what is done with this one."): cv.string,
            vol.Optional(
                "presence", description="Also after motion and presence, only when the user asks for that."
            ): cv.boolean,
        }
    )

    @override
    async def async_run(self, call: ToolCall) -> JsonObjectType:
        """Find habits, simulate the best ones, and describe these."""
        ready_recorder(call.hass)  # Raises where there is none: its settings are asked for below.
        await call.exposure.async_prepare()
        end = dt_util.utcnow().timestamp()
        # Of the first and the last day only a part is known, which is no whole day.
        start = end - max(call.arguments.get("days", _DAYS), _FEWEST + 1) * _DAY
        declined = await async_get_declined(call.hass)
        over = _Over(call, await async_doers(call.hass))
        over.declined = declined.all
        sought = await _async_sought(call, start, end, over)
        found = await async_read(call.hass, read_home, sought)
        found = await call.hass.async_add_executor_job(find_habits, call.hass, sought, found)
        answer = _heading(found, start, end)
        if len(found.days.all) < _FEWEST:
            return _noted(answer | {"habits": []}, f"{_FEWEST} whole days are needed, better some weeks of them.")
        told: list[JsonObjectType] = []
        for habit in islice(found.habits, _TRIED):
            one = await _async_told(call, found, habit)
            if one is None:
                continue
            if told and size(answer | {"habits": [*told, one]}) > call.budget - 100:
                break
            declined.told[habit.id] = habit
            told.append(one)
            if len(told) == _AT_ONCE:
                break
        answer["habits"] = [*told]
        if len(found.habits) > len(told) and told:
            answer["more"] = f"{len(found.habits) - len(told)} weaker ones. Decline some, or give entity, to see them."
        if not told:
            return _noted(answer, _none_told(found))
        return answer


class DeclineHabitTool(ExtendedTool):
    """Decline a habit for good."""

    name = "extended_assist__decline_habit"
    title = "Decline habit"
    description = (
        "Never offer a habit of find_habits again, for nobody in the household, when the user does not want it."
    )
    annotations = llm.ToolAnnotations(read_only=False, destructive=False, idempotent=True, open_world=False)
    family = "rehearsal"
    tier = Tier.CONTROL
    parameters = vol.Schema({vol.Required("habit", description="Its id, from find_habits."): cv.string})

    @override
    async def async_run(self, call: ToolCall) -> JsonObjectType:
        """Store the dismissal."""
        declined = await async_get_declined(call.hass)
        habit = declined.told.get(call.arguments["habit"].strip().lower())
        shown = {habit.does[0], *(habit.cause or ())[:1]} if habit else set()
        if habit is None or not all(map(call.exposure.is_exposed, shown)):
            raise ToolError(
                "No habit with this id was told since the start. Call find_habits for those that are there."
            )
        await declined.async_decline(declined_from(call.hass, habit))
        call.recording.is_complete = True
        call.recording.changes.append(Change(HABIT, "declining a habit", {"id": habit.id}))
        return {"declined": habit.told(_names(call))}


class _Over:
    """Returns which habits are not offered."""

    def __init__(self, call: ToolCall, doers: list[Doer]) -> None:
        """Store what automations do."""
        self._hass = call.hass
        self._doers = doers
        self.declined: list[Any] = []

    def __call__(self, habit: Habit) -> bool:
        """Return whether an automation does it already, or a user declined it; called in the recorder's executor."""
        if any(doer.does(habit) for doer in self._doers):
            return True
        return bool(self.declined) and any(map(declined_from(self._hass, habit).is_like, self.declined))


async def _async_sought(call: ToolCall, start: float, end: float, over: Callable[[Habit], bool]) -> Sought:
    """Return the entities to search, in slices that let the event loop run."""
    hass, exposed = call.hass, call.exposure.entities
    wanted = exposed
    if name := call.arguments.get("entity"):
        wanted = {entity.entity_id: entity for entity in call.exposure.resolve(name)}
    settable = set()
    for some in batched(wanted.items(), _SLICE, strict=False):
        settable |= {
            entity_id
            for entity_id, entity in some
            if entity.domain in SETTABLE
            and not _is_consequential(hass, entity_id)
            and is_entity_recorded(hass, entity_id)
        }
        await asyncio.sleep(0)
    if not settable:
        raise ToolError("Nothing that people set by hand is exposed and recorded here, so no habit can be found.")
    presence = call.arguments.get("presence", False)
    registry, leading, members = er.async_get(hass), {}, {}
    for some in batched(exposed.items(), _SLICE, strict=False):
        for entity_id, entity in some:
            if is_leading(entity.state, presence=presence) and is_entity_recorded(hass, entity_id):
                entry = registry.async_get(entity_id)
                leading[entity_id] = (entry.device_id if entry else None) or ""
            if entity_id in settable and is_group(hass, entity_id):
                members[entity_id] = frozenset(members_of(hass, entity_id))
        await asyncio.sleep(0)
    return Sought(
        start=start,
        end=end,
        settable=frozenset(settable),
        leading=leading,
        members=members,
        is_over=over,
    )


@callback
def _is_consequential(hass: HomeAssistant, entity_id: str) -> bool:
    """Return whether a habit can do anything consequential with an entity or a group."""
    later = (("maybe", ""),)  # What it is now says nothing of then.
    actions = {action(entity_id, state)["action"] for state in states_of(entity_id)}
    return any(is_consequential(hass, Step(one, (entity_id,), frame=later)) for one in actions)


def _heading(found: FoundHabits, start: float, end: float) -> JsonObjectType:
    """Return the span, the number of entities that were looked through, and the gaps."""
    counted = found.counts()
    answer: JsonObjectType = {"start": format_minute(start), "end": format_minute(end)}
    if found.since is not None and found.since > start + 60:
        answer["recorded_since"] = format_minute(found.since)
    if found.until is not None:
        answer["only_until"] = f"{format_minute(found.until)}; it took too long. Ask for fewer days."
    by_hand = counted[By.USER] + counted[By.DEVICE]
    answer["counted"] = f"{by_hand} changes by hand: {_COUNTED}. {_UNTOLD}"
    others = [
        f"{counted[by]} {what}"
        for by, what in (
            (By.MACHINE, "by automations, scripts, scenes and assistants"),
            (By.NOBODY_KNOWN, "by callers that are not known"),
            (By.NO_CONTEXT, "whose contexts are missing, so nobody knows by whom"),
        )
        if counted[by]
    ]
    if others:
        answer["not_counted"] = ", ".join(others)
    if not found.is_whole:
        answer["note"] = "There was no time for everything. Ask for fewer days, or give entity."
    if found.days.left_out:
        answer["left_out_days"] = f"{len(found.days.left_out)} on which nobody did anything by hand"
    if found.changes.too_many:
        answer["left_out_entities"] = f"{len(found.changes.too_many)} that change too often to be habits"
    return answer


def _noted(answer: JsonObjectType, note: str) -> JsonObjectType:
    """Return an answer with another note."""
    return answer | {"note": f"{answer['note']} {note}" if "note" in answer else note}


def _none_told(found: FoundHabits) -> str:
    """Return why no habit is offered."""
    if found.habits:
        return "What is done by hand regularly cannot be automated here."
    if found.over:
        return "What is done by hand regularly was declined, or an automation does it already."
    if not found.is_whole or found.until is not None:
        return "In what there was time for, nothing is done by hand so regularly that it is more than chance."
    return "Nothing is done by hand so regularly that it is more than chance."


def _names(call: ToolCall) -> Callable[[str], str]:
    """Return the function that names an entity."""

    def name(entity_id: str) -> str:
        entity = call.exposure.entity(entity_id)
        return entity.name if entity else entity_id

    return name


async def _async_told(call: ToolCall, found: FoundHabits, habit: Habit) -> JsonObjectType | None:
    """Return the data of a habit; None if its automation may not be written."""
    config = habit.automation(_names(call))
    try:
        checked = await async_check(call, "habit", normalized(config))
        validated = await async_validate_automation(call.hass, "habit", {"id": "habit", **checked.whole})
    except ToolError:
        return None
    if validated is None:
        return None
    told: JsonObjectType = {"id": habit.id, "habit": habit.told(_names(call))}
    if habit.exceptions:
        length = len("2026-11-18") if habit.what == TIME else None
        last = ", ".join(format_minute(moment)[:length] for moment in habit.exceptions[-_SHOWN:])
        told["exceptions"] = f"{len(habit.exceptions)}, the last: {last}"
    user, device = habit.by
    if user and device:
        told["by"] = f"in the app {user} times, at the device {device} times"
    else:
        told["by"] = "in the app" if user else "at the device, or by the device itself"
    told["automation"] = config
    reads = frozenset({habit.cause[0]} if habit.cause else {habit.does[0]} if habit.what == LEFT_ON else ())
    subject = Rehearsed(
        config=validated,
        reads=reads,
        uses=dict.fromkeys({habit.does[0], *reads}, frozenset(ALL_DOMAIN_EXCLUDE_ATTRS)),
    )
    days = found.days
    span = RehearsedSpan(days.moment(days.all[0], 240), days.moment(days.all[-1] + 1, 240), monotonic() + _ONE)
    try:
        outcome = await async_read(call.hass, rehearse, call.exposure, subject, span)
    except NotReplayableError as err:
        told["rehearsal"] = f"not known: {err}"
    else:
        told["rehearsal"] = await asyncio.to_thread(_rehearsed, found, habit, outcome)
    return told


def _rehearsed(found: FoundHabits, habit: Habit, outcome: SimulationOutcome) -> str:
    """Return how often the automation would have been right."""
    by_hand = found.changes.by_hand(habit.does)

    def done(first: float, last: float) -> bool:
        index = bisect_left(by_hand, first)
        return index < len(by_hand) and by_hand[index] <= last

    right = already = wrong = away = 0
    for run in outcome.runs:
        if habit.what == LEFT_ON:
            is_right = was_left_on(habit.supports, run.moment)
        else:
            is_right = habit.is_right(run.moment, done)
        if is_right:
            right += 1
        elif run.already:
            already += 1
        elif found.days.place(run.moment)[0] in found.days.left_out:
            away += 1
        else:
            wrong += 1
    text = f"would have been right {_times(right)} and wrong {_times(wrong)}"
    if away:
        text += f", and have run {_times(away)} on days on which nobody did anything"
    if already:
        text += f"; {_times(already)} it was so already"
    if not outcome.is_whole:
        text += f"; rehearsed until {format_minute(outcome.until)} only"
    return text


def _times(count: int) -> str:
    """Return a number of times in words."""
    return "once" if count == 1 else "never" if not count else f"{count} times"
