"""The exposed automations, scripts and scenes: which there are, whether they can be changed, their configuration and last runs."""

import asyncio
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import batched
from operator import attrgetter
from pathlib import Path
from typing import Any

from homeassistant.components.automation.const import DOMAIN as AUTOMATION_DOMAIN
from homeassistant.components.scene.const import DOMAIN as SCENE_DOMAIN
from homeassistant.const import CONF_ID, CONF_TARGET
from homeassistant.core import HomeAssistant, State, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.util import dt as dt_util
from homeassistant.util.json import JsonObjectType

from ..actions.targets import PLACES, REFERENCES
from ..calls.call import ToolCall
from ..exposure.entities import NotExposedError
from ..ha_compat.automations import HomeAssistantScene, async_get_trace, async_list_traces
from ..results import ToolError, format_time, texts_in
from . import COMPONENT
from .config_includes import include_problem
from .describe_values import names_hidden
from .duplicate_ids import other_places
from .edit import loadable
from .file import decode, read
from .loading_scripts import loaded_entities
from .secret_values import SecretValues, behind_tags, is_hidden_key, read_secrets
from .target_names import SECRET, exposed_places, without_recipients
from .yaml_outline import outline_of
from .yaml_positions import Tagged, UnchangeableError

MAX_TRACES = 3
"""Runs that are told of, the last ones."""

NOT_EXPOSED = "(not exposed)"
_SLICE = 200
"""Automations that are looked at in one go while Home Assistant does other things, too."""
ELSEWHERE = "it is written in another file of the configuration, or has no id of its own"
_ABOUT = REFERENCES | {CONF_TARGET}
_SAME_IDS = "{} {}s in the file have its id, in the {}"
_SAME_ID = (
    "another automation has the same id, in {}, and Home Assistant loads only one of them, so that a change could do nothing, "
    "or bring the other one about"
)
_KINDS = frozenset({"trigger", "platform", "condition", "action", "service", "id", "alias", "enabled"})
_STEPS = frozenset({"action", "actions", "sequence"})
_OUTCOMES = {
    "finished": "ran",
    "aborted": "was stopped by a step of its own",
    "cancelled": "was stopped",
    "error": "failed",
    "failed_single": "did not run: it was still running",
    "failed_max_runs": "did not run: it was running too often already",
    "not_triggered": "was not set off: the trigger did not quite fit",
}


@dataclass(frozen=True, slots=True)
class Automation:
    """An automation, script or scene that is exposed."""

    state: State
    id: str | None
    config: Mapping[str, Any]
    """The configuration that Home Assistant runs, with all tags resolved."""
    loaded: Any
    """Its entity, of Home Assistant's own."""
    kind: str = AUTOMATION_DOMAIN
    """What it is: automation, script or scene."""

    @property
    def entity_id(self) -> str:
        """Return the id of its entity."""
        return self.state.entity_id

    @property
    def name(self) -> str:
        """Return the name shown to the user."""
        return self.state.name

    @property
    def used(self) -> Collection[str]:
        """Return the entities that it names."""
        if self.kind == SCENE_DOMAIN:
            return set(self.config["entities"])
        named: Collection[str] = self.loaded.referenced_entities
        return named


@dataclass(slots=True)
class FileState:
    """What the file of automations says of those that were asked for."""

    ids: set[str] = field(default_factory=set)
    """All ids in it."""
    problem: str | None = None
    """Why nothing at all could be written, if so."""
    configs: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Those that can be changed by their ids, as they are written, tags as they are."""
    fixed: dict[str, str] = field(default_factory=dict)
    """Parts of these that can only be left as they are, with the reasons."""
    reasons: dict[str, str] = field(default_factory=dict)
    """Why the others that are in the file cannot be changed."""
    removable: set[str] = field(default_factory=set)
    """Those that are in the file once, whatever they hold."""
    lines: dict[str, str] = field(default_factory=dict)
    """The lines of each of these."""
    secrets: set[str] = field(default_factory=set)

    def secrets_of(self, automation: Automation) -> set[str]:
        """Return the values of secrets.yaml, and those that an automation was loaded with."""
        return self.secrets | {*behind_tags(self.configs.get(str(automation.id)), automation.config)}

    def reason(self, automation_id: str | None) -> str | None:
        """Return why an automation cannot be changed, or None where it can: the one answer for the list and for changes."""
        if self.problem or automation_id in self.configs:
            return self.problem
        return self.reasons.get(str(automation_id), ELSEWHERE)

    def can_be_changed(self, automation_id: str | None) -> str:
        """Return whether an automation can be changed, for a list."""
        if reason := self.reason(automation_id):
            return "no" if self.problem or reason == ELSEWHERE else f"no: {reason}"
        fixed = self.fixed.get(str(automation_id))
        return f"yes, but for {fixed}" if fixed else "yes"


async def async_exposed_automations(call: ToolCall, kind: str = AUTOMATION_DOMAIN) -> list[Automation]:
    """Return all automations that are exposed, or all scripts or scenes."""
    return await _async_exposed(call, ((entity, kind) for entity in _loaded(call, kind)))


async def _async_exposed(call: ToolCall, entities: Iterable[tuple[Any, str]]) -> list[Automation]:
    """Return those of some entities, each with its kind, that are exposed; in slices."""
    found: list[Automation] = []
    for some in batched(entities, _SLICE, strict=False):
        found += filter(None, (_exposed(call, entity, kind) for entity, kind in some))
        await asyncio.sleep(0)
    return found


@callback
def exposed_automations(call: ToolCall, kind: str) -> list[Automation]:
    """Return all of a kind that are exposed, of which there are not many."""
    return list(filter(None, (_exposed(call, entity, kind) for entity in _loaded(call, kind))))


@callback
def exposed_automation(call: ToolCall, item_id: str, kind: str = AUTOMATION_DOMAIN) -> Automation | None:
    """Return the exposed automation, script or scene with an id."""
    return next((found for entity in _loaded(call, kind) if (found := _with_id(call, entity, item_id, kind))), None)


def _with_id(call: ToolCall, entity: Any, item_id: str, kind: str) -> Automation | None:
    """Return an automation, script or scene if it is exposed and has an id."""
    has_it = entity.unique_id is not None and str(entity.unique_id) == item_id
    return _exposed(call, entity, kind) if has_it else None


@callback
def _exact(call: ToolCall, text: str, kinds: Collection[str]) -> list[Automation]:
    """Return the entity with an id, or else all that have it, which a script and an automation may both."""
    loaded = [(entity, kind) for kind in kinds for entity in _loaded(call, kind)]
    named = [_exposed(call, entity, kind) for entity, kind in loaded if entity.entity_id == text]
    found = [*filter(None, named)]
    return found or [*filter(None, (_with_id(call, entity, text, kind) for entity, kind in loaded))]


def _loaded(call: ToolCall, kind: str) -> list[Any]:
    """Return the entities of all automations, scripts or scenes that Home Assistant loaded."""
    if kind != AUTOMATION_DOMAIN:
        return loaded_entities(call.hass, kind)
    component = call.hass.data.get(COMPONENT)
    return list(component.entities) if component else []


def _exposed(call: ToolCall, entity: Any, kind: str) -> Automation | None:
    """Return an automation, script or scene if it is exposed."""
    if (state := call.exposure.state(entity.entity_id)) is None:
        return None
    own_id = None if entity.unique_id is None else str(entity.unique_id)
    return Automation(state, own_id, _config(entity), entity, kind)


def _config(entity: Any) -> Mapping[str, Any]:
    """Return the configuration that an entity has."""
    if not isinstance(entity, HomeAssistantScene):
        config: Mapping[str, Any] = entity.raw_config or {}
        return config
    scene = entity.scene_config
    states = {state.entity_id: {"state": state.state, **state.attributes} for state in scene.states.values()}
    return {"name": scene.name, **({"icon": scene.icon} if scene.icon else {}), "entities": states}


async def async_matching_automations(
    call: ToolCall, text: str, kinds: Collection[str] = (AUTOMATION_DOMAIN,)
) -> list[Automation]:
    """Return the exposed automations that a text means: one by its id or entity id, or some by name or words of it."""
    if exact := _exact(call, text, kinds):
        return exact
    await asyncio.sleep(0)
    known = {entity.entity_id: (entity, kind) for kind in kinds for entity in _loaded(call, kind)}
    pool = [seen for entity_id in known if (seen := call.exposure.entities.get(entity_id))]
    found = call.exposure.search(text, pool)
    return await _async_exposed(call, (known[seen.entity_id] for seen in found))


async def async_find_automation(call: ToolCall, text: str, kinds: Collection[str] = (AUTOMATION_DOMAIN,)) -> Automation:
    """Return the one exposed automation, or the one of other kinds, that a text means."""
    matches, what = await async_matching_automations(call, text, kinds), " or ".join(kinds)
    if not matches:
        raise NotExposedError(
            f"No {what} '{text}' was found or is exposed. Call extended_assist__get_automations to see which are."
        )
    if len(matches) > 1:
        listed = ", ".join(f"{match.name} ({match.entity_id})" for match in sorted(matches, key=attrgetter("name"))[:6])
        raise ToolError(
            f"'{text}' means {len(matches)} {what.replace(' or ', 's or ')}s: {listed}. Name one by its entity id."
        )
    return matches[0]


def read_file(path: Path, wanted: Collection[str | None] = (), kind: str = AUTOMATION_DOMAIN) -> FileState:
    """Read secrets.yaml, and what the file of automations, scripts or scenes says of some by their ids; blocks."""
    state = FileState(secrets=read_secrets(path.parent))
    try:
        outline = outline_of(decode(read(path))[1], kind)
    except ToolError as err:
        state.problem = str(err)
        return state
    if state_problem := include_problem(path.parent, kind):
        state.problem = state_problem
        return state
    ids = Counter(known for known in outline.ids if known is not None)
    state.ids = set(ids)
    asked = {known for known in wanted if known is not None and known in ids}
    places = other_places(path.parent, asked) if kind == AUTOMATION_DOMAIN else {}
    for item_id in asked:
        if ids[item_id] > 1:
            state.reasons[item_id] = _SAME_IDS.format(ids[item_id], kind, outline.lines(outline.numbers(item_id)))
            continue
        if item_id in places:
            state.reasons[item_id] = _SAME_ID.format(" and ".join(places[item_id]))
            continue
        state.removable.add(item_id)
        part = outline.part_of(item_id)
        state.lines[item_id] = part.index.text[slice(*part.index.span(part.item))]
        try:
            state.configs[item_id] = loadable(part.index, part.item)
        except UnchangeableError as err:
            state.reasons[item_id] = err.reason
        if fixed := [
            f"{named.key} ({named.fixed})" for named in part.item.keys if named.fixed and named.key != CONF_ID
        ]:
            state.fixed[item_id] = ", ".join(fixed)
    return state


def visible_block(call: ToolCall, config: Mapping[str, Any], secrets: SecretValues) -> dict[str, Any]:
    """Return an automation, script or scene, as it is written, as it may be told."""
    return dict(_VisibleConfig(call, secrets, is_free=not names_hidden(call.exposure, config)).value(config))


def visible_config(call: ToolCall, automation: Automation, state: FileState) -> tuple[dict[str, Any], bool]:
    """Return the configuration as it may be told, and whether anything is left out because it is not exposed."""
    own = str(automation.id) in state.configs
    config = dict(state.configs[str(automation.id)] if own else automation.config)
    config.pop(CONF_ID, None)
    secrets = SecretValues(call.exposure, config, state.secrets_of(automation))
    visible = _VisibleConfig(call, secrets, is_free=not names_hidden(call.exposure, config))
    return visible.value(config), visible.left_out


class _VisibleConfig:
    """Leaves out of a configuration what may not be told."""

    def __init__(self, call: ToolCall, secrets: SecretValues, *, is_free: bool) -> None:
        """Take the texts that are secret, and whether no text names anything hidden."""
        self._call = call
        self._secrets = secrets
        self._is_free = is_free
        self._places = exposed_places(call.hass, call.exposure)
        self.left_out = False

    def value(self, value: Any, key: str = "") -> Any:
        """Return a value as it may be told."""
        if value is not None and is_hidden_key(key):
            return value if isinstance(value, Tagged) else SECRET
        if isinstance(value, Mapping):
            told = dict(self._entry(name, item) for name, item in without_recipients(value).items())
            if any(text == NOT_EXPOSED for key in _ABOUT for text, _ in texts_in(told.get(key), keys=True)):
                # What is said about something hidden, such as the state that is waited for, is hidden with it.
                told |= dict.fromkeys(told.keys() - _KINDS - _ABOUT, NOT_EXPOSED)
            return told
        if isinstance(value, list):
            return [self.value(item, key) for item in value]
        if not isinstance(value, Tagged) and self._secrets.is_secret(value):
            return SECRET
        if isinstance(value, str) and not self._may_tell(value, key):
            self.left_out = True
            return NOT_EXPOSED
        return self._secrets.text(value) if isinstance(value, str) and not isinstance(value, Tagged) else value

    def _entry(self, name: Any, item: Any) -> tuple[Any, Any]:
        """Return a name with its value as both may be told; what stands under something hidden is hidden with it."""
        shown = self.value(name)
        return shown, NOT_EXPOSED if shown == NOT_EXPOSED else self.value(item, str(name))

    def _may_tell(self, text: str, key: str) -> bool:
        """Return whether a text names nothing hidden."""
        if key in PLACES and text not in self._places[key]:
            return False
        if self._call.exposure.visible_value(text) is None:
            return False
        entry = er.async_get(self._call.hass).entities.get_entry(text)
        if entry is not None and not self._call.exposure.is_exposed(entry.entity_id):
            return False
        return self._is_free or " " not in text or not self._call.exposure.names_hidden(text)


async def async_last_runs(call: ToolCall, automation: Automation, state: FileState) -> list[JsonObjectType]:
    """Return the last runs of an automation in short, newest first."""
    secrets = SecretValues(call.exposure, automation.config, state.secrets_of(automation))
    if automation.id is None:
        return []
    hass, key = call.hass, f"{automation.kind}.{automation.id}"
    traces = await async_list_traces(hass, automation.kind, key)
    traces.sort(key=lambda trace: str(trace["timestamp"]["start"]), reverse=True)
    hidden = _parts_with_hidden(call, automation.config, secrets)
    return [_run(call, secrets, await _async_whole(hass, key, trace), hidden) for trace in traces[:MAX_TRACES]]


def _parts_with_hidden(call: ToolCall, config: Mapping[str, Any], secrets: SecretValues) -> set[str]:
    """Return the parts in which something is hidden; where a run ended in these would tell what it found of that."""
    visible = _VisibleConfig(call, secrets, is_free=not names_hidden(call.exposure, config))
    return {
        key
        for key, value in visible.value(config).items()
        if any(text == NOT_EXPOSED for text, _ in texts_in(value, keys=True))
    }


async def _async_whole(hass: HomeAssistant, key: str, trace: dict[str, Any]) -> dict[str, Any]:
    """Return a trace with its steps."""
    return dict(await async_get_trace(hass, key, trace["run_id"]))


def _run(call: ToolCall, secrets: SecretValues, trace: dict[str, Any], hidden: Collection[str]) -> JsonObjectType:
    """Return start, trigger, result and error of one run."""
    started = trace["timestamp"]["start"]
    if isinstance(started, str):  # A run before the last restart.
        started = dt_util.parse_datetime(started, raise_on_error=True)
    run: JsonObjectType = {"at": format_time(started)}
    if trigger := trace.get("trigger"):
        run["trigger"] = secrets.error(str(trigger)) if not call.exposure.names_hidden(str(trigger)) else NOT_EXPOSED
    outcome = "not_triggered" if trace.get("not_triggered") else trace.get("script_execution")
    if outcome == "failed_conditions":
        is_hidden = not {"condition", "conditions"}.isdisjoint(hidden)
        run["result"] = f"did not run: {'a condition was false' if is_hidden else _failed_condition(trace['trace'])}"
    else:
        run["result"] = _OUTCOMES.get(str(outcome), "is running" if trace["state"] == "running" else str(outcome))
    if error := trace.get("error"):
        is_hidden = call.exposure.names_hidden(str(error))
        run["error"] = "(names what is not exposed)" if is_hidden else secrets.error(str(error))
    if (
        outcome != "finished"
        and (step := trace.get("last_step"))
        and str(step).startswith(("action/", "sequence/"))
        and _STEPS.isdisjoint(hidden)
    ):
        run["last_step"] = step
    return run


def _failed_condition(steps: Mapping[str, Any]) -> str:
    """Name the condition that was false, counted from one."""
    for path, elements in steps.items():
        parts = path.split("/")
        if parts[0] == "condition" and len(parts) == 2:
            results = [_object(element.get("result")) for element in elements]
            if any(result.get("result") is False for result in results):
                return f"condition {int(parts[1]) + 1} was false"
    return "a condition was false"


def _object(value: Any) -> Mapping[str, Any]:
    """Return an object, empty for anything else."""
    return value if isinstance(value, Mapping) else {}
