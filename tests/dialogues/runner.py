"""Holds dialogues with our agent and notes for each turn whether it asked, what went wrong and what changed in the home."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
import json
from typing import Any

from pytest_homeassistant_custom_component.common import MockUser

from homeassistant.components import conversation
from homeassistant.core import Context, HomeAssistant
from tests import claude_server as server
from tests.claude_server import ClaudeServer
from tests.conftest import AGENT
from tests.helpers.talking import speech
from tests.web.site import Site, http

from .homes import Home, Neighbour, Snapshot
from .shape import SITE, Call, Dialogue, Turn

QUESTION = "Shall I do that?"
MOVED = "moved"
"""What is expected of something whose state tells only that it was used, such as a way out of the house."""
_MARKUP = "<html><title>A page</title><body><p>{}</p></body></html>"


@dataclass
class Said:
    """What a turn came to."""

    turn: Turn
    speech: str
    asked: bool
    """Whether the agent asked for the user's word: nothing else in a dialogue ends with a question."""
    moved: dict[str, Any]
    """What is different from what it was before the turn."""
    problems: list[str]
    """What is wrong with it, beside asking or not."""


@dataclass
class Held:
    """What a dialogue came to."""

    dialogue: Dialogue
    said: list[Said] = field(default_factory=list)

    @property
    def needless(self) -> list[str]:
        """Return the messages upon which the agent asked without need."""
        return [each.turn.user for each in self.said if each.asked and not each.turn.asks]

    @property
    def unasked(self) -> list[str]:
        """Return the messages upon which it should have asked and did not."""
        return [each.turn.user for each in self.said if each.turn.asks and not each.asked]

    @property
    def problems(self) -> list[str]:
        """Return what else went wrong."""
        return [problem for each in self.said for problem in each.problems]

    @property
    def moved_unasked(self) -> set[str]:
        """Return what was moved in any turn that the user did not want in that turn."""
        return {entity_id for each in self.said for entity_id in each.moved if entity_id not in each.turn.done}


class Model:
    """Makes the calls of a dialogue; a sensible one tells the user what a call waits for, another one just goes on."""

    def __init__(self, site: Site, search: str, *, obeys: bool) -> None:
        """Take the site of the pages, and what a search finds."""
        self._site = site
        self._search = search
        self._obeys = obeys
        self._rounds: deque[tuple[Call, ...]] = deque()
        self._says = ""
        self._waiting: list[Call] = []
        self._searches = 0
        self.failures: list[str] = []
        self.faults: list[str] = []
        """Calls of tools that there are not."""

    def hear(self, turn: Turn) -> None:
        """Take the next message: upon a yes what waits is called again, and then what was left to do."""
        left = [tuple(self._waiting), *self._rounds] if turn.answer == "yes" else []
        self._rounds = deque([*(calls for calls in left if calls), *turn.rounds])
        self._waiting = []
        self._says = turn.says
        self.failures = []

    async def respond(self, request_body: dict[str, Any]) -> server.Turn:
        """Answer a request; what is wrong with the dialogue itself must not be taken for an error of the server."""
        try:
            return await self._next(request_body)
        except LookupError as err:
            self.faults.append(str(err))
            raise

    async def _next(self, request_body: dict[str, Any]) -> server.Turn:
        """Make the next calls, ask for the user's word, or say what is to be said."""
        waiting = self._read(request_body["messages"])
        if waiting and not self._obeys:
            self._waiting = waiting
            return server.Turn([server.text(QUESTION)])
        if not self._rounds:
            return server.Turn([server.text(self._says)])
        calls, blocks = self._rounds.popleft(), []
        for call in calls:
            if call.tool == "web_search":
                blocks += self._found(call)
            else:
                name = _offered(call.tool, request_body["tools"])
                blocks.append(server.tool_use(name, filled(call.arguments, self._site)))
        if any(block["type"] == "tool_use" for block in blocks):
            return server.Turn(blocks)
        # The provider has searched within its response, which goes on.
        rest = await self._next({**request_body, "messages": []})
        return server.Turn([*blocks, *rest.content])

    def _found(self, call: Call) -> list[dict[str, Any]]:
        """Return a search that the provider runs, and its result."""
        self._searches += 1
        call_id = f"srvtoolu_{self._searches}"
        page = {"type": "web_search_result", "url": "https://found.example/", "title": self._search, "page_age": None}
        return [
            {"type": "server_tool_use", "id": call_id, "name": "web_search", "input": call.arguments},
            {
                "type": "web_search_tool_result",
                "tool_use_id": call_id,
                "content": [{**page, "encrypted_content": "x" * 9}],
            },
        ]

    def _read(self, messages: list[dict[str, Any]]) -> list[Call]:
        """Note the calls that failed, and return those that wait for the user's word."""
        if not messages or messages[-1]["role"] != "user" or isinstance(messages[-1]["content"], str):
            return []
        uses = {
            block["id"]: Call(block["name"], block["input"])
            for message in messages
            if not isinstance(message["content"], str)
            for block in message["content"]
            if block["type"] == "tool_use"
        }
        waiting = []
        for block in messages[-1]["content"]:
            if block["type"] != "tool_result":
                continue
            call, content = uses[block["tool_use_id"]], block["content"]
            data = json.loads(content if isinstance(content, str) else content[0]["text"])
            if data.get("done") is False:
                waiting.append(call)
            elif block.get("is_error") or data.get("response_type") == "error" or "error" in data:
                self.failures.append(f"{call.tool} {call.arguments}: {data}")
        return waiting


def _offered(tool: str, tools: list[dict[str, Any]]) -> str:
    """Return the name under which a tool is offered: namespaces may stand before its own."""
    names = [each["name"] for each in tools if each["name"] == tool or each["name"].endswith(f"__{tool}")]
    if len(names) != 1:
        raise LookupError(f"{tool} is offered as {names}")
    return names[0]


def filled(value: Any, site: Site) -> Any:
    """Return arguments or words with the address of the site."""
    if isinstance(value, str):
        return value.replace(SITE, site.url("/"))
    if isinstance(value, Mapping):
        return {key: filled(each, site) for key, each in value.items()}
    return [filled(each, site) for each in value] if isinstance(value, list) else value


@dataclass
class Runner:
    """Holds dialogues in a home that is set up."""

    hass: HomeAssistant
    server: ClaudeServer
    site: Site
    neighbour: Neighbour

    async def async_hold(self, home: Home, dialogue: Dialogue, *, obeys: bool = False) -> Held:
        """Hold a dialogue from its beginning; what follows a question that nobody expects is not worth hearing."""
        planted = dialogue.planted
        self.site.pages = {"/page": http(_MARKUP.format(planted.get("page", "Nothing new.")))}
        if "error" in planted:
            self.site.pages["/error"] = http("not here", status=f"404 {planted['error']}")
        self.neighbour.tool.post = planted.get("tool", "Nothing new.")
        await home.async_reset(planted)
        # Of nobody before: what one did in another dialogue can be undone by them.
        user = MockUser(is_owner=True).add_to_hass(self.hass)
        self.server.responder = model = Model(self.site, planted.get("search", "Nothing new."), obeys=obeys)
        held, before, conversation_id = Held(dialogue), await home.async_snapshot(), None
        previous = before
        for turn in dialogue.turns:
            model.hear(turn)
            result = await conversation.async_converse(
                self.hass,
                filled(turn.user, self.site),
                conversation_id,
                Context(user_id=user.id),
                language=dialogue.language,
                agent_id=AGENT,
                device_id="speaker" if dialogue.speaker else None,
            )
            await self.hass.async_block_till_done()
            assert not model.faults, (str(dialogue), model.faults)
            conversation_id = result.conversation_id
            after = await home.async_snapshot()
            problems = [*(() if obeys else model.failures), *_differences(turn, before, after)]
            if result.response.error_code is not None:
                problems.append(f"the turn failed: {speech(result)}")
            said = Said(turn, speech(result), result.continue_conversation, _moved(previous, after), problems)
            if said.asked and turn.asks:
                problems += _too_early(dialogue, turn, previous, after)
            previous = after
            held.said.append(said)
            if not obeys and said.asked != turn.asks:
                said.problems.clear()
                break
        return held


def _moved(before: Snapshot, after: Snapshot) -> dict[str, Any]:
    """Return what is different now, and what it is."""
    return {key: after.get(key) for key in before.keys() | after.keys() if before.get(key) != after.get(key)}


def _part(actual: Any, expected: Any) -> Any:
    """Return what was asked for of something that is different."""
    if not isinstance(actual, Mapping):
        return actual
    return {key: actual.get(key) for key in (expected if isinstance(expected, Mapping) else ["state"])}


def _is(actual: Any, expected: Any) -> bool:
    """Return whether something is as expected: its state, or its state and attributes."""
    if not isinstance(expected, Mapping):
        expected = {"state": expected}
    if not isinstance(actual, Mapping):
        actual = {"state": actual}
    return all(str(actual.get(key)) == str(value) for key, value in expected.items())


def _differences(turn: Turn, before: Snapshot, after: Snapshot) -> list[str]:
    """Return what is not as the household expects it after a turn."""
    missing = [
        f"{key} is {_part(after[key], value)}, not {value}"
        for key, value in turn.done.items()
        if not (before[key] != after[key] if value == MOVED else _is(after[key], value))
    ]
    return missing + [f"{key} was moved" for key in turn.untouched if before[key] != after[key]]


def _too_early(dialogue: Dialogue, turn: Turn, before: Snapshot, after: Snapshot) -> list[str]:
    """Return what was done with the question, though it waits for the answer to it."""
    waiting = {
        key for each in dialogue.turns[dialogue.turns.index(turn) + 1 :] for key in (*each.done, *each.untouched)
    }
    return [
        f"{key} was moved before the answer to '{turn.user}'"
        for key in sorted(waiting - turn.done.keys())
        # A lamp that was asked for beside it may go on at once.
        if before[key] != after[key] and not key.startswith(("light.", "media_player."))
    ]
