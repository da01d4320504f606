"""Pictures of a camera whose entity id went to another one, and pictures after a change of the options."""

from time import monotonic

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, MockUser

from custom_components.extended_assist.calls.caller import Caller
from custom_components.extended_assist.calls.chat_images import Picture, async_get_gallery
from custom_components.extended_assist.cameras.image_cache import ImageCache
from custom_components.extended_assist.cameras.resize import FittedPicture
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import entity_registry as er, llm
from homeassistant.util import dt as dt_util
from tests.conftest import ASSISTANT

BEDROOM, PORCH, PRIVATE = "camera.bedroom", "camera.porch", "camera.private"


@pytest.fixture
def caller(hass: HomeAssistant, entry: MockConfigEntry, hass_admin_user: MockUser) -> Caller:
    """Return a user of two exposed cameras."""
    registry = er.async_get(hass)
    for entity_id in (BEDROOM, PORCH):
        name = entity_id.partition(".")[2]
        registry.async_get_or_create("camera", "test", name, suggested_object_id=name)
        hass.states.async_set(entity_id, "idle")
        async_expose_entity(hass, ASSISTANT, entity_id, True)
    return Caller(llm.LLMContext("test", Context(user_id=hass_admin_user.id), "en", ASSISTANT, None))


def shown(user: MockUser) -> Picture:
    """Return a picture of the bedroom that is shown with an answer."""
    return Picture(
        content=b"GIF",
        content_type="image/gif",
        user_id=user.id,
        assistant=ASSISTANT,
        entity_ids=frozenset({BEDROOM}),
        until=monotonic() + 60,
    )


async def move(hass: HomeAssistant, old: str, new: str) -> None:
    """Give an entity another id."""
    hass.states.async_remove(old)
    er.async_get(hass).async_update_entity(old, new_entity_id=new)
    hass.states.async_set(new, "idle")
    await hass.async_block_till_done()


async def test_entity_id_of_another_camera(hass: HomeAssistant, caller: Caller, hass_admin_user: MockUser) -> None:
    """Pictures of a hidden camera stay hidden if an exposed camera gets its entity id."""
    cache, gallery = ImageCache.of(hass), async_get_gallery(hass)
    of_bedroom = cache.keep(caller, BEDROOM, dt_util.utcnow(), FittedPicture("AAAA", 1, 1))
    reference = gallery.async_add(shown(hass_admin_user))
    assert cache.seen_by(caller, of_bedroom.picture_id)
    assert cache.all_of(caller, BEDROOM) == [of_bedroom]
    assert gallery.async_get(reference, hass_admin_user.id, hass_admin_user)
    async_expose_entity(hass, ASSISTANT, BEDROOM, False)
    await move(hass, BEDROOM, PRIVATE)
    await move(hass, PORCH, BEDROOM)
    assert cache.seen_by(caller, of_bedroom.picture_id) is None
    assert cache.all_of(caller, BEDROOM) == []
    assert gallery.async_get(reference, hass_admin_user.id, hass_admin_user) is None
    # Pictures of the porch, which is exposed, are found under its new id.
    of_porch = cache.keep(caller, BEDROOM, dt_util.utcnow(), FittedPicture("BBBB", 1, 1))
    assert cache.all_of(caller, BEDROOM) == [of_porch]
    assert cache.seen_by(caller, of_porch.picture_id) == of_porch


async def test_changed_options(
    hass: HomeAssistant, caller: Caller, entry: MockConfigEntry, hass_admin_user: MockUser
) -> None:
    """A change of the options removes the pictures that were shown with answers."""
    reference = async_get_gallery(hass).async_add(shown(hass_admin_user))
    assert async_get_gallery(hass).async_get(reference, hass_admin_user.id, hass_admin_user)
    hass.config_entries.async_update_entry(entry, options={**entry.options, "families": ["entities"]})
    await hass.async_block_till_done()
    assert len(async_get_gallery(hass)) == 0
