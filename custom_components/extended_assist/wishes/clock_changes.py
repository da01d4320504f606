"""Being told by the system that its clock was set, or that it slept, so that the clock need not be looked at all day."""

from collections.abc import Callable
import errno
import os
import sys
import time
from typing import Final

from homeassistant.core import CALLBACK_TYPE, HomeAssistant, callback

_NEVER: Final = 4_102_444_800.0
"""When the system's timer would end by itself, in seconds since the epoch: in 2100."""


@callback
def async_watch_clock(hass: HomeAssistant, changed: Callable[[], None]) -> CALLBACK_TYPE | None:
    """Call something whenever the clock was set; return what ends that, or None where the system does not tell of it."""
    if sys.platform != "linux":
        return None
    try:
        timer = os.timerfd_create(time.CLOCK_REALTIME, flags=os.TFD_NONBLOCK | os.TFD_CLOEXEC)
    except OSError:  # A container may forbid it.
        return None

    @callback
    def note() -> None:
        try:
            os.read(timer, 8)
        except BlockingIOError:
            return
        except OSError as err:
            if err.errno != errno.ECANCELED:
                stop()
        changed()

    @callback
    def stop() -> None:
        if hass.loop.remove_reader(timer):
            os.close(timer)

    try:
        os.timerfd_settime(timer, flags=os.TFD_TIMER_ABSTIME | os.TFD_TIMER_CANCEL_ON_SET, initial=_NEVER)
        hass.loop.add_reader(timer, note)
    except OSError, NotImplementedError:
        os.close(timer)
        return None
    return stop
