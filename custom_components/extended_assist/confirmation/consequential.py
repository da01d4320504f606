"""Consequential actions: one reviewed table, applied to scripts, scenes and automations as far as these can be read."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from math import inf
from typing import Any, Final

from homeassistant.const import ATTR_DEVICE_CLASS, STATE_UNKNOWN
from homeassistant.core import HomeAssistant, State, callback, valid_entity_id
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.entity import Entity
from homeassistant.helpers.entity_component import EntityComponent
from homeassistant.helpers.entity_platform import EntityPlatform
from homeassistant.helpers.target import TargetSelection, async_extract_referenced_entity_ids
from homeassistant.helpers.template import Template, is_template_string

from ..calls.desired_states import TARGETS
from ..calls.plan import Plan, Step
from ..exposure.groups import is_group, members_of
from ..ha_compat.automations import DATA_SCENE_PLATFORM, HomeAssistantScene

type Values = Mapping[str, Any]
type Leaf = tuple[str, str, Values]
"""An action, the entity that it acts on, and its data.

An empty text stands for no entity, or for an action that cannot be read.
"""

READ: Final[Values] = {"is_read": True}
"""The data of a script or scene whose own actions follow, so that a change of it is noticed."""
TRIGGER: Final = "automation.trigger"
"""Triggering an automation by hand, which skips its conditions by default."""
_SAYS_MORE: Final = frozenset({"back", "does", "skips"})
"""Frames of a line that do not change when the step runs."""

_SHUTTER: Final = "shutter"
_NO_ENTRANCES: Final = frozenset({"awning", "blind", "curtain", "damper", "shade", _SHUTTER, "window"})
"""Device classes of covers that close no entrance. Covers of any other class, or of none, may close one."""
_TILTING_ENTRANCES: Final = frozenset({"door", "garage", "gate"})
"""Device classes of covers that are entrances for certain. A cover without a class that tilts is a blind."""
_MAX_DEPTH: Final = 8
"""The most scripts inside scripts that are read; deeper ones count as unreadable."""
_LEADS_ANYWHERE: Final = frozenset({"conversation", "python_script"})
"""Domains whose actions may do anything."""
_PAST_ENTITIES: Final = frozenset(
    {
        *("deconz", "hassio", "insteon", "isy994", "knx", "modbus", "mqtt", "pyscript"),
        *("rest_command", "shell_command", "velbus", "zha", "zwave_js"),
    }
)
"""Domains whose actions in a script may do anything: commands, and messages that go to devices directly."""
_WHOLLY_OPEN: Final = 100
"""The position of a fully open cover, in percent."""


def _always(_state: State | None, _data: Values) -> bool:
    """Return true: the action is consequential in every state."""
    return True


def _is_entrance(state: State | None) -> bool:
    """Return whether a cover may close an entrance; a missing cover counts as one."""
    return state is None or state.attributes.get(ATTR_DEVICE_CLASS) not in _NO_ENTRANCES


def _opens(state: State | None, _data: Values) -> bool:
    return _is_entrance(state)


def _opens_by_toggle(state: State | None, _data: Values) -> bool:
    """Return whether toggling may open a cover. Home Assistant may open one that was stopped halfway."""
    if not _is_entrance(state) or state is None:
        return state is None
    is_wholly_open = state.state == "open" and state.attributes.get("current_position") == _WHOLLY_OPEN
    return not is_wholly_open and state.state != "opening"


def _opens_by_position(state: State | None, data: Values) -> bool:
    """Return whether a position is, or may be, further open than the current one."""
    if not _is_entrance(state):
        return False
    now, wanted = state and state.attributes.get("current_position"), data.get("position")
    if wanted == 0:
        return False
    return not isinstance(now, int | float) or not isinstance(wanted, int | float) or wanted > now


def _tilts(state: State | None, _data: Values) -> bool:
    """Return whether a cover that tilts is a door or a gate, which tilting opens."""
    return state is None or state.attributes.get(ATTR_DEVICE_CLASS) in _TILTING_ENTRANCES


def _may_be_gas(state: State | None, _data: Values) -> bool:
    """Return whether a valve may be for gas: any valve that is not for water."""
    return state is None or state.attributes.get(ATTR_DEVICE_CLASS) != "water"


def _goes_off(state: State | None, _data: Values) -> bool:
    return state is None or state.state != "off"


# A switch may move anything, and nobody can know what. A blind, a valve for water or a window is no entrance.
_TABLE: Final[Mapping[str, Callable[[State | None, Values], bool]]] = {
    "alarm_control_panel.alarm_disarm": _always,
    "alarm_control_panel.alarm_trigger": _always,
    TRIGGER: _always,
    "cover.open_cover": _opens,
    "cover.set_cover_position": _opens_by_position,
    "cover.toggle": _opens_by_toggle,
    **dict.fromkeys(("cover.open_cover_tilt", "cover.set_cover_tilt_position", "cover.toggle_cover_tilt"), _tilts),
    "lock.open": _always,
    "lock.unlock": _always,
    "siren.toggle": _goes_off,
    "siren.turn_off": _always,
    "valve.open_valve": _may_be_gas,
    "valve.set_valve_position": _may_be_gas,
    "valve.toggle": _may_be_gas,
}
"""Actions that a household expects to be asked about, each with a check of the entity's state and the data."""
CONSEQUENTIAL_ACTIONS: Final = tuple(_TABLE)
CONSEQUENTIAL_DOMAINS: Final = frozenset(action.partition(".")[0] for action in _TABLE)
_MOVE_OTHERS: Final = frozenset({"group", "homeassistant", "scene", "script"})

_STATES: Final = {
    "lock": {
        **dict.fromkeys(("unlocked", "unlocking"), "lock.unlock"),
        **dict.fromkeys(("open", "opening"), "lock.open"),
    },
    "cover": dict.fromkeys(("open", "opening"), "cover.open_cover"),
    "alarm_control_panel": {
        "disarmed": "alarm_control_panel.alarm_disarm",
        "triggered": "alarm_control_panel.alarm_trigger",
    },
    "siren": {"off": "siren.turn_off"},
    "valve": dict.fromkeys(("open", "opening"), "valve.open_valve"),
}
"""Actions that bring an entity to a state, for scenes and undo."""
_ANY_DOMAIN: Final = {
    "cover": {"turn_on": "open_cover", "turn_off": "close_cover"},
    "lock": {"turn_on": "lock", "turn_off": "unlock"},
}


@callback
def is_consequential(hass: HomeAssistant, step: Step) -> bool:
    """Return whether a step runs anything that is consequential or cannot be read."""
    return any(counts(hass, leaf, is_later=later) for leaf, later in judged_leaves(hass, step))


def is_later(step: Step) -> bool:
    """Return whether a step runs later or after others, so that current states say nothing about it."""
    return any(kind not in _SAYS_MORE for kind, _ in step.frame)


@callback
def counts(hass: HomeAssistant, leaf: Leaf, *, is_later: bool = False, trusts_shutters: bool = True) -> bool:
    """Return whether one action on one entity is consequential by the table, or cannot be read.

    Most shutters close windows, some close garages: with `trusts_shutters` false they count as entrances.
    """
    action, entity_id, data = leaf
    check, state = _TABLE.get(action), hass.states.get(entity_id)
    if check is not None and state is not None:
        kind = state.attributes.get(ATTR_DEVICE_CLASS)
        attributes = {} if is_later else dict(state.attributes)
        attributes[ATTR_DEVICE_CLASS] = kind if trusts_shutters or kind != _SHUTTER else None
        state = State(entity_id, STATE_UNKNOWN if is_later else state.state, attributes)
    return not action or (check is not None and check(state, data))


@callback
def are_alike(hass: HomeAssistant, plan: Plan, other: Plan) -> bool:
    """Return whether a no to one plan covers the other: both do the same, or both are consequential for an entity.

    The direction of a toggle is unknown. Every cover counts as an entrance here and every valve as one for gas: who
    does not want it opened does not want it half open.
    """
    some, others = _known(hass, plan), _known(hass, other)
    toggled = {entity_id for action, entity_id in (*some, *others) if entity_id and action.endswith(".toggle")}
    both = {entity_id for _, entity_id in some} & {entity_id for _, entity_id in others}
    guarded = _guarded(hass, plan) & _guarded(hass, other)
    return plan == other or bool(some & others or toggled & both or guarded)


def _known(hass: HomeAssistant, plan: Plan) -> set[tuple[str, str]]:
    """Return the actions of a plan with their entities, with those in scripts, scenes and groups."""
    return {(action, entity_id) for step in plan.steps for action, entity_id, _ in leaves(hass, step) if action}


def _guarded(hass: HomeAssistant, plan: Plan) -> set[str]:
    """Return the entities for which a plan is, or in some state would be, consequential."""
    found = (leaf for step in plan.steps for leaf in leaves(hass, step) if leaf[0] in _TABLE)
    return {entity_id for action, entity_id, data in found if entity_id and _TABLE[action](None, data)}


@callback
def leaves(hass: HomeAssistant, step: Step) -> Iterator[Leaf]:
    """Yield the actions of a step, with those in scripts, scenes and groups."""
    yield from _acts(hass, step.action, step.entity_ids, step.data, 0)


@callback
def judged_leaves(hass: HomeAssistant, step: Step, *, is_after: bool = False) -> Iterator[tuple[Leaf, bool]]:
    """Yield the leaves of a step, each with whether current states say nothing about it.

    They say nothing about a step that runs later or after another one (`is_after`), nor about the steps of a script or an
    automation, which may wait or act on the same entity before.
    """
    later = is_after or is_later(step)
    for leaf in leaves(hass, step):
        yield leaf, later
        later = later or leaf[2] is READ or leaf[0] == TRIGGER


@callback
def acts_of(hass: HomeAssistant, steps: Any) -> Iterator[Step]:
    """Yield the actions of an automation's or script's steps, in every branch, as steps that may run later."""
    for action, entity_id, data in _steps(hass, steps, 0):
        yield Step(action, (entity_id,) if entity_id else (), data, frame=(("maybe", ""),))


def _acts(hass: HomeAssistant, action: str, entity_ids: tuple[str, ...], data: Values, depth: int) -> Iterator[Leaf]:
    """Yield the leaves of an action on entities."""
    domain, _, service = action.partition(".")
    if action == "scene.apply":
        yield from _brought(hass, data.get("entities"))
        return
    if domain == "script" and service not in ("turn_on", "turn_off", "toggle", "reload"):
        # A script's own action.
        entity_ids = (er.async_get(hass).async_get_entity_id("script", "script", service) or action,)
    if domain in _LEADS_ANYWHERE:
        action = ""
    if not entity_ids:
        yield action, "", data
    for entity_id in _moved(hass, entity_ids):
        own = entity_id.partition(".")[0]
        if own == "script" and domain in _MOVE_OTHERS and service != "turn_off":
            yield "script.turn_on", entity_id, READ
            yield from _run(hass, entity_id, "script", depth)
        elif own == "scene" and service == "turn_on":
            yield from _scene(hass, entity_id)
        else:
            yield _own_action(entity_id, action), entity_id, data
            if own == "automation" and action == TRIGGER:
                yield from _run(hass, entity_id, "action_script", depth)


def _moved(hass: HomeAssistant, entity_ids: Iterable[str]) -> Iterator[str]:
    """Yield entities, and the members of groups in place of the groups; scenes are not expanded here.

    An entity that lists only others of another domain, such as a door with its relay, also counts itself.
    """
    for entity_id in entity_ids:
        own = entity_id.partition(".")[0]
        members = members_of(hass, entity_id) if own != "scene" and is_group(hass, entity_id) else []
        yield from members
        if own != "group" and not any(member.startswith(f"{own}.") for member in members):
            yield entity_id


def _own_action(entity_id: str, action: str) -> str:
    """Return the entity's own action for a `homeassistant` or `group` action."""
    domain, _, service = action.partition(".")
    if domain not in ("homeassistant", "group"):
        return action
    own = entity_id.partition(".")[0]
    return f"{own}.{_ANY_DOMAIN.get(own, {}).get(service, service)}"


def _brought(hass: HomeAssistant, entities: Any) -> Iterator[Leaf]:
    """Yield the actions that bring entities to states."""
    if not isinstance(entities, Mapping):
        yield "", "", {}
        return
    for entity_id, kept in entities.items():
        values: Values = kept.attributes if isinstance(kept, State) else kept if isinstance(kept, Mapping) else {}
        wanted: Any = (
            kept.state if isinstance(kept, State) else kept.get("state") if isinstance(kept, Mapping) else kept
        )
        state = ("off", "on")[wanted] if isinstance(wanted, bool) else str(wanted).lower()
        position = _number(values.get("current_position", values.get("position")))
        tilt = _number(values.get("current_tilt_position", values.get("tilt_position")))
        for moved in _moved(hass, [str(entity_id)]):
            domain = moved.partition(".")[0]
            is_open = domain == "cover" and position > 0
            if domain == "cover" and tilt > 0:
                yield "cover.set_cover_tilt_position", moved, {"tilt_position": tilt}
            service = f"turn_{state}" if state in ("on", "off") else state
            known = _STATES.get(domain, {}).get("open" if is_open else state, f"{domain}.{service}")
            yield "" if is_template_string(state) else known, moved, {}


def _number(value: Any) -> float:
    """Return a value, or a numeric text, as a number; 0 for none and infinity for anything else."""
    try:
        return float(value or 0)
    except TypeError, ValueError:
        return inf


@callback
def scene_entity(hass: HomeAssistant, entity_id: str) -> Entity | None:
    """Return the entity of a scene that Home Assistant itself provides, or None."""
    platform: EntityPlatform | None = hass.data.get(DATA_SCENE_PLATFORM)
    return platform.entities.get(entity_id) if platform else None


def _scene(hass: HomeAssistant, entity_id: str) -> Iterator[Leaf]:
    """Yield the leaves of a scene.

    The effects of an integration's scene are unknown, so the domains of its members decide.
    """
    if isinstance(scene := scene_entity(hass, entity_id), HomeAssistantScene):
        yield "scene.turn_on", entity_id, READ
        yield from _brought(hass, scene.scene_config.states)
        return
    state, registry = hass.states.get(entity_id), er.async_get(hass)
    members = state.attributes.get("entity_id") if state else None
    if not isinstance(members, list | tuple):
        entry = registry.async_get(entity_id)
        owner = entry.config_entry_id if entry else None
        members = [one.entity_id for one in er.async_entries_for_config_entry(registry, owner)] if owner else [""]
    plain = all(member and member.partition(".")[0] not in CONSEQUENTIAL_DOMAINS | {"script"} for member in members)
    yield "scene.turn_on" if plain else "", entity_id, {}


def _run(hass: HomeAssistant, entity_id: str, attribute: str, depth: int) -> Iterator[Leaf]:
    """Yield the leaves of a script's or an automation's steps, in every branch."""
    component: EntityComponent[Any] | None = hass.data.get(entity_id.partition(".")[0])
    script = getattr(component.get_entity(entity_id), attribute, None) if component else None
    if script is None or depth == _MAX_DEPTH:
        yield "", entity_id, {}
        return
    yield from _steps(hass, script.sequence, depth + 1)


def _steps(hass: HomeAssistant, value: Any, depth: int) -> Iterator[Leaf]:
    """Yield the leaves of steps, in every branch and loop."""
    if isinstance(value, list | tuple):
        for item in value:
            yield from _steps(hass, item, depth)
    elif not isinstance(value, Mapping) or value.get("enabled") is False or {"trigger", "condition"} & value.keys():
        return
    elif isinstance(action := value.get("action", value.get("service")), str | Template):
        yield from _step(hass, action, value, depth)
    elif "scene" in value:
        yield from _scene(hass, str(value["scene"]))
    elif {"device_id", "domain", "type"} <= value.keys():
        domain, kind = str(value["domain"]), str(value["type"])
        entity_id = er.async_resolve_entity_id(er.async_get(hass), str(value.get("entity_id", "")))
        for moved in _moved(hass, [entity_id or ""]):
            yield _device_action(domain, kind), moved, value
    else:
        for item in value.values():
            yield from _steps(hass, item, depth)


def _device_action(domain: str, kind: str) -> str:
    """Return the action that a device action stands for, such as cover.open_cover_tilt for open_tilt."""
    if domain in ("cover", "valve"):
        verb, _, rest = kind.partition("_")
        return f"{domain}.{'_'.join(filter(None, (verb, domain, rest)))}"
    return f"{domain}.alarm_{kind}" if domain == "alarm_control_panel" else f"{domain}.{kind}"


def _step(hass: HomeAssistant, action: Any, step: Values, depth: int) -> Iterator[Leaf]:
    """Yield the leaves of one action of a script; a template cannot be read."""
    action = action if isinstance(action, Template) else action.strip().lower()  # As Home Assistant takes it.
    data, older, given = (step.get(key) or {} for key in ("data", "data_template", "target"))
    parts = [part for part in (data, older, given, step) if isinstance(part, Mapping)]
    target = {key: part[key] for part in parts for key in TARGETS if key in part}
    domain = str(action).partition(".")[0]
    is_open = len(parts) < 4 or any(map(_is_template, target.values()))
    is_known = not _is_template(action) and valid_entity_id(str(action)) and domain not in _PAST_ENTITIES
    if not is_known or (is_open and domain in CONSEQUENTIAL_DOMAINS | _MOVE_OTHERS):
        yield "", "", {}
        return
    if not is_open and "entity_id" in target:
        named = target["entity_id"] if isinstance(target["entity_id"], list | tuple) else [target["entity_id"]]
        target["entity_id"] = [one.strip().lower() for text in named for one in str(text).split(",")]
    if target.get("entity_id") == ["all"]:
        found = set(hass.states.async_entity_ids(domain))
    elif is_open:
        found = set[str]()
    else:
        selected = async_extract_referenced_entity_ids(hass, TargetSelection(target))
        beside = {one for one in selected.indirectly_referenced if domain in (one.partition(".")[0], "homeassistant")}
        registry = er.async_get(hass)
        found = {er.async_resolve_entity_id(registry, one) or one for one in selected.referenced} | beside
    if found or not target or is_open:
        if domain in _MOVE_OTHERS and not all(map(valid_entity_id, found)):
            yield "", "", {}  # What stands in the place of one, such as a tag.
        values = {key: value for part in parts[:-2] for key, value in part.items()}
        yield from _acts(hass, str(action), tuple(sorted(found)), values, depth)


def _is_template(value: Any) -> bool:
    """Return whether a value, or an item of a list, is a template."""
    values = value if isinstance(value, list | tuple) else [value]
    return any(isinstance(one, Template) or is_template_string(str(one)) for one in values)
