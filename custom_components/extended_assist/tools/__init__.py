"""The catalogue: every built-in tool, in the order the model sees them."""

from .actions import PerformActionTool, ScheduledActionsTool, UndoLastChangeTool
from .base import ExtendedTool
from .energy import GetEnergyTool
from .entities import GetEntitiesTool
from .history import GetHistoryTool
from .statistics import GetStatisticsTool

CATALOGUE: tuple[type[ExtendedTool], ...] = (
    *(GetEntitiesTool, GetHistoryTool, GetStatisticsTool, GetEnergyTool),
    *(PerformActionTool, ScheduledActionsTool, UndoLastChangeTool),
)

FAMILIES: tuple[str, ...] = tuple(dict.fromkeys(tool.family for tool in CATALOGUE))
DEFAULT_FAMILIES: tuple[str, ...] = ("entities", "history", "energy", "actions")
