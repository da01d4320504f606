"""Run an exposed script, or a sequence that the model writes."""

from typing import Any, override

import voluptuous as vol

from homeassistant.helpers import config_validation as cv, entity_registry as er, llm
from homeassistant.helpers.json import json_dumps
from homeassistant.util.json import JsonObjectType

from ..actions.check import ResolvedAction, async_check_action
from ..actions.perform import async_perform, planned_steps
from ..actions.run import SEQUENCE_TIME, SequenceRun, as_of_now, changes
from ..actions.sequences import SequenceWalker
from ..calls.call import ToolCall
from ..calls.plan import Plan
from ..calls.policy import Tier
from ..confirmation.untrusted_text import marked, marked_answer
from ..confirmation.wording import step_for
from ..llm_tools.extended_tool import ExtendedTool
from ..results import ToolError, size

_FINISHING_TIME = 10.0
"""Seconds for the checks before and the outcome after a run."""


class ExecuteScriptTool(ExtendedTool):
    """Run an exposed script with variables, or a sequence in Home Assistant's script syntax."""

    name = "extended_assist__execute_script"
    title = "Execute script"
    description = (
        "Run an exposed script, or a sequence of several steps with delays, conditions, loops and templates. Prefer "
        "perform_action for a single action. Reaches exposed entities only; returns the response and what became of the "
        "entities: report that. What takes longer than half a minute does not belong here."
    )
    annotations = llm.ToolAnnotations(read_only=False, destructive=True, idempotent=False, open_world=True)
    family = "scripts"
    tier = Tier.CONTROL
    deadline = SEQUENCE_TIME + _FINISHING_TIME
    parameters = vol.Schema(
        {
            vol.Optional("script", description="Entity id or name of an exposed script."): cv.string,
            vol.Optional("variables", description="Values for the script's fields. No templates."): dict,
            vol.Optional(
                "sequence",
                description="Instead of script: steps in Home Assistant's script syntax, as objects. "
                "Return a value with {'stop': 'why', 'response_variable': name}.",
            ): vol.All([dict], vol.Length(min=1)),
        }
    )

    @override
    def asks_first(self, call: ToolCall) -> bool:
        """Ask before a sequence only: a script was written and exposed by the user."""
        return "sequence" in call.arguments and super().asks_first(call)

    @override
    async def async_run(self, call: ToolCall) -> JsonObjectType:
        """Run the script or the sequence."""
        if (sequence := _sequence(call)) is not None:
            walker = SequenceWalker(call)
            run = await SequenceRun.async_create(call, walker, await walker.async_actions(sequence))
            call.recording.what = "running a sequence"
            answer = await run.async_run()
            return _cuttable(call, marked(answer, when=run.has_free_text(answer)))
        action = await _async_script(call)
        before = {state.entity_id: state for state in call.hass.states.async_all()}
        answer = await async_perform(call, action)
        call = as_of_now(call)
        answer |= {"entities": changes(call, before, action.entity_ids)}
        return _cuttable(call, marked_answer(call.hass, call.exposure, action.name, answer))

    @override
    async def async_plan(self, call: ToolCall) -> Plan:
        """Return the script, or every action of the sequence, those in branches too."""
        if (sequence := _sequence(call)) is None:
            action = await _async_script(call)
            step = step_for(call, action.name, action.entity_ids, action.data)
            return Plan((step,), step.words)
        walker = SequenceWalker(call)
        await walker.async_actions(sequence)
        steps = planned_steps(call, walker)
        if not steps:
            return Plan((), f"Run {walker.steps} steps: nothing that changes the home")
        sentence = f"Run a sequence of {walker.steps} steps, {len(steps)} of them actions"
        return Plan(steps, sentence, is_whole=not walker.is_open)


def _cuttable(call: ToolCall, answer: JsonObjectType) -> JsonObjectType:
    """Return an answer with a response that is too long as text, which can be cut."""
    if "response" not in answer or size(answer) <= call.budget:
        return answer
    return answer | {"response": json_dumps(answer["response"])}


def _sequence(call: ToolCall) -> list[Any] | None:
    """Return the sequence of the arguments, or None where they name a script."""
    sequence: list[Any] | None = call.arguments.get("sequence")
    if (sequence is None) is ("script" not in call.arguments):
        raise ToolError("Give either script or sequence.")
    if sequence is not None and "variables" in call.arguments:
        raise ToolError("variables are for a script. In a sequence, begin with a step {'variables': {…}}.")
    return sequence


async def _async_script(call: ToolCall) -> ResolvedAction:
    """Return the action that runs the exposed script of the arguments."""
    wanted = call.arguments["script"]
    found = [entity for entity in call.exposure.resolve(wanted) if entity.domain == "script"]
    if len(found) != 1:
        named = ", ".join(entity.entity_id for entity in found) or "none of them scripts"
        raise ToolError(f"'{wanted}' means {len(found)} scripts: {named}. Name one by its entity id.")
    entry = er.async_get(call.hass).async_get(found[0].entity_id)
    name = entry.unique_id if entry else found[0].entity_id.partition(".")[2]
    return await async_check_action(call, f"script.{name}", None, call.arguments.get("variables"))
