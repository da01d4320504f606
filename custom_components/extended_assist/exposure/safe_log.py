"""Logging above debug contains nothing of the home: no names, states, texts, arguments, answers or error messages."""

import logging
from pathlib import Path
import sys
from traceback import extract_tb

from ..const import DOMAIN, LOGGER

THREAD = f"{DOMAIN} "
"""The prefix of the names of our threads."""
QUIET = LOGGER.getChild("quiet")
"""A logger for code that logs its data itself, such as Home Assistant's scripts: all of it becomes debug."""

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
"""Loggers that log the content of triggers and templates."""


class Unlogged:
    """Marks objects of ours, so that Home Assistant's log records about them are recognised."""

    __slots__ = ()


class UnloggedText(Unlogged, str):
    """A name or template of ours."""

    __slots__ = ()


def _for_debugging(record: logging.LogRecord) -> bool:
    """Change the level of a record to debug."""
    record.levelno, record.levelname = logging.DEBUG, logging.getLevelName(logging.DEBUG)
    return QUIET.isEnabledFor(logging.DEBUG)


def _ours_for_debugging(record: logging.LogRecord) -> bool:
    """Change the level of a record to debug if it is about code that we run."""
    given = record.args if isinstance(record.args, tuple) else ()
    is_ours = str(record.threadName).startswith(THREAD) or any(isinstance(one, Unlogged) for one in given)
    return _for_debugging(record) if is_ours else True


QUIET.addFilter(_for_debugging)
for _name in _TELLING:
    logging.getLogger(_name).addFilter(_ours_for_debugging)


def log_unexpected(doing: str) -> None:
    """Log the type and place of the current error; its message, which may contain anything, at debug level only."""
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
