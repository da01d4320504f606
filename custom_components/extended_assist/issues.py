"""Notices about what keeps agents and functions from their work: raised, settled, and left ignored by who ignores them."""

from homeassistant.components import assist_pipeline
from homeassistant.config_entries import ConfigEntry, ConfigSubentry
from homeassistant.const import CONF_LLM_HASS_API, CONF_MODEL
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import issue_registry as ir, llm

from .claude.models import find_model, lifecycle, retirement
from .const import DOMAIN

WITHOUT_TOOLS = "agent_without_tools"
TOOLS_MISSING = "agent_tools_missing"
BYPASSED = "agent_bypassed"
MODEL_DEPRECATED = "model_deprecated"
MODEL_GONE = "model_gone"
NEARLY_USED = "tokens_nearly_used"
USED_UP = "tokens_used_up"
NOT_SERVED = "function_not_served"
ALL = (WITHOUT_TOOLS, TOOLS_MISSING, BYPASSED, MODEL_DEPRECATED, MODEL_GONE, NEARLY_USED, USED_UP, NOT_SERVED)


@callback
def async_raise(
    hass: HomeAssistant,
    key: str,
    entry_id: str,
    subentry: ConfigSubentry,
    placeholders: dict[str, str],
    **data: str,
) -> None:
    """Raise an issue about a subentry; one that says something else than before is no longer ignored."""
    issue_id = f"{key}_{subentry.subentry_id}"
    before = ir.async_get(hass).async_get_issue(DOMAIN, issue_id)
    # After a restart Home Assistant knows only that it was ignored, not what it said.
    if before and before.translation_placeholders not in (None, placeholders):
        ir.async_delete_issue(hass, DOMAIN, issue_id)
    ir.async_create_issue(
        hass,
        DOMAIN,
        issue_id,
        is_fixable=True,
        data={"entry_id": entry_id, "subentry_id": subentry.subentry_id, **data},
        severity=ir.IssueSeverity.WARNING,
        translation_key=key,
        translation_placeholders=placeholders,
    )


@callback
def async_settle(hass: HomeAssistant, key: str, subentry_id: str) -> None:
    """Settle an issue whose cause is gone."""
    ir.async_delete_issue(hass, DOMAIN, f"{key}_{subentry_id}")


@callback
def async_put_aside(hass: HomeAssistant, subentry_id: str, *keys: str) -> None:
    """Take issues back of which it is not known whether their cause is there; what is ignored must stay ignored."""
    registry = ir.async_get(hass)
    for key in keys or ALL:
        issue = registry.async_get_issue(DOMAIN, f"{key}_{subentry_id}")
        if issue and issue.dismissed_version is None:
            async_settle(hass, key, subentry_id)


@callback
def async_settle_gone(hass: HomeAssistant) -> None:
    """Settle the issues of subentries that are gone."""
    entries = hass.config_entries.async_entries(DOMAIN)
    known = {f"{key}_{subentry_id}" for entry in entries for subentry_id in entry.subentries for key in ALL}
    for domain, issue_id in list(ir.async_get(hass).issues):
        if domain == DOMAIN and issue_id not in known:
            ir.async_delete_issue(hass, DOMAIN, issue_id)


@callback
def async_check_agent(hass: HomeAssistant, entry_id: str, agent_id: str, subentry: ConfigSubentry) -> None:
    """Raise or settle the issues of an agent, but for the tools that it was given and that are gone."""
    has_tools = bool(subentry.data.get(CONF_LLM_HASS_API))
    placeholders = {"agent": subentry.title}
    if has_tools:
        async_settle(hass, WITHOUT_TOOLS, subentry.subentry_id)
    else:
        async_raise(hass, WITHOUT_TOOLS, entry_id, subentry, placeholders)
        async_settle(hass, TOOLS_MISSING, subentry.subentry_id)
    pipelines = [
        pipeline
        for pipeline in (assist_pipeline.async_get_pipelines(hass) if _has_pipelines(hass) else ())
        if pipeline.conversation_engine == agent_id and pipeline.prefer_local_intents
    ]
    if has_tools and pipelines:
        placeholders = {**placeholders, "assistants": ", ".join(pipeline.name for pipeline in pipelines)}
        async_raise(hass, BYPASSED, entry_id, subentry, placeholders, agent_id=agent_id)
    else:
        async_settle(hass, BYPASSED, subentry.subentry_id)


@callback
def async_has_its_tools(hass: HomeAssistant, entry_id: str, subentry: ConfigSubentry) -> bool:
    """Return whether all tools that an agent was given are there; raise or settle the issue.

    To be asked in a turn: while Home Assistant starts, those of other integrations may be still to come.
    """
    known = {api.id for api in llm.async_get_apis(hass)}
    if known.issuperset(subentry.data.get(CONF_LLM_HASS_API, ())):
        async_settle(hass, TOOLS_MISSING, subentry.subentry_id)
        return True
    async_raise(hass, TOOLS_MISSING, entry_id, subentry, {"agent": subentry.title})
    return False


@callback
def async_check_model(
    hass: HomeAssistant, entry: ConfigEntry, subentry: ConfigSubentry, *, is_gone: bool = False
) -> None:
    """Raise or settle the issue of a model that is being switched off, or that a turn found gone."""
    model_id = subentry.data[CONF_MODEL]
    model = find_model(entry.runtime_data.models, model_id)
    stage = "retired" if is_gone else lifecycle(model, model_id)
    for key, is_due in ((MODEL_DEPRECATED, stage == "deprecated"), (MODEL_GONE, stage == "retired")):
        if is_due:
            placeholders = {"agent": subentry.title, "model": model_id, "date": retirement(model, model_id) or "?"}
            async_raise(hass, key, entry.entry_id, subentry, placeholders)
        elif model is None:
            # The server lists no such model, or could not be asked: a turn will tell.
            async_put_aside(hass, subentry.subentry_id, key)
        else:
            async_settle(hass, key, subentry.subentry_id)


def _has_pipelines(hass: HomeAssistant) -> bool:
    """Return whether there are assistants; without voice there need not be."""
    return assist_pipeline.DOMAIN in hass.config.components
