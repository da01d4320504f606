"""What automations and scripts may hold, and how Home Assistant validates them."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from homeassistant.core import HomeAssistant

from ..ha_compat.automations import (
    DomainBlueprints,
    async_validate_automation,
    async_validate_script,
    automation_blueprints,
    script_blueprints,
)
from .config_file import ConfigFile
from .loading import AUTOMATIONS
from .loading_scripts import SCRIPTS


@dataclass(frozen=True, slots=True)
class Rules:
    """What one kind of configuration may hold."""

    file: ConfigFile
    keys: tuple[str, ...]
    """Keys that may be given; the id is not among them."""
    needed: tuple[str, ...]
    walked: tuple[str, ...]
    """The keys that are checked, in this order: what defines variables comes first."""
    blueprints: Callable[[HomeAssistant], DomainBlueprints]
    async_validate: Callable[[HomeAssistant, str, dict[str, Any]], Awaitable[Any]]
    """Raises an error for what Home Assistant would not load."""

    @property
    def kind(self) -> str:
        """Return the kind: automation or script."""
        return self.file.domain


async def _async_validate_automation(hass: HomeAssistant, item_id: str, config: Mapping[str, Any]) -> None:
    """Validate an automation, whose id is in it."""
    await async_validate_automation(hass, item_id, {"id": item_id, **config})


AUTOMATION_RULES: Final = Rules(
    file=AUTOMATIONS,
    keys=(
        *("alias", "description", "triggers", "conditions", "actions", "mode", "max", "max_exceeded", "variables"),
        *("trigger_variables", "initial_state", "trace", "use_blueprint"),
    ),
    needed=("triggers", "actions"),
    walked=("trigger_variables", "variables", "triggers", "conditions", "actions"),
    blueprints=automation_blueprints,
    async_validate=_async_validate_automation,
)
SCRIPT_RULES: Final = Rules(
    file=SCRIPTS,
    keys=(
        *("alias", "description", "icon", "fields", "sequence", "mode", "max", "max_exceeded", "variables"),
        *("trace", "use_blueprint"),
    ),
    needed=("sequence",),
    walked=("fields", "variables", "sequence"),
    blueprints=script_blueprints,
    async_validate=async_validate_script,
)
RULES: Final[Mapping[str, Rules]] = {rules.kind: rules for rules in (AUTOMATION_RULES, SCRIPT_RULES)}
