"""What is known of interruptions, kept over restarts.

What is written holds up to the last full hour before. It is written soon after more was looked up, and when Home Assistant
stops; after a crash, what happened since is looked up among the rows. Of another database, nothing of it counts.
"""

from typing import Any

import voluptuous as vol

from homeassistant.const import EVENT_HOMEASSISTANT_STOP, EVENT_STATE_CHANGED
from homeassistant.core import Event, HomeAssistant, callback
from homeassistant.helpers.recorder import DATA_INSTANCE
from homeassistant.helpers.singleton import singleton
from homeassistant.helpers.storage import Store
from homeassistant.util import dt as dt_util
from homeassistant.util.hass_dict import HassKey

from ..const import DOMAIN
from ..storage import NUMBER, async_load, shape
from .unavailable_hours import Interruptions, Kept, LookedUp, interrupts

_VERSION = 1
_SAVE_DELAY = 1.0
"""Seconds, fewer than it takes the recorder to write: where a clock went back, what is kept is put right before its rows."""

_STORED = shape(
    {
        "run": NUMBER,
        "sensors": [
            shape({"metadata_id": int, "entity_id": str, "start": NUMBER, "end": NUMBER, "hours": [int]}),
        ],
    }
)


def _read(stored: Any) -> Kept | None:
    """Return the stored interruptions."""
    if stored is None:
        return None
    valid = _STORED(stored)
    sensors = {
        one["metadata_id"]: LookedUp(one["entity_id"], one["start"], one["end"], frozenset(one["hours"]))
        for one in valid["sensors"]
    }
    if any(known.start > known.end for known in sensors.values()):
        raise vol.Invalid("a span ends before it begins")
    return Kept(valid["run"], sensors)


def _written(kept: Kept) -> dict[str, Any]:
    """Return interruptions in the stored form."""
    sensors = [
        {
            "metadata_id": metadata_id,
            "entity_id": known.entity_id,
            "start": known.start,
            "end": known.end,
            "hours": sorted(known.hours),
        }
        for metadata_id, known in kept.sensors.items()
    ]
    return {"run": kept.run, "sensors": sensors}


class KeptInterruptions:
    """What is known of interruptions, with the file in which it is kept."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Take where it is stored; load before use."""
        self.interruptions = Interruptions(dt_util.utcnow().timestamp(), self._changed)
        self._hass = hass
        self._store: Store[dict[str, Any]] = Store(hass, _VERSION, f"{DOMAIN}.interruptions")
        self._run = self._run_now

    async def async_load(self) -> None:
        """Notice interruptions from now on, and read what was stored of the time before."""
        now = self.interruptions.noticed_from
        self._hass.bus.async_listen(EVENT_STATE_CHANGED, self.interruptions.async_notice, event_filter=interrupts)
        self._hass.bus.async_listen_once(EVENT_HOMEASSISTANT_STOP, self._async_stop)
        if (kept := await async_load(self._hass, self._store, _read)) is None:
            return
        if kept.end > now:
            # The clock went back: what is written must not say that the hours to come are known.
            await self._store.async_save(_written(kept.up_to(now)))
        self.interruptions.async_begin_with(kept)

    async def async_clear(self) -> None:
        """Forget everything, also on the disk."""
        self.interruptions.forget()
        await self._store.async_remove()

    @property
    def _run_now(self) -> float | None:
        """When the recorder's run began; it is another one where it has to begin with another database."""
        instance = self._hass.data.get(DATA_INSTANCE)
        return instance.recorder_runs_manager.recording_start.timestamp() if instance else None

    def _changed(self) -> None:
        """Store soon."""
        self._hass.loop.call_soon_threadsafe(self._async_store)

    @callback
    def _async_stop(self, _: Event) -> None:
        """Store what was noticed up to the end."""
        self._async_store()

    @callback
    def _async_store(self) -> None:
        """Store soon, and in any case before Home Assistant stops."""
        if self._run_now is not None:
            self._store.async_delay_save(self._data, _SAVE_DELAY)

    @callback
    def _data(self) -> dict[str, Any]:
        """Return the known interruptions in the stored form."""
        run = self._run_now
        if run != self._run:
            self.interruptions.forget()
            self._run = run
        is_there = self._hass.states.get
        known = self.interruptions.async_known(
            dt_util.utcnow().timestamp(), run or 0.0, lambda entity_id: is_there(entity_id) is not None
        )
        return _written(known)


_KEPT: HassKey[KeptInterruptions] = HassKey(f"{DOMAIN}_interruptions")


@singleton(_KEPT, async_=True)
async def async_get_kept(hass: HomeAssistant) -> KeptInterruptions:
    """Return the known interruptions; those from the first call on are noticed."""
    kept = KeptInterruptions(hass)
    await kept.async_load()
    return kept
