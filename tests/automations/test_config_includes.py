"""Tests of files and configurations that cannot be written to."""

import pytest

from homeassistant.core import HomeAssistant
from tests.automations.files import BAD
from tests.conftest import CallTool
from tests.helpers.automating import ADD, CONFIGURATION, StartHome, start_home, switching

__all__ = ["start_home"]


@pytest.mark.parametrize(("text", "reason"), BAD.values(), ids=BAD)
async def test_unreadable_files(start_home: StartHome, call_tool: CallTool, text: str, reason: str) -> None:
    """A file in which automations cannot be told apart is left as it is."""
    path = await start_home()
    path.write_text(text)
    assert reason in (await call_tool(ADD, automation=switching(), error=True))["error"]
    assert path.read_text() == text


@pytest.mark.parametrize(
    ("configuration", "reason"),
    [
        ("automation: !include_dir_merge_list many/\n", "the files of the folder many/"),
        ("automation: !include_dir_list many\n", "the files of the folder many"),
        ("automation: !include many/one.yaml\n", "from the file many/one.yaml"),
        ("automation: []\n", "written in configuration.yaml itself"),
        ("homeassistant:\n  packages:\n    a:\n      automation: []\n", "written in configuration.yaml itself"),
        ("homeassistant:\n", "nothing in configuration.yaml includes it"),
        ("automation: !include_dir_merge_list many/\nautomation ui: !include automations.yaml\n", ""),
        ("automation mine: []\nautomation: !include ./automations.yaml\n", ""),
        (
            "homeassistant:\n  name: Home\n  packages:\n    a:\n      automation: !include automations.yaml\n",
            "",
        ),
    ],
)
async def test_how_automations_are_included(
    hass: HomeAssistant, start_home: StartHome, call_tool: CallTool, configuration: str, reason: str
) -> None:
    """Only where Home Assistant would load the file is it written; otherwise it is said where they come from."""
    rest = CONFIGURATION.partition("\n")[2]
    path = await start_home(configuration=configuration + rest, many__one="[]\n")
    data = await call_tool(ADD, automation=switching(), error=bool(reason))
    if reason:
        assert reason in data["error"]
        assert "automation ui: !include automations.yaml" in data["error"]
        assert path.read_text() == "[]\n"
    else:
        assert hass.states.get(data["added"]).state == "on"
