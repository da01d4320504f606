"""Which model can see: the tool that looks gives pictures to one that can, and words to any other."""

from collections.abc import Iterable
from typing import ClassVar

from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm

from ..toolbox.outside import unwrapped
from ..toolbox.tool import ExtendedTool


class SightedTool(ExtendedTool):
    """A tool whose results hold pictures where whoever asks the model can show them to it."""

    sees: ClassVar[bool] = False
    """Whether pictures go with the result; else it tells in words what is in them."""
    seeing: ClassVar[type[SightedTool] | None] = None
    """The same tool for a model that sees."""
    telling: ClassVar[type[SightedTool] | None] = None
    """The same tool for one that does not."""

    def for_model(self, hass: HomeAssistant, *, sees: bool) -> SightedTool | None:
        """Return the tool for a model of ours, or None where it would be of no use."""
        kind = self.seeing if sees else self.telling
        return kind(self._options) if kind and (sees or self._options.as_of_now(hass).look_task) else None


def with_eyes(hass: HomeAssistant, tools: Iterable[llm.Tool], *, sees: bool) -> list[llm.Tool]:
    """Return tools as a model that sees, or does not, is offered them; names that merged APIs gave stay."""
    return [fit for tool in tools if (fit := _fit(hass, tool, sees=sees))]


def _fit(hass: HomeAssistant, tool: llm.Tool, *, sees: bool) -> llm.Tool | None:
    """Return a tool for a model, or None."""
    inner = unwrapped(tool)
    if not isinstance(inner, SightedTool):
        return tool
    fit = inner.for_model(hass, sees=sees)
    return llm.NamespacedTool(tool.namespace, fit) if fit and isinstance(tool, llm.NamespacedTool) else fit
