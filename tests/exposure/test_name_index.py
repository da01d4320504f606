"""The index of names follows whatever can change a name, and never tells what is hidden."""

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.extended_assist.exposure.entities import Exposure, NotExposedError
from custom_components.extended_assist.exposure.name_index import NameIndex, async_get_names
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import HomeAssistant
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
    floor_registry as fr,
    label_registry as lr,
)
from tests.conftest import ASSISTANT, expose
from tests.helpers.seeds import seeds

LAMP = "light.lamp"
CHANGES = 60


class House:
    """A small house in which everything that has a name can be changed."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Furnish it: lights on devices, on a part of a device, and without any; two areas on a floor."""
        self.hass = hass
        self.entities, self.devices, self.areas = er.async_get(hass), dr.async_get(hass), ar.async_get(hass)
        self.entry = MockConfigEntry(domain="test")
        self.entry.add_to_hass(hass)
        self.floor = fr.async_get(hass).async_create("Upstairs").floor_id
        self.rooms = [self.areas.async_create(name).id for name in ("Kitchen", "Attic")]
        entry_id = self.entry.entry_id
        lamp = self.devices.async_get_or_create(config_entry_id=entry_id, identifiers={("test", "lamp")}, name="Lamp")
        part = self.devices.async_get_or_create_child(
            config_entry_id=entry_id, identifiers={("test", "part")}, name="Part", parent_device_id=lamp.id
        )
        self.on_devices = [lamp.id, part.id]
        self.devices.async_update_device(lamp.id, area_id=self.rooms[0])
        for name, device_id in (("lamp", lamp.id), ("part", part.id), ("free", None)):
            self.add(name, device_id)
        hass.states.async_set("light.bare", "on", {"friendly_name": "Bare bulb"})

    def add(self, name: str, device_id: str | None = None) -> None:
        """Add a light."""
        entry = self.entities.async_get_or_create(
            "light",
            "test",
            name,
            suggested_object_id=name,
            device_id=device_id,
            config_entry=self.entry,
            original_name=name.capitalize(),
            has_entity_name=True,
        )
        self.hass.states.async_set(entry.entity_id, "on", {"friendly_name": name.capitalize()})

    def known(self) -> list[str]:
        """Return the entities of the registry."""
        return list(self.entities.entities)


@pytest.fixture
async def house(hass: HomeAssistant, assist: None) -> House:
    """Return the house, whose names are known."""
    made = House(hass)
    await async_get_names(hass).async_fill()
    return made


def as_new(hass: HomeAssistant) -> None:
    """Check that the index holds what one that is made now would."""
    now, new = async_get_names(hass), NameIndex(hass)
    new.named("")
    for part in ("_names", "_labels", "_texts", "_ids"):
        assert getattr(now, part) == getattr(new, part), part


WAYS: dict[str, tuple[Callable[[House], Any], str]] = {
    "the name of a state": (
        lambda one: one.hass.states.async_set("light.bare", "on", {"friendly_name": "Tulip"}),
        "light.bare",
    ),
    "the name of an entity": (lambda one: one.entities.async_update_entity(LAMP, name="Tulip"), LAMP),
    "an alias": (lambda one: one.entities.async_update_entity(LAMP, aliases=["Tulip"]), LAMP),
    "the area of an entity": (
        lambda one: one.entities.async_update_entity(LAMP, area_id=one.areas.async_create("Tulip").id),
        LAMP,
    ),
    "the name of an area": (lambda one: one.areas.async_update(one.rooms[0], name="Tulip"), LAMP),
    "the name of an area, of a part": (lambda one: one.areas.async_update(one.rooms[0], name="Tulip"), "light.part"),
    "an alias of an area": (lambda one: one.areas.async_update(one.rooms[0], aliases={"Tulip"}), "light.part"),
    "the area of a device": (
        lambda one: one.devices.async_update_device(one.on_devices[0], area_id=one.areas.async_create("Tulip").id),
        "light.part",
    ),
    "the device": (
        lambda one: (
            one.areas.async_update(one.rooms[0], name="Tulip"),
            one.entities.async_update_entity("light.free", device_id=one.on_devices[1]),
        ),
        "light.free",
    ),
    "the id": (lambda one: _rename(one, LAMP, "light.tulip"), "light.tulip"),
    "one that comes": (lambda one: one.add("tulip"), "light.tulip"),
}


def _rename(house: House, old: str, new: str) -> None:
    """Give an entity another id, as its platform does."""
    house.entities.async_update_entity(old, new_entity_id=new)
    house.hass.states.async_remove(old)
    house.hass.states.async_set(new, "on", {"friendly_name": "Tulip"})


@pytest.mark.parametrize("way", WAYS)
async def test_every_way_to_a_name(hass: HomeAssistant, house: House, way: str) -> None:
    """A new name is known at once, to whom it is exposed; with the entity it is gone."""
    change, entity_id = WAYS[way]
    expose(hass, LAMP, "light.part", "light.free", "light.bare")
    with pytest.raises(NotExposedError):
        Exposure(hass, ASSISTANT).resolve("tulip")
    change(house)
    await hass.async_block_till_done()
    as_new(hass)
    async_expose_entity(hass, ASSISTANT, entity_id, should_expose=False)
    assert entity_id not in [one.entity_id for one in Exposure(hass, ASSISTANT).search("tulip")]
    expose(hass, entity_id)
    found = Exposure(hass, ASSISTANT).resolve("tulip")
    assert entity_id in [one.entity_id for one in found]
    hass.states.async_remove(entity_id)
    assert entity_id not in [one.entity_id for one in Exposure(hass, ASSISTANT).search("tulip")]
    as_new(hass)


async def test_old_names_are_gone(hass: HomeAssistant, house: House) -> None:
    """Nothing answers to a name that it had: not to that of its area, nor after it was hidden under another one."""
    expose(hass, LAMP)
    assert Exposure(hass, ASSISTANT).resolve("Kitchen Lamp")
    house.areas.async_update(house.rooms[0], name="Scullery")
    assert Exposure(hass, ASSISTANT).resolve("Scullery Lamp")
    assert Exposure(hass, ASSISTANT).search("Kitchen Lamp") == []
    house.areas.async_delete(house.rooms[0])
    await hass.async_block_till_done()
    assert Exposure(hass, ASSISTANT).search("Scullery Lamp") == []
    async_expose_entity(hass, ASSISTANT, LAMP, should_expose=False)
    assert "light.lamp" not in await Exposure(hass, ASSISTANT).async_nearest("lamp")
    as_new(hass)


@pytest.mark.parametrize("seed", seeds(3))
async def test_any_changes(hass: HomeAssistant, house: House, seed: int) -> None:
    """After any changes in any order, it is as one that is made anew; what is hidden is never told."""
    random = Random(seed)
    floors, label = fr.async_get(hass), lr.async_get(hass).async_create("Cosy").label_id

    def word() -> str:
        return f"{random.choice(('Tulip', 'Rose', 'Daisy'))} {random.randint(1, 9)}"

    def entity() -> str:
        return random.choice(house.known())

    def room() -> str | None:
        return random.choice([*house.areas.areas, None])

    def device() -> str:
        return random.choice([one.id for one in house.devices.devices])

    ways: list[Callable[[], Any]] = [
        lambda: house.entities.async_update_entity(entity(), name=word()),
        lambda: house.entities.async_update_entity(entity(), aliases=[word(), word()]),
        lambda: house.entities.async_update_entity(entity(), area_id=room(), labels={label}),
        lambda: house.entities.async_update_entity(entity(), device_id=device()),
        lambda: house.devices.async_update_device(device(), name_by_user=word()),
        lambda: house.devices.async_update_device(device(), area_id=room()),
        lambda: house.devices.async_update_child_device(house.on_devices[1], area_id=room()),
        lambda: house.areas.async_update(random.choice([*house.areas.areas]), name=f"{word()} {random.random()}"),
        lambda: house.areas.async_update(random.choice([*house.areas.areas]), aliases={word()}),
        lambda: house.areas.async_update(random.choice([*house.areas.areas]), floor_id=house.floor),
        lambda: house.areas.async_create(f"{word()} {random.random()}"),
        lambda: len(house.areas.areas) > 1 and house.areas.async_delete(random.choice([*house.areas.areas])),
        lambda: floors.async_update(house.floor, name=f"{word()} {random.random()}", aliases={word()}),
        lambda: house.add(f"new_{random.randint(1, 9)}", random.choice([*house.on_devices, None])),
        lambda: len(house.known()) > 2 and house.entities.async_remove(entity()),
        lambda: hass.states.async_set(entity(), random.choice(("on", "off")), {"friendly_name": word()}),
        lambda: hass.states.async_remove(entity()),
        lambda: async_expose_entity(hass, ASSISTANT, entity(), should_expose=random.random() < 0.5),
    ]
    for _ in range(CHANGES):
        random.choice(ways)()
        exposure = Exposure(hass, ASSISTANT)
        for text in ("tulip 1", word(), entity()):
            assert all(exposure.is_exposed(one.entity_id) for one in exposure.search(text))
        if random.random() < 0.3:
            await hass.async_block_till_done()
            as_new(hass)
    await hass.async_block_till_done()
    as_new(hass)
