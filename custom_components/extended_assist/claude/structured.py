"""Answers in a given structure."""

from dataclasses import replace
from typing import Any, override

import anthropic
from probatio import to_openapi
import voluptuous as vol

from homeassistant.components import conversation
from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm
from homeassistant.helpers.json import json_dumps
from homeassistant.util.json import JSON_DECODE_EXCEPTIONS, json_loads

from ..const import DOMAIN
from ..tools.base import READ_ONLY, failure, guarded
from .failures import TurnError
from .loop import Turn, async_answer
from .request import system_prompt

_TOOL = "give_answer"
_INSTRUCTION = f"Give your answer by calling {_TOOL} once, at the end."


async def async_generate(turn: Turn, structure: vol.Schema | None) -> Any:
    """Answer the last message of the chat log with text, or with data of a structure; raises TurnError."""
    if structure is None:
        await async_answer(turn)
        return _text(turn)
    api = turn.chat_log.llm_api
    serializer = api.custom_serializer if api else llm.selector_serializer
    schema = _schema(structure, serializer) if turn.options.abilities.structured_output else None
    if schema is None:
        return await _async_generate_by_tool(turn, structure)
    turn.output_schema = schema
    await async_answer(turn)
    return _parsed(_text(turn), structure)


def _schema(structure: vol.Schema, serializer: Any) -> dict[str, Any] | None:
    """Return a structure as the service takes it, or None where it has something that the service does not know."""
    try:
        schema = to_openapi(structure, custom_serializer=serializer, openapi_version="3.1.0")
        return None if _is_open(schema) else anthropic.transform_schema(schema)
    except TypeError, ValueError:
        return None


def _is_open(schema: Any) -> bool:
    """Return whether an object somewhere in a schema may have any keys: the service would let it have none."""
    if isinstance(schema, dict):
        return bool(schema.get("additionalProperties")) or any(map(_is_open, schema.values()))
    return isinstance(schema, list) and any(map(_is_open, schema))


def _text(turn: Turn) -> str:
    """Return what was said last."""
    last = turn.chat_log.content[-1]
    return (isinstance(last, conversation.AssistantContent) and last.content) or ""


def _parsed(text: str, structure: vol.Schema) -> Any:
    """Return the data that a text holds, which may have a fence around it; raises TurnError for anything else."""
    start, end = text.find("{"), text.rfind("}")
    try:
        return structure(json_loads(text[start : end + 1]))
    except (*JSON_DECODE_EXCEPTIONS, vol.Invalid) as err:
        raise TurnError("no_data") from err


async def _async_generate_by_tool(turn: Turn, structure: vol.Schema) -> Any:
    """Let the model call a tool whose arguments are the answer."""
    chat_log = turn.chat_log
    tool = _AnswerTool(structure)
    instance = guarded(chat_log.llm_api or _no_api(chat_log.hass))
    chat_log.llm_api = replace(instance, tools=[*instance.tools, tool])
    instructions = f"{system_prompt(chat_log.content)}\n{_INSTRUCTION}".strip()
    chat_log.content[0] = conversation.SystemContent(content=instructions)
    turn.is_done = lambda: bool(tool.answers)
    await async_answer(turn)
    if not tool.answers:
        return _parsed(_text(turn), structure)
    chat_log.async_add_assistant_content_without_tools(
        conversation.AssistantContent(agent_id=turn.agent_id, content=json_dumps(tool.answers[-1]))
    )
    return tool.answers[-1]


class _AnswerTool(llm.Tool):
    """Takes the answer."""

    name = _TOOL
    title = "Give the answer"
    description = "Takes your answer. Call it once, when you know everything that it asks for."
    annotations = READ_ONLY
    integration = DOMAIN

    def __init__(self, structure: vol.Schema) -> None:
        """Take what the answer must look like."""
        self.parameters = structure
        self.answers: list[Any] = []

    @override
    async def async_call(
        self, hass: HomeAssistant, tool_input: llm.ToolInput, llm_context: llm.LLMContext
    ) -> llm.ToolResult:
        """Keep an answer that has the structure."""
        try:
            self.answers.append(self.parameters(tool_input.tool_args))
        except vol.Invalid as err:
            return failure(f"This does not have the structure: {err}. Correct it and call again.")
        return llm.ToolResult(data={"accepted": True})


def _no_api(hass: HomeAssistant) -> llm.APIInstance:
    """Return an instance without tools."""
    return llm.APIInstance(
        api=_NoAPI(hass=hass, id=f"{DOMAIN}-none", name="None"),
        api_prompt="",
        llm_context=llm.LLMContext(platform=DOMAIN, context=None, language=None, assistant=DOMAIN, device_id=None),
        tools=[],
        custom_serializer=llm.selector_serializer,
    )


class _NoAPI(llm.API):
    """An API that nobody gave a task."""

    @override
    async def async_get_api_instance(self, llm_context: llm.LLMContext) -> llm.APIInstance:
        """Return its only instance."""
        return _no_api(self.hass)
