"""Every question to a tool in the documentation, asked in a small home: the answer is the one that is written there."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
import json
import re
from types import SimpleNamespace
from typing import Any

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, MockUser, async_fire_time_changed

from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.calls.policy import Policy
from custom_components.extended_assist.cameras.resize import fitted_size, most_tokens, tokens_of
from custom_components.extended_assist.confirmation.untrusted_text import _HEARD as HEARD
from custom_components.extended_assist.const import CONF_FAMILIES
from custom_components.extended_assist.scheduled.manager import async_get_scheduled_tasks
from custom_components.extended_assist.tools import CATALOGUE, DEFAULT_FAMILIES
from custom_components.extended_assist.tools.cameras import LookTool, LookWithEyesTool
from evaluate.report import PRICES
from homeassistant.components.cover import CoverEntityFeature
from homeassistant.components.demo import light
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import area_registry as ar, device_registry as dr, entity_registry as er, llm
from homeassistant.helpers.json import json_dumps
from homeassistant.util import dt as dt_util
from homeassistant.util.yaml import dump
from tests.cameras.conftest import GARAGE, cameras
from tests.cameras.scenes import CameraServer
from tests.conftest import expose
from tests.habits.lived import Weeks
from tests.helpers.automating import CONFIGURATION, FREE, StartHome
from tests.memory.home import act, async_set_up_home
from tests.memory.people import Speaker
from tests.tools.test_energy import EXTERNAL_GAS
from tests.tools.test_history import House
from tests.tools.test_logbook import move
from tests.web.site import Site, http

from .pages import Example, anchors, blocks, examples, tables

TOOLS = {tool.name.removeprefix("extended_assist__"): tool for tool in CATALOGUE}
AT_ONCE = ToolboxOptions(policy=Policy(ask_first=frozenset(), allow_without_chat=True))
"""Options under which nothing asks first."""
NOW = "2026-11-20 18:07:14"
TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")
NOTHING = re.compile(r"(?!)")

__all__ = ["cameras"]

type Ask = Callable[..., Awaitable[None]]


@pytest.fixture
def ask(hass: HomeAssistant, llm_context: llm.LLMContext) -> Ask:
    """Return a function that asks all the questions to a tool, or one of them, and compares the answers."""

    async def answers(tool: str, options: ToolboxOptions | None = None, which: str = "", **more: Any) -> None:
        asked = [example for example in examples(tool) if example.question.startswith(f"*{which}")]
        assert asked
        for example in asked:
            await answer(tool, options, example, **more)

    async def answer(
        tool: str,
        options: ToolboxOptions | None,
        example: Example,
        context: llm.LLMContext = llm_context,
        served: Callable[[str], str] = str,
        without: re.Pattern[str] = NOTHING,
    ) -> None:
        arguments = json.loads(served(json.dumps(example.arguments)))
        used = TOOLS[tool](options)
        assert used.parameters(arguments) is not None
        hass.data.pop(HEARD, None)  # Each question stands for itself.
        result = await used.async_call(hass, llm.ToolInput(used.name, arguments), context)
        said, expected = (
            without_ids(json.loads(without.sub("…", served(json_dumps(answer)))))
            for answer in (result.data["error"] if result.error else result.data, example.answer)
        )
        assert said == expected, example.question

    return answers


def without_ids(value: Any) -> Any:
    """Return an answer without what is made up anew each time."""
    if isinstance(value, dict):
        return {
            key: "…" if key in ("id", "scheduled") and isinstance(each, str) else without_ids(each)
            for key, each in value.items()
        }
    return [without_ids(each) for each in value] if isinstance(value, list) else value


async def in_berlin(hass: HomeAssistant, freezer: FrozenDateTimeFactory, local: str = NOW) -> None:
    """Set the clock."""
    await hass.config.async_set_time_zone("Europe/Berlin")
    moment = dt_util.parse_datetime(local)
    assert moment
    freezer.move_to(dt_util.as_utc(moment))


def test_every_tool_has_questions() -> None:
    """Each has a heading with at least one question, and its line in the list of tools says what is so."""
    listed = {row[0].partition("`")[2].partition("`")[0]: row for table in tables("docs/tools.md") for row in table[1:]}
    assert listed.keys() == TOOLS.keys()
    for name, (link, _, question, default) in listed.items():
        page = "docs/" + link.partition("(")[2].partition("#")[0]
        assert name in anchors(page)
        assert f"*{question}*" in {example.question.partition(" (")[0] for example in examples(name)}, name
        assert default.startswith("on" if TOOLS[name].family in DEFAULT_FAMILIES else "off"), name


def test_every_argument_is_explained() -> None:
    """The table of a tool names the arguments of its schema, and no others."""
    for name, tool in TOOLS.items():
        page = next(row[0] for table in tables("docs/tools.md") for row in table if f"`{name}`" in row[0])
        found = [
            table
            for table in tables("docs/" + page.partition("(")[2].partition("#")[0], name)
            if table[0][0] == "argument"
        ]
        explained = {word.strip(" `") for row in (found[0][1:] if found else []) for word in row[0].split(",")}
        assert explained in ({str(key) for key in tool.parameters.schema}, set()), name
        assert explained or len(tool.parameters.schema) < 2, name


async def test_get_entities(entities_home: None, ask: Ask) -> None:
    await ask("get_entities")


async def test_get_history(history_home: House, ask: Ask) -> None:
    await ask("get_history")


async def test_get_logbook(hass: HomeAssistant, logbook_home: None, ask: Ask) -> None:
    """At any time: with the clock stopped, what set something off and what it set off would be at the same moment."""
    await move(hass)
    await ask("get_logbook", without=TIME)


async def test_actions(
    hass: HomeAssistant, toolbox: MockConfigEntry, ask: Ask, freezer: FrozenDateTimeFactory, llm_context: llm.LLMContext
) -> None:
    """One thing after another, as they stand: done and undone."""
    options = ToolboxOptions.of(toolbox.options, toolbox.entry_id)
    perform = TOOLS["perform_action"](options)

    async def do(**arguments: Any) -> None:
        result = await perform.async_call(hass, llm.ToolInput(perform.name, arguments), llm_context)
        assert not result.error, result.data

    freezer.tick(61)
    await ask("perform_action", options, which="Make it bright")
    await ask("undo_last_change", options, which="Undo")
    await do(action="notify.send_message", target={"entity_id": "notify.notifier"}, data={"message": "Hello"})
    await ask("undo_last_change", options, which="Take")


LATER = {
    "binary_sensor.fridge": ("off", {"friendly_name": "Fridge", "device_class": "door"}),
    "binary_sensor.washing_machine": ("on", {"friendly_name": "Washing machine", "device_class": "running"}),
    "binary_sensor.dishwasher": ("on", {"friendly_name": "Dishwasher", "device_class": "running"}),
    "binary_sensor.rain": ("on", {"friendly_name": "Rain", "device_class": "moisture"}),
    "light.dining_room": ("off", {"friendly_name": "Dining room light", "supported_color_modes": ["onoff"]}),
    "cover.roof_window": (
        "open",
        {"friendly_name": "Roof window", "device_class": "window", "supported_features": CoverEntityFeature.CLOSE},
    ),
}
"""What the house has besides, and what is so of it."""


async def test_later(hass: HomeAssistant, toolbox: MockConfigEntry, ask: Ask, freezer: FrozenDateTimeFactory) -> None:
    """One thing after another, as they stand: asked for, and listed; then said, put off and done."""
    for entity_id, (state, attributes) in LATER.items():
        hass.states.async_set(entity_id, state, attributes)
        expose(hass, entity_id)
    options = ToolboxOptions.of(toolbox.options, toolbox.entry_id)
    await ask("do_later", options)
    await ask("pending", options, which="What")
    ids = {task.what.say: task.id for task in (await async_get_scheduled_tasks(hass)).standing}

    def served(text: str) -> str:
        return text.replace("f10t9w", ids["The pasta is ready"]).replace("f10t9v", ids["Put out the bins"])

    freezer.tick(540)
    async_fire_time_changed(hass)
    await hass.async_block_till_done()
    await ask("pending", options, which="Snooze", served=served)
    freezer.move_to("2026-03-02T18:00:00+00:00")
    async_fire_time_changed(hass)
    await hass.async_block_till_done()
    await ask("pending", options, which="I have", served=served)


async def test_memory(
    hass: HomeAssistant,
    assist: None,
    hass_storage: dict[str, Any],
    ask: Ask,
    freezer: FrozenDateTimeFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One thing after another, by somebody who is logged in: remembered, replaced, forgotten, recalled."""
    await in_berlin(hass, freezer)
    ids = iter(range(1, 99))
    made_up = SimpleNamespace(ulid_now=lambda: f"K3F2{next(ids):02}")
    monkeypatch.setattr("custom_components.extended_assist.memory.fact.ulid_util", made_up)
    speaker = Speaker((await hass.auth.async_create_user("Ben", group_ids=["system-users"])).id)
    hass.states.async_set("light.living_room_lamp", "on", {"friendly_name": "Living Room Lamp"})
    hass.states.async_set("person.ben", "home", {"friendly_name": "Ben", "user_id": speaker.user_id})
    expose(hass, "light.living_room_lamp")
    for tool in ("remember", "recall"):
        async with speaker.speaking(hass):
            await ask(tool, context=speaker.llm_context())


async def test_facts_of_a_file(hass: HomeAssistant, assist: None, hass_storage: dict[str, Any]) -> None:
    """The list that is shown is what the action takes."""
    await async_set_up_home(hass)
    user = await hass.auth.async_create_user("Ben", group_ids=["system-users"])
    (block,) = blocks("docs/tools/memory.md", "yaml")
    assert await act(hass, "import_facts", user.id, facts=block.text) == {"imported": 2}
    (table,) = [table for table in tables("docs/tools/memory.md") if table[0][0] == "action"]
    listed = {row[0].strip("`").partition(".")[2] for row in table[1:]}
    assert listed == hass.services.async_services_for_domain("extended_assist").keys() - {"call_function"}


async def test_rehearsal(rehearsal_home: None, ask: Ask) -> None:
    await ask("rehearse_automation")


async def test_habits(habits_home: Weeks, ask: Ask) -> None:
    await ask("find_habits")
    await ask("decline_habit")


async def test_get_user_name(hass: HomeAssistant, assist: None, ask: Ask, llm_context: llm.LLMContext) -> None:
    user = await hass.auth.async_create_user("Ben")
    await ask("get_user_name", which="Who", context=replace(llm_context, context=Context(user_id=user.id)))
    entry = MockConfigEntry(domain="test")
    entry.add_to_hass(hass)
    device = dr.async_get(hass).async_get_or_create(config_entry_id=entry.entry_id, identifiers={("test", "1")})
    dr.async_get(hass).async_update_device(device.id, area_id=ar.async_get(hass).async_create("Kitchen").id)
    await ask("get_user_name", which="And", context=replace(llm_context, device_id=device.id))


async def test_get_statistics(statistics_home: None, ask: Ask) -> None:
    await ask("get_statistics")


async def test_get_energy(energy_home: None, ask: Ask) -> None:
    await ask("get_energy", ToolboxOptions(external_statistics=frozenset({EXTERNAL_GAS})))


@pytest.fixture
def known_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the demonstration's lights begin with colours that are known; ask for it before the house."""
    monkeypatch.setattr(light, "random", SimpleNamespace(choice=lambda options: options[-1]))


async def test_execute_script(hass: HomeAssistant, known_colours: None, house: None, ask: Ask) -> None:
    await hass.services.async_call("lock", "unlock", target={"entity_id": "lock.front_door"}, blocking=True)
    await hass.async_block_till_done()
    await ask("execute_script", AT_ONCE, which="Dim")
    await ask("execute_script", AT_ONCE, which="Run")
    await ask("execute_script", AT_ONCE, which="Turn")


async def test_automations(
    hass: HomeAssistant, start_home: StartHome, ask: Ask, freezer: FrozenDateTimeFactory
) -> None:
    """One thing after another: asked, written, changed, removed."""
    automation = examples("get_automations")[0].answer["configuration"]
    await in_berlin(hass, freezer, "2026-11-20 20:35:18")
    beside = "script: !include scripts.yaml\nscene: !include scenes.yaml\n"
    await start_home(dump([{"id": "1763596800000", **automation}]), CONFIGURATION + beside, scripts="", scenes="")
    expose(hass, "automation.porch_light_on_motion")
    await hass.services.async_call(
        "input_number", "set_value", {"entity_id": "input_number.level", "value": 60}, blocking=True
    )
    await hass.services.async_call("input_boolean", "turn_on", {"entity_id": "input_boolean.motion"}, blocking=True)
    await hass.async_block_till_done()
    for tool in ("get_automations", "add_automation", "update_automation", "remove_automation"):
        await ask(tool, FREE)


async def test_render_template(templates_home: Any, ask: Ask) -> None:
    await ask("render_template")


@pytest.mark.parametrize("recorder_db_url", ["sqlite"], indirect=True)
async def test_query_database(hass: HomeAssistant, database_home: None, ask: Ask) -> None:
    await hass.config.async_set_time_zone("Europe/Berlin")
    await ask("query_database")


PAGES = {
    "/hours": http(
        "<title>City library</title><h1>Opening hours</h1><table><tr><th>Day<th>Hours<tr><td>Monday<td>closed"
        "<tr><td>Saturday<td>10:00 to 16:00</table><p>Closed on public holidays, see the <a href=/holidays>list</a>."
    ),
    "/v1/current?city=rome": http('{"current": {"temperature": 17.4, "wind": 3, "humidity": 60}}', "application/json"),
    "/station/7": http(
        "<div class=station><h1 class=name>Station 7</h1></div><p class=prices><b class=price>1.659</b> <b class=price>1.729</b>"
    ),
}


async def test_web(hass: HomeAssistant, site: Site, ask: Ask, freezer: FrozenDateTimeFactory) -> None:
    """The hosts of the examples are one server here."""
    await in_berlin(hass, freezer)
    site.pages.update(PAGES)
    options = ToolboxOptions(web_ports=frozenset({site.port}), policy=Policy(allow_without_chat=True))

    def served(text: str) -> str:
        for host in ("library", "weather", "fuel"):
            text = text.replace(f"https://{host}.example", site.url("").rstrip("/"))
        return text

    for tool in ("fetch_url", "scrape_url"):
        await ask(tool, options, served=served)


async def test_look(
    hass: HomeAssistant,
    cameras: CameraServer,
    ask: Ask,
    llm_context: llm.LLMContext,
    hass_admin_user: MockUser,
    monkeypatch: pytest.MonkeyPatch,
    freezer: FrozenDateTimeFactory,
) -> None:
    """Somebody had looked at the garden in the morning; the model is one that sees."""
    context = replace(llm_context, context=Context(user_id=hass_admin_user.id))
    await in_berlin(hass, freezer, "2026-11-20 08:10:00+01:00")
    tool_input = llm.ToolInput(LookTool.name, {"question": "Is the car there?", "cameras": ["garden"]})
    assert not (await LookWithEyesTool(AT_ONCE).async_call(hass, tool_input, context)).error
    await in_berlin(hass, freezer, f"{NOW}+01:00")
    monkeypatch.setitem(TOOLS, "look", LookWithEyesTool)
    await ask("look", AT_ONCE, context=context)


async def test_watch(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    cameras: CameraServer,
    ask: Ask,
    llm_context: llm.LLMContext,
    hass_admin_user: MockUser,
    freezer: FrozenDateTimeFactory,
) -> None:
    """A camera looks into the oven, and the model of the entry's agent sees."""
    er.async_get(hass).async_update_entity(GARAGE, name="Oven")
    hass.config_entries.async_update_entry(entry, options={CONF_FAMILIES: ["cameras", "wishes"]})
    await hass.async_block_till_done()
    await in_berlin(hass, freezer, f"{NOW}+01:00")
    context = replace(llm_context, context=Context(user_id=hass_admin_user.id))
    await ask("watch", ToolboxOptions.of(entry.options, entry.entry_id), context=context)


def test_sizes_of_pictures() -> None:
    """The table of costs says what is sent of a picture, and what a model counts for it."""
    (table,) = [table for table in tables("docs/tools/cameras.md") if table[0][0] == "camera"]
    for camera, sent, tokens in table[1:]:
        count = 5 if "more than four" in camera else 1
        numbers = re.findall(r"\d+ \N{MULTIPLICATION SIGN} \d+", camera)
        width, height = map(int, numbers[0].split(" \N{MULTIPLICATION SIGN} "))
        fitted = fitted_size(width, height, most_tokens(count))
        assert " \N{MULTIPLICATION SIGN} ".join(map(str, fitted)) == sent
        assert f"{tokens_of(*fitted):,}" == tokens


_LOOKS = {"one camera": 1, "four cameras": 4, "twelve cameras": 12}


def tokens_of_look(size: tuple[int, int], count: int) -> int:
    """Return the tokens of all pictures of a look at so many cameras."""
    return count * tokens_of(*fitted_size(*size, most_tokens(count)))


def test_tokens_of_looks() -> None:
    """What is told of a look with several cameras is what would be sent."""
    (table,) = [table for table in tables("docs/tools/cameras.md") if table[0][0] == "pictures of"]
    assert table[0][1:] == list(_LOOKS)
    assert len(table) == 4
    for row in table[1:]:
        width, height = map(int, re.findall(r"\d{3,}", row[0]))
        assert row[1:] == [f"{tokens_of_look((width, height), count):,}" for count in _LOOKS.values()]


def test_costs_of_looks() -> None:
    """What is told of money is what these tokens cost, for every model of which the project knows the price."""
    (table,) = [table for table in tables("docs/tools/cameras.md") if table[0][0] == "model"]
    assert [row[0].strip("`") for row in table[1:]] == list(PRICES)
    for size in ((1920, 1080), (3840, 2160)):
        tokens = [tokens_of_look(size, count) for count in _LOOKS.values()]
        for row in table[1:]:
            read, _, cached = PRICES[row[0].strip("`")]
            dollars = [*(count * read / 1e6 for count in tokens), tokens[0] * cached / 1e6]
            assert row[1:] == [f"{100 * cost:.2g}" for cost in dollars]


ASKED = {name.removeprefix("test_") for name in list(globals())} | {
    *("perform_action", "undo_last_change", "do_later", "pending", "remember", "recall", "fetch_url", "scrape_url"),
    *("get_automations", "add_automation", "update_automation", "remove_automation", "rehearse_automation"),
    *("find_habits", "decline_habit"),
}
"""Tools that are asked above, in homes and in an order of their own."""


async def test_other_tools(house: None, ask: Ask) -> None:
    """Whatever needs no more than the house of tests/helpers/acting.py is asked there."""
    for tool in TOOLS.keys() - ASKED:
        await ask(tool, AT_ONCE)
