"""Tests of triggering automations by hand: what counts, and what the question says they would do."""

from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockUser

from custom_components.extended_assist.calls.call import ToolCall
from custom_components.extended_assist.calls.caller import Caller
from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.calls.plan import Plan, Step
from custom_components.extended_assist.calls.policy import Policy
from custom_components.extended_assist.confirmation.confirmation_reason import async_reason_to_ask
from custom_components.extended_assist.confirmation.consequential import READ, is_consequential, leaves
from custom_components.extended_assist.confirmation.wording import async_lines, step_for
from custom_components.extended_assist.exposure.entities import Exposure
from custom_components.extended_assist.tools.actions import PerformActionTool
from custom_components.extended_assist.tools.scripts import ExecuteScriptTool
from homeassistant.components import conversation
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import llm
from homeassistant.setup import async_setup_component
from tests.conftest import expose
from tests.helpers.one_home import in_one_home

TRIGGER = "automation.trigger"
UNLOCK = {"action": "lock.unlock", "target": {"entity_id": "lock.front"}}
LIGHT = {"action": "light.turn_on", "target": {"entity_id": "light.lamp"}}
AUTOMATIONS: dict[str, tuple[set[str], list[dict[str, Any]]]] = {
    "light": ({"light.turn_on"}, [LIGHT]),
    "branch": (
        {"lock.unlock"},
        [{"if": [{"condition": "state", "entity_id": "light.lamp", "state": "on"}], "then": [UNLOCK]}],
    ),
    "script": ({"lock.unlock"}, [{"action": "script.open"}]),
    "scene": ({"lock.unlock"}, [{"scene": "scene.welcome"}]),
    "other": ({TRIGGER, "lock.unlock"}, [{"action": TRIGGER, "target": {"entity_id": "automation.branch"}}]),
    "template": ({""}, [{"action": "{{ x }}"}]),
    "hidden": ({"lock.unlock"}, [{"action": "lock.unlock", "target": {"entity_id": "lock.zebra"}}]),
    "endless": ({TRIGGER, ""}, [{"action": TRIGGER, "target": {"entity_id": "automation.endless"}}]),
}


@pytest.fixture(autouse=True)
async def home(hass: HomeAssistant, assist: None) -> None:
    """Set up a home with automations."""
    for entity_id, name in {"lock.front": "Front door", "light.lamp": "Lamp", "lock.zebra": "Zebra stable"}.items():
        hass.states.async_set(entity_id, "locked", {"friendly_name": name})
    scene = {"name": "Welcome", "entities": {"lock.front": "unlocked"}}
    assert await async_setup_component(hass, "scene", {"scene": [scene]})
    by_hand = {"sequence": [{"action": TRIGGER, "target": {"entity_id": "automation.light"}}]}
    scripts = {"open": {"sequence": [UNLOCK]}, "by_hand": by_hand}
    assert await async_setup_component(hass, "script", {"script": scripts})
    automations = [
        {"id": name, "alias": name, "triggers": [], "actions": actions} for name, (_, actions) in AUTOMATIONS.items()
    ]
    assert await async_setup_component(hass, "automation", {"automation": automations})
    await hass.async_block_till_done()
    expose(hass, "lock.front", "light.lamp", "script.open", *(f"automation.{name}" for name in AUTOMATIONS))


def called(hass: HomeAssistant, user_id: str | None = None, **options: Any) -> ToolCall:
    """Return a call of somebody in a conversation."""
    context = llm.LLMContext("test", Context(user_id=user_id), "en", "conversation", "speaker")
    log = conversation.ChatLog(hass, "of mine")
    log.async_add_user_content(conversation.UserContent("Go"))
    return ToolCall(
        hass=hass,
        arguments={},
        exposure=Exposure(hass, "conversation"),
        caller=Caller(context, log),
        options=ToolboxOptions(policy=Policy(**options)),
    )


def test_what_they_do(hass: HomeAssistant) -> None:
    """What automations do is seen in every branch, and through scripts, scenes and one another."""
    found = {
        name: {action for action, _, data in leaves(hass, Step(TRIGGER, (f"automation.{name}",))) if data is not READ}
        for name in AUTOMATIONS
    }
    assert found == {name: does | {TRIGGER} for name, (does, _) in AUTOMATIONS.items()}
    assert is_consequential(hass, Step(TRIGGER, ("automation.light",)))
    for action in ("turn_on", "turn_off", "toggle"):
        assert not is_consequential(hass, Step(f"automation.{action}", ("automation.branch",)))


@in_one_home(
    ("name", "never", "asks"),
    [
        ("light", (), True),
        ("light", (TRIGGER,), False),
        ("light", ("automation",), False),
        ("branch", (TRIGGER,), True),
        ("script", (TRIGGER,), True),
        ("scene", ("automation",), True),
        ("other", (TRIGGER,), True),
        ("template", (TRIGGER,), True),
        ("hidden", (TRIGGER,), True),
        ("endless", (TRIGGER,), True),
        ("branch", ("automation.branch",), False),
        ("branch", (TRIGGER, "lock"), False),
    ],
)
async def test_not_to_be_asked(hass: HomeAssistant, name: str, never: tuple[str, ...], asks: bool) -> None:
    """Not to be asked about triggering leaves what is consequential by itself, unless that automation is named."""
    plan = Plan((Step(TRIGGER, (f"automation.{name}",), {}),), "x")
    reason = await async_reason_to_ask(called(hass, never_ask=frozenset(never)), plan)
    assert (reason is not None) is asks


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        (
            "light",
            {},
            "Trigger: light (automation.trigger), whether or not its conditions hold. That would do: turn on Lamp",
        ),
        (
            "branch",
            {"skip_condition": False},
            "Trigger: branch (automation.trigger), skip condition false. That would do: unlock Front door",
        ),
        (
            "other",
            {},
            "Trigger: other (automation.trigger), whether or not its conditions hold. That would do: trigger branch; unlock Front door",
        ),
        (
            "hidden",
            {},
            "Trigger: hidden (automation.trigger), whether or not its conditions hold. That would do: something that cannot be told",
        ),
        (
            "template",
            {},
            "Trigger: template (automation.trigger), whether or not its conditions hold. That would do: something that cannot be told",
        ),
    ],
)
async def test_question(hass: HomeAssistant, name: str, data: dict[str, Any], words: str) -> None:
    """The question says what would be done, and that conditions are skipped; in the user's language too."""
    step = step_for(called(hass), TRIGGER, [f"automation.{name}"], data)
    assert step.words == words
    (line,) = await async_lines(hass, Exposure(hass, "conversation"), Plan((step,), "x"), "de")
    assert ("Das tut dann" in line, "egal ob seine Bedingungen" in line) == (True, not data)
    assert "zebra" not in line.lower()


async def test_other_ways(hass: HomeAssistant, hass_admin_user: MockUser) -> None:
    """An action and a sequence ask in the same words; what is triggered by a script counts as well."""
    given = {"action": TRIGGER, "target": {"entity_id": "automation.branch"}}
    for tool, arguments in ((PerformActionTool(), given), (ExecuteScriptTool(), {"sequence": [given]})):
        call = called(hass, hass_admin_user.id)
        call.arguments.update(arguments)
        plan = await tool.async_plan(call)
        assert plan is not None
        assert "whether or not its conditions hold. That would do: unlock Front door" in plan.words
    assert is_consequential(hass, Step("script.turn_on", ("script.by_hand",)))
