"""Everything that a sequence renders and does is bounded in the moment in which it happens."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from itertools import count
import json
import threading
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import async_capture_events

from custom_components.extended_assist.actions.binding import MAX_ROUNDS
from custom_components.extended_assist.calls.policy import Policy
from custom_components.extended_assist.confirmation.untrusted_text import _HEARD as HEARD, MARK
from custom_components.extended_assist.exposure.entities import Exposure
from custom_components.extended_assist.exposure.responses import visible_response
from custom_components.extended_assist.results import ToolError
from custom_components.extended_assist.templates import bound_template
from custom_components.extended_assist.templates.bound_template import BoundTemplate, TemplateRun, compiled
from custom_components.extended_assist.templates.limits import Budget
from custom_components.extended_assist.tools.actions import PerformActionTool
from custom_components.extended_assist.tools.scripts import ExecuteScriptTool
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.components.media_player import BrowseMedia, MediaClass
from homeassistant.const import EVENT_CALL_SERVICE
from homeassistant.core import HomeAssistant, ServiceCall, SupportsResponse
from homeassistant.exceptions import TemplateError
from homeassistant.helpers import entity_registry as er, llm
from homeassistant.helpers.json import json_dumps
from homeassistant.helpers.service import async_set_service_schema
from homeassistant.helpers.template import TemplateEnvironment
from tests.attacks import made
from tests.attacks.actions import HIDDEN_DEVICE, REGISTRY_ID
from tests.conftest import ASSISTANT, CallTool
from tests.helpers.acting import hidden_states, traces
from tests.helpers.steps import BED, NOTE, PARTY, PARTY_ON, act, answer
from tests.tools import test_scripts

pytestmark = pytest.mark.usefixtures("house")


type Tell = Callable[[list[dict[str, Any]]], Awaitable[dict[str, Any]]]

AT_ONCE = replace(
    test_scripts.AT_ONCE, targetless_actions=frozenset({"jukebox.play", "jukebox.browse", "jukebox.codes"})
)


@pytest.fixture
def tell(hass: HomeAssistant, llm_context: llm.LLMContext) -> Tell:
    """Return a function that runs a sequence and returns what is told, whether it failed or not."""

    async def run(sequence: list[dict[str, Any]]) -> dict[str, Any]:
        hass.data.pop(HEARD, None)
        tool = ExecuteScriptTool(AT_ONCE)
        return (await tool.async_call(hass, llm.ToolInput(tool.name, {"sequence": sequence}), llm_context)).data

    return run


async def test_made_targets(hass: HomeAssistant, tell: Tell) -> None:
    """Whatever a template makes, and however it comes by it, an action reaches nothing hidden."""
    calls = async_capture_events(hass, EVENT_CALL_SERVICE)
    before, reached = hidden_states(hass), {}
    zebra = er.async_get(hass).async_get("light.zebra")
    assert zebra
    attacks, refused = list(made.sequences()), 0
    marks = ("zebra", "axolotl", zebra.id, str(zebra.device_id))
    assert len(attacks) > 300
    for name, sequence in attacks:
        filled = json.loads(
            json.dumps(sequence).replace(REGISTRY_ID, zebra.id).replace(HIDDEN_DEVICE, str(zebra.device_id))
        )
        calls.clear()
        data = await tell(filled)
        refused += "error" in data
        said = json_dumps([call.data["service_data"] for call in calls])
        if hidden_states(hass) != before or any(mark in said.lower() for mark in marks):
            reached[name] = said
    assert reached == {}
    assert refused > len(attacks) - 5


@pytest.mark.parametrize("template", ["{% if 1 %}" * 110 + "{% endif %}" * 110, "{{ f(a=1, a=2) }}"])
async def test_what_python_cannot_compile(tell: Tell, template: str) -> None:
    """A template that only Python refuses is a mistake with its place, like any other."""
    data = await tell(answer(template))
    assert "The template failed" in data["error"]
    assert "sequence[0]" in data["error"]


async def test_compiled_beside_the_loop(tell: Tell, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many templates there are, none is compiled where it would hold up Home Assistant."""
    threads: set[int] = set()

    def noted(template: str) -> bound_template.Compiled:
        threads.add(threading.get_ident())
        return compiled(template)

    monkeypatch.setattr(bound_template, "compiled", noted)
    values = {f"v{number}": "{{ 1 + " + str(number) + " }}" for number in range(300)}
    assert (await tell([{"variables": values}, *answer("{{ v299 }}")]))["response"] == {"value": 300}
    assert threads
    assert threading.get_ident() not in threads


async def test_all_means_what_is_exposed(hass: HomeAssistant, call_tool: CallTool) -> None:
    """`all`, made by a template, means all that is exposed."""
    before = hidden_states(hass)
    data = await call_tool(
        ExecuteScriptTool(AT_ONCE), sequence=[{"action": "light.turn_on", "target": {"entity_id": "{{ 'a' ~ 'll' }}"}}]
    )
    assert data["entities"][BED].startswith("off → on")
    assert hidden_states(hass) == before


async def test_a_full_environment_would_tell(hass: HomeAssistant, tell: Tell, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is tried here is seen to succeed once the environment is Home Assistant's own."""
    sequences = [answer(template) for template in made.FULL]
    ours = [await tell(sequence) for sequence in sequences]
    assert [traces(json_dumps(data), json_dumps(sequence)) for data, sequence in zip(ours, sequences, strict=True)] == [
        [] for _ in sequences
    ]
    full = TemplateEnvironment(hass)
    monkeypatch.setattr(bound_template, "environment_for", lambda *_: full)
    monkeypatch.setattr(bound_template, "compiled", lambda text: (full.compile(text), frozenset()))
    theirs = [await tell(sequence) for sequence in sequences]
    same = [template for template, one, other in zip(made.FULL, ours, theirs, strict=True) if one == other]
    assert same == []
    assert sum(bool(traces(json_dumps(data), "")) for data in theirs) > 3


WAITED = {"wait_for_trigger": {"trigger": "state", "entity_id": "group.mixed"}, "timeout": 2}
CHANGED = [{"delay": {"milliseconds": 20}}, act("jukebox.play", PARTY)]


@pytest.mark.parametrize(
    "end",
    [
        [{"stop": "", "response_variable": "wait"}],
        answer("{{ wait }}"),
        answer("{{ wait.trigger.to_state }}"),
        answer("{{ wait.trigger.to_state.attributes }}"),
        answer("{{ wait.trigger.from_state.context }}"),
        answer("{{ context }}"),
    ],
)
async def test_what_triggered(hass: HomeAssistant, tell: Tell, end: list[dict[str, Any]]) -> None:
    """What a trigger hands over are views: no hidden members, no tokens, no objects of Home Assistant."""

    async def change(call: ServiceCall) -> None:
        attributes = {"entity_id": [BED, "light.zebra"], "access_token": "narwhal"}
        hass.states.async_set("group.mixed", "changed", attributes)

    hass.services.async_register("jukebox", "play", change)
    async_set_service_schema(hass, "jukebox", "play", {"target": {"entity": {"domain": "input_boolean"}}})
    sequence = [{"parallel": [[WAITED, *end], CHANGED]}]
    data = await tell(sequence)
    assert traces(json_dumps(data), json_dumps(sequence)) == []
    if end[0].get("response_variable") == "wait":
        state = data["response"]["trigger"]["to_state"]
        assert state["entity_id"] == "group.mixed"
        assert state["attributes"]["entity_id"] == [BED]
        assert "context" not in state


async def test_trigger_and_condition_templates(hass: HomeAssistant, call_tool: CallTool) -> None:
    """A template trigger and a value_template see what is exposed, and states as views."""
    hass.states.async_set("light.zebra", "on", {"friendly_name": "Zebra lamp"})
    for step in (
        {
            "wait_for_trigger": {"trigger": "template", "value_template": "{{ is_state('light.zebra', 'off') }}"},
            "timeout": 0.1,
        },
        {"wait_template": "{{ is_state('light.zebra', 'on') }}", "timeout": 0.1},
    ):
        data = await call_tool(
            ExecuteScriptTool(AT_ONCE), sequence=[step, *answer("{{ wait.completed | default(false) }}")]
        )
        assert data["response"] == {"value": False}
    numeric = {
        "condition": "numeric_state",
        "entity_id": "group.mixed",
        "above": 1,
        "value_template": "{{ state.attributes.entity_id | count }}",
    }
    data = await call_tool(ExecuteScriptTool(AT_ONCE), sequence=[numeric, PARTY_ON])
    assert data["ended"] == "ended early at sequence[0]"  # It has one member that may be seen, and another.
    assert data.keys() == {"ended", MARK}  # All attributes were read, of which some are free.


async def test_exposed_as_of_now(hass: HomeAssistant, call_tool: CallTool) -> None:
    """What a template reads is what is exposed in the moment in which it is rendered."""

    async def hide(call: ServiceCall) -> None:
        async_expose_entity(hass, ASSISTANT, BED, False)

    hass.services.async_register("jukebox", "play", hide)
    async_set_service_schema(hass, "jukebox", "play", {"target": {"entity": {"domain": "input_boolean"}}})
    sequence = [
        act("jukebox.play", PARTY),
        act("input_text.set_value", NOTE, value="{{ states('light.' ~ 'bed_light') }}"),
    ]
    await call_tool(ExecuteScriptTool(AT_ONCE), sequence=sequence)
    note = hass.states.get(NOTE)
    assert note
    assert note.state == "unknown"


async def test_hidden_looks_like_unknown(tell: Tell) -> None:
    """An answer or an error made by a template is the same for what is hidden and for what there is not."""
    for sequence in (
        answer("{{ 'light.' ~ NAME }}"),
        answer("{{ ('light.' ~ NAME) | int }}"),
        [{"variables": {"x": "{{ 'light.' ~ NAME }}"}}, *answer("{{ x is none }}{{ x }}")],
        [{"repeat": {"count": "{{ 'light.' ~ NAME }}", "sequence": [PARTY_ON]}}],
        [{"delay": "{{ 'light.' ~ NAME }}"}],
        [{"action": "light.turn_on", "target": {"entity_id": "{{ 'light.' ~ NAME }}"}}],
        [{"action": "light.turn_on", "target": {"area_id": "{{ NAME }}"}}],
    ):
        said = []
        for name in ("zebra", "qebra"):
            filled = json.loads(json.dumps(sequence).replace("NAME", f"'{name}'"))
            said.append(json_dumps(await tell(filled)).replace(name, "X"))
        assert said[0].partition("Nearest")[0] == said[1].partition("Nearest")[0], sequence


async def test_rounds(hass: HomeAssistant, tell: Tell, monkeypatch: pytest.MonkeyPatch) -> None:
    """All loops of a sequence together have a number of rounds."""
    assert MAX_ROUNDS == 10_000
    monkeypatch.setattr("custom_components.extended_assist.actions.binding.MAX_ROUNDS", 20)
    sequence = [{"repeat": {"count": 9, "sequence": [{"repeat": {"count": "{{ 9 }}", "sequence": []}}]}}, PARTY_ON]
    data = await tell(sequence)
    assert "repeated 20 times" in json_dumps(data)
    party = hass.states.get(PARTY)
    assert party
    assert party.state == "off"


@pytest.mark.parametrize(
    "template",
    [
        "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
        "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(40) }}",
        "{% for a in [[1]] recursive %}{{ loop(a) if a is iterable }}{{ loop([[1]]) }}{% endfor %}",
    ],
)
async def test_time_on_the_loop(hass: HomeAssistant, template: str) -> None:
    """A template that Home Assistant renders on its loop is ended soon, and so are many."""
    started = hass.loop.time()
    with pytest.raises(TemplateError):
        BoundTemplate(template, TemplateRun(hass, ASSISTANT)).async_render()
    assert hass.loop.time() - started < 3


async def test_time_of_a_run(hass: HomeAssistant) -> None:
    """All templates of a run share its time."""
    run = TemplateRun(hass, ASSISTANT)
    assert BoundTemplate("{{ 1 }}", run).async_render() == 1
    run.spend(bound_template.RUN_TIME)
    with pytest.raises(TemplateError, match="together"):
        BoundTemplate("{{ 1 }}", run).async_render()


async def test_a_busy_machine(hass: HomeAssistant, monkeypatch: pytest.MonkeyPatch) -> None:
    """Time in which others had the processor does not count."""
    clock = count()
    monkeypatch.setattr(Budget, "_clock", lambda _: next(clock))
    run = TemplateRun(hass, ASSISTANT)
    assert BoundTemplate("{{ range(5) | map('string') | join }}", run).async_render() == "01234"
    assert BoundTemplate("{{ 'abc' | regex_match('(a|b)+c') }}", run).async_render() is True
    with pytest.raises(TemplateError, match="longer than"):
        BoundTemplate(
            "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}", run
        ).async_render()


async def test_no_other_way_to_render(hass: HomeAssistant) -> None:
    """A bound template cannot be rendered by what would use another environment."""
    template = BoundTemplate("{{ value }}", TemplateRun(hass, ASSISTANT))
    template.ensure_valid()
    for render in (
        lambda: template.async_render_with_possible_json_value("x"),
        template._ensure_compiled,
    ):
        with pytest.raises(TemplateError):
            render()
    with pytest.raises(ToolError, match="No filter named"):
        BoundTemplate("{{ 1 | nothing }}", TemplateRun(hass, ASSISTANT))
    info = BoundTemplate(
        "{{ 1 / 0 }}{{ states('light.bed_light') }}", TemplateRun(hass, ASSISTANT)
    ).async_render_to_info()
    assert info.exception
    assert not info.filter("light.zebra")
    info = BoundTemplate(
        "{{ states('light.bed_light') }}{{ states('light.zebra') }}", TemplateRun(hass, ASSISTANT)
    ).async_render_to_info()
    assert info.entities == {BED}


async def test_objects_in_responses(hass: HomeAssistant, call_tool: CallTool) -> None:
    """Objects in a response are looked into, and what names a hidden camera in them is not told."""

    def media(title: str, *children: BrowseMedia) -> BrowseMedia:
        return BrowseMedia(
            media_class=MediaClass.DIRECTORY,
            media_content_id=title,
            media_content_type="image",
            title=title,
            can_play=False,
            can_expand=True,
            children=list(children),
        )

    async def browse(call: ServiceCall) -> Any:
        return {BED: media("Cameras", media("Zebra lamp"), media("Garden"))}

    async def codes(call: ServiceCall) -> Any:
        return {BED: {"1": {"usercode": "4711", "in_use": True}, "2": {"user_code": 4712, "pin": "4713"}}}

    for name, answering in (("browse", browse), ("codes", codes)):
        hass.services.async_register("jukebox", name, answering, supports_response=SupportsResponse.ONLY)
        async_set_service_schema(hass, "jukebox", name, {"target": {"entity": {"domain": "light"}}})
        step = {**act(f"jukebox.{name}", BED), "response_variable": "found"}
        for tool, arguments in (
            (PerformActionTool(AT_ONCE), {"action": f"jukebox.{name}", "target": {"entity_id": BED}}),
            (ExecuteScriptTool(AT_ONCE), {"sequence": [step, {"stop": "", "response_variable": "found"}]}),
            (ExecuteScriptTool(AT_ONCE), {"sequence": [step, *answer("{{ found }}")]}),
            (ExecuteScriptTool(AT_ONCE), {"sequence": [step, *answer("{{ found | string | upper }}")]}),
        ):
            hass.data.pop(HEARD, None)
            told = json_dumps(await call_tool(tool, **arguments)).lower()
            assert "zebra" not in told
            assert "471" not in told
            assert ("garden" if name == "browse" else "in_use") in told


async def test_plain_or_nothing(hass: HomeAssistant) -> None:
    """What cannot be made plain data is not told; states are those of what is exposed."""
    exposure = Exposure(hass, ASSISTANT)
    assert visible_response(exposure, {"x": object()}) is None
    assert visible_response(exposure, {"a": hass.states.get("light.zebra"), "b": {1, 2}}) == {"b": [1, 2]}
    mixed = visible_response(exposure, {"a": hass.states.get("group.mixed")})["a"]
    assert mixed["attributes"]["entity_id"] == [BED]
    assert "context" not in mixed


async def test_open_targets_count_as_consequential(hass: HomeAssistant, call_tool: CallTool) -> None:
    """A sequence of which it is not known what it will act on asks as what is consequential does."""
    sequence = [{"action": "homeassistant.turn_off", "target": {"entity_id": "{{ 'lock.' ~ 'front_door' }}"}}]
    options = replace(AT_ONCE, policy=Policy(ask_first=frozenset()))
    data = await call_tool(ExecuteScriptTool(options), error=True, sequence=sequence)
    assert "the user's own word" in data["error"]
    data = await call_tool(ExecuteScriptTool(options), sequence=[PARTY_ON])
    assert data["ended"] == "finished"


async def test_exclude_as_a_text(hass: HomeAssistant, call_tool: CallTool) -> None:
    """What is to be left out is left out, or the call is refused: it is never ignored."""
    target = {"entity_id": [BED, "light.ceiling_lights"]}
    arguments = {"action": "light.turn_on", "target": target | {"exclude": BED}}
    data = await call_tool(PerformActionTool(AT_ONCE), error=True, **arguments)
    assert "target.exclude: this must be an object" in data["error"]
    arguments["target"] = target | {"exclude": {"entity_id": [BED]}}
    await call_tool(PerformActionTool(AT_ONCE), **arguments)
    bed = hass.states.get(BED)
    assert bed
    assert bed.state == "off"
