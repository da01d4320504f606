"""Scripts that an automation calls and waits for: whether they take time."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from homeassistant.components.script.const import DOMAIN
from homeassistant.core import HomeAssistant

_NOT_WAITED_FOR: Final = frozenset({"reload", "toggle", "turn_off", "turn_on"})
_TAKE_TIME: Final = frozenset({"delay", "wait_for_trigger", "wait_template"})


def script_called(hass: HomeAssistant, action: Any) -> list[Any] | None:
    """Return the steps of the script that an action runs to its end; None where it is no such action."""
    domain, _, name = str(action).partition(".")
    if domain != DOMAIN or name in _NOT_WAITED_FOR:
        return None
    component = hass.data.get(DOMAIN)
    entity = component.get_entity(f"{domain}.{name}") if component else None
    script = getattr(entity, "script", None)
    return script.sequence if script else []


def takes_time(hass: HomeAssistant, sequence: Any, seen: frozenset[str] = frozenset()) -> bool:
    """Return whether anything in some steps, or in the scripts that they run, takes time."""
    for step in _mappings(sequence):
        if _TAKE_TIME & step.keys():
            return True
        action = str(step.get("action", step.get("service")))
        script = script_called(hass, action)
        if script and action not in seen and takes_time(hass, script, seen | {action}):
            return True
    return False


def _mappings(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield every object inside a value, whatever it stands in."""
    if isinstance(value, Mapping):
        yield value
    for item in value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ():
        yield from _mappings(item)
