"""What the pages of the panel make of what the commands answer, in a real browser; the commands are answered here."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
import json
from typing import Any

from playwright.async_api import Browser, Page, Route, async_playwright, expect
import pytest

from tests.e2e.browser import CHROMIUM, PATIENCE
from tests.helpers.one_home import in_one_home

from .test_build import BUILT

HOME = """
window.asked = [];
window.show = (element, answers) => {
  const view = document.createElement(element);
  view.hass = {
    language: "en", locale: { language: "en" }, config: {}, states: {}, localize: (key) => key.split(".").pop(),
    callWS: async ({ type, ...fields }) => {
      window.asked.push([type, fields]);
      const known = answers[type.replace("extended_assist/", "")];
      return known.length > 1 ? known.shift() : known[0];
    },
  };
  document.body.append(view);
};
"""


@pytest.fixture(autouse=True)
def _custom_integrations(socket_enabled: None) -> None:
    """Make no Home Assistant, as the tests beside this one want it."""


async def serve(route: Route) -> None:
    """Answer what the browser loads with what is built, and with an empty page."""
    name = route.request.url.rpartition("/")[2]
    if name.endswith(".js"):
        await route.fulfill(path=BUILT / name, content_type="text/javascript")
    else:
        await route.fulfill(body="<!doctype html><title>Panel</title>", content_type="text/html")


@pytest.fixture
async def browser(socket_enabled: None) -> AsyncIterator[Browser]:
    """Return a browser."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        await browser.close()


@asynccontextmanager
async def shown(browser: Browser, element: str, answers: dict[str, list[Any]]) -> AsyncIterator[Page]:
    """Show a page of the panel, whose commands are answered with the next of their answers, the last one again and again."""
    page = await browser.new_page()
    page.set_default_timeout(PATIENCE)
    await page.route("**/*", serve)
    await page.goto("http://panel.test/")
    await page.add_script_tag(url="http://panel.test/panel.js", type="module")
    await page.evaluate(f"{HOME} show({json.dumps(element)}, {json.dumps(answers)})")
    yield page
    await page.close()


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
async def test_asked_on(browser: Browser) -> None:
    """A question that is asked on after a yes, because there is more of it, stays on its page and is answered there."""
    first, second = ({"id": name, "kind": "by_hand", "text": f"The {name} part", "seconds": 99} for name in ("1", "2"))
    answers: dict[str, list[Any]] = {
        "questions/list": [[first], []],
        "questions/answer": [{"done": False, "question": second}, {"done": True, "answer": '{"constructor": "built"}'}],
    }
    async with shown(browser, "extended-assist-questions", answers) as page:
        yes = page.get_by_role("button", name="yes")
        await expect(page.get_by_text(first["text"])).to_be_visible()
        await yes.click()
        await expect(page.get_by_text(second["text"])).to_be_visible()
        await expect(yes).to_have_count(1)
        await yes.click()
        await expect(page.get_by_text("constructor: built")).to_be_visible()
        await expect(yes).to_have_count(0)
        told = [fields["question"] for command, fields in await page.evaluate("asked") if command.endswith("/answer")]
        assert told == ["1", "2"]


MARKUP = "<img src=x onerror='window.broken = true'>[here](javascript:window.broken=true)"
WISH = {
    "id": "1",
    "name": MARKUP,
    "next": None,
    "lines": [MARKUP],
    "user": MARKUP,
    "is_own": False,
    "in_vain": True,
    "result": MARKUP,
}
CHANGE = {
    "id": "1",
    "time": 1,
    "kind": "states",
    "action": MARKUP,
    "title": MARKUP,
    "user": MARKUP,
    "user_gone": False,
    "device": MARKUP,
    "entities": [
        {"entity_id": "a.b", "name": MARKUP, "changes": [{"name": MARKUP, "before": MARKUP, "after": MARKUP}]}
    ],
    "more": 1,
    "undone": False,
    "can_undo": True,
}
TOOL = {"entry": "1", "name": MARKUP, "title": MARKUP, "description": MARKUP, "read_only": False}
PARAMETERS = {"parameters": {"properties": {MARKUP: {"description": MARKUP}}}}
ENTITY = {
    "entity_id": MARKUP,
    "name": MARKUP,
    "area": MARKUP,
    "exposed": True,
    "families": [MARKUP],
    "reasons": [MARKUP],
}


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
@in_one_home(
    ("view", "answers"),
    [
        ("journal", {"journal/list": [[CHANGE]]}),
        ("standing", {"wishes/list": [[WISH]]}),
        ("questions", {"questions/list": [[{"id": "1", "kind": MARKUP, "text": MARKUP, "seconds": 9}]]}),
        ("tools", {"tools/list": [[TOOL | PARAMETERS]]}),
        ("visible", {"visible": [{"rows": [ENTITY | {"aliases": [MARKUP]}], "found": 1, "exposed": 1}]}),
        (
            "memory",
            {"call_service": [{"response": {"facts": [{"id": "1", "words": MARKUP, "whose": "me", "said": MARKUP}]}}]},
        ),
    ],
)
async def test_words_are_words(browser: Browser, view: str, answers: dict[str, list[Any]]) -> None:
    """Whatever a name, a fact, a question or a description holds is shown as it is written, and nothing of it runs."""
    async with shown(browser, f"extended-assist-{view}", answers) as page:
        await expect(page.get_by_text(MARKUP).last).to_be_visible()
        assert await page.locator("img").count() == 0
        assert await page.locator("a[href^=javascript]").count() == 0
        assert await page.evaluate("window.broken") is None
