"""Answers in a given structure, and questions with probabilities for Home Assistant's evaluation tasks."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, override

import anthropic
from probatio import to_openapi
import voluptuous as vol

from homeassistant.components import conversation
from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm
from homeassistant.helpers.json import json_dumps
from homeassistant.util.json import JSON_DECODE_EXCEPTIONS, JsonObjectType, json_loads

from ..calls.call import ToolCall
from ..calls.policy import Tier
from ..confirmation.untrusted_text import marks
from ..const import DOMAIN
from ..llm_tools.extended_tool import READ_ONLY, ExtendedTool
from .loop import async_answer
from .output_filter import asks_for_link, read_links, shown
from .request import system_prompt
from .retry import TurnError
from .tool_keys import KeyNames, exchanged
from .turn import AgentTurn

_TOOL = "give_answer"
_WRONG = (
    "(This answer does not have the structure that was asked for: {problem}. Give the whole answer again, corrected.)"
)
# https://platform.claude.com/docs/en/build-with-claude/structured-outputs
_MAX_OPTIONAL = 24
"""The most optional fields of a structure; the service refuses more."""
_MAX_CHOICES = 16
"""The most fields of a structure with several types."""
_INSTRUCTION = f"Give your answer by calling {_TOOL} once, at the end."


async def async_generate(turn: AgentTurn, structure: vol.Schema | None) -> Any:
    """Answer the last message of the chat log with text, or with data in a structure; raises TurnError."""
    if structure is None:
        await async_answer(turn)
        return _text(turn)
    # A later message of ours repeats what the model wrote.
    said = [content.content for content in turn.chat_log.content if isinstance(content, conversation.UserContent)]
    data = await _async_data(turn, structure)
    return _without_addresses(turn, structure, said, data) if marks(turn.chat_log) else data


def _without_addresses(turn: AgentTurn, structure: vol.Schema, said: list[str], data: Any) -> Any:
    """Return data without addresses after untrusted text was read: programs may display the data as it is.

    Addresses in the instructions or the structure stay, and links that were read if either asks for one.
    """
    asked = to_openapi(structure, custom_serializer=_serializer(turn), openapi_version="3.1.0")
    written = "\n".join([*said, str(asked)])
    links = read_links(turn.chat_log) if asks_for_link(written) else frozenset[str]()

    def clean(value: Any) -> Any:
        match value:
            case str():
                return value if value in written else shown(value, links)
            case list():
                return [clean(item) for item in value]
            case dict():
                return {clean(key): clean(item) for key, item in value.items()}
        return value

    return clean(data)


def _serializer(turn: AgentTurn) -> Any:
    api = turn.chat_log.llm_api
    return api.custom_serializer if api else llm.selector_serializer


async def _async_data(turn: AgentTurn, structure: vol.Schema) -> Any:
    """Answer with data in a structure; raises TurnError."""
    serializer = _serializer(turn)
    held = _schema(structure, serializer) if turn.options.abilities.structured_output else None
    if held is None:
        return await _async_generate_by_tool(turn, structure)
    turn.output_schema, keys = held
    try:
        await async_answer(turn)
    except TurnError as err:
        if err.key != "invalid_request":
            raise
        # The service has more limits for such schemas than are written anywhere; a tool's has fewer.
        turn.output_schema = None
        return await _async_generate_by_tool(turn, structure)
    try:
        return _parsed(_text(turn), structure, keys)
    except ValueError as err:
        # The service holds answers to a structure, but not to its limits, such as the least a number may be.
        turn.chat_log.async_add_user_content(conversation.UserContent(content=_WRONG.format(problem=err)))
    await async_answer(turn)
    return _data(turn, structure, keys)


def _schema(structure: vol.Schema, serializer: Any) -> tuple[dict[str, Any], KeyNames | None] | None:
    """Return a structure as JSON Schema with its replaced keys, or None if the service does not support it."""
    try:
        schema, keys = exchanged(to_openapi(structure, custom_serializer=serializer, openapi_version="3.1.0"))
        if _is_open(schema) or _optional_fields(schema) > _MAX_OPTIONAL or _choices(schema) > _MAX_CHOICES:
            return None
        return anthropic.transform_schema(schema), keys
    except TypeError, ValueError:
        return None


def _optional_fields(schema: Any) -> int:
    """Return the number of optional fields in a schema."""
    if isinstance(schema, list):
        return sum(map(_optional_fields, schema))
    if not isinstance(schema, dict):
        return 0
    own = len(schema.get("properties", {}).keys() - set(schema.get("required", ())))
    return own + sum(_optional_fields(part) for key, part in schema.items() if key != "required")


def _choices(schema: Any) -> int:
    """Return the number of fields with several types in a schema."""
    if isinstance(schema, list):
        return sum(map(_choices, schema))
    if not isinstance(schema, dict):
        return 0
    return ("anyOf" in schema or isinstance(schema.get("type"), list)) + sum(map(_choices, schema.values()))


def _is_open(schema: Any) -> bool:
    """Return whether an object in a schema allows any keys, which the service does not support."""
    if isinstance(schema, dict):
        return bool(schema.get("additionalProperties")) or any(map(_is_open, schema.values()))
    return isinstance(schema, list) and any(map(_is_open, schema))


def _text(turn: AgentTurn) -> str:
    last = turn.chat_log.content[-1]
    return (isinstance(last, conversation.AssistantContent) and last.content) or ""


def _parsed(text: str, structure: vol.Schema, keys: KeyNames | None = None) -> Any:
    """Return the data in a text, also inside a code fence; raises ValueError for anything else."""
    start, end = text.find("{"), text.rfind("}")
    try:
        data = json_loads(text[start : end + 1])
        return structure(keys.restored(data) if keys else data)
    except JSON_DECODE_EXCEPTIONS as err:
        raise ValueError("it is no JSON object") from err
    except vol.Invalid as err:
        raise ValueError(str(err)) from err


def _data(turn: AgentTurn, structure: vol.Schema, keys: KeyNames | None = None) -> Any:
    """Return the data in the last message; raises TurnError if it does not match the structure."""
    try:
        return _parsed(_text(turn), structure, keys)
    except ValueError as err:
        raise TurnError("no_data") from err


async def _async_generate_by_tool(turn: AgentTurn, structure: vol.Schema) -> Any:
    """Let the model call a tool whose arguments are the answer."""
    chat_log = turn.chat_log
    tool = _AnswerTool(structure)
    instance = chat_log.llm_api or _no_api(chat_log.hass)
    chat_log.llm_api = replace(instance, tools=[*instance.tools, tool])
    instructions = f"{system_prompt(chat_log.content)}\n{_INSTRUCTION}".strip()
    chat_log.content[0] = conversation.SystemContent(content=instructions)
    turn.is_done = lambda: bool(tool.answers)
    await async_answer(turn)
    if not tool.answers:
        return _data(turn, structure)
    chat_log.async_add_assistant_content_without_tools(
        conversation.AssistantContent(agent_id=turn.agent_id, content=json_dumps(tool.answers[-1]))
    )
    return tool.answers[-1]


class _AnswerTool(ExtendedTool):
    """Takes the answer. The policy does not apply to it: whoever may ask may get the answer."""

    name = _TOOL
    title = "Give the answer"
    description = "Takes your answer. Call it once, when you know everything that it asks for."
    annotations = READ_ONLY
    family = "answer"
    tier = Tier.READ

    def __init__(self, structure: vol.Schema) -> None:
        """Store the structure of the answer."""
        super().__init__()
        self.parameters = structure
        self.answers: list[Any] = []

    @override
    async def async_run(self, call: ToolCall) -> JsonObjectType:
        """Store an answer that matches the structure."""
        self.answers.append(call.arguments)
        return {"accepted": True}


def _no_api(hass: HomeAssistant) -> llm.APIInstance:
    """Return an API instance without tools."""
    return llm.APIInstance(
        api=_NoAPI(hass=hass, id=f"{DOMAIN}-none", name="None"),
        api_prompt="",
        llm_context=llm.LLMContext(platform=DOMAIN, context=None, language=None, assistant=DOMAIN, device_id=None),
        tools=[],
        custom_serializer=llm.selector_serializer,
    )


class _NoAPI(llm.API):
    """The API of an instance without tools."""

    @override
    async def async_get_api_instance(self, llm_context: llm.LLMContext) -> llm.APIInstance:
        """Return an empty instance."""
        return _no_api(self.hass)


_INSTRUCTIONS = (
    "Answer the questions about what is given. For each, estimate probabilities between 0 and 1 that are as certain as what is "
    "given allows, and no more."
)
_PROBABILITY = vol.All(vol.Coerce(float), vol.Range(min=0, max=1))
_KINDS: Mapping[str, str] = {
    "noul": "the probability of yes",
    "choice": "the probability of each of these",
    "score": "a list with the probability of each of these levels, in this order",
}

type Question = Mapping[str, Any]


def instructions_for(questions: Mapping[str, Question], state: Any) -> str:
    """Return the message that asks the questions."""
    parts = [_INSTRUCTIONS, *(_asked(name, question) for name, question in questions.items())]
    if state is not None:
        parts.append(f"What is given:\n{state if isinstance(state, str) else json_dumps(state)}")
    return "\n\n".join(parts)


def _asked(name: str, question: Question) -> str:
    """Return the text of one question."""
    lines = [f"Question '{name}': {question['instructions']}", f"Answer: {_KINDS[question['type']]}."]
    criteria = question.get("criteria", ())
    if isinstance(criteria, Mapping):
        lines += [f"- '{option}': {description}" for option, description in criteria.items()]
    else:
        lines += [f"{index}. {description}" for index, description in enumerate(criteria)]
    return "\n".join(lines)


def structure_for(questions: Mapping[str, Question]) -> vol.Schema:
    """Return the schema of all answers."""
    return vol.Schema({vol.Required(name): _validator(question) for name, question in questions.items()})


def _validator(question: Question) -> Any:
    """Return the validator of one answer."""
    match question["type"]:
        case "noul":
            return _PROBABILITY
        case "choice":
            return vol.Schema({vol.Required(option): _PROBABILITY for option in question["criteria"]})
        case _:
            count = len(question["criteria"])
            return vol.All([_PROBABILITY], vol.Length(min=count, max=count))


def answers_from(questions: Mapping[str, Question], data: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the answers by question, in Home Assistant's format; raises TurnError if one is missing."""
    return {name: _answer(question, data[name]) for name, question in questions.items()}


def _answer(question: Question, estimate: Any) -> dict[str, Any]:
    """Return one answer; the probabilities of alternatives add up to one."""
    match question["type"]:
        case "noul":
            return {"noul": estimate}
        case "choice":
            shares = dict(zip(estimate, _shares(list(estimate.values())), strict=True))
            return {"choice": max(shares, key=lambda option: shares[option]), "probabilities": shares}
        case _:
            levels = _shares(estimate)
            return {"score": sum(level * share for level, share in enumerate(levels)), "probabilities": levels}


def _shares(estimates: list[float]) -> list[float]:
    """Return estimates so that they add up to one."""
    if (total := sum(estimates)) <= 0:
        raise TurnError("no_data")
    return [estimate / total for estimate in estimates]
