"""Tests of the one way a tool is called."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockUser
import voluptuous as vol

from custom_components.extended_assist.calls.call import ToolCall
from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.calls.policy import Tier
from custom_components.extended_assist.llm_tools.extended_tool import READ_ONLY, ExtendedTool
from custom_components.extended_assist.results import ToolError, size
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import llm

pytestmark = pytest.mark.usefixtures("assist")


class ProbeTool(ExtendedTool):
    """A tool that does what a test wants."""

    name = "extended_assist__probe"
    title = "Probe"
    description = "Probes."
    annotations = READ_ONLY
    family = "probe"
    tier = Tier.READ
    deadline = 0.05
    parameters = vol.Schema({vol.Optional("number"): vol.All(int, vol.Range(min=1))})

    def __init__(self, run: Callable[[ToolCall], Awaitable[dict[str, Any]]], tier: Tier = Tier.READ) -> None:
        """Take what to do."""
        super().__init__(ToolboxOptions(budget=1000))
        self._run = run
        self.tier = tier

    async def async_run(self, call: ToolCall) -> Any:
        """Do it."""
        return await self._run(call)


async def answer(call: ToolCall) -> dict[str, Any]:
    """Answer with the arguments."""
    return dict(call.arguments)


async def call(hass: HomeAssistant, tool: ExtendedTool, context: llm.LLMContext, **arguments: Any) -> llm.ToolResult:
    """Call a tool as an agent does."""
    return await tool.async_call(hass, llm.ToolInput(tool.name, arguments), context)


async def test_answer(hass: HomeAssistant, llm_context: llm.LLMContext) -> None:
    """Arguments arrive validated."""
    assert await call(hass, ProbeTool(answer), llm_context, number=3) == llm.ToolResult(data={"number": 3})


@pytest.mark.parametrize("arguments", [{"number": 0}, {"number": "three"}, {"other": 1}])
async def test_wrong_arguments(hass: HomeAssistant, llm_context: llm.LLMContext, arguments: dict[str, Any]) -> None:
    """Wrong arguments are named, and the tool does not run."""
    result = await call(hass, ProbeTool(answer), llm_context, **arguments)
    assert result.error
    assert "wrong arguments" in result.data["error"]
    assert next(iter(arguments)) in result.data["error"]


async def test_expected_failure(hass: HomeAssistant, llm_context: llm.LLMContext) -> None:
    """An expected failure is told as it is."""

    async def fail(_: ToolCall) -> dict[str, Any]:
        raise ToolError("Choose another span.")

    result = await call(hass, ProbeTool(fail), llm_context)
    assert (result.data, result.error) == ({"error": "Choose another span."}, True)


async def test_unexpected_failure(
    hass: HomeAssistant, llm_context: llm.LLMContext, caplog: pytest.LogCaptureFixture
) -> None:
    """An unexpected failure is logged with its traceback, and told without details."""

    async def fail(_: ToolCall) -> dict[str, Any]:
        raise RuntimeError("internal detail")

    result = await call(hass, ProbeTool(fail), llm_context)
    assert result.error
    assert "internal detail" not in str(result.data)
    assert "internal detail" in caplog.text


async def test_deadline(hass: HomeAssistant, llm_context: llm.LLMContext) -> None:
    """A tool that takes too long is ended."""
    ended = asyncio.Event()

    async def linger(_: ToolCall) -> dict[str, Any]:
        try:
            await asyncio.sleep(10)
        finally:
            ended.set()
        return {}

    result = await call(hass, ProbeTool(linger), llm_context)
    assert result.error
    assert "longer than 0.05 seconds" in result.data["error"]
    assert ended.is_set()


async def test_budget(hass: HomeAssistant, llm_context: llm.LLMContext) -> None:
    """A result larger than its budget is cut and says so."""

    async def ramble(_: ToolCall) -> dict[str, Any]:
        return {"short": "kept", "rows": [{"text": 'a"\n' * 2000}]}

    result = await call(hass, ProbeTool(ramble), llm_context)
    assert size(result.data) <= 1000
    assert result.data["short"] == "kept"
    assert "more characters; ask for less" in result.data["rows"][0]["text"]


async def test_many_small_values_over_budget(hass: HomeAssistant, llm_context: llm.LLMContext) -> None:
    """What cannot be cut sensibly is refused rather than sent."""

    async def ramble(_: ToolCall) -> dict[str, Any]:
        return {"rows": list(range(5000))}

    result = await call(hass, ProbeTool(ramble), llm_context)
    assert size(result.data) <= 1000
    assert "Ask for less" in result.data["error"]


@pytest.mark.parametrize(
    ("speaker", "allowed"),
    [("admin", [True, True, True]), ("user", [True, True, False]), ("nobody", [True, True, False])],
)
async def test_tiers(
    hass: HomeAssistant, llm_context: llm.LLMContext, hass_admin_user: MockUser, speaker: str, allowed: list[bool]
) -> None:
    """Everyone may read and control; only administrators may administer."""
    users = {"admin": hass_admin_user, "user": MockUser(name="Guest", groups=[]).add_to_hass(hass), "nobody": None}
    user = users[speaker]
    llm_context.context = Context(user_id=user.id if user else None)
    results = [await call(hass, ProbeTool(answer, tier), llm_context) for tier in Tier]
    assert [not result.error for result in results] == allowed
