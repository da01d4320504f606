"""A file of the configuration that Home Assistant's editor writes too, and how Home Assistant takes over what is in it."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError

from ..const import DOMAIN
from ..ha_compat.automations import Blueprint, DomainBlueprints, is_blueprint_instance_config


class LoadProblem(Protocol):
    """Tells what is wrong with an item that Home Assistant was to load."""

    def __call__(self, hass: HomeAssistant, item_id: str, *, may_be_off: bool) -> str | None:
        """Return the problem of an item, or None when it runs as it should."""


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """A file that holds the items of one domain."""

    name: str
    """Its path below the folder of the configuration, such as automations.yaml."""
    domain: str
    """What its items are: automation, script or scene."""
    noun: str
    """One of them in words: an automation."""
    kind: str
    """The kind of its changes in the journal."""
    load: Callable[[Path, str, str], Any]
    """Gives the configuration of an item, with these lines in a file, as Home Assistant loads it; blocks."""
    async_as_run: Callable[[HomeAssistant, str, Any], Awaitable[Any]]
    """Gives what Home Assistant says that it runs when it runs a loaded configuration; None where it would not run it."""
    running: Callable[[HomeAssistant, str], Any]
    """Gives the configuration of an item that Home Assistant says it runs; None where it runs none."""
    entity_id: Callable[[HomeAssistant, str], str]
    """Gives the entity of an item, or an empty text."""
    async_reload: Callable[[HomeAssistant, str], Awaitable[None]]
    """Has an item loaded anew, as the file says."""
    async_remove: Callable[[HomeAssistant, str], Awaitable[None]]
    """Takes away the entity of an item that is gone from the file; the entity is there."""
    problem: LoadProblem
    """Tells what is wrong with an item that is loaded, or was to be."""

    @property
    def event(self) -> str:
        """Return the type of the event that tells of a change."""
        return f"{DOMAIN}_{self.domain}_changed"

    @property
    def copies(self) -> str:
        """Return the name of the folder that keeps copies of it."""
        return f"{DOMAIN}.{Path(self.name).stem}"

    @property
    def unfinished(self) -> str:
        """Return the name of the file that says what was begun and may not be done."""
        return f"{self.copies}.unfinished"


@dataclass(frozen=True, slots=True)
class UsedBlueprint:
    """A blueprint as it was when its use was checked."""

    blueprints: DomainBlueprints
    path: str
    data: Any

    async def async_is_loaded(self) -> bool:
        """Return whether Home Assistant has loaded the very same since."""
        try:
            return bool((await self.blueprints.async_get_blueprint(self.path)).data == self.data)
        except HomeAssistantError:
            return False


async def async_used_blueprint(blueprints: DomainBlueprints, config: Mapping[str, Any]) -> UsedBlueprint | None:
    """Have Home Assistant read its blueprints anew, and return the one that is used; None where there is none."""
    if not is_blueprint_instance_config(config):
        return None
    await blueprints.async_reset_cache()
    use = config["use_blueprint"]
    path = str(use.get("path")) if isinstance(use, Mapping) else ""
    found = (await blueprints.async_get_blueprints()).get(path)
    return UsedBlueprint(blueprints, path, found.data) if isinstance(found, Blueprint) else None
