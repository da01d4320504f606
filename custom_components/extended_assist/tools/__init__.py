"""The catalogue: every built-in tool, in the order the model sees them."""

from ..llm_tools.extended_tool import ExtendedTool
from .actions import PerformActionTool, UndoLastChangeTool
from .automation_changes import AddAutomationTool, RemoveAutomationTool, UpdateAutomationTool
from .automations import GetAutomationsTool
from .cameras import LookTool
from .database import QueryDatabaseTool
from .energy import GetEnergyTool
from .entities import GetEntitiesTool
from .habits import DeclineHabitTool, FindHabitsTool
from .history import GetHistoryTool
from .logbook import GetLogbookTool
from .memory import RecallTool, RememberTool
from .scheduled import DoLaterTool, PendingTool
from .scripts import ExecuteScriptTool
from .simulation import RehearseAutomationTool
from .statistics import GetStatisticsTool
from .template import RenderTemplateTool
from .user import GetUserNameTool
from .watch import WatchTool
from .web import FetchUrlTool, ScrapeUrlTool

CATALOGUE: tuple[type[ExtendedTool], ...] = (
    GetEntitiesTool,
    GetHistoryTool,
    GetStatisticsTool,
    GetLogbookTool,
    GetEnergyTool,
    GetUserNameTool,
    RenderTemplateTool,
    PerformActionTool,
    DoLaterTool,
    PendingTool,
    RememberTool,
    RecallTool,
    UndoLastChangeTool,
    ExecuteScriptTool,
    GetAutomationsTool,
    AddAutomationTool,
    UpdateAutomationTool,
    RemoveAutomationTool,
    RehearseAutomationTool,
    FindHabitsTool,
    DeclineHabitTool,
    QueryDatabaseTool,
    LookTool,
    WatchTool,
    FetchUrlTool,
    ScrapeUrlTool,
)

FAMILIES: tuple[str, ...] = tuple(dict.fromkeys(tool.family for tool in CATALOGUE))
DEFAULT_FAMILIES: tuple[str, ...] = ("entities", "history", "energy", "user", "actions", "wishes")
