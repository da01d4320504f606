"""The blueprint that an automation or script uses, as it is on the disk: Home Assistant reads it anew whenever it loads one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from homeassistant.components.blueprint.models import Blueprint, DomainBlueprints
from homeassistant.components.blueprint.schemas import is_blueprint_instance_config
from homeassistant.exceptions import HomeAssistantError


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
