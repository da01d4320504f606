"""Base of all types of functions, and the values that one run of a function is given."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final

import voluptuous as vol

from homeassistant.core import HomeAssistant

from ..calls.call import ToolCall
from ..calls.plan import Plan
from ..calls.policy import Tier
from ..confirmation.untrusted_text import fixed_names
from ..exposure.fixed_values import has_free_text
from .yaml_source import PartError

DONE: Final = "Success"
"""The result of a function that answers nothing."""


@dataclass(slots=True, kw_only=True)
class FunctionRun:
    """One run of a function."""

    call: ToolCall
    variables: dict[str, Any]
    """The arguments, and in a composite function the results of earlier steps."""
    has_free_text: bool = False
    """True once a template of the run has read free text."""
    enum_texts: frozenset[str] = frozenset()
    """Texts of the function's own enums: the user's words, though a model chose one of them."""

    @property
    def hass(self) -> HomeAssistant:
        """Home Assistant."""
        return self.call.hass


class FunctionType(ABC):
    """A type of functions: what all functions with the same `type` have in common. It holds nothing of one function."""

    schema: vol.Schema
    """Validates the settings, without type and response_variable."""

    @abstractmethod
    async def async_run(self, run: FunctionRun, settings: Mapping[str, Any]) -> Any:
        """Run a function and return its result; raise ToolError with a sentence that teaches."""

    @abstractmethod
    async def async_check(self, hass: HomeAssistant, settings: Mapping[str, Any]) -> None:
        """Raise PartError for settings that only Home Assistant can know to be wrong."""

    async def async_plan(self, run: FunctionRun, settings: Mapping[str, Any]) -> Plan | None:
        """Return the plan of a run; None where its arguments say it."""
        return None

    def tier(self, settings: Mapping[str, Any]) -> Tier:
        """Tier of a function whose user chose none."""
        return Tier.READ

    def least_tier(self, settings: Mapping[str, Any]) -> Tier:
        """Lowest tier that its user can choose: what the function does for certain."""
        return self.tier(settings)

    def brings_outside_text(self, settings: Mapping[str, Any]) -> bool:
        """Whether results may hold text that strangers wrote."""
        return False

    def holds_outside_text(self, run: FunctionRun, settings: Mapping[str, Any], result: Any) -> bool:
        """Whether a result holds words that strangers can have written."""
        if run.has_free_text or result == DONE:
            return run.has_free_text
        return has_free_text(result, fixed_names(run.hass, run.call.exposure.entities.values()))

    def sends(self, settings: Mapping[str, Any]) -> bool:
        """Whether what its arguments say goes out of the house."""
        return False

    def has_its_own_bound(self, settings: Mapping[str, Any]) -> bool:
        """Whether it reaches what is exposed only, whatever its arguments name."""
        return False

    def stands_for(self, settings: Mapping[str, Any]) -> frozenset[str]:
        """Names, without prefix, of the tools of ours that a function is another form of."""
        return frozenset()


def _nearest_type(types: Mapping[str, FunctionType], name: str) -> str:
    """Return the type to write instead of one that there is none of."""
    near = get_close_matches(name, types, n=1)
    return f"Did you mean '{near[0]}'?" if near else f"Types: {', '.join(types)}"


def check_settings(types: Mapping[str, FunctionType], settings: Any) -> tuple[FunctionType, Mapping[str, Any]]:
    """Find the type that settings name and validate them; raise PartError with the path of what is wrong."""
    if not isinstance(settings, dict) or not isinstance(settings.get("type"), str):
        raise PartError(f"A function needs a type: {', '.join(types)}")
    if (function_type := types.get(settings["type"])) is None:
        raise PartError(f"There is no type '{settings['type']}'. {_nearest_type(types, settings['type'])}", ["type"])
    try:
        return function_type, function_type.schema({key: value for key, value in settings.items() if key != "type"})
    except vol.MultipleInvalid as err:
        first = err.errors[0]
        where = ".".join(map(str, first.path))
        message = f"{where}: {first.msg}" if where else str(first.msg)
        known = [str(key) for key in function_type.schema.schema]
        if len(first.path) == 1 and str(first.path[0]) not in known:
            near = get_close_matches(str(first.path[0]), known, n=1)
            message += f". Did you mean '{near[0]}'?" if near else f". There are: {', '.join(known)}"
        raise PartError(message, [key for key in first.path if isinstance(key, str | int)]) from err
