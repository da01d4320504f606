"""Tests of how what is said later reaches somebody."""

import asyncio
from datetime import datetime, time
from types import MappingProxyType
from typing import Any
from unittest.mock import patch

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, async_get_persistent_notifications

from custom_components.extended_assist.confirmation import satellites
from custom_components.extended_assist.const import DOMAIN
from custom_components.extended_assist.scheduled.delivery import async_deliver, is_within, quiet_hours
from custom_components.extended_assist.scheduled.scheduled_task import Audience, Hearer, ScheduledTask, When
from homeassistant.auth.const import GROUP_ID_READ_ONLY
from homeassistant.auth.models import User
from homeassistant.components import person
from homeassistant.components.assist_pipeline import async_get_pipeline, async_update_pipeline
from homeassistant.core import HomeAssistant
from homeassistant.helpers import area_registry as ar, device_registry as dr, entity_registry as er
from homeassistant.util import dt as dt_util

from .devices import BEDROOM, HALL, KITCHEN, AddPhone, Speakers, a_task, device_of

WORDS = "Think of the milk."
ASKED = f'{WORDS} Say "done" or "snooze".'
BUTTONS = {"Done", "Snooze"}


def at(hass: HomeAssistant, entity_id: str, user: User | None = None, **parts: Any) -> ScheduledTask:
    """Return a task that was asked for at a satellite."""
    owner = {"device_id": device_of(hass, entity_id), "user_id": user.id if user else None}
    return a_task(owner=owner | parts.pop("owner", {}), **parts)


def said(speakers: Speakers) -> dict[str, list[str]]:
    """Return what was said where."""
    return {name: words for name, speaker in speakers.items() if (words := speaker.announced + speaker.started)}


def waiting(hass: HomeAssistant) -> list[str]:
    """Return the notifications in Home Assistant."""
    return [notification["message"] for notification in async_get_persistent_notifications(hass).values()]


async def add_people(hass: HomeAssistant, **users: User | None) -> None:
    """Add persons, some of them users."""
    for name, user in users.items():
        await person.async_create_person(hass, name, user_id=user.id if user else None)
    await hass.async_block_till_done()


async def test_where_it_was_asked_for(hass: HomeAssistant, speakers: Speakers, add_phone: AddPhone, anna: User) -> None:
    """What was asked for at a satellite is said there, and nowhere else."""
    phone = await add_phone(anna, "Phone")
    assert await async_deliver(hass, at(hass, KITCHEN, anna), WORDS, answerable=False)
    assert said(speakers) == {KITCHEN: [WORDS]}
    assert phone.shown == waiting(hass) == []


async def test_an_answer_is_waited_for(hass: HomeAssistant, speakers: Speakers) -> None:
    """Where it can be answered, a satellite begins a conversation, in which the agent knows what it is about."""
    task = at(hass, KITCHEN)
    await async_update_pipeline(hass, async_get_pipeline(hass), conversation_engine="conversation.claude")
    assert await async_deliver(hass, task, WORDS, answerable=True)
    assert (speakers[KITCHEN].started, speakers[KITCHEN].announced) == ([ASKED], [])
    assert task.id in str(speakers[KITCHEN].prompt)
    assert task.name not in str(speakers[KITCHEN].prompt)


@pytest.mark.parametrize("entity_id", [KITCHEN, BEDROOM])
async def test_no_conversation_can_begin(hass: HomeAssistant, speakers: Speakers, entity_id: str) -> None:
    """With Home Assistant's own agent, and on a satellite that cannot listen, the same is announced."""
    assert await async_deliver(hass, at(hass, entity_id), WORDS, answerable=True)
    assert (speakers[entity_id].announced, speakers[entity_id].started) == ([ASKED], [])


@pytest.mark.parametrize("broken", ["raises", "gone", "unavailable", "busy", "mute", "forbidden", "endless"])
async def test_satellite_that_cannot(
    hass: HomeAssistant, speakers: Speakers, add_phone: AddPhone, anna: User, ben: User, broken: str
) -> None:
    """Where the satellite does not say it, the phones of the one who asked show it, and nobody else's."""
    phones = [await add_phone(user, name) for user, name in ((anna, "One"), (anna, "Two"), (ben, "Three"))]
    speaker, task = speakers[KITCHEN], at(hass, KITCHEN, anna)
    if broken == "raises":
        speaker.error = RuntimeError(WORDS)
    elif broken == "gone":
        er.async_get(hass).async_remove(KITCHEN)
    elif broken == "mute":
        speaker._attr_supported_features = 0
        speaker.async_write_ha_state()
    elif broken == "unavailable":
        speaker._attr_available = False
        speaker.async_write_ha_state()
    elif broken == "busy":
        hass.states.async_set(KITCHEN, "listening", hass.states.get(KITCHEN).attributes)
    elif broken == "forbidden":
        await hass.auth.async_update_user(anna, group_ids=[GROUP_ID_READ_ONLY])
    else:
        speaker.async_announce = lambda _: asyncio.Event().wait()
    await hass.async_block_till_done()
    with patch.multiple(satellites, MAX_BUSY=0, MAX_SPOKEN=0.1):
        assert await async_deliver(hass, task, WORDS, answerable=False)
    assert said(speakers) == {}
    assert [[push["message"] for push in phone.shown] for phone in phones] == [[WORDS], [WORDS], []]
    assert waiting(hass) == []


async def test_satellite_that_is_busy_for_a_while(hass: HomeAssistant, speakers: Speakers) -> None:
    """What somebody is saying is not cut off: it is said afterwards."""
    attributes = hass.states.get(KITCHEN).attributes
    hass.states.async_set(KITCHEN, "listening", attributes)
    delivered = hass.async_create_task(async_deliver(hass, at(hass, KITCHEN), WORDS, answerable=False))
    for state in ("listening", "processing", "responding"):
        hass.states.async_set(KITCHEN, state, attributes)
        await asyncio.sleep(0)
        assert said(speakers) == {}
    hass.states.async_set(KITCHEN, "idle", attributes)
    assert await delivered
    assert said(speakers) == {KITCHEN: [WORDS]}


async def test_at_the_same_time(hass: HomeAssistant, speakers: Speakers) -> None:
    """What comes due together is said one after the other, however long each takes, and none of it is lost."""
    tasks = [at(hass, KITCHEN) for _ in range(5)]
    with patch.object(satellites, "MAX_BUSY", 0):
        delivered = await asyncio.gather(
            *(async_deliver(hass, task, f"Number {number}", answerable=False) for number, task in enumerate(tasks))
        )
    assert delivered == [True] * 5
    assert said(speakers) == {KITCHEN: [f"Number {number}" for number in range(5)]}


async def test_nobody_is_reached(hass: HomeAssistant, speakers: Speakers, add_phone: AddPhone, ben: User) -> None:
    """What the household asked for waits in Home Assistant, as text and not as Markdown, which counts for nothing."""
    phone = await add_phone(ben, "Phone")
    speakers[KITCHEN].error = RuntimeError()
    task = at(hass, KITCHEN)
    words = "**Milk** ![x](http://example.com/x.png) <img src=x>"
    assert not await async_deliver(hass, task, words, answerable=True)
    assert waiting(hass) == [r"\*\*Milk\*\* \!\[x\](http://example.com/x.png) \<img src=x\>"]
    assert not await async_deliver(hass, task, "Again", answerable=True)
    assert waiting(hass) == ["Again"]
    assert phone.shown == []


async def test_one_person(hass: HomeAssistant, speakers: Speakers, add_phone: AddPhone, anna: User, ben: User) -> None:
    """What is for one person is told on their phones alone, or to nobody."""
    phones = [await add_phone(user, name) for user, name in ((anna, "One"), (ben, "Two"))]
    await add_people(hass, ben=ben, baby=None)
    tasks = {
        target: at(hass, KITCHEN, anna, audience=Audience(Hearer.PERSON, target))
        for target in ("person.ben", "person.baby", "person.gone", "sensor.ben")
    }
    hass.states.async_set("sensor.ben", "on", {"user_id": ben.id})
    assert {target: await async_deliver(hass, task, WORDS, answerable=False) for target, task in tasks.items()} == {
        "person.ben": True,
        "person.baby": False,
        "person.gone": False,
        "sensor.ben": False,
    }
    assert [len(phone.shown) for phone in phones] == [0, 1]
    assert said(speakers) == {}
    assert waiting(hass) == []


async def test_an_area(hass: HomeAssistant, speakers: Speakers, add_phone: AddPhone, anna: User) -> None:
    """All satellites of an area say it, whether they or their devices are in it; otherwise phones show it."""
    phone = await add_phone(anna, "Phone")
    upstairs, attic = (ar.async_get(hass).async_create(name) for name in ("Upstairs", "Attic"))
    dr.async_get(hass).async_update_device(device_of(hass, BEDROOM), area_id=upstairs.id)
    er.async_get(hass).async_update_entity(KITCHEN, name="By the stove", area_id=upstairs.id)
    for area in (upstairs, attic):
        task = at(hass, HALL, anna, audience=Audience(Hearer.AREA, area.id))
        assert await async_deliver(hass, task, f"{area.name}!", answerable=False)
    assert said(speakers) == {KITCHEN: ["Upstairs!"], BEDROOM: ["Upstairs!"]}
    assert [push["message"] for push in phone.shown] == ["Attic!"]


async def test_everyone(hass: HomeAssistant, speakers: Speakers, add_phone: AddPhone, anna: User, ben: User) -> None:
    """All satellites say it, but for telephones, which would ring; the phones of all persons show it."""
    phones = [await add_phone(user, name) for user, name in ((anna, "One"), (ben, "Two"))]
    await add_people(hass, ben=ben, baby=None)
    task = at(hass, HALL, anna, audience=Audience(Hearer.EVERYONE))
    assert await async_deliver(hass, task, WORDS, answerable=False)
    assert said(speakers) == {KITCHEN: [WORDS], BEDROOM: [WORDS]}
    assert [len(phone.shown) for phone in phones] == [0, 1]
    speakers[KITCHEN].error = speakers[BEDROOM].error = RuntimeError()
    assert await async_deliver(hass, task, WORDS, answerable=False)
    await hass.config_entries.async_unload(phones[1].entry.entry_id)
    assert not await async_deliver(hass, task, WORDS, answerable=False)
    assert waiting(hass) == [WORDS]


@pytest.mark.parametrize("hearer", [Hearer.HERE, Hearer.AREA, Hearer.PERSON, Hearer.EVERYONE])
async def test_own_wish_is_shown_to_nobody_else(
    hass: HomeAssistant, assist: None, anna: User, ben: User, hearer: Hearer
) -> None:
    """A notification in Home Assistant, which every user sees, shows what is the household's or for everyone.

    Of what is one user's own, it tells that it is there; of what is for one person, nothing.
    """
    own = a_task(owner={"user_id": anna.id}, audience=Audience(hearer, "cellar"))
    assert not await async_deliver(hass, own, WORDS, answerable=False)
    told = {
        Hearer.EVERYONE: [WORDS],
        Hearer.PERSON: [],
    }.get(hearer, [f"For {anna.name}: something that you wanted has come due. Ask me for it."])
    assert waiting(hass) == told
    household = a_task(audience=Audience(hearer, "cellar"))
    assert not await async_deliver(hass, household, WORDS, answerable=False)
    assert (WORDS in waiting(hass)) is (hearer is not Hearer.PERSON)


async def test_own_wish_of_the_only_user(hass: HomeAssistant, assist: None) -> None:
    """Who is alone in Home Assistant sees their own words; a user who is turned off, or none of people, is nobody else."""
    owner = await hass.auth.async_create_user("Olga")
    await hass.auth.async_create_system_user("Add-on")
    guest = await hass.auth.async_create_user("Guest")
    await hass.auth.async_update_user(guest, is_active=False)
    own = a_task(owner={"user_id": owner.id})
    assert not await async_deliver(hass, own, WORDS, answerable=False)
    assert waiting(hass) == [WORDS]


QUIET = {"quiet_start": "22:30:00", "quiet_end": "06:15:00"}
RULE = {"rule": "FREQ=DAILY", "start": "2026-03-02T05:00:00"}


@pytest.mark.parametrize(
    ("when", "now", "heard"),
    [
        ({"moment": "2026-03-02 05:00"}, "2026-03-02 05:00", True),
        ({"moment": "2026-03-02 05:00"}, "2026-03-02 05:10", True),
        ({"moment": "2026-03-02 22:00"}, "2026-03-02 22:00", True),
        ({"moment": "2026-03-02 22:00"}, "2026-03-02 22:40", False),
        (RULE, "2026-03-02 05:00", True),
        (RULE | {"start": "2026-03-02T20:00:00"}, "2026-03-02 23:00", False),
        ({"triggers": [{"trigger": "state"}]}, "2026-03-02 23:00", False),
        ({"triggers": [{"trigger": "state"}]}, "2026-03-02 22:29", True),
        ({"triggers": [{"trigger": "state"}]}, "2026-03-02 22:30", False),
        ({"triggers": [{"trigger": "state"}]}, "2026-03-03 06:14", False),
        ({"triggers": [{"trigger": "state"}]}, "2026-03-03 06:15", True),
        (RULE | {"triggers": [{"trigger": "state"}]}, "2026-03-02 05:00", False),
    ],
)
async def test_quiet_hours(
    hass: HomeAssistant,
    speakers: Speakers,
    add_phone: AddPhone,
    anna: User,
    freezer: FrozenDateTimeFactory,
    when: dict[str, Any],
    now: str,
    heard: bool,
) -> None:
    """At night a satellite says only what was asked for then; phones show the rest without a sound."""
    phone = await add_phone(anna, "Phone")
    entry = MockConfigEntry(domain=DOMAIN, options=QUIET)
    entry.add_to_hass(hass)
    owner = {"entry_id": entry.entry_id}
    zone = dt_util.get_default_time_zone()
    moment = when.get("moment")
    given = when | ({"moment": datetime.fromisoformat(moment).replace(tzinfo=zone).timestamp()} if moment else {})
    freezer.move_to(datetime.fromisoformat(now).replace(tzinfo=zone))
    here = at(hass, KITCHEN, anna, owner=owner, when=When(**given))
    everyone = at(hass, KITCHEN, anna, owner=owner, when=When(**given), audience=Audience(Hearer.EVERYONE))
    is_night = is_within(datetime.fromisoformat(now).time(), (time(22, 30), time(6, 15)))
    assert await async_deliver(hass, here, WORDS, answerable=False)
    assert said(speakers) == ({KITCHEN: [WORDS]} if heard else {})
    assert [push["data"].get("importance") for push in phone.shown] == ([] if heard else ["low"])
    assert await async_deliver(hass, everyone, WORDS, answerable=False) is not is_night
    assert bool(said(speakers).get(BEDROOM)) is not is_night


@pytest.mark.parametrize(
    ("options", "hours"),
    [
        ({}, None),
        ({"quiet_start": "22:00:00"}, None),
        ({"quiet_start": "22:00:00", "quiet_end": ""}, None),
        ({"quiet_start": "22:00:00", "quiet_end": "22:00:00"}, None),
        ({"quiet_start": "nonsense", "quiet_end": "06:00:00"}, None),
        ({"quiet_start": "22:00:00", "quiet_end": "06:00:00"}, (time(22), time(6))),
    ],
)
def test_options(options: dict[str, str], hours: tuple[time, time] | None) -> None:
    """Both ends are needed, and they differ."""
    assert quiet_hours(MappingProxyType(options)) == hours


@pytest.mark.parametrize(("now", "within"), [("12:59", False), ("13:00", True), ("14:59", True), ("15:00", False)])
def test_quiet_at_noon(now: str, within: bool) -> None:
    """Hours of one day hold from the first minute until before the last."""
    assert is_within(time.fromisoformat(now), (time(13), time(15))) is within


async def test_nothing_is_logged(
    hass: HomeAssistant, speakers: Speakers, add_phone: AddPhone, anna: User, caplog: pytest.LogCaptureFixture
) -> None:
    """What goes wrong is logged without the words, and below what is shown."""
    phone = await add_phone(anna, "Phone", local=True)
    speakers[KITCHEN].error = RuntimeError(WORDS)
    caplog.clear()
    assert not await async_deliver(hass, at(hass, KITCHEN, anna), WORDS, answerable=False)
    ours = [record for record in caplog.records if record.name.startswith(f"custom_components.{DOMAIN}")]
    assert {record.levelname for record in ours} == {"DEBUG"}
    assert len(ours) == 2
    assert not [record for record in ours if WORDS in record.getMessage() or record.exc_info]
    assert phone.shown == []


async def test_user_who_is_turned_off(
    hass: HomeAssistant, assist: None, add_phone: AddPhone, anna: User, ben: User
) -> None:
    """Nothing is shown on the phones of a user who may not use Home Assistant any more, whatever it is and whoever made it."""
    phones = [await add_phone(user, str(user.name)) for user in (anna, ben)]
    await add_people(hass, Anna=anna, Ben=ben)
    await hass.auth.async_update_user(anna, is_active=False)
    own = a_task(owner={"user_id": anna.id})
    assert not await async_deliver(hass, own, WORDS, answerable=False)
    for_anna = a_task(owner={"user_id": ben.id}, audience=Audience(Hearer.PERSON, "person.anna"))
    assert not await async_deliver(hass, for_anna, WORDS, answerable=True)
    assert await async_deliver(hass, a_task(audience=Audience(Hearer.EVERYONE)), WORDS, answerable=True)
    assert [len(phone.shown) for phone in phones] == [0, 1]
