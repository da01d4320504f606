"""Sixty automations that people ask for, in the present syntax, and the home that they are for."""

from dataclasses import dataclass
from typing import Any
from unittest.mock import AsyncMock

from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    MockModule,
    MockPlatform,
    mock_integration,
    mock_platform,
)
import voluptuous as vol

from homeassistant.components.device_automation import DEVICE_TRIGGER_BASE_SCHEMA
from homeassistant.const import EntityCategory
from homeassistant.core import HomeAssistant
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
    floor_registry as fr,
    label_registry as lr,
)
from homeassistant.setup import async_setup_component
from tests.conftest import expose

type Part = dict[str, Any]

PHONE = "notify.mobile_app_annas_phone"
LISTED_ACTIONS = frozenset(
    {PHONE, "persistent_notification.create", "rest_command.ping", "camera.snapshot", "mqtt.publish"}
)
LISTED_TRIGGERS = frozenset({"zha_event", "doorbell_pressed", "mqtt:zigbee/remote/action"})
HOME = """\
automation: !include automations.yaml
input_boolean: {lamp: {name: Lamp}, porch: {name: Porch light}, motion: {name: Motion}, guests: {name: Guests}, zebra: {name: Zebra mode}}
input_number: {level: {name: Level, min: 0, max: 100}}
input_select: {house: {name: House mode, options: [Home, Away, Night]}}
input_text: {last: {name: Last visitor}}
input_datetime: {wake: {name: Wake up, has_time: true}}
input_button: {bell: {name: Bell}}
timer: {laundry: {name: Laundry}, zebra: {name: Zebra timer}}
counter: {visits: {name: Visits}}
schedule: {heating: {name: Heating, monday: [{from: "06:00:00", to: "22:00:00"}]}}
zone: [{name: Work, latitude: 1, longitude: 1}]
script: {announce: {alias: Announce, fields: {text: {selector: {text: {}}}, loud: {selector: {boolean: {}}}}, sequence: []}}
scene: [{name: Movie, entities: {light.hall: "on"}}, {name: Zebra, entities: {light.zebra: "on"}}]
rest_command: {ping: {url: "http://127.0.0.1:1"}}
shell_command: {sweep: "true"}
"""
_DOMAINS = (
    *("input_boolean", "input_number", "input_select", "input_text", "input_datetime", "input_button", "timer"),
    *("counter", "schedule", "zone", "script", "scene", "rest_command", "shell_command", "light", "switch", "climate"),
    *(
        "fan",
        "cover",
        "lock",
        "media_player",
        "calendar",
        "weather",
        "camera",
        "vacuum",
        "notify",
        "tag",
        "sun",
        "siren",
    ),
    *(
        "persistent_notification",
        "binary_sensor",
        "sensor",
        "event",
        "battery",
        "motion",
        "person",
        "tts",
        "humidifier",
    ),
)
_AREAS = {"Kitchen": "Ground floor", "Hall": "Ground floor", "Bedroom": "Upstairs"}
_ENTITIES: dict[str, tuple[str, str | None, Part]] = {
    "light.hall": ("off", "Hall", {"supported_color_modes": ["brightness"]}),
    "light.kitchen": ("on", "Kitchen", {"supported_color_modes": ["brightness"]}),
    "light.bedroom": ("off", "Bedroom", {"supported_color_modes": ["brightness"]}),
    "light.porch": ("off", None, {"supported_color_modes": ["onoff"]}),
    "light.zebra": ("off", "Kitchen", {"supported_color_modes": ["onoff"]}),
    "switch.heater": ("off", "Hall", {}),
    "sensor.washer_power": ("3", None, {"unit_of_measurement": "W", "device_class": "power"}),
    "sensor.bath_humidity": ("50", None, {"unit_of_measurement": "%", "device_class": "humidity"}),
    "sensor.outside": ("15", None, {"unit_of_measurement": "°C", "device_class": "temperature"}),
    "sensor.lock_battery": ("50", None, {"unit_of_measurement": "%", "device_class": "battery"}),
    "sensor.blind_battery": ("50", None, {"unit_of_measurement": "%", "device_class": "battery"}),
    "binary_sensor.smoke_battery": ("off", "Hall", {"device_class": "battery"}),
    "binary_sensor.zebra_battery": ("off", "Hall", {"device_class": "battery"}),
    "binary_sensor.hall_motion": ("off", "Hall", {"device_class": "motion"}),
    "binary_sensor.front_door": ("off", "Hall", {"device_class": "door"}),
    "binary_sensor.window": ("off", "Bedroom", {"device_class": "window"}),
    "climate.living": (
        "heat",
        None,
        {"supported_features": 17, "hvac_modes": ["heat", "off"], "preset_modes": ["eco"]},
    ),
    "fan.bath": ("off", None, {"supported_features": 49}),
    "cover.blinds": ("open", "Bedroom", {"supported_features": 15}),
    "lock.front": ("locked", "Hall", {}),
    "media_player.kitchen": ("idle", "Kitchen", {"supported_features": 152461}),
    "tts.home": ("unknown", None, {}),
    "calendar.family": ("off", None, {}),
    "weather.home": ("sunny", None, {"supported_features": 3}),
    "camera.door": ("idle", None, {"access_token": "4711"}),
    "vacuum.robo": ("docked", None, {"supported_features": 16383}),
    "siren.garden": ("off", None, {"supported_features": 31}),
    "event.remote": ("2026-01-01T00:00:00+00:00", None, {"event_types": ["single", "double"]}),
    "person.anna": ("home", None, {}),
    "person.ben": ("home", None, {}),
    "person.zebra": ("home", None, {}),
    "notify.family": ("unknown", None, {}),
    "humidifier.bath": ("off", None, {"supported_features": 1}),
}


async def set_up_home(hass: HomeAssistant) -> None:
    """Set up the home: helpers and actions are real, devices are states; what is called zebra is hidden."""
    from homeassistant.config import async_hass_config_yaml  # noqa: PLC0415 - patched by the harness until now

    config = await async_hass_config_yaml(hass)
    for domain in _DOMAINS:
        assert await async_setup_component(hass, domain, config), domain
    await hass.async_block_till_done()
    floors = {name: fr.async_get(hass).async_create(name).floor_id for name in sorted({*_AREAS.values()})}
    areas = {name: ar.async_get(hass).async_get_or_create(name).id for name in _AREAS}
    for name, floor in _AREAS.items():
        ar.async_get(hass).async_update(areas[name], floor_id=floors[floor])
    label = lr.async_get(hass).async_create("Evening").label_id
    registry = er.async_get(hass)
    for entity_id, (state, area, attributes) in _ENTITIES.items():
        domain, name = entity_id.split(".")
        registry.async_get_or_create(domain, "test", name, suggested_object_id=name)
        registry.async_update_entity(
            entity_id, area_id=areas.get(area or ""), labels={label} if area == "Hall" else set()
        )
        hass.states.async_set(entity_id, state, {"friendly_name": name.replace("_", " ").capitalize(), **attributes})
    expose(hass, *(entity_id for entity_id in hass.states.async_entity_ids() if "zebra" not in entity_id))
    await _add_phone(hass)
    await _add_tags(hass)
    _add_remote(hass)


async def _add_phone(hass: HomeAssistant) -> None:
    """Add the app on a phone, and a remote that has nothing but a battery."""
    app = {"push_token": "x", "push_url": "http://127.0.0.1:1"}
    data = {
        "app_data": app,
        **dict.fromkeys(("app_id", "app_name", "manufacturer", "model", "os_name"), "App"),
        **dict.fromkeys(("app_version", "os_version"), "1"),
        **dict.fromkeys(("device_id", "user_id", "webhook_id"), "anna"),
        "device_name": "Annas phone",
        "supports_encryption": False,
    }
    entry = MockConfigEntry(domain="mobile_app", title="Annas phone", data=data)
    entry.add_to_hass(hass)
    assert await async_setup_component(hass, "mobile_app", {})
    await hass.async_block_till_done()
    assert hass.services.has_service("notify", "mobile_app_annas_phone")


async def _add_tags(hass: HomeAssistant) -> None:
    """Add two tags, of which one is exposed."""
    for name in ("fridge", "zebra"):
        await hass.data["tag"].async_create_item({"tag_id": f"tag-{name}", "name": name.capitalize()})
    await hass.async_block_till_done()
    expose(hass, "tag.fridge")


def _add_remote(hass: HomeAssistant) -> None:
    """Add a remote: a device that has nothing to show but the state of its battery."""
    mock_integration(hass, MockModule("remotes"))
    platform = MockPlatform()
    platform.TRIGGER_SCHEMA = DEVICE_TRIGGER_BASE_SCHEMA.extend({}, extra=vol.ALLOW_EXTRA)
    platform.async_attach_trigger = AsyncMock(return_value=lambda: None)
    mock_platform(hass, "remotes.device_trigger", platform)
    entry = MockConfigEntry(domain="remotes")
    entry.add_to_hass(hass)
    device = dr.async_get(hass).async_get_or_create(
        config_entry_id=entry.entry_id, identifiers={("remotes", "1")}, name="Remote"
    )
    battery = er.async_get(hass).async_get_or_create(
        "sensor",
        "remotes",
        "1",
        suggested_object_id="remote_battery",
        device_id=device.id,
        entity_category=EntityCategory.DIAGNOSTIC,
    )
    hass.states.async_set(battery.entity_id, "50", {"friendly_name": "Battery of the remote"})
    expose(hass, battery.entity_id)


def phone_id(hass: HomeAssistant) -> str:
    """Return the id of the device that the app's phone is."""
    (device,) = (item for item in dr.async_get(hass).devices if item.name == "Annas phone")
    return device.id


@dataclass(frozen=True, slots=True)
class Wish:
    """What somebody wants, and why it is refused, where it is."""

    name: str
    config: Part
    refused: str | None = None


def when(entity_id: str | list[str], to: str | None = None, **more: Any) -> Part:
    """Return a trigger by a state."""
    return {"trigger": "state", "entity_id": entity_id, **({"to": to} if to else {}), **more}


def above(entity_id: str | list[str], limit: float, **more: Any) -> Part:
    """Return a trigger by a number."""
    return {"trigger": "numeric_state", "entity_id": entity_id, "above": limit, **more}


def below(entity_id: str | list[str], limit: float, **more: Any) -> Part:
    """Return a trigger by a number."""
    return {"trigger": "numeric_state", "entity_id": entity_id, "below": limit, **more}


def at(time: str, **more: Any) -> Part:
    """Return a trigger by the clock."""
    return {"trigger": "time", "at": time, **more}


def event(event_type: str, data: Part | None = None, **more: Any) -> Part:
    """Return a trigger by an event."""
    return {"trigger": "event", "event_type": event_type, **({"event_data": data} if data else {}), **more}


def is_(entity_id: str | list[str], state: str, **more: Any) -> Part:
    """Return a condition on a state."""
    return {"condition": "state", "entity_id": entity_id, "state": state, **more}


def do(action: str, target: str | list[str] | Part | None = None, **data: Any) -> Part:
    """Return a step."""
    aimed = target if isinstance(target, dict) else {"entity_id": target}
    return {"action": action, **({"target": aimed} if target else {}), **({"data": data} if data else {})}


def tell(message: str, **more: Any) -> Part:
    """Return the step that sends a message to the phone."""
    return do(PHONE, message=message, **more)


def wish(name: str, triggers: Any, actions: Any, refused: str | None = None, **more: Any) -> Wish:
    """Return a row of the table."""
    given = {"alias": name, "triggers": triggers, "actions": actions, **more}
    return Wish(name, given, refused)


MOTION, DOOR, HALL = "binary_sensor.hall_motion", "binary_sensor.front_door", "light.hall"
ANSWER = "mobile_app_notification_action"
BUTTONS = {"actions": [{"action": "OPEN_BLINDS", "title": "Open"}, {"action": "LEAVE_BLINDS", "title": "No"}]}
ASKED = event(ANSWER, {"action": "OPEN_BLINDS"})

WISHES = (
    wish(
        "Hall light by motion, off after two minutes",
        when(MOTION, "on"),
        [
            do("light.turn_on", HALL),
            {"wait_for_trigger": [when(MOTION, "off", **{"for": {"minutes": 2}})]},
            do("light.turn_off", HALL),
        ],
        mode="restart",
        max_exceeded="silent",
    ),
    wish(
        "Hall light by motion, dim at night",
        when(MOTION, "on", id="on"),
        [
            {
                "choose": [
                    {
                        "conditions": [{"condition": "time", "after": "22:00:00", "before": "06:00:00"}],
                        "sequence": [do("light.turn_on", HALL, brightness_pct=10)],
                    }
                ],
                "default": [do("light.turn_on", HALL, brightness_pct=100, transition=2)],
            }
        ],
    ),
    wish(
        "Lights of the hall without motion for ten minutes",
        when(MOTION, "off", **{"for": "00:10:00"}),
        do("light.turn_off", {"area_id": "hall"}),
    ),
    wish(
        "Nobody is home any more: the ground floor is off",
        {"trigger": "numeric_state", "entity_id": "zone.home", "below": 1},
        [do("light.turn_off", {"floor_id": "ground_floor"}), do("switch.turn_off", {"floor_id": "ground_floor"})],
    ),
    wish("Everything that is a light is off at midnight", at("00:00:00"), do("light.turn_off", "all")),
    wish(
        "Evening label at sunset", {"trigger": "sun", "event": "sunset"}, do("light.turn_on", {"label_id": "evening"})
    ),
    wish(
        "Porch light half an hour before sunset",
        {"trigger": "sun", "event": "sunset", "offset": "-00:30:00"},
        do("light.turn_on", "light.porch"),
        conditions=[is_("input_boolean.guests", "off")],
    ),
    wish(
        "Porch light by the sun's elevation",
        below("sun.sun", -4.0, attribute="elevation"),
        do("light.turn_on", "light.porch"),
    ),
    wish(
        "Porch light when it gets dark, and off at dawn",
        [
            {"trigger": "sun", "event": "sunset", "id": "dusk"},
            {"trigger": "sun", "event": "sunrise", "id": "dawn"},
        ],
        {
            "choose": [
                {
                    "conditions": {"condition": "trigger", "id": "dusk"},
                    "sequence": [do("light.turn_on", "light.porch")],
                },
                {
                    "conditions": {"condition": "trigger", "id": "dawn"},
                    "sequence": [do("light.turn_off", "light.porch")],
                },
            ],
        },
    ),
    wish(
        "Washing machine is done",
        below("sensor.washer_power", 5, **{"for": {"minutes": 3}}),
        [tell("The washing is done.", title="Laundry"), do("timer.start", "timer.laundry", duration="00:30:00")],
        conditions=[is_("timer.laundry", "idle")],
    ),
    wish(
        "The laundry's timer has finished",
        event("timer.finished", {"entity_id": "timer.laundry"}),
        tell("Take it out of the machine."),
    ),
    wish(
        "Remind of the open door until it is closed",
        when(DOOR, "on", **{"for": "00:05:00"}),
        {"repeat": {"until": [is_(DOOR, "off")], "sequence": [tell("The door is open."), {"delay": {"minutes": 5}}]}},
        mode="single",
    ),
    wish(
        "Lights while we are on holiday",
        {"trigger": "time_pattern", "minutes": "/30"},
        [{"delay": "{{ range(0, 600) | random }}"}, do("light.toggle", "light.bedroom")],
        conditions=[is_("input_select.house", "Away"), {"condition": "sun", "after": "sunset"}],
    ),
    wish(
        "Bed-time by a button",
        when("input_button.bell"),
        [
            do("light.turn_off", {"area_id": ["kitchen", "hall"]}),
            do("lock.lock", "lock.front"),
            do("cover.close_cover", "cover.blinds"),
            do("input_select.select_option", "input_select.house", option="Night"),
        ],
    ),
    wish(
        "Heating down while a window is open",
        [
            when("binary_sensor.window", "on", **{"for": 120}, id="open"),
            when("binary_sensor.window", "off", id="closed"),
        ],
        [
            {
                "if": [{"condition": "trigger", "id": "open"}],
                "then": [do("climate.set_temperature", "climate.living", temperature=7)],
                "else": [do("climate.set_temperature", "climate.living", temperature=21)],
            }
        ],
    ),
    wish(
        "Heating by the schedule",
        [when("schedule.heating", "on"), when("schedule.heating", "off")],
        do("climate.set_preset_mode", "climate.living", preset_mode="eco"),
    ),
    wish(
        "Fan in the bathroom by humidity",
        above("sensor.bath_humidity", 65),
        [
            do("fan.turn_on", "fan.bath"),
            {
                "wait_template": "{{ states('sensor.bath_humidity') | float(0) < 55 }}",
                "timeout": "01:00:00",
                "continue_on_timeout": True,
            },
            do("fan.turn_off", "fan.bath"),
        ],
    ),
    wish(
        "Any of several batteries is low",
        below(["sensor.lock_battery", "sensor.blind_battery"], 15),
        tell("The battery of {{ trigger.to_state.name }} is low."),
    ),
    wish(
        "All batteries of an area",
        {"trigger": "battery.became_low", "target": {"area_id": "hall"}},
        tell("A battery is low."),
    ),
    wish(
        "Batteries each morning",
        at("08:00:00"),
        tell("Lock {{ states('sensor.lock_battery') }} %, blinds {{ states('sensor.blind_battery') }} %."),
        conditions="{{ states('sensor.lock_battery') | float(100) < 20 or states('sensor.blind_battery') | float(100) < 20 }}",
    ),
    wish(
        "A message by the phone's device",
        when(DOOR, "on"),
        {
            "device_id": "PHONE",
            "domain": "mobile_app",
            "type": "notify",
            "message": "Somebody is at the door.",
            "title": "Door",
        },
    ),
    wish(
        "A message by entities",
        when(DOOR, "on"),
        do("notify.send_message", "notify.family", message="The door opened."),
    ),
    wish(
        "Ask on the phone and do as it says",
        {"trigger": "sun", "event": "sunset"},
        [
            tell("Open the blinds?", data=BUTTONS),
            {
                "wait_for_trigger": [ASKED, event(ANSWER, {"action": "LEAVE_BLINDS"}, id="no")],
                "timeout": {"minutes": 10},
                "continue_on_timeout": False,
            },
            {"condition": "template", "value_template": "{{ wait.trigger.event.data.action == 'OPEN_BLINDS' }}"},
            do("cover.open_cover", "cover.blinds"),
        ],
    ),
    wish(
        "Ask and answer in one automation",
        [{"trigger": "sun", "event": "sunrise", "id": "ask"}, ASKED | {"id": "answer"}],
        {
            "choose": [
                {"conditions": [{"condition": "trigger", "id": "ask"}], "sequence": [tell("Open?", data=BUTTONS)]},
                {
                    "conditions": [{"condition": "trigger", "id": "answer"}],
                    "sequence": [do("cover.open_cover", "cover.blinds")],
                },
            ],
        },
    ),
    wish(
        "A button of a Zigbee remote",
        event("zha_event", {"device_ieee": "00:11:22:33", "command": "on"}),
        do("light.toggle", HALL),
    ),
    wish(
        "A button that is an event entity",
        when("event.remote"),
        [
            {"condition": "state", "entity_id": "event.remote", "attribute": "event_type", "state": "double"},
            do("light.toggle", HALL),
        ],
    ),
    wish(
        "A button that the administrator did not list",
        event("hue_event", {"id": "x"}),
        do("light.toggle", HALL),
        "hue_event",
    ),
    wish(
        "A remote by its device",
        {"trigger": "device", "device_id": "REMOTE", "domain": "remotes", "type": "short_press", "subtype": "on"},
        do("light.toggle", HALL),
    ),
    wish("A tag at the fridge", {"trigger": "tag", "tag_id": "tag-fridge"}, do("counter.increment", "counter.visits")),
    wish(
        "An hour before an event in the calendar",
        {"trigger": "calendar", "entity_id": "calendar.family", "event": "start", "offset": "-01:00:00"},
        tell("Soon: {{ trigger.calendar_event.summary }}"),
    ),
    wish(
        "Anna comes home",
        {"trigger": "zone", "entity_id": "person.anna", "zone": "zone.home", "event": "enter"},
        [do("light.turn_on", HALL), do("input_select.select_option", "input_select.house", option="Home")],
    ),
    wish("Ben leaves work", when("person.ben", **{"from": "Work"}), tell("Ben has left work.")),
    wish(
        "A storm comes near",
        {"trigger": "geo_location", "source": "storms", "zone": "zone.home", "event": "enter"},
        do("cover.close_cover", "cover.blinds"),
        "geo_location",
    ),
    wish(
        "Lights as they were after the bell",
        when("input_button.bell"),
        [
            do("scene.create", scene_id="before_bell", snapshot_entities=[HALL, "light.kitchen"]),
            do("light.turn_on", [HALL, "light.kitchen"], flash="short"),
            {"delay": 5},
            do("scene.turn_on", "scene.before_bell"),
        ],
    ),
    wish(
        "A scene out of values",
        when("input_button.bell"),
        [
            do(
                "scene.create", scene_id="dim", entities={HALL: {"state": "on", "brightness": 20}, "light.porch": "off"}
            ),
            {"scene": "scene.dim"},
        ],
    ),
    wish(
        "Values at once",
        at("21:00:00"),
        do("scene.apply", entities={HALL: {"state": "on", "brightness": 30}}, transition=5),
    ),
    wish("A scene of mine", when("media_player.kitchen", "playing"), {"scene": "scene.movie"}),
    wish(
        "Count down",
        when("input_button.bell"),
        {"repeat": {"count": 3, "sequence": [do("light.toggle", HALL), {"delay": {"milliseconds": 500}}]}},
    ),
    wish(
        "Each lamp in turn",
        when("input_button.bell"),
        {
            "repeat": {
                "for_each": [10, 50, 100],
                "sequence": [do("light.turn_on", HALL, brightness_pct="{{ repeat.item }}")],
            }
        },
    ),
    wish(
        "At the same time",
        at("07:00:00", weekday=["mon", "fri"]),
        {
            "parallel": [
                do("cover.open_cover", "cover.blinds"),
                {"sequence": [{"delay": 3}, do("light.turn_on", HALL)]},
            ],
        },
    ),
    wish(
        "Wait for somebody, at most a minute",
        when(DOOR, "on"),
        [
            {"wait_for_trigger": when(MOTION, "on"), "timeout": 60},
            {"if": "{{ wait.trigger is none }}", "then": [tell("The door opened and nobody came in.")]},
        ],
    ),
    wish(
        "Wake up by a helper",
        at("input_datetime.wake"),
        [
            do("light.turn_on", "light.bedroom", brightness_pct=1),
            do("light.turn_on", "light.bedroom", brightness_pct=100, transition=300),
        ],
    ),
    wish(
        "Remember who was last",
        when(["person.anna", "person.ben"], "home"),
        [
            do("input_text.set_value", "input_text.last", value="{{ trigger.to_state.name }}"),
            do("input_number.set_value", "input_number.level", value="{{ states('counter.visits') | int(0) }}"),
        ],
    ),
    wish(
        "Music in the kitchen",
        at("06:30:00", weekday=["sat"]),
        [
            do("media_player.volume_set", "media_player.kitchen", volume_level=0.2),
            do(
                "media_player.play_media",
                "media_player.kitchen",
                media_content_id="Radio Six",
                media_content_type="music",
            ),
        ],
    ),
    wish(
        "Say it aloud",
        when(DOOR, "on"),
        do(
            "tts.speak", "tts.home", media_player_entity_id="media_player.kitchen", message="The front door has opened."
        ),
    ),
    wish(
        "Rain tomorrow",
        at("19:00:00"),
        [
            do("weather.get_forecasts", "weather.home", type="daily") | {"response_variable": "forecast"},
            {"if": "{{ forecast['weather.home'].forecast[0].precipitation > 2 }}", "then": tell("Take an umbrella.")},
        ],
    ),
    wish(
        "It is cold and nobody has closed the window",
        {
            "trigger": "template",
            "value_template": "{{ is_state('binary_sensor.window', 'on') and states('sensor.outside') | float(20) < 5 }}",
            "for": "00:10:00",
        },
        tell("Close the window."),
    ),
    wish(
        "For as long as the helper says",
        above("sensor.outside", 25, **{"for": {"minutes": "{{ states('input_number.level') | int(5) }}"}}),
        do("cover.close_cover", "cover.blinds"),
    ),
    wish(
        "Which lamp depends on who is there",
        when(MOTION, "on"),
        do("light.turn_on", "{{ 'light.hall' if is_state('person.anna', 'home') else 'light.porch' }}"),
    ),
    wish(
        "What was turned on goes off after an hour",
        when([HALL, "light.porch"], "on", **{"for": "01:00:00"}),
        do("light.turn_off", "{{ trigger.entity_id }}"),
    ),
    Wish(
        "Blueprint: light by motion",
        {
            "alias": "Blueprint: light by motion",
            "use_blueprint": {
                "path": "homeassistant/motion_light.yaml",
                "input": {"motion_entity": MOTION, "light_target": {"area_id": "kitchen"}, "no_motion_wait": 60},
            },
        },
    ),
    Wish(
        "Blueprint: somebody leaves a zone",
        {
            "alias": "Blueprint: somebody leaves a zone",
            "use_blueprint": {
                "path": "homeassistant/notify_leaving_zone.yaml",
                "input": {"person_entity": "person.anna", "zone_entity": "zone.home", "notify_device": "PHONE"},
            },
        },
    ),
    Wish(
        "Blueprint of mine",
        {
            "alias": "Blueprint of mine",
            "use_blueprint": {"path": "mine/follow.yaml", "input": {"leader": MOTION, "follower": HALL}},
        },
    ),
    wish(
        "A message of MQTT",
        {"trigger": "mqtt", "topic": "zigbee/remote/action", "payload": "on"},
        do("light.toggle", HALL),
    ),
    wish(
        "A webhook of another service",
        {"trigger": "webhook", "webhook_id": "from-outside", "local_only": True},
        do("light.turn_on", HALL),
        "webhook",
    ),
    wish(
        "When Home Assistant has started",
        {"trigger": "homeassistant", "event": "start"},
        [
            {"delay": 30},
            do("persistent_notification.create", title="Hello", message="Home Assistant is back."),
        ],
        initial_state=True,
    ),
    wish(
        "By a sentence",
        {"trigger": "conversation", "command": ["movie time", "[please] start the film"]},
        [
            do("scene.turn_on", "scene.movie"),
            {"set_conversation_response": "Enjoy the film."},
        ],
    ),
    wish("Shell command", at("03:00:00"), do("shell_command.sweep"), "shell_command.sweep"),
    wish(
        "Another service, going on if it fails",
        at("03:00:00"),
        [
            do("rest_command.ping") | {"continue_on_error": True},
            do("light.turn_off", HALL) | {"enabled": False},
            {"stop": "Done"},
        ],
    ),
    wish(
        "A script with fields and computed values",
        when(DOOR, "on"),
        [
            {"variables": {"late": "{{ now().hour > 21 }}", "words": "Somebody is at the door"}},
            {"if": ["{{ not late }}"], "then": [do("script.announce", text="Somebody is at the door", loud=True)]},
        ],
        variables={"limit": 5},
        mode="queued",
        max=3,
    ),
)


def remote_id(hass: HomeAssistant) -> str:
    """Return the id of the device that a remote is."""
    (device,) = (item for item in dr.async_get(hass).devices if item.name == "Remote")
    return device.id
