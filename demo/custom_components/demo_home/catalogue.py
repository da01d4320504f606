"""What stands in the home: floors, areas, devices and their entities."""

from dataclasses import dataclass

# Areas and the floor each lies on.
AREAS = {
    "Living room": "Ground floor",
    "Kitchen": "Ground floor",
    "Hall": "Ground floor",
    "Garage": "Ground floor",
    "Bedroom": "First floor",
    "Bathroom": "First floor",
    "Study": "First floor",
    "Garden": None,
}
FLOORS = {"Ground floor": 0, "First floor": 1}


@dataclass(frozen=True, slots=True)
class Item:
    """One entity; its id is the key of its values in the model."""

    entity_id: str
    name: str  # with the device's in front, as people see it
    area: str
    device: str
    unit: str | None = None
    device_class: str | None = None
    state_class: str | None = None
    digits: int = 0  # decimal places of a sensor's value
    every: int = 1  # minutes between two readings
    exposed: bool = True

    @property
    def platform(self) -> str:
        """Return the domain of the entity id."""
        return self.entity_id.partition(".")[0]

    @property
    def name_in_device(self) -> str | None:
        """Return the name without the device's; None for the device's main entity."""
        return self.name.removeprefix(self.device).strip() or None

    def reading(self, value: float) -> float | int:
        """Return a sensor's value as it is shown."""
        return value if self.digits else int(value)


def _temperature(area: str, device: str) -> Item:
    name = f"{device} temperature"
    return Item(_id("sensor", name), name, area, device, "°C", "temperature", "measurement", 1, 5)


def _humidity(area: str, device: str) -> Item:
    name = f"{device} humidity"
    return Item(_id("sensor", name), name, area, device, "%", "humidity", "measurement", 0, 5)


def _co2(area: str) -> Item:
    name = f"{area} CO2"
    return Item(_id("sensor", name), name, area, area, "ppm", "carbon_dioxide", "measurement", 0, 5)


def _thermostat(area: str) -> Item:
    name = f"{area} thermostat"
    return Item(_id("climate", area), name, area, name, every=5)


def _power(area: str, device: str) -> Item:
    name = f"{device} power"
    return Item(_id("sensor", name), name, area, device, "W", "power", "measurement")


def _energy(area: str, device: str, what: str = "energy") -> Item:
    name = f"{device} {what}"
    return Item(_id("sensor", name), name, area, device, "kWh", "energy", "total_increasing", 2, 5)


def _binary(area: str, name: str, device_class: str, *, exposed: bool = True) -> Item:
    return Item(_id("binary_sensor", name), name, area, name, device_class=device_class, exposed=exposed)


def _light(area: str, name: str) -> Item:
    return Item(_id("light", name), name, area, name)


def _id(platform: str, name: str) -> str:
    return f"{platform}.{name.lower().replace(' ', '_')}"


ITEMS = (
    _light("Living room", "Living room ceiling light"),
    _light("Living room", "Reading lamp"),
    _light("Kitchen", "Kitchen light"),
    _light("Hall", "Hall light"),
    _light("Bedroom", "Bedroom light"),
    _light("Bedroom", "Bedside lamp"),
    _light("Bathroom", "Bathroom light"),
    _light("Study", "Desk lamp"),
    _light("Garage", "Garage light"),
    _light("Garden", "Garden lights"),
    _binary("Hall", "Front door", "door"),
    _binary("Kitchen", "Fridge door", "door"),
    _binary("Living room", "Living room window", "window"),
    _binary("Kitchen", "Kitchen window", "window"),
    _binary("Bedroom", "Bedroom window", "window"),
    _binary("Study", "Study window", "window"),
    _binary("Living room", "Living room motion", "motion"),
    _binary("Kitchen", "Kitchen motion", "motion"),
    _binary("Hall", "Hall motion", "motion"),
    _binary("Bedroom", "Bedroom motion", "motion", exposed=False),
    _binary("Garage", "Heating", "heat"),
    Item("lock.front_door", "Front door lock", "Hall", "Front door lock"),
    Item(
        "sensor.front_door_lock_battery",
        "Front door lock battery",
        "Hall",
        "Front door lock",
        "%",
        "battery",
        "measurement",
        every=60,
        exposed=False,
    ),
    Item("cover.living_room_blinds", "Living room blinds", "Living room", "Living room blinds", device_class="blind"),
    Item("cover.garage_door", "Garage door", "Garage", "Garage door", device_class="garage"),
    *(_thermostat(area) for area in ("Living room", "Bedroom", "Bathroom", "Study")),
    *(_temperature(area, area) for area in ("Living room", "Kitchen", "Bedroom", "Bathroom", "Study")),
    *(_humidity(area, area) for area in ("Living room", "Bedroom", "Bathroom")),
    *(_co2(area) for area in ("Living room", "Bedroom", "Study")),
    _temperature("Garden", "Outdoor"),
    _humidity("Garden", "Outdoor"),
    _temperature("Kitchen", "Fridge"),
    _power("Kitchen", "Fridge"),
    _energy("Kitchen", "Fridge"),
    _power("Garage", "Washing machine"),
    _energy("Garage", "Washing machine"),
    _power("Garage", "Heat pump"),
    _energy("Garage", "Heat pump"),
    _power("Garage", "Solar"),
    _energy("Garage", "Solar"),
    _power("Hall", "Grid"),
    _energy("Hall", "Grid", "import"),
    _energy("Hall", "Grid", "export"),
    Item("sensor.electricity_price", "Electricity price", "Hall", "Electricity", "EUR/kWh", None, "measurement", 3, 60),
    Item("sensor.electricity_cost", "Electricity cost", "Hall", "Electricity", "EUR", "monetary", "total", 2, 5),
    Item("sensor.water_meter", "Water meter", "Hall", "Water meter", "m³", "water", "total_increasing", 3, 5),
)

# Beside these, because the model has no values of it and nothing of it is recorded.
CAMERA = Item("camera.front_door", "Front door camera", "Hall", "Front door camera")

BY_ID = {item.entity_id: item for item in ITEMS}


def platform_items(platform: str) -> list[Item]:
    """Return the entities of one platform."""
    return [item for item in ITEMS if item.platform == platform]
