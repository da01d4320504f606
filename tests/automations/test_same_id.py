"""Tests of automations that would not be the only ones to change: of the same id, or tied by an anchor."""

from pathlib import Path

import pytest

from custom_components.extended_assist.automations.config_includes import other_places
from homeassistant.core import HomeAssistant
from tests.conftest import CallTool, expose
from tests.helpers.automating import CONFIGURATION, REMOVE, UPDATE, StartHome, start_home

__all__ = ["start_home"]

REST = CONFIGURATION.partition("\n")[2]
OWN = "automation ui: !include automations.yaml\n"
ONE = "- id: one\n  alias: One\n  triggers: []\n  actions: []\n"
TWIN = "- id: one\n  alias: Twin\n  triggers: []\n  actions: []\n"
PACKAGE = "automation:\n  - alias: Twin\n    id: 'one'\n    triggers: []\n    actions: []\n"
TIED = """\
- &base
  id: one
  alias: One
  mode: restart
  triggers: []
  actions: []
- <<: *base
  id: two
  alias: Two
"""


def indented(text: str) -> str:
    """Return lines as they stand under a key."""
    return "".join(f"  {line}" for line in text.splitlines(keepends=True))


@pytest.mark.parametrize(
    ("configuration", "files", "place"),
    [
        ("automation manual:\n" + indented(TWIN), {}, "configuration.yaml, line 2"),
        ("automation manual: !include mine.yaml\n", {"mine": TWIN}, "mine.yaml, line 1"),
        ("automation: !include_dir_merge_list many\n", {"many__x": f"# twin\n{TWIN}"}, "many/x.yaml, line 2"),
        ("automation: !include_dir_list many\n", {"many__x": TWIN[2:].replace("\n  ", "\n")}, "many/x.yaml, line 1"),
        ("homeassistant:\n  packages: !include_dir_named many\n", {"many__x": PACKAGE}, "many/x.yaml, line 2"),
        (
            "homeassistant:\n  packages: !include_dir_merge_named many\n",
            {"many__x": f"house:\n{indented(PACKAGE)}"},
            "many/x.yaml, line 3",
        ),
        (
            "homeassistant:\n  packages:\n    house: !include house.yaml\n",
            {"house": "automation: !include mine.yaml\n", "mine": TWIN},
            "mine.yaml, line 1",
        ),
        (
            "homeassistant: !include core.yaml\n",
            {"core": f"packages:\n  x:\n{indented(indented(PACKAGE))}"},
            "core.yaml",
        ),
    ],
)
async def test_same_id_in_another_file(
    hass: HomeAssistant,
    start_home: StartHome,
    call_tool: CallTool,
    configuration: str,
    files: dict[str, str],
    place: str,
) -> None:
    """Which of two Home Assistant runs depends on their order, so that it is refused, with the place of the other one."""
    path = await start_home(ONE, configuration=f"{configuration}{OWN}{REST}", **files)
    expose(hass, *hass.states.async_entity_ids("automation"))
    for tool, more in ((UPDATE, {"changes": {"alias": "Changed"}}), (REMOVE, {})):
        error = (await call_tool(tool, automation="one", error=True, **more))["error"]
        assert "another automation has the same id" in error
        assert place in error
    assert path.read_text() == ONE


async def test_same_id_included_in_the_file_itself(
    hass: HomeAssistant, start_home: StartHome, call_tool: CallTool
) -> None:
    """An automation that the editor's file includes is another one, too, whatever else it includes."""
    other = "- id: two\n  alias: Two\n  triggers: []\n  actions: []\n  variables: !include values.yaml\n"
    await start_home(
        f"{other}{ONE}- !include mine.yaml\n",
        mine="id: one\nalias: Twin\ntriggers: []\nactions: []\n",
        values="id: one\n",
    )
    expose(hass, *hass.states.async_entity_ids("automation"))
    error = (await call_tool(UPDATE, automation="one", changes={"alias": "Changed"}, error=True))["error"]
    assert "mine.yaml, line 1" in error


async def test_not_the_same_id(hass: HomeAssistant, start_home: StartHome, call_tool: CallTool) -> None:
    """What is not included, is included but no automation, or is the editor's file itself, is no other one."""
    configuration = f"{OWN}automation again: !include ./automations.yaml\nscript: !include scripts.yaml\n{REST}"
    await start_home(
        ONE, configuration=configuration, old=TWIN, scripts="x:\n  alias: one\n  sequence: []\n", secrets="id: one\n"
    )
    expose(hass, "automation.one")
    await call_tool(UPDATE, automation="one", changes={"alias": "Changed"})


def test_files_that_include_one_another(tmp_path: Path) -> None:
    """A circle comes to an end."""
    (tmp_path / "many").mkdir()
    (tmp_path / "configuration.yaml").write_text("automation: !include_dir_list many\n")
    for name in "abc":
        (tmp_path / "many" / f"{name}.yaml").write_text("- !include_dir_list ../many\n- id: one\n")
    assert len(other_places(tmp_path, {"one"})["one"]) == 3


async def test_twice_in_the_file(hass: HomeAssistant, start_home: StartHome, call_tool: CallTool) -> None:
    """Both lines are named."""
    text = f"# mine\n{ONE}{TWIN}"
    path = await start_home(text)
    expose(hass, "automation.one")
    error = (await call_tool(UPDATE, automation="one", changes={"alias": "Changed"}, error=True))["error"]
    assert "2 automations in the file have its id, in the lines 2 and 6" in error
    assert path.read_text() == text


async def test_number_beside_the_same_text(hass: HomeAssistant, start_home: StartHome, call_tool: CallTool) -> None:
    """To Home Assistant a number is no id, so that the one with the text is meant, and changed."""
    number = ONE.replace("id: one", "id: 0017")
    text = ONE.replace("id: one", "id: '15'").replace("One", "Text")
    path = await start_home(number.replace("0017", "15") + number + text)
    expose(hass, "automation.text")
    await call_tool(UPDATE, automation="15", changes={"alias": "Changed"})
    assert path.read_text() == number.replace("0017", "15") + number + text.replace("Text", "Changed")
    await hass.async_block_till_done()
    assert hass.states.get("automation.text").name == "Changed"


async def test_made_from_another(hass: HomeAssistant, start_home: StartHome, call_tool: CallTool) -> None:
    """Changing what others take over would change them: refused with their lines; what they do not take over is free."""
    path = await start_home(TIED)
    expose(hass, "automation.one", "automation.two")
    for tool, more in ((UPDATE, {"changes": {"mode": "single"}}), (REMOVE, {})):
        error = (await call_tool(tool, automation="one", error=True, **more))["error"]
        assert "Others would change with this automation" in error
        assert "line 7" in error
    assert path.read_text() == TIED
    await call_tool(UPDATE, automation="one", changes={"alias": "Renamed"})
    assert path.read_text() == TIED.replace("alias: One", "alias: Renamed")
    assert (
        "parts of other automations"
        in (await call_tool(UPDATE, automation="two", changes={"alias": "Changed"}, error=True))["error"]
    )
