"""The parameters of one tool call, and the limits that its arguments must keep."""

from collections.abc import Iterable, Mapping, Sized
from dataclasses import dataclass, field
import math
from typing import Any, Final

from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm

from ..exposure.entities import Exposure
from ..results import Path, ToolError, place_of
from .caller import Caller
from .change_recorder import Recording
from .options import ToolboxOptions
from .policy import Tier

MAX_ERROR = 1_000
"""Maximum characters of an error: enough for the problem and the next step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """The parameters of one tool call."""

    hass: HomeAssistant
    arguments: dict[str, Any]
    """The arguments, validated by the tool's schema."""
    exposure: Exposure
    caller: Caller
    options: ToolboxOptions
    tool_input: llm.ToolInput | None = None
    """The original tool input, for tools of other integrations."""
    tier: Tier = Tier.READ
    """The tier of the tool."""
    is_open: bool = False
    """True if the tool declares an open world."""
    sends: bool = False
    """True if the tool sends its arguments to a server on the internet."""
    asks_first: bool = False
    """True if the options require confirmation of the tool."""
    family: str | None = None
    """The family of tools that must be on for the call; None if no family matters."""
    agent: str | None = None
    """The subentry id of our agent that calls; None for other agents."""
    recording: Recording = field(default_factory=Recording)
    """Records the effects of the call, for its outcome and for undo."""

    @property
    def llm_context(self) -> llm.LLMContext:
        """Return Home Assistant's LLMContext of the caller."""
        return self.caller.llm_context

    @property
    def budget(self) -> int:
        """Return the maximum characters of the result."""
        return self.options.budget


class RefusedResult(llm.ToolResult):
    """The result of a refused call with its ToolError, for code that shows the error to a person."""

    cause: ToolError
    """The error; no dataclass field, because Home Assistant writes the fields of results as JSON."""

    @classmethod
    def of(cls, result: llm.ToolResult, cause: ToolError) -> RefusedResult:
        """Return the result with its cause."""
        refused = cls(data=result.data, error=result.error)
        refused.cause = cause
        return refused


def failure(message: str) -> llm.ToolResult:
    """Return an error result; a message longer than MAX_ERROR is cut."""
    if len(message) > MAX_ERROR:
        message = f"{message[:MAX_ERROR]} … [cut: {len(message) - MAX_ERROR} more characters]"
    return llm.ToolResult(data={"error": message}, error=True)


MAX_ITEMS: Final = 1_000
"""Maximum items of one list or object."""
MAX_VALUES: Final = 10_000
MAX_CHARACTERS: Final = 200_000
MAX_DEPTH: Final = 50
_BITS: Final = 63


def check_arguments(arguments: Any) -> None:
    """Raise ToolError, with the path of the value, for values that no tool can use."""
    values, characters = 1, 0
    left: list[tuple[Any, Path]] = [(arguments, ())]
    while left:
        value, path = left.pop()
        inner: list[tuple[Any, Path]] = []
        if isinstance(value, Mapping):
            _check_length(value, path)
            texts = [str(key) for key in value]
            inner = [(item, (*path, key)) for key, item in value.items()]
        elif isinstance(value, list | tuple):
            _check_length(value, path)
            texts = []
            inner = [(item, (*path, index)) for index, item in enumerate(value)]
        else:
            texts = [value] if isinstance(value, str) else []
            _check_number(value, path)
        values += len(inner)
        characters += sum(map(len, texts))
        if len(path) > MAX_DEPTH or values > MAX_VALUES or characters > MAX_CHARACTERS:
            raise ToolError(
                f"The arguments are too long: at most {MAX_VALUES:,} values, {MAX_DEPTH} levels and {MAX_CHARACTERS:,} "
                "characters are allowed. Pass less."
            )
        _check_texts(texts, path)
        left += inner


def _check_length(items: Sized, path: Path) -> None:
    """Raise ToolError if a list or object has too many items."""
    if len(items) > MAX_ITEMS:
        raise _wrong(path, f"{len(items):,} items; at most {MAX_ITEMS:,} are allowed. Pass fewer, or name an area.")


def _check_number(value: Any, path: Path) -> None:
    """Raise ToolError for a number that is not finite or has more than 64 bits."""
    if isinstance(value, float) and not math.isfinite(value):
        raise _wrong(path, "this must be a finite number. Pass one.")
    if isinstance(value, int) and not -(2**_BITS) <= value < 2**_BITS:
        raise _wrong(path, "a whole number has at most 64 bits. Pass a smaller one.")


def _check_texts(texts: Iterable[str], path: Path) -> None:
    """Raise ToolError for a text with a lone surrogate, one half of a split pair of code units."""
    try:
        for text in texts:
            text.encode()
    except UnicodeEncodeError as err:
        raise _wrong(path, "this text holds half a character (a lone surrogate). Write it without.") from err


def _wrong(path: Path, problem: str) -> ToolError:
    """Return the error for a value, with its path as far as UTF-8 can encode it."""
    place = place_of("", path).removeprefix(".").encode(errors="replace").decode()
    return ToolError(f"{place[:100] or 'The arguments'}: {problem}")
