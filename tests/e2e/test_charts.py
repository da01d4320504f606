"""Charts as somebody sees them who types in the Assist dialog: in light and dark, on a desk and a phone, in both frontends."""

from typing import Any

from playwright.async_api import Page, expect
import pytest

from tests.claude_server import ClaudeServer, Turn, text, tool_use

from .browser import CHROMIUM, DESKTOP, PATIENCE, browse, on_screen, press, shows, take_picture
from .instance import HomeAssistantInstance
from .setting_up import KEY
from .using import DIALOG, PHONE

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
    pytest.mark.timeout(300),
]

HISTORY, STATISTICS = "extended_assist__get_history", "extended_assist__get_statistics"
QUESTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "How warm was it?": (HISTORY, {"entities": ["sensor.living_room_temperature", "sensor.bedroom_temperature"]}),
    "What did the doors do?": (HISTORY, {"entities": ["binary_sensor.front_door", "light.kitchen"], "hours": 40}),
    "What was used by the hour?": (STATISTICS, {"statistics": ["sensor.grid_import"], "hours": 24, "period": "hour"}),
    "How warm was it outside?": (STATISTICS, {"statistics": ["sensor.outdoor_temperature"], "hours": 40}),
}


class Looking:
    """A model that calls what a question is about, and says that it has looked."""

    async def respond(self, request_body: dict[str, Any]) -> Turn:
        """Answer."""
        last = request_body["messages"][-1]["content"]
        if any(block["type"] == "tool_result" for block in last):
            return Turn([text("I have looked; **this** is how it went.")], pace=0.02, chunk=6)
        asked = " ".join(block.get("text", "") for block in last)
        return Turn([tool_use(*next(call for question, call in QUESTIONS.items() if question in asked))])


async def test_charts(spare_home: HomeAssistantInstance) -> None:
    """Each answer comes with a chart that was loaded, once it is said, and no text of its address is to be seen."""
    async with ClaudeServer(Looking(), api_key=KEY) as server, spare_home.connect() as client:
        result = await client.config_flow(
            "extended_assist", {"next_step_id": "claude"}, {"api_key": KEY, "base_url": server.url}
        )
        assert result["type"] == "create_entry", result
        agent = await client.find_entity("conversation", "extended_assist")
        pipeline = await client.create_pipeline("Charts", agent)
        await client.call("assist_pipeline/pipeline/set_preferred", pipeline_id=pipeline)
        try:
            async with browse(spare_home, "/", f"charts_{spare_home.environment}") as page:
                await look_at_charts(page, spare_home.environment)
        finally:
            (entry,) = await client.config_entries("extended_assist")
            await client.delete(f"/api/config/config_entries/entry/{entry['entry_id']}")
    assert server.mistakes == []
    requests = str([request.body for request in server.requests])
    assert "authSig" not in requests


async def look_at_charts(page: Page, name: str) -> None:
    """Ask each question, and keep what is shown."""
    fetched: list[int] = []
    page.on("response", lambda response: fetched.append(response.status) if "/shown/" in response.url else None)
    await press(page, "Assist (A)")
    await shows(page, "How can I assist?")
    charts = page.locator("ha-assist-chat img[src*='/api/extended_assist/shown/']")
    for number, question in enumerate(QUESTIONS, 1):
        await page.locator("ha-assist-chat").get_by_role("textbox").fill(question)
        await page.keyboard.press("Enter")
        await expect(charts).to_have_count(number, timeout=PATIENCE)
        assert await charts.last.evaluate("async image => { await image.decode(); return image.naturalWidth }") > 400
        assert ":" in str(await charts.last.get_attribute("alt"))
        await expect(page.get_by_text("authSig")).to_have_count(0)
        for scheme in ("light", "dark"):
            async with on_screen(page, DESKTOP, "light" if scheme == "light" else "dark"):
                await charts.last.scroll_into_view_if_needed()
                await take_picture(page, f"chart_{name}_{number}_{scheme}", DIALOG)
    async with on_screen(page, PHONE, "dark"):
        await charts.last.scroll_into_view_if_needed()
        await take_picture(page, f"chart_{name}_phone")
    assert set(fetched) == {200}
    assert len(fetched) < 6 * len(QUESTIONS)
