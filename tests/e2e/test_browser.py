"""Functions written, tried and imported in a real browser, as a person does it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
import shutil

from playwright.async_api import Page, async_playwright, expect
import pytest

from .client import Client
from .instance import CACHE, OWNER, HomeAssistantInstance

CHROMIUM = shutil.which("chromium")
SCREENSHOTS = CACHE / "screenshots"
PATIENCE = 30_000.0
"""Milliseconds until something is shown, also on a loaded machine."""

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
    pytest.mark.timeout(180),
]

GREET = """spec: {name: greet, parameters: {type: object, properties: {who: {type: string}}}}
function: {type: template, value_template: 'Hello {{ who }}'}"""
LIST = """- spec: {name: first}
  function: {type: template, value_template: one}
- spec: {name: second}
  function: {type: template, value_template: '{{'}"""


@pytest.fixture
async def entry_id(home: HomeAssistantInstance, client: Client, agent: str) -> AsyncIterator[str]:
    """The entry, whose functions are taken away afterwards; the frontend looked at is the newest one."""
    if home.environment != "newest":
        pytest.skip("The browser looks at the newest frontend")
    (entry,) = await client.config_entries("extended_assist")
    yield entry["entry_id"]
    for subentry in await functions(client, entry["entry_id"]):
        await client.call(
            "config_entries/subentries/delete", entry_id=entry["entry_id"], subentry_id=subentry["subentry_id"]
        )


async def functions(client: Client, entry_id: str) -> list[dict[str, str]]:
    """Return the functions of an entry."""
    return [entry for entry in await client.subentries(entry_id) if entry["subentry_type"] == "function"]


@asynccontextmanager
async def integration_page(home: HomeAssistantInstance, name: str) -> AsyncIterator[Page]:
    """Log in and open the page of the integration; what it shows in the end is kept as a picture."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = await browser.new_page(viewport={"width": 1200, "height": 1000})
        page.set_default_timeout(PATIENCE)
        try:
            await page.goto(f"{home.url}/config/integrations/integration/extended_assist")
            await page.locator("input[name=username]").fill(OWNER["username"])
            await page.locator("input[name=password]").fill(OWNER["password"])
            await page.keyboard.press("Enter")
            yield page
        finally:
            await asyncio.to_thread(_make, SCREENSHOTS)
            await page.screenshot(path=SCREENSHOTS / f"{name}.png")
            await browser.close()


def _make(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)


async def open_function(page: Page, way: str) -> None:
    """Begin to add a function in one of the ways of the menu."""
    await page.locator("ha-button").filter(has_text="Add function").click()
    await page.get_by_text(way).click()


async def write(page: Page, text: str) -> None:
    """Put a text into the editor in place of what it holds."""
    editor = page.locator(".cm-content")
    await editor.click()
    await page.keyboard.press("ControlOrMeta+A")
    await page.keyboard.insert_text(text)


async def submit(page: Page) -> None:
    """Send the form."""
    await page.get_by_role("button", name="Submit").click()


async def choose(page: Page, option: str) -> None:
    """Choose what comes next."""
    await page.get_by_role("button", name="Then").click()
    await page.get_by_role("option", name=option).or_(page.get_by_role("menuitem", name=option)).first.click()


async def shows(page: Page, text: str) -> None:
    """Wait until a text is shown."""
    await expect(page.get_by_text(text).first).to_be_visible(timeout=PATIENCE)


async def test_write_and_try(home: HomeAssistantInstance, client: Client, entry_id: str) -> None:
    """A mistake is shown with its line, the mended function is tried with arguments, and then saved and there."""
    async with integration_page(home, "write_and_try") as page:
        await open_function(page, "Write a function")
        await write(page, GREET.replace("}}'}", "}'}"))
        await submit(page)
        await shows(page, "Line 2: The template is wrong")
        await write(page, GREET)
        await choose(page, "Try it before saving")
        await submit(page)
        await shows(page, "Try greet")
        await write(page, "who: Ada")
        await submit(page)
        await shows(page, "Hello Ada")
        await choose(page, "Save")
        await submit(page)
        await shows(page, "greet")
        await expect(page.get_by_role("button", name="Submit")).to_have_count(0, timeout=PATIENCE)
    assert [function["title"] for function in await functions(client, entry_id)] == ["greet"]
    answer = await client.perform_action(
        "extended_assist.call_function", {"function": "greet", "arguments": {"who": "Bo"}}, response=True
    )
    assert answer["result"] == "Hello Bo"


async def test_import(home: HomeAssistantInstance, client: Client, entry_id: str) -> None:
    """What can be taken of a list is taken, the rest is shown with line and reason."""
    async with integration_page(home, "import") as page:
        await open_function(page, "Import a list")
        await write(page, LIST)
        await submit(page)
        await shows(page, "1 imported. These could not be")
        await shows(page, "Line 2: The template is wrong")
    assert [function["title"] for function in await functions(client, entry_id)] == ["first"]
