"""The timers that Home Assistant runs on a device: what is pending there is no wish, and is told beside the wishes."""

from typing import TYPE_CHECKING, Any

from homeassistant.components.intent.const import TIMER_DATA
from homeassistant.core import HomeAssistant, callback

from ..exposure.entities import Exposure
from ..results import format_duration
from .account import seen

if TYPE_CHECKING:
    from homeassistant.components.intent.timers import TimerManager


@callback
def told_timers(hass: HomeAssistant, exposure: Exposure, device_id: str | None) -> list[dict[str, Any]]:
    """Return the timers of a device, in words, next first; nothing where there is no device."""
    manager: TimerManager | None = hass.data.get(TIMER_DATA)
    if device_id is None or manager is None:
        return []
    timers = [timer for timer in manager.timers.values() if timer.device_id == device_id]
    return [
        {
            **({"name": seen(exposure, timer.name)} if timer.name else {}),
            **({"command": seen(exposure, timer.conversation_command)} if timer.conversation_command else {}),
            "left": format_duration(timer.seconds_left),
            **({} if timer.is_active else {"paused": True}),
        }
        for timer in sorted(timers, key=lambda timer: timer.seconds_left)
    ]
