"""Tests of what people ask for: written, loaded by Home Assistant and told whole, or refused with the reason."""

from collections.abc import Mapping
import dataclasses
from pathlib import Path
from typing import Any

import pytest

from custom_components.extended_assist.tools.automation_changes import AddAutomationTool
from homeassistant.core import HomeAssistant
from tests.automating import FREE, File, StartHome, start_home
from tests.automations.wishes import (
    HOME,
    LISTED_ACTIONS,
    LISTED_TRIGGERS,
    WISHES,
    Wish,
    phone_id,
    remote_id,
    set_up_home,
)
from tests.conftest import CallTool

__all__ = ["start_home"]

pytestmark = pytest.mark.parametrize("expected_lingering_timers", [True])


def test_enough() -> None:
    """There are sixty wishes, of which six at most are refused."""
    assert len(WISHES) == len({wish.name for wish in WISHES}) == 60
    assert sum(wish.refused is not None for wish in WISHES) <= 6


OPTIONS = dataclasses.replace(FREE, targetless_actions=LISTED_ACTIONS, listed_triggers=LISTED_TRIGGERS)
ADD = AddAutomationTool(OPTIONS)
BLUEPRINT = """\
blueprint:
  name: Follow
  domain: automation
  input: {leader: {selector: {entity: {}}}, follower: {selector: {entity: {}}}}
triggers: [{trigger: state, entity_id: !input leader, to: ["on", "off"]}]
actions: [{action: light.toggle, target: {entity_id: !input follower}}]
"""


def older(part: Any) -> Any:
    """Return an automation as it was written before the words were exchanged."""
    if isinstance(part, list):
        return [older(item) for item in part]
    if not isinstance(part, Mapping):
        return part
    names = {"triggers": "trigger", "conditions": "condition", "actions": "action"} if "alias" in part else {}
    if "trigger" in part and part.get("condition") != "trigger":
        names = {"trigger": "platform"}
    elif "action" in part and "title" not in part:
        names = {"action": "service"}
    changed = {names.get(key, key): value if key == "event_data" else older(value) for key, value in part.items()}
    if "service" in changed and isinstance(target := changed.get("target"), Mapping) and "{" not in str(target):
        del changed["target"]
        changed |= (
            {"entity_id": target["entity_id"]} if "entity_id" in target else {"data": changed.get("data", {}) | target}
        )
    return changed


def filled(hass: HomeAssistant, part: Any) -> Any:
    """Return a configuration with the ids of the devices that it means."""
    if isinstance(part, Mapping):
        return {key: filled(hass, value) for key, value in part.items()}
    if isinstance(part, list):
        return [filled(hass, item) for item in part]
    return {"PHONE": phone_id, "REMOTE": remote_id}[part](hass) if part in ("PHONE", "REMOTE") else part


@pytest.fixture
async def path(hass: HomeAssistant, start_home: StartHome, tmp_path: Path) -> Path:
    """Start the home, with a blueprint of the user."""
    path = await start_home(configuration=HOME)
    folder = tmp_path / "blueprints" / "automation" / "mine"
    folder.mkdir(parents=True)
    (folder / "follow.yaml").write_text(BLUEPRINT)
    await set_up_home(hass)
    return path


@pytest.mark.parametrize("syntax", [lambda config: config, older], ids=["present", "older"])
@pytest.mark.parametrize("wish", WISHES, ids=lambda wish: wish.name)
async def test_wish(hass: HomeAssistant, path: File, call_tool: CallTool, wish: Wish, syntax: Any) -> None:
    """It is written, loaded, and told whole; or it is refused with its place, and nothing is written."""
    before = path.read_text()
    answer = await call_tool(ADD, automation=syntax(filled(hass, wish.config)), error=wish.refused is not None)
    if wish.refused is not None:
        assert wish.refused in answer["error"]
        assert path.read_text() == before
        return
    assert hass.states.get(answer["added"]).state == "on"
    assert "zebra" not in path.read_text().lower()
    assert "not exposed" not in answer["what"], answer["what"]
