"""The dismissed habits, stored over restarts."""

import asyncio
from dataclasses import asdict, dataclass, field
from time import time
from typing import Any, Final

from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.singleton import singleton
from homeassistant.util.hass_dict import HassKey

from ..const import DOMAIN
from ..storage import NUMBER, TEXT_OR_NONE, ConfirmedStore, async_load, shape
from .days import DAY
from .habit import Habit

_VERSION: Final = 1
_NEAR: Final = 120.0
"""Minutes by which the time of the same habit may change."""


@dataclass(frozen=True, slots=True)
class Declined:
    """A dismissed habit; entities are stored by registry id if they have one, so that their ids may change."""

    id: str
    entity: str
    state: str
    cause: str | None = None
    cause_state: str | None = None
    minute: float | None = None
    time: float = field(default_factory=time)
    """The time of the dismissal, in seconds since the epoch."""

    def is_like(self, other: Declined) -> bool:
        """Return whether another habit is the same: after the same event, or near the same time of the day."""
        if (self.entity, self.state) != (other.entity, other.state):
            return False
        if self.cause is not None and (self.cause, self.cause_state) == (other.cause, other.cause_state):
            return True
        if self.minute is None or other.minute is None:
            return False
        apart = abs(self.minute - other.minute) % DAY
        return min(apart, DAY - apart) <= _NEAR


@callback
def declined_from(hass: HomeAssistant, habit: Habit) -> Declined:
    """Return the record for dismissing a habit."""
    registry = er.async_get(hass)

    def lasting(entity_id: str) -> str:
        entry = registry.async_get(entity_id)
        return entry.id if entry else entity_id

    cause, cause_state = habit.cause or (None, None)
    return Declined(
        habit.id,
        lasting(habit.does[0]),
        habit.does[1],
        lasting(cause) if cause else None,
        cause_state,
        habit.minute,
    )


class DeclinedHabits:
    """All dismissed habits."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Create the store; async_load must run before use."""
        self._hass = hass
        self._store = ConfirmedStore[dict[str, Any]](hass, _VERSION, f"{DOMAIN}.habits")
        self._lock = asyncio.Lock()
        self._declined: dict[str, Declined] = {}
        self.told: dict[str, Habit] = {}
        """The habits that were shown since the start, by id: these can be dismissed."""

    async def async_load(self) -> None:
        """Load the stored dismissals."""
        self._declined = {one.id: one for one in await async_load(self._hass, self._store, _read)}

    @property
    def all(self) -> list[Declined]:
        """Return all dismissals."""
        return list(self._declined.values())

    async def async_decline(self, declined: Declined) -> None:
        """Store a dismissal; raises NotStoredError, and then the habit is not dismissed."""
        async with self._lock:
            await self._async_store(self._declined | {declined.id: declined})

    async def async_allow(self, habit_id: str) -> bool:
        """Delete a dismissal; return whether there was one. Raises NotStoredError, and then it stays."""
        async with self._lock:
            left = {key: one for key, one in self._declined.items() if key != habit_id}
            is_there = len(left) < len(self._declined)
            await self._async_store(left)
        return is_there

    async def async_clear(self) -> None:
        """Delete all dismissals, also on the disk."""
        self._declined, self.told = {}, {}
        await self._store.async_remove()

    async def _async_store(self, declined: dict[str, Declined]) -> None:
        """Write dismissals to the disk, then use them; the caller holds the lock under which it read them."""
        await self._store.async_save_confirmed(lambda: {"declined": [asdict(one) for one in declined.values()]})
        self._declined = declined


_STORED = shape(
    {
        "declined": [
            shape(
                {"id": str, "entity": str, "state": str},
                {
                    "cause": TEXT_OR_NONE,
                    "cause_state": TEXT_OR_NONE,
                    "minute": lambda value: value if value is None else NUMBER(value),
                    "time": NUMBER,
                },
            )
        ]
    }
)


def _read(data: Any) -> list[Declined]:
    """Return the stored habits."""
    return [Declined(**one) for one in _STORED(data)["declined"]] if data is not None else []


_DECLINED: HassKey[DeclinedHabits] = HassKey(f"{DOMAIN}_habits")


@singleton(_DECLINED, async_=True)
async def async_get_declined(hass: HomeAssistant) -> DeclinedHabits:
    """Return the dismissed habits of this Home Assistant."""
    declined = DeclinedHabits(hass)
    await declined.async_load()
    return declined
