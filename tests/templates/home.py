"""A home with everything that templates can ask about; a part of it can be hidden."""

from dataclasses import dataclass

from pytest_homeassistant_custom_component.common import MockConfigEntry

from homeassistant.core import HomeAssistant
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
    floor_registry as fr,
    label_registry as lr,
)
from homeassistant.setup import async_setup_component
from tests.conftest import expose

HIDDEN_FLOOR = "Zebra floor"
HIDDEN_AREA = "Quokka room"
HIDDEN_LABEL = "Narwhal label"
HIDDEN_DEVICE = "Axolotl bridge"


@dataclass(frozen=True, slots=True)
class Ids:
    """What the registries made up."""

    entry: str
    hidden_entry: str
    lamp_device: str
    meter_device: str
    hidden_device: str
    hidden_area: str
    hidden_floor: str
    hidden_label: str


async def build(hass: HomeAssistant) -> Ids:
    """Fill the home; nothing is exposed yet."""
    for domain in ("homeassistant", "sensor", "light"):
        assert await async_setup_component(hass, domain, {})
    await hass.config.async_set_time_zone("Europe/Vienna")
    hass.config.latitude, hass.config.longitude = 48.2, 16.4
    floors = fr.async_get(hass)
    ground = floors.async_create("Ground floor", aliases={"Downstairs"}, level=0)
    upper = floors.async_create("Upper floor", level=1)
    hidden_floor = floors.async_create(HIDDEN_FLOOR, aliases={"Zebra storey"}, level=2)
    labels = lr.async_get(hass)
    night = labels.async_create("Night", description="Off at night")
    important = labels.async_create("Important")
    outside = labels.async_create("Outside things")
    hidden_label = labels.async_create(HIDDEN_LABEL, description="Narwhal description")
    areas = ar.async_get(hass)
    living = areas.async_create("Living Room", aliases={"Lounge"}, floor_id=ground.floor_id, labels={night.label_id})
    kitchen = areas.async_create("Kitchen", floor_id=ground.floor_id)
    bedroom = areas.async_create("Bedroom", floor_id=upper.floor_id, labels={outside.label_id})
    hidden_area = areas.async_create(
        HIDDEN_AREA, aliases={"Quokka den"}, floor_id=hidden_floor.floor_id, labels={hidden_label.label_id}
    )
    entry = MockConfigEntry(domain="hue", title="Hue bridge")
    hidden_entry = MockConfigEntry(domain="zebranet", title="Axolotl cloud")
    for each in (entry, hidden_entry):
        each.add_to_hass(hass)
    devices = dr.async_get(hass)
    lamp = devices.async_get_or_create(
        config_entry_id=entry.entry_id,
        identifiers={("hue", "lamp")},
        name="Floor lamp",
        manufacturer="Signify",
        model="LCA001",
        model_id="9290",
        sw_version="1.2.3",
        hw_version="4",
        serial_number="SERIAL1",
    )
    devices.async_update_device(lamp.id, area_id=living.id, labels={important.label_id})
    meter = devices.async_get_or_create(config_entry_id=entry.entry_id, identifiers={("hue", "meter")}, name="Meter")
    devices.async_update_device(meter.id, name_by_user="Kitchen meter", area_id=kitchen.id)
    hidden = devices.async_get_or_create(
        config_entry_id=hidden_entry.entry_id,
        identifiers={("zebranet", "1")},
        name=HIDDEN_DEVICE,
        manufacturer="Narwhal works",
        model="Quokka 3000",
    )
    devices.async_update_device(hidden.id, area_id=hidden_area.id, labels={hidden_label.label_id})

    registry = er.async_get(hass)

    def add(entity_id: str, **changes: object) -> None:
        domain, name = entity_id.split(".")
        source = hidden_entry if changes.get("device_id") == hidden.id else entry
        registry.async_get_or_create(
            domain,
            source.domain,
            name,
            suggested_object_id=name,
            config_entry=source,
            device_id=changes.pop("device_id", None),
        )
        registry.async_update_entity(entity_id, **changes)

    add("light.lamp", device_id=lamp.id, labels={night.label_id})
    add("light.ceiling", area_id=kitchen.id, labels={night.label_id, important.label_id})
    add("light.bed", area_id=bedroom.id, hidden_by=er.RegistryEntryHider.USER)
    add("sensor.power", device_id=meter.id)
    add("sensor.temperature", area_id=living.id)
    registry.async_update_entity_options("sensor.temperature", "sensor", {"display_precision": 1})
    add("binary_sensor.door", area_id=living.id, labels={important.label_id})
    add("sensor.zebra", device_id=hidden.id, labels={hidden_label.label_id})
    add("light.zebra", area_id=hidden_area.id)
    add("light.quokka", area_id=kitchen.id, labels={night.label_id})

    set_state = hass.states.async_set
    set_state("light.lamp", "on", {"friendly_name": "Floor lamp", "brightness": 180, "rgb_color": (255, 10, 0)})
    set_state("light.ceiling", "off", {"friendly_name": "Ceiling", "supported_color_modes": ["onoff"]})
    set_state("light.bed", "unavailable", {"friendly_name": "Bed"})
    set_state(
        "sensor.power", "1234.5678", {"friendly_name": "Power", "unit_of_measurement": "W", "device_class": "power"}
    )
    set_state(
        "sensor.temperature",
        "21.456",
        {"friendly_name": "Temperature", "unit_of_measurement": "°C", "device_class": "temperature"},
    )
    set_state("binary_sensor.door", "off", {"friendly_name": "Door", "device_class": "door"})
    set_state("switch.legacy", "on", {"friendly_name": "Legacy switch"})
    set_state("sensor.unknown", "unknown")
    set_state("sensor.json", '{"a": [1, 2, {"b": null}]}')
    set_state("input_datetime.alarm", "2026-11-20 07:30:00", {"has_date": True, "has_time": True, "timestamp": 1})
    set_state("weather.home", "sunny", {"temperature": 12, "forecast": [{"t": 1}, {"t": 2}]})
    set_state("person.anna", "home", {"friendly_name": "Anna", "latitude": 48.2, "longitude": 16.4, "user_id": "anna1"})
    set_state("device_tracker.phone", "not_home", {"friendly_name": "Phone", "latitude": 48.3, "longitude": 16.3})
    set_state("device_tracker.car", "not_home", {"friendly_name": "Car", "latitude": 47.1, "longitude": 15.4})
    set_state("zone.work", "0", {"friendly_name": "Work", "latitude": 48.25, "longitude": 16.5, "persons": []})
    set_state("zone.home", "1", {"latitude": 48.2, "longitude": 16.4, "persons": ["person.anna"]})
    # Members that are hidden come first, so that what is found does not depend on where it stands.
    set_state("group.lights", "on", {"entity_id": ["light.zebra", "light.lamp", "light.ceiling"]})
    set_state("group.nested", "on", {"entity_id": ["group.lights", "sensor.zebra", "binary_sensor.door"]})
    set_state("sensor.zebra", "31415.926", {"friendly_name": "Quokka meter", "narwhal": 1})
    set_state("light.zebra", "on", {"friendly_name": "Axolotl light"})
    set_state("light.quokka", "on", {"friendly_name": "Quokka light", "brightness": 77})
    await hass.async_block_till_done()
    return Ids(
        entry.entry_id,
        hidden_entry.entry_id,
        lamp.id,
        meter.id,
        hidden.id,
        hidden_area.id,
        hidden_floor.floor_id,
        hidden_label.label_id,
    )


def expose_all(hass: HomeAssistant) -> None:
    """Expose every entity."""
    expose(hass, *hass.states.async_entity_ids())


def expose_visible(hass: HomeAssistant) -> None:
    """Expose everything but what bears the name of a rare animal."""
    expose(hass, *(i for i in hass.states.async_entity_ids() if not i.endswith(("zebra", "quokka"))))
