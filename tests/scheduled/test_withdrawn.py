"""Tests of what is shown of a task being taken back, where it has no use any more."""

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, async_get_persistent_notifications

from custom_components.extended_assist.scheduled.delivery import async_deliver
from custom_components.extended_assist.scheduled.manager import async_get_scheduled_tasks
from custom_components.extended_assist.scheduled.scheduled_task import (
    Audience,
    Hearer,
    Progress,
    ScheduledTask,
    Until,
    What,
)
from homeassistant.auth.models import User
from homeassistant.core import HomeAssistant

from .devices import AddPhone
from .shown import async_add, async_set_up_home, make_task, now

CLEAR = "clear_notification"
WAYS = ["done", "ended", "put off", "removed"]


@pytest.fixture
async def home(assist: None, hass: HomeAssistant) -> MockConfigEntry:
    """Return an entry whose tasks are fulfilled."""
    return await async_set_up_home(hass)


def said(untold: str | None = None) -> Progress:
    """Return the progress of what was said, and is said again until it is done."""
    return Progress(times=1, said=1, again=now() + 600, untold=untold)


async def async_take_back(hass: HomeAssistant, home: MockConfigEntry, one: ScheduledTask, way: str) -> None:
    """Do what takes back what is shown of a task."""
    tasks = await async_get_scheduled_tasks(hass)
    if way == "done":
        await tasks.async_done(one.id)
    elif way == "ended":
        await tasks.async_end(one.id, "cancelled")
    elif way == "put off":
        assert await tasks.async_snooze(one.id, 600)
    else:
        await hass.config_entries.async_remove(home.entry_id)


@pytest.mark.parametrize("way", WAYS)
async def test_notification(hass: HomeAssistant, home: MockConfigEntry, way: str) -> None:
    """A notification goes once what it tells of is done, ended, put off or removed; that of another task stays."""
    one, other = (make_task(home, name, until=Until(done=True), progress=said()) for name in ("Milk", "Bins"))
    await async_add(hass, one, other)
    for each in (one, other):
        assert not await async_deliver(hass, each, each.name, answerable=True)
    assert len(async_get_persistent_notifications(hass)) == 2
    await async_take_back(hass, home, one, way)
    left = [notification["message"] for notification in async_get_persistent_notifications(hass).values()]
    assert left == ([] if way == "removed" else ["Bins"])


async def test_notification_of_what_was_told(hass: HomeAssistant, home: MockConfigEntry) -> None:
    """A notification goes once its words were told otherwise: in a conversation, or by a device later."""
    one = make_task(home, "Milk", until=Until(done=True), progress=said("10:00: Milk\n10:10: Milk!"))
    await async_add(hass, one)
    await async_deliver(hass, one, "Milk", answerable=True)
    tasks = await async_get_scheduled_tasks(hass)
    await tasks.async_told([(one.id, "10:00: Milk")])
    assert async_get_persistent_notifications(hass)
    await tasks.async_told([(one.id, "10:10: Milk!")])
    assert not async_get_persistent_notifications(hass)


async def test_notification_of_what_a_phone_took(
    hass: HomeAssistant, home: MockConfigEntry, add_phone: AddPhone, anna: User
) -> None:
    """A notification goes once a device takes the words."""
    one = make_task(home, "Milk", user_id=anna.id)
    assert not await async_deliver(hass, one, "Milk", answerable=False)
    assert async_get_persistent_notifications(hass)
    await add_phone(anna, "Phone")
    assert await async_deliver(hass, one, "Milk", answerable=False)
    assert not async_get_persistent_notifications(hass)


@pytest.mark.parametrize("way", [*WAYS, "button"])
async def test_phones(
    hass: HomeAssistant, home: MockConfigEntry, add_phone: AddPhone, anna: User, ben: User, way: str
) -> None:
    """What asks for an answer goes from all phones once somebody has answered, or it has no use any more."""
    phones = [await add_phone(anna, "Phone"), await add_phone(ben, "Other")]
    for user in (anna, ben):
        hass.states.async_set(f"person.{user.id}", "home", {"user_id": user.id})
    one = make_task(home, "Milk", until=Until(done=True), audience=Audience(Hearer.EVERYONE), progress=said())
    await async_add(hass, one)
    assert await async_deliver(hass, one, "Milk.", answerable=True)
    if way == "button":
        await phones[0].async_press("Done")
    else:
        await async_take_back(hass, home, one, way)
    for phone in phones:
        await phone.async_shows(CLEAR)
        assert phone.shown[-1]["data"]["tag"] == phone.shown[0]["data"]["tag"]
        # What was shown before has no use any more.
        await phone.async_press("Snooze")
    await hass.async_block_till_done()
    assert [len(phone.shown) for phone in phones] == [2, 2]
    assert not one.progress.answers


async def test_button_of_a_user_who_is_turned_off(
    hass: HomeAssistant, home: MockConfigEntry, add_phone: AddPhone, anna: User
) -> None:
    """The buttons on the phone of a user who may not use Home Assistant any more do nothing."""
    phone = await add_phone(anna, "Phone")
    one = make_task(home, "Milk", user_id=anna.id, until=Until(done=True), progress=said())
    await async_add(hass, one)
    assert await async_deliver(hass, one, "Milk.", answerable=True)
    await hass.auth.async_update_user(anna, is_active=False)
    await phone.async_press("Done")
    await hass.async_block_till_done()
    assert one.is_standing
    await hass.auth.async_update_user(anna, is_active=True)
    await phone.async_press("Done")
    await hass.async_block_till_done()
    assert not one.is_standing


@pytest.mark.parametrize("actions", [[], [{"action": "light.turn_on"}]])
async def test_done_before_it_could_be_told(
    hass: HomeAssistant, home: MockConfigEntry, actions: list[dict[str, str]]
) -> None:
    """What nobody could be told of is not told any more once it is done; what became of actions still is."""
    one = make_task(home, "Milk", until=Until(done=True), progress=said("10:00: Milk"), what=What(actions, "Milk"))
    await async_add(hass, one)
    await async_take_back(hass, home, one, "done")
    assert one.progress.untold == ("10:00: Milk" if actions else None)
