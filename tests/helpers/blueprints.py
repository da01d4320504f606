"""Automations made of the blueprints, and a model that looks things up as they ask it to."""

from collections.abc import AsyncGenerator, Awaitable, Callable
import json
from pathlib import Path
import shutil
from typing import Any

from anthropic.types import ModelInfo
from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.common import async_fire_time_changed

from custom_components.extended_assist.flows.agent import default_agent, default_task
from homeassistant.components.trace.const import DATA_TRACE
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
from tests.claude_server import ClaudeServer, Fault, Turn, text, tool_use
from tests.conftest import AGENT, MODEL, async_set_up
from tests.helpers.recorded import local
from tests.tools.test_history import DOOR

from .telling import PHONE, PLAYER, SATELLITE, VOICE, Told

# The SDK builds a type when it is first used, and could not while a test holds the clock.
ModelInfo.model_rebuild(force=True)

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "blueprints" / "automation" / "extended_assist"
NAMES = ("morning_report", "unusual_today", "weekly_energy")

AUTOMATION = "automation.it"
TASK = "ai_task.claude_ai_task"
FAILED = "It did not work."
TELL: dict[str, Any] = {
    "notifiers": [PHONE],
    "satellites": [SATELLITE],
    "speakers": [PLAYER],
    "voice": VOICE,
    "title": "Title",
    "other_actions": [{"event": "told", "event_data": {"words": "{{ words }}"}}],
    "failure_message": FAILED,
}

type Json = Any


class Model:
    """Calls tools one after the other, says what it makes of their results, and judges what a task gives it."""

    def __init__(
        self,
        calls: list[tuple[str, dict[str, Json]]],
        say: Callable[..., str],
        judge: Callable[[str], Json] | None = None,
        delay: float = 0,
    ) -> None:
        self._calls = [(f"extended_assist__{name}", arguments) for name, arguments in calls]
        self._say = say
        self._judge = judge
        self._delay = delay
        self.asked: list[str] = []

    async def respond(self, request_body: dict[str, Json]) -> Turn:
        """Answer a request."""
        messages = request_body["messages"]
        blocks = [block for message in messages for block in message["content"] if isinstance(block, dict)]
        if "format" in request_body.get("output_config", {}):
            instructions = _words(messages[0])
            self.asked.append(instructions)
            if self._judge is None:
                return Turn(fault=Fault("http", status=400))
            return Turn([text(json.dumps(self._judge(instructions)))])
        offered = {tool["name"] for tool in request_body.get("tools") or ()}
        if not offered.issuperset(name for name, _ in self._calls):
            return Turn([text("I cannot say.")])
        results = [json.loads(block["content"]) for block in blocks if block["type"] == "tool_result"]
        if not results:
            self.asked.append(_words(messages[0]))
        if len(results) < len(self._calls):
            return Turn([text("Let me look."), tool_use(*self._calls[len(results)])], delay=self._delay)
        return Turn([text(self._say(*results))])


def _words(message: dict[str, Json]) -> str:
    """Return the text of a message."""
    content = message["content"]
    return content if isinstance(content, str) else "".join(block.get("text", "") for block in content)


type SetUp = Callable[..., Awaitable[None]]


@pytest.fixture
async def models(hass: HomeAssistant, assist: None, claude_server: ClaudeServer) -> None:
    """An agent and an AI task of ours, as a new entry has them."""
    await async_set_up(hass, claude_server, default_agent([], MODEL), default_task([], MODEL))


@pytest.fixture
async def set_up(hass: HomeAssistant, models: None, told: Told, tmp_path: Path) -> AsyncGenerator[SetUp]:
    """Return a function that makes an automation of a blueprint, with these inputs."""
    shutil.copytree(FOLDER, tmp_path / "blueprints" / "automation" / "extended_assist")

    async def make(name: str, **inputs: Any) -> None:
        used = {"path": f"extended_assist/{name}.yaml", "input": {"agent": AGENT} | TELL | inputs}
        config = {"id": "it", "alias": "It", "use_blueprint": used}
        assert await async_setup_component(hass, "automation", {"automation": [config]})
        await hass.async_block_till_done()
        assert hass.states.get(AUTOMATION).state == "on"

    yield make
    if hass.states.get(AUTOMATION):  # Its next time would be waited for.
        await hass.services.async_call("automation", "turn_off", {"entity_id": AUTOMATION}, blocking=True)


def trace(hass: HomeAssistant) -> dict[str, Any]:
    """Return the last trace."""
    return dict(list(hass.data[DATA_TRACE]["automation.it"].runs.values())[-1].as_extended_dict())


@pytest.fixture
def at(hass: HomeAssistant, freezer: FrozenDateTimeFactory) -> Callable[[str], Awaitable[None]]:
    """Return a function that lets it become a local time, and waits for what comes of it."""

    async def become(time: str) -> None:
        freezer.move_to(local(time))
        async_fire_time_changed(hass, local(time))
        await hass.async_block_till_done()

    return become


type At = Callable[[str], Awaitable[None]]
DOOR_TODAY = [("get_history", {"entities": "front door", "start": "2026-03-10", "state": "on", "min_seconds": 60})]


def door(result: dict[str, Any]) -> str:
    """Say what the history told of the door."""
    return f"The front door was open for {result['entities'][DOOR]['longest']}."


OPEN = "The front door was open for 0:15:00 from 2026-03-10 12:30."
