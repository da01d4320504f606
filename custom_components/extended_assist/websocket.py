"""The WebSocket commands of the panel and the card. Administrators see everything, other users their own data.

docs/developers.md describes them.
"""

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any, Final

import voluptuous as vol

from homeassistant.components import websocket_api
from homeassistant.components.websocket_api.connection import ActiveConnection
from homeassistant.components.websocket_api.decorators import async_response, require_admin, websocket_command
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import llm
from homeassistant.helpers.json import json_dumps

from .api.instance import async_get_tools
from .calls.options import ToolboxOptions
from .claude.request import offered_tools
from .const import DOMAIN
from .llm_tools.extended_tool import ExtendedTool
from .panel.exposed_entities import async_visible
from .panel.journal import async_rows, async_undo_by_hand, async_usage
from .panel.manual_calls import (
    GoneError,
    NotReadyError,
    PanelError,
    async_answer,
    async_call_by_hand,
    context_of,
    open_rows,
)
from .panel.scheduled import EndTaskTool, async_standing, is_there
from .scheduled.manager import async_get_scheduled_tasks

MAX_ID: Final = 200
MAX_SEARCH: Final = 100
MAX_OFFSET: Final = 100_000
MAX_ARGUMENTS: Final = 100_000
"""The most characters of arguments as JSON."""

_ID: Final = vol.All(str, vol.Length(1, MAX_ID))
_LANGUAGE: Final = vol.All(str, vol.Length(1, 20), vol.Match(r"[A-Za-z]{2,3}(-[A-Za-z0-9]+)*\Z"))
"""A language selects the file with the panel's texts."""


def _arguments(value: Any) -> dict[str, Any]:
    """Validate the arguments of a call."""
    valid: dict[str, Any] = vol.Schema({str: object})(value)
    try:
        characters = len(json_dumps(valid))
    except (TypeError, ValueError) as err:
        raise vol.Invalid("too deep") from err
    if characters > MAX_ARGUMENTS:
        raise vol.Invalid(f"more than {MAX_ARGUMENTS} characters")
    return valid


type _Handler = Callable[[HomeAssistant, ActiveConnection, dict[str, Any]], Awaitable[Any]]


@callback
def async_register_commands(hass: HomeAssistant) -> None:
    """Register the commands, also if no entry is loaded."""
    for command in (
        _async_journal,
        _async_undo,
        _async_tasks,
        _async_cancel,
        _async_questions,
        _async_answer,
        _async_usage,
        _async_visible,
        _async_tools,
        _async_call,
    ):
        websocket_api.async_register_command(hass, command)


def _command(name: str, fields: dict[Any, Any] | None = None, *, is_admin: bool = False) -> Callable[[_Handler], Any]:
    """Return a decorator that turns a function into a command; expected failures become translated errors."""
    schema = {
        vol.Required("type"): f"{DOMAIN}/{name}",
        vol.Optional("language"): _LANGUAGE,
        **(fields or {}),
    }

    def decorate(handler: _Handler) -> Any:
        @wraps(handler)
        async def answer(hass: HomeAssistant, connection: ActiveConnection, msg: dict[str, Any]) -> None:
            msg.setdefault("language", hass.config.language)
            try:
                connection.send_result(msg["id"], await handler(hass, connection, msg))
            except PanelError as err:
                connection.send_error(msg["id"], err.key, err.key, translation_key=err.key, translation_domain=DOMAIN)

        command = async_response(answer)
        return websocket_command(schema)(require_admin(command) if is_admin else command)

    return decorate


@callback
def _entries(hass: HomeAssistant) -> list[ConfigEntry]:
    """Return the loaded entries; raises NotReadyError if there is none."""
    if not (entries := hass.config_entries.async_loaded_entries(DOMAIN)):
        raise NotReadyError
    return entries


@callback
def _options(hass: HomeAssistant, entry_id: str = "") -> ToolboxOptions:
    """Return the options of an entry, or of the first entry if it is not loaded or None."""
    entries = _entries(hass)
    entry = next((one for one in entries if one.entry_id == entry_id), entries[0])
    return ToolboxOptions.of(entry.options, entry.entry_id)


@_command("journal/list")
async def _async_journal(
    hass: HomeAssistant, connection: ActiveConnection, msg: dict[str, Any]
) -> list[dict[str, Any]]:
    """Return the journal: all changes for administrators, otherwise the user's own."""
    _entries(hass)
    return await async_rows(hass, connection.user, msg["language"])


@_command("journal/undo", {vol.Required("change"): _ID})
async def _async_undo(hass: HomeAssistant, connection: ActiveConnection, msg: dict[str, Any]) -> dict[str, Any]:
    """Ask whether to undo a change; the answer runs the undo."""
    return await async_undo_by_hand(hass, _entries(hass), msg["change"], connection.context(msg), msg["language"])


@_command("wishes/list")
async def _async_tasks(hass: HomeAssistant, connection: ActiveConnection, msg: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the pending tasks: all for administrators, otherwise the household's and the user's own."""
    options, context = _options(hass), connection.context(msg)
    return await async_standing(hass, options, connection.user, context, msg["language"])


@_command("wishes/cancel", {vol.Required("wish"): _ID})
async def _async_cancel(hass: HomeAssistant, connection: ActiveConnection, msg: dict[str, Any]) -> dict[str, Any]:
    """Cancel a task, as the entry's assistant would."""
    wanted = msg["wish"].strip().lower()  # As the tool reads it.
    task = (await async_get_scheduled_tasks(hass)).find(wanted)
    if task is not None and not is_there(hass, connection.user, task):
        raise GoneError
    options = _options(hass, task.owner.entry_id if task else "")
    tool, arguments = EndTaskTool(options), {"cancel": wanted}
    return await async_call_by_hand(hass, tool, arguments, connection.context(msg), msg["language"])


@_command("questions/list")
async def _async_questions(
    hass: HomeAssistant, connection: ActiveConnection, msg: dict[str, Any]
) -> list[dict[str, Any]]:
    """Return the open questions of this user only."""
    _entries(hass)
    return open_rows(hass, connection.user.id)


@_command("questions/answer", {vol.Required("question"): _ID, vol.Required("agreed"): bool})
async def _async_answer(hass: HomeAssistant, connection: ActiveConnection, msg: dict[str, Any]) -> dict[str, Any]:
    """Answer a question once with yes or no."""
    _entries(hass)
    return await async_answer(hass, msg["question"], connection.context(msg), msg["language"], agreed=msg["agreed"])


@_command("usage", is_admin=True)
async def _async_usage(hass: HomeAssistant, connection: ActiveConnection, msg: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the agents with their usage sensors."""
    return await async_usage(hass, _entries(hass))


@_command(
    "visible",
    {
        vol.Optional("search", default=""): vol.All(str, vol.Length(max=MAX_SEARCH)),
        vol.Optional("offset", default=0): vol.All(int, vol.Range(0, MAX_OFFSET)),
    },
    is_admin=True,
)
async def _async_visible(hass: HomeAssistant, connection: ActiveConnection, msg: dict[str, Any]) -> dict[str, Any]:
    """Return the exposed entities, the tools that read them, and why other entities are not found."""
    return await async_visible(hass, _entries(hass), msg["search"], msg["offset"])


@_command("tools/list", is_admin=True)
async def _async_tools(hass: HomeAssistant, connection: ActiveConnection, msg: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the tools of each entry as models get them."""
    context = context_of(connection.context(msg), msg["language"])
    found = []
    for entry in _entries(hass):
        instance = await async_get_tools(hass, entry.entry_id, context)
        schemas = {tool["name"]: tool["input_schema"] for tool in offered_tools(instance).tools}
        found += [_told(entry, tool, schemas.get(tool.name, {})) for tool in instance.tools]
    return found


@_command(
    "tools/call",
    {
        vol.Required("entry"): _ID,
        vol.Required("tool"): _ID,
        vol.Required("arguments"): _arguments,
    },
    is_admin=True,
)
async def _async_call(hass: HomeAssistant, connection: ActiveConnection, msg: dict[str, Any]) -> dict[str, Any]:
    """Call a tool manually, with the same rules as for a model; questions are asked in the panel."""
    entry = next((one for one in _entries(hass) if one.entry_id == msg["entry"]), None)
    if entry is None:
        raise GoneError
    context = connection.context(msg)
    instance = await async_get_tools(hass, entry.entry_id, context_of(context, msg["language"]))
    tool = next((one for one in instance.tools if one.name == msg["tool"]), None)
    if not isinstance(tool, ExtendedTool):  # Whatever our API serves carries its rules.
        raise GoneError
    return await async_call_by_hand(hass, tool, msg["arguments"], context, msg["language"])


@callback
def _told(entry: ConfigEntry, tool: llm.Tool, schema: Any) -> dict[str, Any]:
    """Return a tool as the panel displays it."""
    return {
        "entry": entry.entry_id,
        "entry_title": entry.title,
        "name": tool.name,
        "title": tool.title or tool.name,
        "description": tool.description or "",
        "read_only": tool.annotations.read_only,
        "parameters": schema,
    }
