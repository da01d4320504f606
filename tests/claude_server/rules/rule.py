"""What a rule is: a check of a request, and a row that says what it refuses, in which words, and where that is written."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..memory import Memory
from ..models import Traits, traits_of
from .pages import Page

type Body = dict[str, Any]
type Block = dict[str, Any]
type Check = Callable[[Request], str | None]

REFUSAL_AGAIN = 200
"""The status of a request that is not refused by an error: the model declines again."""


class Refusal(Exception):  # noqa: N818 - an answer, not a failure of the server
    """A request that the API would answer with an error."""

    def __init__(self, message: str, *, status: int = 400, rule: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.rule = rule
        """The name of the rule, for tests; the service says nothing of the kind."""


@dataclass(frozen=True)
class Joined:
    """Messages of one role that follow each other, which the API takes for one."""

    role: str
    index: int
    """Of the first of them."""
    blocks: list[Block]


@dataclass(frozen=True)
class Request:
    """A request, and what is known about its model and about what was answered before."""

    body: Body
    model: dict[str, Any]
    memory: Memory = field(default_factory=Memory)
    betas: frozenset[str] = frozenset()
    new_account: bool = True
    """Whether the account was made after the day from which preserved thinking is enforced by default."""
    type_problem: str | None = None
    """What the installed SDK's types say against it."""

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages."""
        found: list[dict[str, Any]] = self.body["messages"]
        return found

    @property
    def tools(self) -> list[dict[str, Any]]:
        """The tools."""
        return self.body.get("tools") or []

    @cached_property
    def own_tools(self) -> list[tuple[int, dict[str, Any]]]:
        """The tools that the client defines, with their places."""
        return [(index, tool) for index, tool in enumerate(self.tools) if tool.get("input_schema") is not None]

    @cached_property
    def held(self) -> list[tuple[str, dict[str, Any]]]:
        """The schemas that the service holds the model to, of strict tools and of the answer, with their places."""
        strict = [(f"tools.{index}.custom.input_schema", tool) for index, tool in self.own_tools if tool.get("strict")]
        found = [(place, tool["input_schema"]) for place, tool in strict]
        if self.output_schema is not None:
            found.append(("output_config.format.schema", self.output_schema))
        return found

    @property
    def thinking(self) -> str:
        """How the model is asked to think, or how it thinks where it is not asked."""
        asked = (self.body.get("thinking") or {}).get("type")
        return str(asked) if asked else self.traits.thinks_unasked or "disabled"

    @property
    def shows_thinking(self) -> bool:
        """Whether the answer holds the text of its thinking."""
        asked = (self.body.get("thinking") or {}).get("display")
        return asked == "summarized" if asked else self.traits.shows_thinking

    @property
    def effort(self) -> str | None:
        """The effort that is asked for."""
        return (self.body.get("output_config") or {}).get("effort")

    @property
    def forces_tool(self) -> bool:
        """Whether the model must call a tool."""
        return (self.body.get("tool_choice") or {}).get("type") in ("any", "tool")

    @property
    def output_schema(self) -> dict[str, Any] | None:
        """What an answer must look like."""
        output = (self.body.get("output_config") or {}).get("format") or self.body.get("output_format") or {}
        return output.get("schema")

    @cached_property
    def traits(self) -> Traits:
        """What the documentation says about the model and no list does."""
        return traits_of(self.model["id"])

    @cached_property
    def turns(self) -> list[Joined]:
        """The messages, those of one role that follow each other in one."""
        joined: list[Joined] = []
        for index, message in enumerate(self.messages):
            if message["role"] == "system":
                continue
            if joined and joined[-1].role == message["role"]:
                joined[-1].blocks.extend(blocks_of(message["content"]))
            else:
                joined.append(Joined(message["role"], index, list(blocks_of(message["content"]))))
        return joined

    @cached_property
    def blocks(self) -> list[tuple[str, Block]]:
        """Every block of every message, with its place as the API names it."""
        return [
            (f"messages.{index}.content.{number}", block)
            for index, message in enumerate(self.messages)
            for number, block in enumerate(blocks_of(message["content"]))
        ]

    @cached_property
    def all_blocks(self) -> list[tuple[str, Block]]:
        """The same, those inside tool results and documents included."""
        found = list(self.blocks)
        for place, block in self.blocks:
            if block["type"] == "tool_result" and isinstance(content := block.get("content"), list):
                found += [(f"{place}.tool_result.content.{number}", inner) for number, inner in enumerate(content)]
        return found

    def supports(self, *path: str) -> bool:
        """Return whether the list of models says that the model can do something; one without a list takes everything."""
        if (value := self.model.get("capabilities")) is None:
            return True
        for key in path:
            value = (value or {}).get(key)
        return bool((value or {}).get("supported"))


@dataclass(frozen=True)
class Rule:
    """One row of the table."""

    name: str
    refuses: str
    page: Page
    words: str
    """Words that the service is known to use; empty where nobody has written them down."""
    status: int
    enforced: bool
    """False where the client of this repository breaks it and has not been mended yet."""
    check: Check
    """Returns what is wrong with a request, or None."""


def rule(
    page: Page, words: str = "", *, status: int = 400, enforced: bool = True
) -> Callable[[Callable[[Request], str | None]], Rule]:
    """Make a rule of a check: its name is the function's, and what it refuses stands in the first line of its text."""

    def make(check: Check) -> Rule:
        name, text = check.__name__, check.__doc__ or ""  # type: ignore[attr-defined] # a function has a name
        return Rule(name, text.partition("\n")[0], page, words, status, enforced, check)

    return make


def blocks_of(content: str | list[Block]) -> list[Block]:
    """Return content as blocks."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else content
