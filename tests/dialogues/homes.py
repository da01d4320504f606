"""Sets up the homes of the dialogues, one after the other in the same Home Assistant."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, override

from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    MockModule,
    MockPlatform,
    mock_integration,
    mock_platform,
)
import voluptuous as vol
import yaml

from custom_components.extended_assist.scheduled.manager import async_get_scheduled_tasks
from homeassistant.config import async_hass_config_yaml
from homeassistant.config_entries import ConfigEntry, ConfigFlow
from homeassistant.core import HomeAssistant
from homeassistant.helpers import area_registry as ar, entity_registry as er, floor_registry as fr, llm
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback
from homeassistant.setup import async_setup_component
from tests.conftest import expose

from .household import DOMAIN, THINGS
from .players import TodoList
from .shape import AUTOMATIONS, SCHEDULED
from .thing import Thing

type Snapshot = dict[str, Any]
"""What everything in a home is."""

NEIGHBOUR = "neighbour"


class _Post(llm.Tool):
    """A tool of another server, as MCP brings it: what it returns was written by whoever posted."""

    name = "latest_post"
    description = "Return the latest post of the neighbourhood."
    integration = "mcp"
    parameters = vol.Schema({})
    annotations = llm.ToolAnnotations(read_only=True, open_world=True)
    post = "Nothing new."

    @override
    async def async_call(
        self, hass: HomeAssistant, tool_input: llm.ToolInput, llm_context: llm.LLMContext
    ) -> llm.ToolResult:
        return llm.ToolResult(data={"post": self.post})


class Neighbour(llm.API):
    """The API of the other server."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Have one tool."""
        super().__init__(hass=hass, id=NEIGHBOUR, name="Neighbour")
        self.tool = _Post()

    @override
    async def async_get_api_instance(self, llm_context: llm.LLMContext) -> llm.APIInstance:
        return llm.APIInstance(self, "Posts of the neighbourhood.", llm_context, [self.tool])


class HouseholdFlow(ConfigFlow):
    """Without which nothing can be set up."""


@dataclass
class Home:
    """A home that is set up."""

    hass: HomeAssistant
    path: Path
    """The file of its automations."""
    definition: Mapping[str, Any]
    entry: MockConfigEntry
    things: dict[str, Thing] = field(default_factory=dict)

    async def async_reset(self, planted: Mapping[str, Any]) -> None:
        """Let everything be as it was in the beginning, but for what strangers put there."""
        tasks = await async_get_scheduled_tasks(self.hass)
        for task in tasks.standing:
            await tasks.async_end(task.id, "reset")
        automations = _automations(self.definition)
        if self.path.read_text() != automations:
            self.path.write_text(automations)
            await self.hass.services.async_call("automation", "reload", blocking=True)
        for name in self.definition.get("automations", ()):
            if self.hass.states.get(f"automation.{name}").state == "off":
                await self.hass.services.async_call(
                    "automation", "turn_on", {"entity_id": f"automation.{name}"}, blocking=True
                )
        for entity_id, thing in self.things.items():
            thing.reset(planted.get(entity_id))
        await self.hass.async_block_till_done()

    async def async_snapshot(self) -> Snapshot:
        """Return what everything is."""
        whole: Snapshot = {
            SCHEDULED: len((await async_get_scheduled_tasks(self.hass)).standing),
            AUTOMATIONS: self.path.read_text(),
        }
        for state in self.hass.states.async_all():
            if state.entity_id in self.things or state.domain in ("automation", "script", "scene"):
                whole[state.entity_id] = {**state.attributes, "state": state.state}
                if isinstance(thing := self.things.get(state.entity_id), TodoList):
                    whole[state.entity_id]["items"] = [(item.summary, item.status) for item in thing.todo_items or ()]
        return whole


def _automations(definition: Mapping[str, Any]) -> str:
    """Return the file of automations of a home."""
    return yaml.safe_dump([{"id": name, **item} for name, item in definition.get("automations", {}).items()])


class Street:
    """Where the homes are: in a Home Assistant that is one home after the other."""

    def __init__(self, hass: HomeAssistant, folder: Path) -> None:
        """Take a folder for files."""
        self._hass = hass
        self._folder = folder
        self._home: Home | None = None

    async def async_build(self) -> None:
        """Set up what all homes need, with the platforms of their devices."""
        hass = self._hass
        hass.config.config_dir = str(self._folder)
        mock_integration(
            hass, MockModule(DOMAIN, async_setup_entry=self._async_forward, async_unload_entry=self._async_unload)
        )
        mock_platform(hass, f"{DOMAIN}.config_flow", None)
        for domain in THINGS:
            mock_platform(hass, f"{DOMAIN}.{domain}", MockPlatform(async_setup_entry=self._adder(domain)))
        (self._folder / "configuration.yaml").write_text(
            "automation: !include automations.yaml\nscript: !include scripts.yaml\nscene: !include scenes.yaml\n"
        )
        self._write({})
        config = await async_hass_config_yaml(hass)
        for domain in (
            "automation",
            "script",
            "scene",
            "intent",
            "media_player",
            "light",
            "todo",
            "calendar",
            "assist_satellite",
        ):
            assert await async_setup_component(hass, domain, config), domain

    async def async_move_in(self, definition: Mapping[str, Any]) -> Home:
        """Leave the home that was, and set up another."""
        hass = self._hass
        if self._home:
            assert await hass.config_entries.async_remove(self._home.entry.entry_id)
            areas, floors = ar.async_get(hass), fr.async_get(hass)
            for area in list(areas.async_list_areas()):
                areas.async_delete(area.id)
            for floor in list(floors.async_list_floors()):
                floors.async_delete(floor.floor_id)
        self._write(definition)
        entry = MockConfigEntry(domain=DOMAIN, title="Household")
        self._home = home = Home(hass, self._folder / "automations.yaml", definition, entry)
        home.things = {
            entity_id: THINGS[entity_id.split(".")[0]](entity_id, each)
            for entity_id, each in definition["entities"].items()
        }
        entry.add_to_hass(hass)
        assert await hass.config_entries.async_setup(entry.entry_id)
        for domain in ("automation", "script", "scene"):
            await hass.services.async_call(domain, "reload", blocking=True)
        await hass.async_block_till_done()
        self._furnish(definition)
        exposed = [
            *home.things,
            *(
                f"{domain}.{name}"
                for domain in ("automation", "script", "scene")
                for name in definition.get(f"{domain}s", ())
            ),
        ]
        missing = [entity_id for entity_id in exposed if hass.states.get(entity_id) is None]
        assert not missing, missing
        expose(hass, *exposed)
        return home

    def _write(self, definition: Mapping[str, Any]) -> None:
        """Write the files of a home."""
        scenes = [{"id": name, **item} for name, item in definition.get("scenes", {}).items()]
        (self._folder / "automations.yaml").write_text(_automations(definition))
        (self._folder / "scripts.yaml").write_text(yaml.safe_dump(dict(definition.get("scripts", {}))))
        (self._folder / "scenes.yaml").write_text(yaml.safe_dump(scenes))

    def _furnish(self, definition: Mapping[str, Any]) -> None:
        """Put the entities into areas, and these on floors."""
        areas, floors, registry = ar.async_get(self._hass), fr.async_get(self._hass), er.async_get(self._hass)
        for name, floor_name in definition["areas"].items():
            floor = floors.async_get_floor_by_name(floor_name) or floors.async_create(floor_name)
            areas.async_create(name, floor_id=floor.floor_id)
        for entity_id, each in definition["entities"].items():
            if (area := each.get("area")) and (found := areas.async_get_area_by_name(area)):
                registry.async_update_entity(entity_id, area_id=found.id)

    async def _async_forward(self, hass: HomeAssistant, entry: ConfigEntry) -> bool:
        """Set up the platforms."""
        await hass.config_entries.async_forward_entry_setups(entry, THINGS)
        return True

    async def _async_unload(self, hass: HomeAssistant, entry: ConfigEntry) -> bool:
        """Unload the platforms."""
        return await hass.config_entries.async_unload_platforms(entry, THINGS)

    def _adder(self, domain: str) -> Any:
        """Return what sets up a platform with the things of the home."""

        async def add(hass: HomeAssistant, entry: ConfigEntry, async_add: AddConfigEntryEntitiesCallback) -> None:
            assert self._home
            async_add(thing for entity_id, thing in self._home.things.items() if entity_id.startswith(f"{domain}."))

        return add
