"""What a newcomer does with an agent: ask, agree, find, look, lose, remove."""

import asyncio
import json
from pathlib import Path
import re
import time

from playwright.async_api import expect

from tests.claude_server import ClaudeServer

from .browser import INTEGRATION_PAGE, PATIENCE, PHONE, Walk, on_screen, press, put_away, shows, take_picture, words
from .client import Client
from .instance import HomeAssistantInstance
from .setting_up import KEY, PROMPT, open_menu

AGENT = "conversation.house"
AUTOMATION = "automation.garden_lights_at_sunset"
QUESTION = "When did the front door last open?"
PARTLY = re.compile(r"^Front door was .*…$")
ANSWER = re.compile(r"^Front door was last opened at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.$")
SENSORS = ("input_tokens", "output_tokens", "cached_tokens", "cache_written_tokens", "requests")
DIALOG = "dialog[open]"
TALL = (450, 800)


async def say(walk: Walk, text: str) -> None:
    """Say something in the Assist dialog."""
    await walk.page.locator("ha-assist-chat").get_by_role("textbox").fill(text)
    await walk.page.keyboard.press("Enter")


async def open_assist(walk: Walk) -> None:
    """Open the Assist dialog."""
    await walk.page.get_by_role("link", name="Overview").click()
    await press(walk.page, "Assist (A)")
    await shows(walk.page, "How can I assist?")


async def ask(walk: Walk) -> None:
    """The answer is seen while it is written, and on request the tools that it came from."""
    page = walk.page
    async with walk.step("answer_begins"):
        await open_assist(walk)
        await say(walk, QUESTION)
        await shows(page, PARTLY)
        await expect(page.get_by_text(ANSWER)).to_have_count(0)
    async with walk.step("answer"):
        await shows(page, ANSWER)
    async with walk.step("tool_steps"):
        await page.get_by_text("Show details").click()
        await shows(page, "extended_assist__get_history")
        await shows(page, "binary_sensor.front_door")
    async with walk.step("another_answer"):
        await page.get_by_text("Show details").click()
        await expect(page.locator(".thinking-wrapper.expanded")).to_have_count(0)
        await say(walk, "How warm was it in the living room today?")
        await shows(page, re.compile("^Living room temperature: lowest .*\\.$"))
        await take_picture(page, "readme_ask", DIALOG)
    await put_away(page, "How can I assist?")


async def confirm_an_automation(walk: Walk, client: Client) -> None:
    """The agent asks before it writes an automation; afterwards it is in the editor as if written there."""
    page = walk.page
    async with walk.step("automation_asked"):
        await open_assist(walk)
        await say(walk, "Turn on the garden lights at sunset.")
        await shows(page, "Add the automation")
        await shows(page, "Shall I do that?")
        assert AUTOMATION not in await client.states()
    async with walk.step("automation_agreed"):
        await say(walk, "Yes, please do.")
        await shows(page, re.compile(r"^Done: Add the automation 'Garden lights at sunset': .*\.$"))
        assert (await client.state(AUTOMATION))["state"] == "on"
        async with on_screen(page, TALL):
            await take_picture(page, "readme_confirm")
    await put_away(page, "How can I assist?")
    async with walk.step("automation_in_the_editor"):
        await page.get_by_role("link", name="Settings").click()
        await page.get_by_text("Automations & scenes").first.click()
        await page.get_by_text("Garden lights at sunset").first.click()
        await shows(page, "When the sun sets")
        await shows(page, "Turn on light")
        await shows(page, "Garden lights")


async def lose_the_server(walk: Walk, client: Client, server: ClaudeServer) -> None:
    """Without its server the agent says so, once, and answers again when the server is back."""
    page = walk.page
    async with walk.step("server_gone"):
        await open_assist(walk)
        await server.stop()
        await say(walk, QUESTION)
        await shows(page, words("exceptions.cannot_connect.message"))
        await expect(page.get_by_text(words("exceptions.cannot_connect.message"))).to_have_count(1)
        assert (await client.state(AGENT))["state"] == "unavailable"
    async with walk.step("server_back"):
        await server.start()
        await say(walk, QUESTION)
        await shows(page, ANSWER)
        assert (await client.state(AGENT))["state"] != "unavailable"
    await put_away(page, "How can I assist?")


async def look_at_the_usage(walk: Walk, client: Client) -> None:
    """What the agent used is on its page."""
    page = walk.page
    async with walk.step("usage"):
        await page.get_by_role("link", name="Settings").click()
        await page.get_by_text("Devices & services").first.click()
        await page.get_by_text("Extended Assist").first.click()
        await page.get_by_role("button", name=re.compile("^House claude")).click()
        await shows(page, "Service info")
        for sensor in SENSORS:
            name = words(f"entity.sensor.{sensor}.name")
            unit = words(f"entity.sensor.{sensor}.unit_of_measurement")
            row = page.locator("hui-sensor-entity-row").filter(has_text=name)
            deadline = time.monotonic() + PATIENCE / 1000
            # What the last answers took is counted a few seconds after them.
            while True:
                value = int((await client.state(f"sensor.house_{name.lower().replace(' ', '_')}"))["state"])
                try:
                    await expect(row).to_contain_text(f"{value:,} {unit}", timeout=1_000)
                    break
                except AssertionError:
                    if time.monotonic() > deadline:
                        raise
            assert value > 0 or sensor == "input_tokens"  # All input may come through the cache.
        await take_picture(page, "readme_usage", "ha-device-entities-card:has(hui-sensor-entity-row)")


async def download_diagnostics(walk: Walk, server: ClaudeServer) -> None:
    """What a maintainer gets tells the setting, and no secret."""
    page = walk.page
    async with walk.step("diagnostics"):
        await page.go_back()
        await open_menu(walk)
        async with page.expect_download() as download:
            await page.get_by_role("menuitem", name="Download diagnostics").click()
        path = await (await download.value).path()
        text = await asyncio.to_thread(Path(path).read_text)
    found = json.loads(text)["data"]
    assert "claude-haiku-5-5" in json.dumps(found)
    for secret in (KEY, server.url, PROMPT, "Hello {{"):
        assert secret not in text


async def look_on_a_phone(walk: Walk) -> None:
    """The dialogs fit a small dark screen."""
    page, agent = walk.page, "config_subentries.conversation"
    async with on_screen(page, PHONE, "dark"):
        for name, button, text in (
            ("options", "Configure", words("options.step.init.data.families")),
            ("agent", words(f"{agent}.initiate_flow.user"), words(f"{agent}.step.init.data.prompt")),
        ):
            async with walk.step(f"phone_{name}"):
                await press(page, button)
                await shows(page, text)
                await fits(walk)
            await put_away(page, text)


async def fits(walk: Walk) -> None:
    """Check that nothing sticks out at the side."""
    box = await walk.page.locator(DIALOG).first.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= PHONE[0]
    wide = "node => [...node.querySelectorAll('*')].some(each => each.scrollWidth > innerWidth)"
    assert not await walk.page.locator(DIALOG).first.evaluate(wide)


async def remove(walk: Walk, client: Client, home: HomeAssistantInstance) -> None:
    """The entry takes along all that is its own, and leaves what is the user's."""
    page = walk.page
    async with walk.step("remove"):
        await open_menu(walk)
        await page.get_by_role("menuitem", name="Delete").click()
        await shows(page, "Delete Extended Assist?")
        await press(page, "Delete")
        await expect(page.locator("ha-config-entry-row")).to_have_count(0, timeout=PATIENCE)
    async with walk.step("removed"):
        await page.goto(f"{home.url}{INTEGRATION_PAGE.rpartition('/integration/')[0]}/dashboard")
        await shows(page, "Demonstration home")
        await expect(page.get_by_text("Extended Assist")).to_have_count(0)
    assert await client.config_entries("extended_assist") == []
    for registry in ("entity", "device"):
        entries = await client.call(f"config/{registry}_registry/list")
        assert "extended_assist" not in json.dumps(entries)
    agents = (await client.call("conversation/agent/list"))["agents"]
    assert [agent["id"] for agent in agents] == ["conversation.home_assistant"]
    issues = (await client.call("repairs/list_issues"))["issues"]
    assert [issue for issue in issues if issue["domain"] == "extended_assist"] == []
    assert (await client.state(AUTOMATION))["state"] == "on"
    kept = await asyncio.to_thread(lambda: list((home.config_dir / ".storage").glob("extended_assist*")))
    # What automations.yaml was before the agent wrote into it is the user's.
    assert [path.name for path in kept] == ["extended_assist.automations"]
