"""Tests of asking a user from afar: their own yes releases once, and nothing else releases anything."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from unittest.mock import patch

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.common import async_fire_time_changed

from custom_components.extended_assist.confirmation import phone_approval
from custom_components.extended_assist.confirmation.phone_approval import (
    MAX_QUESTION,
    VALID,
    async_ask_from_afar,
    async_can_ask,
)
from custom_components.extended_assist.const import DOMAIN
from homeassistant.auth.models import User
from homeassistant.core import Context, EventOrigin, HomeAssistant
from homeassistant.util import dt as dt_util
from tests.scheduled.devices import ANSWERED, AddPhone, CompanionApp

QUESTION = "Open the garage door?"
YES, NO = "Yes, do it", "No"


class Asked:
    """A question that waits for its answer on a phone."""

    def __init__(self, hass: HomeAssistant, phone: CompanionApp, question: str = QUESTION, **options: Any) -> None:
        """Ask it."""
        self._hass, self._phone, self.question = hass, phone, question
        # Home Assistant does not wait for a background task, which waits for an answer.
        self.task = hass.async_create_background_task(
            async_ask_from_afar(hass, phone.user.id, question, **options), "asks"
        )

    async def async_shown(self) -> dict[str, str]:
        """Return the keys of the buttons once the question is shown."""
        await self._phone.async_shows(self.question)
        # The service has to hear that the push was taken.
        await self._hass.async_block_till_done()
        (shown,) = [push for push in self._phone.shown if push["message"] == self.question]
        return {action["title"]: action["action"] for action in shown["data"]["actions"]}

    async def async_is_open(self) -> bool:
        """Return whether it still waits."""
        await asyncio.sleep(0)
        return not self.task.done()


@pytest.fixture
async def phone(add_phone: AddPhone, anna: User) -> CompanionApp:
    """Return Anna's phone."""
    return await add_phone(anna, "Phone")


async def test_yes(hass: HomeAssistant, phone: CompanionApp) -> None:
    """The question is shown word for word, its yes needs an unlocked phone, and is taken away when it was pressed."""
    asked = Asked(hass, phone)
    keys = await asked.async_shown()
    (shown,) = phone.shown
    assert (shown["message"], shown["title"]) == (QUESTION, "Home Assistant asks")
    assert [(action["title"], action.get("authenticationRequired")) for action in shown["data"]["actions"]] == [
        (YES, True),
        (NO, None),
    ]
    assert shown["data"]["timeout"] == VALID == 180
    assert min(map(len, keys.values())) > 40
    assert await asked.async_is_open()
    await phone.async_press(YES)
    assert await asked.task is True
    await hass.async_block_till_done(wait_background_tasks=True)
    assert phone.shown[1]["message"] == "clear_notification"
    assert phone.shown[1]["data"]["tag"] == shown["data"]["tag"]


async def test_no(hass: HomeAssistant, phone: CompanionApp, caplog: pytest.LogCaptureFixture) -> None:
    """A no is a no, and a yes after it, even at the same time, is too late and breaks nothing."""
    asked = Asked(hass, phone)
    keys = await asked.async_shown()
    for title in (NO, YES):
        Forged({"action": keys[title]}, user_id=phone.user.id).fire(hass)
    assert await asked.task is False
    assert "InvalidStateError" not in caplog.text


async def test_on_two_phones(hass: HomeAssistant, phone: CompanionApp, add_phone: AddPhone, anna: User) -> None:
    """A user is asked on all of their phones, answers on any, once; both forget the question."""
    other = await add_phone(anna, "Tablet", system="iOS")
    asked = Asked(hass, phone)
    await asked.async_shown()
    await other.async_press(YES)
    await phone.async_press(NO)
    assert await asked.task is True
    await hass.async_block_till_done(wait_background_tasks=True)
    assert [push["message"] for push in other.shown] == [QUESTION, "clear_notification"]


async def test_in_their_language(hass: HomeAssistant, phone: CompanionApp) -> None:
    """The buttons are in the language of the one who asked for it, or of the home."""
    hass.config.language = "fr"
    for options, yes in (({"language": "de"}, "Ja, tun"), ({}, "Oui, le faire")):
        asked = Asked(hass, phone, f"{QUESTION} {yes}", **options)
        assert yes in await asked.async_shown()
        await phone.async_press(yes)
        assert await asked.task is True


async def test_nobody_to_ask(hass: HomeAssistant, add_phone: AddPhone, anna: User, ben: User) -> None:
    """Where nobody can be asked the answer is no at once: no phone, none in reach, nobody, too long a question."""
    assert not await async_can_ask(hass, anna.id)
    for user_id in (anna.id, "somebody", "", None):
        assert await async_ask_from_afar(hass, user_id, QUESTION) is False
    await add_phone(anna, "Phone", local=True)
    assert await async_can_ask(hass, anna.id)
    assert await async_ask_from_afar(hass, anna.id, QUESTION) is False
    phone = await add_phone(ben, "Ben's phone")
    assert await async_ask_from_afar(hass, ben.id, "?" * (MAX_QUESTION + 1)) is False
    assert await async_ask_from_afar(hass, ben.id, "門" * (MAX_QUESTION // 3 + 1)) is False
    await hass.auth.async_update_user(ben, is_active=False)
    assert not await async_can_ask(hass, ben.id)
    assert await async_ask_from_afar(hass, ben.id, QUESTION) is False
    assert phone.shown == []


async def test_user_is_gone_meanwhile(hass: HomeAssistant, phone: CompanionApp, anna: User) -> None:
    """The yes of a user who may not use Home Assistant any more counts for nothing."""
    asked = Asked(hass, phone)
    await asked.async_shown()
    await hass.auth.async_update_user(anna, is_active=False)
    await phone.async_press(YES)
    assert await asked.task is False


async def test_silence(hass: HomeAssistant, phone: CompanionApp) -> None:
    """Without an answer it is a no, and the question is taken away."""
    asked = Asked(hass, phone)
    await asked.async_shown()
    async_fire_time_changed(hass, dt_util.utcnow() + timedelta(seconds=VALID + 1))
    assert await asked.task is False
    await phone.async_press(YES)
    await hass.async_block_till_done(wait_background_tasks=True)
    assert [push["message"] for push in phone.shown] == [QUESTION, "clear_notification"]


@pytest.mark.parametrize(("seconds", "released"), [(VALID - 1, True), (VALID, False), (VALID + 1, False), (1e7, False)])
async def test_late(
    hass: HomeAssistant, phone: CompanionApp, freezer: FrozenDateTimeFactory, seconds: float, released: bool
) -> None:
    """Time that the loop's clock does not see, such as that of a machine asleep, counts as well."""
    asked = Asked(hass, phone)
    await asked.async_shown()
    freezer.tick(seconds)
    await phone.async_press(YES)
    assert await asked.task is released


@dataclass(frozen=True)
class Forged:
    """An event that is no answer to a question."""

    data: Any
    event_type: str = ANSWERED
    user_id: str | None = None
    origin: EventOrigin = EventOrigin.remote

    def fire(self, hass: HomeAssistant) -> None:
        """Fire it."""
        hass.bus.async_fire(self.event_type, self.data, self.origin, Context(user_id=self.user_id))


EVENT_TYPES = (
    *("mobile_app_notification_cleared", "mobile_app_notification_received", "mobile_app.notification_action"),
    *("mobile_app_notification_actions", "mobile_app_notification_actio", "MOBILE_APP_NOTIFICATION_ACTION"),
    *("ios.notification_action_fired", "ios.action_fired", "notification_action", "html5_notification.clicked"),
    *("telegram_callback", "tag_scanned", "zha_event", "call_service", "extended_assist", "extended_assist_yes"),
)


def mangled(key: str) -> list[Any]:
    """Return what resembles the key of a button."""
    prefix, token = f"{DOMAIN}_", key.removeprefix(f"{DOMAIN}_")
    texts = [
        *(key[:length] for length in range(len(key))),
        *(key[start:] for start in range(1, len(key))),
        *(
            key.upper(),
            key.swapcase(),
            key.casefold() + " ",
            f" {key}",
            f"{key} ",
            f"{key}\n",
            f"{key}\0",
            f"{key}{key}",
        ),
        *(f'"{key}"', f"'{key}'", f"{key},{key}", f"{key};", f"{prefix}{key}", f"{key}=", f"{key}%00", f"\ufeff{key}"),
        *(
            key[::-1],
            f"{prefix}yes",
            f"{prefix}done_{token}",
            f"{prefix}snooze_{token}",
            token[::-1],
            f"{token}{prefix}",
        ),
        *(
            "yes",
            "Yes, do it",
            YES.upper(),
            "true",
            "1",
            "*",
            ".*",
            "%",
            "{{ action }}",
            "extended_assist_",
            "REPLY",
            "URI",
        ),
        key.replace("_", "\uff3f"),
        key.replace("e", "\u0435"),
        *(key[:at] + ("A" if key[at] != "A" else "B") + key[at + 1 :] for at in range(len(prefix), len(key))),
    ]
    others = [[key], (key,), {key: key}, {"action": key}, {key}, key.encode(), None, True, 1, 0, [], {}, ""]
    return [*(text for text in dict.fromkeys(texts) if text != key), *others]


def forged(yes: str, no: str, user: User, stranger: User, known: dict[str, str]) -> Iterator[Forged]:
    """Yield events that are not the user's answer to their question, of which `yes` and `no` are the keys."""
    for data in mangled(yes):
        yield Forged({"action": data}, user_id=user.id)
    for key in (yes, no):
        users = (stranger.id, None, "", user.id.upper(), f"{user.id} ", user.id[:-1], user.name, "system", "*")
        for user_id in users:
            yield Forged({"action": key}, user_id=user_id)
            yield Forged({"action": key, "user_id": user.id, "context": {"user_id": user.id}}, user_id=user_id)
        yield Forged({"action": key}, user_id=user.id, origin=EventOrigin.local)
        for event_type in EVENT_TYPES:
            yield Forged({"action": key}, event_type, user.id)
        for name in (
            "Action",
            "ACTION",
            "actions",
            "actionName",
            "action_name",
            "action_1_key",
            "key",
            "tag",
            "",
            "data",
        ):
            yield Forged({name: key}, user_id=user.id)
        yield Forged({"data": {"action": key}}, user_id=user.id)
        yield Forged({"action": {"action": key}}, user_id=user.id)
        yield Forged({"action": "", "reply_text": key}, user_id=user.id)
        yield Forged({"action": "REPLY", "reply_text": key}, user_id=user.id)
        yield Forged({"action": known["replayed"], "action_data": {"action": key}}, user_id=user.id)
    for key in known.values():
        for user_id in (user.id, stranger.id, None):
            yield Forged({"action": key}, user_id=user_id)
    yield Forged({}, user_id=user.id)
    yield Forged(None, user_id=user.id)


async def test_forged(
    hass: HomeAssistant, phone: CompanionApp, add_phone: AddPhone, anna: User, ben: User, freezer: FrozenDateTimeFactory
) -> None:
    """None of hundreds of forged, late, repeated and foreign events is heard; then the user's own yes is, once."""
    known: dict[str, str] = {}
    # One that was used.
    used = Asked(hass, phone, "Open the window?")
    known["replayed"] = (await used.async_shown())[YES]
    await phone.async_press(YES)
    assert await used.task is True
    # One that was refused, and one that was not answered in time.
    refused = Asked(hass, phone, "Open the cellar?")
    known |= {f"refused {title}": key for title, key in (await refused.async_shown()).items()}
    await phone.async_press(NO)
    assert await refused.task is False
    late = Asked(hass, phone, "Open the attic?", valid=60)
    known |= {f"late {title}": key for title, key in (await late.async_shown()).items()}
    freezer.tick(61)
    async_fire_time_changed(hass)
    assert await late.task is False
    # Those of another user's question, which is asked at the same time.
    other_phone = await add_phone(ben, "Ben's phone")
    foreign = Asked(hass, other_phone, "Open the gate?")
    foreign_keys = await foreign.async_shown()
    asked = Asked(hass, phone)
    keys = await asked.async_shown()
    attempts = [*forged(keys[YES], keys[NO], anna, ben, known)]
    # The user's own events with the keys of another's question; that user's own would answer it.
    attempts += [Forged({"action": key}, user_id=user) for key in foreign_keys.values() for user in (anna.id, None)]
    attempts = [*{repr(attempt): attempt for attempt in attempts}.values()]
    assert len(attempts) >= 300
    released = []
    for attempt in attempts:
        attempt.fire(hass)
        if not (await asked.async_is_open() and await foreign.async_is_open()):
            released.append(attempt)
            break
    await hass.async_block_till_done()
    assert released == []
    assert await asked.async_is_open()
    assert await foreign.async_is_open()
    Forged({"action": keys[YES]}, user_id=anna.id).fire(hass)
    Forged({"action": foreign_keys[NO]}, user_id=ben.id).fire(hass)
    assert await asked.task is True
    assert await foreign.task is False
    for attempt in attempts:
        attempt.fire(hass)
    Forged({"action": keys[YES]}, user_id=anna.id).fire(hass)
    await hass.async_block_till_done()


async def test_before_the_question(hass: HomeAssistant, phone: CompanionApp, anna: User) -> None:
    """An answer that comes before its question is none, even if somebody could foresee its key."""
    tokens = [f"token number {number}, long enough" for number in range(2)]
    answers = [Forged({"action": f"{DOMAIN}_{token}"}, user_id=anna.id) for token in tokens]
    for answer in answers:
        answer.fire(hass)
    await hass.async_block_till_done()
    with patch.object(phone_approval.secrets, "token_urlsafe", iter(tokens).__next__):
        asked = Asked(hass, phone)
        await asked.async_shown()
    assert await asked.async_is_open()
    answers[0].fire(hass)
    assert await asked.task is True


async def test_two_questions_of_one_user(hass: HomeAssistant, phone: CompanionApp) -> None:
    """Each answer is that to its own question."""
    asked = [Asked(hass, phone, f"Open door {number}?") for number in range(3)]
    keys = [await question.async_shown() for question in asked]
    assert len({key for pair in keys for key in pair.values()}) == 6
    assert len({push["data"]["tag"] for push in phone.shown}) == 3
    await phone.async_fire(ANSWERED, {"action": keys[1][YES]})
    assert await asked[1].task is True
    assert [await question.async_is_open() for question in asked] == [True, False, True]
    await phone.async_fire(ANSWERED, {"action": keys[0][NO]})
    await phone.async_fire(ANSWERED, {"action": keys[2][YES]})
    assert [await question.task for question in asked] == [False, True, True]


async def test_pressed_often(hass: HomeAssistant, phone: CompanionApp) -> None:
    """A yes that arrives many times at once is one."""
    asked = Asked(hass, phone)
    await asked.async_shown()
    await asyncio.gather(*(phone.async_press(YES) for _ in range(10)), phone.async_press(NO))
    assert isinstance(await asked.task, bool)
    assert ANSWERED not in hass.bus.async_listeners()


async def test_given_up(hass: HomeAssistant, phone: CompanionApp) -> None:
    """When nobody waits for the answer any more, nothing listens for it, and the question is taken away."""
    asked = Asked(hass, phone)
    await asked.async_shown()
    assert hass.bus.async_listeners()[ANSWERED] == 1
    asked.task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked.task
    assert ANSWERED not in hass.bus.async_listeners()
    await hass.async_block_till_done(wait_background_tasks=True)
    assert phone.shown[-1]["message"] == "clear_notification"


async def test_nothing_is_logged(hass: HomeAssistant, phone: CompanionApp, caplog: pytest.LogCaptureFixture) -> None:
    """Neither the question nor its keys are logged by us, and nothing above debug."""
    caplog.clear()
    asked = Asked(hass, phone)
    keys = await asked.async_shown()
    await phone.async_press(YES)
    assert await asked.task
    ours = [record for record in caplog.records if record.name.startswith("custom_components.")]
    assert not [record for record in ours if record.levelname != "DEBUG"]
    assert not [record for record in ours for text in (QUESTION, *keys.values()) if text in record.getMessage()]
