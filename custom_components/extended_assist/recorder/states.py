"""State changes of entities."""

from dataclasses import dataclass

from sqlalchemy import Subquery, func, or_, select, union_all
from sqlalchemy.orm import Session

from homeassistant.components.recorder.db_schema import States
from homeassistant.core import HomeAssistant
from homeassistant.helpers.recorder import get_instance, session_scope

type Change = tuple[float, str]
"""A moment, in seconds since the epoch, and the state that began then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateHistory:
    """What the recorder holds of one entity in a span."""

    at_start: str | None
    """The state that held when the span began, where it is still recorded."""
    count: int
    first: Change | None
    last: Change | None
    newest: list[Change]
    """The newest changes, newest first."""


def read_state_history(
    hass: HomeAssistant, entity_ids: list[str], start: float, end: float, max_rows: int
) -> dict[str, StateHistory]:
    """Return the state changes from start up to end, in seconds since the epoch, without entities never recorded."""
    with session_scope(hass=hass, read_only=True) as session:
        metadata_ids = get_instance(hass).states_meta_manager.get_many(entity_ids, session, from_recorder=False)
        return {
            entity_id: _read_one(session, metadata_id, start, end, max_rows)
            for entity_id, metadata_id in metadata_ids.items()
            if metadata_id is not None
        }


def _read_one(session: Session, metadata_id: int, start: float, end: float, max_rows: int) -> StateHistory:
    """Count in SQL and load only the newest changes."""
    at_start = session.execute(
        select(States.state)
        .where(States.metadata_id == metadata_id, States.last_updated_ts <= start)
        .order_by(States.last_updated_ts.desc())
        .limit(1)
    ).scalar()
    changes = _changes(metadata_id, start, end)
    count, first_ts = session.execute(select(func.count(), func.min(changes.c.moment)).select_from(changes)).one()
    newest = [
        (moment, state)
        for moment, state in session.execute(
            select(changes.c.moment, changes.c.state).order_by(changes.c.moment.desc()).limit(max_rows)
        )
    ]
    first = None
    if first_ts is not None:
        first_state = session.execute(select(changes.c.state).where(changes.c.moment == first_ts)).scalar_one()
        first = (first_ts, first_state)
    return StateHistory(at_start=at_start, count=count, first=first, last=newest[0] if newest else None, newest=newest)


def _changes(metadata_id: int, start: float, end: float) -> Subquery:
    """Return the moments after start and before end at which the state became another one.

    The recorder also writes a row when only attributes changed and after every restart; these are no changes.
    """
    columns = (States.last_updated_ts.label("moment"), States.state)
    before = (
        select(*columns)
        .where(States.metadata_id == metadata_id, States.last_updated_ts <= start)
        .order_by(States.last_updated_ts.desc())
        .limit(1)
        .subquery()
    )
    within = select(*columns).where(
        States.metadata_id == metadata_id, States.last_updated_ts > start, States.last_updated_ts < end
    )
    rows = union_all(select(before), within).subquery()
    previous = func.lag(rows.c.state).over(order_by=rows.c.moment).label("previous")
    marked = select(rows.c.moment, rows.c.state, previous).where(rows.c.state.is_not(None)).subquery()
    return (
        select(marked.c.moment, marked.c.state)
        .where(marked.c.moment > start, or_(marked.c.previous.is_(None), marked.c.state != marked.c.previous))
        .subquery()
    )
