"""The options of a config entry that its tools read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from homeassistant.core import HomeAssistant, callback
from homeassistant.util.hass_dict import HassKey

from ..const import (
    CONF_DATABASE_FILES,
    CONF_EXTERNAL_STATISTICS,
    CONF_FAMILIES,
    CONF_LISTED_TRIGGERS,
    CONF_LOOK_CAMERAS,
    CONF_LOOK_FOLDERS,
    CONF_LOOK_TASK,
    CONF_LOOK_WHO,
    CONF_MEMORY_AUTOMATIONS,
    CONF_MEMORY_ELSEWHERE,
    CONF_MEMORY_GUESTS,
    CONF_RESULT_BUDGET,
    CONF_TARGETLESS_ACTIONS,
    CONF_WEB_HOSTS,
    CONF_WEB_PORTS,
    DOMAIN,
)
from ..results import DEFAULT_BUDGET, ToolError
from .policy import Policy, Speaker

MEMORY = "memory"
"""The family of the memory tools, which is off unless the user selects it."""
REHEARSAL = "rehearsal"
WISHES = "wishes"
CAMERAS = "cameras"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolboxOptions:
    """The options of a config entry that its tools read."""

    budget: int = DEFAULT_BUDGET
    """Maximum characters of a result."""
    external_statistics: frozenset[str] = frozenset()
    """Statistics without an entity that the user made visible by listing them."""
    targetless_actions: frozenset[str] = frozenset()
    """Allowed actions without a target. None by default, because exposure does not limit an action without a target."""
    listed_triggers: frozenset[str] = frozenset()
    """Events, topics and webhooks allowed as triggers of automations, though exposure does not limit them."""
    database_files: frozenset[str] = frozenset()
    """Further SQLite files, beside the recorder's, that functions may read."""
    web_hosts: frozenset[str] = frozenset()
    """Hosts of the local network that tools may fetch from, as host or host:port."""
    web_ports: frozenset[int] = frozenset()
    """Further ports, beside the usual ones, that tools may fetch from."""
    families: frozenset[str] | None = None
    """The families of tools that are on; None if the user never selected any."""
    rehearses: bool = False
    """True if the tool that simulates automations is on."""
    has_memory: bool = True
    """True if the memory tools are on; if they are off, stored facts must have no effect."""
    memory_guests: int = 0
    """Maximum facts stored by speakers who are not logged in."""
    memory_automations: bool = False
    """True if automations and AI tasks may store facts."""
    memory_elsewhere: bool = False
    """True if AI tasks and MCP clients may read facts."""
    who_may_look: Speaker = Speaker.USER
    """The least trusted speaker who may look at all exposed cameras."""
    open_cameras: frozenset[str] = frozenset()
    """Cameras and images that anyone may look at, even if nobody is logged in."""
    look_folders: tuple[str, ...] = ()
    """Cameras, each with a folder of local media in which the home stores pictures of it."""
    look_task: str | None = None
    """The AI Task entity that describes pictures for models without vision."""
    policy: Policy = field(default_factory=Policy)
    entry_id: str | None = None
    """The config entry of these options, so that scheduled tasks use the entry's options at their time."""
    is_fixed: bool = False
    """True if these options were made for one call and stay fixed, whatever the entry's options are."""
    is_told: bool = True
    """True if activity events report the calls under these options."""

    @callback
    def as_of_now(self, hass: HomeAssistant) -> ToolboxOptions:
        """Return the current options of the entry; raise ToolError if the entry was removed.

        Home Assistant keeps the tools of a conversation while the user may change the options.
        """
        if self.entry_id is None or self.is_fixed:
            return self
        kept = hass.data.setdefault(_READ, {})
        if (entry := hass.config_entries.async_get_entry(self.entry_id)) is None:
            kept.pop(self.entry_id, None)
            raise ToolError("These tools were removed from Home Assistant. Go on without them.")
        if (read := kept.get(self.entry_id)) is None or read[0] is not entry.options:
            kept[self.entry_id] = read = entry.options, ToolboxOptions.of(entry.options, self.entry_id)
        return read[1]

    @classmethod
    def of(cls, options: Mapping[str, Any], entry_id: str | None = None) -> Self:
        """Parse the options of an entry."""
        return cls(
            budget=options.get(CONF_RESULT_BUDGET, DEFAULT_BUDGET),
            external_statistics=frozenset(options.get(CONF_EXTERNAL_STATISTICS, ())),
            targetless_actions=frozenset(options.get(CONF_TARGETLESS_ACTIONS, ())),
            listed_triggers=frozenset(options.get(CONF_LISTED_TRIGGERS, ())),
            database_files=frozenset(options.get(CONF_DATABASE_FILES, ())),
            web_hosts=frozenset(options.get(CONF_WEB_HOSTS, ())),
            web_ports=frozenset(map(int, options.get(CONF_WEB_PORTS, ()))),
            families=frozenset(options[CONF_FAMILIES]) if CONF_FAMILIES in options else None,
            rehearses=REHEARSAL in options.get(CONF_FAMILIES, ()),
            has_memory=MEMORY in options.get(CONF_FAMILIES, ()),
            memory_guests=int(options.get(CONF_MEMORY_GUESTS, 0)),
            memory_automations=options.get(CONF_MEMORY_AUTOMATIONS, False),
            memory_elsewhere=options.get(CONF_MEMORY_ELSEWHERE, False),
            who_may_look=Speaker[str(options.get(CONF_LOOK_WHO, Speaker.USER.name)).upper()],
            open_cameras=frozenset(options.get(CONF_LOOK_CAMERAS, ())),
            look_folders=tuple(options.get(CONF_LOOK_FOLDERS, ())),
            look_task=options.get(CONF_LOOK_TASK),
            policy=Policy.of(options),
            entry_id=entry_id,
        )


_READ: HassKey[dict[str, tuple[Mapping[str, Any], ToolboxOptions]]] = HassKey(f"{DOMAIN}.options")
"""A cache by entry id: the options mapping that was parsed, and the result. A change makes a new mapping."""
