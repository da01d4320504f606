"""What a type of functions has to say of itself, and what one run of a function has at hand."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import voluptuous as vol

from homeassistant.core import HomeAssistant

from ..policy import Tier
from .reading import PartError

if TYPE_CHECKING:
    from ..call import ToolCall


@dataclass(slots=True, kw_only=True)
class Run:
    """One run of a function."""

    call: ToolCall
    variables: dict[str, Any]
    """The arguments, and in a composite function the results of earlier steps."""
    words: frozenset[str] = frozenset()
    """Texts of the function's own enums: the user's words, though a model chose one of them."""

    @property
    def hass(self) -> HomeAssistant:
        """Return Home Assistant."""
        return self.call.hass


class Kind(ABC):
    """A type of functions."""

    schema: ClassVar[vol.Schema]
    """Validates the settings, without type and response_variable."""

    @abstractmethod
    async def async_run(self, run: Run, settings: Mapping[str, Any]) -> Any:
        """Return the result; raise ToolError with a sentence that teaches."""

    @abstractmethod
    async def async_check(self, hass: HomeAssistant, settings: Mapping[str, Any]) -> None:
        """Raise PartError for what only Home Assistant can know is wrong."""

    async def async_preview(self, run: Run, settings: Mapping[str, Any]) -> str | None:
        """Return what a run would do, in words that a person can hear, or None where its arguments say it."""
        return None

    def tier(self, settings: Mapping[str, Any]) -> Tier:
        """Return how far a function of this type reaches."""
        return Tier.READ

    def least_tier(self, settings: Mapping[str, Any]) -> Tier:
        """Return how far it reaches for certain: what its user says of it cannot be below."""
        return self.tier(settings)

    def brings_outside_text(self, settings: Mapping[str, Any]) -> bool:
        """Return whether results may hold text that strangers wrote."""
        return False

    def has_its_own_bound(self, settings: Mapping[str, Any]) -> bool:
        """Return whether it reaches what is exposed only, whatever its arguments name."""
        return False

    def stands_for(self, settings: Mapping[str, Any]) -> frozenset[str]:
        """Return the tools of ours, without prefix, that a function is another form of."""
        return frozenset()


@dataclass(frozen=True, slots=True)
class Step:
    """Settings that were checked, with the type that they are for."""

    kind: Kind
    settings: Mapping[str, Any]
    response_variable: str | None = None

    async def async_run(self, run: Run) -> Any:
        """Run it."""
        return await self.kind.async_run(run, self.settings)

    async def async_preview(self, run: Run) -> str | None:
        """Return what a run would do, or None where its arguments say it."""
        return await self.kind.async_preview(run, self.settings)

    async def async_check(self, hass: HomeAssistant) -> None:
        """Raise PartError for what only Home Assistant can know is wrong."""
        await self.kind.async_check(hass, self.settings)

    @property
    def tier(self) -> Tier:
        """Return how far it reaches."""
        return self.kind.tier(self.settings)

    @property
    def least_tier(self) -> Tier:
        """Return how far it reaches for certain."""
        return self.kind.least_tier(self.settings)

    @property
    def brings_outside_text(self) -> bool:
        """Return whether results may hold text that strangers wrote."""
        return self.kind.brings_outside_text(self.settings)

    @property
    def has_its_own_bound(self) -> bool:
        """Return whether it reaches what is exposed only, whatever its arguments name."""
        return self.kind.has_its_own_bound(self.settings)

    @property
    def stands_for(self) -> frozenset[str]:
        """Return the tools of ours that it is another form of."""
        return self.kind.stands_for(self.settings)


KINDS: dict[str, Kind] = {}


def kind[C: type[Kind]](name: str) -> Callable[[C], C]:
    """Declare a class as a type of functions."""

    def register(cls: C) -> C:
        KINDS[name] = cls()
        return cls

    return register


def read_step(settings: Any, *, in_composite: bool = False) -> Step:
    """Return settings as a step; raise PartError with the way to what is wrong."""
    if not isinstance(settings, dict) or not isinstance(settings.get("type"), str):
        raise PartError(f"A function needs a type: {', '.join(KINDS)}")
    if (found := KINDS.get(settings["type"])) is None:
        raise PartError(f"There is no type '{settings['type']}'. Types: {', '.join(KINDS)}", ["type"])
    rest = {key: value for key, value in settings.items() if key != "type"}
    response_variable = rest.pop("response_variable", None) if in_composite else None
    if response_variable is not None and not (isinstance(response_variable, str) and response_variable.isidentifier()):
        raise PartError("'response_variable' must be a name of letters, digits and _", ["response_variable"])
    try:
        validated = found.schema(rest)
    except vol.MultipleInvalid as err:
        raise PartError(
            _sentence(err.errors[0]), [key for key in err.errors[0].path if isinstance(key, str | int)]
        ) from err
    return Step(found, validated, response_variable)


def _sentence(err: vol.Invalid) -> str:
    """Return what is wrong with settings."""
    where = ".".join(map(str, err.path))
    return f"{where}: {err.msg}" if where else str(err.msg)
