"""Tests of what can be changed in any automation: whatever is in it, what reaches nothing can be."""

import json
from random import Random
from typing import Any

import pytest

from custom_components.extended_assist.automations.yaml_positions import index_yaml
from custom_components.extended_assist.tools.actions import PerformActionTool
from custom_components.extended_assist.tools.automations import GetAutomationsTool
from homeassistant.components.automation.const import DOMAIN as AUTOMATION_DOMAIN
from homeassistant.core import HomeAssistant
from homeassistant.util.yaml import dump
from tests.automations.files import automation
from tests.automations.test_describe import varied
from tests.conftest import CallTool, expose
from tests.helpers.automating import FREE, MOTION, REMOVE, UPDATE, StartHome, start_home
from tests.helpers.seeds import seeds
from tests.tools.test_automations import rows

__all__ = ["start_home"]

BATCHES, SIZE = 10, 12
"""So many that each kind is written in each way that its number goes with; script/soak writes others."""
HIDDEN = "input_boolean.zebra"
GET, ACT = GetAutomationsTool(FREE), PerformActionTool(FREE)
NO_DEVICE: dict[str, Any] = {"device_id": "0123456789abcdef0123456789abcdef", "domain": "light", "type": "turned_on"}

MORE: dict[str, dict[str, Any]] = {
    "nothing": {},
    "hidden trigger": {"triggers": [{"trigger": "state", "entity_id": HIDDEN}]},
    "hidden condition": {"conditions": [{"condition": "state", "entity_id": HIDDEN, "state": "on"}]},
    "hidden step": {"actions": [{"action": "input_boolean.toggle", "target": {"entity_id": HIDDEN}}]},
    "hidden variable": {"variables": {"stripes": f"{{{{ states('{HIDDEN}') }}}}"}},
    "refused triggers": {
        "triggers": [{"trigger": "event", "event_type": "x"}, {"trigger": "webhook", "webhook_id": "x"}]
    },
    "refused steps": {"actions": [{"event": "x"}, {"action": "homeassistant.restart"}]},
    "template of all": {"conditions": ["{{ states | count > 3 }}"]},
    "device that is gone": {
        "triggers": [{"trigger": "device", **NO_DEVICE}],
        "actions": [NO_DEVICE | {"type": "turn_on"}],
    },
    "unknown trigger": {"triggers": [{"trigger": "gone"}]},
    "wrong step": {"actions": [{"nothing": "known"}]},
    "wrong mode": {"max": 1},
    "no triggers": {"triggers": "x"},
    "unknown blueprint": {"use_blueprint": {"path": "gone.yaml", "input": {"a": 1}}},
    "a code": {"actions": [{"action": "lock.unlock", "target": {"entity_id": "lock.door"}, "data": {"code": "4711"}}]},
}
"""What is put in the place of a part of an automation."""
TEXTS = {
    "as it is": lambda text: text,
    "older names": lambda text: (
        text.replace("  triggers:", "  trigger:")
        .replace("  actions:", "  action:")
        .replace("- trigger: ", "- platform: ")
        .replace("action: input", "service: input")
    ),
    "secret": lambda text: f"{text}  trigger_variables:\n    code: !secret code\n",
    "include": lambda text: f"{text}  trigger_variables: !include other.yaml\n",
    "comments": lambda text: text.replace("\n  ", "  # mine\n  ", 1) + "  # the end\n",
    "anchor": lambda text: f"{text}  trigger_variables: &{text.split()[2].strip(chr(39))}\n    a: 1\n",
}
"""How it is written."""
LOST = {
    "in braces with a comment": (
        "{{id: '{id}', alias: {id},  # mine\n  triggers: [], actions: []}}",
        "a comment in it",
    ),
    "in braces with a secret": (
        "{{id: '{id}', alias: {id}, triggers: [], actions: [], variables: {{a: !secret code}}}}",
        "the tag !secret in it",
    ),
    "anchors": ("{{id: '{id}', alias: {id}, triggers: [], actions: *steps}}", "parts of other automations (anchors)"),
}
"""What cannot be renamed, for a reason of the text, but removed."""


def written(number: int, random: Random) -> tuple[str, str]:
    """Return what an automation is like, and its lines."""
    config = varied(random) if number % 3 else automation(number)
    kind, way = list(MORE)[number % len(MORE)], list(TEXTS)[number % len(TEXTS)]
    config |= MORE[kind] | {"id": f"a{number}", "alias": f"a{number}"}
    if "use_blueprint" in config:
        config = {key: config[key] for key in ("id", "alias", "use_blueprint")}
    plain = json.dumps(config, ensure_ascii=False)
    if number % 8 == 5:
        return f"{kind} in braces", f"- {plain}\n"
    return f"{kind}, {way}", TEXTS[way](dump([{"id": f"a{number}"} | json.loads(plain)]))


@pytest.mark.parametrize("batch", seeds(BATCHES))
@pytest.mark.parametrize("expected_lingering_timers", [True])
async def test_always(hass: HomeAssistant, start_home: StartHome, call_tool: CallTool, batch: int) -> None:
    """Whatever is in it: it gets another name, description and mode, is turned off and on, and is removed."""
    random, numbers = Random(batch), range(batch * SIZE, (batch + 1) * SIZE)
    kinds = {f"a{number}": written(number, random) for number in numbers}
    text = "".join(lines for _, lines in kinds.values())
    path = await start_home(
        text.replace("\n", "\r\n") if batch % 4 == 3 else text, other="a: 1\n", secrets=f"code: {HIDDEN}\n"
    )
    hass.states.async_set("lock.door", "locked")
    expose(hass, "lock.door", *hass.states.async_entity_ids(AUTOMATION_DOMAIN))
    states = {entity.unique_id: entity for entity in hass.data[AUTOMATION_DOMAIN].entities}
    assert states.keys() == kinds.keys()
    told: dict[str, str] = {}
    while len(told) < len(kinds):
        listed = await call_tool(GET, offset=len(told))
        told |= {row["id"]: row["can_be_changed"] for row in rows(listed).values()}
        assert "note" not in listed
    assert {key: told[key] for key in told if not told[key].startswith("yes")} == {}
    for key, (kind, _) in kinds.items():
        entity_id, before = states[key].entity_id, hass.states.get(states[key].entity_id).state
        changes = {"alias": f"b{key}", "description": "Of mine", "mode": "restart", "initial_state": True}
        changed = await call_tool(UPDATE, automation=entity_id, changes=changes)
        item = index_yaml(path.read_text()).find(key)
        assert (kind, item.names["alias"]) == (kind, f"b{key}")
        after = hass.states.get(entity_id)
        assert after.attributes["friendly_name"] == f"b{key}", kind
        assert (after.state, "As before" in str(changed)) == (before, before == "unavailable"), kind
        assert "zebra" not in str(changed), kind
        if before != "unavailable":
            for service, state in (("turn_off", "off"), ("turn_on", "on")):
                await call_tool(ACT, action=f"automation.{service}", target={"entity_id": entity_id})
                assert hass.states.get(entity_id).state == state, kind
    for key, (kind, _) in kinds.items():
        removed = await call_tool(REMOVE, automation=states[key].entity_id)
        assert "zebra" not in str(removed), kind
    assert [item.id for item in index_yaml(path.read_text()).automations] == []


async def test_lost_otherwise(hass: HomeAssistant, start_home: StartHome, call_tool: CallTool) -> None:
    """What would be lost in the text is the only reason to refuse another name; the list says the same, and removing works."""
    first = "- id: first\n  alias: First\n  triggers: []\n  actions: &steps []\n"
    items = {f"x{number}": LOST[kind] for number, kind in enumerate(LOST)}
    path = await start_home(
        first + "".join(f"- {text.format(id=key)}\n" for key, (text, _) in items.items()), secrets="code: a\n"
    )
    expose(hass, *hass.states.async_entity_ids(AUTOMATION_DOMAIN))
    told = {row["id"]: row["can_be_changed"] for row in rows(await call_tool(GET)).values()}
    assert told["first"] == "yes, but for actions (an anchor)"
    before = path.read_bytes()
    for key, (_, reason) in items.items():
        assert told[key].startswith("no: ")
        assert reason in told[key]
        error = (await call_tool(UPDATE, automation=key, changes={"alias": "New"}, error=True))["error"]
        assert (
            error
            == f"This automation cannot be changed here: {told[key].removeprefix('no: ')}. Tell the user to change it there."
        )
    assert path.read_bytes() == before
    for key in items:
        await call_tool(REMOVE, automation=key)
    assert path.read_text() == first


async def test_what_the_list_says_of_parts(hass: HomeAssistant, start_home: StartHome, call_tool: CallTool) -> None:
    """A part that can only stay as it is is named in the list, and refused for the reason that stands there."""
    await start_home(
        f"- id: '1'\n  alias: A\n  triggers:\n  - trigger: state  # mine\n    entity_id: {MOTION}\n  actions: []\n"
        "- id: '2'\n  alias: B\n  triggers: []\n  actions: []\n"
        "- id: '3'\n  alias: C\n  triggers: []\n  actions: []\n- id: '3'\n  alias: C\n  triggers: []\n  actions: []\n"
    )
    expose(hass, *hass.states.async_entity_ids(AUTOMATION_DOMAIN))
    told = {row["id"]: row["can_be_changed"] for row in rows(await call_tool(GET)).values()}
    assert told == {
        "1": "yes, but for triggers (a comment)",
        "2": "yes",
        "3": "no: 2 automations in the file have its id, in the lines 11 and 15",
    }
    error = await call_tool(UPDATE, automation="1", changes={"triggers": []}, error=True)
    assert "The triggers of this automation hold a comment, which would be lost" in error["error"]
    await call_tool(UPDATE, automation="1", changes={"actions": [{"delay": 1}]})
    error = await call_tool(UPDATE, automation="3", changes={"alias": "D"}, error=True)
    assert "2 automations in the file have its id" in error["error"]
