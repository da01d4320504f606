"""Check an automation or script before it is written: valid for Home Assistant, and within exposure and policy."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
import json
import re
from typing import Any, NoReturn

import voluptuous as vol

from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers.json import json_dumps

from ..actions.automation_context import OwnParts
from ..actions.check import ResolvedAction
from ..actions.sequences import SequenceWalker
from ..actions.text_check import MAX_SIZE
from ..calls.call import ToolCall
from ..exposure.entities import normalize
from ..ha_compat.automations import BlueprintException, is_blueprint_instance_config
from ..results import ToolError, place_of, size, texts_in
from .describe_values import items_of
from .edit import OLDER_KEYS, PRESENT_KEYS
from .expansion import async_expand
from .loading import UsedBlueprint, async_used_blueprint
from .query import NOT_EXPOSED, Automation
from .rules import AUTOMATION_RULES, Rules, check_fields
from .secret_values import SECRET
from .yaml_positions import Tagged

MAX_NAME = 120
"""Characters of a name: more is a description."""

_HIDDEN = (
    "This {} also uses something that is not exposed or cannot be checked, so it cannot be changed here. Tell the user to "
    "change it in Home Assistant."
)
_FOREIGN_TAG = ("!secret", "!include", "!input", "!env_var")


@dataclass(slots=True)
class CheckedAutomation:
    """An automation or script that may be written."""

    config: dict[str, Any]
    """The configuration to be written."""
    whole: dict[str, Any]
    """The same with a blueprint's inputs put into it."""
    entity_ids: set[str] = field(default_factory=set)
    """Every entity that it uses."""
    actions: tuple[ResolvedAction, ...] = ()
    """Every action in it, in order."""
    left_out: int = 0
    """Number of entities of the named areas and devices that are left out because they are not exposed."""
    blueprint: UsedBlueprint | None = None


def normalized(given: Mapping[str, Any], rules: Rules = AUTOMATION_RULES) -> dict[str, Any]:
    """Return a configuration, or a part of one, in the current syntax; raises ToolError for unknown or doubled keys."""
    config: dict[str, Any] = json.loads(
        json_dumps(given)
    )  # No object occurs twice, which YAML would write as an anchor.
    for key, older in OLDER_KEYS.items():
        if older in config and key in rules.keys:
            if key in config:
                raise ToolError(f"Give {key} only; {older} is its older name.")
            config[key] = config.pop(older)
    if size(config) > MAX_SIZE:
        raise ToolError(f"This has {size(config)} characters; at most {MAX_SIZE} are allowed. Make it shorter.")
    if unknown := [key for key in config if key not in rules.keys]:
        has = f"{rules.file.noun.capitalize()} has {', '.join(rules.keys)}."
        raise ToolError(f"Unknown: {', '.join(unknown)}. {has}")
    return config


def refuse_placeholders(config: Mapping[str, Any]) -> None:
    """Raise ToolError for placeholders of hidden values, and for tags."""
    for text, path in texts_in(config, keys=True):
        place = place_of("", path).removeprefix(".")
        if untold := next((one for one in (SECRET, NOT_EXPOSED) if one in text), None):
            raise ToolError(
                f"{place}: '{untold}' stands in the place of what is not told. Leave this part out of the changes, or give "
                "the trigger, condition or step that holds it just as it was told; or ask the user for what belongs there."
            )
        if text.startswith(_FOREIGN_TAG):
            raise ToolError(f"{place}: '{text.split()[0]}' cannot be used here. Leave what holds it as it is.")


def current(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a configuration with the present names of its keys; raises ToolError when one is there under both."""
    if doubled := [key for key, older in OLDER_KEYS.items() if config.keys() >= {key, older}]:
        raise ToolError(f"Give {doubled[0]} only; {OLDER_KEYS[doubled[0]]} is its older name.")
    return {PRESENT_KEYS.get(key, key): value for key, value in config.items()}


def resolved(written: Any, loaded: Any) -> Any:
    """Return a configuration as written in the file, its tags replaced by the values that Home Assistant loaded."""
    if isinstance(written, Tagged):
        return written if loaded is None else loaded
    if isinstance(written, dict):
        inner = loaded if isinstance(loaded, Mapping) else {}
        return {key: resolved(value, inner.get(key)) for key, value in written.items()}
    if isinstance(written, list):
        items = loaded if isinstance(loaded, list) and len(loaded) == len(written) else [None] * len(written)
        return [resolved(value, item) for value, item in zip(written, items, strict=True)]
    return written


async def async_check(
    call: ToolCall,
    automation_id: str,
    config: dict[str, Any],
    rules: Rules = AUTOMATION_RULES,
    given: Iterable[str] | None = None,
) -> CheckedAutomation:
    """Return an automation or script that may be written; raises ToolError with the place and the reason.

    If only some keys are given by the caller, errors reveal nothing about the values of the other keys.
    """
    said = set(rules.keys if given is None else given)
    if "alias" in said:  # An automation without a name can be changed without giving it one.
        check_name(config, rules)
    parts = {key: value for key, value in config.items() if key in said}
    blueprint = await async_used_blueprint(rules.blueprints(call.hass), config)
    written, left_out = await async_expand(call, parts, rules.blueprints(call.hass))
    config = {**config, **written}
    whole = await async_substituted(call, config, rules, tell="use_blueprint" in said)
    check_needed(whole, rules)
    walker = walker_for(call, whole)
    for key in rules.walked:
        try:
            await async_walk_part(walker, key, whole.get(key))
        except ToolError as err:
            if "use_blueprint" in config and "use_blueprint" in said:
                refuse_blueprint(call, err)
            if "use_blueprint" not in config and key in said:
                raise
            raise ToolError(_HIDDEN.format(rules.kind)) from err
    await async_validate(call, automation_id, config, rules, tell=said >= config.keys())
    return CheckedAutomation(config, whole, walker.entity_ids, tuple(walker.actions), left_out, blueprint)


def check_name(config: Mapping[str, Any], rules: Rules = AUTOMATION_RULES) -> None:
    """Raise ToolError for a missing name, and for one of several lines or of too many characters."""
    if not str(config.get("alias") or "").strip():
        raise ToolError(f"Give the {rules.kind} a name, as 'alias'.")
    check_line(config["alias"], "alias")
    if len(str(config["alias"])) > MAX_NAME:
        raise ToolError(f"alias: at most {MAX_NAME} characters. Put the rest into 'description'.")


def check_line(name: Any, key: str) -> None:
    """Raise ToolError for a name of several lines: in a question, they would read like steps."""
    if len(str(name).strip().splitlines()) > 1:
        raise ToolError(f"{key}: a name has one line. Put the rest into 'description'.")


def walker_for(call: ToolCall, whole: Mapping[str, Any]) -> SequenceWalker:
    """Return the checker for the parts of an automation or script, which knows the variables, events and scenes of the whole."""
    walker = SequenceWalker(call, keep=True, own=OwnParts.of(call.hass, call.exposure, whole))
    walker.define(whole)
    return walker


def check_needed(whole: Mapping[str, Any], rules: Rules = AUTOMATION_RULES) -> None:
    """Raise ToolError if a required key is missing."""
    for key in rules.needed:
        if key not in whole:
            raise ToolError(f"{rules.file.noun.capitalize()} needs '{key}'. Give it, as a list.")


def refuse_blueprint(call: ToolCall, err: ToolError) -> NoReturn:
    """Raise ToolError with the reason why a blueprint cannot be used, unless the reason names something hidden."""
    if _may_reveal(call, err):
        raise ToolError(f"The blueprint with these inputs cannot be used: {err}") from err
    raise ToolError(
        "use_blueprint: the blueprint with these inputs also uses something that is not exposed or cannot be checked. Tell "
        "the user to set it up in Home Assistant."
    ) from None


async def async_walk_part(walker: SequenceWalker, key: str, value: Any) -> None:
    """Check one part of an automation or script."""
    if not value:
        return
    match key:
        case "triggers":
            await walker.async_triggers(value, key)
        case "conditions":
            await walker.async_conditions(value, key)
        case "actions" | "sequence":
            await walker.async_actions(value, key)
        case _:
            if key == "fields":
                check_fields(value)
            await walker.async_values(value, key)


async def async_substituted(
    call: ToolCall, config: dict[str, Any], rules: Rules = AUTOMATION_RULES, *, tell: bool = True
) -> dict[str, Any]:
    """Return a configuration, with the inputs put into its blueprint where it uses one."""
    if not is_blueprint_instance_config(config):
        return config
    blueprints = rules.blueprints(call.hass)
    known = await blueprints.async_get_blueprints()
    use = config["use_blueprint"]
    path = use.get("path") if isinstance(use, dict) else None
    if path not in known:
        raise ToolError(
            f"use_blueprint.path: there is no blueprint '{path}'. "
            + (f"Known: {', '.join(sorted(known))}." if known else f"There is none for {rules.kind}s.")
        )
    try:
        inputs = await blueprints.async_inputs_from_config(config)
        found: dict[str, Any] = inputs.async_substitute()
    except (BlueprintException, HomeAssistantError, vol.Invalid) as err:
        raise ToolError(_error_text(call, err, rules, tell=tell)) from err
    return current(found) if rules is AUTOMATION_RULES else found


async def async_validate(
    call: ToolCall, automation_id: str, config: dict[str, Any], rules: Rules = AUTOMATION_RULES, *, tell: bool = True
) -> None:
    """Let Home Assistant validate an automation or script."""
    try:
        await rules.async_validate(call.hass, automation_id, config)
    except (vol.Invalid, HomeAssistantError) as err:
        raise ToolError(_error_text(call, err, rules, tell=tell and _is_given(call, config, str(err)))) from err


def _error_text(call: ToolCall, err: Exception, rules: Rules, *, tell: bool) -> str:
    """Return Home Assistant's error, or a general sentence if the error could name something hidden."""
    if tell and _may_reveal(call, err):
        return f"Home Assistant does not accept this {rules.kind}: {err}"
    return f"Home Assistant does not accept this {rules.kind} as a whole. Give all of its parts in full, in current syntax."


def _is_given(call: ToolCall, config: Mapping[str, Any], message: str) -> bool:
    """Return whether all values of a configuration that a message repeats were given by the caller."""
    said = set(_leaves(call.arguments))
    return not any(leaf in message for leaf in _leaves(config) if len(leaf) > 1 and leaf not in said)


def _leaves(value: Any) -> Iterator[str]:
    """Yield every text and number inside a value as a text."""
    if isinstance(value, Mapping | list | tuple):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _leaves(item)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def _may_reveal(call: ToolCall, err: Exception) -> bool:
    """Return whether an error names nothing hidden, apart from texts that the caller gave."""
    said = {text for text, _ in texts_in(call.arguments)}
    message = re.sub(r"[\w.]+", lambda word: "" if word[0] in said else word[0], str(err))
    return not call.exposure.names_hidden(message)


_SHARED = 0.75
"""Share of the entities of both that two close automations have in common."""


def warnings_of(known: Iterable[Automation], checked: CheckedAutomation, automation_id: str) -> list[str]:
    """Return warnings about automations that have the same name or do nearly the same; compares them all."""
    others = [other for other in known if other.id != automation_id]
    name, kinds = normalize(str(checked.config.get("alias") or "")), _trigger_kinds(checked.whole)
    found = same_names(others, name, automation_id) if name else []
    for other in others:
        if normalize(other.name) == name or _trigger_kinds(other.config) != kinds:
            continue
        used = set(other.used)
        shared = used & checked.entity_ids
        if (shared and len(shared) >= _SHARED * len(used | checked.entity_ids)) or all(
            _units(other.config, key) == _units(checked.whole, key) for key in OLDER_KEYS
        ):
            found.append(f"It is close to an existing one: {other.name} ({other.entity_id}).")
    return found


def same_names(known: Iterable[Automation], name: Any, own_id: str | None) -> list[str]:
    """Return warnings about others of a kind that have the same name."""
    wanted = normalize(str(name))
    return [
        f"Another {other.kind} has this name already: {other.entity_id}."
        for other in known
        if other.id != own_id and normalize(other.name) == wanted
    ]


def _trigger_kinds(config: Mapping[str, Any]) -> set[str]:
    triggers = [trigger for trigger in _units(config, "triggers") if isinstance(trigger, Mapping)]
    return {str(trigger.get("trigger", trigger.get("platform"))) for trigger in triggers}


def _units(config: Mapping[str, Any], key: str) -> list[Any]:
    """Return triggers, conditions or actions as a list, under the present or the older name of the key."""
    return items_of(config.get(key, config.get(OLDER_KEYS[key])))
