"""Synchronous queries for the recorder's executor; they do not use the event loop's state."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Concatenate

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.recorder import DATA_INSTANCE, get_instance

from ..const import LOGGER
from ..ha_compat.recorder import Recorder
from ..results import ToolError
from .engine import engine_of

TIME_LIMIT = 10.0
"""Seconds after which the database cancels a statement: nobody waits for its answer any more."""


@callback
def ready_recorder(hass: HomeAssistant) -> Recorder:
    """Return the recorder; raises ToolError if it cannot be read now."""
    instance = hass.data.get(DATA_INSTANCE)
    if instance is None:
        raise ToolError("Home Assistant's recorder is not set up, so nothing is known of the past. Tell the user.")
    if instance.migration_in_progress:
        raise ToolError(
            "The recorder is upgrading its database, which can take long; the past can be read when it is done."
        )
    if not instance.async_db_ready.done():
        raise ToolError("The recorder is still starting. Ask again in a minute.")
    if not instance.async_db_ready.result() or not instance.is_alive():
        raise ToolError("The recorder has stopped, so the past cannot be read. Tell the user to look at the log.")
    return instance


async def async_read[**P, T](
    hass: HomeAssistant, query: Callable[Concatenate[HomeAssistant, P], T], *args: P.args, **kwargs: P.kwargs
) -> T:
    """Run a query in the recorder's executor, called with hass and the arguments.

    Raises ToolError if the recorder is missing, starting, migrating or stopped, and if its database fails.
    """
    instance = ready_recorder(hass)
    try:
        return await instance.async_add_executor_job(lambda: query(hass, *args, **kwargs))
    except RuntimeError:
        ready_recorder(hass)  # Raises when the recorder went away meanwhile.
        raise
    except SQLAlchemyError as err:
        log_unreadable(err)
        raise ToolError(
            "The recorder's database could not be read; the details are in Home Assistant's log. Tell the user."
        ) from err


def log_unreadable(error: SQLAlchemyError) -> None:
    """Log that the database failed, without the error's text: it may contain parameters with names or credentials."""
    LOGGER.error("The recorder's database could not be read: %s", type(getattr(error, "orig", None) or error).__name__)
    LOGGER.debug("The statement that failed", exc_info=error)


@contextmanager
def read_session(hass: HomeAssistant, seconds: float | None = None) -> Iterator[Session]:
    """Yield a read session whose statements the database itself cancels after some seconds, by default TIME_LIMIT."""
    # Not by Home Assistant's session_scope, which logs whatever a statement fails with.
    with (
        closing(get_instance(hass).get_session()) as session,
        engine_of(session.connection()).limited(session, TIME_LIMIT if seconds is None else seconds),
    ):
        yield session
