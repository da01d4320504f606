"""Until when a fact holds, as it is said."""

from datetime import timedelta

from homeassistant.util import dt as dt_util

from ..results import ToolError
from .fact import now


def read_until(text: str) -> float:
    """Return the moment at which a fact ceases to hold: a local time, or the end of a date; raises ToolError for none to come."""
    try:
        if (day := dt_util.parse_date(text.strip())) is not None:
            moment = dt_util.start_of_local_day(day + timedelta(days=1)).timestamp()
        elif (time := dt_util.parse_datetime(text.strip())) is not None:
            moment = dt_util.as_local(time).timestamp()
        else:
            raise ToolError(f"until '{text}' is no date or time. Write it like 2026-03-01 or 2026-03-01 17:30.")
    except (OverflowError, ValueError) as err:
        raise ToolError(f"until '{text}' is no date or time. Write it like 2026-03-01 or 2026-03-01 17:30.") from err
    if moment <= now():
        raise ToolError(f"until '{text}' is over. Give one that is still to come.")
    return moment
