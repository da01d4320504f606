"""Exposed automations, scripts and scenes: find them, and read their configuration, their last runs and whether they can be changed."""

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
from homeassistant.core import State, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.util import dt as dt_util
from homeassistant.util.json import JsonObjectType

from ..actions.targets import PLACES, REFERENCES
from ..calls.call import ToolCall
from ..exposure.entities import NotExposedError
from ..ha_compat.automations import HomeAssistantScene, async_get_trace, async_list_traces
from ..results import ToolError, format_time, texts_in
from .config_includes import include_problem, other_places
from .describe_values import names_hidden
from .edit import loadable
from .file import decode, read
from .loading import loaded_entities
from .secret_values import (
    SECRET,
    SecretValues,
    behind_tags,
    exposed_places,
    is_hidden_key,
    read_secrets,
    without_recipients,
)
from .yaml_outline import outline_of
from .yaml_positions import Tagged, UnchangeableError

MAX_TRACES = 3
"""Number of last runs to report."""

NOT_EXPOSED = "(not exposed)"
_SLICE = 200
"""Number of automations to process before other tasks of the event loop get their turn."""
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
    """The kind of the item: automation, script or scene."""

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
        """Return the ids of the entities that it names."""
        if self.kind == SCENE_DOMAIN:
            return set(self.config["entities"])
        named: Collection[str] = self.loaded.referenced_entities
        return named


@dataclass(slots=True)
class FileState:
    """The content of a YAML file, as far as the requested items are concerned."""

    ids: set[str] = field(default_factory=set)
    """All ids in it."""
    problem: str | None = None
    """The reason why nothing can be written to the file, if there is one."""
    configs: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Items that can be changed, by their ids, as they are written, with tags."""
    fixed: dict[str, str] = field(default_factory=dict)
    """Keys of these items that cannot be changed, with the reasons."""
    reasons: dict[str, str] = field(default_factory=dict)
    """The reasons why the other items in the file cannot be changed."""
    removable: set[str] = field(default_factory=set)
    """Items that are in the file once, which can be removed."""
    lines: dict[str, str] = field(default_factory=dict)
    """The lines of each item that can be removed."""
    secrets: set[str] = field(default_factory=set)

    def secrets_of(self, automation: Automation) -> set[str]:
        """Return the values of secrets.yaml, and those that an automation was loaded with."""
        return self.secrets | {*behind_tags(self.configs.get(str(automation.id)), automation.config)}

    def reason(self, automation_id: str | None) -> str | None:
        """Return the reason why an automation cannot be changed, or None if it can."""
        if self.problem or automation_id in self.configs:
            return self.problem
        return self.reasons.get(str(automation_id), ELSEWHERE)

    def can_be_changed(self, automation_id: str | None) -> str:
        """Return, for a list, if an automation can be changed."""
        if reason := self.reason(automation_id):
            return "no" if self.problem or reason == ELSEWHERE else f"no: {reason}"
        fixed = self.fixed.get(str(automation_id))
        return f"yes, but for {fixed}" if fixed else "yes"


async def async_exposed_automations(call: ToolCall, kind: str = AUTOMATION_DOMAIN) -> list[Automation]:
    """Return all automations that are exposed, or all scripts or scenes."""
    return await _async_exposed(call, ((entity, kind) for entity in loaded_entities(call.hass, kind)))


async def _async_exposed(call: ToolCall, entities: Iterable[tuple[Any, str]]) -> list[Automation]:
    """Return the exposed items among entities, each of which is given with its kind."""
    found: list[Automation] = []
    for some in batched(entities, _SLICE, strict=False):
        found += filter(None, (_exposed(call, entity, kind) for entity, kind in some))
        await asyncio.sleep(0)
    return found


@callback
def exposed_automations(call: ToolCall, kind: str) -> list[Automation]:
    """Return all exposed items of a kind at once; for kinds with few items."""
    return list(filter(None, (_exposed(call, entity, kind) for entity in loaded_entities(call.hass, kind))))


@callback
def exposed_automation(call: ToolCall, item_id: str, kind: str = AUTOMATION_DOMAIN) -> Automation | None:
    """Return the exposed automation, script or scene with an id."""
    return next(
        (found for entity in loaded_entities(call.hass, kind) if (found := _with_id(call, entity, item_id, kind))), None
    )


def _with_id(call: ToolCall, entity: Any, item_id: str, kind: str) -> Automation | None:
    """Return an automation, script or scene if it is exposed and has an id."""
    has_it = entity.unique_id is not None and str(entity.unique_id) == item_id
    return _exposed(call, entity, kind) if has_it else None


@callback
def _exact(call: ToolCall, text: str, kinds: Collection[str]) -> list[Automation]:
    """Return the item with an entity id, or else all items with an id, which a script and an automation may share."""
    loaded = [(entity, kind) for kind in kinds for entity in loaded_entities(call.hass, kind)]
    named = [_exposed(call, entity, kind) for entity, kind in loaded if entity.entity_id == text]
    found = [*filter(None, named)]
    return found or [*filter(None, (_with_id(call, entity, text, kind) for entity, kind in loaded))]


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
    """Return the exposed items that match a text: by id or entity id, or else by words of the name."""
    if exact := _exact(call, text, kinds):
        return exact
    await asyncio.sleep(0)
    known = {entity.entity_id: (entity, kind) for kind in kinds for entity in loaded_entities(call.hass, kind)}
    pool = [seen for entity_id in known if (seen := call.exposure.entities.get(entity_id))]
    found = call.exposure.search(text, pool)
    return await _async_exposed(call, (known[seen.entity_id] for seen in found))


async def async_find_automation(call: ToolCall, text: str, kinds: Collection[str] = (AUTOMATION_DOMAIN,)) -> Automation:
    """Return the one exposed item that matches a text; raises ToolError for none or several."""
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
    """Read secrets.yaml, and the wanted items of a file of automations, scripts or scenes, by their ids; blocks."""
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
        state.lines[item_id] = part.index.lines(part.item)
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
    """Return the written configuration of an item, without hidden and secret values."""
    return dict(_VisibleConfig(call, secrets, is_free=not names_hidden(call.exposure, config)).value(config))


def visible_config(call: ToolCall, automation: Automation, state: FileState) -> tuple[dict[str, Any], bool]:
    """Return a configuration without hidden and secret values, and whether any of it is hidden."""
    own = str(automation.id) in state.configs
    config = dict(state.configs[str(automation.id)] if own else automation.config)
    config.pop(CONF_ID, None)
    secrets = SecretValues(call.exposure, config, state.secrets_of(automation))
    visible = _VisibleConfig(call, secrets, is_free=not names_hidden(call.exposure, config))
    return visible.value(config), visible.left_out


class _VisibleConfig:
    """Replaces hidden and secret values of a configuration by placeholders."""

    def __init__(self, call: ToolCall, secrets: SecretValues, *, is_free: bool) -> None:
        """Take the secrets; with is_free, no text of the configuration names anything hidden."""
        self._call = call
        self._secrets = secrets
        self._is_free = is_free
        self._places = exposed_places(call.hass, call.exposure)
        self.left_out = False

    def value(self, value: Any, key: str = "") -> Any:
        """Return a value with placeholders."""
        if value is not None and is_hidden_key(key):
            return value if isinstance(value, Tagged) else SECRET
        if isinstance(value, Mapping):
            visible = dict(self._entry(name, item) for name, item in without_recipients(value).items())
            if any(text == NOT_EXPOSED for key in _ABOUT for text, _ in texts_in(visible.get(key), keys=True)):
                # The other values say something about the hidden entity, such as the state that is waited for.
                visible |= dict.fromkeys(visible.keys() - _KINDS - _ABOUT, NOT_EXPOSED)
            return visible
        if isinstance(value, list):
            return [self.value(item, key) for item in value]
        if not isinstance(value, Tagged) and self._secrets.is_secret(value):
            return SECRET
        if isinstance(value, str) and not self._is_visible(value, key):
            self.left_out = True
            return NOT_EXPOSED
        return self._secrets.text(value) if isinstance(value, str) and not isinstance(value, Tagged) else value

    def _entry(self, name: Any, item: Any) -> tuple[Any, Any]:
        """Return a key and its value with placeholders; the value of a hidden key is hidden, too."""
        shown = self.value(name)
        return shown, NOT_EXPOSED if shown == NOT_EXPOSED else self.value(item, str(name))

    def _is_visible(self, text: str, key: str) -> bool:
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
    """Return a summary of the last runs of an automation, newest first."""
    secrets = SecretValues(call.exposure, automation.config, state.secrets_of(automation))
    if automation.id is None:
        return []
    hass, key = call.hass, f"{automation.kind}.{automation.id}"
    traces = await async_list_traces(hass, automation.kind, key)
    traces.sort(key=lambda trace: str(trace["timestamp"]["start"]), reverse=True)
    hidden = _parts_with_hidden(call, automation.config, secrets)
    return [
        _run(call, secrets, dict(await async_get_trace(hass, key, trace["run_id"])), hidden)
        for trace in traces[:MAX_TRACES]
    ]


def _parts_with_hidden(call: ToolCall, config: Mapping[str, Any], secrets: SecretValues) -> set[str]:
    """Return the keys with hidden values: the step at which a run ended there would reveal something about them."""
    visible = _VisibleConfig(call, secrets, is_free=not names_hidden(call.exposure, config))
    return {
        key
        for key, value in visible.value(config).items()
        if any(text == NOT_EXPOSED for text, _ in texts_in(value, keys=True))
    }


def _run(call: ToolCall, secrets: SecretValues, trace: dict[str, Any], hidden: Collection[str]) -> JsonObjectType:
    """Return start, trigger, result, error and last step of one run."""
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
    """Return the number of the condition that was false, counted from one, in words."""
    for path, elements in steps.items():
        parts = path.split("/")
        if parts[0] == "condition" and len(parts) == 2:
            results = [element.get("result") for element in elements]
            if any(isinstance(result, Mapping) and result.get("result") is False for result in results):
                return f"condition {int(parts[1]) + 1} was false"
    return "a condition was false"
