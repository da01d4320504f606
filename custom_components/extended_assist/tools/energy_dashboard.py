"""The energy dashboard as the user configured it, reduced to what is exposed, in the units of Home Assistant's frontend."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from homeassistant.const import UnitOfEnergy, UnitOfLength, UnitOfVolume
from homeassistant.core import HomeAssistant
from homeassistant.util import dt as dt_util

from ..exposure.entities import Exposure
from ..ha_compat.energy import Preferences, cost_sensors
from ..ha_compat.recorder import StatisticMetaData, get_display_unit
from ..recorder.periods import Period, Span, is_month_span
from ..recorder.states import as_number
from ..recorder.statistics import Metadata, unit_converter
from ..results import number
from .energy_balance import Kind

_DIRECTIONS: dict[str, tuple[tuple[Kind, str, str | None], ...]] = {
    "solar": (("solar", "stat_energy_from", None),),
    "grid": (("grid_in", "stat_energy_from", "stat_cost"), ("grid_out", "stat_energy_to", "stat_compensation")),
    "battery": (("battery_in", "stat_energy_to", None), ("battery_out", "stat_energy_from", None)),
    "home": (("home", "stat_energy_to", None),),
    "gas": (("gas", "stat_energy_from", "stat_cost"),),
    "water": (("water", "stat_energy_from", "stat_cost"),),
}
"""For each type of source its statistics, with those of cost or compensation; "home" came with Home Assistant 2026.11."""
_PRICE_DECIMALS = 4
_VOLUME_UNITS = (
    UnitOfVolume.LITERS,
    UnitOfVolume.GALLONS,
    UnitOfVolume.CUBIC_FEET,
    UnitOfVolume.CUBIC_METERS,
    UnitOfVolume.CENTUM_CUBIC_FEET,
    UnitOfVolume.MILLE_CUBIC_FEET,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Meter:
    """A statistic of the dashboard: of a source in one direction, of its cost, or of a device."""

    statistic_id: str
    kind: Kind | None = None
    """None for a device."""
    name: str | None = None
    """The name that the user gave it in the dashboard."""
    price: str | None = None
    """What a unit costs or brings, where that is fixed or an exposed entity says it."""
    part_of: str | None = None
    """The device that this one's consumption is part of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dashboard:
    """What of the dashboard the assistant may see."""

    sources: list[Meter]
    costs: list[Meter]
    devices: list[Meter]
    water_devices: list[Meter]
    hidden: int
    """How many statistics are not exposed; whether some are of ..."""
    hides_flows: bool
    """what the home's consumption is computed from, ..."""
    hides_costs: bool
    hides_devices: bool

    @property
    def meters(self) -> list[Meter]:
        """Return all that is visible."""
        return [*self.sources, *self.costs, *self.devices, *self.water_devices]

    def of(self, *kinds: Kind) -> list[Meter]:
        """Return the sources of some kinds."""
        return [meter for meter in self.sources if meter.kind in kinds]


def visible_dashboard(hass: HomeAssistant, preferences: Preferences, exposure: Exposure) -> Dashboard:
    """Return the exposed part of the dashboard; cost sensors that Home Assistant made itself are entities like others."""
    sensors_of_costs = cost_sensors(hass)
    sources: list[Meter] = []
    costs: list[Meter] = []
    for source in preferences["energy_sources"]:
        directions = _DIRECTIONS.get(source["type"], ())
        # The name of a source is one of all its directions, so of a hidden one, too.
        is_whole = all(exposure.is_statistic_exposed(flow) for _, key, _ in directions if (flow := source.get(key)))
        name = source.get("name") if is_whole else None
        for kind, key, cost_key in directions:
            if not (statistic_id := source.get(key)):
                continue
            cost_id = cost_key and (source.get(cost_key) or sensors_of_costs.get(statistic_id))
            if cost_id:
                costs.append(Meter(statistic_id=cost_id, kind=kind))
            price = _price(hass, exposure, source, kind) if cost_key and not source.get(cost_key) else None
            sources.append(Meter(statistic_id=statistic_id, kind=kind, name=name, price=price))
    devices, water_devices = (
        [
            Meter(
                statistic_id=device["stat_consumption"], name=device.get("name"), part_of=device.get("included_in_stat")
            )
            for device in preferences.get(key, [])
        ]
        for key in ("device_consumption", "device_consumption_water")
    )
    flows = [meter for meter in sources if meter.kind not in ("gas", "water")]

    def hidden(meters: Iterable[Meter]) -> set[str]:
        return {meter.statistic_id for meter in meters if not exposure.is_statistic_exposed(meter.statistic_id)}

    def visible(meters: Iterable[Meter]) -> list[Meter]:
        return [meter for meter in meters if exposure.is_statistic_exposed(meter.statistic_id)]

    return Dashboard(
        sources=visible(sources),
        costs=visible(costs),
        devices=visible(devices),
        water_devices=visible(water_devices),
        hidden=len(hidden([*sources, *costs, *devices, *water_devices])),
        hides_flows=bool(hidden(flows)),
        hides_costs=bool(hidden(costs)),
        hides_devices=bool(hidden(devices)),
    )


def _price(hass: HomeAssistant, exposure: Exposure, source: Mapping[str, Any], kind: Kind) -> str | None:
    """Return the price of a source's unit, as the user fixed it or as an exposed entity says it."""
    suffix = "_export" if kind == "grid_out" else ""
    if (fixed := source.get(f"number_energy_price{suffix}")) is not None:
        per_unit = "/kWh" if kind in ("grid_in", "grid_out") else " per unit of the meter"
        return f"{number(fixed, decimals=_PRICE_DECIMALS)} {hass.config.currency}{per_unit}".replace("  ", " ")
    state = exposure.state(source.get(f"entity_energy_price{suffix}") or "")
    if state is None or (price := as_number(state.state)) is None:
        return None
    return f"{number(price, decimals=_PRICE_DECIMALS)} {state.attributes.get('unit_of_measurement', '')}".strip()


def dashboard_period(span: Span) -> Period:
    """Return the period by which the dashboard reads a span: hours for up to two days and a bit, or days, or months."""
    start, end = (dt_util.as_local(moment).replace(tzinfo=None) for moment in span)
    days = (end - timedelta(milliseconds=1) - start).days
    if days > 35 and is_month_span(span):
        return "month"
    return "day" if days > 2 else "hour"


def gas_unit(hass: HomeAssistant, dashboard: Dashboard, metadata: dict[str, Metadata]) -> str:
    """Return the unit of gas: kWh if the meters count energy, the one all of them show, or that of the unit system."""
    known = [metadata[meter.statistic_id][1] for meter in dashboard.of("gas") if meter.statistic_id in metadata]
    classes = [meta["unit_class"] for meta in known if meta["unit_class"] in ("energy", "volume")]
    if classes and classes[0] == "energy":
        return UnitOfEnergy.KILO_WATT_HOUR
    return _shown_by_all(hass, known) or (UnitOfVolume.CUBIC_METERS if _is_metric(hass) else UnitOfVolume.CUBIC_FEET)


def water_unit(hass: HomeAssistant, dashboard: Dashboard, metadata: dict[str, Metadata]) -> str:
    """Return the unit of water: the one all meters show, or that of the unit system."""
    known = [metadata[meter.statistic_id][1] for meter in dashboard.of("water") if meter.statistic_id in metadata]
    return _shown_by_all(hass, known) or (UnitOfVolume.LITERS if _is_metric(hass) else UnitOfVolume.GALLONS)


def _is_metric(hass: HomeAssistant) -> bool:
    return hass.config.units.length_unit == UnitOfLength.KILOMETERS


def _shown_by_all(hass: HomeAssistant, known: list[StatisticMetaData]) -> str | None:
    """Return the unit of volume that all of some statistics are shown in."""
    units = {
        get_display_unit(hass, meta["statistic_id"], meta["unit_class"], meta["unit_of_measurement"]) for meta in known
    }
    unit = units.pop() if len(units) == 1 else None
    return unit if unit in _VOLUME_UNITS else None


def converter(hass: HomeAssistant, meta: StatisticMetaData, energy: str, volume: str) -> Callable[[float], float]:
    """Return a function that converts a change to the unit asked for its class, or to the one in which the user sees it."""
    found, own = unit_converter(meta), meta["unit_of_measurement"]
    if found is None:
        return float
    shown = get_display_unit(hass, meta["statistic_id"], meta["unit_class"], own)
    unit = {"energy": energy, "volume": volume}.get(found.UNIT_CLASS or "", shown)
    if unit == own or unit not in found.VALID_UNITS:
        return float
    convert = found.converter_factory(own, unit)
    return lambda change: convert(change) - convert(0.0)


def default_span(now: datetime) -> Span:
    """Return today up to now, or yesterday in the first hour of a day, as the dashboard shows it."""
    midnight = dt_util.start_of_local_day(dt_util.as_local(now))
    if now - midnight >= timedelta(hours=1):
        return dt_util.as_utc(midnight), now
    yesterday = dt_util.start_of_local_day(midnight - timedelta(hours=12))
    return dt_util.as_utc(yesterday), dt_util.as_utc(midnight)
