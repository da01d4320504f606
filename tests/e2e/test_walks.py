"""At home in Home Assistant, in a real browser on both versions: another user's phone, the logbook, the editor, the card again."""

import asyncio
from collections.abc import AsyncIterator
import re

from playwright.async_api import Page, Route, expect
import pytest

from .browser import CHROMIUM, PATIENCE, PHONE, Walk, browse, shows, take_picture, words
from .client import Client
from .instance import HomeAssistantInstance
from .test_panel import ADMINISTRATORS, EVERYBODY, PANEL, USER, answer, clear, dashboard, go, said

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
    pytest.mark.timeout(420),
]

ACTIVITY = "event.claude_activity"
HERS, THEIRS = "Kitchen light", "Garden lights"
LIGHTS = {HERS: "light.kitchen_light", THEIRS: "light.garden_lights"}
CARD = "extended-assist-card-body"
LOADINGS = 4


@pytest.fixture
async def path(client: Client, agent: str) -> AsyncIterator[str]:
    """The path of a dashboard with the card; nothing of what others of this home left stands or is asked."""
    for made in await client.call("lovelace/dashboards/list"):
        await client.call("lovelace/dashboards/delete", dashboard_id=made["id"])
    await clear(client)
    async with dashboard(client, agent) as made_path:
        yield made_path


@pytest.fixture
async def ann(client: Client) -> AsyncIterator[None]:
    """A user without administrator rights, and lights that are off."""
    await client.perform_action("light.turn_off", {"entity_id": [*LIGHTS.values()]})
    user = (await client.call("config/auth/create", name="Ann", group_ids=["system-users"]))["user"]
    await client.call("config/auth_provider/homeassistant/create", user_id=user["id"], **USER)
    yield
    await client.call("config/auth/delete", user_id=user["id"])
    await client.perform_action("light.turn_off", {"entity_id": [*LIGHTS.values()]})


async def ask_in_the_card(page: Page, walk: Walk) -> None:
    """Ask with a finger, and see the answer and the own act, and nobody else's."""
    async with walk.step("phone_card"):
        card = page.locator(CARD)
        await card.get_by_role("textbox", name=said("card.ask")).fill("Turn on the kitchen light.")
        await card.get_by_role("button", name=said("card.send"), exact=True).tap()
        await shows(page, re.compile("Turned on: kitchen light", re.IGNORECASE))
        await expect(card.locator("extended-assist-journal")).to_contain_text(HERS, timeout=PATIENCE)
        await expect(card.get_by_text(THEIRS)).to_have_count(0)


async def look_at_the_panel(page: Page, walk: Walk, home: HomeAssistantInstance) -> None:
    """See the own part of it; a page for administrators is not there, by its address neither."""
    rows = page.locator("extended-assist-journal ha-card")
    for view in ADMINISTRATORS:
        async with walk.step(f"phone_not_{view}"):
            await page.goto(f"{home.url}/extended-assist/{view}")
            await expect(rows.filter(has_text=HERS)).to_be_visible(timeout=PATIENCE)
            await expect(page.locator(f"extended-assist-{view}")).to_have_count(0)
    tabs = await page.locator(PANEL).get_by_role("link").all_inner_texts()
    assert [tab.strip() for tab in tabs] == [said(f"panel.{view}") for view in EVERYBODY]
    await expect(rows).to_have_count(1)
    await expect(rows).to_contain_text("Ann")
    await expect(rows.get_by_role("heading")).to_have_text("Turn on light")
    for view in reversed(EVERYBODY):
        async with walk.step(f"phone_{view}"):
            await go(page, view)
            assert await page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]


async def undo(page: Page, walk: Walk, client: Client) -> None:
    """Take the own act back, once the question is answered."""
    row = page.locator("extended-assist-journal ha-card").filter(has_text=HERS)
    async with walk.step("phone_undo_asked"):
        await row.get_by_role("button", name=re.compile("^Undo")).tap()
        await expect(row.get_by_role("group", name=said("questions.asked"))).to_be_focused(timeout=PATIENCE)
        await take_picture(page, "readme_phone")
    assert (await client.state(LIGHTS[HERS]))["state"] == "on"
    async with walk.step("phone_undone"):
        await answer(page, "yes")
        await expect(row.get_by_text(said("questions.done"))).to_be_visible(timeout=PATIENCE)
    assert (await client.state(LIGHTS[HERS]))["state"] == "off"


async def read_the_logbook(page: Page, walk: Walk) -> None:
    """Find what each asked for, with their names."""
    for light, name in ((HERS, "Ann"), (THEIRS, "Owner")):
        async with walk.step(f"logbook_{name.lower()}"):
            line = page.locator("ha-logbook-entry").filter(has_text=f"acted: Turn on light · {light}").first
            await expect(line).to_contain_text(f"By {name}", timeout=PATIENCE)
    await take_picture(page, "readme_logbook")


async def look_at_the_event(page: Page, walk: Walk, home: HomeAssistantInstance, path: str) -> None:
    """Find at the entity what happened last, and what before."""
    async with walk.step("event_entity"):
        await page.goto(f"{home.url}{path}?more-info-entity-id={ACTIVITY}")
        dialog = page.locator("ha-more-info-dialog")
        kind = words("entity.event.activity.state_attributes.event_type.state.acted")
        await expect(dialog.get_by_text(kind, exact=True).first).to_be_visible(timeout=PATIENCE)
        await expect(dialog.get_by_text(f"Turn on light · {HERS}").first).to_be_visible(timeout=PATIENCE)
        await take_picture(page, "readme_event")


async def test_second_user(home: HomeAssistantInstance, client: Client, agent: str, path: str, ann: None) -> None:
    """On a phone, a user without rights has their own and no more; an administrator reads in the logbook who asked for what."""
    told = await client.converse("Turn on the garden lights.", agent_id=agent)
    assert told["response"]["response_type"] == "action_done", told
    async with browse(
        home, path, f"walk_phone_{home.environment}", USER, PHONE, is_touched=True, types_password=True
    ) as page:
        walk = Walk(page)
        await ask_in_the_card(page, walk)
        await look_at_the_panel(page, walk, home)
        await undo(page, walk, client)
        assert walk.problems == []
    async with browse(home, f"/logbook?entity_id={ACTIVITY}", f"walk_logbook_{home.environment}") as page:
        walk = Walk(page)
        await read_the_logbook(page, walk)
        await look_at_the_event(page, walk, home, path)
        assert walk.problems == []


async def test_editor(home: HomeAssistantInstance, agent: str) -> None:
    """Triggers and the condition are found by their names in the automation editor, picked, and shown as picked."""
    async with browse(home, "/config/automation/edit/new", f"walk_editor_{home.environment}") as page:
        walk = Walk(page)
        for kind, names in (
            ("trigger", ("acted", "asked", "refused", "undone", "failed", "limit_reached")),
            ("condition", ("happened",)),
        ):
            dialog = page.locator("add-automation-element-dialog")
            for name in names:
                async with walk.step(f"{kind}_{name}"):
                    text, about = (words(f"{kind}s.{name}.{part}") for part in ("name", "description"))
                    await page.get_by_role("button", name=f"Add {kind}").click()
                    await dialog.get_by_role("textbox").first.fill(text)
                    await expect(dialog.get_by_text(about).first).to_be_visible(timeout=PATIENCE)
                    if name == "acted":
                        await dialog.get_by_role("textbox").first.fill("Assistant")
                        await expect(dialog.get_by_text(about).first).to_be_visible(timeout=PATIENCE)
                        await take_picture(page, "readme_editor")
                    await dialog.get_by_text(about).first.click()
                    await expect(page.get_by_role("heading", name=text, exact=True)).to_be_visible(timeout=PATIENCE)
        # Home Assistant asks about a condition before its target is chosen, and does not hear that this is refused.
        assert [problem for problem in walk.problems if problem != "Object"] == []


async def test_card_again(home: HomeAssistantInstance, path: str) -> None:
    """The card is shown also where its script comes from the browser's cache, or before Home Assistant has begun."""
    async with browse(home, path, f"walk_card_{home.environment}") as page:
        walk = Walk(page)
        ask = page.locator(CARD).get_by_role("textbox", name=said("card.ask"))
        await expect(ask).to_be_visible(timeout=PATIENCE)
        for _ in range(LOADINGS):
            await page.goto("about:blank")
            await page.goto(f"{home.url}{path}")
            await expect(ask).to_be_visible(timeout=PATIENCE)

        async def late(route: Route) -> None:
            await asyncio.sleep(1)
            await route.continue_()

        await page.context.route(re.compile(r"/app\.[^/]*\.js"), late)
        await page.goto("about:blank")
        await page.goto(f"{home.url}{path}")
        await expect(ask).to_be_visible(timeout=PATIENCE)
        assert walk.problems == []
