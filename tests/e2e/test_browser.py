"""Functions written, tried and imported in a real browser, as a person does it."""

from collections.abc import AsyncIterator

from playwright.async_api import expect
import pytest

from .browser import CHROMIUM, INTEGRATION_PAGE, PATIENCE, browse, choose, open_function, shows, submit, write
from .client import Client
from .instance import HomeAssistantInstance

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


async def test_write_and_try(home: HomeAssistantInstance, client: Client, entry_id: str) -> None:
    """A mistake is shown with its line, the mended function is tried with arguments, and then saved and there."""
    async with browse(home, INTEGRATION_PAGE, "write_and_try", is_still=False) as page:
        await open_function(page, "Write a function")
        await write(page, GREET.replace("}}'}", "}'}"))
        await submit(page)
        await shows(page, "Line 2: The template is wrong")
        await write(page, GREET)
        await choose(page, "Then", "Try it before saving")
        await submit(page)
        await shows(page, "Try greet")
        await write(page, "who: Ada")
        await submit(page)
        await shows(page, "Hello Ada")
        await choose(page, "Then", "Save")
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
    async with browse(home, INTEGRATION_PAGE, "import") as page:
        await open_function(page, "Import a list")
        await write(page, LIST)
        await submit(page)
        await shows(page, "1 imported. These could not be")
        await shows(page, "Line 2: The template is wrong")
    assert [function["title"] for function in await functions(client, entry_id)] == ["first"]
