"""What a user's group may not read in Home Assistant is told to them in no list of the panel or card, nor in a picture."""

from time import monotonic
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator

from custom_components.extended_assist.calls.chat_images import PATH, Picture, async_get_gallery
from custom_components.extended_assist.calls.journal import async_get_journal
from custom_components.extended_assist.exposure.entities import Exposure
from custom_components.extended_assist.scheduled.scheduled_task import What
from homeassistant.auth.models import Group, User
from homeassistant.core import HomeAssistant
from tests.conftest import ASSISTANT
from tests.scheduled.shown import async_add, make_task

from .conftest import As, Refused
from .test_websocket import Act, act

__all__ = ["act"]

pytestmark = pytest.mark.usefixtures("panel_home")

PARTY, LEVEL = "input_boolean.party", "input_number.level"
READABLE = {"entities": {"entity_ids": {LEVEL: True}}}


@pytest.fixture
async def carla(hass: HomeAssistant, admin: User) -> User:
    """Return a user whose only group may use one entity; after the first user, so that she is no owner."""
    store = hass.auth._store
    store._groups["one-entity"] = Group(name="One entity", policy=READABLE, id="one-entity")
    return await hass.auth.async_create_user("Carla", group_ids=["one-entity"])


def turn_on(entity_id: str) -> What:
    """Return what turns an entity on."""
    action = f"{entity_id.split('.', maxsplit=1)[0]}.turn_on"
    return What(actions=[{"action": action, "entity_ids": [entity_id], "data": {}, "targeted": True}])


async def async_made_hers(hass: HomeAssistant, user: User) -> None:
    """Let all changes be hers, such as made before her group was narrowed."""
    for change in (await async_get_journal(hass)).changes:
        change.user_id = user.id


async def test_exposure(hass: HomeAssistant, carla: User, admin: User) -> None:
    """For a reader only what they may read is exposed, from every side; whoever may read all sees as much as nobody."""
    hers = Exposure(hass, ASSISTANT, reader=carla)
    assert hers.ids == frozenset({LEVEL}) == hers.entities.keys()
    assert hers.state(PARTY) is None
    assert not hers.search("Party")
    assert hers.visible_value(f"is {PARTY} on") is None
    assert PARTY in hers.hidden_ids()
    assert Exposure(hass, ASSISTANT, reader=admin).ids == Exposure(hass, ASSISTANT).ids > hers.ids


async def test_journal(hass: HomeAssistant, as_user: As, act: Act, carla: User, admin: User) -> None:
    """What she may not read is counted; undone by hand, it is neither named in the question nor moved."""
    await act(admin, "input_number.set_value", LEVEL, value=7)
    await act(admin, "input_boolean.turn_on", PARTY)
    await async_made_hers(hass, carla)
    send = await as_user(carla)
    party, level = await send("journal/list")
    assert (party["entities"], party["more"]) == ([], 1)
    assert [entity["entity_id"] for entity in level["entities"]] == [LEVEL]
    answer = await send("journal/undo", change=party["id"])
    assert "party" not in str(answer).casefold()
    if "question" in answer:
        answer = await send("questions/answer", question=answer["question"]["id"], agreed=True)
        assert "party" not in str(answer).casefold()
    assert hass.states.is_state(PARTY, "on")
    (_, told) = await (await as_user(admin))("journal/list")
    assert [entity["entity_id"] for entity in told["entities"]] == [LEVEL]


async def test_wishes(hass: HomeAssistant, as_user: As, panel_home: MockConfigEntry, carla: User, admin: User) -> None:
    """What acts on nothing that she may read is not there for her; of what also acts on it, the rest is told."""
    hidden = make_task(panel_home, "Begin the party", what=turn_on(PARTY))
    both = make_task(panel_home, "Begin", what=What(actions=turn_on(PARTY).actions + turn_on(LEVEL).actions))
    await async_add(hass, hidden, both)
    send = await as_user(carla)
    (row,) = await send("wishes/list")
    assert row["id"] == both.id
    assert "Party" not in str(row)
    assert {one["id"] for one in await (await as_user(admin))("wishes/list")} == {hidden.id, both.id}
    with pytest.raises(Refused, match="panel_gone"):
        await send("wishes/cancel", wish=hidden.id)
    assert hidden.is_standing


@pytest.mark.parametrize(("entity_id", "status"), [(LEVEL, 200), (PARTY, 404)])
async def test_pictures(
    hass: HomeAssistant, hass_client: ClientSessionGenerator, carla: User, entity_id: str, status: int
) -> None:
    """A picture of what she may not read is not there for her."""
    refresh = await hass.auth.async_create_refresh_token(carla, "https://client")
    client = await hass_client(hass.auth.async_create_access_token(refresh))
    shown: dict[str, Any] = {"content": b"<svg/>", "content_type": "image/svg+xml", "until": monotonic() + 60}
    picture = Picture(**shown, user_id=carla.id, assistant=ASSISTANT, entity_ids=frozenset({entity_id}))
    reference = async_get_gallery(hass).async_add(picture)
    assert (await client.get(PATH + reference)).status == status
