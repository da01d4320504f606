"""What a newcomer does to set the integration up: the connection with each error, options, an agent, a function, an assistant."""

from playwright.async_api import expect

from tests.claude_server import ClaudeServer, Fault

from .browser import (
    Walk,
    choose,
    fill,
    open_function,
    press,
    put_away,
    shows,
    submit,
    take_picture,
    tick,
    words,
    write,
)
from .client import Client
from .instance import HomeAssistantInstance

KEY = "newcomers-key"
PROMPT = "Call me Ishmael."
FUNCTION = """spec: {name: greet, parameters: {type: object, properties: {who: {type: string}}}}
function: {type: template, value_template: 'Hello {{ who }}'}"""


async def begin(walk: Walk, kind: str) -> None:
    """Begin one of the two ways to set up."""
    await shows(walk.page, words("config.step.user.title"))
    await walk.page.get_by_text(words(f"config.step.user.menu_options.{kind}"), exact=True).click()
    await shows(walk.page, words(f"config.step.{kind}.title"))


async def find_the_integration(walk: Walk) -> None:
    """Find the integration among all others."""
    await press(walk.page, "Add integration")
    brands = walk.page.locator("dialog-add-integration")
    await brands.get_by_role("textbox").fill("Extended")
    await brands.get_by_role("button", name="Extended Assist").click()


async def meet_every_error(walk: Walk, home: HomeAssistantInstance, server: ClaudeServer) -> None:
    """Whatever is wrong with a key or a server is said in a sentence, and what was typed is kept."""
    page = walk.page
    async with walk.step("add_integration"):
        await find_the_integration(walk)
        await shows(page, words("config.step.user.title"))
    async with walk.step("connection"):
        await begin(walk, "claude")
    typed: list[tuple[str, dict[str, str]]] = [
        ("api_key_required", {"api_key": "", "base_url": ""}),
        ("invalid_url", {"api_key": KEY, "base_url": "my server"}),
        ("cannot_connect", {"base_url": "http://127.0.0.1:9"}),
        ("not_messages_api", {"base_url": home.url}),
        ("invalid_auth", {"base_url": server.url, "api_key": "wrong"}),
    ]
    for error, fields in typed:
        async with walk.step(f"error_{error}"):
            await fill(page, **fields)
            await submit(page)
            await shows(page, words(f"config.error.{error}", example_url="http://192.168.1.10:11434"))
    await fill(page, api_key=KEY)
    for error, fault in {
        "quota": Fault("http", status=402),
        "rate_limited": Fault("http", status=429),
        "overloaded": Fault("http", status=529),
        "server_error": Fault("http", status=502, body="Bad gateway"),
        "timeout": Fault("stall"),
    }.items():
        async with walk.step(f"error_{error}"):
            server.fault = fault
            await submit(page)
            await shows(page, words(f"config.error.{error}"))
    server.fault = None
    async with walk.step("server_without_list"):
        server.models_fault = Fault("http", status=404, body="404 page not found", content_type="text/plain")
        await submit(page)
        await shows(page, words("config.step.model.title"))
    server.models_fault = None
    await put_away(page, words("config.step.model.title"))


async def add_the_integration(walk: Walk, server: ClaudeServer) -> None:
    """A key and an address are enough; the same again is refused."""
    page = walk.page
    async with walk.step("connect"):
        await find_the_integration(walk)
        await begin(walk, "claude")
        await fill(page, api_key=KEY, base_url=f"{server.url}/v1/")
        await submit(page)
        await shows(page, "Name and assign")
        await press(page, "Skip and finish")
        await shows(page, words("config_subentries.conversation.initiate_flow.user"))
    async with walk.step("already_configured"):
        await press(page, "Add service")
        await begin(walk, "claude")
        await fill(page, api_key=KEY, base_url=server.url)
        await submit(page)
        await shows(page, words("config.abort.already_configured"))
    await put_away(page, words("config.abort.already_configured"))
    async with walk.step("name_taken"):
        await press(page, "Add service")
        await begin(walk, "tools")
        await fill(page, name="Extended Assist")
        await submit(page)
        await shows(page, words("config.error.name_taken"))
    await put_away(page, words("config.error.name_taken"))


async def set_options(walk: Walk) -> None:
    """What the tools can do is chosen in one form, where mistakes stay in sight."""
    page = walk.page
    async with walk.step("options"):
        await press(page, "Configure")
        await tick(page, words("selector.families.options.automations"))
        await tick(page, words("selector.families.options.scripts"))
        await take_picture(page, "readme_options", "dialog[open]")
    sections, web = "options.step.init.sections", "options.step.init.sections.web"
    async with walk.step("options_sections"):
        for section in ("policy", "web", "functions"):
            await press(page, words(f"{sections}.{section}.name"))
        await shows(page, words("selector.ask_first.options.remove_automation"))
        await shows(page, words(f"{sections}.functions.description"))
    async with walk.step("options_wrong_host"):
        await press(page, f"Add {words(f'{web}.data.web_hosts')}")
        host = page.get_by_role("textbox", name=words(f"{web}.data.web_hosts"))
        await host.fill("localhost")
        await submit(page)
        await shows(page, words("options.error.invalid_host", wrong="localhost"))
        await expect(host).to_have_value("localhost")
    async with walk.step("options_saved"):
        await host.fill("nas.local")
        await submit(page)
        await shows(page, "Options successfully saved.")
    await put_away(page, "Options successfully saved.", "Finish")
    async with walk.step("options_again"):
        await press(page, "Configure")
        await press(page, words(f"{web}.name"))
        await expect(host).to_have_value("nas.local")
    await put_away(page, words("options.step.init.data.families"))


async def add_an_agent(walk: Walk) -> None:
    """An agent has instructions, tools and a model, and limits that fit the model."""
    page, agent = walk.page, "config_subentries.conversation"
    async with walk.step("agent_tools_twice"):
        await press(page, words(f"{agent}.initiate_flow.user"))
        await page.get_by_role("textbox", name="Name").fill("House")
        await write(page, PROMPT)
        await tick(page, "Device control")
        await submit(page)
        await shows(page, words(f"{agent}.error.assist_twice", assist="Device control"))
    async with walk.step("agent_model"):
        await tick(page, "Device control")
        await choose(page, "Model *", "Claude Haiku 5.5")
        await submit(page)
        await shows(page, words(f"{agent}.step.model.title", model="claude-haiku-5-5"))
    async with walk.step("agent_added"):
        await choose(page, words(f"{agent}.step.model.data.prompt_cache"), words("selector.prompt_cache.options.5m"))
        await submit(page)
        await shows(page, "Created configuration for House.")
    await put_away(page, "Created configuration for House.", "Finish")


async def look_at_the_other_forms(walk: Walk) -> None:
    """A model for tasks and another key are entered in forms like these."""
    page, task = walk.page, "config_subentries.ai_task_data"
    async with walk.step("ai_task"):
        await press(page, words(f"{task}.initiate_flow.user"))
        await shows(page, words(f"{task}.step.init.data_description.name"))
    async with walk.step("ai_task_model"):
        await submit(page)
        await shows(page, words(f"{task}.step.model.data.max_tokens"))
    await put_away(page, words(f"{task}.step.model.data.max_tokens"))
    async with walk.step("reconfigure"):
        await open_menu(walk)
        await page.get_by_role("menuitem", name="Reconfigure").click()
        await shows(page, words("config.step.reconfigure.title"))
    await put_away(page, words("config.step.reconfigure.title"))


async def open_menu(walk: Walk) -> None:
    """Open the menu of the entry on the integration's page."""
    await walk.page.locator("ha-config-entry-row").get_by_role("button", name="Menu").first.click()


async def add_a_function(walk: Walk, client: Client) -> None:
    """A mistake is told with its line; the mended function is tried and saved."""
    page = walk.page
    async with walk.step("function_mistake"):
        await open_function(page, words("config_subentries.function.step.user.menu_options.edit"))
        await write(page, FUNCTION.replace("}}'}", "}'}"))
        await choose(page, "Then", words("selector.then_edit.options.try"))
        await submit(page)
        await shows(page, "Line 2: The template is wrong")
    async with walk.step("function_tried"):
        await write(page, FUNCTION)
        await submit(page)
        await shows(page, "Try greet")
        await write(page, "who: Ada")
        await submit(page)
        await shows(page, "Hello Ada")
    async with walk.step("function_saved"):
        await choose(page, "Then", words("selector.then_try.options.save"))
        await submit(page)
        await shows(page, "Created configuration for greet.")
    await put_away(page, "Created configuration for greet.", "Finish")
    call = {"function": "greet", "arguments": {"who": "Bo"}}
    answer = await client.perform_action("extended_assist.call_function", call, response=True)
    assert answer["result"] == "Hello Bo"


async def pick_the_agent(walk: Walk) -> None:
    """The agent is in the list of an assistant."""
    page = walk.page
    async with walk.step("assistant"):
        await page.get_by_role("link", name="Settings").click()
        await page.get_by_text("Voice assistants").first.click()
        await page.get_by_role("button", name="Home Assistant English").click()
        await choose(page, "Conversation agent", "House")
    await put_away(page, "The conversation agent is the brains", "Update")
