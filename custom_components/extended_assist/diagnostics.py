"""Diagnostics: the data that a maintainer needs, without secrets and without names of the home."""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from homeassistant.components import assist_pipeline, conversation
from homeassistant.config_entries import ConfigEntryState, ConfigSubentry
from homeassistant.const import CONF_LLM_HASS_API
from homeassistant.core import Context, HomeAssistant, callback
from homeassistant.helpers import device_registry as dr, entity_registry as er, issue_registry as ir, llm
from homeassistant.helpers.json import json_dumps
from homeassistant.helpers.recorder import DATA_INSTANCE

from .calls.journal import async_get_journal
from .claude.coordinator import ExtendedAssistConfigEntry, has_connection
from .claude.request import to_tools
from .claude.usage import async_get_meters
from .const import CONF_BASE_URL, CONF_FALLBACK_AGENT, CONF_FUNCTION, DOMAIN, LOGGER, SUBENTRY_FUNCTION
from .exposure.entities import Exposure
from .flows.redaction import OPTION_RULES, SUBENTRY_RULES, describe_server, redacted, redacted_model
from .functions.definition import FUNCTION_TYPES, Definition, read_definition
from .functions.manager import function_subentries, loaded_functions
from .functions.yaml_source import FunctionError
from .ha_compat.conversation import async_get_pipeline
from .memory.store import async_get_memory
from .repair_issues.agents import SUBENTRY_ISSUES
from .scheduled.manager import async_get_scheduled_tasks
from .tools import CATALOGUE

_ASSISTANT = "conversation"
_PACKAGES = ("anthropic", "jsonschema")
_OWN_TOOLS = frozenset(tool.name for tool in CATALOGUE)

type Section = Callable[[HomeAssistant, ExtendedAssistConfigEntry], Awaitable[Any]]


async def async_get_config_entry_diagnostics(hass: HomeAssistant, entry: ExtendedAssistConfigEntry) -> dict[str, Any]:
    """Return the diagnostics of an entry in any state."""
    return await _async_sections(
        hass,
        entry,
        {
            "packages": _async_packages,
            "entry": _async_entry,
            "home": _async_home,
            "connection": _async_connection,
            "agents": _async_agents,
            "functions": _async_functions,
            "issues": _async_issues,
            "stored": _async_stored,
        },
    )


async def async_get_device_diagnostics(
    hass: HomeAssistant, entry: ExtendedAssistConfigEntry, device: dr.DeviceEntry
) -> dict[str, Any]:
    """Return the diagnostics of an agent: those of its entry without the other agents."""

    async def agents(hass: HomeAssistant, entry: ExtendedAssistConfigEntry) -> list[dict[str, Any]]:
        names = {name for domain, name in device.identifiers if domain == DOMAIN}
        return [await _async_agent(hass, entry, entry.subentries[name]) for name in names & entry.subentries.keys()]

    whole = await async_get_config_entry_diagnostics(hass, entry)
    return whole | await _async_sections(hass, entry, {"agents": agents})


async def _async_sections(
    hass: HomeAssistant, entry: ExtendedAssistConfigEntry, sections: Mapping[str, Section]
) -> dict[str, Any]:
    """Return all sections; an error in one section is reported in its place."""
    found: dict[str, Any] = {}
    for name, section in sections.items():
        try:
            found[name] = await section(hass, entry)
        except Exception as err:  # noqa: BLE001 - whatever is broken must not hide the other sections
            LOGGER.debug("No diagnostics about %s", name, exc_info=err)
            found[name] = {"error": type(err).__name__}
    return found


async def _async_packages(hass: HomeAssistant, entry: ExtendedAssistConfigEntry) -> dict[str, str]:
    """Return the versions of the required packages."""
    return await hass.async_add_executor_job(lambda: {name: _version(name) for name in _PACKAGES})


def _version(package: str) -> str:
    """Return the version of a package."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "missing"


async def _async_entry(hass: HomeAssistant, entry: ExtendedAssistConfigEntry) -> dict[str, Any]:
    """Return the state and the options."""
    return {
        "format": f"{entry.version}.{entry.minor_version}",
        "state": entry.state.value,
        "reason": entry.error_reason_translation_key,
        "entries": len(hass.config_entries.async_entries(DOMAIN)),
        "data": redacted(entry.data, {}),
        "options": redacted(entry.options, OPTION_RULES),
    }


async def _async_home(hass: HomeAssistant, entry: ExtendedAssistConfigEntry) -> dict[str, Any]:
    """Return the language, the numbers of all and of exposed entities, and the recorder's settings."""
    recorder = hass.data.get(DATA_INSTANCE)
    return {
        "language": hass.config.language,
        "entities": len(hass.states.async_all()),
        "exposed": Counter(state.domain for state in Exposure(hass, _ASSISTANT).states()),
        "recorder": recorder
        and {
            "engine": recorder.dialect_name,
            "schema": recorder.schema_version,
            "keep_days": recorder.keep_days,
            "recording": recorder.recording,
        },
    }


async def _async_connection(hass: HomeAssistant, entry: ExtendedAssistConfigEntry) -> dict[str, Any] | None:
    """Return the kind of server, its health and its models; None for an entry without a connection."""
    if not has_connection(entry):
        return None
    found: dict[str, Any] = {"server": describe_server(entry.data.get(CONF_BASE_URL))}
    if entry.state is ConfigEntryState.LOADED:
        runtime = entry.runtime_data
        found |= {
            "gone": runtime.coordinator.gone,
            "answered": runtime.coordinator.answered,
            "failures": [{"time": time, "cause": cause} for time, cause in runtime.coordinator.failures],
            "models": [redacted_model(model.id) for model in runtime.models],
            "context_limits": {redacted_model(model): limit for model, limit in runtime.refused.contexts().items()},
        }
    return found


async def _async_agents(hass: HomeAssistant, entry: ExtendedAssistConfigEntry) -> list[dict[str, Any]]:
    """Return all subentries except functions."""
    return [
        await _async_agent(hass, entry, subentry)
        for subentry in entry.subentries.values()
        if subentry.subentry_type != SUBENTRY_FUNCTION
    ]


async def _async_agent(
    hass: HomeAssistant, entry: ExtendedAssistConfigEntry, subentry: ConfigSubentry
) -> dict[str, Any]:
    """Return settings, usage, assistants, fallback and tools of an agent or AI task."""
    types = entry.supported_subentry_types
    usage = (await async_get_meters(hass)).of(subentry.subentry_id).usage
    found: dict[str, Any] = {
        "type": subentry.subentry_type if subentry.subentry_type in types else "unknown",
        "settings": redacted(subentry.data, SUBENTRY_RULES),
        "usage": {"counts": usage.counts, "month": usage.month, "month_tokens": usage.month_tokens},
    }
    entities = er.async_get(hass)
    if agent_id := entities.async_get_entity_id(conversation.DOMAIN, DOMAIN, subentry.subentry_id):
        found["assistants"] = _assistants(hass, agent_id)
    if fallback := subentry.data.get(CONF_FALLBACK_AGENT):
        found["fallback"] = _fallback(hass, fallback)
    if apis := subentry.data.get(CONF_LLM_HASS_API):
        found["offered"] = await _async_offered(hass, apis)
    return found


@callback
def _assistants(hass: HomeAssistant, agent_id: str) -> list[dict[str, Any]]:
    """Return the assistants that use an agent."""
    if assist_pipeline.DOMAIN not in hass.config.components:
        return []
    preferred = async_get_pipeline(hass).id
    return [
        {
            "preferred": pipeline.id == preferred,
            "prefer_local_intents": pipeline.prefer_local_intents,
            "speech_to_text": pipeline.stt_engine is not None,
            "text_to_speech": pipeline.tts_engine is not None,
        }
        for pipeline in assist_pipeline.async_get_pipelines(hass)
        if pipeline.conversation_engine == agent_id
    ]


@callback
def _fallback(hass: HomeAssistant, fallback: str) -> str:
    """Return the integration of a fallback agent."""
    if fallback == conversation.HOME_ASSISTANT_AGENT:
        return "home_assistant"
    entity = er.async_get(hass).async_get(fallback)
    return entity.platform if entity else "missing"


async def _async_offered(hass: HomeAssistant, apis: list[str]) -> dict[str, Any]:
    """Return the sizes of prompt and tools in characters; tools of others are only counted, as their names may be private."""
    context = llm.LLMContext(
        platform=DOMAIN, context=Context(), language=hass.config.language, assistant=_ASSISTANT, device_id=None
    )
    try:
        instance = await llm.async_get_api(hass, apis, context)
    except Exception as err:  # noqa: BLE001 - APIs of any integration
        return {"error": type(err).__name__}
    owners = {tool.name: str(tool.integration) for tool in instance.tools}
    own: dict[str, int] = {}
    others: dict[str, Counter[str]] = {}
    for tool in to_tools(instance):
        name, size = tool["name"], len(json_dumps(tool))
        if name in _OWN_TOOLS:
            own[name] = size
        else:
            others.setdefault(owners[name], Counter()).update(tools=1, characters=size)
    return {"prompt": len(instance.api_prompt), "own_tools": own, "other_tools": others}


async def _async_functions(hass: HomeAssistant, entry: ExtendedAssistConfigEntry) -> list[dict[str, Any]]:
    """Return settings and type of each function, in the order of the list."""
    served = {function.subentry.subentry_id for function in loaded_functions(hass, entry.entry_id)}
    found = []
    for subentry in function_subentries(entry):
        about = {"settings": redacted(subentry.data, SUBENTRY_RULES), "served": subentry.subentry_id in served}
        try:
            definition = await hass.async_add_executor_job(read_definition, str(subentry.data.get(CONF_FUNCTION)))
        except FunctionError as err:
            about["wrong_in_line"] = err.line
        else:
            about |= _definition(definition)
        found.append(about)
    return found


@callback
def _definition(definition: Definition) -> dict[str, Any]:
    """Return type, tier and number of parameters of a valid function."""
    return {
        "type": next(name for name, function_type in FUNCTION_TYPES.items() if function_type is definition.type),
        "reaches": definition.type.tier(definition.settings).name.lower(),
        "parameters": len(definition.written.get("properties", {})),
    }


async def _async_issues(hass: HomeAssistant, entry: ExtendedAssistConfigEntry) -> list[dict[str, Any]]:
    """Return the repair issues of this entry."""
    issues = ir.async_get(hass)
    return [
        {"issue": key, "ignored": issue.dismissed_version is not None}
        for subentry_id in entry.subentries
        for key in SUBENTRY_ISSUES
        if (issue := issues.async_get_issue(DOMAIN, f"{key}_{subentry_id}"))
    ]


async def _async_stored(hass: HomeAssistant, entry: ExtendedAssistConfigEntry) -> dict[str, Any]:
    """Return the numbers of stored changes, tasks and facts of all entries together."""
    journal, tasks = await async_get_journal(hass), await async_get_scheduled_tasks(hass)
    held = (await async_get_memory(hass)).held
    return {
        "changes": len(journal.changes),
        "undone": sum(change.undone for change in journal.changes),
        "wishes": {
            "standing": len(tasks.standing),
            "of_household": sum(task.is_household for task in tasks.standing),
            "ended": len(tasks.ended),
        },
        "facts": {"held": len(held), "of_household": sum(fact.user_id is None for fact in held)},
    }
