"""The offline planner: answers a few kinds of question by plain rules, so that the whole path can run without a model.

It is not a language model and says so. It picks tools from the list in the request and words its answers from the
tool results in the request alone, or from what its message tells of the present: every number, name and time in an answer
stands there.
"""

from dataclasses import dataclass, field
import json
from typing import Any

from .models import default_models
from .planner_later import LATER_RULES
from .planner_pictures import PICTURE_RULES, glance, pictures_in
from .planner_present import present
from .planner_results import facts
from .planner_rules import AGREED, ANSWER_WHEN_DONE, RULES, Call, Question, find_tool
from .turn import Turn, text, tool_use

LABEL = "offline planner (a few rules, not a language model)"
ALL_RULES = (*LATER_RULES, *PICTURE_RULES, *RULES)


@dataclass(frozen=True)
class Result:
    """What a tool call of this turn brought."""

    tool: str
    arguments: dict[str, Any]
    data: Any
    error: bool
    pictures: list[tuple[str, bytes]] = field(default_factory=list)

    @property
    def waits_for(self) -> str:
        """What the call would do once the user has agreed, where it waits for that."""
        return self.data.get("would", "") if isinstance(self.data, dict) else ""


class OfflinePlanner:
    """A responder that goes by rules: tool calls until the results suffice, then an answer in words."""

    async def respond(self, request_body: dict[str, Any]) -> Turn:
        """Decide the next step from the question and what followed it."""
        if (seen := glance(request_body["messages"])) is not None:
            return _say(seen)
        asked, results, before = read_turn(request_body["messages"])
        tools = {tool["name"]: tool for tool in request_body.get("tools") or [] if "input_schema" in tool}
        if (request_body.get("tool_choice") or {}).get("type") == "none":
            tools = {}
        if results and results[-1].error:
            return _say(f"That did not work. {_plain_error(results[-1])}")
        if results and results[-1].waits_for:
            return _say(_question(results[-1].waits_for))
        if before and before[-1].waits_for and AGREED.search(asked):
            if not results and before[-1].tool in tools:
                return Turn([tool_use(before[-1].tool, before[-1].arguments)])
            return _say(_account(results[-1].data if results else before[-1].data))
        for rule in ALL_RULES:
            if match := rule.pattern.search(asked):
                told = [] if results else present(request_body)
                pictures = [picture for result in results for picture in result.pictures]
                question = Question(match, tools, [result.data for result in results], told, pictures)
                return _step(rule.decide(question), tools)
        examples = "\n".join(f"- {rule.example}" for rule in ALL_RULES)
        return _say(f"I am the {LABEL}. I can answer questions like these:\n{examples}")


def _step(step: list[Call] | str, tools: dict[str, dict[str, Any]]) -> Turn:
    if isinstance(step, str):
        return _say(step)
    blocks = []
    for call in step:
        tool = find_tool(tools, call.tool)
        if tool is None:
            return _say(f"I would need a tool named {call.tool}, which is not among the tools I was given.")
        blocks.append(tool_use(tool["name"], fit_arguments(tool["input_schema"], call.tasks)))
    return Turn(blocks)


def _say(answer: str) -> Turn:
    return Turn([text(answer)])


def _question(plan: str) -> str:
    """Ask whether to do what a tool would do; lines that are to be shown come in a block of their own."""
    account, _, lines = plan.partition("\n")
    _, mark, block = lines.partition("```")
    return f"I would do this: {account}.\n{mark}{block}\n\nShall I?" if mark else f"I would do this: {plan}. Shall I?"


def _account(data: Any) -> str:
    """Tell what was done: in the result's own sentence where it has one."""
    if isinstance(data, dict) and isinstance(data.get("what"), str):
        return f"Done: {data['what']}."
    return "\n".join(facts(data))


def _plain_error(result: Result) -> str:
    message = result.data.get("error") if isinstance(result.data, dict) else result.data
    return f"{result.tool} answered: {message}"


def fit_arguments(schema: dict[str, Any], tasks: dict[str, Any]) -> dict[str, Any]:
    """Keep the tasks that the tool's schema knows, a single value in a list or alone as the schema wants it."""
    fitted: dict[str, Any] = {}
    for name, value in tasks.items():
        match (schema.get("properties") or {}).get(name), value:
            case None, _:
                continue
            case {"type": "array"}, str():
                fitted[name] = [value]
            case {"type": "string"}, [first, *_]:
                fitted[name] = first
            case {"type": "number" | "integer"}, {"hours": hours}:
                fitted[name] = hours
            case _:
                fitted[name] = value
    return fitted


def read_turn(messages: list[dict[str, Any]]) -> tuple[str, list[Result], list[Result]]:
    """Return the last question, the results of the tools called since, and those of the turn before."""
    asked = ""
    calls: dict[str, dict[str, Any]] = {}
    results: list[Result] = []
    before: list[Result] = []
    for message in messages:
        blocks = message["content"]
        if isinstance(blocks, str):
            blocks = [text(blocks)]
        said = [block["text"] for block in blocks if block["type"] == "text"]
        if said and message["role"] == "user":
            # Before the words stands what is told with them.
            asked, results, before = said[-1], [], results
        for block in blocks:
            if block["type"] == "tool_use":
                calls[block["id"]] = block
            elif block["type"] == "tool_result":
                content = block.get("content", "")
                call, data = calls[block["tool_use_id"]], _parse(content)
                if call["name"] == ANSWER_WHEN_DONE:
                    continue  # It says nothing of the home.
                pictures = list(pictures_in(content))
                results.append(Result(call["name"], call["input"], data, bool(block.get("is_error")), pictures))
    return asked, results, before


def _parse(content: str | list[dict[str, Any]]) -> Any:
    if not isinstance(content, str):
        content = "\n".join(block.get("text", "") for block in content)
    try:
        return json.loads(content)
    except ValueError:
        return content


def planner_models() -> list[dict[str, Any]]:
    """Return the models of a server that the planner drives: the usual ids, each under the planner's own name."""
    return [model | {"display_name": LABEL} for model in default_models()]
