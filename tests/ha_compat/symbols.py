"""Check each symbol of `ha_compat` in this Home Assistant: `python -m tests.ha_compat.symbols` prints the failures as JSON.

Runs where pytest does not: in the environment of the newest Home Assistant.
"""

import ast
from collections.abc import Callable
from contextvars import ContextVar
import importlib
import inspect
import json
import pkgutil
import re
from typing import Any, cast

from custom_components.extended_assist import ha_compat
from custom_components.extended_assist.ha_compat.templates import DateTimeExtension
from homeassistant.components.homeassistant import llm as assist_prompt
from homeassistant.exceptions import HomeAssistantError

type Check = Callable[[Any], bool]


def call(*arguments: Any, **named: Any) -> Check:
    """Return a check that a function takes these arguments, whatever their values."""
    return lambda function: inspect.signature(function).bind(*arguments, **named) is not None


def coroutine(*arguments: Any, **named: Any) -> Check:
    """Return a check of a coroutine function and its arguments."""
    return lambda function: (
        inspect.iscoroutinefunction(inspect.unwrap(function)) and call(*arguments, **named)(function)
    )


def attributes(*names: str) -> Check:
    """Return a check that an object has attributes."""
    return lambda found: all(hasattr(found, name) for name in names)


def columns(*names: str) -> Check:
    """Return a check that a table of the recorder has columns."""
    return lambda table: set(names) <= {*table.__table__.c.keys()}


def fields(*names: str) -> Check:
    """Return a check that Home Assistant's source of a class and its bases defines attributes."""

    def check(found: Any) -> bool:
        bases = [base for base in inspect.getmro(found) if base.__module__.startswith("homeassistant")]
        source = "\n".join(map(inspect.getsource, bases))
        return all(re.search(rf"(self\.|def |^    ){name}\b", source, re.MULTILINE) for name in names)

    return check


def text(found: Any) -> bool:
    """Check a text that is not empty."""
    return isinstance(found, str) and bool(found)


def variable(found: Any) -> bool:
    """Check a context variable."""
    return isinstance(found, ContextVar)


def in_assist(found: str) -> bool:
    """Check that Assist's own prompt has a text, word for word."""
    tree = ast.parse(inspect.getsource(assist_prompt))
    written = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return any(found.strip() in constant for constant in written)


ID = "light.lamp"
CHECKS: dict[str, dict[str, Check]] = {
    "automations": {
        "DATA_CALENDARS": text,
        "DATA_SCENE_PLATFORM": text,
        "DATA_TRACE": text,
        "EVENT_AUTOMATION_TRIGGERED": text,
        "SCENE_PLATFORM_SCHEMA": callable,
        "SCENE_STATES": text,
        "BaseAutomationEntity": fields("referenced_entities", "raw_config"),
        "Blueprint": fields("data", "inputs"),
        "BlueprintException": lambda found: issubclass(found, HomeAssistantError),
        "DomainBlueprints": attributes(
            *("async_get_blueprint", "async_get_blueprints", "async_inputs_from_config", "async_reset_cache")
        ),
        "HomeAssistantScene": fields("scene_config", "async_activate"),
        "async_get_trace": coroutine("hass", "automation.id", "run"),
        "async_list_contexts": coroutine("hass", "automation.id"),
        "async_list_traces": coroutine("hass", "automation", None),
        "async_validate_automation": coroutine("hass", "id", {}),
        "async_validate_script": coroutine("hass", "id", {}),
        "automation_blueprints": call("hass"),
        "is_blueprint_instance_config": lambda found: not found({}) and found({"use_blueprint": {"path": "a.yaml"}}),
        "is_in_zone": call("hass", "zone.home", "state"),
        "script_blueprints": call("hass"),
    },
    "conversation": {
        "ASSIST_OVERVIEW": in_assist,
        "ASSIST_STATE_QUESTIONS": in_assist,
        "TIMER_DATA": text,
        "TimerManager": fields("timers"),
        "async_get_pipeline": call("hass"),
        "current_chat_log": variable,
        "is_spoken": call("hass", "conversation"),
    },
    "energy": {"async_preferences": coroutine("hass"), "cost_sensors": call("hass")},
    "exposed_entities": {
        "KNOWN_ASSISTANTS": lambda found: "conversation" in found,
        "async_expose_entity": call("hass", "conversation", ID, True),
        "async_listen_entity_updates": call("hass", "conversation", print),
        "async_should_expose": call("hass", "conversation", ID),
    },
    "http": {
        "KEY_HASS": lambda found: found is not None,
        "KEY_HASS_USER": text,
        "async_sign_path": call("hass", "/path", "lifetime", refresh_token_id="token"),
        "current_connection": variable,
    },
    "mobile_app": {"PHONE": text, "phone_action": call("hass", "device")},
    "recorder": {
        "STATISTIC_UNIT_TO_UNIT_CONVERTER": lambda found: found["kWh"] is found["MWh"],
        "UNIT_CLASS_TO_UNIT_CONVERTER": lambda found: "energy" in found,
        "EventData": columns("data_id", "shared_data"),
        "EventTypes": columns("event_type_id", "event_type"),
        "Events": columns("event_type_id", "data_id", "time_fired_ts", "context_id_bin", "context_user_id_bin"),
        "Recorder": fields(
            "dialect_name", "engine", "is_running", "async_add_executor_job", "get_session", "keep_days"
        ),
        "RecorderRuns": columns("run_id", "start", "end", "closed_incorrect"),
        "StateAttributes": columns("attributes_id", "shared_attrs"),
        "States": columns(
            *("state_id", "state", "metadata_id", "attributes_id", "last_changed_ts", "last_updated_ts"),
            *("context_id_bin", "context_parent_id_bin", "context_user_id_bin"),
        ),
        "StatesMeta": columns("metadata_id", "entity_id"),
        "StatisticMeanType": attributes("NONE", "ARITHMETIC", "CIRCULAR"),
        "StatisticMetaData": fields(
            "statistic_id", "unit_of_measurement", "unit_class", "mean_type", "has_sum", "name"
        ),
        "Statistics": columns("metadata_id", "start_ts", "mean", "mean_weight", "min", "max", "state", "sum"),
        "StatisticsMeta": columns("id", "statistic_id", "mean_type", "unit_of_measurement"),
        "StatisticsShortTerm": columns("metadata_id", "start_ts", "mean", "mean_weight", "min", "max", "state", "sum"),
        "bytes_to_ulid_or_none": lambda found: found(None) is None,
        "bytes_to_uuid_hex_or_none": lambda found: found(b"\x01" * 16) == "01" * 16,
        "get_display_unit": call("hass", "sensor.energy", "energy", "kWh"),
        "get_metadata": call("hass", statistic_ids=set()),
        "get_significant_states": call("hass", "start", "end", [ID]),
        "is_entity_recorded": call("hass", ID),
        "query_circular_mean": lambda found: len(inspect.signature(found).parameters) == 1,
        "statistic_during_period": call("hass", "start", "end", "sensor.energy", {"mean"}, {}),
        "statistics_during_period": call("hass", "start", "end", set(), "hour", None, {"mean"}),
        "ulid_to_bytes_or_none": lambda found: found(None) is None,
        "uuid_hex_to_bytes_or_none": lambda found: found("01" * 16) == b"\x01" * 16,
        "weighted_circular_mean": lambda found: round(found([(350.0, 1.0), (10.0, 1.0)])[0]) in (0, 360),
    },
    "templates": {
        "DateTimeExtension": attributes("identifier"),
        "EntityExtension": attributes("entity_name"),
        "RenderInfo": fields("collecting", "entities", "exception", "filter", "filter_lifecycle", "has_time"),
        "TemplateEnvironment": lambda found: DateTimeExtension.identifier in found(None).extensions,
        "make_logging_undefined": call(False, print),
        "pattern_constants": attributes("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT", "MAXREPEAT", "SUBPATTERN"),
        "pattern_parser": lambda found: len(found.parse("a{2}")) == 1 and hasattr(found, "SubPattern"),
        "render_info_cv": variable,
    },
}
"""A check of what we use of each symbol, by module and name."""


def failures() -> dict[str, str]:
    """Return the symbols without a check or whose check fails, with the reason."""
    found: dict[str, str] = {}
    for module in pkgutil.iter_modules(ha_compat.__path__):
        content = importlib.import_module(f"{ha_compat.__name__}.{module.name}")
        names = cast(
            "tuple[str, ...]",
            getattr(content, "__all__", [name for name in CHECKS[module.name] if hasattr(content, name)]),
        )
        for name in {*names, *CHECKS[module.name]}:
            where = f"{module.name}.{name}"
            try:
                if not CHECKS[module.name][name](getattr(content, name)):
                    found[where] = "is different"
            except Exception as err:  # noqa: BLE001 - whatever an upgrade breaks is reported
                found[where] = repr(err)
    return found


if __name__ == "__main__":
    print(json.dumps(failures()))  # noqa: T201 - read by a test
