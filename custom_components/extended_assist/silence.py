"""What is logged above debug says nothing of the home: no name, state, text, argument or answer, and no error's own words."""

import logging
from pathlib import Path
import sys
from traceback import extract_tb

from .const import LOGGER

_FRAMES = 4

QUIET = LOGGER.getChild("quiet")
"""For what logs by itself what it does with what it is given, such as Home Assistant's scripts: all of it is for debugging."""


def _only_for_debugging(record: logging.LogRecord) -> bool:
    """Make a record one of debugging."""
    record.levelno, record.levelname = logging.DEBUG, logging.getLevelName(logging.DEBUG)
    return QUIET.isEnabledFor(logging.DEBUG)


QUIET.addFilter(_only_for_debugging)


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
