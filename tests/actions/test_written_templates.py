"""Where a template may stand in an automation that is written, it is held to the forms; elsewhere it is refused."""

from collections.abc import Callable
from typing import Any

import pytest

from custom_components.extended_assist.automations.check import async_check
from custom_components.extended_assist.calls.call import ToolCall
from custom_components.extended_assist.calls.caller import Caller
from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.exposure.entities import Exposure
from custom_components.extended_assist.results import ToolError
from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm
from tests.conftest import ASSISTANT

from ..helpers.one_home import in_one_home

pytestmark = pytest.mark.usefixtures("house")

BED = {"action": "light.turn_on", "target": {"entity_id": "light.bed_light"}}
MOVED = {"trigger": "state", "entity_id": "input_boolean.party", "to": "on"}
LEVEL = {"entity_id": "input_number.level", "above": 5}

type Make = Callable[[str], dict[str, Any]]


def step(*steps: Any, **more: Any) -> dict[str, Any]:
    """Return what an automation does."""
    return {"actions": list(steps)} | more


PLACES: list[tuple[str, Make]] = [
    ("variables.a", lambda text: {"variables": {"a": text}}),
    ("variables.a.b[0]", lambda text: {"variables": {"a": {"b": [text]}}}),
    ("trigger_variables.a", lambda text: {"trigger_variables": {"a": text}}),
    ("triggers[0].for.seconds", lambda text: {"triggers": [{**MOVED, "for": {"seconds": text}}]}),
    ("triggers[0].enabled", lambda text: {"triggers": [{**MOVED, "enabled": text}]}),
    ("triggers[0].variables.a", lambda text: {"triggers": [{**MOVED, "variables": {"a": text}}]}),
    ("triggers[0].value_template", lambda text: {"triggers": [{"trigger": "template", "value_template": text}]}),
    (
        "triggers[0].value_template",
        lambda text: {"triggers": [{"trigger": "numeric_state", **LEVEL, "value_template": text}]},
    ),
    ("conditions[0].value_template", lambda text: {"conditions": [text]}),
    ("conditions[0].value_template", lambda text: {"conditions": [{"condition": text}]}),
    ("conditions[0].or[0].value_template", lambda text: {"conditions": [{"or": [text]}]}),
    ("conditions[0].enabled", lambda text: {"conditions": [{"or": [], "enabled": text}]}),
    (
        "conditions[0].value_template",
        lambda text: {"conditions": [{"condition": "numeric_state", **LEVEL, "value_template": text}]},
    ),
    ("actions[0].enabled", lambda text: step({**BED, "enabled": text})),
    ("actions[0].data.brightness", lambda text: step({**BED, "data": {"brightness": text}})),
    ("actions[0].data.brightness", lambda text: step({**BED, "data_template": {"brightness": text}})),
    (
        "actions[0].data.message",
        lambda text: step(
            {"action": "notify.send_message", "target": {"entity_id": "notify.notifier"}, "data": {"message": text}}
        ),
    ),
    ("actions[0].delay", lambda text: step({"delay": text})),
    ("actions[0].delay.seconds", lambda text: step({"delay": {"seconds": text}})),
    ("actions[0].wait_template", lambda text: step({"wait_template": text})),
    ("actions[0].timeout", lambda text: step({"wait_template": "{{ true }}", "timeout": text})),
    (
        "actions[0].wait_for_trigger[0].value_template",
        lambda text: step({"wait_for_trigger": [{"trigger": "template", "value_template": text}]}),
    ),
    ("actions[0].repeat.count", lambda text: step({"repeat": {"count": text, "sequence": [BED]}})),
    ("actions[0].repeat.for_each", lambda text: step({"repeat": {"for_each": text, "sequence": [BED]}})),
    ("actions[0].repeat.while[0].value_template", lambda text: step({"repeat": {"while": [text], "sequence": [BED]}})),
    ("actions[0].if[0].value_template", lambda text: step({"if": [text], "then": [BED]})),
    (
        "actions[0].choose[0].conditions[0].value_template",
        lambda text: step({"choose": [{"conditions": [text], "sequence": [BED]}]}),
    ),
    ("actions[0].variables.a", lambda text: step({"variables": {"a": text}})),
    ("actions[0].stop", lambda text: step({"stop": text})),
    ("actions[0].set_conversation_response", lambda text: step({"set_conversation_response": text})),
    ("actions[0].parallel[0].sequence[0].delay", lambda text: step({"parallel": [{"sequence": [{"delay": text}]}]})),
]

TARGETS: list[Make] = [
    lambda text: step({**BED, "target": {"entity_id": text}}),
    lambda text: step({**BED, "target": {"area_id": text}}),
    lambda text: step({**BED, "target": text}),
    lambda text: step({"action": "light.turn_on", "entity_id": text}),
    lambda text: step({"action": "light.turn_on", "data": {"entity_id": text}}),
    lambda text: step({"action": text}),
    lambda text: step({"scene": text}),
    lambda text: step({**BED, "data": text}),
    lambda text: step({"event": "x", "event_data": {"a": text}}),
    lambda text: {"triggers": [{**MOVED, "entity_id": text}]},
    lambda text: {"conditions": [{"condition": "state", "entity_id": text, "state": "on"}]},
]
"""Where what comes out would say what is acted on or read."""


@pytest.fixture
def call(hass: HomeAssistant, llm_context: llm.LLMContext) -> ToolCall:
    """Return a call by nobody in particular."""
    exposure = Exposure(hass, ASSISTANT)
    return ToolCall(hass=hass, arguments={}, exposure=exposure, caller=Caller(llm_context), options=ToolboxOptions())


async def refusal(call: ToolCall, part: dict[str, Any]) -> str:
    """Return why an automation with a part is refused, and nothing where it may be written."""
    try:
        await async_check(call, "1", {"alias": "A", "triggers": [MOVED], "actions": [BED]} | part)
    except ToolError as err:
        return str(err)
    return ""


@in_one_home(("place", "make"), PLACES)
async def test_places(call: ToolCall, place: str, make: Make) -> None:
    """In every place, hidden entities and forms that are in no table are refused, with the place."""
    for template, reason in (
        ("{{ states('input_boolean.zebra') }}", "'input_boolean.zebra' was not found or is not exposed."),
        ("{{ state_attr('light.bed_light', 'access_token') }}", "The attribute 'access_token' is not available."),
        ("{{ ['light.zebra'] | map('states') | list }}", "|map with the filter 'states' cannot be used"),
        ("{{ states | count }}", "going through states cannot be used"),
        ("{{ trigger.to_state.attributes }}", "all attributes as a value cannot be used"),
        ("{{ context }}", "a context as a value cannot be used"),
        ("{% include 'a' %}", "{% include %} cannot be used"),
    ):
        refused = await refusal(call, make(template))
        assert refused.startswith(f"{place}: "), refused
        assert reason in refused
    refused = await refusal(call, make("{{ states('light.bed_light') | float(1) }}"))
    assert "does not accept" in refused or not refused  # Home Assistant itself takes no template in some of them.


@in_one_home("make", TARGETS)
async def test_no_target_is_computed(call: ToolCall, make: Make) -> None:
    """What is acted on or read is never computed, whatever is exposed."""
    assert await refusal(call, make("{{ states('light.bed_light') }}"))
    assert await refusal(call, make("{{ trigger.entity_id }}"))


async def test_what_is_never_rendered(call: ToolCall) -> None:
    """The name and the description are words, also with braces."""
    assert not await refusal(call, {"alias": "A {{ states.light }}", "description": "{{ states('light.zebra') }}"})


@in_one_home(
    ("part", "reason"),
    [
        (step({**BED, "data": {"brightness": "{{ trigger.to_state.state | int }}"}}), ""),
        (step({"stop": "{{ trigger.now }}"}), "'now' cannot be used"),
        (step({"stop": "{{ trigger.now }}"}, triggers=[{"trigger": "time", "at": "07:00:00"}]), ""),
        (step({"stop": "{{ trigger.event }}"}, triggers=[{"trigger": "sun", "event": "sunset"}]), ""),
        (step({"stop": "{{ trigger.to_state.state }}"}, triggers=[MOVED, {"trigger": "time", "at": "07:00:00"}]), ""),
        (step({"stop": "{{ wait.trigger.now }}"}, {"wait_for_trigger": [{"trigger": "time", "at": "07:00:00"}]}), ""),
        (
            step(
                {"stop": "{{ trigger.to_state.state }}"},
                triggers=[{"trigger": "light.turned_on", "target": BED["target"]}],
            ),
            "",
        ),
        ({"triggers": [{"trigger": "numeric_state", **LEVEL, "value_template": "{{ state.state | float * 2 }}"}]}, ""),
        (
            {"triggers": [{"trigger": "numeric_state", **LEVEL, "value_template": "{{ state.attributes.initial }}"}]},
            "",
        ),
        (
            {"triggers": [{"trigger": "numeric_state", **LEVEL, "value_template": "{{ state.attributes.api_key }}"}]},
            "The attribute 'api_key' is not available",
        ),
        (
            {"triggers": [{"trigger": "numeric_state", **LEVEL, "value_template": "{{ state }}"}]},
            "a whole state as a value cannot be used",
        ),
        ({"variables": {"state": "on"}, "conditions": ["{{ 1 == 1 }}"], "actions": [{"stop": "{{ state }}"}]}, ""),
        ({"conditions": ["{{ state.state == 'on' }}"], "actions": [{"stop": "{{ state }}"}]}, "'state' is undefined"),
        (
            {
                "variables": {"lamp": "light.bed_light", "name": "{{ states[lamp].name }}"},
                "conditions": ["{{ states(lamp) == 'on' and name != '' and is_state(lamp, 'on') }}"],
            },
            "",
        ),
        (
            {"variables": {"lamp": "light.bed_light"}, "conditions": ["{% set lamp = 1 %}{{ states(lamp) }}"]},
            "no constant",
        ),
        ({"variables": {"lamp": "light.bed_light", "a": "{{ states(a) }}"}}, "no constant"),
        (
            step(
                {"variables": {"lamp": "{{ 'light.' ~ 'zebra' }}"}},
                {"stop": "{{ states(lamp) }}"},
                variables={"lamp": "light.bed_light"},
            ),
            "no constant",
        ),
        (
            step({"repeat": {"for_each": ["light.bed_light"], "sequence": [{"stop": "{{ states(repeat.item) }}"}]}}),
            "no const",
        ),
        ({"variables": {"trigger": 1}}, "'trigger' has a meaning of its own"),
        ({"trigger_variables": {"states": 1}}, "'states' has a meaning of its own"),
        (step({"variables": {"wait": 1}}), "'wait' has a meaning of its own"),
        ({"trigger_variables": {"a": 1}, "variables": {"b": "{{ a }}"}, "conditions": ["{{ b == 1 }}"]}, ""),
        (
            step(
                {
                    "action": "calendar.get_events",
                    "target": {"entity_id": "calendar.calendar_1"},
                    "data": {"duration": {"hours": 1}},
                    "response_variable": "agenda",
                },
                {"stop": "{{ agenda['calendar.calendar_1'].events | map(attribute='summary') | join }}"},
            ),
            "",
        ),
        (
            step(
                {"action": "script.visible", "response_variable": "answer"},
                {"stop": "{{ answer is defined }}"},
                {"stop": "{{ answer.a }}"},
            ),
            "actions[2].stop: Line 1: 'a' cannot be used",
        ),
    ],
)
async def test_what_a_name_stands_for(call: ToolCall, part: dict[str, Any], reason: str) -> None:
    """What triggers, waits, conditions and actions hand over may be used by the parts that are plain."""
    refused = await refusal(call, part)
    assert reason in refused
    assert bool(reason) is bool(refused), refused
