"""A person in front of the frontend: a real browser, and what people do in it."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
import json
import os
import re
import shutil
import time
from typing import Literal

from playwright.async_api import ConsoleMessage, Page, Response, StorageState, async_playwright, expect

from .instance import CACHE, CHECKOUT, OWNER, HomeAssistantInstance

CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium")
"""The engine by itself takes half the processor time of the whole browser."""
SCREENSHOTS = CACHE / "screenshots"
ALL_PICTURES = os.environ.get("PICTURES", "all") == "all"
"""Whether all that is looked at is pictured, or only what fails, as in a run of everything: to draw it takes a fifth of all time."""
PATIENCE = 30_000.0
"""Milliseconds until something is shown, also on a loaded machine."""
DESKTOP = (1200, 1000)
PHONE = (390, 844)

INTEGRATION = CHECKOUT / "custom_components" / "extended_assist"
INTEGRATION_PAGE = "/config/integrations/integration/extended_assist"

_UNTRANSLATED = re.compile(
    r"component\.extended_assist"  # a key in place of its words
    r'|- (?:checkbox|switch|button|option|menuitem) "[a-z]+(?:_[a-z]+)+"'  # a value in place of its words
    r"|(?<!\{)\{[a-z_]+\}(?!\})"  # a placeholder that nobody filled
)


@asynccontextmanager
async def browse(
    home: HomeAssistantInstance,
    path: str,
    name: str,
    user: Mapping[str, str] = OWNER,
    size: tuple[int, int] = DESKTOP,
    *,
    is_touched: bool = False,
    is_still: bool = True,
    types_password: bool = False,
) -> AsyncIterator[Page]:
    """Open a page of the frontend, logged in, or typing the password; what is shown in the end is pictured.

    As a rule, nothing moves on its way, as a user may choose: without a graphics card, that takes a quarter of all time.
    """
    tokens = None if types_password else await _stored_tokens(home, user)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = await browser.new_page(
            viewport={"width": size[0], "height": size[1]},
            has_touch=is_touched,
            is_mobile=is_touched,
            timezone_id="Europe/Amsterdam",
            storage_state=tokens,
            reduced_motion="reduce" if is_still else "no-preference",
        )
        page.set_default_timeout(PATIENCE)
        if is_still:
            await _hurry(page)
        try:
            await page.goto(f"{home.url}{path}")
            if types_password:
                await page.locator("input[name=username]").fill(user["username"])
                await page.locator("input[name=password]").fill(user["password"])
                await page.keyboard.press("Enter")
            yield page
        except BaseException:
            await _picture(page, name)
            raise
        else:
            await take_picture(page, name)
        finally:
            await browser.close()


async def _hurry(page: Page) -> None:
    """Let what moves all the same be at its end at once: each of its pictures would be drawn."""
    session = await page.context.new_cdp_session(page)
    await session.send("Animation.enable")
    await session.send("Animation.setPlaybackRate", {"playbackRate": 1000})


async def _stored_tokens(home: HomeAssistantInstance, user: Mapping[str, str]) -> StorageState:
    """Return what the frontend keeps of somebody who is logged in; without its form, a page is opened in half the time."""
    tokens = await home.log_in(user)
    expires = int((time.time() + tokens["expires_in"]) * 1000)
    kept = json.dumps(tokens | {"hassUrl": home.url, "clientId": f"{home.url}/", "expires": expires})
    return {"origins": [{"origin": home.url, "localStorage": [{"name": "hassTokens", "value": kept}]}]}


async def take_picture(page: Page, name: str, shown: str = "body") -> None:
    """Wait until something is shown, and keep it where all is pictured."""
    await expect(page.locator(shown).first).to_be_visible(timeout=PATIENCE)
    if ALL_PICTURES:
        await _picture(page, name, shown)


async def _picture(page: Page, name: str, shown: str = "body") -> None:
    await asyncio.to_thread(SCREENSHOTS.mkdir, parents=True, exist_ok=True)
    path = SCREENSHOTS / f"{name}.png"
    # The end of what moves, so that nothing is half open.
    await page.locator(shown).first.screenshot(path=path, animations="disabled")


def words(key: str, language: str = "en", **placeholders: str) -> str:
    """Return what the integration says."""
    found = json.loads((INTEGRATION / "translations" / f"{language}.json").read_text())
    for part in key.split("."):
        found = found[part]
    return str(found).format(**placeholders) if placeholders else str(found)


async def shows(page: Page, text: str | re.Pattern[str]) -> None:
    """Wait until a text is shown."""
    await expect(page.get_by_text(text).first).to_be_visible(timeout=PATIENCE)


async def hides(page: Page, text: str) -> None:
    """Wait until a text is no longer shown."""
    await expect(page.get_by_text(text)).to_have_count(0, timeout=PATIENCE)


async def put_away(page: Page, text: str, button: str = "Close") -> None:
    """Close the dialog that shows a text."""
    await press(page, button)
    await hides(page, text)


async def press(page: Page, name: str) -> None:
    """Press a button."""
    await page.get_by_role("button", name=name, exact=True).first.click()


async def submit(page: Page) -> None:
    """Send the form."""
    await press(page, "Submit")


async def fill(page: Page, **fields: str) -> None:
    """Type into the fields of a form, by their names in it."""
    for name, text in fields.items():
        await page.locator(f"ha-form input[name={name}]").fill(text)


async def tick(page: Page, label: str) -> None:
    """Press a checkbox."""
    await page.locator("ha-checkbox").filter(has_text=label).click()


async def choose(page: Page, label: str, option: str) -> None:
    """Choose from a list."""
    await page.get_by_role("button", name=label).click()
    await page.get_by_role("option", name=option).or_(page.get_by_role("menuitem", name=option)).first.click()


async def write(page: Page, text: str) -> None:
    """Put a text into the editor in place of what it holds."""
    await page.locator(".cm-content").click()
    await page.keyboard.press("ControlOrMeta+A")
    await page.keyboard.insert_text(text)


async def open_function(page: Page, way: str) -> None:
    """Begin to add a function in one of the ways of the menu."""
    await page.locator("ha-button").filter(has_text="Add function").click()
    await page.get_by_text(way).click()


@asynccontextmanager
async def on_screen(
    page: Page, size: tuple[int, int], scheme: Literal["light", "dark"] = "light"
) -> AsyncIterator[None]:
    """Look at another screen for a while."""
    await page.emulate_media(color_scheme=scheme)
    await page.set_viewport_size({"width": size[0], "height": size[1]})
    yield
    await page.emulate_media(color_scheme="light")
    await page.set_viewport_size({"width": DESKTOP[0], "height": DESKTOP[1]})


@dataclass
class Walk:
    """A way through the frontend: each step has a name and is pictured, and nothing of ours goes wrong on it."""

    page: Page
    steps: int = 0
    problems: list[str] = field(default_factory=list)
    """What the browser reported about the integration."""

    def __post_init__(self) -> None:
        """Follow what the browser reports."""
        self.page.on("console", self._on_console)
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("response", self._on_response)

    @asynccontextmanager
    async def step(self, name: str) -> AsyncIterator[None]:
        """Take a step."""
        self.steps += 1
        name = f"{self.steps:02}_{name}"
        try:
            yield
            shown = await self.page.locator("body").aria_snapshot()
            assert _UNTRANSLATED.search(shown) is None, _UNTRANSLATED.findall(shown)
        except BaseException as err:
            err.add_note(f"This was the step {name}; {SCREENSHOTS / name}.png shows how it ended.")
            await _picture(self.page, name)
            raise
        await take_picture(self.page, name)

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and "extended_assist" in message.text:
            self.problems.append(message.text)

    def _on_response(self, response: Response) -> None:
        if "/api/brands/" in response.url and not (INTEGRATION / "brand").exists():
            return
        if response.status >= 400 and "extended_assist" in response.url:
            self.problems.append(f"HTTP {response.status} for {response.url.partition('?')[0]}")
