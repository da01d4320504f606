"""The frontend in each language: what the integration says is there, in that language."""

from playwright.async_api import expect
import pytest

from tests.test_translations import LANGUAGES

from .browser import CHROMIUM, INTEGRATION_PAGE, PATIENCE, Walk, browse, shows, words
from .instance import HomeAssistantInstance

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
    pytest.mark.timeout(300),
]

OPTIONS = "options.step.init"
AGENT = "config_subentries.conversation.step.init"


@pytest.mark.parametrize("home", ["newest"], indirect=True)
async def test_languages(home: HomeAssistantInstance, agent: str) -> None:
    """The options and the form of an agent are shown in the words of their file."""
    async with browse(home, INTEGRATION_PAGE, "languages") as page:
        await shows(page, "Extended Assist")
        walk = Walk(page)
        for language in sorted(LANGUAGES):
            # As the profile of a user keeps it.
            await page.evaluate(
                "language => localStorage.setItem('selectedLanguage', JSON.stringify(language))", language
            )
            async with walk.step(f"{language}_options"):
                await page.reload()
                await page.locator("ha-config-entry-row ha-icon-button[slot=end]").first.click()
                await shows(page, words(f"{OPTIONS}.data.families", language))
                await shows(page, words("selector.families.options.automations", language))
                await shows(page, words(f"{OPTIONS}.sections.policy.name", language))
            async with walk.step(f"{language}_agent"):
                await page.keyboard.press("Escape")
                await expect(page.locator("dialog[open]")).to_have_count(0, timeout=PATIENCE)
                add = words("config_subentries.conversation.initiate_flow.user", language)
                await page.locator("ha-button").filter(has_text=add).click()
                await shows(page, words(f"{AGENT}.data_description.prompt", language))
                await shows(page, words(f"{AGENT}.data.fallback_agent", language))
        assert walk.problems == []
