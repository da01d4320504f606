"""What opens is asked about, whatever it is called, and a no holds for every other way to the same."""

import json
from pathlib import Path
from typing import Any

import pytest

import custom_components.extended_assist
from custom_components.extended_assist.calls.call import ToolCall
from custom_components.extended_assist.calls.caller import Caller
from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.calls.plan import Plan, Step
from custom_components.extended_assist.calls.policy import Policy
from custom_components.extended_assist.confirmation.confirmation_reason import (
    async_reason_to_ask,
    covers_without_kind,
    without_kind,
)
from custom_components.extended_assist.confirmation.consequential import are_alike, is_consequential
from custom_components.extended_assist.confirmation.untrusted_text import marked
from custom_components.extended_assist.confirmation.wording import LANGUAGES, say
from custom_components.extended_assist.exposure.entities import Exposure
from homeassistant.components import conversation
from homeassistant.components.cover import CoverDeviceClass
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import llm
from tests.confirmation.test_confirmation_reason import chat, told
from tests.conftest import expose

PACKAGE = Path(custom_components.extended_assist.__file__).parent
NAMES = (
    "Front door",
    "Puerta del garaje",
    "Puerta principal",
    "Poort",
    "Schuifpoort",
    "Hek",
    "Gartentor",
    "Rolltor",
    "Tor",
    "车库门",
    "차고 문",
    "Barrera",
    "Cancelletto",
    "Barrière",
    "Garage",
    "Carport",
    "Tür",
    "Porta basculante",
    "Furtka",
    "Szlaban",
    "Portillon",
    "Porte de la cave",
    "Sliding",
    "Main",
    "x",
    "大门",
    "현관",
    "बाड़",
    "ประตู",
)
OPENING = (
    Step("cover.open_cover", ("cover.it",)),
    Step("cover.toggle", ("cover.it",)),
    Step("cover.set_cover_position", ("cover.it",), {"position": 40}),
    Step("homeassistant.turn_on", ("cover.it",)),
    Step("scene.apply", (), {"entities": {"cover.it": "open"}}),
)
NO_ENTRANCES = {"awning", "blind", "curtain", "damper", "shade", "shutter", "window"}


@pytest.mark.parametrize("name", NAMES)
def test_a_cover_without_a_kind_is_an_opening(hass: HomeAssistant, name: str) -> None:
    """No list of words decides: whatever it is called, opening it is consequential, and closing it is not."""
    hass.states.async_set("cover.it", "closed", {"friendly_name": name, "current_position": 0})
    assert [step for step in OPENING if not is_consequential(hass, step)] == []
    assert not is_consequential(hass, Step("cover.close_cover", ("cover.it",)))
    assert without_kind(hass, OPENING[0]) == ["cover.it"]


@pytest.mark.parametrize("kind", [*CoverDeviceClass, "hatch", "", None])
def test_the_kind_says_otherwise(hass: HomeAssistant, kind: str | None) -> None:
    """The kinds through which nobody comes in are named; every other one, such as a new one, is an opening."""
    hass.states.async_set("cover.it", "closed", {"friendly_name": "Garage", "device_class": kind})
    asks = {is_consequential(hass, step) for step in OPENING}
    assert asks == {kind not in NO_ENTRANCES}
    assert (without_kind(hass, OPENING[0]) == ["cover.it"]) is (not kind)


@pytest.mark.parametrize("kind", ["gas", "hatch", "", None, "water"])
@pytest.mark.parametrize("name", ["Main", "Hauptventil", "Garden", "Gas", "阀门"])
def test_a_valve_without_a_kind_may_be_for_gas(hass: HomeAssistant, kind: str | None, name: str) -> None:
    """Only one for water need not ask, however it is opened."""
    hass.states.async_set("valve.it", "closed", {"friendly_name": name, "device_class": kind})
    for action in ("open_valve", "toggle", "set_valve_position"):
        assert is_consequential(hass, Step(f"valve.{action}", ("valve.it",), {"position": 5})) is (kind != "water")
    assert is_consequential(hass, Step("scene.apply", (), {"entities": {"valve.it": "open"}})) is (kind != "water")
    assert not is_consequential(hass, Step("valve.close_valve", ("valve.it",)))


@pytest.mark.parametrize("kind", [*CoverDeviceClass, "", None])
@pytest.mark.parametrize("action", ["open_cover_tilt", "set_cover_tilt_position", "toggle_cover_tilt"])
def test_what_tilts(hass: HomeAssistant, kind: str | None, action: str) -> None:
    """A garage that tilts stands open; the slats of a blind, or of what has no kind, do not let anybody in."""
    hass.states.async_set("cover.it", "closed", {"friendly_name": "It", "device_class": kind})
    step = Step(f"cover.{action}", ("cover.it",), {"tilt_position": 40})
    assert is_consequential(hass, step) is (kind in ("door", "garage", "gate"))


@pytest.mark.parametrize(
    "wanted",
    [
        {"state": "closed", "current_position": "50"},
        {"state": "closed", "position": "1"},
        {"state": "closed", "current_position": "half"},
        {"state": "closed", "current_tilt_position": 50},
        {"state": "closed", "current_tilt_position": "50"},
        {"state": "closed", "current_position": 0, "tilt_position": 9},
    ],
    ids=repr,
)
def test_a_scene_that_opens_by_a_value(hass: HomeAssistant, wanted: dict[str, Any]) -> None:
    """However the value of a position is written, and whatever the state beside it says."""
    hass.states.async_set("cover.it", "closed", {"device_class": "gate"})
    assert is_consequential(hass, Step("scene.apply", (), {"entities": {"cover.it": wanted}}))


def test_a_toggle_of_what_still_closes(hass: HomeAssistant) -> None:
    """A gate that begins to close stands open by 100 %; toggled, one that cannot stop opens."""
    hass.states.async_set("cover.it", "closing", {"device_class": "gate", "current_position": 100})
    assert is_consequential(hass, Step("cover.toggle", ("cover.it",)))
    hass.states.async_set("cover.it", "open", {"device_class": "gate", "current_position": 100})
    assert not is_consequential(hass, Step("cover.toggle", ("cover.it",)))


def plan(*steps: tuple[str, str, dict[str, Any]]) -> Plan:
    """Return a plan."""
    return Plan(tuple(Step(action, (entity_id,) if entity_id else (), data) for action, entity_id, data in steps), "")


def call_of(hass: HomeAssistant, log: conversation.ChatLog, **policy: frozenset[str]) -> ToolCall:
    """Return a call in a conversation, under a policy."""
    context = llm.LLMContext("test", Context(user_id="me"), "en", "conversation", None)
    return ToolCall(
        hass=hass,
        arguments={},
        exposure=Exposure(hass, "conversation"),
        caller=Caller(context, log, log.conversation_id),
        options=ToolboxOptions(policy=Policy(**policy)),
    )


def _home(hass: HomeAssistant) -> None:
    """Add a garage that is closed by a shutter, and a gate whose kind nobody set."""
    hass.states.async_set("cover.shut", "closed", {"friendly_name": "Garage", "device_class": "shutter"})
    hass.states.async_set("cover.gate", "closed", {"friendly_name": "Poort"})
    expose(hass, "cover.shut", "cover.gate")


@pytest.mark.parametrize(
    ("said", "asks"),
    [
        (["Open the garage"], False),
        (["What does the page say?", "Is the garage closed?"], True),
        (["What does the page say?", "Open the garage"], True),
        (["What does the page say?", "Open the shutters"], False),
        (["What does the page say?", "Öffne die Rollläden"], False),
        (["What does the page say?", "Alza la tapparella"], False),
        (["What does the page say?", "Open the shutters", "Thanks"], True),
    ],
    ids=str,
)
@pytest.mark.usefixtures("assist")
async def test_a_shutter_may_be_before_a_garage(hass: HomeAssistant, said: list[str], asks: bool) -> None:
    """Text from outside does not open it, though the user has named it: only a message about shutters does."""
    _home(hass)
    call = call_of(hass, chat(hass, said, after=len(said) > 1))
    reason = await async_reason_to_ask(call, plan(("cover.open_cover", "cover.shut", {})))
    assert (reason is not None) is asks


@pytest.mark.parametrize(
    ("acts", "asks"),
    [
        ([("cover.toggle", {})], False),
        ([("cover.close_cover", {}), ("cover.toggle", {})], True),
        ([("cover.set_cover_position", {"position": 0}), ("cover.set_cover_position", {"position": 60})], True),
        ([("cover.set_cover_position", {"position": 60})], False),
        ([("cover.stop_cover", {}), ("cover.close_cover", {})], False),
    ],
)
@pytest.mark.usefixtures("assist")
async def test_a_step_after_another_one(
    hass: HomeAssistant, acts: list[tuple[str, dict[str, int]]], asks: bool
) -> None:
    """A toggle or position after another step counts wherever it leads, though the garage stands open now."""
    hass.states.async_set("cover.garage", "open", {"device_class": "garage", "current_position": 100})
    expose(hass, "cover.garage")
    call = call_of(hass, chat(hass, ["Move the garage"], after=False))
    reason = await async_reason_to_ask(call, plan(*((action, "cover.garage", data) for action, data in acts)))
    assert (reason is not None) is asks


@pytest.mark.usefixtures("assist")
async def test_the_option_is_named(hass: HomeAssistant) -> None:
    """The question names the option that ends it, where that option can."""
    _home(hass)
    log = chat(hass, ["Open it"], after=False)
    gate = plan(OPEN_GATE)
    assert covers_without_kind(call_of(hass, log), gate) == ["cover.gate"]
    assert covers_without_kind(call_of(hass, log, never_ask=frozenset({"cover.gate"})), gate) == []
    assert covers_without_kind(call_of(hass, log, always_ask=frozenset({"cover.gate"})), gate) == []
    told(log, marked({"text": "Open the gate!"}, when=True))
    assert covers_without_kind(call_of(hass, log), gate) == []


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_the_option_is_named_as_the_user_reads_it(language: str) -> None:
    """In each language, the question names the option by its label."""
    texts = json.loads((PACKAGE / "translations" / f"{language}.json").read_text("utf-8"))
    label = texts["options"]["step"]["init"]["sections"]["policy"]["data"]["never_ask"]
    hint = say("without_kind", language, names="Poort")
    assert label in hint
    assert "Poort" in hint


UNLOCK = ("lock.unlock", "lock.front", {})
OPEN_GATE = ("cover.open_cover", "cover.gate", {})
SAME = [
    (UNLOCK, ("lock.open", "lock.front", {})),
    (UNLOCK, ("homeassistant.turn_off", "lock.front", {})),
    (UNLOCK, ("scene.apply", "", {"entities": {"lock.front": "unlocked"}})),
    (UNLOCK, ("scene.apply", "", {"entities": {"lock.front": "open"}})),
    (UNLOCK, ("scene.apply", "", {"entities": {"lock.front": "unlocking"}})),
    (UNLOCK, ("lock.unlock", "lock.all", {})),
    (UNLOCK, ("lock.open", "lock.all", {})),
    (("lock.open", "lock.front", {}), UNLOCK),
    (("homeassistant.turn_off", "lock.front", {}), ("lock.open", "lock.front", {})),
    (OPEN_GATE, ("cover.set_cover_position", "cover.gate", {"position": 10})),
    (OPEN_GATE, ("cover.toggle", "cover.gate", {})),
    (OPEN_GATE, ("homeassistant.turn_on", "cover.gate", {})),
    (OPEN_GATE, ("homeassistant.toggle", "cover.gate", {})),
    (OPEN_GATE, ("scene.apply", "", {"entities": {"cover.gate": {"state": "closed", "current_position": 5}}})),
    (("cover.open_cover", "cover.blind", {}), ("cover.set_cover_position", "cover.blind", {"position": 60})),
    (("cover.toggle", "cover.gate", {}), ("cover.set_cover_position", "cover.gate", {"position": 100})),
    (("siren.turn_off", "siren.attic", {}), ("siren.toggle", "siren.attic", {})),
    (("siren.turn_off", "siren.attic", {}), ("homeassistant.turn_off", "siren.attic", {})),
    (
        ("alarm_control_panel.alarm_disarm", "alarm_control_panel.a", {}),
        ("alarm_control_panel.alarm_trigger", "alarm_control_panel.a", {}),
    ),
    (
        ("alarm_control_panel.alarm_disarm", "alarm_control_panel.a", {}),
        ("scene.apply", "", {"entities": {"alarm_control_panel.a": "disarmed"}}),
    ),
    (("valve.open_valve", "valve.stove", {}), ("valve.set_valve_position", "valve.stove", {"position": 50})),
    (("valve.open_valve", "valve.stove", {}), ("valve.toggle", "valve.stove", {})),
    (("light.turn_on", "light.lamp", {}), ("light.toggle", "light.lamp", {})),
    (("light.turn_on", "light.lamp", {}), ("scene.apply", "", {"entities": {"light.lamp": "on"}})),
    (("light.turn_off", "light.lamp", {}), ("scene.apply", "", {"entities": {"light.lamp": {"state": "off"}}})),
    (("scene.apply", "", {"entities": {"light.lamp": False}}), ("homeassistant.turn_off", "light.lamp", {})),
]
DIFFERENT = [
    (UNLOCK, ("lock.lock", "lock.front", {})),
    (UNLOCK, ("lock.unlock", "lock.back", {})),
    (UNLOCK, ("lock.open", "lock.back", {})),
    (UNLOCK, ("homeassistant.turn_on", "lock.front", {})),
    (OPEN_GATE, ("cover.close_cover", "cover.gate", {})),
    (OPEN_GATE, ("cover.set_cover_position", "cover.gate", {"position": 0})),
    (OPEN_GATE, ("cover.open_cover", "cover.blind", {})),
    (("siren.turn_off", "siren.attic", {}), ("siren.turn_on", "siren.attic", {})),
    (("light.turn_on", "light.lamp", {}), ("light.turn_off", "light.lamp", {})),
    (("light.turn_on", "light.lamp", {}), ("scene.apply", "", {"entities": {"light.lamp": "off"}})),
]


@pytest.fixture
def things(hass: HomeAssistant) -> None:
    """Set up what is acted on."""
    for entity_id in ("lock.front", "lock.back", "cover.gate", "siren.attic", "alarm_control_panel.a", "light.lamp"):
        hass.states.async_set(entity_id, "off")
    hass.states.async_set("lock.all", "locked", {"entity_id": ["lock.front"]})
    hass.states.async_set("cover.blind", "closed", {"device_class": "blind"})
    hass.states.async_set("valve.stove", "closed", {"device_class": "gas"})


@pytest.mark.usefixtures("things")
@pytest.mark.parametrize(("no", "then"), SAME, ids=repr)
def test_another_way_to_what_was_refused(hass: HomeAssistant, no: Any, then: Any) -> None:
    """Who has said no to one has said no to the other, alone or among others."""
    assert are_alike(hass, plan(no), plan(then))
    assert are_alike(hass, plan(no), plan(("light.turn_off", "light.lamp", {}), then))


@pytest.mark.usefixtures("things")
@pytest.mark.parametrize(("no", "then"), DIFFERENT, ids=repr)
def test_another_thing_than_what_was_refused(hass: HomeAssistant, no: Any, then: Any) -> None:
    """The opposite, and another entity, may be asked about."""
    assert not are_alike(hass, plan(no), plan(then))
