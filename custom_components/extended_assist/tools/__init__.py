"""The catalogue: every built-in tool, in the order the model sees them."""

from .base import ExtendedTool
from .energy import GetEnergyTool
from .entities import GetEntitiesTool
from .history import GetHistoryTool
from .statistics import GetStatisticsTool
from .template import RenderTemplateTool

CATALOGUE: tuple[type[ExtendedTool], ...] = (
    GetEntitiesTool,
    GetHistoryTool,
    GetStatisticsTool,
    GetEnergyTool,
    RenderTemplateTool,
)

FAMILIES: tuple[str, ...] = tuple(dict.fromkeys(tool.family for tool in CATALOGUE))
DEFAULT_FAMILIES: tuple[str, ...] = ("entities", "history", "energy")
