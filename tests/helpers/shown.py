"""Whatever a flow shows in a test has its texts, and what they fill in is given."""

from string import Formatter
from typing import Any

from custom_components.extended_assist.const import DOMAIN
from homeassistant.components.repairs import RepairsFlow
from homeassistant.config_entries import ConfigSubentryFlow, OptionsFlow
from homeassistant.data_entry_flow import FlowHandler, FlowResultType, section
from homeassistant.helpers import issue_registry as ir
from homeassistant.helpers.selector import SelectSelector

from ..publishing.files import INTEGRATION, leaves, read_json

TEXTS = leaves(read_json(INTEGRATION / "translations" / "en.json"))


def is_own(flow: FlowHandler[Any, Any, Any]) -> bool:
    """Return whether a flow is one of the integration."""
    return type(flow).__module__.startswith(f"custom_components.{DOMAIN}.")


def check_shown(flow: FlowHandler[Any, Any, Any], result: Any) -> None:
    """Assert that all that a flow shows is there."""
    shown = _shown(_root(flow), result)
    missing = [path for path in shown if path not in TEXTS]
    assert not missing, f"{result.get('step_id') or result.get('reason')} shows what has no text: {missing}"
    given = (result.get("description_placeholders") or {}).keys()
    for path in (*shown, f"{_root(flow)}::step::{result.get('step_id')}::description"):
        wanted = {name for _, name, _, _ in Formatter().parse(TEXTS.get(path, "")) if name}
        assert wanted <= given, f"{path} is shown without {wanted - given}"


def _root(flow: FlowHandler[Any, Any, Any]) -> str:
    """Return under which path the texts of a flow are."""
    match flow:
        case ConfigSubentryFlow():
            return f"config_subentries::{flow.handler[1]}"
        case RepairsFlow():
            issue = ir.async_get(flow.hass).async_get_issue(DOMAIN, flow.issue_id)
            # A notice that is settled meanwhile has no entry any more; its id is its key and what it is about.
            return f"issues::{issue.translation_key if issue else flow.issue_id.rpartition('_')[0]}::fix_flow"
        case OptionsFlow():
            return "options"
    return "config"


def _shown(root: str, result: Any) -> list[str]:
    """Return the paths of the texts that a result shows."""
    step = f"{root}::step::{result.get('step_id')}"
    match result["type"]:
        case FlowResultType.ABORT:
            return [f"{root}::abort::{result['reason']}"]
        case FlowResultType.MENU:
            return [f"{step}::title", *(f"{step}::menu_options::{option}" for option in result["menu_options"])]
        case FlowResultType.FORM:
            errors = (result.get("errors") or {}).values()
            fields = _fields(step, result["data_schema"].schema if result.get("data_schema") else {})
            return [f"{step}::title", *fields, *(f"{root}::error::{error}" for error in errors)]
    return []


def _fields(step: str, schema: dict[Any, Any]) -> list[str]:
    """Return the paths of the texts of fields, in sections and of options too."""
    found = []
    for key, value in schema.items():
        if isinstance(value, section):
            found += [f"{step}::sections::{key}::name", *_fields(f"{step}::sections::{key}", value.schema.schema)]
            continue
        found.append(f"{step}::data::{key}")
        if isinstance(value, SelectSelector) and (kind := value.config.get("translation_key")):
            found += [f"selector::{kind}::options::{option}" for option in value.config["options"]]
    return found
