"""Tests of what asks when a script is run by hand."""

from typing import Any

import pytest

from custom_components.extended_assist.calls.plan import Step
from custom_components.extended_assist.confirmation.consequential import is_consequential
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
from tests.helpers.scripting import StartScripts, start_scripts

__all__ = ["start_scripts"]

UNLOCK = {"action": "lock.unlock", "target": {"entity_id": "lock.front_door"}}
SCRIPTS = """\
deep:
  alias: Deep
  sequence:
  - action: STEP
    STEPDATA
outer:
  alias: Outer
  sequence:
  - choose:
    - conditions: []
      sequence:
      - parallel:
        - sequence:
          - repeat: {count: 1, sequence: [{action: script.deep}]}
fielded:
  alias: Fielded
  fields: {what: {selector: {text: {}}}}
  sequence:
  - action: "{{ what }}"
    target: {entity_id: lock.front_door}
"""
STEPS = {
    "an unlock": ("lock.unlock", "target: {entity_id: lock.front_door}"),
    "in another case": ("Lock.Unlock", "target: {entity_id: lock.front_door}"),
    "with data": ("lock.unlock", "data: {entity_id: lock.front_door}"),
    "beside": ("lock.unlock", "entity_id: lock.front_door"),
    "turned off": ("homeassistant.turn_off", "target: {entity_id: lock.front_door}"),
    "a scene": ("scene.apply", "data: {entities: {lock.front_door: unlocked}}"),
    "a scene of states": ("scene.apply", "data: {entities: {lock.front_door: {state: unlocked}}}"),
    "a template as target": ("lock.unlock", "target: {entity_id: \"{{ 'lock.front_door' }}\"}"),
    "all": ("lock.unlock", "target: {entity_id: all}"),
    "a trigger": ("automation.trigger", "target: {entity_id: automation.x}"),
    "a door": ("cover.open_cover", "target: {entity_id: cover.garage_door}"),
    "a position": ("cover.set_cover_position", "{target: {entity_id: cover.garage_door}, data: {position: 5}}"),
}


@pytest.mark.parametrize("what", STEPS)
async def test_scripts_by_hand(hass: HomeAssistant, start_scripts: StartScripts, what: str) -> None:
    """A script is consequential when anything inside is, however deep and by whichever action it is run."""
    step, more = STEPS[what]
    if more.startswith("{"):
        more = "target: {entity_id: cover.garage_door}\n    data: {position: 5}"
    await start_scripts(scripts=SCRIPTS.replace("STEPDATA", more).replace("STEP", step))
    assert await async_setup_component(hass, "group", {})
    group = {"object_id": "all", "name": "All", "entities": ["script.outer"]}
    await hass.services.async_call("group", "set", group, blocking=True)
    await hass.async_block_till_done()
    asked: dict[str, Any] = {
        "turned on": Step("script.turn_on", ("script.outer",), {}),
        "toggled": Step("script.toggle", ("script.outer",), {}),
        "by its name": Step("script.outer", (), {}),
        "by any domain": Step("homeassistant.turn_on", ("script.outer",), {}),
        "by a group": Step("homeassistant.turn_on", ("group.all",), {}),
        "fielded": Step("script.fielded", (), {}),
    }
    assert [how for how, one in asked.items() if not is_consequential(hass, one)] == []
