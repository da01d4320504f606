"""A yes does what was asked only where everything still holds: by whichever way it comes, whatever has changed meanwhile."""

from abc import ABC, abstractmethod
import asyncio
from collections.abc import Awaitable, Callable, Iterator
from datetime import timedelta
import json
from types import MappingProxyType
from typing import Any, override
from unittest.mock import patch

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, async_fire_time_changed

from custom_components.extended_assist.api.instance import api_id
from custom_components.extended_assist.calls.background_calls import unheard
from custom_components.extended_assist.calls.caller import Caller, in_conversation
from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.const import DOMAIN
from custom_components.extended_assist.llm_tools.extended_tool import ExtendedTool
from custom_components.extended_assist.panel.manual_calls import PanelError, async_answer, async_call_by_hand, open_rows
from custom_components.extended_assist.scheduled.manager import async_get_scheduled_tasks
from custom_components.extended_assist.tools.actions import PerformActionTool
from homeassistant.auth.const import GROUP_ID_READ_ONLY
from homeassistant.auth.models import User
from homeassistant.components import conversation
from homeassistant.components.conversation import AssistantContent, ChatLog, ToolResultContent, UserContent
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.config_entries import ConfigSubentry
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import entity_registry as er, llm
from tests.claude.sent import blocks_of
from tests.claude_server import ClaudeServer, Scenario, Turn, text, tool_use
from tests.conftest import AGENT
from tests.helpers.talking import change_agent, speech
from tests.scheduled.devices import AddPhone, CompanionApp
from tests.scheduled.shown import make_task

pytestmark = pytest.mark.usefixtures("quiet")

ACT = f"{DOMAIN}__perform_action"
DOOR, OTHER = "lock.front_door", "lock.openable_lock"
LEAVE, WINDOW = "script.leave", "cover.kitchen_window"
UNLOCK = {"action": "lock.unlock", "target": {"entity_id": DOOR}}
OPEN = {"action": "cover.open_cover", "target": {"entity_id": WINDOW}}
NOBODY = ""
"""The phone of a user who is removed goes with them: their answer never arrives, and the question goes after minutes."""
RUN = {"action": "script.turn_on", "target": {"entity_id": LEAVE}}
FAMILIES = ["entities", "actions", "scripts", "wishes"]


def leaving(entity_id: str) -> dict[str, Any]:
    """Return a script that unlocks a door."""
    return {"script": {"leave": {"sequence": [{"action": "lock.unlock", "target": {"entity_id": entity_id}}]}}}


async def async_load_script(hass: HomeAssistant, entity_id: str) -> None:
    """Load the script as its editor has written it."""
    with patch("homeassistant.config.load_yaml_config_file", return_value=leaving(entity_id)):
        await hass.services.async_call("script", "reload", blocking=True)
    async_expose_entity(hass, "conversation", LEAVE, True)


class Way(ABC):
    """One way in which a question is asked, and its yes arrives."""

    tool = ACT

    def __init__(
        self, hass: HomeAssistant, entry: MockConfigEntry, server: ClaudeServer, user: User, phone: CompanionApp
    ) -> None:
        """Take the home, and the user who says yes."""
        self.hass, self.entry, self.server, self.user, self.phone = hass, entry, server, user, phone

    @property
    def llm_context(self) -> llm.LLMContext:
        """Return the speaker."""
        return llm.LLMContext(DOMAIN, Context(user_id=self.user.id), "en", "conversation", None)

    @abstractmethod
    async def async_ask(self, arguments: dict[str, Any]) -> None:
        """Let the question be asked."""

    async def async_settle(self) -> None:
        """Let what has changed take effect."""
        await self.hass.async_block_till_done()

    @abstractmethod
    async def async_agree(self) -> str:
        """Say yes, and return all that is said of it."""


class Conversation(Way):
    """Our own agent, and the next message."""

    conversation_id: str | None = None

    @override
    async def async_ask(self, arguments: dict[str, Any]) -> None:
        said = await self.async_say("Go on", Turn([tool_use(ACT, arguments)]))
        assert "Shall I do that?" in said

    @override
    async def async_agree(self) -> str:
        before = len(self.server.message_requests)
        said = await self.async_say("Yes", Turn([text("So be it.")]))
        return f"{said} {self.read(before)}"

    def read(self, before: int) -> str:
        """Return the results and notes with which the model answers since so many requests."""
        parts = []
        for request in self.server.message_requests[before:]:
            for block in [block for message in request["messages"][-3:] for block in blocks_of(message["content"])]:
                parts += [str(block.get("content", block.get("text", "")))]
        return " ".join(parts)

    async def async_say(self, words: str, *turns: Turn) -> str:
        """Say something to the agent, and return what it says."""
        self.server.responder = Scenario(list(turns))
        context = Context(user_id=self.user.id)
        try:
            result = await conversation.async_converse(
                self.hass, words, self.conversation_id, context, language="en", agent_id=AGENT
            )
        except ValueError as err:  # As Home Assistant says that the agent is gone.
            return str(err)
        await self.hass.async_block_till_done()
        self.conversation_id = result.conversation_id
        return speech(result)


class PanelAnswers(Conversation):
    """Our own agent, and a yes on the panel's page of questions."""

    @override
    async def async_agree(self) -> str:
        before = len(self.server.message_requests)
        self.server.responder = Scenario([Turn([text("So be it.")])])
        return f"{await async_yes_in_panel(self)} {self.read(before)}"


class ByHand(Way):
    """A tool that is called in the panel."""

    shown: dict[str, Any]

    @override
    async def async_ask(self, arguments: dict[str, Any]) -> None:
        instance = await llm.async_get_api(self.hass, api_id(self.entry.entry_id), self.llm_context)
        (tool,) = [tool for tool in instance.tools if tool.name == self.tool]
        assert isinstance(tool, ExtendedTool)
        context = Context(user_id=self.user.id)
        assert "question" in await async_call_by_hand(self.hass, tool, arguments, context, "en")

    @override
    async def async_agree(self) -> str:
        return await async_yes_in_panel(self)


async def async_yes_in_panel(way: Way) -> str:
    """Say yes to the one question that is shown to a user, or find that there is none any more."""
    try:
        (question,) = open_rows(way.hass, way.user.id) or [{"id": "gone"}]
        answer = await async_answer(way.hass, question["id"], Context(user_id=way.user.id), "en", agreed=True)
    except PanelError as err:
        return err.key
    finally:
        await way.hass.async_block_till_done()
    return str(answer.get("answer") or answer.get("speech") or answer.get("question", ""))


class OtherAgent(Way):
    """An agent that is not ours, which calls again after the user's next message."""

    @override
    async def async_ask(self, arguments: dict[str, Any]) -> None:
        self.log, self.arguments = ChatLog(self.hass, "elsewhere"), arguments
        self.acting = PerformActionTool(ToolboxOptions.of(self.entry.options, self.entry.entry_id))
        assert "would" in await self.async_call("Unlock the door", "1")

    async def async_call(self, words: str, call_id: str) -> dict[str, Any]:
        """Call the tool after a message."""
        self.log.content.append(UserContent(content=words))
        made = llm.ToolInput(self.tool, self.arguments, id=call_id)
        self.log.content.append(AssistantContent(agent_id="other", content=None, tool_calls=[made]))
        with in_conversation(self.log):
            result = await self.acting.async_call(self.hass, made, self.llm_context)
        self.log.content.append(
            ToolResultContent(agent_id="other", tool_call_id=call_id, tool_name=self.tool, result=result)
        )
        return result.data

    @override
    async def async_agree(self) -> str:
        return json.dumps(await self.async_call("Yes", "2"))


class Phone(Way):
    """A program in the name of a user who cannot be asked there, and a yes on the phone of one who can."""

    asker: User

    @override
    async def async_ask(self, arguments: dict[str, Any]) -> None:
        self.asker = await self.hass.auth.async_create_user("Ben", group_ids=["system-users"])
        self.context = llm.LLMContext("mcp_server", Context(user_id=self.asker.id), "en", "conversation", None)
        instance = await llm.async_get_api(self.hass, api_id(self.entry.entry_id), self.context)
        result = await instance.async_call_tool(llm.ToolInput(self.tool, arguments))
        assert "Asked on the phone" in result.data.get("next", ""), result.data
        await async_shown(self.phone)

    @override
    async def async_agree(self) -> str:
        await async_press_yes(self.phone)
        return " ".join(unheard(self.hass, Caller(self.context)))


class Scheduled(Way):
    """Something that is due, and a yes on the phone of the one who wanted it."""

    freezer: FrozenDateTimeFactory

    @override
    async def async_ask(self, arguments: dict[str, Any]) -> None:
        step = {"action": arguments["action"], "entity_ids": [arguments["target"]["entity_id"]], "targeted": True}
        due = make_task(self.entry, "the door", user_id=self.user.id)
        due.what.actions.append({**step, "data": {}})
        due.what.say = None
        self.due = due
        await (await async_get_scheduled_tasks(self.hass)).async_add(due)
        await self.hass.async_block_till_done()
        self.freezer.tick(timedelta(seconds=3601))
        async_fire_time_changed(self.hass)
        await async_shown(self.phone)

    @override
    async def async_settle(self) -> None:
        for _ in range(20):
            await asyncio.sleep(0)  # What is due is waited for, too, and waits for an answer.

    @override
    async def async_agree(self) -> str:
        await async_press_yes(self.phone)
        progress = self.due.progress
        for _ in range(500):
            if progress.result or progress.ended:
                break
            await self.hass.async_add_executor_job(int)  # What is done meanwhile waits for threads, too.
        return str(progress.result or progress.ended or "")


async def async_press_yes(phone: CompanionApp) -> None:
    """Press the button, and let what it answers be done; the phone of a user who is gone answers nothing."""
    await phone.async_press("Yes, do it")
    for _ in range(500):
        await asyncio.sleep(0)  # Clocks stand still.


async def async_shown(phone: CompanionApp) -> None:
    """Wait until a question is on a phone."""
    async with phone.pushed:
        await phone.pushed.wait_for(lambda: any("actions" in push.get("data", {}) for push in phone.shown))


WAYS: dict[str, type[Way]] = {
    "conversation": Conversation,
    "panel": PanelAnswers,
    "by hand": ByHand,
    "other agent": OtherAgent,
    "phone": Phone,
    "scheduled": Scheduled,
}


def _set(way: Way, **options: Any) -> None:
    way.hass.config_entries.async_update_entry(way.entry, options={**way.entry.options, **options})


async def _family_off(way: Way) -> None:
    _set(way, families=["entities"])


async def _admins_only(way: Way) -> None:
    _set(way, who_may_control="admin")


async def _hidden(way: Way) -> None:
    async_expose_entity(way.hass, "conversation", DOOR, False)


async def _another_of_that_id(way: Way) -> None:
    """Let another window have the id, and the name."""
    registry = er.async_get(way.hass)
    registry.async_update_entity(WINDOW, new_entity_id="cover.attic_window")
    await way.async_settle()
    registry.async_update_entity("cover.hall_window", new_entity_id=WINDOW, name="Kitchen Window")
    await way.async_settle()
    async_expose_entity(way.hass, "conversation", WINDOW, True)


async def _deactivated(way: Way) -> None:
    await way.hass.auth.async_deactivate_user(way.user)


async def _removed(way: Way) -> None:
    await way.hass.auth.async_remove_user(way.user)


async def _may_only_read(way: Way) -> None:
    await way.hass.auth.async_update_user(way.user, group_ids=[GROUP_ID_READ_ONLY])


async def _unloaded(way: Way) -> None:
    await way.hass.config_entries.async_unload(way.entry.entry_id)


async def _entry_removed(way: Way) -> None:
    await way.hass.config_entries.async_remove(way.entry.entry_id)


async def _edited(way: Way) -> None:
    await async_load_script(way.hass, OTHER)


async def _other_api(way: Way) -> None:
    await change_agent(way.hass, way.entry, llm_hass_api=["assist"])


async def _no_api(way: Way) -> None:
    await change_agent(way.hass, way.entry, llm_hass_api=[])


async def _asker_deactivated(way: Way) -> None:
    assert isinstance(way, Phone)
    await way.hass.auth.async_deactivate_user(way.asker)


async def _asker_removed(way: Way) -> None:
    assert isinstance(way, Phone)
    await way.hass.auth.async_remove_user(way.asker)


async def _not_asked_any_more(way: Way) -> None:
    _set(way, ask_on_phones=[])


CHANGES: dict[str, Callable[[Any], Awaitable[None]]] = {
    "family off": _family_off,
    "option": _admins_only,
    "hidden": _hidden,
    "another of that id": _another_of_that_id,
    "deactivated": _deactivated,
    "removed": _removed,
    "may only read": _may_only_read,
    "entry unloaded": _unloaded,
    "entry removed": _entry_removed,
    "edited": _edited,
    "other API": _other_api,
    "no API": _no_api,
    "asker deactivated": _asker_deactivated,
    "asker removed": _asker_removed,
    "not asked any more": _not_asked_any_more,
}
_AGENT_ONLY, _PHONE_ONLY = {"other API", "no API"}, {"asker deactivated", "asker removed", "not asked any more"}


def _cases() -> Iterator[tuple[str, str]]:
    """Yield each way with each change that it can meet."""
    for way, kind in WAYS.items():
        for change in CHANGES:
            if change in _AGENT_ONLY and not issubclass(kind, Conversation):
                continue
            if change in _PHONE_ONLY and kind is not Phone:
                continue
            yield way, change


REASONS: dict[str, tuple[str, ...]] = {
    "family off": ("turned off in the options", "There is no tool named", "not loaded"),
    "option": ("administrator", "may not be done any more"),
    "hidden": ("not exposed", "exposed any more", "has changed meanwhile"),
    "another of that id": ("has changed", "something has changed", "not as it was asked"),
    "deactivated": ("deactivated or removed", "Nobody answered in time", "did not agree"),
    "removed": ("deactivated or removed", NOBODY),
    "may only read": ("may not do this",),
    "entry unloaded": ("not loaded", "not found", "panel_gone", "may not be done any more"),
    "entry removed": ("were removed", "unloaded", "not found", "panel_gone", "may not be done any more"),
    "edited": ("has changed", "not as it was asked"),
    "other API": ("There is no tool named",),
    "no API": ("were taken from you",),
    "asker deactivated": ("deactivated or removed",),
    "asker removed": ("deactivated or removed",),
    "not asked any more": ("not as it was asked",),
}
"""What is said of each change, by one way or another."""


@pytest.fixture
async def make_way(
    hass: HomeAssistant,
    house: None,
    entry: MockConfigEntry,
    claude_server: ClaudeServer,
    anna: User,
    add_phone: AddPhone,
    freezer: FrozenDateTimeFactory,
) -> Callable[[str], Awaitable[Way]]:
    """Return a function that prepares the home for a way."""

    async def make(name: str) -> Way:
        way = WAYS[name](hass, entry, claude_server, anna, await add_phone(anna, "Phone"))
        _set(way, families=FAMILIES, ask_on_phones=[anna.id], always_ask=["cover.open_cover"])
        await hass.async_block_till_done()
        await async_load_script(hass, DOOR)
        if isinstance(way, Scheduled):
            way.freezer = freezer
        return way

    return make


@pytest.mark.parametrize("arguments", [UNLOCK, RUN], ids=["door", "script"])
@pytest.mark.parametrize("name", WAYS)
async def test_yes(
    hass: HomeAssistant, make_way: Callable[[str], Awaitable[Way]], name: str, arguments: dict[str, Any]
) -> None:
    """Where nothing has changed, a yes does it."""
    way = await make_way(name)
    await way.async_ask(arguments)
    assert hass.states.is_state(DOOR, "locked")
    await way.async_agree()
    assert hass.states.is_state(DOOR, "unlocked")


@pytest.mark.parametrize(("name", "change"), _cases())
async def test_nothing_is_done(
    hass: HomeAssistant, make_way: Callable[[str], Awaitable[Way]], name: str, change: str
) -> None:
    """Where anything has changed, a yes does nothing, and whoever wanted it hears of that."""
    way = await make_way(name)
    await way.async_ask({"edited": RUN, "another of that id": OPEN}.get(change, UNLOCK))
    await CHANGES[change](way)
    await way.async_settle()
    before = {state.entity_id: state.state for state in hass.states.async_all(("lock", "cover"))}
    said = await way.async_agree()
    assert {state.entity_id: state.state for state in hass.states.async_all(("lock", "cover"))} == before
    if (name, change) == ("scheduled", "entry unloaded"):
        assert not said  # Nothing of it had begun: it is due again once the entry is loaded.
        return
    assert any(reason in said for reason in REASONS[change]), said


FUNCTION = """
spec: {{name: open_up, description: Opens}}
function:
  type: script
  sequence: [{{action: lock.unlock, target: {{entity_id: {}}}}}]
"""


@pytest.mark.parametrize("change", ["removed", "disabled", "edited", "kept"])
@pytest.mark.parametrize("name", ["by hand", "phone"])
async def test_function(hass: HomeAssistant, make_way: Callable[[str], Awaitable[Way]], name: str, change: str) -> None:
    """A function that its user has removed, disabled or changed since is not called."""
    way = await make_way(name)
    _set(way, ask_first=["open_up"])
    data = {"function": FUNCTION.format(DOOR), "tier": "control"}
    function = ConfigSubentry(data=MappingProxyType(data), subentry_type="function", title="Open up", unique_id=None)
    hass.config_entries.async_add_subentry(way.entry, function)
    await hass.async_block_till_done()
    way.tool = "open_up"
    await way.async_ask({})
    assert hass.states.is_state(DOOR, "locked")
    if change == "removed":
        hass.config_entries.async_remove_subentry(way.entry, function.subentry_id)
    elif change != "kept":
        new = {**data, "enabled": False} if change == "disabled" else {**data, "function": FUNCTION.format(OTHER)}
        hass.config_entries.async_update_subentry(way.entry, function, data=new)
    await hass.async_block_till_done()
    said = await way.async_agree()
    is_kept = change == "kept"
    assert [hass.states.is_state(door, "unlocked") for door in (DOOR, OTHER)] == [is_kept, False], said
    assert is_kept or "changed or removed the function open_up" in said
