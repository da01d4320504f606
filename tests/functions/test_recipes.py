"""Every kind of recipe that is published for Extended OpenAI Conversation, through the agent, on real integrations."""

from datetime import timedelta
import json
from typing import Any

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, MockUser, async_fire_time_changed
from pytest_homeassistant_custom_component.components.recorder.common import async_wait_recording_done

from custom_components.extended_assist.api.instance import api_id
from homeassistant.components.recorder import Recorder
from homeassistant.core import Context, HomeAssistant, ServiceCall, callback
from homeassistant.helpers import llm
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
from tests.claude_server import ClaudeServer, Turn, text, tool_use
from tests.conftest import Converse, expose
from tests.helpers.automating import StartHome, start_home
from tests.helpers.recorded import meter, record, steps
from tests.helpers.talking import speech

from . import recipes
from .conftest import Ask, Install, Site

__all__ = ["start_home"]

pytestmark = pytest.mark.usefixtures("no_deprecations")

FEED = (
    '<feed xmlns:yt="x"><entry><yt:videoId>a1</yt:videoId><title>First of all videos</title></entry>'
    "<entry><yt:videoId>b2</yt:videoId><title>Second</title></entry></feed>"
)
BED = "light.bed_light"


@pytest.mark.usefixtures("house")
class TestHouse:
    """Recipes on the demonstration's devices."""

    async def test_area(self, hass: HomeAssistant, install: Install, ask: Ask) -> None:
        """Devices and whole areas, of which only what is exposed is reached."""
        await install(recipes.AREA)
        result = await ask(
            "control_home",
            {
                "list": [
                    {"domain": "light", "service": "turn_off", "service_data": {"area_id": ["kitchen"]}},
                    {"domain": "light", "service": "turn_on", "service_data": {"entity_id": [BED]}},
                    {"domain": "light", "service": "turn_on", "service_data": {"entity_id": ["light.zebra"]}},
                    {"domain": "light", "service": "explode", "service_data": {"entity_id": [BED]}},
                ]
            },
        )
        assert [item.get("success") for item in result] == [True, True, None, None]
        assert hass.states.get("light.kitchen_lights").state == "off"
        assert hass.states.get(BED).state == "on"
        assert hass.states.get("light.zebra").state != "off"
        assert "not found or is not exposed" in result[2]["error"]

    async def test_single(self, hass: HomeAssistant, install: Install, ask: Ask) -> None:
        """One action, with ids written as one text."""
        await install(recipes.SINGLE)
        both = f"{BED}, light.kitchen_lights"
        result = await ask(
            "control_one", {"domain": "light", "service": "turn_on", "service_data": {"entity_id": both}}
        )
        assert result["success"]
        assert hass.states.get(BED).state == hass.states.get("light.kitchen_lights").state == "on"
        hidden = {"domain": "light", "service": "turn_on", "service_data": {"entity_id": "light.zebra"}}
        assert "not found or is not exposed" in await ask("control_one", hidden, error=True)

    async def test_attributes(self, install: Install, ask: Ask) -> None:
        """A template reads what is exposed; another id is refused as an unknown one is."""
        await install(recipes.ATTRIBUTES)
        assert "friendly_name=Bed Light" in await ask("look_at", {"entity_id": BED})
        hidden, unknown = [
            await ask("look_at", {"entity_id": entity_id}, error=True) for entity_id in ("light.zebra", "light.zebrb")
        ]
        assert hidden.replace("zebra", "zebrb") == unknown

    async def test_calendar(self, install: Install, ask: Ask) -> None:
        """A script's response is the result."""
        await install(recipes.CALENDAR)
        now = dt_util.now()
        span = {
            "start_date_time": (now - timedelta(days=1)).isoformat(),
            "end_date_time": (now + timedelta(days=2)).isoformat(),
        }
        assert "Future Event" in str(await ask("appointments", span))

    async def test_fan(self, hass: HomeAssistant, install: Install, ask: Ask) -> None:
        """Words of old YAML stay words."""
        await install(recipes.FAN)
        assert await ask("fan_mode", {"entity_id": "fan.living_room_fan", "preset_mode": "smart"}) == "Success"
        assert hass.states.get("fan.living_room_fan").attributes["preset_mode"] == "smart"
        error = await ask("fan_mode", {"entity_id": "fan.living_room_fan", "preset_mode": "off"}, error=True)
        assert "off" in error  # The fan has no such mode, and says so.
        assert "one of" in await ask("fan_mode", {"entity_id": "x", "preset_mode": "wild"}, error=True)

    async def test_notify(self, hass: HomeAssistant, install: Install, ask: Ask) -> None:
        """A message is sent as it is, template or not."""
        await install(recipes.NOTIFY)
        sent: list[str] = []
        hass.bus.async_listen("notify", callback(lambda event: sent.append(event.data["message"])))
        assert await ask("send_message", {"message": "Dinner {{ 6 * 7 }}!"}) == "Success"
        await hass.async_block_till_done()
        assert sent == ["Dinner {{ 6 * 7 }}!"]

    async def test_shopping_list(self, hass: HomeAssistant, install: Install, ask: Ask) -> None:
        """An item is added."""
        await install(recipes.SHOPPING_LIST)
        await ask("buy", {"item": "oat milk"})
        assert "oat milk" in await _listed(hass)

    async def test_timer(self, hass: HomeAssistant, install: Install, ask: Ask, freezer: FrozenDateTimeFactory) -> None:
        """With a delay, a call waits for its time."""
        await install(recipes.TIMER)
        arguments: dict[str, Any] = {"item": "candles", "list": "todo.shopping_list"}
        assert await ask("add_later", arguments | {"delay": {"minutes": 5}}) == "Scheduled"
        assert "candles" not in await _listed(hass)
        waiting = await ask("extended_assist__pending", {})
        assert "candles" in str(waiting["pending"])
        freezer.tick(301)
        async_fire_time_changed(hass)
        await hass.async_block_till_done(wait_background_tasks=True)
        assert "candles" in await _listed(hass)
        assert await ask("add_later", arguments | {"item": "salt", "delay": {"seconds": 0}}) == "Success"
        assert "salt" in await _listed(hass)

    async def test_weather(self, install: Install, ask: Ask) -> None:
        """A forecast comes through."""
        await install(recipes.WEATHER)
        result = await ask("forecast", {"entity_id": "weather.demo_weather_south", "type": "daily"})
        assert "temperature" in str(result)

    async def test_play(self, hass: HomeAssistant, install: Install, ask: Ask, site: Site) -> None:
        """Media is found on a server, and played."""
        await install(recipes.PLEX.replace("SERVER", site.url))
        films = [{"title": "Up, up", "year": 2009, "Director": [{"tag": "Docter"}], "key": "/1"}]
        films.append({"title": "Solo", "year": 2020, "key": "/2"})
        site.answers["plex"] = (json.dumps({"MediaContainer": {"Metadata": films}}), "application/json")
        result = await ask("find_film", {"query": "up & away"})
        assert "Up  up,2009,Docter,/1" in result
        assert "Solo,2020,N/A,/2" in result
        assert site.requests[0][1] == "/plex?query=up%20%26%20away&X-Plex-Token=TOKEN"
        expose(hass, "media_player.living_room")
        await ask("play_film", {"key": "/1", "entity_id": "media_player.living_room", "type": "movie"})
        assert hass.states.get("media_player.living_room").attributes["media_content_id"] == "plex://1234//1"

    async def test_tts(self, hass: HomeAssistant, install: Install, ask: Ask) -> None:
        """Words reach the speaker's action."""
        said: list[dict[str, Any]] = []
        hass.services.async_register("tts", "demo_say", lambda call: said.append(dict(call.data)))
        await install(recipes.TTS)
        await ask("say", {"message": "Hello", "device": "media_player.kitchen"})
        assert said == [{"entity_id": "media_player.kitchen", "message": "Hello"}]

    async def test_music(self, hass: HomeAssistant, install: Install, ask: Ask) -> None:
        """A script searches, and a template reads what it left in a sensor."""
        found = [{"type": "track", "id": "7", "title": "Clair de lune"}]

        async def search(call: ServiceCall) -> None:
            hass.states.async_set("sensor.music_extra", call.data["query"], {"search": found})

        hass.services.async_register("music_box", "search", search)
        await install(recipes.MUSIC)
        assert "track,7,Clair de lune" in await ask("find_music", {"query": "debussy"})

    async def test_event(self, hass: HomeAssistant, install: Install, ask: Ask) -> None:
        """A script may fire events, with what the model gave as their data."""
        await install(recipes.EVENT)
        seen: list[dict[str, Any]] = []
        hass.bus.async_listen("remember_this", callback(lambda event: seen.append(event.data)))
        await ask("remember", {"key": "gate", "value": "{{ states('light.zebra') }}"})
        await hass.async_block_till_done()
        assert seen == [{"key": "gate", "value": "{{ states('light.zebra') }}"}]


async def _listed(hass: HomeAssistant) -> str:
    """Return what is on the shopping list."""
    items = await hass.services.async_call(
        "todo", "get_items", target={"entity_id": "todo.shopping_list"}, blocking=True, return_response=True
    )
    return str(items)


async def test_sensors_of_others(hass: HomeAssistant, install: Install, ask: Ask) -> None:
    """Templates read what integrations keep in attributes: chores, stock, packages, mails."""
    yesterday = (dt_util.now() - timedelta(days=1)).date().isoformat()
    hass.states.async_set("sensor.grocy_chores", "2", {"chores": [{"next": f"{yesterday}T10:00:00"}, {"next": None}]})
    products = [{"name": "Rice", "available": 0, "aggregated": 3}, {"name": "Tea", "available": 1, "aggregated": 3}]
    hass.states.async_set("sensor.grocy_stock", "2", {"products": products})
    hass.states.async_set("sensor.17track_packages_delivered", "0", {"packages": []})
    package = {"friendly_name": "Shoes", "info_text": "Hub, north"}
    hass.states.async_set("sensor.17track_packages_in_transit", "1", {"packages": [package]})
    mail = {"subject": "Hi", "to": ["a", "b"], "body": 'Say "cheese"\nplease'}
    hass.states.async_set("sensor.inbox", "1", {"data": [mail]})
    await install(recipes.GROCY + recipes.TRACK + recipes.MAIL)
    assert yesterday in await ask("chores")
    stock = await ask("stock")
    assert "Rice,3" in stock
    assert "Tea,1" in stock
    assert "in_transit,Shoes,Hub; north" in await ask("packages")
    assert '"Hi","a, b","Say \\"cheese\\" please"' in await ask("inbox")


async def test_search(install: Install, ask: Ask, site: Site) -> None:
    """A search is encoded once, and its answer goes through the template."""
    await install(recipes.SEARCH.replace("SERVER", site.url))
    site.answers["search"] = ('{"items": [{"title": "Bees"}]}', "application/json")
    assert await ask("search", {"query": "bees & trees/100% ü", "results_count": 2}) == '[{"title": "Bees"}]'
    assert site.requests[0][1] == "/search?key=KEY&cx=1:2&q=bees%20%26%20trees/100%25%20%C3%BC&num=2"
    site.answers["search"] = ('{"items": []}', "application/json")
    assert await ask("search", {"query": "nothing"}) == "Nothing was found."


async def test_feed_and_page(install: Install, ask: Ask, site: Site) -> None:
    """XML reads as JSON, and selectors read a page."""
    await install((recipes.FEED + recipes.SCRAPE).replace("SERVER", site.url))
    site.answers["feed"] = (
        FEED,
        "application/xml",
    )
    assert await ask("videos", {"channel_id": "c&d"}) == "a1,First of a;b2,Second;"
    assert site.requests[0][1] == "/feed?channel_id=c%26d"
    site.answers["page"] = (
        "<html><body><div class=current><h1>Version: 2026.11</h1></div><p class=date>No</p><p class=date>TODAY</p>",
        "text/html",
    )
    assert await ask("version") == "version: 2026.11, of: today"


async def test_user(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    install: Install,
    ask: Ask,
    llm_context: llm.LLMContext,
    hass_admin_user: MockUser,
) -> None:
    """Who speaks is told, not whom the model asks about."""
    await install(recipes.USER)
    assert await ask("who_is", {"user_id": hass_admin_user.id}) == {"name": "Unknown"}
    llm_context.context = Context(user_id=hass_admin_user.id)
    instance = await llm.async_get_api(hass, api_id(entry.entry_id), llm_context)
    result = await instance.async_call_tool(llm.ToolInput("who_is", {"user_id": "another"}))
    assert result.data == {"result": {"name": hass_admin_user.name}}


@pytest.mark.parametrize("recorder_db_url", ["sqlite"], indirect=True)
class TestPast:
    """Recipes that ask for the past."""

    @pytest.fixture(autouse=True)
    async def past(
        self, recorder_mock: Recorder, hass: HomeAssistant, entry: MockConfigEntry, freezer: FrozenDateTimeFactory
    ) -> None:
        """Turn two lamps on and off, one of them hidden."""
        freezer.move_to("2026-11-20 10:00:00+00:00")
        for state in ("off", "on", "off", "on", "off"):
            for name in ("lamp", "zebra"):
                hass.states.async_set(f"light.{name}", state)
            await hass.async_block_till_done()
            freezer.tick(60)
        expose(hass, "light.lamp")
        await async_wait_recording_done(hass)

    async def test_history(self, install: Install, ask: Ask) -> None:
        """States come as the old ones did, so that templates on them work."""
        await install(recipes.HISTORY)
        result = await ask("past", {"entity_ids": ["light.lamp"]})
        assert result.count("'state': 'on'") == 2
        assert "2026-11-20" in result
        assert "not found or is not exposed" in await ask("past", {"entity_ids": ["light.zebra"]}, error=True)

    async def test_any_query(self, install: Install, ask: Ask) -> None:
        """A query of the model's own sees exposed rows only."""
        await install(recipes.SQLITE_ANY + recipes.SQLITE_CHECKED)
        everything = {
            "query": "SELECT entity_id, count(*) AS n FROM states JOIN states_meta USING (metadata_id) GROUP BY 1"
        }
        assert await ask("ask_database", everything) == [{"entity_id": "light.lamp", "n": 5}]
        assert "name an exposed" in await ask("ask_database_checked", everything, error=True)
        tricked = {"query": "SELECT entity_id FROM states_meta WHERE entity_id = 'light.lamp' OR 1 = 1"}
        assert await ask("ask_database_checked", tricked) == [{"entity_id": "light.lamp"}]
        assert "Only SELECT" in await ask("ask_database", {"query": "DELETE FROM states"}, error=True)

    async def test_state_at(self, install: Install, ask: Ask) -> None:
        """The state at a moment, though it requires what it does not describe."""
        await install(recipes.SQLITE_AT)
        (row,) = await ask("state_at", {"entity_id": "light.lamp", "datetime": _local("2026-11-20 10:01:30")})
        assert row["state"] == "on"
        hidden = {"entity_id": "light.zebra", "datetime": "2026-11-20 10:01:30"}
        assert "not exposed" in await ask("state_at", hidden, error=True)

    async def test_states_between(self, install: Install, ask: Ask) -> None:
        """Pages, an operator and a direction."""
        await install(recipes.SQLITE_BETWEEN)
        span = {"start_datetime": "2026-11-01 00:00:00", "end_datetime": "2026-12-01 00:00:00"}
        asked = {"entity_id": "light.lamp", **span, "order": "desc", "page": 1, "limit": 3}
        result = await ask("states_between", asked)
        assert result.count("'state'") == 3
        assert '"total": 4' in result
        result = await ask("states_between", asked | {"state": "on", "state_operator": "=", "page": 1, "limit": 10})
        assert result.count("'state': 'on'") == 2
        assert "'state': 'off'" not in result

    async def test_time_in_state(self, install: Install, ask: Ask) -> None:
        """The longest query that is published."""
        await install(recipes.SQLITE_TOTAL)
        asked = {"entity_id": "light.lamp", "state": "on"}
        span = {"start_datetime": "2026-11-01 00:00:00", "end_datetime": "2026-12-01 00:00:00"}
        assert await ask("time_in_state", asked | span) == "2m 0s"

    async def test_energy(self, hass: HomeAssistant, install: Install, ask: Ask, hass_storage: dict[str, Any]) -> None:
        """The dashboard's devices and their statistics, as far as they are exposed."""
        devices = [{"stat_consumption": f"sensor.{name}"} for name in ("oven", "zebra")]
        data = {"energy_sources": [], "device_consumption": devices, "device_consumption_water": []}
        hass_storage["energy"] = {"version": 1, "minor_version": 3, "key": "energy", "data": data}
        assert await async_setup_component(hass, "energy", {})
        day = dt_util.start_of_local_day() - timedelta(days=1)
        for name in ("oven", "zebra"):
            hass.states.async_set(f"sensor.{name}", "1")
            rows = meter(steps(day, day + timedelta(hours=24)), lambda _: 0.5)
            await record(hass, f"sensor.{name}", rows, unit_of_measurement="kWh", unit_class="energy")
        expose(hass, "sensor.oven")
        await async_wait_recording_done(hass)
        await install(recipes.ENERGY)
        assert await ask("energy_devices") == "['sensor.oven']"
        span = {"start_time": day.isoformat(), "end_time": (day + timedelta(days=1)).isoformat(), "period": "day"}
        result = await ask("consumption", {"statistic_ids": ["sensor.oven"], **span})
        assert [row["unit_of_measurement"] for row in result["sensor.oven"]] == ["kWh"]
        assert result["sensor.oven"][0]["change"] == pytest.approx(12, abs=0.5)
        error = await ask("consumption", {"statistic_ids": ["sensor.zebra"], **span}, error=True)
        assert "not found or is not exposed" in error


def _local(moment: str) -> str:
    """Return a moment of UTC as local time of the home."""
    return dt_util.as_local(dt_util.parse_datetime(f"{moment}+00:00")).strftime("%Y-%m-%d %H:%M:%S")


EVENING = """
alias: Evening
trigger:
  platform: time
  at: 17:30:00
condition: []
action:
  - service: input_boolean.turn_on
    entity_id: input_boolean.porch
"""


async def test_automation(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    start_home: StartHome,
    install: Install,
    converse: Converse,
    claude_server: ClaudeServer,
) -> None:
    """Administrators only, and only after being asked; then it is written as our own tool writes it."""
    path = await start_home()
    await install(recipes.AUTOMATION)
    call = tool_use("write_automation", {"automation_config": EVENING})

    def result() -> dict[str, Any]:
        block = claude_server.message_requests[-1]["messages"][-1]["content"][-1]
        data: dict[str, Any] = json.loads(block["content"])
        return data

    await converse("Turn the porch on every evening.", Turn([call]), Turn([text("No.")]))
    assert "Nobody is logged in" in result()["error"]
    hass.config_entries.async_update_entry(entry, options={"who_may_administer": "anyone"})
    await hass.async_block_till_done()
    here: dict[str, Any] = {"device_id": "speaker"}
    asked = await converse("Turn the porch on every evening.", Turn([call]), **here)
    assert "Evening" in speech(asked)
    assert speech(asked).endswith("Shall I do that?")
    assert path.read_text() == "[]\n"
    await converse("Yes.", Turn([text("Done.")]), conversation_id=asked.conversation_id, **here)
    assert result()["result"]["added"] == "automation.evening"
    assert 'at: "17:30:00"' in path.read_text().replace("'", '"')
    assert hass.states.get("automation.evening").state == "on"
    await hass.services.async_call("automation", "turn_off", {"entity_id": "automation.evening"}, blocking=True)
