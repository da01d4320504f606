"""No tool, prompt, schema or error shows a trace of what is not exposed.

The home holds hidden entities whose ids, names, values, attributes and areas are unique strings. Every tool of the
catalogue is called with all of these wherever its schema takes a text, and in the ways that its case below names.
"""

from collections.abc import AsyncGenerator, Callable
from dataclasses import replace
from datetime import timedelta
import json
from pathlib import Path
from random import Random
from typing import Any, override

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry
from pytest_homeassistant_custom_component.components.recorder.common import async_wait_recording_done

from custom_components.extended_assist.api.instance import api_id
from custom_components.extended_assist.calls import change_recorder
from custom_components.extended_assist.calls.journal import WISH, WISH_CHANGED, Change, async_get_journal
from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.calls.policy import Policy, Speaker, Tier
from custom_components.extended_assist.claude.request import to_tools
from custom_components.extended_assist.functions.definition import read_definition
from custom_components.extended_assist.functions.tool import UserFunctionTool
from custom_components.extended_assist.llm_tools.extended_tool import ExtendedTool
from custom_components.extended_assist.memory.fact import Fact
from custom_components.extended_assist.memory.store import async_get_memory
from custom_components.extended_assist.results import texts_in
from custom_components.extended_assist.scheduled.manager import async_get_scheduled_tasks
from custom_components.extended_assist.scheduled.scheduled_task import (
    Audience,
    Hearer,
    Owner,
    Progress,
    ScheduledTask,
    What,
    When,
)
from custom_components.extended_assist.tools import CATALOGUE, FAMILIES
from custom_components.extended_assist.tools.habits import DeclineHabitTool, FindHabitsTool
from custom_components.extended_assist.web import guard
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.components.image import DATA_COMPONENT, ImageEntity
from homeassistant.components.recorder import Recorder
from homeassistant.core import HomeAssistant
from homeassistant.helpers import area_registry as ar, entity_registry as er, llm
from homeassistant.helpers.json import json_dumps
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
from homeassistant.util.yaml import parse_yaml
from tests.attacks.templates import REACH
from tests.cameras.scenes import drawn
from tests.conftest import expose
from tests.habits.homes import Home, Written, ulid
from tests.habits.recorded import async_write
from tests.helpers.one_home import in_one_home
from tests.helpers.recorded import meter, record, steps
from tests.web.site import Site, http

# A database in memory is out of reach for queries.
pytestmark = pytest.mark.parametrize("recorder_db_url", ["sqlite"], indirect=True)

SECRETS = ("zebra", "quokka", "narwhal", "axolotl", "31415.926")

NAMES = [
    "sensor.zebra",
    "zebra",
    "Quokka meter",
    "quokka",
    "quoka meter",
    "narwhal",
    "axolotl room quokka meter",
    "group.everything",
    "sensor.visible",
    "sensor.%",
    "sensor.*",
    "' OR 1=1 --",
    "",
]
AREAS = ["Axolotl Room", "axolotl", "Kitchen", ""]
SPANS: list[dict[str, Any]] = [{}, {"hours": 1}, {"hours": 100000}, {"start": "2020-01-01"}, {"start": "zebra"}]

DOMAINS = ["sensor", "group"]

CASES: dict[str, Callable[[], list[dict[str, Any]]]] = {
    "extended_assist__get_entities": lambda: [
        {},
        {"attributes": ["*"]},
        {"attributes": ["entity_id", "narwhal"]},
        {"domain": ["sensor", "group"], "attributes": ["*"]},
        *({"name": name, "attributes": ["*"]} for name in NAMES),
        *({"area": area} for area in AREAS),
        *({"name": name, "area": area} for name in NAMES for area in AREAS),
    ],
    "extended_assist__get_history": lambda: (
        [{"entities": [name], **span} for name in NAMES for span in SPANS]
        + [{"entities": ["sensor.visible", "sensor.zebra"]}]
        + [{"area": area, "rows": 20} for area in AREAS]
        + [{"entities": ["group.everything"], "attribute": name} for name in ("entity_id", "note", "sensor.zebra", "x")]
        + [{"entities": ["sensor.visible"], "state": state} for state in ("7", "31415.926", "narwhal")]
    ),
    "extended_assist__get_logbook": lambda: (
        [{}, {"hours": 100}, {"rows": 1}]
        + [{"entities": [name], **span} for name in NAMES for span in SPANS]
        + [{"area": area} for area in AREAS]
    ),
    "extended_assist__get_user_name": lambda: [{}],
    "extended_assist__get_statistics": lambda: (
        [{"statistics": [name], **span} for name in [*NAMES, "axolotl:narwhal", "Quokka utility"] for span in SPANS]
        + [
            {"statistics": ["sensor.visible"], "start": "2020-01-01", "compare_start": "2019-01-01"},
            {"statistics": ["sensor.visible", "sensor.zebra"]},
            {"statistics": ["sensor.visible"], "unit": "axolotl"},
            {"statistics": ["sensor.visible"], "types": ["mean"]},
        ]
    ),
    "extended_assist__get_energy": lambda: [
        {},
        {"start": _today(-1), "end": _today()},
        {"start": "2020-01-01"},
        {"start": "2020-01-01", "end": "2020-02-01"},
        {"start": _today(-1), "compare_start": _today(-1)},
    ],
    "extended_assist__render_template": lambda: (
        [{"template": template} for template in REACH]
        + [
            {"template": template, "variables": {"x": name}}
            for name in [*NAMES, *AREAS]
            for template in (
                "{{ states | list }} {{ states(x) }}",
                "{{ area_entities(x) }} {{ area_name(x) }} {{ areas() }}",
                "{{ expand('group.everything') }} {{ state_attr(x, 'entity_id') }}",
                "{{ states[x] }}",
                "{{ unknown_function(x) }}",
            )
        ]
    ),
}
CASES["extended_assist__query_database"] = lambda: [
    {"query": query}
    for query in (
        "SELECT * FROM states JOIN states_meta USING (metadata_id)",
        "SELECT * FROM states_meta UNION SELECT state_id, state FROM states",
        "SELECT * FROM state_attributes",
        "SELECT * FROM statistics_meta",
        "SELECT * FROM states_meta WHERE entity_id = 'sensor.visible' OR 1 = 1",
        "SELECT state, entity_id FROM states, states_meta",
        "SELECT * FROM events",
        "SELECT * FROM main.states_meta",
        "SELECT count(*) FROM states WHERE state = 'visible'",
    )
]
UPDATE = "homeassistant.update_entity"
CASES["extended_assist__perform_action"] = lambda: [
    {"action": UPDATE, "target": {"entity_id": "sensor.visible"}},
    *({"action": UPDATE, "target": {"entity_id": [name, "sensor.visible"]}} for name in NAMES),
    *(
        {"action": UPDATE, "target": {key: area}}
        for area in AREAS
        for key in ("area_id", "floor_id", "label_id", "device_id")
    ),
    *(
        {"action": action}
        for action in ("script.zebra", "sensor.zebra", "light.zebra", "homeassistant.zebra", "zebra", "")
    ),
    {"action": UPDATE, "target": {"entity_id": "all"}},
    {"action": "homeassistant.turn_on", "target": {"entity_id": "group.everything"}},
    {"action": "scene.apply", "data": {"entities": {"group.everything": "on"}}},
    {"action": "scene.apply", "data": {"entities": {"sensor.zebra": "on"}}},
    {"action": UPDATE, "data": {"entity_id": "sensor.visible", "zebra": ["sensor.zebra"]}},
]
_MINUTE = {"trigger": "time_pattern", "minutes": "*"}
CASES["extended_assist__execute_script"] = lambda: [
    *({"script": name, "variables": {"x": "sensor.zebra"}} for name in (*NAMES, "script.zebra")),
    *(
        {"sequence": [step, {"action": UPDATE, "target": {"entity_id": "sensor.visible"}}]}
        for name in NAMES
        for step in (
            {"action": UPDATE, "target": {"entity_id": name}},
            {"condition": "state", "entity_id": name, "state": "7"},
            {"wait_for_trigger": {"trigger": "state", "entity_id": name}, "timeout": {"milliseconds": 1}},
        )
    ),
    *(
        {"sequence": [{"variables": {"x": template}}, {"set_conversation_response": "{{ x }}"}]}
        for template in (
            *REACH,
            "{{ states('sensor.visible') }} visible",
            "{{ states.group.everything.attributes | string | replace('.', ' ') }}",
            "{{ state_attr('group.everything', 'entity_id') | join | upper | lower }}",
        )
    ),
    {
        "sequence": [
            {"wait_for_trigger": {"trigger": "state", "entity_id": "group.everything"}, "timeout": {"milliseconds": 1}},
            {"set_conversation_response": "{{ wait }}"},
        ]
    },
]
CASES["extended_assist__do_later"] = lambda: [
    {"when": {"after": 60}, "action": {"action": UPDATE, "target": {"entity_id": "group.everything"}}},
    {"when": {"after": 60}, "action": {"action": UPDATE, "target": {"entity_id": "sensor.visible"}}},
    *({"when": {"after": 60}, "action": {"action": UPDATE, "target": {"entity_id": name}}} for name in NAMES),
    *({"when": {"after": 60}, "action": {"action": UPDATE, "target": {"area_id": area}}} for area in AREAS),
    *({"when": {"after": 60}, "action": [{"condition": "state", "entity_id": name, "state": "7"}]} for name in NAMES),
    *({"when": {"triggers": [{"trigger": "state", "entity_id": name}]}, "say": "x"} for name in NAMES),
    *({"when": {"at": name, "repeat": name}, "say": "x"} for name in NAMES),
    *({"when": {"after": 60}, "say": "x", "for": name} for name in (*NAMES, *AREAS)),
    *(
        {"when": {"after": 60}, "say": "x", "while": [{"condition": "state", "entity_id": name, "state": "7"}]}
        for name in NAMES
    ),
    *({"when": {"after": 60}, "say": "x", "while": [template]} for template in REACH),
]
CASES["extended_assist__watch"] = lambda: [
    {"see": "somebody is there", "cameras": cameras, "for": hearer}
    for cameras in (
        ["image.visible"],
        ["image.zebra"],
        ["image.visible", "image.zebra"],
        ["Quokka picture"],
        ["visible"],
    )
    for hearer in ("here", "everyone", "Quokka")
]
CASES["extended_assist__rehearse_automation"] = lambda: [
    {},
    *({"automation": name} for name in NAMES),
    *({"config": {"triggers": [{"trigger": "state", "entity_id": name}], "actions": []}} for name in NAMES),
    *(
        {"config": {"triggers": [_MINUTE], "actions": [{"action": UPDATE, "target": {"entity_id": name}}]}}
        for name in NAMES
    ),
    *({"config": {"triggers": [_MINUTE], "conditions": [template], "actions": []}} for template in REACH),
    *(
        {"config": {"triggers": [_MINUTE], "variables": {"x": template}, "conditions": ["{{ x }}"], "actions": []}}
        for template in REACH
    ),
]
CASES["extended_assist__pending"] = lambda: [
    {},
    *({"about": name} for name in NAMES),
    *({"done": task} for task in ("hidden", "zebra")),
    {"snooze": {"id": "hidden", "seconds": 60}},
    {"snooze": {"id": "both", "seconds": 60}},
    {"cancel": "hidden"},
    {"cancel": "both"},
    {},
]
CASES["extended_assist__remember"] = lambda: [
    {"fact": "It is loud.", "whose": "household", "about": ["sensor.visible"]},
    *({"fact": f"It is {name}.", "whose": "household", "about": [name], "replaces": []} for name in NAMES),
    *({"fact": f"It is about {name}.", "whose": "household"} for name in NAMES),
    *({"forget": [one]} for one in ("hidden", "zebra")),
]
CASES["extended_assist__recall"] = lambda: [
    {},
    {"about": "sensor.visible"},
    *({"words": name} for name in NAMES),
    *({"about": name} for name in (*NAMES, *AREAS)),
]
CASES["extended_assist__undo_last_change"] = lambda: [{}] * 6
CASES["extended_assist__get_automations"] = lambda: [
    {},
    *({"name": name} for name in NAMES),
    *({"name": name, "details": True} for name in (*NAMES, "visible", "mixed", "automation.zebra", "hidden")),
    *({"entity": name} for name in NAMES),
    *({"area": area} for area in AREAS),
    *({"kind": kind, **more} for kind in ("script", "scene") for more in ({}, {"entity": "sensor.zebra"})),
    *({"name": f"{kind}.{name}", "details": True} for kind in ("script", "scene") for name in ("mixed", "zebra")),
]
STEP = {"action": UPDATE, "target": {"entity_id": "sensor.visible"}}
CASES["extended_assist__add_automation"] = lambda: [
    {"automation": {"alias": "A visible one", "triggers": [], "actions": [STEP]}},
    {"automation": {"alias": "Of a place", "triggers": [], "actions": [STEP | {"target": {"area_id": "Kitchen"}}]}},
    *({"automation": {"alias": "A", **config}} for config in _configs()),
    *(
        {"script": {"alias": "A", "sequence": config["actions"], **more}}
        for config in _configs()
        if "actions" in config
        for more in ({}, {"fields": {"x": {"default": "sensor.zebra"}}}, {"variables": {"x": "{{ states(x) }}"}})
    ),
    *({"scene": {"name": "A", "entities": [name]}} for name in (*NAMES, "group.everything", "sensor.visible")),
]
CASES["extended_assist__update_automation"] = lambda: [
    *({"automation": name, "changes": {"alias": "B"}} for name in (*NAMES, "hidden", "mixed", "automation.zebra")),
    *({"automation": "mixed", "changes": config} for config in _configs()),
    {"automation": "mixed", "changes": {"triggers": [], "actions": [STEP]}},
    {"automation": "visible", "changes": {"description": "more"}},
    {"automation": "script.mixed", "changes": {"sequence": [STEP]}},
    {"automation": "script.mixed", "changes": {"alias": "B"}},
    {"automation": "scene.mixed", "changes": {"name": "B"}},
    {"automation": "scene.mixed", "changes": {"entities": ["sensor.visible"]}},
]
CASES["extended_assist__remove_automation"] = lambda: [
    {"automation": name}
    for name in (*NAMES, "hidden", "automation.zebra", "script.mixed", "scene.mixed", "automation.mixed", "visible")
]
AUTOMATIONS = """
- id: seen
  alias: Visible
  triggers: []
  actions: [{action: homeassistant.update_entity, target: {entity_id: sensor.visible}}]
- id: both
  alias: Mixed
  description: Turns the Quokka meter
  variables: {x: "{{ states('sensor.zebra') }}"}
  triggers: [{trigger: state, entity_id: sensor.zebra, to: narwhal}]
  conditions: "{{ is_state('sensor.zebra', '31415.926') }}"
  actions: [{action: homeassistant.update_entity, target: {entity_id: sensor.zebra, area_id: axolotl_room}}]
- id: hidden
  alias: Zebra
  triggers: []
  actions: []
"""
SCRIPTS = """
mixed:
  alias: Mixed script
  fields: {x: {default: sensor.zebra, description: the Quokka meter}}
  sequence: [{action: homeassistant.update_entity, target: {entity_id: [sensor.visible, sensor.zebra]}}]
zebra:
  sequence: [{condition: state, entity_id: sensor.zebra, state: narwhal}]
"""
SCENES = """
- id: both
  name: Mixed scene
  entities: {sensor.visible: visible, sensor.zebra: {state: narwhal, axolotl: 31415.926}}
- id: hidden
  name: Zebra
  entities: {sensor.zebra: narwhal}
"""
SITE = Site()
"""Serves a page, for the tools that read the web: they know nothing of the home."""
CASES["extended_assist__fetch_url"] = lambda: [
    {"url": SITE.url("/", "127.0.0.1")},
    *({"url": SITE.url(f"/{name}", "127.0.0.1"), "path": name} for name in ("zebra", "narwhal")),
    *({"url": name, "cursor": name} for name in NAMES),
]
CASES["extended_assist__scrape_url"] = lambda: [
    {"url": SITE.url("/", "127.0.0.1"), "select": {"selector": selector}} for selector in ("p", ".zebra", "#quokka")
]
PREFERENCES: dict[str, Any] = {
    "energy_sources": [
        {"type": "solar", "stat_energy_from": "sensor.visible"},
        {"type": "solar", "stat_energy_from": "sensor.zebra", "name": "Narwhal roof"},
        {
            "type": "grid",
            "stat_energy_from": "sensor.zebra",
            "stat_energy_to": "sensor.visible",
            "stat_cost": "axolotl:narwhal",
            "entity_energy_price_export": "sensor.zebra",
            "name": "Narwhal grid",
        },
        {"type": "gas", "stat_energy_from": "axolotl:narwhal", "stat_cost": None, "number_energy_price": 31415.926},
    ],
    "device_consumption": [
        {"stat_consumption": "sensor.zebra", "name": "Narwhal device", "included_in_stat": "sensor.visible"},
        {"stat_consumption": "sensor.visible", "included_in_stat": "sensor.zebra"},
    ],
    "device_consumption_water": [{"stat_consumption": "axolotl:narwhal"}],
}


def _configs() -> list[dict[str, Any]]:
    """Return parts of automations that name hidden things."""
    return [
        *({"triggers": [{"trigger": "state", "entity_id": name}], "actions": []} for name in NAMES),
        *({"triggers": [], "actions": [{"action": UPDATE, "target": {"area_id": area}}]} for area in AREAS),
        {"triggers": [], "actions": [STEP], "conditions": ["{{ states('sensor.zebra') == 'narwhal' }}"]},
        {"triggers": [], "actions": [STEP], "variables": {"x": "{{ area_entities('axolotl_room') }}"}},
        {"triggers": [], "actions": [{"action": "script.zebra"}]},
        {"use_blueprint": {"path": "zebra.yaml", "input": {}}},
    ]


def _of_schema(tool: ExtendedTool) -> list[dict[str, Any]]:
    """Return calls in which each argument is in turn everything that it can be; the others are left out where they may be."""
    (formatted,) = to_tools(llm.APIInstance(None, "", None, [tool]))
    schema = formatted["input_schema"]
    values = {name: _values(argument) for name, argument in schema["properties"].items()}
    needed = {name: values[name][-1] for name in schema.get("required", ())}
    return [{**needed, name: value} for name, each in values.items() for value in each] or [{}]


def _values(schema: dict[str, Any]) -> list[Any]:
    """Return what an argument can be: the texts of this home, in whatever it takes texts in."""
    if "enum" in schema:
        return list(schema["enum"])
    texts = [*AREAS, *NAMES, *DOMAINS]
    match schema.get("type"):
        case "array":
            return [[value] for value in _values(schema.get("items", {}))]
        case "object":
            return [{key: text} for key in ("entity_id", "area_id", "zebra") for text in texts]
        case "boolean":
            return [False, True]
        case "integer" | "number":
            return [-1, 100_000, 1]
        case _:
            return texts


def _today(days: int = 0) -> str:
    """Return the date some days from today."""
    return (dt_util.now().date() + timedelta(days=days)).isoformat()


class Picture(ImageEntity):
    """Something to look at."""

    _attr_content_type = "image/jpeg"

    def __init__(self, hass: HomeAssistant, object_id: str) -> None:
        """Take the name."""
        super().__init__(hass)
        self.entity_id = f"image.{object_id}"
        self._attr_name = "Visible picture" if object_id == "visible" else "Quokka picture"
        self._attr_unique_id = object_id
        self._attr_image_last_updated = dt_util.utcnow()

    @override
    async def async_image(self) -> bytes | None:
        """Return the picture."""
        return drawn()


@pytest.fixture
async def home(
    recorder_mock: Recorder,
    hass: HomeAssistant,
    entry: MockConfigEntry,
    hass_storage: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One visible sensor and group beside hidden things, all of it recorded."""
    # Nothing here tells that it was updated, and there is nothing to wait for.
    monkeypatch.setattr(change_recorder, "SETTLE_TIME", 0.02)
    hidden_area = ar.async_get(hass).async_create("Axolotl Room")
    kitchen = ar.async_get(hass).async_create("Kitchen")
    registry = er.async_get(hass)
    for object_id, name, area in (("zebra", "Quokka meter", hidden_area), ("visible", "Visible", kitchen)):
        sensor = registry.async_get_or_create(
            "sensor", "test", object_id, suggested_object_id=object_id, original_name=name
        )
        registry.async_update_entity(sensor.entity_id, area_id=area.id)
    for value in ("1", "31415.926", "narwhal"):
        hass.states.async_set(
            "sensor.zebra", value, {"friendly_name": "Quokka meter", "narwhal": 1, "unit_of_measurement": "axolotl"}
        )
        hass.states.async_set("sensor.visible", str(len(value)), {"friendly_name": "Visible"})
    hass.states.async_set(
        "group.everything",
        "on",
        {
            "friendly_name": "Everything",
            "entity_id": ["sensor.visible", "sensor.zebra"],
            "note": "see sensor.zebra",
            "sensor.zebra": 1,
        },
    )
    hass_storage["energy"] = {"version": 1, "minor_version": 3, "key": "energy", "data": PREFERENCES}
    assert await async_setup_component(hass, "energy", {})
    now = dt_util.utcnow().replace(minute=0, second=0, microsecond=0)
    for statistic_id, amount in (("sensor.visible", 0.5), ("sensor.zebra", 31415.926), ("axolotl:narwhal", 31415.926)):
        rows = meter(steps(now - timedelta(days=3), now), lambda _, amount=amount: amount)
        name = "Visible" if statistic_id == "sensor.visible" else "Quokka utility"
        await record(hass, statistic_id, rows, name=name, unit_of_measurement="kWh", unit_class="energy")
    assert await async_setup_component(hass, "image", {})
    await hass.data[DATA_COMPONENT].async_add_entities([Picture(hass, "visible"), Picture(hass, "zebra")])
    registry.async_update_entity("image.zebra", area_id=hidden_area.id)
    await _act(hass, entry)
    await _automate(hass, tmp_path)
    expose(hass, "sensor.visible", "group.everything", "automation.visible", "automation.mixed", "image.visible")
    await async_wait_recording_done(hass)


async def _automate(hass: HomeAssistant, folder: Path) -> None:
    """Set up automations of which some are hidden, and one that is not names hidden things."""
    hass.config.config_dir = str(folder)
    includes = []
    for domain, text in (("automation", AUTOMATIONS), ("script", SCRIPTS), ("scene", SCENES)):
        includes.append(f"{domain}: !include {domain}s.yaml\n")
        (folder / f"{domain}s.yaml").write_text(text)
        assert await async_setup_component(hass, domain, {domain: parse_yaml(text)})
    (folder / "configuration.yaml").write_text("".join(includes))
    await hass.async_block_till_done()
    expose(hass, "script.mixed", "scene.mixed_scene")
    er.async_get(hass).async_update_entity("scene.mixed_scene", new_entity_id="scene.mixed")
    await hass.async_block_till_done()


@pytest.fixture
async def web_site(socket_enabled: None, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[None]:
    """Let the web tools reach the site."""
    async with SITE:
        SITE.pages["/"] = http("<p>visible</p>")
        monkeypatch.setattr(guard, "TEST_SERVERS", frozenset({("127.0.0.1", SITE.port)}))
        yield


async def _act(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """Leave scheduled and journalled what concerns hidden things, as when they were exposed at that time."""
    later = dt_util.utcnow().timestamp() + 3600
    tasks = await async_get_scheduled_tasks(hass)
    owner = Owner(entry.entry_id, "test", "conversation", "en", None, None)
    act = {"action": UPDATE, "entity_ids": ["sensor.visible", "sensor.zebra"], "data": {"note": "see sensor.zebra"}}
    both = ScheduledTask(
        "Both",
        owner,
        When(
            moment=later,
            triggers=[{"trigger": "state", "entity_id": ["sensor.zebra", "sensor.visible"], "to": "narwhal"}],
        ),
        What([act | {"targeted": True}], say="see sensor.zebra"),
        Audience(Hearer.AREA, "axolotl_room"),
        conditions=[{"condition": "state", "entity_id": "sensor.zebra", "state": "31415.926"}],
        id="both",
    )
    both.progress.result = "done: sensor.zebra: 1 → 31415.926"
    await tasks.async_add(both)
    hidden = replace(both, id="hidden", what=What([act | {"entity_ids": ["sensor.zebra"], "targeted": True}]))
    await tasks.async_add(replace(hidden, progress=Progress()))
    await tasks.async_add(replace(both, id="over", progress=Progress()))
    await tasks.async_end("over", "done: sensor.zebra: 1 → 31415.926")
    facts = (
        Fact("The visible one is loud.", entities=["sensor.visible"], id="seen"),
        Fact("It is an axolotl.", entities=["sensor.zebra"], id="hidden"),
        Fact("It is a narwhal.", entities=["sensor.visible", "sensor.zebra"]),
        Fact("See sensor.zebra, the poorly one."),
        Fact("The quokka is there.", areas=["axolotl_room"]),
    )
    await (await async_get_memory(hass)).async_add(facts)
    journal = await async_get_journal(hass)
    kept = {"state": "narwhal", "attributes": {"friendly_name": "Quokka meter"}}
    for states in ({"sensor.zebra": kept}, {"sensor.zebra": kept, "sensor.visible": {"state": "1", "attributes": {}}}):
        journal.add(Change("states", UPDATE, {"states": states}, assistant="conversation"))
    journal.add(Change(WISH, "planning", {"id": "both"}, assistant="conversation"))
    journal.add(Change(WISH_CHANGED, "cancel", both.stored(), assistant="conversation"))


async def _live(hass: HomeAssistant, llm_context: llm.LLMContext) -> list[str]:
    """Leave habits behind, with what is hidden or after it too; return the ids of all, as if nothing had been hidden."""
    today, now = dt_util.start_of_local_day(), dt_util.utcnow().timestamp()
    chance, begin = Random("habits"), (today - timedelta(days=40)).timestamp()
    names = {"switch.visible": "Visible", "switch.zebra": "Quokka switch", "binary_sensor.zebra": "Narwhal door"}
    rows = [Written(begin, entity_id, "off", ulid(chance, begin)) for entity_id in names]
    for day in range(1, 40):
        date = today - timedelta(days=40 - day)
        morning, noon = ((date + timedelta(hours=hour)).timestamp() + chance.uniform(0, 300) for hour in (7, 13))
        for entity_id, moment, long in (
            ("switch.visible", morning, 9_000),
            ("switch.zebra", morning + 7_200, 9_000),
            ("binary_sensor.zebra", noon + chance.uniform(0, 20_000), 10),
        ):
            used = [(moment, "on"), (moment + chance.uniform(5, long), "off")]
            if entity_id == "binary_sensor.zebra":
                rows += [Written(moment + 60, "switch.visible", "on", ulid(chance, moment + 60))]
                rows += [Written(moment + 160, "switch.visible", "off", ulid(chance, moment + 160))]
            rows += [Written(when, entity_id, state, ulid(chance, when)) for when, state in used]
    home = Home("UTC", 0, 0, begin, now, rows=sorted(rows, key=lambda row: row.moment), runs=[(begin - 1, now)])
    await async_write(hass, home)
    for entity_id, name in names.items():
        hass.states.async_set(entity_id, "off", {"friendly_name": name})
        assert await async_setup_component(hass, entity_id.partition(".")[0], {})
        async_expose_entity(hass, "conversation", entity_id, True)
    options = ToolboxOptions(budget=40_000)
    found = await FindHabitsTool(options).async_call(hass, llm.ToolInput("find", {}), llm_context)
    assert {"switch.zebra", "binary_sensor.zebra"} <= {text for text, _ in texts_in(found.data)}
    for entity_id in names:
        async_expose_entity(hass, "conversation", entity_id, entity_id == "switch.visible")
    return [habit["id"] for habit in found.data["habits"]]


def traces(text: str, said: dict[str, Any]) -> list[str]:
    """Return the secrets in a text that the caller did not say itself."""
    words = json.dumps(said).lower()
    return [secret for secret in SECRETS if secret in text.lower() and secret not in words]


LIVED_IN = (FindHabitsTool, DeclineHabitTool)
"""Tools that find what a home of longer standing leaves behind."""
READING = [tool for tool in CATALOGUE if tool.tier is Tier.READ and tool not in LIVED_IN]


@pytest.mark.usefixtures("home", "web_site")
@in_one_home("tool_class", READING, ids=[tool.name for tool in READING])
async def test_no_trace_in_what_is_read(
    hass: HomeAssistant, entry: MockConfigEntry, llm_context: llm.LLMContext, tool_class: type[ExtendedTool]
) -> None:
    """Whatever a tool is asked, its answer names nothing hidden, and the same visible things are found."""
    tool = _permitted(tool_class, entry)
    await _check_no_trace(hass, tool, llm_context, [*CASES.get(tool.name, list)(), *_of_schema(tool)])


@pytest.mark.usefixtures("home", "web_site")
@pytest.mark.parametrize("tool_class", [tool for tool in CATALOGUE if tool not in READING], ids=lambda tool: tool.name)
async def test_no_trace_in_results_and_errors(
    hass: HomeAssistant, entry: MockConfigEntry, llm_context: llm.LLMContext, tool_class: type[ExtendedTool]
) -> None:
    """Whatever a tool does, its answer names nothing hidden, and the same visible things are found."""
    tool = _permitted(tool_class, entry)
    cases = [*CASES.get(tool.name, list)(), *_of_schema(tool)]
    if tool_class in LIVED_IN:
        ids = await _live(hass, llm_context)
        cases += [{"habit": one} for one in ids] if tool_class is DeclineHabitTool else [{"entity": "visible"}, {}]
    await _check_no_trace(hass, tool, llm_context, cases)


def _permitted(tool_class: type[ExtendedTool], entry: MockConfigEntry) -> ExtendedTool:
    """Return a tool that everybody may use without being asked."""
    everyone = Policy(who_may=dict.fromkeys(Tier, Speaker.ANYONE), ask_first=frozenset(), allow_without_chat=True)
    told: dict[str, Any] = {"memory_elsewhere": True, "memory_guests": 100}
    told |= {"open_cameras": frozenset({"image.visible", "image.zebra"})}
    made = getattr(tool_class, "seeing", None) or tool_class
    return made(ToolboxOptions(budget=40_000, policy=everyone, entry_id=entry.entry_id, is_fixed=True, **told))


async def _check_no_trace(
    hass: HomeAssistant, tool: ExtendedTool, llm_context: llm.LLMContext, cases: list[dict[str, Any]]
) -> None:
    """Call a tool with all of these arguments."""
    visible = False
    for arguments in cases:
        result = await tool.async_call(hass, llm.ToolInput(tool.name, arguments), llm_context)
        text = json_dumps(result.data) + "".join(one.label for one in getattr(result, "pictures", ()))
        assert traces(text, arguments) == [], (arguments, text)
        visible |= not result.error and "visible" in text.lower()
    assert visible or not tool.parameters.schema, "The cases never reached the visible entity, so they prove nothing"


async def test_hidden_and_unknown_look_the_same(hass: HomeAssistant, home: None, llm_context: llm.LLMContext) -> None:
    """The error for a hidden entity differs from that for an unknown one in nothing but the name."""
    for tool_class in CATALOGUE:
        tool = tool_class()
        parameter = next((str(key) for key in tool.parameters.schema if key in ("entities", "statistics")), None)
        if parameter is None:
            continue
        hidden, unknown = [
            (await tool.async_call(hass, llm.ToolInput(tool.name, {parameter: [name]}), llm_context)).data["error"]
            for name in ("sensor.zebra", "sensor.zebxx")
        ]
        assert hidden.replace("sensor.zebra", "sensor.zebxx") == unknown


async def test_no_trace_in_prompt_and_schemas(
    hass: HomeAssistant, home: None, entry: MockConfigEntry, llm_context: llm.LLMContext
) -> None:
    """With every family on, neither the prompt nor what is said about the tools names anything hidden."""
    hass.config_entries.async_update_entry(entry, options={"families": list(FAMILIES), "memory_elsewhere": True})
    await hass.async_block_till_done()
    instance = await llm.async_get_api(hass, api_id(entry.entry_id), llm_context)
    assert {tool.name for tool in instance.tools} >= {tool.name for tool in CATALOGUE}
    text = instance.api_prompt + "".join(
        f"{tool.name}{tool.description}{tool.parameters.schema}" for tool in instance.tools
    )
    assert "Visible" in text
    assert traces(text, {}) == []


FUNCTIONS: dict[str, Callable[[], list[dict[str, Any]]]] = {
    "type: native\nname: get_history": lambda: [
        {"entity_ids": [name], "no_attributes": attributes} for name in NAMES for attributes in (True, False)
    ],
    "type: native\nname: get_statistics": lambda: [
        {"statistic_ids": [name], "start_time": "2020-01-01", "end_time": _today(1)}
        for name in [*NAMES, "axolotl:narwhal"]
    ],
    "type: native\nname: get_energy": lambda: [{}],
    "type: native\nname: execute_service_single": lambda: [
        {"domain": "homeassistant", "service": "update_entity", "service_data": data}
        for data in (
            *({"entity_id": name} for name in NAMES),
            *({key: area} for area in AREAS for key in ("area_id", "floor_id", "label_id", "device_id")),
        )
    ],
    "type: sqlite": CASES["extended_assist__query_database"],
    "type: sqlite\nquery: \"SELECT '{{ name }}' AS visible, count(*) FROM states_meta WHERE entity_id = '{{ name }}'\"": (
        lambda: [{"name": name} for name in NAMES]
    ),
    'type: template\nvalue_template: "{{ exposed_entities }} {{ is_exposed(name) }} {{ states(name) }}"': lambda: [
        {"name": name} for name in NAMES
    ],
}


@in_one_home("settings", FUNCTIONS)
async def test_no_trace_through_functions(
    hass: HomeAssistant, home: None, llm_context: llm.LLMContext, settings: str
) -> None:
    """What users write reaches no further through a model's arguments, where it names nothing hidden itself."""
    body = "".join(f"  {line}\n" for line in settings.splitlines())
    definition = read_definition(
        f"spec:\n  name: probe\n  parameters: {{additionalProperties: true}}\nfunction:\n{body}"
    )
    tool = UserFunctionTool(definition, ToolboxOptions(budget=40_000))
    visible = False
    for arguments in FUNCTIONS[settings]():
        result = await tool.async_call(hass, llm.ToolInput(tool.name, arguments), llm_context)
        text = json_dumps(result.data)
        assert traces(text, arguments) == [], (arguments, text)
        visible |= not result.error and "visible" in text.lower()
    assert visible, "The cases never reached the visible entity, so they prove nothing"
