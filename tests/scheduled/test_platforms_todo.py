"""The household's tasks as a to-do list: what it shows, and what can be done with it."""

from datetime import timedelta
import json
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry
from pytest_homeassistant_custom_component.typing import WebSocketGenerator

from custom_components.extended_assist.confirmation.untrusted_text import async_are_others
from custom_components.extended_assist.scheduled.manager import ScheduledTasks
from custom_components.extended_assist.scheduled.scheduled_task import (
    MAX_WORDS,
    SEVERAL,
    Hearer,
    Progress,
    Until,
    What,
    When,
    read_stored,
)
from homeassistant.auth.const import GROUP_ID_USER
from homeassistant.auth.models import User
from homeassistant.core import Context, HomeAssistant
from homeassistant.exceptions import ServiceNotSupported, ServiceValidationError
from homeassistant.helpers.json import json_dumps
from homeassistant.util import dt as dt_util

from .keeping import crowd
from .shown import LIST, async_add, async_set_up_home, make_task, now

pytestmark = pytest.mark.usefixtures("assist", "no_deprecations")

TRIGGERS = [{"trigger": "state", "entity_id": "binary_sensor.fridge", "to": "on"}]


@pytest.fixture
async def home(assist: None, hass: HomeAssistant) -> MockConfigEntry:
    """Return an entry whose tasks are shown."""
    return await async_set_up_home(hass)


async def call(hass: HomeAssistant, action: str, **data: Any) -> None:
    """Call an action of the list."""
    await hass.services.async_call("todo", action, data, blocking=True, target={"entity_id": LIST}, context=Context())
    await hass.async_block_till_done()


async def items(hass: HomeAssistant) -> list[dict[str, str]]:
    """Return what the list holds."""
    found = await hass.services.async_call(
        "todo", "get_items", {}, blocking=True, return_response=True, target={"entity_id": LIST}
    )
    listed: list[dict[str, str]] = found[LIST]["items"]
    assert hass.states.get(LIST).state == str(len(listed))
    return listed


async def names(hass: HomeAssistant) -> list[str]:
    """Return the titles in the list."""
    return [item["summary"] for item in await items(hass)]


def local(moment: float) -> str:
    """Return a moment as the list tells it."""
    return dt_util.as_local(dt_util.utc_from_timestamp(moment)).isoformat()


async def test_what_it_shows(hass: HomeAssistant, home: MockConfigEntry) -> None:
    """What stands, next first, with its time where one is known, and what is said or asked then."""
    moment = float(int(now()) + 7200)
    milk = make_task(home, "Milk", when=When(triggers=TRIGGERS), what=What(ask="Is there any milk?"))
    bins = make_task(home, "Bins", when=When(moment=moment), what=What(say="Take out the bins."))
    lamp = make_task(home, "Lamp", what=What(actions=[{"action": "light.turn_on"}]), progress=Progress(due=now() + 60))
    await async_add(hass, milk, bins, lamp)
    assert await items(hass) == [
        {
            "summary": "Lamp",
            "uid": lamp.id,
            "status": "needs_action",
            "due": local(lamp.progress.due),
        },
        {
            "summary": "Bins",
            "uid": bins.id,
            "status": "needs_action",
            "due": local(moment),
            "description": "Take out the bins.",
        },
        {"summary": "Milk", "uid": milk.id, "status": "needs_action", "description": "Is there any milk?"},
    ]


async def test_nobodys_own(hass: HomeAssistant, home: MockConfigEntry) -> None:
    """A user's own tasks are not in the list, and cannot be ended or renamed from it, by id or by name."""
    present = make_task(home, "Present", user_id="anna")
    keeper = await async_add(hass, present, make_task(home, "Bins"))
    assert await names(hass) == ["Bins"]
    for item in (present.id, "Present"):
        for action, data in (
            ("update_item", {"status": "completed"}),
            ("update_item", {"rename": "X"}),
            ("remove_item", {}),
        ):
            with pytest.raises(ServiceValidationError):
                await call(hass, action, item=item, **data)
    assert [one.name for one in keeper.standing] == ["Present", "Bins"]


async def test_completed(hass: HomeAssistant, home: MockConfigEntry) -> None:
    """What is completed has been done: it ends, and is not kept in the list."""
    bins = make_task(home, "Bins", until=Until(done=True))
    keeper = await async_add(hass, bins, make_task(home, "Milk"))
    await call(hass, "update_item", item="Bins", status="completed")
    assert not keeper.find(bins.id).is_standing
    assert await names(hass) == ["Milk"]
    await call(hass, "remove_completed_items")
    assert await names(hass) == ["Milk"]


async def test_renamed(hass: HomeAssistant, home: MockConfigEntry) -> None:
    """A title that is changed is the name of the task from then on."""
    bins = make_task(home, "Bins")
    keeper = await async_add(hass, bins)
    await call(hass, "update_item", item="Bins", rename="Paper bins")
    assert await names(hass) == ["Paper bins"]
    found = keeper.find(bins.id)
    assert found
    assert (found.name, found.what.say, found.is_standing) == ("Paper bins", "Bins", True)


async def test_dialog(hass: HomeAssistant, home: MockConfigEntry) -> None:
    """Home Assistant's dialog sends the time, to the millisecond, and the text back with whatever is changed."""
    bins = make_task(home, "Bins", when=When(moment=now() + 5000.6789))
    await async_add(hass, bins)
    (item,) = await items(hass)
    due = dt_util.as_utc(dt_util.parse_datetime(item["due"])).isoformat(timespec="milliseconds")
    sent = {"item": bins.id, "due_datetime": due, "description": item["description"]}
    await call(hass, "update_item", **sent, rename="Glass", status="needs_action")
    assert await names(hass) == ["Glass"]
    await call(hass, "update_item", **sent, rename="Glass", status="completed")
    assert await names(hass) == []


@pytest.mark.parametrize(
    "changed",
    [
        {"due_datetime": "2031-01-01 07:00:00"},
        {"due_datetime": None},
        {"description": "Sing."},
        {"description": None},
    ],
)
async def test_what_cannot_be_changed(hass: HomeAssistant, home: MockConfigEntry, changed: dict[str, Any]) -> None:
    """When it happens and what is said stay as they are, and so does all else that comes in the same call."""
    bins = make_task(home, "Bins")
    keeper = await async_add(hass, bins)
    before = bins.stored()
    with pytest.raises(ServiceValidationError, match="delete it and ask the assistant"):
        await call(hass, "update_item", item="Bins", rename="Glass", status="completed", **changed)
    assert keeper.find(bins.id).stored() == before


async def test_deleted(hass: HomeAssistant, home: MockConfigEntry) -> None:
    """What is deleted ends, and several at once."""
    bins, milk = make_task(home, "Bins"), make_task(home, "Milk")
    keeper = await async_add(hass, bins, milk, make_task(home, "Wood"))
    await call(hass, "remove_item", item=["Bins", milk.id])
    assert await names(hass) == ["Wood"]
    assert not keeper.find(bins.id).is_standing
    assert not keeper.find(milk.id).is_standing


async def test_reminder_by_hand(hass: HomeAssistant, home: MockConfigEntry) -> None:
    """A title with a time becomes a reminder of the household's, which everybody is told once."""
    due = dt_util.now().replace(microsecond=0) + timedelta(days=1)
    keeper = await async_add(hass)
    await call(hass, "add_item", item="Bins", due_datetime=due.isoformat())
    await call(hass, "add_item", item="Milk", due_datetime=due.isoformat(), description="Buy some milk.")
    bins, milk = keeper.standing
    assert (bins.name, bins.what.say, bins.when.moment) == ("Bins", "Bins", due.timestamp())
    assert (milk.name, milk.what.say) == ("Milk", "Buy some milk.")
    assert bins.is_household
    assert (bins.owner.entry_id, bins.audience.hearer, bins.until.times) == (home.entry_id, Hearer.EVERYONE, 1)
    assert await names(hass) == ["Bins", "Milk"]


@pytest.mark.parametrize("due", [{}, {"due_datetime": "2020-01-01 07:00:00"}, {"due_datetime": None}])
async def test_reminder_without_a_time(hass: HomeAssistant, home: MockConfigEntry, due: dict[str, Any]) -> None:
    """Without a time that lies ahead there is nothing to remind of."""
    keeper = await async_add(hass)
    with pytest.raises(ServiceValidationError, match="date and a time that lie ahead"):
        await call(hass, "add_item", item="Bins", **due)
    with pytest.raises((ServiceValidationError, ServiceNotSupported)):
        await call(hass, "add_item", item="Bins", due_date="2031-01-01")
    assert keeper.standing == []


@pytest.mark.parametrize("key", ["item", "description"])
async def test_reminder_that_is_too_long(hass: HomeAssistant, home: MockConfigEntry, key: str) -> None:
    """What is said, and by what it is called, has the length that it may have in a conversation, and not a character more."""
    keeper = await async_add(hass)
    given = {"item": "Bins", "description": "The bins", "due_datetime": "2031-01-01 07:00:00"}
    with pytest.raises(ServiceValidationError, match="at most 500 characters"):
        await call(hass, "add_item", **given | {key: "x" * (MAX_WORDS + 1)})
    assert keeper.standing == []
    await call(hass, "add_item", **given | {key: "x" * MAX_WORDS})
    assert len(keeper.standing) == 1


async def test_new_name_that_is_too_long(hass: HomeAssistant, home: MockConfigEntry) -> None:
    """A name that is given later is as long at most; what is too long already can still be completed."""
    bins, essay = make_task(home, "Bins"), make_task(home, "x" * (MAX_WORDS + 1))
    keeper = await async_add(hass, bins, essay)
    with pytest.raises(ServiceValidationError, match="at most 500 characters"):
        await call(hass, "update_item", item=bins.id, rename="x" * (MAX_WORDS + 1))
    await call(hass, "update_item", item=essay.id, status="completed")
    assert [one.name for one in keeper.standing] == ["Bins"]


async def test_one_too_many(hass: HomeAssistant, home: MockConfigEntry) -> None:
    """A list that is full says so."""
    keeper = await async_add(hass)
    crowd(keeper, (make_task(home, str(number)) for number in range(49)))
    await async_add(hass, make_task(home, "The last"))
    with pytest.raises(ServiceValidationError, match="No more than 50 items can be pending"):
        await call(hass, "add_item", item="Bins", due_datetime="2031-01-01 07:00:00")
    assert len(keeper.standing) == 50


async def test_listeners(hass: HomeAssistant, home: MockConfigEntry, hass_ws_client: WebSocketGenerator) -> None:
    """Who looks at the list sees what changes elsewhere, without asking again."""
    client = await hass_ws_client(hass)
    await client.send_json_auto_id({"type": "todo/item/subscribe", "entity_id": LIST})
    assert (await client.receive_json())["success"]
    assert (await client.receive_json())["event"] == {"items": []}
    bins = make_task(home, "Bins")
    keeper = await async_add(hass, bins, make_task(home, "Present", user_id="anna"))
    assert [item["summary"] for item in (await client.receive_json())["event"]["items"]] == ["Bins"]
    await keeper.async_rename(bins.id, "Glass")
    assert [item["summary"] for item in (await client.receive_json())["event"]["items"]] == ["Glass"]
    await keeper.async_end(bins.id, "ended by voice")
    assert (await client.receive_json())["event"] == {"items": []}


async def test_ended_meanwhile(hass: HomeAssistant, home: MockConfigEntry, monkeypatch: pytest.MonkeyPatch) -> None:
    """What ended a moment before it is completed is said to be gone, and not ended once more."""
    bins = make_task(home, "Bins")
    keeper = await async_add(hass, bins)
    entity = hass.data["todo"].get_entity(LIST)
    stale = entity.todo_items
    await keeper.async_end(bins.id, "ended by voice")
    monkeypatch.setattr(type(entity), "todo_items", property(lambda _: stale))
    monkeypatch.setattr(ScheduledTasks, "async_done", None)
    with pytest.raises(ServiceValidationError, match="no longer exists"):
        await call(hass, "update_item", item=bins.id, status="completed")
    assert keeper.find(bins.id).progress.result == "ended by voice"


async def test_whose_words(hass: HomeAssistant, home: MockConfigEntry) -> None:
    """What a user writes into the list is the household's, in that user's words; renamed by another, it is nobody's own."""
    await hass.auth.async_create_user("The first one owns the home")
    ada, bob = [await hass.auth.async_create_user(name, group_ids=[GROUP_ID_USER]) for name in ("Ada", "Bob")]
    keeper = await async_add(hass)

    async def act(user: User, action: str, **data: Any) -> None:
        await hass.services.async_call(
            "todo", action, {"entity_id": LIST, **data}, blocking=True, context=Context(user_id=user.id)
        )

    await act(ada, "add_item", item="Bins", due_datetime="2031-01-01 07:00:00")
    (bins,) = keeper.standing
    assert bins.is_household
    assert bins.author == ada.id
    for reader in (bob.id, None):
        assert await async_are_others(hass, reader, [bins.author])
    assert not await async_are_others(hass, ada.id, [bins.author])
    await act(ada, "update_item", item=bins.id, rename="Paper")
    assert bins.author == ada.id
    await act(bob, "update_item", item=bins.id, rename="Unlock")
    assert bins.name == "Unlock"
    for reader in (ada.id, bob.id, None):
        assert await async_are_others(hass, reader, [bins.author])
    (stored,) = read_stored({"wishes": [json.loads(json_dumps(bins.stored()))]})
    assert stored.author == bins.author == SEVERAL
