"""What a question about an automation says of the past, with a model that writes whatever it is told to write."""

import asyncio
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry
from pytest_homeassistant_custom_component.components.recorder.common import async_wait_recording_done

from custom_components.extended_assist.confirmation.wording import MAX_HEARD, length
from custom_components.extended_assist.const import CONF_FAMILIES
from custom_components.extended_assist.simulation.run import rehearse
from custom_components.extended_assist.tools import simulation as simulation_subject
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
from tests.claude.test_question import SO_BE_IT, Say, ask_first, results, say
from tests.claude_server import ClaudeServer, Turn, tool_use
from tests.conftest import expose
from tests.helpers.automating import File
from tests.helpers.talking import speech

__all__ = ["ask_first", "say"]

pytestmark = pytest.mark.usefixtures("recorder_mock", "no_deprecations")

DAMP, FAN = "sensor.bathroom", "switch.fan"
ABOVE = {"trigger": "numeric_state", "entity_id": DAMP, "above": 70}
TURN_ON, TURN_OFF = ({"action": f"switch.turn_{state}", "target": {"entity_id": FAN}} for state in ("on", "off"))
ONCE_A_DAY = "In the last seven days it would have run 7 times, Fan on for 3 h 30 min; 7 times in the night."
ZONES = ("America/Los_Angeles", "Europe/Berlin", "Asia/Tokyo")
FAMILIES = ["actions", "automations", "rehearsal"]


@pytest.fixture
async def path(hass: HomeAssistant, entry: MockConfigEntry, ask_first: object, tmp_path: File) -> File:
    """Return the file of automations of a home in which it was damp at two in each of eight nights."""
    hass.config.config_dir = str(tmp_path)
    (tmp_path / "configuration.yaml").write_text("automation: !include automations.yaml\n")
    path = tmp_path / "automations.yaml"
    path.write_text("[]\n")
    for domain in ("switch", "automation"):
        assert await async_setup_component(hass, domain, {})
    # Where the night is over: one that goes on would be told in part.
    await hass.config.async_set_time_zone(next(zone for zone in ZONES if datetime.now(ZoneInfo(zone)).hour >= 4))
    today = dt_util.start_of_local_day().timestamp()
    for day in range(-9, 1):
        for minute, number in ((0, "50"), (120, "75"), (160, "60")):
            moment = today + day * 86_400 + minute * 60
            if moment < dt_util.utcnow().timestamp():
                hass.states.async_set(DAMP, number, {"friendly_name": "Bathroom"}, timestamp=moment)
    hass.states.async_set(FAN, "off", {"friendly_name": "Fan"}, timestamp=today - 9 * 86_400)
    await async_wait_recording_done(hass)
    expose(hass, DAMP, FAN)
    await set_options(hass, entry)
    return path


async def set_options(hass: HomeAssistant, entry: MockConfigEntry, *families: str, **more: Any) -> None:
    """Let the entry have some families."""
    hass.config_entries.async_update_entry(entry, options={CONF_FAMILIES: list(families or FAMILIES), **more})
    await hass.async_block_till_done()


def adding(**parts: Any) -> Turn:
    """Return a call that adds an automation."""
    config = {"alias": "Fan", "triggers": [ABOVE], "actions": [TURN_ON, {"delay": "00:30:00"}, TURN_OFF], **parts}
    return Turn([tool_use("extended_assist__add_automation", {"automation": config})])


async def test_one_sentence(hass: HomeAssistant, say: Say, path: File) -> None:
    """It comes right before the question, and a yes does what was asked, whatever the past says by then."""
    lines = speech(await say("Fan on when it is damp", adding())).splitlines()
    assert lines[0].startswith("Add the automation 'Fan': ")
    assert lines[-2:] == [ONCE_A_DAY, "Shall I do that?"]
    assert path.read_text() == "[]\n"
    hass.states.async_set(DAMP, "80", {"friendly_name": "Bathroom"})
    await async_wait_recording_done(hass)
    await say("Yes", SO_BE_IT)
    assert "numeric_state" in path.read_text()


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("de", "In den letzten sieben Tagen wäre sie 7-mal gelaufen, Fan 3 Std. 30 Min. an, davon 7-mal nachts."),
        (
            "fr-CA",
            "Ces sept derniers jours, elle se serait exécutée 7 fois, Fan activé pendant 3 h 30 min ; 7 fois la nuit.",
        ),
        ("ko", "지난 7일 동안에는 7번 실행되었을 것입니다, Fan 켜짐 3시간 30분; 밤에 7번."),
    ],
)
async def test_in_the_language_of_the_speaker(
    hass: HomeAssistant, say: Say, path: File, language: str, sentence: str
) -> None:
    """Whatever language the description itself is in."""
    assert speech(await say("…", adding(), language=language)).splitlines()[-2] == sentence


async def test_of_a_language_that_is_not_known(
    hass: HomeAssistant, say: Say, path: File, claude_server: ClaudeServer
) -> None:
    """The model words the question, and is told the sentence."""
    await say("…", adding(), SO_BE_IT, language="fi")
    assert results(claude_server)[0]["besides"] == ONCE_A_DAY


async def test_heard(hass: HomeAssistant, say: Say, path: File) -> None:
    """A speaker says it in the portion after which a yes counts, and only there."""
    steps = [{"action": "switch.turn_on", "target": {"entity_id": FAN}, "alias": str(number)} for number in range(30)]
    first = speech(await say("…", adding(actions=steps), device_id="kitchen"))
    assert first.splitlines()[-2].startswith("In the last seven days it would have run 7 times, Fan on for ")
    assert length(first) <= MAX_HEARD
    assert "seven days" not in speech(await say("more", device_id="kitchen"))


async def test_changed(hass: HomeAssistant, say: Say, path: File) -> None:
    """A change of what sets an automation off says it of what it becomes, and one of its name does not."""
    await say("…", adding())
    await say("Yes", SO_BE_IT)

    async def change(**changes: Any) -> str:
        call = tool_use("extended_assist__update_automation", {"automation": "Fan", "changes": changes})
        return speech(await say("…", Turn([call])))

    told = await change(triggers=[{**ABOVE, "above": 78}])
    assert told.splitlines()[-2] == "In the last seven days it would never have run."
    assert "seven days" not in await change(description="For the bathroom.")


@pytest.mark.parametrize(
    "parts",
    [
        {"triggers": [ABOVE, {"trigger": "conversation", "command": "fan"}]},
        {"conditions": ["{{ states.sensor | list | count > 5 }}"]},
        {"mode": "single", "actions": [{"parallel": [TURN_ON, TURN_OFF]}]},
    ],
)
async def test_nothing_of_what_cannot_be_replayed(
    hass: HomeAssistant, say: Say, path: File, parts: dict[str, Any]
) -> None:
    """Not of the rest either."""
    told = speech(await say("…", adding(**parts)))
    assert "seven days" not in told


async def test_only_where_it_may_be_rehearsed(
    hass: HomeAssistant, say: Say, path: File, entry: MockConfigEntry
) -> None:
    """Not without the family."""
    await set_options(hass, entry, "actions", "automations")
    told = speech(await say("…", adding()))
    assert told.endswith("Shall I do that?")
    assert "seven days" not in told


async def test_no_time(hass: HomeAssistant, say: Say, path: File, monkeypatch: pytest.MonkeyPatch) -> None:
    """The question comes without what takes too long, which is given up in its thread."""
    ended = asyncio.Event()

    def watched(*args: Any) -> Any:
        try:
            return rehearse(*args)
        finally:
            hass.loop.call_soon_threadsafe(ended.set)

    monkeypatch.setattr(simulation_subject, "rehearse", watched)
    monkeypatch.setattr(simulation_subject, "REMARK_TIME", 0.5)
    every_second = {
        "triggers": [{"trigger": "time_pattern", "seconds": "*"}],
        "conditions": [f"{{{{ states('{DAMP}') | float(0) > 70 }}}}"],
    }
    told = speech(await say("…", adding(**every_second)))
    assert told.endswith("Shall I do that?")
    assert "seven days" not in told
    async with asyncio.timeout(5):
        await ended.wait()


async def test_little_is_recorded(hass: HomeAssistant, say: Say, path: File, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is said of days of which there are no records."""
    monkeypatch.setattr(simulation_subject, "REMARKED_DAYS", 20)
    assert "seven days" not in speech(await say("…", adding()))


async def test_unexpected(hass: HomeAssistant, say: Say, path: File, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever goes wrong, the question is asked."""

    def broken(*_: Any) -> Any:
        raise ValueError

    monkeypatch.setattr(simulation_subject, "rehearse", broken)
    assert speech(await say("…", adding())).endswith("Shall I do that?")
