"""Rows as the recorder writes them, and a plain replay of them: what the queries are compared with."""

from dataclasses import dataclass, field
from itertools import count

from sqlalchemy import Engine, insert, select
from sqlalchemy.orm import Session

from custom_components.extended_assist.recorder.engine import engine_of
from custom_components.extended_assist.recorder.states import Series
from homeassistant.components.recorder.db_schema import StateAttributes, States, StatesMeta

GAPS = (None, "", "unavailable", "unknown")
_number = count(1)


@dataclass(frozen=True)
class Recorded:
    """A row: when, which state, and whether only attributes changed."""

    moment: float
    state: str | None
    attributes_only: bool = False
    attributes: str = "{}"


def record(database: Engine, rows: list[Recorded]) -> str:
    """Write rows of a new entity, amid rows of another one, and return its id."""
    entity_id = f"sensor.number_{next(_number)}"
    with Session(database) as session:
        metas = [StatesMeta(entity_id=name) for name in (entity_id, f"{entity_id}_other")]
        session.add_all(metas)
        session.flush()
        shared = {text: StateAttributes(hash=0, shared_attrs=text) for text in {row.attributes for row in rows}}
        session.add_all(shared.values())
        session.flush()
        values = [
            {
                "metadata_id": meta.metadata_id,
                "state": row.state if meta is metas[0] else "99999",
                "last_updated_ts": row.moment + shift,
                "last_changed_ts": row.moment - 0.5 if row.attributes_only else None,
                "attributes_id": shared[row.attributes].attributes_id,
            }
            for row in rows
            for meta, shift in zip(metas, (0, 0.01), strict=True)
        ]
        if values:
            session.execute(insert(States), values)
        session.commit()
    return entity_id


def find_series(session: Session, entity_id: str, attribute: str | None = None) -> Series:
    """Return the series of an entity."""
    metadata_id = session.execute(select(StatesMeta.metadata_id).where(StatesMeta.entity_id == entity_id)).scalar_one()
    return Series(engine_of(session), metadata_id, attribute)


@dataclass
class Replayed:
    """What a state did in a span."""

    total: float = 0
    longest: float = 0
    stretches: list[tuple[float, float]] = field(default_factory=list)
    began: list[float] = field(default_factory=list)


def segments(rows: list[Recorded], start: float, end: float) -> list[tuple[float, float, str | None]]:
    """Return which state held from when to when, between start and end."""
    ordered = sorted(rows, key=lambda row: row.moment)
    found = []
    for index, row in enumerate(ordered):
        until = ordered[index + 1].moment if index + 1 < len(ordered) else end
        begin, until = max(row.moment, start), min(until, end)
        if row.moment < end and until > begin:
            found.append((begin, until, row.state))
    return found


def replay(rows: list[Recorded], start: float, end: float, min_seconds: float = 0) -> dict[str, Replayed]:
    """Go through the rows one by one; all gaps count as one state, the empty one."""
    result: dict[str, Replayed] = {}
    held: tuple[str, float, float] | None = None
    known: str | None = None

    def close() -> None:
        if held and held[2] - held[1] >= min_seconds:
            state = result.setdefault(held[0], Replayed())
            state.total += held[2] - held[1]
            state.longest = max(state.longest, held[2] - held[1])
            state.stretches.append((held[1], held[2]))

    for begin, until, recorded in segments(rows, start, end):
        state = "" if recorded in GAPS else str(recorded)
        if held and held[0] == state:
            held = (state, held[1], until)
            continue
        close()
        held = (state, begin, until)
        if state:
            if known is not None and known != state:
                result.setdefault(state, Replayed()).began.append(begin)
            known = state
    close()
    return result
