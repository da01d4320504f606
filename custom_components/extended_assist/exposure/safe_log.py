"""What is logged above debug says nothing of the home: no name, state, text, argument or answer, and no error's own words."""

import logging
from pathlib import Path
import sys
from traceback import extract_tb

from ..const import DOMAIN, LOGGER

THREAD = f"{DOMAIN} "
"""How the names of our threads begin."""
QUIET = LOGGER.getChild("quiet")
"""For what logs by itself what it does with what it is given, such as Home Assistant's scripts: all of it is for debugging."""

_FRAMES = 4
_TELLING = (
    "homeassistant.components.geo_location.trigger",
    "homeassistant.components.homeassistant.triggers.numeric_state",
    "homeassistant.components.homeassistant.triggers.state",
    "homeassistant.components.template.trigger",
    "homeassistant.helpers.event",
    "homeassistant.helpers.template",
    "homeassistant.helpers.template.extensions.devices",
    "homeassistant.helpers.template.extensions.serialization",
    "homeassistant.helpers.template.extensions.state",
)
"""Loggers that tell of triggers and templates what these hold."""


class Unlogged:
    """What Home Assistant's records are recognised by as being about something of ours."""

    __slots__ = ()


class UnloggedText(Unlogged, str):
    """A name or a template of ours."""

    __slots__ = ()


def _for_debugging(record: logging.LogRecord) -> bool:
    """Make a record one of debugging."""
    record.levelno, record.levelname = logging.DEBUG, logging.getLevelName(logging.DEBUG)
    return QUIET.isEnabledFor(logging.DEBUG)


def _ours_for_debugging(record: logging.LogRecord) -> bool:
    """Make a record one of debugging where it is about what we run."""
    given = record.args if isinstance(record.args, tuple) else ()
    is_ours = str(record.threadName).startswith(THREAD) or any(isinstance(one, Unlogged) for one in given)
    return _for_debugging(record) if is_ours else True


QUIET.addFilter(_for_debugging)
for _name in _TELLING:
    logging.getLogger(_name).addFilter(_ours_for_debugging)


def log_unexpected(doing: str) -> None:
    """Log the error that is being handled: its kind and place. Its text may repeat anything, so that is for debugging."""
    error = sys.exception()
    kinds: list[str] = []
    cause: BaseException | None = error
    while cause is not None and len(kinds) < _FRAMES:
        kinds.append(type(cause).__name__)
        cause = cause.__cause__ or cause.__context__
    frames = extract_tb(error.__traceback__)[-_FRAMES:] if error else []
    places = [f"{Path(frame.filename).name}:{frame.lineno} in {frame.name}" for frame in frames]
    LOGGER.error("Unexpected error %s: %s (%s)", doing, " from ".join(kinds), ", ".join(places))
    LOGGER.debug("What it says", exc_info=error)
