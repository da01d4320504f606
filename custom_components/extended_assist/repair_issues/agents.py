"""Repair issues about agents and functions that cannot work: created, updated and deleted."""

from collections.abc import Mapping

from homeassistant.components import assist_pipeline
from homeassistant.config_entries import SIGNAL_CONFIG_ENTRY_CHANGED, ConfigEntry, ConfigEntryChange, ConfigSubentry
from homeassistant.const import CONF_LLM_HASS_API
from homeassistant.core import CALLBACK_TYPE, HomeAssistant, callback
from homeassistant.helpers import issue_registry as ir, llm
from homeassistant.helpers.dispatcher import async_dispatcher_connect

from ..const import DOMAIN
from ..exposure.api_selection import assist_name, holds_twin, serves_everything
from .entries import CHANGE_ISSUES, ENTRY_ISSUES

WITHOUT_TOOLS = "agent_without_tools"
TOOLS_MISSING = "agent_tools_missing"
BYPASSED = "agent_bypassed"
MODEL_DEPRECATED = "model_deprecated"
MODEL_GONE = "model_gone"
NEARLY_USED = "tokens_nearly_used"
USED_UP = "tokens_used_up"
NOT_SERVED = "function_not_served"
WITHOUT_RULES = "tools_without_rules"
"""The issue about agents and MCP servers of other integrations; it has no repair flow."""
LEFT_OUT = "agent_tools_left_out"
"""The issue about refused tools; it has no repair flow."""
_NO_ENTRYS = (WITHOUT_RULES, *CHANGE_ISSUES)
SUBENTRY_ISSUES = (
    WITHOUT_TOOLS,
    TOOLS_MISSING,
    BYPASSED,
    MODEL_DEPRECATED,
    MODEL_GONE,
    NEARLY_USED,
    USED_UP,
    NOT_SERVED,
    LEFT_OUT,
)


@callback
def async_raise_issue(
    hass: HomeAssistant,
    key: str,
    entry_id: str,
    subentry: ConfigSubentry,
    placeholders: dict[str, str],
    **data: str,
) -> None:
    """Create an issue about a subentry; if its text changes, it is no longer ignored."""
    issue_id = f"{key}_{subentry.subentry_id}"
    before = ir.async_get(hass).async_get_issue(DOMAIN, issue_id)
    # After a restart Home Assistant knows only that it was ignored, not what it said.
    if before and before.translation_placeholders not in (None, placeholders):
        ir.async_delete_issue(hass, DOMAIN, issue_id)
    ir.async_create_issue(
        hass,
        DOMAIN,
        issue_id,
        is_fixable=key != LEFT_OUT,
        data={"entry_id": entry_id, "subentry_id": subentry.subentry_id, **data},
        severity=ir.IssueSeverity.WARNING,
        translation_key=key,
        translation_placeholders=placeholders,
    )


@callback
def async_resolve_issue(hass: HomeAssistant, key: str, subentry_id: str) -> None:
    """Delete an issue whose cause is gone."""
    ir.async_delete_issue(hass, DOMAIN, f"{key}_{subentry_id}")


@callback
def async_resolve_unless_ignored(hass: HomeAssistant, subentry_id: str, *keys: str) -> None:
    """Delete issues whose cause is unknown, except ignored ones, which must stay ignored."""
    registry = ir.async_get(hass)
    for key in keys or SUBENTRY_ISSUES:
        issue = registry.async_get_issue(DOMAIN, f"{key}_{subentry_id}")
        if issue and issue.dismissed_version is None:
            async_resolve_issue(hass, key, subentry_id)


@callback
def async_resolve_orphaned(hass: HomeAssistant) -> None:
    """Delete the issues of removed entries and subentries."""
    entries = hass.config_entries.async_entries(DOMAIN)
    known = {f"{key}_{subentry_id}" for entry in entries for subentry_id in entry.subentries for key in SUBENTRY_ISSUES}
    known |= {f"{key}_{entry.entry_id}" for entry in entries for key in ENTRY_ISSUES}
    for domain, issue_id in list(ir.async_get(hass).issues):
        if domain == DOMAIN and issue_id not in known and not (entries and issue_id.startswith(_NO_ENTRYS)):
            ir.async_delete_issue(hass, DOMAIN, issue_id)


@callback
def async_check_others(hass: HomeAssistant) -> None:
    """Create or delete the issues of other integrations' agents and servers that have both Assist and a toolbox.

    The toolbox contains Assist's tools under its rules; Home Assistant offers the second copy without them.
    """
    assist = assist_name(hass)
    due = {
        f"{WITHOUT_RULES}_{holder_id}": {"agent": title, "integration": entry.domain, "assist": assist}
        for entry in hass.config_entries.async_entries()
        if entry.domain != DOMAIN
        for holder_id, title, settings in (
            (entry.entry_id, entry.title, {**entry.data, **entry.options}),
            *((one.subentry_id, one.title, one.data) for one in entry.subentries.values()),
        )
        if serves_everything(settings) or holds_twin(settings.get(CONF_LLM_HASS_API))
    }
    for domain, issue_id in list(ir.async_get(hass).issues):
        if domain == DOMAIN and issue_id.startswith(WITHOUT_RULES) and issue_id not in due:
            ir.async_delete_issue(hass, DOMAIN, issue_id)
    for issue_id, placeholders in due.items():
        ir.async_create_issue(
            hass,
            DOMAIN,
            issue_id,
            is_fixable=False,
            severity=ir.IssueSeverity.WARNING,
            translation_key=WITHOUT_RULES,
            translation_placeholders=placeholders,
        )


@callback
def async_watch_others(hass: HomeAssistant) -> CALLBACK_TYPE:
    """Check other integrations' agents and servers now and after each change; return the function that stops it."""
    async_check_others(hass)

    @callback
    def check(_change: ConfigEntryChange, entry: ConfigEntry) -> None:
        if entry.domain != DOMAIN:
            async_check_others(hass)

    return async_dispatcher_connect(hass, SIGNAL_CONFIG_ENTRY_CHANGED, check)


@callback
def async_check_agent(hass: HomeAssistant, entry_id: str, agent_id: str, subentry: ConfigSubentry) -> None:
    """Create or delete the issues of an agent, except that of missing tools."""
    has_tools = bool(subentry.data.get(CONF_LLM_HASS_API))
    placeholders = {"agent": subentry.title}
    if has_tools:
        async_resolve_issue(hass, WITHOUT_TOOLS, subentry.subentry_id)
    else:
        async_raise_issue(hass, WITHOUT_TOOLS, entry_id, subentry, placeholders)
        async_resolve_issue(hass, TOOLS_MISSING, subentry.subentry_id)
    pipelines = [
        pipeline
        for pipeline in (assist_pipeline.async_get_pipelines(hass) if _has_pipelines(hass) else ())
        if pipeline.conversation_engine == agent_id and pipeline.prefer_local_intents
    ]
    if has_tools and pipelines:
        placeholders = {**placeholders, "assistants": ", ".join(pipeline.name for pipeline in pipelines)}
        async_raise_issue(hass, BYPASSED, entry_id, subentry, placeholders, agent_id=agent_id)
    else:
        async_resolve_issue(hass, BYPASSED, subentry.subentry_id)


@callback
def async_check_tools(hass: HomeAssistant, entry_id: str, subentry: ConfigSubentry) -> bool:
    """Return whether all selected APIs of an agent exist; create or delete the issue.

    Call it in a turn: while Home Assistant starts, other integrations may register their APIs later.
    """
    known = {api.id for api in llm.async_get_apis(hass)}
    if known.issuperset(subentry.data.get(CONF_LLM_HASS_API, ())):
        async_resolve_issue(hass, TOOLS_MISSING, subentry.subentry_id)
        return True
    async_raise_issue(hass, TOOLS_MISSING, entry_id, subentry, {"agent": subentry.title})
    return False


@callback
def async_check_left_out(
    hass: HomeAssistant, entry_id: str, subentry: ConfigSubentry, tools: Mapping[str, str]
) -> None:
    """Create or delete the issue about tools that an agent's server would refuse; `tools` maps names to reasons."""
    if not tools:
        async_resolve_issue(hass, LEFT_OUT, subentry.subentry_id)
        return
    lines = "\n".join(f"- `{name}`: {reason}" for name, reason in sorted(tools.items()))
    async_raise_issue(hass, LEFT_OUT, entry_id, subentry, {"agent": subentry.title, "tools": lines})


def _has_pipelines(hass: HomeAssistant) -> bool:
    """Return whether voice assistants exist."""
    return assist_pipeline.DOMAIN in hass.config.components
