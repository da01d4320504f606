"""Where several fields of the options are wrong at once, each sentence names what is wrong with its own."""

from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.extended_assist.calls.options import ToolboxOptions
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType


async def test_one_after_the_other(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """A sentence is never told with the words of another field; all that was entered stays until everything is right."""
    form = await hass.config_entries.options.async_init(entry.entry_id)
    wrong = {
        "policy": {"always_ask": ["the front door"]},
        "web": {"web_ports": ["99999"]},
        "cameras": {"look_folders": ["the door"], "look_who": "admin"},
        "listed_triggers": ["what is this?!"],
    }
    right = {
        "policy": {"always_ask": ["switch.heater"]},
        "web": {"web_ports": ["8080"]},
        "cameras": {"look_folders": [], "look_who": "admin"},
        "listed_triggers": [],
    }
    named = {"policy": "the front door", "web": "99999", "cameras": "the door", "listed_triggers": "what is this?!"}
    mended: dict[str, object] = {}
    while True:
        wanted = form["data_schema"](wrong | mended)
        form = await hass.config_entries.options.async_configure(form["flow_id"], wanted)
        if form["type"] is FlowResultType.CREATE_ENTRY:
            break
        (field,) = form["errors"]
        assert form["description_placeholders"] == {"wrong": named.pop(field)}
        mended[field] = right[field]
    assert named == {}
    options = ToolboxOptions.of(entry.options)
    assert (options.web_ports, options.who_may_look.name) == ({8080}, "ADMIN")
