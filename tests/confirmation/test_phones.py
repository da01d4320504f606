"""Tests of messages to phones, and of their buttons."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from custom_components.extended_assist.confirmation.phone_approval import (
    Button,
    Phone,
    PhoneMessage,
    async_phones,
    async_send,
)
from custom_components.extended_assist.scheduled.delivery import SNOOZE, async_deliver, async_listen_answers
from custom_components.extended_assist.scheduled.scheduled_task import (
    Audience,
    Hearer,
    ScheduledTask,
    When,
    read_stored,
)
from homeassistant.auth.models import User
from homeassistant.components import person
from homeassistant.core import Context, EventOrigin, HomeAssistant
from tests.scheduled.devices import ANSWERED, AddPhone, CompanionApp, a_task

TEXT = "Think of the milk."


def message(text: str = TEXT, **parts: Any) -> PhoneMessage:
    """Return a message."""
    return PhoneMessage(**{"text": text, "title": "Reminder", "tag": "a tag"} | parts)


async def show(hass: HomeAssistant, phone: CompanionApp, *messages: PhoneMessage) -> list[dict[str, Any]]:
    """Return what a phone is sent for messages."""
    (found,) = await async_phones(hass, {phone.user.id})
    for each in messages:
        assert await async_send(hass, found, each)
    return phone.shown


async def test_what_is_sent(hass: HomeAssistant, add_phone: AddPhone, anna: User) -> None:
    """A message has its text, its title and its buttons, and says what the apps are to do with it."""
    phone = await add_phone(anna, "Phone")
    buttons = [Button("key 1", "Yes", needs_unlocking=True), Button("key 2", "No")]
    plain, asking, silent = await show(
        hass,
        phone,
        message(),
        message(buttons=buttons, is_urgent=True, seconds=180.0),
        message(silent_channel="Silent"),
    )
    shared = {"tag": "a tag", "ttl": 0, "priority": "high"}
    assert (plain["message"], plain["title"], plain["data"]) == (TEXT, "Reminder", shared)
    assert asking["data"] == shared | {
        "push": {"interruption-level": "time-sensitive"},
        "timeout": 180,
        "actions": [
            {"action": "key 1", "title": "Yes", "authenticationRequired": True},
            {"action": "key 2", "title": "No"},
        ],
    }
    assert silent["data"] == shared | {
        "channel": "Silent",
        "importance": "low",
        "push": {"sound": "none", "interruption-level": "passive"},
    }


@pytest.mark.parametrize(
    ("system", "text", "shown"),
    [
        ("Android", "Open <the> gate & door?", "Open &lt;the&gt; gate &amp; door?"),
        ("Android", "Open <!-- the gate --> the window?", "Open &lt;!-- the gate --&gt; the window?"),
        ("iOS", "Open <the> gate & door?", "Open <the> gate & door?"),
        *(
            (system, word, f"{word}.")
            for system in ("Android", "iOS")
            for word in ("TTS", "clear_notification", "command_dnd", "request_location_update", "delete_alert", "Milk")
        ),
        ("Android", "Milk!", "Milk!"),
        ("Android", "牛奶", "牛奶"),
    ],
)
async def test_text_is_text(
    hass: HomeAssistant, add_phone: AddPhone, anna: User, system: str, text: str, shown: str
) -> None:
    """No text is a command for the app, and none hides a part of itself as HTML."""
    phone = await add_phone(anna, "Phone", system=system)
    (sent,) = await show(hass, phone, message(text))
    assert sent["message"] == shown


async def test_whose_phones(hass: HomeAssistant, add_phone: AddPhone, anna: User, ben: User) -> None:
    """Phones are those of the user; of two with the same name, one is never taken for the other."""
    assert await async_phones(hass, {anna.id, ben.id}) == []
    for user, name in ((anna, "Phone"), (anna, "Tablet"), (ben, "Ben's phone")):
        await add_phone(user, name)
    assert await async_phones(hass, {anna.id}) == [
        Phone(anna.id, "mobile_app_phone", reads_html=True),
        Phone(anna.id, "mobile_app_tablet", reads_html=True),
    ]
    twin = await add_phone(ben, "Phone", system="iOS")
    found = [phone.action for phone in await async_phones(hass, {anna.id, ben.id})]
    assert sorted(found) == ["mobile_app_ben_s_phone", "mobile_app_phone", "mobile_app_tablet"]
    (shared,) = [phone for phone in await async_phones(hass, {anna.id, ben.id}) if phone.action == "mobile_app_phone"]
    assert await async_send(hass, shared, message())
    assert bool(twin.shown) is (shared.user_id == ben.id)
    assert await async_phones(hass, set()) == []
    await hass.config_entries.async_unload(twin.entry.entry_id)
    assert {phone.user_id for phone in await async_phones(hass, {ben.id})} == {ben.id}


async def test_no_phone_to_be_reached(hass: HomeAssistant, add_phone: AddPhone, anna: User) -> None:
    """A phone that is reached only while it is connected is not reached while it is not; one without messages never."""
    await add_phone(anna, "Phone", local=True)
    (found,) = await async_phones(hass, {anna.id})
    assert not await async_send(hass, found, message())
    assert not await async_send(hass, Phone(anna.id, "mobile_app_gone", reads_html=False), message())


class ScheduledTasks:
    """Keeps what is said to be done or put off."""

    def __init__(self, *standing: ScheduledTask) -> None:
        """Take the tasks that stand."""
        self.standing: Sequence[ScheduledTask] = standing
        self.answered: list[tuple[str, str, float | None]] = []

    async def async_done(self, task_id: str) -> ScheduledTask | None:
        """Keep what is done."""
        self._take_buttons_back(task_id)
        self.answered.append(("done", task_id, None))
        return None

    async def async_snooze(self, task_id: str, seconds: float) -> ScheduledTask | None:
        """Keep what is put off."""
        self._take_buttons_back(task_id)
        self.answered.append(("snooze", task_id, seconds))
        return None

    def _take_buttons_back(self, task_id: str) -> None:
        """Let the buttons of a task work no more, as whatever changes one does."""
        for task in self.standing:
            if task.id == task_id:
                task.progress.answers = {}


async def test_buttons(hass: HomeAssistant, add_phone: AddPhone, anna: User) -> None:
    """Either button under what was said last is heard, once, and of the task that was said."""
    phone = await add_phone(anna, "Phone")
    task, other = (a_task(owner={"user_id": anna.id}) for _ in range(2))
    tasks = ScheduledTasks(other, task)
    stop = async_listen_answers(hass, tasks)
    assert await async_deliver(hass, other, TEXT, answerable=False)
    assert "actions" not in phone.shown[-1]["data"]
    assert await async_deliver(hass, task, TEXT, answerable=True)
    first = phone.buttons()
    assert not [button for button in first.values() if "authenticationRequired" in button]
    await phone.async_press("Done")
    await phone.async_press("Done")
    await phone.async_press("Snooze")
    await hass.async_block_till_done()
    assert tasks.answered == [("done", task.id, None)]
    assert await async_deliver(hass, task, TEXT, answerable=True)
    assert not {button["action"] for button in first.values()} & {
        button["action"] for button in phone.buttons().values()
    }
    assert len({push["data"]["tag"] for push in phone.shown}) == 2
    for button in first.values():
        await phone.async_fire(ANSWERED, {"action": button["action"]})
    await phone.async_press("Snooze")
    await hass.async_block_till_done()
    assert tasks.answered[1:] == [("snooze", task.id, SNOOZE)]
    assert await async_deliver(hass, task, TEXT, answerable=True)
    stop()
    await phone.async_press("Done")
    await hass.async_block_till_done()
    assert len(tasks.answered) == 2


async def test_buttons_after_a_restart(hass: HomeAssistant, add_phone: AddPhone, anna: User) -> None:
    """What was sent before Home Assistant was restarted can still be answered."""
    phone = await add_phone(anna, "Phone")
    task = a_task(owner={"user_id": anna.id})
    assert await async_deliver(hass, task, TEXT, answerable=True)
    tasks = ScheduledTasks(*read_stored({"wishes": [task.stored()]}))
    async_listen_answers(hass, tasks)
    await phone.async_press("Done")
    await hass.async_block_till_done()
    assert tasks.answered == [("done", task.id, None)]


@pytest.mark.parametrize(
    ("when", "push"),
    [
        (When(moment=0), {"interruption-level": "time-sensitive"}),
        (When(rule="FREQ=DAILY", start="2026-03-02T07:00:00"), {"interruption-level": "time-sensitive"}),
        (When(triggers=[{"trigger": "state"}]), None),
    ],
)
async def test_what_cannot_wait(
    hass: HomeAssistant, add_phone: AddPhone, anna: User, when: When, push: dict[str, Any] | None
) -> None:
    """What was asked for a time is shown even on a phone that holds back the rest."""
    phone = await add_phone(anna, "Phone", system="iOS")
    assert await async_deliver(hass, a_task(owner={"user_id": anna.id}, when=when), TEXT, answerable=False)
    assert phone.shown[0]["data"].get("push") == push


async def test_whose_buttons(hass: HomeAssistant, add_phone: AddPhone, anna: User, ben: User) -> None:
    """A button is heard from the user to whose phone it was sent, and from no other, nor of a task that has ended."""
    phones = {user.name: await add_phone(user, f"{user.name}'s phone") for user in (anna, ben)}
    for user in (anna, ben):
        await person.async_create_person(hass, user.name, user_id=user.id)
    task = a_task(audience=Audience(Hearer.EVERYONE))
    tasks = ScheduledTasks(task)
    async_listen_answers(hass, tasks)
    assert await async_deliver(hass, task, TEXT, answerable=True)
    keys = {name: phone.buttons()["Done"]["action"] for name, phone in phones.items()}
    assert keys["Anna"] != keys["Ben"]
    await phones["Ben"].async_fire(ANSWERED, {"action": keys["Anna"]})
    await phones["Anna"].async_fire("mobile_app_notification_cleared", {"action": keys["Anna"]})
    for forged in (
        keys["Anna"].upper(),
        keys["Anna"][:-1],
        keys["Anna"].replace("_done_", "_over_"),
        [keys["Anna"]],
        None,
    ):
        await phones["Anna"].async_fire(ANSWERED, {"action": forged})
    await phones["Anna"].async_fire(ANSWERED, {})
    hass.bus.async_fire(ANSWERED, {"action": keys["Anna"]}, context=Context(user_id=anna.id))
    hass.bus.async_fire(ANSWERED, {"action": keys["Anna"]}, EventOrigin.remote)
    await hass.async_block_till_done()
    assert tasks.answered == []
    tasks.standing = ()
    await phones["Anna"].async_press("Done")
    await hass.async_block_till_done()
    assert tasks.answered == []
    tasks.standing = (task,)
    await asyncio.gather(*(phone.async_press("Done") for phone in phones.values()))
    await hass.async_block_till_done()
    assert tasks.answered == [("done", task.id, None)]
