"""Every function in docs/functions.md, written into an entry as the editor does it, and called."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
import json
from typing import Any

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.common import async_fire_time_changed
from pytest_homeassistant_custom_component.components.recorder.common import async_wait_recording_done

from custom_components.extended_assist.functions.definition import read_definition
from homeassistant.components.recorder import Recorder
from homeassistant.core import Context, HomeAssistant, callback
from homeassistant.helpers import config_validation as cv, script
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
from homeassistant.util.yaml import parse_yaml
from tests.conftest import expose
from tests.functions.conftest import Install, Site, site as functions_site

from .pages import Block, blocks, tables

__all__ = ["functions_site"]

PAGE = "docs/functions.md"
HOST = "http://192.168.1.5"
WHOLE = ("add_to_shopping_list", "remind")

type Call = Callable[..., Awaitable[Any]]


def block_of(name: str) -> Block:
    """Return the block that shows a type, or a whole function by its name."""
    (found,) = [block for block in blocks(PAGE, "yaml") if _name(parse_yaml(block.text)) == name]
    return found


def _name(value: Any) -> str:
    """Return what a block is called here."""
    if "action" in value:
        return str(value["action"])
    return str(value["spec"]["name"] if "spec" in value else value["function"]["type"])


def test_every_block_is_known() -> None:
    """Whole functions, one for each type that has settings, and an action."""
    shown = {_name(parse_yaml(block.text)) for block in blocks(PAGE, "yaml")}
    types = {"composite", "rest", "scrape", "script", "sqlite", "template"}
    assert shown == {*types, *WHOLE, "extended_assist.call_function"}
    assert len(shown) == len(blocks(PAGE, "yaml"))


def test_types_and_native_functions() -> None:
    """The tables list the types and the built-in functions that there are, with the tier that they have."""
    types, natives = (next(each for each in tables(PAGE) if each[0][0] == head) for head in ("type", "name"))
    assert {row[0].strip("`") for row in types[1:]} == MINIMAL.keys()
    for kind, settings in MINIMAL.items():
        tier = next(row[2] for row in types[1:] if row[0] == f"`{kind}`").split(";")[0]
        definition = read_definition(json.dumps({"spec": {"name": "x"}, "function": {"type": kind, **settings}}))
        if tier in ("read", "control"):
            assert definition.type.tier(definition.settings).name.lower() == tier, kind
    for row in natives[1:]:
        text = {"spec": {"name": "x"}, "function": {"type": "native", "name": row[0].strip("`")}}
        assert read_definition(json.dumps(text))


MINIMAL: dict[str, dict[str, Any]] = {
    "template": {"value_template": "x"},
    "script": {"sequence": []},
    "rest": {"resource": HOST},
    "scrape": {"resource": HOST, "sensor": [{"select": "p"}]},
    "sqlite": {},
    "native": {"name": "get_energy"},
    "composite": {"sequence": [{"type": "template", "value_template": "x"}]},
}


@pytest.fixture
def call(hass: HomeAssistant, install: Install) -> Call:
    """Return a function that installs what a block shows and calls it with arguments."""

    async def run(kind: str, served: tuple[str, str] = ("", ""), **arguments: Any) -> Any:
        text = block_of(kind).text.replace(*served)
        if kind not in WHOLE:
            properties = {name: {} for name in arguments}
            spec = {"name": f"try_{kind}", "parameters": {"type": "object", "properties": properties}}
            text = f"spec: {json.dumps(spec)}\n{text}"
        await install(text)
        name = kind if kind in WHOLE else f"try_{kind}"
        data = {"function": name, "arguments": arguments}
        return await hass.services.async_call(
            "extended_assist", "call_function", data, blocking=True, return_response=True
        )

    return run


async def test_template(hass: HomeAssistant, call: Call) -> None:
    hass.states.async_set("sensor.outside", "12.5")
    assert await call("template", area="the garden") == {"result": "12.5 °C in the garden"}


async def test_script_answers(hass: HomeAssistant, house: None, call: Call) -> None:
    now = dt_util.now()
    span = {"from": (now - timedelta(days=1)).isoformat(), "to": (now + timedelta(days=2)).isoformat()}
    assert "Future Event" in str(await call("script", ("calendar.family", "calendar.calendar_1"), **span))


async def test_rest(call: Call, functions_site: Site) -> None:
    functions_site.answers["search"] = ('{"items": [{"title": "Bees"}, {"title": "Trees"}]}', "application/json")
    assert await call("rest", (HOST, functions_site.url), query="bees & trees") == {"result": "Bees, Trees"}
    assert functions_site.requests[0][1] == "/search?q=bees%20%26%20trees"


async def test_scrape(call: Call, functions_site: Site) -> None:
    page = "<div class=today><b class=meal>Soup</b> <i class=price>3.50</i></div>"
    functions_site.answers["meals"] = (page, "text/html")
    assert await call("scrape", (HOST, functions_site.url)) == {"result": "Soup for 3.5 euros"}


@pytest.mark.parametrize("recorder_db_url", ["sqlite"], indirect=True)
@pytest.mark.parametrize("kind", ["sqlite", "composite"])
async def test_past(
    recorder_mock: Recorder, hass: HomeAssistant, call: Call, freezer: FrozenDateTimeFactory, kind: str
) -> None:
    """The last rows of an entity, and how many states it had."""
    for state in ("on", "off", "on"):
        freezer.tick(60)
        hass.states.async_set("binary_sensor.door", state)
    await async_wait_recording_done(hass)
    expose(hass, "binary_sensor.door")
    freezer.tick(60)
    if kind == "sqlite":
        result = (await call("sqlite", entity_id="binary_sensor.door", rows=2))["result"]
        assert [row["state"] for row in result] == ["on", "off"]
    else:
        start = (dt_util.utcnow() - timedelta(hours=1)).isoformat()
        end = dt_util.utcnow().isoformat()
        result = await call("composite", entity_ids=["binary_sensor.door"], start_time=start, end_time=end)
        assert result == {"result": "3 changes"}


async def test_whole_and_from_a_script(hass: HomeAssistant, house: None, call: Call) -> None:
    """The first example puts something on the list; so does a script with the action that is shown."""
    assert await call("add_to_shopping_list", item="bread") == {"result": "Success"}
    action = parse_yaml(block_of("extended_assist.call_function").text)
    sequence = await script.async_validate_actions_config(hass, cv.SCRIPT_SCHEMA([action]))
    done = await script.Script(hass, sequence, "Add", "script").async_run(context=Context())
    assert done
    assert done.variables["answer"] == {"result": "Success"}
    listed = await hass.services.async_call(
        "todo", "get_items", target={"entity_id": "todo.shopping_list"}, blocking=True, return_response=True
    )
    assert [item["summary"] for item in listed["todo.shopping_list"]["items"]] == ["bread", "oat milk"]


async def test_later(hass: HomeAssistant, call: Call, freezer: FrozenDateTimeFactory) -> None:
    """With a delay, what is to be done waits for its time."""
    assert await async_setup_component(hass, "persistent_notification", {})
    heard: list[str] = []
    hass.bus.async_listen(
        "call_service", callback(lambda event: heard.append(event.data["service_data"].get("message")))
    )
    await call("remind", what="Tea", delay={"minutes": 4})
    assert "Tea" not in heard
    freezer.tick(241)
    async_fire_time_changed(hass)
    await hass.async_block_till_done()
    assert "Tea" in heard
