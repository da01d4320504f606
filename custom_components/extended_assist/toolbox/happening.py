"""What a call does or is kept from, as it is told to logbook, entities and automations: actions and exposed entities alone."""

from homeassistant.core import HomeAssistant, SupportsResponse, callback

from .activity import Happening, async_happened
from .call import ToolCall
from .plan import Plan, Step


@callback
def only_answers(hass: HomeAssistant, step: Step) -> bool:
    """Return whether a step does nothing but answer."""
    domain, _, service = step.action.partition(".")
    only = SupportsResponse.ONLY
    return hass.services.has_service(domain, service) and hass.services.supports_response(domain, service) is only


@callback
def only_tells(hass: HomeAssistant, plan: Plan) -> bool:
    """Return whether a plan does nothing but answer."""
    return plan.is_whole and not plan.bound_to and all(only_answers(hass, step) for step in plan.steps)


@callback
def tell(call: ToolCall, kind: Happening) -> None:
    """Tell what happens with a call: which actions on which entities were planned, as far as these are exposed.

    What is remembered, and what somebody wants for themselves later, is told nowhere.
    """
    hass, plan = call.hass, call.recording.plan
    if not call.recording.is_told or (
        kind is Happening.ACTED and plan is not None and plan.steps and only_tells(hass, plan)
    ):
        return
    steps = plan.steps if plan is not None else ()
    exposed = (entity_id for step in steps for entity_id in step.entity_ids if call.exposure.is_exposed(entity_id))
    actions = (step.action for step in steps if step.action and call.exposure.visible_value(step.action))
    async_happened(
        hass,
        kind,
        call.options.entry_id,
        call.agent,
        call.caller.context,
        tool=call.tool_input.tool_name if call.tool_input else "",
        actions=actions,
        targets=exposed,
    )
