"""Templates of Home Assistant's own blueprints that were read by people, each with what it reads."""

from collections.abc import Mapping
from typing import Any, Final

from homeassistant.core import callback, valid_entity_id

from ..exposure import Exposure
from ..walk import texts_in

REVIEWED: Final[Mapping[str, Mapping[str, frozenset[str]]]] = {
    "homeassistant/notify_leaving_zone.yaml": {
        "{{ states[zone_entity].name }}": frozenset({"zone_entity"}),
        "{{ states[person_entity].name }}": frozenset({"person_entity"}),
        "{{ zone_entity == 'zone.home' and trigger.from_state.state == 'home' and trigger.to_state.state != 'home' or "
        "trigger.from_state.state == zone_state and trigger.to_state.state != zone_state }}": frozenset(
            {"zone_entity"}
        ),
        "{{ person_name }} has left {{ zone_state }}": frozenset({"person_entity", "zone_entity"}),
    },
}
"""For each blueprint its templates, word for word, with the variables that name all they read besides the trigger."""
_READ = "true"
"""What stands in the place of a template that needs no more reading."""


@callback
def without_reviewed(exposure: Exposure, path: Any, config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a blueprint with its inputs put in, without the templates of it that read exposed entities only."""
    variables = config.get("variables")
    known = variables if isinstance(variables, Mapping) else {}
    # A variable that is defined anywhere else could mean something else by then.
    others = {key: part for key, part in config.items() if key != "variables"}
    elsewhere = {text for text, _ in texts_in([config.get("trigger_variables"), _defining(others)], keys=True)}
    fine = {
        text
        for text, names in REVIEWED.get(str(path), {}).items()
        if not elsewhere & {*names, "person_name", "zone_state", "trigger"}
        and all(valid_entity_id(str(known.get(name))) and exposure.is_exposed(str(known.get(name))) for name in names)
    }
    return {key: _without(part, fine) for key, part in config.items()}


def _defining(part: Any) -> list[Any]:
    """Return all that defines variables inside a part."""
    if isinstance(part, Mapping):
        own = [value for key, value in part.items() if key in ("variables", "response_variable")]
        return own + [found for value in part.values() for found in _defining(value)]
    return [found for item in part for found in _defining(item)] if isinstance(part, list) else []


def _without(part: Any, fine: set[str]) -> Any:
    """Return a part in which some texts are replaced."""
    if isinstance(part, Mapping):
        return {key: _without(value, fine) for key, value in part.items()}
    if isinstance(part, list):
        return [_without(item, fine) for item in part]
    return _READ if isinstance(part, str) and part in fine else part
