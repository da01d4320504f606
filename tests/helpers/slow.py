"""Locks, covers and garage doors with the timing of real ones: they report when they have moved, not when they were told."""

from typing import Any, override

from homeassistant.components.cover import CoverDeviceClass, CoverEntity, CoverEntityFeature
from homeassistant.components.lock import LockEntity
from homeassistant.core import CALLBACK_TYPE, HomeAssistant, callback
from homeassistant.helpers.entity import Entity
from homeassistant.helpers.event import async_call_later
from tests.conftest import expose

NEVER = float("inf")


class _Slow(Entity):
    """Something that gets where it was told to later."""

    _attr_should_poll = False

    def __init__(self, name: str, seconds: float) -> None:
        """Take how long it takes."""
        self.entity_id = name
        self._attr_name = name.split(".")[1].replace("_", " ").title()
        self.seconds = seconds
        self._stop: CALLBACK_TYPE | None = None

    def later(self, action: Any) -> None:
        """Do something when it has moved."""
        if self._stop:
            self._stop()
        self._stop = None
        if self.seconds == NEVER:
            return

        @callback
        def done(_: Any) -> None:
            self._stop = None
            action()
            self.async_write_ha_state()

        self._stop = async_call_later(self.hass, self.seconds, done)

    @override
    async def async_will_remove_from_hass(self) -> None:
        """Move no more."""
        if self._stop:
            self._stop()


class SlowLock(_Slow, LockEntity):
    """A lock that may tell that it is turning."""

    def __init__(self, name: str, seconds: float, *, tells: bool = False) -> None:
        """Take how long it takes, and whether it tells meanwhile."""
        super().__init__(name, seconds)
        self._attr_is_locked = True
        self._tells = tells

    def _turn(self, *, locked: bool) -> None:
        """Begin to turn."""

        def turned() -> None:
            self._attr_is_locked, self._attr_is_locking, self._attr_is_unlocking = locked, False, False

        if self._tells:
            self._attr_is_locking, self._attr_is_unlocking = locked, not locked
            self.async_write_ha_state()
        self.later(turned)

    @override
    async def async_lock(self, **kwargs: Any) -> None:
        """Lock."""
        self._turn(locked=True)

    @override
    async def async_unlock(self, **kwargs: Any) -> None:
        """Unlock."""
        self._turn(locked=False)


class SlowCover(_Slow, CoverEntity):
    """A cover or a garage door that tells that it moves."""

    _attr_supported_features = CoverEntityFeature.OPEN | CoverEntityFeature.CLOSE

    def __init__(self, name: str, seconds: float, device_class: CoverDeviceClass = CoverDeviceClass.SHUTTER) -> None:
        """Take how long it takes."""
        super().__init__(name, seconds)
        self._attr_is_closed = True
        self._attr_device_class = device_class

    def _move(self, *, closed: bool) -> None:
        """Begin to move."""

        def moved() -> None:
            self._attr_is_closed, self._attr_is_closing, self._attr_is_opening = closed, False, False

        self._attr_is_closing, self._attr_is_opening = closed, not closed
        self.async_write_ha_state()
        self.later(moved)

    @override
    async def async_open_cover(self, **kwargs: Any) -> None:
        """Open."""
        self._move(closed=False)

    @override
    async def async_close_cover(self, **kwargs: Any) -> None:
        """Close."""
        self._move(closed=True)


class BlindCover(SlowCover):
    """A cover by radio that nobody hears back from: it takes for done what it was told."""

    _attr_assumed_state = True

    @override
    def _move(self, *, closed: bool) -> None:
        """Take it for done."""
        self._attr_is_closed = closed
        self.async_write_ha_state()


async def add(hass: HomeAssistant, *entities: _Slow) -> None:
    """Add entities to a home that has components of their kinds, and expose them."""
    for entity in entities:
        await hass.data[entity.entity_id.split(".")[0]].async_add_entities([entity])
        expose(hass, entity.entity_id)
