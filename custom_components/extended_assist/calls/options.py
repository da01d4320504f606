"""The options of an entry, as its tools use them."""

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
"""The family of the tools for memory, which is off unless it is chosen."""
REHEARSAL = "rehearsal"
WISHES = "wishes"
CAMERAS = "cameras"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolboxOptions:
    """The options of an entry, as its tools use them."""

    budget: int = DEFAULT_BUDGET
    """The most characters of a result."""
    external_statistics: frozenset[str] = frozenset()
    """Statistics without an entity that the user made visible by naming them."""
    targetless_actions: frozenset[str] = frozenset()
    """Actions that exposure alone does not allow. None by default: what has no target has no bound either."""
    listed_triggers: frozenset[str] = frozenset()
    """Events, topics and webhooks that may set automations off though exposure does not bound them."""
    database_files: frozenset[str] = frozenset()
    """SQLite files beside the recorder's that functions may read."""
    web_hosts: frozenset[str] = frozenset()
    """Hosts of the home's own network, as host or host:port, that may be fetched from."""
    web_ports: frozenset[int] = frozenset()
    """Ports that may be fetched from beside the usual ones."""
    families: frozenset[str] | None = None
    """The families of tools that are on; None where they were never chosen."""
    rehearses: bool = False
    """Whether the tool that simulates automations is on."""
    has_memory: bool = True
    """Whether the tools for memory are on; if not, stored facts are not used."""
    memory_guests: int = 0
    """The most facts from speakers who are not logged in."""
    memory_automations: bool = False
    """Whether automations and tasks may store facts."""
    memory_elsewhere: bool = False
    """Whether facts may be read in tasks and over MCP."""
    who_may_look: Speaker = Speaker.USER
    """The least trusted speaker who may look through all exposed cameras."""
    open_cameras: frozenset[str] = frozenset()
    """Cameras and images that anyone may see, without being logged in."""
    look_folders: tuple[str, ...] = ()
    """Cameras, each with a folder of local media where the home stores its pictures."""
    look_task: str | None = None
    """The AI Task entity that describes a picture for agents that cannot see it."""
    policy: Policy = field(default_factory=Policy)
    entry_id: str | None = None
    """The entry of these options; scheduled tasks read its options again when they are due."""
    is_fixed: bool = False
    """Whether these options were made for one call and do not follow the entry."""
    is_told: bool = True
    """Whether activity events report the calls."""

    @callback
    def as_of_now(self, hass: HomeAssistant) -> ToolboxOptions:
        """Return the options of the entry as they are now; raises ToolError when it is gone.

        Home Assistant keeps the tools of a conversation, and the user may change the options meanwhile.
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
        """Read the options of an entry."""
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
"""By entry, its options as they were last read, and what they say; a change of them makes another mapping."""
