"""Verification of what a due task did: the outcomes of a tool call, waited for, because nobody waits for the answer."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from homeassistant.components.script.const import DOMAIN as SCRIPT_DOMAIN
from homeassistant.const import STATE_ON
from homeassistant.core import HomeAssistant

from ..calls.change_recorder import Act, async_until
from ..calls.desired_states import Status, is_set, status_of
from ..calls.outcome import told_acts
from ..calls.settable_attributes import STATE
from ..exposure.entities import Exposure

PATIENCE: Final = 30.0
"""Seconds in which a device may report its new state: some are asked for it twice a minute."""
LONGEST_WAY: Final = 120.0
"""Seconds in which what moves, such as a cover or a garage door, may get to its end."""
_MAX_NAMED: Final = 4
_RECORDED: Final = ("automation.", "scene.", "script.")
"""Domains that only run other actions, which are recorded separately."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of all acts of a task."""

    missing: tuple[str, ...] = ()
    """Names of the entities that are not as wanted."""
    moving: tuple[str, ...] = ()
    """Names of those that are still on their way."""
    is_known: bool = True
    """True if the states of the entities confirm every action."""


async def async_verify(hass: HomeAssistant, assistant: str, acts: Mapping[str, Act], *, is_whole: bool) -> Verdict:
    """Wait until it is known what became of acts, as long as it can change; is_whole says that acts are all that was done."""
    now, entity_ids = hass.loop.time(), acts.keys()
    acts = told_acts(hass, Exposure(hass, assistant), acts)
    # What a script does that was only begun is not recorded.
    is_whole = is_whole and not any(is_running(hass, entity_id) for entity_id in entity_ids)
    await async_until(hass, acts, lambda: not _open(hass, acts, Status.NOT_REACHED, Status.UNDER_WAY), now + PATIENCE)
    await async_until(hass, acts, lambda: not _open(hass, acts, Status.UNDER_WAY), now + LONGEST_WAY)
    exposure = Exposure(hass, assistant)
    found = {entity_id: achieved(hass, act) for entity_id, act in acts.items()}
    known = {entity_id: status for entity_id, status in found.items() if not entity_id.startswith(_RECORDED)}

    def named(status: Status) -> tuple[str, ...]:
        return tuple(entity.name for one in found if found[one] is status and (entity := exposure.entity(one)))

    is_there = all(map(hass.states.get, entity_ids))
    is_known = is_whole and is_there and Status.CANNOT_BE_KNOWN not in (known or found).values()
    return Verdict(named(Status.NOT_REACHED), named(Status.UNDER_WAY), is_known)


def achieved(hass: HomeAssistant, act: Act) -> Status:
    """Return the status of an act, by which something is done once it is set, such as the temperature of what heats."""
    now = hass.states.get(act.before.entity_id)
    status = act.status(hass)
    if is_running(hass, act.before.entity_id):
        return Status.UNDER_WAY
    if status is Status.UNDER_WAY and is_set(act.since, now, act.wanted):
        return Status.REACHED
    if status is Status.NOT_REACHED and not act.is_all_known and act.wanted is not None:
        # A light that fades takes its time, and how long is not looked at.
        state = {key: value for key, value in act.wanted.items() if key == STATE}
        if status_of(act.since, now, state) is Status.REACHED:
            return Status.CANNOT_BE_KNOWN
    return status


def is_running(hass: HomeAssistant, entity_id: str) -> bool:
    """Return whether an entity is a script that still runs."""
    return entity_id.startswith(f"{SCRIPT_DOMAIN}.") and hass.states.is_state(entity_id, STATE_ON)


def spoken(names: tuple[str, ...]) -> str:
    """Return names as they are said; of many, the first ones."""
    more = f" (+{len(names) - _MAX_NAMED})" if len(names) > _MAX_NAMED else ""
    return ", ".join(names[:_MAX_NAMED]) + more


def _open(hass: HomeAssistant, acts: Mapping[str, Act], *statuses: Status) -> bool:
    """Return whether an act has one of some statuses."""
    return any(achieved(hass, act) in statuses for act in acts.values())
