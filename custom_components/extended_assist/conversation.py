"""The agent as a conversation entity."""

from functools import partial
from typing import Literal, override

from homeassistant.components import conversation
from homeassistant.config_entries import ConfigSubentry
from homeassistant.const import CONF_LLM_HASS_API, CONF_MODEL, CONF_PROMPT, MATCH_ALL
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import intent, llm
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from . import ExtendedAssistConfigEntry
from .allowance import async_check_allowance, async_forget_allowance, is_used_up
from .claude.caching import default_cache
from .claude.failures import TurnError, async_sentence
from .claude.loop import AgentOptions, async_answer
from .claude.models import find_model
from .claude.usage import Meter, async_get_meters
from .const import CONF_BASE_URL, DOMAIN, LOGGER, SUBENTRY_CONVERSATION
from .device import agent_device
from .repairs import async_check_agent, async_forget_agent

PARALLEL_UPDATES = 0


async def async_setup_entry(
    hass: HomeAssistant,
    entry: ExtendedAssistConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add one entity for each agent."""
    meters = await async_get_meters(hass)
    for subentry in entry.get_subentries_of_type(SUBENTRY_CONVERSATION):
        meter = meters.of(subentry.subentry_id)
        async_add_entities([ClaudeAgent(entry, subentry, meter)], config_subentry_id=subentry.subentry_id)


class ClaudeAgent(conversation.ConversationEntity):
    """An agent that answers with Claude and the APIs that the user picked."""

    _attr_has_entity_name = True
    _attr_name = None
    _attr_supports_streaming = True
    _attr_translation_key = "conversation"

    def __init__(self, entry: ExtendedAssistConfigEntry, subentry: ConfigSubentry, meter: Meter) -> None:
        """Take the settings of an agent, and what counts its tokens."""
        self._entry_id = entry.entry_id
        self._meter = meter
        self._client = entry.runtime_data.client
        self._subentry = subentry
        self._settings = subentry.data
        self._options = AgentOptions.of(
            subentry.data,
            find_model(entry.runtime_data.models, subentry.data[CONF_MODEL]),
            default_cache(entry.data[CONF_BASE_URL]),
        )
        self._attr_unique_id = subentry.subentry_id
        self._attr_device_info = agent_device(subentry)
        if subentry.data.get(CONF_LLM_HASS_API):
            self._attr_supported_features = conversation.ConversationEntityFeature.CONTROL

    @override
    async def async_added_to_hass(self) -> None:
        """Look whether anything keeps the agent from its work."""
        await super().async_added_to_hass()
        async_check_agent(self.hass, self.entity_id, self._subentry)
        self.async_on_remove(self._meter.async_listen(self._check_allowance))
        self._check_allowance()

    @override
    async def async_will_remove_from_hass(self) -> None:
        """Take the agent's issues along."""
        async_forget_agent(self.hass, self._subentry.subentry_id)
        async_forget_allowance(self.hass, self._subentry.subentry_id)
        await super().async_will_remove_from_hass()

    @property
    @override
    def supported_languages(self) -> list[str] | Literal["*"]:
        """Return that the agent speaks any language."""
        return MATCH_ALL

    @override
    async def _async_handle_message(
        self, user_input: conversation.ConversationInput, chat_log: conversation.ChatLog
    ) -> conversation.ConversationResult:
        """Answer a message."""
        async_check_agent(self.hass, self.entity_id, self._subentry)  # Assistants change without an event.
        self._check_allowance()  # A month may have ended.
        try:
            self._check_means()
            await chat_log.async_provide_llm_data(
                user_input.as_llm_context(DOMAIN),
                self._settings.get(CONF_LLM_HASS_API),
                self._settings.get(CONF_PROMPT),
                user_input.extra_system_prompt,
            )
            cut_notice = partial(async_sentence, self.hass, user_input.language, TurnError("answer_cut_off"))
            await async_answer(
                self._client, chat_log, self.entity_id, self._options, cut_notice=cut_notice, meter=self._meter
            )
        except conversation.ConverseError as err:
            return err.as_conversation_result()
        except TurnError as err:
            return await self._async_apologize(user_input, chat_log, err)
        return conversation.async_get_result_from_chat_log(user_input, chat_log)

    @callback
    def _check_allowance(self) -> None:
        """Tell the user when the month's tokens come to their end."""
        async_check_allowance(self.hass, self._entry_id, self._subentry, self._meter)

    def _check_means(self) -> None:
        """Raise TurnError when this month's tokens are used up, or an API is gone, such as that of a removed entry."""
        if is_used_up(self._subentry, self._meter):
            raise TurnError("tokens_used_up")
        known = {api.id for api in llm.async_get_apis(self.hass)}
        if not known.issuperset(self._settings.get(CONF_LLM_HASS_API, ())):
            raise TurnError("api_missing")

    async def _async_apologize(
        self, user_input: conversation.ConversationInput, chat_log: conversation.ChatLog, error: TurnError
    ) -> conversation.ConversationResult:
        """End a turn that failed with a sentence, and leave a log that the next turn can go on from."""
        LOGGER.warning("%s could not answer: %s", self.entity_id, error.key)
        LOGGER.debug("The cause was", exc_info=error)  # Servers repeat parts of the request in their messages.
        sentence = await async_sentence(self.hass, user_input.language, error)
        chat_log.async_add_assistant_content_without_tools(
            conversation.AssistantContent(agent_id=self.entity_id, content=sentence)
        )
        response = intent.IntentResponse(language=user_input.language)
        response.async_set_error(intent.IntentResponseErrorCode.FAILED_TO_HANDLE, sentence)
        return conversation.ConversationResult(response=response, conversation_id=chat_log.conversation_id)
