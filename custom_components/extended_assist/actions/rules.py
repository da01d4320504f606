"""Which actions an assistant may use, and which targets and fields their descriptions define."""

from collections.abc import Iterator, Mapping
from functools import partial
import re
from typing import Any

from homeassistant.const import Platform
from homeassistant.core import DOMAIN as HOMEASSISTANT_DOMAIN, HomeAssistant, Service, callback
from homeassistant.helpers import service as service_helper

from ..const import DOMAIN
from ..exposure.domains import WITH_ENTITIES
from .entity_actions import ACTIONS, ONLY_LISTED_KINDS, PLAIN, Kind, kind_of
from .targets import Fits

# Never allowed, even if listed: code, configuration, restarts, backups, logs and history. Conversation agents neither: a
# model's message to an agent would count as the user's own words.
_NEVER_DOMAINS = frozenset(
    {
        *("appdaemon", "backup", "cloud", "command_line", "conversation", "debugpy", "group", "hassio"),
        *("homeassistant", "logger", "profiler", "pyscript", "python_script", "recorder", "shell_command"),
        *("system_log", DOMAIN),
    }
)
_NEVER_SERVICE = re.compile(r"reload(_.*)?")
_HOMEASSISTANT = frozenset({"turn_on", "turn_off", "toggle", "update_entity"})
# Actions that only pass an area's name to the target.
NAMES_AREAS = frozenset({"vacuum.clean_area", "sharkiq.clean_room"})
UPDATE = "homeassistant.update_entity"
APPLY = "scene.apply"
SCRIPT_SERVICES = frozenset({"turn_on", "turn_off", "toggle"})


def is_never(domain: str, name: str) -> bool:
    """Return whether no assistant may use an action."""
    if domain == "script":
        return name == "reload"  # All others are the user's own scripts.
    if _NEVER_SERVICE.fullmatch(name):
        return True
    return domain in _NEVER_DOMAINS and not (domain == HOMEASSISTANT_DOMAIN and name in _HOMEASSISTANT)


def is_free(action: str, description: Mapping[str, Any]) -> bool:
    """Return whether an action is allowed without being listed, because exposure bounds its effect."""
    return action in ACTIONS and ("target" in description or action in (APPLY, UPDATE))


def is_free_in_part(action: str) -> bool:
    """Return whether some fields of an action are allowed only if the options list the action."""
    return not {*ONLY_LISTED_KINDS, Kind.MEDIA, Kind.SOURCE}.isdisjoint(ACTIONS.get(action, {}).values())


def is_entity_service(service: Service) -> bool:
    """Return whether Home Assistant's entity platform runs an action."""
    handler = service.job.target
    return isinstance(handler, partial) and handler.func in (
        service_helper.entity_service_call,
        service_helper.batched_entity_service_call,
    )


def is_for_admins(service: Service) -> bool:
    """Return whether an action is for administrators; Home Assistant itself allows calls without a user."""
    handler = service.job.target
    return isinstance(handler, partial) and (
        handler.func.__name__ == "_async_admin_handler" or bool(handler.keywords.get("admin_only"))
    )


def selectors_of(fields: Any) -> Iterator[tuple[str, str]]:
    """Yield the fields of an action's description, also those in sections, with the type of their selector."""
    for key, description in (fields or {}).items():
        if not isinstance(description, Mapping):
            continue
        if isinstance(section := description.get("fields"), Mapping):
            yield from selectors_of(section)
        elif isinstance(selector := description.get("selector"), Mapping) and selector:
            yield key, next(iter(selector))


def fields_of(fields: Any) -> list[str]:
    """Return the field names of an action's description, also those in sections."""
    names: list[str] = []
    for key, description in (fields or {}).items():
        section = description.get("fields") if isinstance(description, Mapping) else None
        names += fields_of(section) if isinstance(section, Mapping) else [key]
    return names


def fits_of(hass: HomeAssistant, domain: str, name: str, description: Mapping[str, Any]) -> Fits:
    """Return the entities that an action accepts."""
    action = f"{domain}.{name}"
    if domain == HOMEASSISTANT_DOMAIN:
        if action == UPDATE:
            return Fits(action)
        return Fits(action, frozenset(key for key in WITH_ENTITIES if f"{key}.{name}" in ACTIONS))
    filters = tuple((description.get("target") or {}).get("entity") or ())
    if filters and all("domain" in wanted for wanted in filters):
        return Fits(action, frozenset(one for wanted in filters for one in wanted["domain"]), filters)
    is_entity_domain = domain in {*Platform, "automation", "script"}
    return Fits(action, frozenset({domain}) if is_entity_domain and not filters else None, filters)


# Actions whose texts only go to people.
_TELLERS = frozenset({"notify", "persistent_notification"})
_TOLD = frozenset({"message", "title"})


@callback
def unknown_fields(hass: HomeAssistant, action: str, computed: Mapping[Any, Any]) -> list[Any]:
    """Return the fields with templates that could name an entity."""
    domain, _, name = action.partition(".")
    service = hass.services.async_services_for_domain(domain).get(name)
    carried_out = service is not None and is_entity_service(service)
    unknown = []
    for key, value in computed.items():
        is_told = domain in _TELLERS and key in _TOLD and isinstance(value, str)
        is_plain = carried_out and kind_of(action, key) in PLAIN
        if not (is_told or is_plain):
            unknown.append(key)
    return unknown
