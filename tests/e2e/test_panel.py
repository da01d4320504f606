"""The panel and the card in a real browser, on both versions: as an administrator, as a user without rights, and on a phone."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
import json
from pathlib import Path
import re
import subprocess
from typing import Any
from zoneinfo import ZoneInfo

from playwright.async_api import Page, expect
import pytest
import yaml

from tests.docs.pages import blocks

from .browser import (
    CHROMIUM,
    DESKTOP,
    PATIENCE,
    PHONE,
    SCREENSHOTS,
    Walk,
    browse,
    on_screen,
    shows,
    take_picture,
    words,
)
from .client import Client
from .instance import CACHE, CHECKOUT, HomeAssistantInstance

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
    pytest.mark.timeout(420),
]

PANEL = "extended-assist-panel"
LIGHT = "light.hall_light"
LAMP = "input_boolean.panel_lamp"
USER = {"username": "ann", "password": "a long password"}
HOSTILE = "<img src=x onerror=alert(1)> {{ 7 * 7 }}"
"""A name that would do something where names are taken for anything else."""
ADMINISTRATORS = ("usage", "visible", "tools")
EVERYBODY = ("journal", "standing", "memory", "questions")


@pytest.fixture(scope="module")
def axe() -> Path:
    """What finds barriers, as the lock file pins it."""
    subprocess.run([CHECKOUT / "script" / "frontend", "--prepare"], check=True)
    return CACHE / "frontend" / "node_modules" / "axe-core" / "axe.min.js"


@pytest.fixture
async def entry_id(home: HomeAssistantInstance, client: Client, agent: str) -> AsyncIterator[str]:
    """An entry with memory, and a lamp with a hostile name; both are taken away afterwards."""
    result = await client.config_flow(
        "extended_assist", {"next_step_id": "tools"}, {"name": "Household", "memory": True}
    )
    lamp = await client.call("input_boolean/create", name="Panel lamp")
    await client.update_entity(LAMP, name=HOSTILE)
    await client.expose(LAMP)
    entry = result["result"]["entry_id"]
    yield entry
    facts = await client.perform_action("extended_assist.get_facts", response=True)
    forgotten = [fact["id"] for fact in facts["facts"]]
    await client.perform_action("extended_assist.forget", {"ids": forgotten, "for_good": True})
    await client.delete(f"/api/config/config_entries/entry/{entry}")
    await client.call("input_boolean/delete", input_boolean_id=lamp["id"])


def said(key: str, **placeholders: str) -> str:
    """Return a text of the panel."""
    return words(f"config_panel.{key}", **placeholders)


async def go(page: Page, view: str) -> None:
    """Go to a page of the panel by its tab."""
    await page.locator(PANEL).get_by_role("link", name=said(f"panel.{view}"), exact=True).click()
    await expect(page).to_have_url(re.compile(f"/extended-assist/{view}$"))
    await expect(page.locator(f"extended-assist-{view}")).to_be_visible(timeout=PATIENCE)


async def call(page: Page, entry_id: str, tool: str, arguments: dict[str, Any]) -> None:
    """Call a tool by hand."""
    tools = page.locator("extended-assist-tools")
    option = tools.locator(f"optgroup[label=Household] option:has-text('({tool})')")
    await tools.get_by_label(said("tools.tool"), exact=True).select_option(await option.get_attribute("value"))
    await tools.get_by_label(said("tools.arguments")).fill(json.dumps(arguments))
    await tools.get_by_role("button", name=said("tools.call"), exact=True).click()


async def answer(page: Page, key: str) -> None:
    """Say yes or no to what is asked."""
    await page.locator(PANEL).get_by_role("button", name=said(f"questions.{key}"), exact=True).first.click()


async def barriers(page: Page, axe: Path, shown: str) -> list[str]:
    """Return what stands in the way of people who see, hear or move otherwise.

    Colours that are still changing are looked at again: on a loaded machine, another theme comes late.
    """
    for _ in range(10):
        if not (found := await _barriers_now(page, axe, shown)):
            return []
        await page.wait_for_timeout(500)
    return found


async def _barriers_now(page: Page, axe: Path, shown: str) -> list[str]:
    """Return what stands in the way at this moment."""
    if not await page.evaluate("() => 'axe' in window"):
        await page.add_script_tag(path=axe)
    found = await page.locator(shown).evaluate("element => axe.run(element, {resultTypes: ['violations']})")
    # What is inside Home Assistant's own elements is theirs.
    return [
        f"{one['id']}: {node['html'][:200]}: {node['failureSummary']}"
        for one in found["violations"]
        for node in one["nodes"]
        if "ha-menu-button" not in json.dumps(node["target"])
    ]


async def act(page: Page, walk: Walk, entry_id: str) -> None:
    """Do by hand what an assistant does, and see it asked, done and told."""
    async with walk.step("panel_tools"):
        await go(page, "tools")
        await call(page, entry_id, "extended_assist__get_entities", {"name": "front door"})
        await shows(page, re.compile(r"^\s*\d+ characters, [\d.]+ s\s*$"))
    async with walk.step("panel_tools_act"):
        await call(
            page,
            entry_id,
            "extended_assist__perform_action",
            {"action": "light.turn_on", "target": {"entity_id": LIGHT}, "data": {"brightness_pct": 40}},
        )
        await shows(page, said("questions.done"))
    later = {"when": {"repeat": "FREQ=DAILY", "at": "07:00"}, "say": "Water the plants"}
    await call(page, entry_id, "extended_assist__do_later", later)
    await shows(page, re.compile("Water the plants"))
    await call(
        page, entry_id, "extended_assist__remember", {"fact": "The bins go out on Tuesday.", "whose": "household"}
    )
    await shows(page, re.compile("bins"))


async def count_tokens(client: Client) -> None:
    """Let the statistics of the last days say that the agent was used."""
    midnight = datetime.now(ZoneInfo("Europe/Amsterdam")).replace(hour=0, minute=0, second=0, microsecond=0)
    for kind, amount in (("input_tokens", 9_000), ("output_tokens", 1_500), ("requests", 12)):
        sensor = f"sensor.claude_{kind}"
        await client.call(
            "recorder/import_statistics",
            metadata={
                "has_mean": False,
                "has_sum": True,
                "mean_type": 0,
                "name": None,
                "source": "recorder",
                "statistic_id": sensor,
                "unit_class": None,
                "unit_of_measurement": None,
            },
            stats=[
                {
                    "start": (midnight - timedelta(days=day)).isoformat(),
                    "sum": amount * (12 - day) + amount // 6 * (day % 3),
                }
                for day in range(12, 0, -1)
            ],
        )
    # The recorder writes them when it comes to it.
    wanted = {"start_time": (midnight - timedelta(days=12)).isoformat(), "period": "day", "types": ["change"]}
    for _ in range(300):
        if await client.call("recorder/statistics_during_period", statistic_ids=["sensor.claude_requests"], **wanted):
            return
        await asyncio.sleep(0.2)
    pytest.fail("The statistics were not written")


async def look(page: Page, walk: Walk, client: Client, before: str) -> None:
    """See what was done and is to come, and take it back."""
    async with walk.step("panel_journal"):
        await go(page, "journal")
        await expect(page.locator("extended-assist-journal").get_by_text("Hall light")).to_be_visible()
        await take_picture(page, "readme_panel", PANEL)
    async with walk.step("panel_undo"):
        row = page.locator("extended-assist-journal ha-card").filter(has_text="Hall light")
        await row.get_by_role("button", name=re.compile("^Undo")).click()
        await expect(row.get_by_role("group", name=said("questions.asked"))).to_be_focused()
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    # What is told otherwise, such as that it was not done, ends in the same word.
    await expect(row.get_by_role("status")).to_have_text(re.compile(rf"\s*{re.escape(said('questions.done'))}"))
    assert (await client.state(LIGHT))["state"] == before
    async with walk.step("panel_standing"):
        await go(page, "standing")
        await shows(page, "Water the plants")
    async with walk.step("panel_memory"):
        await go(page, "memory")
        await shows(page, "The bins go out on Tuesday.")
    async with walk.step("panel_questions"):
        await go(page, "questions")
        await shows(page, said("questions.empty"))
    await count_tokens(client)
    async with walk.step("panel_usage"):
        await go(page, "usage")
        usage = page.locator("extended-assist-usage")
        await expect(usage.get_by_role("img", name=said("usage.chart")).first).to_be_visible(timeout=PATIENCE)
        await usage.get_by_text("Prices per million").first.click()
        await usage.get_by_label(said("usage.output_tokens")).first.fill("5")
        await usage.get_by_role("button", name=said("usage.save")).first.click()
        await expect(usage.get_by_role("columnheader", name=said("usage.cost")).first).to_be_visible()
    async with walk.step("panel_visible"):
        await go(page, "visible")
        await page.get_by_label(said("visible.search")).fill("door")
        await page.keyboard.press("Enter")
        row = page.locator("extended-assist-visible").get_by_role("button", name="Front door", exact=True)
        await expect(row).to_be_visible(timeout=PATIENCE)
        await take_picture(page, "readme_panel_visible", PANEL)


async def look_everywhere(page: Page, axe: Path, *, is_short: bool) -> None:
    """Each page is shown in light, dark and on a phone, and has no barrier in any of them; in short, in light only."""
    for view in (*EVERYBODY, *ADMINISTRATORS):
        await go(page, view)
        await page.wait_for_timeout(300)
        assert await barriers(page, axe, PANEL) == [], view
        if is_short:
            continue
        await take_picture(page, f"panel_{view}_light")
        async with on_screen(page, DESKTOP, "dark"):
            await page.wait_for_timeout(300)
            assert await barriers(page, axe, PANEL) == [], f"{view} in the dark"
            await take_picture(page, f"panel_{view}_dark")
        async with on_screen(page, PHONE):
            await page.wait_for_timeout(300)
            assert await barriers(page, axe, PANEL) == [], f"{view} on a phone"
            await take_picture(page, f"panel_{view}_phone")
            assert await page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
            await expect(page.locator("ha-menu-button")).to_be_visible()


async def meet_a_hostile_name(page: Page, entry_id: str) -> None:
    """What others can name is shown as it is, wherever it is shown: in an answer, in the journal, in what can be seen."""
    hostile: list[str] = []
    page.on("dialog", lambda dialog: hostile.append(dialog.message))
    await go(page, "tools")
    action = {"action": "input_boolean.turn_on", "target": {"entity_id": LAMP}}
    await call(page, entry_id, "extended_assist__perform_action", action)
    await shows(page, said("questions.done"))
    for view in ("journal", "visible"):
        await go(page, view)
        await expect(page.locator(f"extended-assist-{view}").get_by_text(HOSTILE).first).to_be_visible(timeout=PATIENCE)
    assert await page.locator(PANEL).locator("img").count() == 0
    assert hostile == []


async def cancel_and_forget(page: Page) -> None:
    """End what stands, and forget what is remembered."""
    await go(page, "standing")
    row = page.locator("extended-assist-standing ha-card").filter(has_text="Water the plants")
    await row.get_by_role("button").click()
    await expect(row).to_have_count(0)
    await go(page, "memory")
    row = page.locator("extended-assist-memory ha-card").filter(has_text="bins")
    await row.get_by_role("button").click()
    await answer(page, "yes")
    await expect(row).to_have_count(0)


@asynccontextmanager
async def dashboard(client: Client, agent: str) -> AsyncIterator[str]:
    """Make a dashboard with the card, and return its path."""
    made = await client.call("lovelace/dashboards/create", url_path="with-card", title="With card", mode="storage")
    (block,) = blocks("docs/panel.md", "yaml")
    card = yaml.safe_load(block.text) | {"agent_id": agent}
    config = {"views": [{"title": "Home", "cards": [card]}]}
    await client.call("lovelace/config/save", url_path="with-card", config=config)
    yield "/with-card/0"
    await client.call("lovelace/dashboards/delete", dashboard_id=made["id"])


async def use_the_card(page: Page, walk: Walk, home: HomeAssistantInstance, path: str, axe: Path) -> None:
    """Ask in the card, see the answer and what is standing, and find the card among those that can be added."""
    async with walk.step("card"):
        await page.goto(f"{home.url}{path}")
        card = page.locator("extended-assist-card-body")
        await card.get_by_role("textbox", name=said("card.ask")).fill("When did the front door last open?")
        await page.keyboard.press("Enter")
        await shows(page, re.compile("Front door was last opened at"))
        await expect(card.get_by_role("heading", name="Water the plants", exact=True)).to_be_visible()
    assert await barriers(page, axe, "extended-assist-card-body") == []
    await take_picture(page, "readme_card", "extended-assist-card-body")
    async with on_screen(page, PHONE, "dark"):
        assert await barriers(page, axe, "extended-assist-card-body") == []
        await take_picture(page, f"card_{home.environment}_phone_dark")
    async with walk.step("card_picker"):
        await page.goto(f"{home.url}{path}?edit=1")
        await page.get_by_role("button", name="Add card").first.click()
        await page.get_by_role("tab", name="By card").click()
        picker = page.locator("hui-card-picker")
        await picker.locator("input").first.fill("Extended")
        await picker.locator(".card").filter(has_text="Extended Assist").locator(".overlay").click()
        await shows(page, said("card.field_agent_id"))


async def painted(page: Page, home: HomeAssistantInstance, path: str, element: str, title: str) -> float:
    """Return the milliseconds from opening a page until it shows its title."""
    await page.goto("about:blank")
    await page.goto(f"{home.url}/{path}", wait_until="commit")
    await page.locator(element).get_by_text(title, exact=True).first.wait_for(timeout=PATIENCE)
    milliseconds: float = await page.evaluate("performance.now()")
    return milliseconds


async def clear(client: Client) -> None:
    """Answer and end what other tests of this home have left."""
    for question in await client.call("extended_assist/questions/list"):
        await client.call("extended_assist/questions/answer", question=question["id"], agreed=False)
    for task in await client.call("extended_assist/wishes/list"):
        assert (await client.call("extended_assist/wishes/cancel", wish=task["id"]))["done"]
    assert await client.call("extended_assist/questions/list") == []
    assert await client.call("extended_assist/wishes/list") == []


async def test_administrator(home: HomeAssistantInstance, client: Client, entry_id: str, agent: str, axe: Path) -> None:
    """Each page does what it says, looks as it should, and leaves no one out."""
    async with browse(home, "/extended-assist", f"panel_{home.environment}") as page:
        walk = Walk(page)
        await expect(page.locator(PANEL).get_by_role("heading", name=said("panel.title"))).to_be_visible(
            timeout=PATIENCE
        )
        await clear(client)
        before = (await client.state(LIGHT))["state"]
        await act(page, walk, entry_id)
        await look(page, walk, client, before)
        await look_everywhere(page, axe, is_short=home.environment != "newest")
        async with dashboard(client, agent) as path:
            await use_the_card(page, walk, home, path, axe)
        await page.goto(f"{home.url}/extended-assist")
        await meet_a_hostile_name(page, entry_id)
        await cancel_and_forget(page)
        times = [
            (
                await painted(page, home, "extended-assist", PANEL, said("panel.title")),
                await painted(page, home, "history", "ha-panel-history", "History"),
            )
            for _ in range(2 if home.environment == "newest" else 1)
        ]
        ours, theirs = map(min, zip(*times, strict=True))
        told = f"{home.environment}: panel {ours:.0f} ms, history {theirs:.0f} ms, ratio {ours / theirs:.2f}"
        await asyncio.to_thread(SCREENSHOTS.mkdir, parents=True, exist_ok=True)
        await asyncio.to_thread((SCREENSHOTS / f"panel_paint_{home.environment}.txt").write_text, told)
        assert walk.problems == []


async def test_user(home: HomeAssistantInstance, client: Client, entry_id: str) -> None:
    """A user without rights has the panel, and of it what is their own; the rest is not there, by its address neither."""
    user = (await client.call("config/auth/create", name="Ann", group_ids=["system-users"]))["user"]
    try:
        await client.call("config/auth_provider/homeassistant/create", user_id=user["id"], **USER)
        async with browse(home, "/extended-assist/tools", f"panel_user_{home.environment}", USER) as page:
            walk = Walk(page)
            async with walk.step("panel_as_user"):
                await shows(page, said("journal.empty"))
            tabs = await page.locator(PANEL).get_by_role("link").all_inner_texts()
            assert [tab.strip() for tab in tabs] == [said(f"panel.{view}") for view in EVERYBODY]
            await go(page, "memory")
            await shows(page, said("memory.empty"))
            assert walk.problems == []
    finally:
        await client.call("config/auth/delete", user_id=user["id"])
