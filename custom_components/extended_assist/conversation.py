"""The agent as a conversation entity."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from time import time
from typing import Literal, override

from homeassistant.components import conversation
from homeassistant.config_entries import ConfigSubentry
from homeassistant.const import CONF_LLM_HASS_API, CONF_PROMPT, MATCH_ALL
from homeassistant.core import HomeAssistant
from homeassistant.helpers import intent
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .calls.background_calls import abandon
from .calls.caller import Caller, is_asked_later
from .calls.chat_images import Screen, showing
from .calls.journal import async_get_journal
from .claude.coordinator import ExtendedAssistConfigEntry
from .claude.current_states import DEFAULT_PRESENT
from .claude.earlier_changes import recap
from .claude.fallback import agent_exists, async_hand_over
from .claude.loop import async_answer
from .claude.models import async_check_model
from .claude.retry import TurnError, async_sentence
from .claude.usage import TokenMeter, async_get_meters
from .confirmation.untrusted_text import unwrapped
from .const import (
    CONF_ANSWER_WHEN_DONE,
    CONF_FALLBACK_AGENT,
    CONF_PRESENT,
    CONF_RECAP_HOURS,
    CONF_SHOW_PICTURES,
    DOMAIN,
    LOGGER,
    SUBENTRY_CONVERSATION,
)
from .entity import ClaudeEntity
from .exposure.api_selection import without_twin
from .memory.prompt import retold
from .repair_issues.agents import async_check_agent, async_check_tools
from .scheduled.manager import async_get_scheduled_tasks
from .scheduled.missed_reminders import async_news
from .tools.memory import RecallTool

PARALLEL_UPDATES = 0


async def async_setup_entry(
    hass: HomeAssistant,
    entry: ExtendedAssistConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add one entity for each agent."""
    meters = await async_get_meters(hass)
    for subentry in entry.get_subentries_of_type(SUBENTRY_CONVERSATION):
        agent = ClaudeAgent(entry, subentry, meters.of(subentry.subentry_id))
        async_add_entities([agent], config_subentry_id=subentry.subentry_id)


class ClaudeAgent(conversation.ConversationEntity, ClaudeEntity):
    """A conversation agent that uses Claude and the LLM APIs that the user selected."""

    _attr_supports_streaming = True
    _attr_translation_key = "conversation"

    def __init__(self, entry: ExtendedAssistConfigEntry, subentry: ConfigSubentry, meter: TokenMeter) -> None:
        """Store the subentry and the token meter."""
        super().__init__(entry, subentry, meter)
        self._settings = {CONF_PRESENT: DEFAULT_PRESENT, **subentry.data}
        if subentry.data.get(CONF_LLM_HASS_API):
            self._attr_supported_features = conversation.ConversationEntityFeature.CONTROL

    @override
    async def async_added_to_hass(self) -> None:
        """Check for settings of Home Assistant that keep the agent from working."""
        await super().async_added_to_hass()
        async_check_agent(self.hass, self._entry.entry_id, self.entity_id, self._subentry)

    @property
    @override
    def available(self) -> bool:
        """Return whether the server or the fallback agent can answer."""
        return super().available or agent_exists(self.hass, self._settings.get(CONF_FALLBACK_AGENT))

    @property
    @override
    def supported_languages(self) -> list[str] | Literal["*"]:
        """Return that the agent supports all languages."""
        return MATCH_ALL

    @override
    async def _async_handle_message(
        self, user_input: conversation.ConversationInput, chat_log: conversation.ChatLog
    ) -> conversation.ConversationResult:
        """Answer a message."""
        # Assistants change without an event.
        async_check_agent(self.hass, self._entry.entry_id, self.entity_id, self._subentry)
        try:
            self._check_tools()
            await chat_log.async_provide_llm_data(
                user_input.as_llm_context(DOMAIN),
                without_twin(self._settings.get(CONF_LLM_HASS_API, ())) or None,
                self._settings.get(CONF_PROMPT),
                user_input.extra_system_prompt,
            )
            caller = Caller(user_input.as_llm_context(DOMAIN), chat_log, chat_log.conversation_id)
            await _async_retell(self.hass, chat_log, caller)
            turn = self._turn(chat_log, user_input.language)
            turn.answers_when_done = self._settings.get(CONF_ANSWER_WHEN_DONE, True)
            # What waits for the one who speaks is no part of an answer that others hear.
            is_alone = not is_asked_later(self.hass, user_input.context)
            news = await async_news(self.hass, caller) if is_alone else {}
            turn.news = [*news.values()]
            hours = self._settings.get(CONF_RECAP_HOURS, 0) if is_alone else 0
            turn.earlier = recap(self.hass, await async_get_journal(self.hass), caller, hours, time())
            try:
                with self._showing(caller) as turn.screen:
                    await async_answer(turn)
            except asyncio.CancelledError:
                abandon(self.hass, chat_log.conversation_id)
                raise
        except conversation.ConverseError as err:
            return err.as_conversation_result()
        except TurnError as err:
            if err.key == "model_not_found":
                async_check_model(self.hass, self._entry, self._subentry, is_gone=True)
            return await self._async_give_up(user_input, chat_log, err)
        if news:
            await (await async_get_scheduled_tasks(self.hass)).async_told(news)
        pictures = _take_back(chat_log, turn.screen)
        result = conversation.async_get_result_from_chat_log(user_input, chat_log)
        if pictures:
            # A dialog shows what is said in the end, whatever it was streamed.
            result.response.async_set_speech(f"{result.response.speech['plain']['speech']}{pictures}")
        if turn.sources:
            # Shown by those who can; nobody wants to hear addresses.
            sources = "\n".join(f"{title}: {url}" for url, title in turn.sources.items())
            result.response.async_set_card(self._subentry.title, sources, "sources")
        return result

    def _showing(self, caller: Caller) -> AbstractContextManager[Screen | None]:
        """Collect the images of a turn if the options allow images."""
        return showing(self.hass, caller) if self._settings.get(CONF_SHOW_PICTURES, True) else nullcontext()

    def _check_tools(self) -> None:
        """Raise TurnError if a selected API is gone, such as that of a removed entry."""
        if not async_check_tools(self.hass, self._entry.entry_id, self._subentry):
            raise TurnError("api_missing")

    async def _async_give_up(
        self, user_input: conversation.ConversationInput, chat_log: conversation.ChatLog, error: TurnError
    ) -> conversation.ConversationResult:
        """End a failed turn with the answer of the fallback agent, or with a sentence about the cause."""
        LOGGER.warning("The agent %s could not answer: %s", self._subentry.subentry_id, error.key)
        # Servers repeat parts of the request in their messages.
        LOGGER.debug("The cause in %s was", self.entity_id, exc_info=error)
        self._tell_failed(error, user_input.context)
        fallback = self._settings.get(CONF_FALLBACK_AGENT)
        if result := await async_hand_over(self.hass, self.entity_id, fallback, user_input, chat_log):
            return result
        sentence = await async_sentence(self.hass, user_input.language, error)
        if _has_spoken(chat_log):
            # Where an answer was being spoken already, nothing is heard but what is streamed.
            async for _ in chat_log.async_add_delta_content_stream(self.entity_id, _said(sentence)):
                pass
        else:
            chat_log.async_add_assistant_content_without_tools(
                conversation.AssistantContent(agent_id=self.entity_id, content=sentence)
            )
        response = intent.IntentResponse(language=user_input.language)
        response.async_set_error(intent.IntentResponseErrorCode.FAILED_TO_HANDLE, sentence)
        return conversation.ConversationResult(response=response, conversation_id=chat_log.conversation_id)


async def _async_retell(hass: HomeAssistant, chat_log: conversation.ChatLog, caller: Caller) -> None:
    """Update the facts in the instructions, which Home Assistant 2026.11 keeps for a whole conversation."""
    system = chat_log.content[0]
    tools = map(unwrapped, chat_log.llm_api.tools if chat_log.llm_api else ())
    if isinstance(system, conversation.SystemContent) and (
        recalls := next((tool for tool in tools if isinstance(tool, RecallTool)), None)
    ):
        told = retold(system.content, await recalls.async_prompt_facts(hass, caller))
        if told != system.content:
            chat_log.content[0] = conversation.SystemContent(content=told)


def _take_back(chat_log: conversation.ChatLog, screen: Screen | None) -> str:
    """Remove the images behind an answer from the chat log, so that no model reads them, and return them."""
    last = chat_log.content[-1]
    if not screen or not screen.told or not isinstance(last, conversation.AssistantContent):
        return ""
    chat_log.content[-1] = replace(last, content=(last.content or "").removesuffix(screen.told))
    return screen.told


def _has_spoken(chat_log: conversation.ChatLog) -> bool:
    """Return whether the agent has said anything in this turn."""
    for content in reversed(chat_log.content):
        if isinstance(content, conversation.UserContent):
            return False
        if isinstance(content, conversation.AssistantContent) and content.content:
            return True
    return False


async def _said(sentence: str) -> AsyncGenerator[conversation.AssistantContentDeltaDict]:
    """Yield a sentence as a separate message."""
    yield {"role": "assistant", "content": sentence}
