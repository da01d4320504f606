"""Tests of what a change may add: beside what is hidden, private or refused, nothing that gives it more to do or tells of it."""

from typing import Any

import pytest

from custom_components.extended_assist.automations.parts import is_passed, is_plain, meaning, put_back, unit_meaning
from custom_components.extended_assist.tools.automations import GetAutomationsTool
from homeassistant.core import HomeAssistant
from homeassistant.util.yaml import dump, parse_yaml
from tests.conftest import CallTool, expose
from tests.helpers.automating import FREE, MOTION, PORCH, UPDATE, StartHome, start_home

__all__ = ["start_home"]

GET = GetAutomationsTool(FREE)
ZEBRA, LAMP = "input_boolean.zebra", "input_boolean.lamp"
T_MOTION = {"trigger": "state", "entity_id": MOTION, "to": "on"}
T_PORCH = {"trigger": "state", "entity_id": PORCH, "to": "on"}
T_ZEBRA = {"trigger": "state", "entity_id": ZEBRA}
C_MOTION = {"condition": "state", "entity_id": MOTION, "state": "on"}
C_PORCH = {"condition": "state", "entity_id": PORCH, "state": "on"}
C_ZEBRA = {"condition": "state", "entity_id": ZEBRA, "state": "on"}


def do(entity_id: str, service: str = "turn_on", **more: Any) -> dict[str, Any]:
    """Return a step."""
    return {"action": f"input_boolean.{service}", "target": {"entity_id": entity_id}, **more}


def code(**more: Any) -> dict[str, Any]:
    """Return a step with a code, on an exposed lock."""
    return {"action": "lock.unlock", "target": {"entity_id": "lock.door"}, "data": {"code": "4711"}, **more}


A_ZEBRA, A_LAMP, A_PORCH = do(ZEBRA), do(LAMP), do(PORCH)
GATED = {"if": [C_MOTION], "then": [A_ZEBRA]}
TELLING = {"delay": "{{ trigger.to_state.state | int(0) }}"}
READING = {"action": "input_boolean.turn_on", "target": {"entity_id": LAMP}, "enabled": "{{ zebra == 'on' }}"}

ALLOWED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "a plain step before a hidden one": ({"actions": [A_LAMP, A_ZEBRA]}, {"actions": [A_PORCH, A_ZEBRA]}),
    "another plain step before it": ({"actions": [A_ZEBRA]}, {"actions": [A_PORCH, A_ZEBRA]}),
    "a plain step before it goes": ({"actions": [A_PORCH, A_ZEBRA]}, {"actions": [A_ZEBRA]}),
    "steps after it": ({"actions": [A_ZEBRA, A_LAMP]}, {"actions": [A_ZEBRA, A_PORCH, {"delay": 5}, A_LAMP]}),
    "steps after a hidden branch of plain ones": (
        {"actions": [{"if": [C_ZEBRA], "then": [A_ZEBRA]}]},
        {"actions": [{"if": [C_ZEBRA], "then": [A_ZEBRA]}, A_PORCH]},
    ),
    "the hidden step goes": ({"actions": [A_LAMP, A_ZEBRA]}, {"actions": [A_LAMP]}),
    "one of two hidden steps goes": ({"actions": [do(ZEBRA, "toggle"), A_ZEBRA]}, {"actions": [A_ZEBRA]}),
    "all is written anew": ({"triggers": [T_ZEBRA], "actions": [GATED]}, {"triggers": [T_MOTION], "actions": [A_LAMP]}),
    "one condition more": ({"conditions": [C_ZEBRA], "actions": [A_ZEBRA]}, {"conditions": [C_ZEBRA, C_MOTION]}),
    "the last trigger goes": ({"triggers": [T_MOTION, T_PORCH], "actions": [A_ZEBRA]}, {"triggers": [T_MOTION]}),
    "steps below a hidden trigger": ({"triggers": [T_ZEBRA], "actions": [A_LAMP]}, {"actions": [A_PORCH]}),
    "another trigger beside a hidden one": (
        {"triggers": [T_ZEBRA, T_MOTION], "actions": [A_LAMP]},
        {"triggers": [T_ZEBRA, T_PORCH]},
    ),
    "steps below a hidden condition": ({"conditions": [C_ZEBRA], "actions": [A_LAMP]}, {"actions": [A_PORCH, A_LAMP]}),
    "the hidden condition goes": ({"conditions": [C_ZEBRA], "actions": [A_LAMP]}, {"conditions": []}),
    "the last steps after a hidden condition go": (
        {"actions": [C_ZEBRA, A_LAMP, A_PORCH]},
        {"actions": [C_ZEBRA, A_LAMP]},
    ),
    "a step beside a code": ({"actions": [A_LAMP, code()]}, {"actions": [A_PORCH, code()]}),
    "a step beside a refused one": ({"actions": [A_LAMP, {"event": "x"}]}, {"actions": [A_PORCH, {"event": "x"}]}),
    "a step beside a refused trigger": (
        {"triggers": [{"trigger": "event", "event_type": "x"}], "actions": [A_LAMP]},
        {"actions": [A_PORCH]},
    ),
    "the same again": ({"triggers": [T_ZEBRA], "actions": [GATED]}, {"triggers": [T_ZEBRA], "actions": [GATED]}),
}
REFUSED: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "out of its branch": (
        {"actions": [GATED]},
        {"actions": [A_ZEBRA]},
        "actions[0]: 'input_boolean.zebra' was not found",
    ),
    "into another branch": (
        {"actions": [GATED]},
        {"actions": [{"if": [C_PORCH], "then": [A_ZEBRA]}]},
        "actions[0].then[0]",
    ),
    "before its condition": (
        {"actions": [C_MOTION, A_ZEBRA]},
        {"actions": [A_ZEBRA, C_MOTION]},
        "actions: of the steps before",
    ),
    "without its condition": ({"actions": [C_MOTION, A_ZEBRA]}, {"actions": [A_ZEBRA]}, "actions: of the steps before"),
    "another condition": (
        {"actions": [C_MOTION, A_ZEBRA]},
        {"actions": [C_PORCH, A_ZEBRA]},
        "actions: of the steps before",
    ),
    "a shorter delay": (
        {"actions": [{"delay": 9}, A_ZEBRA]},
        {"actions": [{"delay": 1}, A_ZEBRA]},
        "only plain actions",
    ),
    "without waiting": (
        {"actions": [{"wait_for_trigger": [T_MOTION]}, A_ZEBRA]},
        {"actions": [A_ZEBRA]},
        "only plain actions",
    ),
    "without a stop": ({"actions": [{"stop": "x"}, A_ZEBRA]}, {"actions": [A_ZEBRA]}, "only plain actions"),
    "without a script before it": (
        {"actions": [{"action": "script.check"}, A_ZEBRA]},
        {"actions": [A_ZEBRA]},
        "only plain actions",
    ),
    "twice": (
        {"actions": [A_ZEBRA]},
        {"actions": [A_ZEBRA, A_ZEBRA]},
        "actions[1]: 'input_boolean.zebra' was not found",
    ),
    "in another order": (
        {"actions": [do(ZEBRA, "toggle"), A_ZEBRA]},
        {"actions": [A_ZEBRA, do(ZEBRA, "toggle")]},
        "actions: of the steps before",
    ),
    "switched on": (
        {"actions": [do(ZEBRA, enabled=False)]},
        {"actions": [do(ZEBRA, enabled=True)]},
        "actions[0]: 'input_boolean.zebra' was not found",
    ),
    "1 for true": ({"actions": [do(ZEBRA, data={"a": 1})]}, {"actions": [do(ZEBRA, data={"a": True})]}, "actions[0]"),
    "one trigger more": (
        {"triggers": [T_MOTION], "actions": [A_ZEBRA]},
        {"triggers": [T_MOTION, T_PORCH]},
        "triggers: of what",
    ),
    "another trigger": ({"triggers": [T_MOTION], "actions": [A_ZEBRA]}, {"triggers": [T_PORCH]}, "triggers: of what"),
    "a shorter time": (
        {"triggers": [T_MOTION | {"for": 60}], "actions": [A_ZEBRA]},
        {"triggers": [T_MOTION]},
        "triggers: of what",
    ),
    "the first trigger goes, by whose number one can ask": (
        {"triggers": [T_MOTION, T_PORCH], "actions": [A_ZEBRA]},
        {"triggers": [T_PORCH]},
        "triggers: of what",
    ),
    "asking a hidden condition": (
        {"triggers": [T_MOTION], "conditions": [C_ZEBRA], "actions": [A_LAMP]},
        {"triggers": [{"trigger": "time_pattern", "seconds": "/1"}]},
        "triggers: of what",
    ),
    "without a condition": ({"conditions": [C_MOTION], "actions": [A_ZEBRA]}, {"conditions": []}, "conditions: "),
    "or instead of and": (
        {"conditions": [C_MOTION, C_PORCH], "actions": [A_ZEBRA]},
        {"conditions": [{"condition": "or", "conditions": [C_MOTION, C_PORCH]}]},
        "conditions: ",
    ),
    "without the condition beside a hidden one": (
        {"conditions": [C_MOTION, C_ZEBRA], "actions": []},
        {"conditions": [C_ZEBRA]},
        "conditions: ",
    ),
    "without a condition below a hidden trigger": (
        {"triggers": [T_ZEBRA], "conditions": [C_MOTION], "actions": []},
        {"conditions": []},
        "conditions: ",
    ),
    "a variable that it reads": (
        {"variables": {"a": 1}, "actions": [do(ZEBRA, data={"a": "{{ a }}"})]},
        {"variables": {"a": 2}},
        "variables: ",
    ),
    "a variable that was none": ({"actions": [A_ZEBRA]}, {"variables": {"a": 2}}, "variables: "),
    "what is after a hidden condition": (
        {"actions": [C_ZEBRA, A_LAMP]},
        {"actions": [C_ZEBRA, A_PORCH]},
        "actions: of the steps after",
    ),
    "more after a hidden condition": (
        {"actions": [C_ZEBRA]},
        {"actions": [C_ZEBRA, A_LAMP]},
        "actions: of the steps after",
    ),
    "more after a hidden wait": (
        {"actions": [{"wait_for_trigger": [T_ZEBRA]}]},
        {"actions": [{"wait_for_trigger": [T_ZEBRA]}, A_LAMP]},
        "actions: of the steps after",
    ),
    "more after a hidden branch that stops": (
        {"actions": [{"if": [C_ZEBRA], "then": [{"stop": "x"}]}]},
        {"actions": [{"if": [C_ZEBRA], "then": [{"stop": "x"}]}, A_LAMP]},
        "actions: of the steps after",
    ),
    "more in a hidden branch": (
        {"actions": [{"if": [C_ZEBRA], "then": [A_LAMP]}]},
        {"actions": [{"if": [C_ZEBRA], "then": [A_LAMP, A_PORCH]}]},
        "actions[0].if",
    ),
    "telling what a hidden trigger was": (
        {"triggers": [T_ZEBRA], "actions": []},
        {"actions": [TELLING]},
        "actions[0]: templates",
    ),
    "telling which trigger it was": (
        {"triggers": [T_ZEBRA, T_MOTION], "actions": []},
        {"actions": [{"if": [{"condition": "trigger", "id": "0"}], "then": [A_LAMP]}]},
        "actions[0]: templates",
    ),
    "a condition on what a hidden trigger was": (
        {"triggers": [T_ZEBRA], "actions": []},
        {"conditions": ["{{ trigger.to_state.state == 'on' }}"]},
        "conditions[0]: templates",
    ),
    "reading a hidden variable": (
        {"variables": {"zebra": f"{{{{ states('{ZEBRA}') }}}}"}, "actions": []},
        {"actions": [READING]},
        "actions[0]: templates",
    ),
    "asking for a hidden variable": (
        {"triggers": [T_MOTION], "variables": {"zebra": f"{{{{ states('{ZEBRA}') }}}}"}, "actions": [READING]},
        {"triggers": [{"trigger": "time_pattern", "seconds": "/1"}]},
        "triggers: of what",
    ),
    "what tells of a hidden trigger before its condition": (
        {"triggers": [T_ZEBRA], "actions": [C_MOTION, TELLING]},
        {"actions": [TELLING, C_MOTION]},
        "actions: of the steps after",
    ),
    "a trigger for a code": (
        {"triggers": [T_MOTION], "actions": [code()]},
        {"triggers": [T_PORCH]},
        "triggers: of what",
    ),
    "a code before its condition": (
        {"actions": [C_MOTION, code()]},
        {"actions": [code(), C_MOTION]},
        "only plain actions",
    ),
    "a refused trigger more": (
        {"triggers": [], "actions": [A_LAMP]},
        {"triggers": [{"trigger": "event", "event_type": "x"}]},
        "so it can be used only where the options of Extended Assist list it",
    ),
    "a hidden step more": (
        {"actions": [A_ZEBRA]},
        {"actions": [A_ZEBRA, do(ZEBRA, "turn_off")]},
        "actions[1]: 'input_boolean.zebra' was not found",
    ),
    "no steps at all": ({"actions": [A_ZEBRA]}, {"actions": None}, "needs 'actions'"),
}


async def start(hass: HomeAssistant, start_home: StartHome, config: dict[str, Any], **files: str) -> Any:
    """Start a home with one automation, and a lock."""
    whole = {"id": "1", "alias": "A", "triggers": [], "actions": [], **config}
    path = await start_home(dump([parse_yaml(dump(whole))]), **files)
    hass.states.async_set("lock.door", "locked")
    hass.states.async_set("script.check", "off")
    expose(hass, "automation.a", "lock.door", "script.check")
    return path


@pytest.mark.parametrize("what", ALLOWED)
async def test_allowed(hass: HomeAssistant, start_home: StartHome, call_tool: CallTool, what: str) -> None:
    """What gives a hidden part no more to do, and tells no more of it, is written, in the words in which it was told."""
    config, changes = ALLOWED[what]
    path = await start(hass, start_home, config)
    told = (await call_tool(GET, name="A", details=True))["configuration"]
    for unit in (unit for key in config.keys() & changes.keys() for unit in config[key]):
        assert not any(meaning(unit) in meaning(told) and secret in str(unit) for secret in (ZEBRA, "4711"))
    seen = {
        meaning(real): shown
        for key in told.keys() & config.keys()
        for real, shown in zip(config[key], told[key], strict=False)
    }
    given = {key: [seen.get(meaning(unit), unit) for unit in value] for key, value in changes.items()}
    changed = await call_tool(UPDATE, automation="A", changes=given)
    assert not [secret for secret in ("zebra", "4711") if secret in f"{changed}{given}"]
    (written,) = parse_yaml(path.read_text())
    assert {key: written[key] for key in changes} == changes


@pytest.mark.parametrize("what", REFUSED)
async def test_refused(hass: HomeAssistant, start_home: StartHome, call_tool: CallTool, what: str) -> None:
    """What gives it more to do, or tells of it, is refused with the place, also by one who knows what is hidden."""
    config, changes, reason = REFUSED[what]
    path = await start(hass, start_home, config)
    before = path.read_bytes()
    error = (await call_tool(UPDATE, automation="A", changes=changes, error=True))["error"]
    assert reason in error
    assert "zebra" not in error.replace(ZEBRA, "" if ZEBRA in str(changes) else ZEBRA)
    assert path.read_bytes() == before


async def test_placeholders(hass: HomeAssistant, start_home: StartHome, call_tool: CallTool) -> None:
    """What stands in the place of something untold is put back where it stood; anywhere else it is refused."""
    one, two = do(ZEBRA), do("input_boolean.zebra", "turn_on", alias="b")
    assert put_back({"actions": ["x"]}, {}, {}) == {"actions": ["x"]}
    shown = {"action": "input_boolean.turn_on", "target": {"entity_id": "(not exposed)"}}
    alike, written = {"actions": [shown, shown]}, {"actions": [one, two]}
    assert put_back({"actions": [shown, shown]}, alike, written) == {"actions": [one, two]}
    assert put_back({"actions": [shown]}, alike, written) == {"actions": [shown]}, "it could be either"
    assert put_back({"actions": [shown]}, alike, {"actions": [one, one]}) == {"actions": [one]}
    assert put_back({"actions": [shown] * 3}, alike, written) == {"actions": [one, two, shown]}
    assert put_back({"actions": [{"if": [], "then": [shown]}]}, alike, written) == {
        "actions": [{"if": [], "then": [shown]}]
    }
    path = await start(hass, start_home, {"actions": [A_LAMP, A_ZEBRA]})
    before = path.read_bytes()
    for steps in ([{"if": [C_MOTION], "then": [shown]}], [shown, shown], [shown | {"alias": "x"}]):
        error = (await call_tool(UPDATE, automation="A", changes={"actions": steps}, error=True))["error"]
        assert "'(not exposed)' stands in the place of what is not told" in error
    error = (await call_tool(UPDATE, automation="A", changes={"variables": {"a": "(not exposed)"}}, error=True))[
        "error"
    ]
    assert error.startswith("variables.a: ")
    assert path.read_bytes() == before


async def test_beside_a_secret(hass: HomeAssistant, start_home: StartHome, call_tool: CallTool) -> None:
    """A secret of the file that is no exposed entity is used at no other time; where it is one, it is like any other."""
    path = await start(hass, start_home, {})
    text = (
        "- id: '1'\n  alias: A\n  triggers: []\n  actions:\n  - action: persistent_notification.create\n"
        "    data: {message: !secret word}\n"
    )
    path.write_text(text)
    (path.parent / "secrets.yaml").write_text("word: narwhal\n")
    await hass.services.async_call("automation", "reload", blocking=True)
    error = (await call_tool(UPDATE, automation="A", changes={"triggers": [T_MOTION]}, error=True))["error"]
    assert error.startswith(
        "triggers: of what sets this off, only the last ones can be taken away, since actions[0] stays"
    )
    changed = await call_tool(UPDATE, automation="A", changes={"conditions": [C_MOTION]})
    assert "narwhal" not in f"{error}{changed}"


async def test_changed_meanwhile(hass: HomeAssistant, start_home: StartHome) -> None:
    """What was checked is what is changed: somebody else's change in between is not written over."""
    from custom_components.extended_assist.automations.edit import update  # noqa: PLC0415
    from custom_components.extended_assist.results import ToolError  # noqa: PLC0415

    with pytest.raises(ToolError, match="by somebody else meanwhile"):
        update("- id: '1'\n  alias: B\n", "1", {"mode": "single"}, expected={"id": "1", "alias": "A"})


def test_meaning() -> None:
    """Values that mean different things are told apart, others are not."""
    for one, other in ((1, True), (1, 1.0), (1, "1"), ({1: 2}, {"1": 2}), ([1], 1), (None, "None")):
        assert meaning(one) != meaning(other)
    assert meaning({"a": 1, "b": [2]}) == meaning({"b": [2], "a": 1})
    assert unit_meaning({"service": "a.b", "data": {"service": 1}}) == unit_meaning(
        {"action": "a.b", "data": {"service": 1}}
    )
    assert unit_meaning({"action": "a.b", "data": {"service": 1}}) != unit_meaning(
        {"action": "a.b", "data": {"action": 1}}
    )
    assert unit_meaning({"service": "a", "action": "b"}) != unit_meaning({"action": "b"})
    assert meaning({"platform": "a"}) != meaning({"trigger": "a"})


@pytest.mark.parametrize(
    ("step", "plain", "passed"),
    [
        (A_ZEBRA, True, True),
        ({"service": "light.turn_on", "entity_id": "all"}, True, True),
        ({"device_id": "x", "domain": "light", "type": "turn_on"}, True, True),
        ({"device_id": "x", "domain": "light", "type": "is_on", "condition": "device"}, False, False),
        ({"action": "weather.get_forecasts", "response_variable": "x"}, False, False),
        ({"action": "{{ x }}"}, False, False),
        ({"action": "Script.X"}, False, False),
        ({"action": "automation.turn_off"}, False, False),
        (do(LAMP, enabled="{{ x }}"), False, False),
        (C_MOTION, False, False),
        ({"delay": 1}, False, False),
        ({"variables": {}}, False, False),
        ("x", False, False),
        ({"if": [C_MOTION], "then": [A_LAMP], "else": A_LAMP}, False, True),
        ({"if": [C_MOTION], "then": [A_LAMP, {"delay": 1}]}, False, False),
        ({"choose": [{"conditions": [], "sequence": [A_LAMP]}], "default": [A_LAMP]}, False, True),
        ({"choose": [{"conditions": [], "sequence": [{"stop": "x"}]}]}, False, False),
        ({"choose": ["x"]}, False, False),
        ({"parallel": [A_LAMP, {"sequence": [A_LAMP]}]}, False, True),
        ({"parallel": [A_LAMP, {"sequence": [C_MOTION]}]}, False, False),
        ({"repeat": {"count": 2, "sequence": [A_LAMP]}}, False, False),
    ],
)
def test_what_decides_nothing(step: Any, plain: bool, passed: bool) -> None:
    """A plain action, alone or in branches, decides nothing about the steps after it."""
    assert (is_plain(step), is_passed(step)) == (plain, passed)
