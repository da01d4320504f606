"""Deliver the message of a task by satellite, phone or notification."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, time
from functools import partial
import re
import secrets
from typing import Any, Final, Protocol

from homeassistant.components import persistent_notification
from homeassistant.const import ATTR_SUPPORTED_FEATURES
from homeassistant.core import CALLBACK_TYPE, Context, Event, HomeAssistant, callback
from homeassistant.helpers import device_registry as dr, entity_registry as er
from homeassistant.util import dt as dt_util

from ..confirmation.phone_approval import (
    ANSWERED,
    Button,
    PhoneMessage,
    async_clear,
    async_is_active,
    async_phones,
    async_send,
    pressed,
)
from ..confirmation.satellites import ANNOUNCES, CONVERSES, SATELLITE, async_call, async_get_locks, async_idle
from ..confirmation.untrusted_text import async_are_others, async_note_own_start
from ..const import CONF_QUIET_END, CONF_QUIET_START, DOMAIN, LOGGER
from ..results import ToolError
from .ownership import async_may_change
from .phrases import say
from .scheduled_task import Hearer, ScheduledTask, When

SNOOZE: Final = 600
"""Seconds of a snooze by button."""

_CALLS = "voip"
"""The integration whose satellites would ring."""
_PERSON = "person"
_DONE, _SNOOZE = "done", "snooze"
_PROMPT = (
    f"You have just reminded the user of what waits under the id {{id}} in {DOMAIN}__pending. When the user says that it is "
    "done, or wants to hear it later, tell that tool."
)
_MARKDOWN = re.compile(r"([\\`*_\[\]<>!#|~])")


class Answerable(Protocol):
    """Receives "done" and "snooze" from buttons."""

    @property
    def standing(self) -> Sequence[ScheduledTask]:
        """Return the pending tasks."""

    async def async_done(self, task_id: str) -> ScheduledTask | None:
        """Complete the occurrence, or the task."""

    async def async_snooze(self, task_id: str, seconds: float) -> ScheduledTask | None:
        """Repeat the message later."""


async def async_deliver(hass: HomeAssistant, task: ScheduledTask, words: str, *, answerable: bool) -> bool:
    """Deliver words to the audience of a task; return whether a device of one of them accepted them.

    If none did, a notification in Home Assistant remains. All users see it, so it only mentions that a private message
    exists. It does not count as delivered, because nobody knows who saw it.
    """
    owner_id = task.owner.user_id
    if owner_id is not None and not await async_is_active(hass, owner_id):
        return False  # Of what a user keeps for themselves, nobody else is told while they may not use Home Assistant.
    is_quiet = async_is_quiet(hass, task)
    audience = task.audience
    if audience.hearer is Hearer.EVERYONE:
        users = {
            user_id
            for state in hass.states.async_all(_PERSON)
            if (user_id := state.attributes.get("user_id")) is not None
        }
        spoken, sent = await asyncio.gather(
            _async_speak(hass, [] if is_quiet else _satellites(hass, task), task, words, answerable=answerable),
            _async_send(hass, users, task, words, answerable=answerable, is_quiet=is_quiet),
        )
        reached = spoken or sent
    elif audience.hearer is Hearer.PERSON:
        person = hass.states.get(audience.target or "")
        users = {person.attributes.get("user_id")} if person is not None and person.domain == _PERSON else set()
        # What is for one person is told to nobody else, not even in a notification that everybody sees.
        return await _async_send(hass, users, task, words, answerable=answerable, is_quiet=is_quiet)
    else:
        satellites = [] if is_quiet else _satellites(hass, task)
        reached = await _async_speak(hass, satellites, task, words, answerable=answerable) or await _async_send(
            hass, {task.owner.user_id}, task, words, answerable=answerable, is_quiet=is_quiet
        )
    if reached:
        async_dismiss(hass, task)
    else:
        is_for_all = task.is_household or audience.hearer is Hearer.EVERYONE
        _async_notify(hass, task, words if is_for_all else await _async_seen_by_all(hass, task, words))
    return reached


async def _async_seen_by_all(hass: HomeAssistant, task: ScheduledTask, words: str) -> str:
    """Return the words for a notification that all users see: in full if the owner is the only user."""
    users = [user for user in await hass.auth.async_get_users() if user.is_active and not user.system_generated]
    owner = next((user for user in users if user.id == task.owner.user_id), None)
    return words if users == [owner] else say("waits", task.owner.language, name=(owner.name if owner else "") or "?")


@callback
def async_listen_answers(hass: HomeAssistant, tasks: Answerable) -> CALLBACK_TYPE:
    """Listen for the buttons of messages, from the users to whose phones these were sent.

    Return the function that stops it.
    """

    async def hear(event: Event) -> None:
        if (answer := pressed(event)) is None:
            return
        key, user_id = answer
        verb, _, token = key.removeprefix(f"{DOMAIN}_").partition("_")
        if verb not in (_DONE, _SNOOZE) or key != _key(verb, token) or not await async_is_active(hass, user_id):
            return
        task = _answered(tasks, token, user_id)
        if task is None or not await async_may_change(hass, task, user_id, is_addressed=True):
            return
        # Each button works once: whatever changes the task takes the buttons back.
        if _answered(tasks, token, user_id) is None:
            return
        try:
            if verb == _DONE:
                await tasks.async_done(task.id)
            else:
                await tasks.async_snooze(task.id, SNOOZE)
        except ToolError as err:
            # It is said again, with new buttons.
            LOGGER.warning("A reminder was answered on a phone, and stays as it was: %s", err)

    return hass.bus.async_listen(ANSWERED, hear)


@callback
def _answered(tasks: Answerable, token: str, user_id: str) -> ScheduledTask | None:
    """Return the task of a button's token that was sent to a user, if the button still works."""
    return next((task for task in tasks.standing if task.progress.answers.get(token) == user_id), None)


@callback
def async_withdraw(hass: HomeAssistant, task: ScheduledTask, answers: Mapping[str, str]) -> None:
    """Remove the notification and its buttons of a task that is done, ended or snoozed."""
    async_dismiss(hass, task)
    if users := set(answers.values()):
        hass.async_create_background_task(_async_clear(hass, users, _tag(task)), f"{DOMAIN} withdraws what was said")


@callback
def async_dismiss(hass: HomeAssistant, task: ScheduledTask) -> None:
    """Remove the notification of a task without open messages."""
    persistent_notification.async_dismiss(hass, _tag(task))


async def _async_clear(hass: HomeAssistant, users: Iterable[str], tag: str) -> None:
    """Remove a message from the phones of users."""
    await asyncio.gather(*(async_clear(hass, phone, tag) for phone in await async_phones(hass, users)))


@callback
def async_is_quiet(hass: HomeAssistant, task: ScheduledTask, now: datetime | None = None) -> bool:
    """Return whether a message must be silent now.

    In the quiet hours of the options, unless the user asked for that time.
    """
    entry = hass.config_entries.async_get_entry(task.owner.entry_id)
    hours = quiet_hours(entry.options) if entry is not None else None
    if hours is None or not is_within(dt_util.as_local(now or dt_util.utcnow()).time(), hours):
        return False
    asked = asked_time(task.when)
    return task.audience.hearer is not Hearer.HERE or asked is None or not is_within(asked, hours)


def quiet_hours(options: Mapping[str, Any]) -> tuple[time, time] | None:
    """Return the begin and end of the quiet hours, or None."""
    start, end = (dt_util.parse_time(options.get(key) or "") for key in (CONF_QUIET_START, CONF_QUIET_END))
    return None if start is None or end is None or start == end else (start, end)


def is_within(moment: time, hours: tuple[time, time]) -> bool:
    """Return whether a time of day is within hours that may include midnight."""
    start, end = hours
    return start <= moment < end if start < end else moment >= start or moment < end


def asked_time(when: When) -> time | None:
    """Return the time of day that the user asked for, as for an alarm; None if a trigger starts the task."""
    if when.triggers or when.watch:
        return None
    if when.moment is not None:
        return dt_util.as_local(dt_util.utc_from_timestamp(when.moment)).time()
    start = dt_util.parse_datetime(when.start or "") if when.rule else None
    return None if start is None else start.time()


@callback
def _satellites(hass: HomeAssistant, task: ScheduledTask) -> list[str]:
    """Return the satellites for the message of a task."""
    entities, devices = er.async_get(hass), dr.async_get(hass)
    found = []
    for state in hass.states.async_all(SATELLITE):
        entry = entities.async_get(state.entity_id)
        device_id = entry.device_id if entry is not None else None
        if task.audience.hearer is Hearer.HERE:
            is_meant = device_id is not None and device_id == task.owner.device_id
        elif entry is not None and entry.platform == _CALLS:
            is_meant = False
        elif task.audience.hearer is Hearer.AREA:
            device = devices.async_get(device_id) if device_id is not None else None
            area_id = (entry.area_id if entry is not None else None) or (device.area_id if device is not None else None)
            is_meant = area_id is not None and area_id == task.audience.target
        else:
            is_meant = True
        if is_meant:
            found.append(state.entity_id)
    return found


async def _async_speak(
    hass: HomeAssistant, satellites: Iterable[str], task: ScheduledTask, words: str, *, answerable: bool
) -> bool:
    """Say words on satellites; return whether one said them."""
    said = [_async_say(hass, entity_id, task, words, answerable=answerable) for entity_id in satellites]
    return any(await asyncio.gather(*said))


async def _async_say(hass: HomeAssistant, entity_id: str, task: ScheduledTask, words: str, *, answerable: bool) -> bool:
    """Say words on a satellite once it is idle; return whether it did."""
    context = Context(user_id=task.owner.user_id)
    if answerable:
        words = f"{words} {say('say_done', task.owner.language)}"
    # What comes due at the same time is said one after the other.
    async with async_get_locks(hass)[entity_id]:
        if (state := await async_idle(hass, entity_id)) is None:
            return False
        features = state.attributes.get(ATTR_SUPPORTED_FEATURES, 0)
        if answerable and features & CONVERSES:
            data = {"start_message": words, "extra_system_prompt": _PROMPT.format(id=task.id)}
            # Nobody is logged in at a satellite.
            if not task.what.ask and not await async_are_others(hass, None, [task.author]):
                async_note_own_start(hass, words, data["extra_system_prompt"])
            if await async_call(hass, "start_conversation", entity_id, data, context):
                return True
        return bool(features & ANNOUNCES) and await async_call(hass, "announce", entity_id, {"message": words}, context)


async def _async_send(
    hass: HomeAssistant,
    users: Iterable[str | None],
    task: ScheduledTask,
    words: str,
    *,
    answerable: bool,
    is_quiet: bool,
) -> bool:
    """Show words on the phones of users; return whether one took them."""
    phones = await async_phones(hass, filter(None, users))
    language = task.owner.language
    answering = {
        phone.user_id
        for phone in phones
        if answerable and await async_may_change(hass, task, phone.user_id, is_addressed=True)
    }
    tokens = {user_id: secrets.token_urlsafe() for user_id in answering}
    # What was sent before is replaced on the phones, and its buttons are of no use any more.
    task.progress.answers = {token: user_id for user_id, token in tokens.items()}
    message = partial(
        PhoneMessage,
        text=words,
        title=say("title", language),
        tag=_tag(task),
        # What was asked for a time is worth nothing later; phones show it even while they hold back the rest.
        is_urgent=asked_time(task.when) is not None,
        silent_channel=say("silent", language) if is_quiet else None,
    )
    sent = [
        async_send(
            hass,
            phone,
            message(
                buttons=[Button(_key(verb, tokens[phone.user_id]), say(verb, language)) for verb in (_DONE, _SNOOZE)]
                if phone.user_id in answering
                else ()
            ),
            Context(user_id=task.owner.user_id),
        )
        for phone in phones
    ]
    return any(await asyncio.gather(*sent))


def _tag(task: ScheduledTask) -> str:
    """Return the tag of a task's messages: a later message replaces an earlier one."""
    return f"{DOMAIN}_{task.id}"


def _key(verb: str, token: str) -> str:
    return f"{DOMAIN}_{verb}_{token}"


@callback
def _async_notify(hass: HomeAssistant, task: ScheduledTask, words: str) -> None:
    """Create a notification in Home Assistant, which renders its text as Markdown."""
    title = say("title", task.owner.language)
    persistent_notification.async_create(hass, _MARKDOWN.sub(r"\\\1", words), title, _tag(task))
