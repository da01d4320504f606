"""Describe the past of an entity within a budget."""

from dataclasses import dataclass, field

from homeassistant.const import PERCENTAGE
from homeassistant.core import HomeAssistant
from homeassistant.helpers.json import json_dumps
from homeassistant.util.json import JsonObjectType, json_loads

from ..exposure.entities import ExposedEntity, Exposure
from ..exposure.fixed_values import is_fixed_attribute, is_fixed_name, is_fixed_state, is_fixed_unit
from ..recorder.history import EntityHistory, Question
from ..recorder.numbers import Numbers, Reading
from ..recorder.state_durations import GAP, OTHER, StateAccount, StateCodes
from ..recorder.state_durations_sql import LastTime
from ..results import duration, fit_rows, format_minute, format_number, format_time, number, size, to_csv

LEFT_OUT = "(text: name the entity to read it)"
"""Replaces free text of an entity that the call did not name."""
_NO_VALUE = "unknown or unavailable"
_RESERVE = 250
"""Characters that are reserved for the span, quotes and notes."""
CIRCULAR = "measurement_angle"
"""State class of directions, whose mean would be wrong: that of 359° and 1° is not 180°."""


@dataclass(frozen=True, slots=True)
class Wording:
    """The form of the answers to one question."""

    hass: HomeAssistant
    exposure: Exposure
    question: Question
    budget: int
    """The most characters for one entity."""
    ongoing: bool
    """Whether the span ends now."""
    is_named: bool
    """True if the call named the entities; free text is left out otherwise."""
    free: set[str] = field(default_factory=set)
    """Entities with free text in the answer."""

    def account(self, entity: ExposedEntity, answer: EntityHistory) -> JsonObjectType:
        """Return the description of one entity's past."""
        said: JsonObjectType = {"name": entity.name, "now": self._now(entity)}
        if not is_fixed_name(self.hass, entity.state):
            self.free.add(entity.entity_id)
        if self.question.attribute is not None:
            said["attribute"] = self.question.attribute
        elif entity.unit:
            said["unit"] = entity.unit
        if (before := answer.before) is not None:
            since = "since" if before.is_change else "at_least_since"
            said["before"] = {"state": self.value(entity, before.value), since: format_time(before.since)}
        if answer.recorded_from is not None:
            key = "hourly_averages_before" if answer.hourly else "recorded_from"
            said[key] = format_time(answer.recorded_from)
        elif answer.hourly:
            said["note"] = "All from hourly averages: the recorder no longer has the single values."
        if answer.numbers is not None:
            self._add_numbers(said, entity, answer, answer.numbers)
        elif answer.account is not None and self.question.condition is None:
            self._add_states(said, entity, answer, answer.account)
        elif answer.account is not None:
            self._add_condition(said, entity, answer, answer.account)
        else:
            said["note"] = "No number in this span."
        self._add_rows(said, entity, answer)
        return said

    def value(self, entity: ExposedEntity, value: str | None) -> str | float:
        """Return the shown form of a state or attribute value."""
        if not value:
            return "removed"
        attribute = self.question.attribute
        if attribute is None:
            is_fixed = is_fixed_state(self.hass, entity.state, value)
            return self.exposure.shown(entity, value) if self._may_answer(entity, is_fixed=is_fixed) else LEFT_OUT
        visible = self.exposure.visible_value(json_loads(value))
        if not self._may_answer(entity, is_fixed=is_fixed_attribute(self.hass, entity.state, attribute, visible)):
            return LEFT_OUT
        if isinstance(visible, float):
            return number(visible)
        return visible if isinstance(visible, str) else "" if visible is None else json_dumps(visible)

    def _now(self, entity: ExposedEntity) -> str | float:
        """Return the current state of the entity."""
        is_fixed = is_fixed_state(self.hass, entity.state)
        return self.exposure.shown(entity) if self._may_answer(entity, is_fixed=is_fixed) else LEFT_OUT

    def _may_answer(self, entity: ExposedEntity, *, is_fixed: bool) -> bool:
        """Return whether a value may be shown, and note free text that is shown."""
        if not is_fixed and self.is_named:
            self.free.add(entity.entity_id)
        return is_fixed or self.is_named

    def _number(self, entity: ExposedEntity, value: float) -> float:
        """Return a number with the precision of the entity."""
        if self.question.attribute is not None:
            return number(value)
        return number(value, entity.unit, self.exposure.decimals(entity.entity_id))

    def _reading(self, entity: ExposedEntity, reading: Reading) -> JsonObjectType:
        """Return a number with its time."""
        return {"value": self._number(entity, reading.number), "time": format_time(reading.moment)}

    def _add_states(
        self, said: JsonObjectType, entity: ExposedEntity, answer: EntityHistory, account: StateAccount
    ) -> None:
        """Add time per state and number of changes."""
        said["changes"] = account.changes
        names = {GAP: _NO_VALUE, OTHER: "others"} | {
            code: str(self.value(entity, state)) for code, state in enumerate(account.coding.states, 1)
        }
        moments = [
            (moment, names[code])
            for code, tally in account.tallies.items()
            for moment in (tally.first_began, tally.last_began)
            if moment is not None
        ]
        if moments:
            for key, (moment, state) in (("first_change", min(moments)), ("last_change", max(moments))):
                said[key] = {"time": format_time(moment), "state": state}
        rows = [
            [
                names[code],
                duration(tally.total),
                str(_percent(tally.total, answer.seconds)),
                str(tally.began),
                duration(tally.longest),
                format_minute(tally.longest_start),
                "" if tally.last_began is None else format_time(tally.last_began),
            ]
            for code, tally in sorted(account.tallies.items(), key=lambda item: -item[1].total)
            if tally.turns
        ]
        header = ("state", "time", "percent", "times_begun", "longest", "longest_from", "last_begun")
        # The rest of the room is for the rows; the states left out are those that held for the shortest time.
        said["per_state"] = to_csv(header, fit_rows(rows, self.budget // 3 - 75))

    def _add_condition(
        self, said: JsonObjectType, entity: ExposedEntity, answer: EntityHistory, account: StateAccount
    ) -> None:
        """Add the stretches in which a condition held."""
        coding, tally = account.coding, account.tally(1)
        if coding.kind is StateCodes.EQUAL:
            said["condition"] = f"state {self.value(entity, coding.states[0])}"
        else:
            limits = (("above", coding.above), ("below", coding.below))
            said["condition"] = " and ".join(
                f"{name} {format_number(limit)}" for name, limit in limits if abs(limit) < 1e300
            )
        said["stretches"] = tally.turns
        if tally.turns:
            if not account.min_seconds:
                said["times_begun"] = tally.began
            said["time"] = duration(tally.total)
            said["percent"] = _percent(tally.total, answer.seconds)
            said["longest"] = f"{duration(tally.longest)} from {format_minute(tally.longest_start)}"
        if tally.first_began is not None and tally.last_began is not None and not account.min_seconds:
            said["first_begun"] = format_time(tally.first_began)
            said["last_begun"] = format_time(tally.last_began)
        if unknown := account.tallies.get(GAP):
            said[_NO_VALUE.replace(" ", "_")] = duration(unknown.total)
        match answer.last_time:
            case LastTime(start, end):
                started: JsonObjectType = {} if start is None else {"start": format_time(start)}
                said["last_before"] = started | {"end": format_time(end)}
            case float():
                said["not_held_since"] = format_time(answer.last_time)
        if answer.occurred:
            said["states_that_occurred"] = [self.value(entity, state) for state in answer.occurred]

    def _add_numbers(
        self, said: JsonObjectType, entity: ExposedEntity, answer: EntityHistory, numbers: Numbers
    ) -> None:
        """Add the statistics of a numeric past."""
        if answer.unit_before:
            said["mixed_units"] = (
                f"In {answer.unit_before if is_fixed_unit(answer.unit_before) else 'another unit'} at the start, so the numbers of this span are of both units."
            )
        said |= {"min": self._reading(entity, numbers.minimum), "max": self._reading(entity, numbers.maximum)}
        if entity.state.attributes.get("state_class") != CIRCULAR:
            said["mean"] = self._number(entity, numbers.mean)
        said |= {"first": self._reading(entity, numbers.first), "last": self._number(entity, numbers.last.number)}
        if answer.seconds - numbers.known >= 1:
            said[_NO_VALUE.replace(" ", "_")] = duration(answer.seconds - numbers.known)

    def _add_rows(self, said: JsonObjectType, entity: ExposedEntity, answer: EntityHistory) -> None:
        """Add as many rows as fit."""
        if answer.curve is not None:
            header: tuple[str, ...] = ("from", "mean", "min", "max")
            rows: list[tuple[float, list[str]]] = [
                (
                    begin,
                    [
                        format_minute(begin),
                        *(
                            str(self._number(entity, value))
                            for value in (part.mean, part.minimum.number, part.maximum.number)
                        ),
                    ],
                )
                for begin, part in reversed(answer.curve)
            ]
            key = "curve"
        elif answer.stretches is not None:
            header, key = ("start", "end", "duration"), "newest_stretches"
            rows = [(start, self._stretch(start, end)) for start, end in answer.stretches]
        elif answer.rows is not None:
            header, key = ("time", "state"), "newest_changes"
            rows = [(row.moment, [format_time(row.moment), str(self.value(entity, row.value))]) for row in answer.rows]
        else:
            return
        if not rows:
            return
        kept = fit_rows((row for _, row in rows), self.budget - size(said) - _RESERVE)
        said[key] = to_csv(header, kept)
        if answer.more or len(kept) < len(rows):
            said["note"] = (
                "The parts before are left out; ask for fewer rows or a shorter span."
                if answer.curve is not None
                else f"Older rows are left out; call again with cursor '{rows[len(kept) - 1][0]:.6f}' to list them."
            )

    def _stretch(self, start: float, end: float | None) -> list[str]:
        """Return the row of a stretch."""
        until = self.question.end if end is None else end
        shown = format_time(until) if end is not None or not self.ongoing else "still"
        return [format_time(start), shown, duration(until - start)]


def _percent(part: float, whole: float) -> float:
    """Return a share."""
    return number(100 * part / whole, PERCENTAGE)
