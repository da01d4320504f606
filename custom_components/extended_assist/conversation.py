"""The agent as a conversation entity."""

from functools import partial
from typing import Literal, override

from homeassistant.components import conversation
from homeassistant.config_entries import ConfigSubentry
from homeassistant.const import CONF_LLM_HASS_API, CONF_PROMPT, MATCH_ALL
from homeassistant.core import HomeAssistant
from homeassistant.helpers import device_registry as dr, intent, llm
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from . import ExtendedAssistConfigEntry
from .claude.failures import TurnError, async_sentence
from .claude.loop import AgentOptions, async_answer
from .const import DOMAIN, LOGGER, SUBENTRY_CONVERSATION

PARALLEL_UPDATES = 0


async def async_setup_entry(
    hass: HomeAssistant,
    entry: ExtendedAssistConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add one entity for each agent."""
    for subentry in entry.get_subentries_of_type(SUBENTRY_CONVERSATION):
        async_add_entities([ClaudeAgent(entry, subentry)], config_subentry_id=subentry.subentry_id)


class ClaudeAgent(conversation.ConversationEntity):
    """An agent that answers with Claude and the APIs that the user picked."""

    _attr_has_entity_name = True
    _attr_name = None
    _attr_supports_streaming = True
    _attr_translation_key = "conversation"

    def __init__(self, entry: ExtendedAssistConfigEntry, subentry: ConfigSubentry) -> None:
        """Take the settings of an agent."""
        self._client = entry.runtime_data.client
        self._settings = subentry.data
        self._options = AgentOptions.of(subentry.data)
        self._attr_unique_id = subentry.subentry_id
        self._attr_device_info = dr.DeviceInfo(
            identifiers={(DOMAIN, subentry.subentry_id)},
            name=subentry.title,
            manufacturer="Extended Assist",
            model=self._options.model,
            entry_type=dr.DeviceEntryType.SERVICE,
        )
        if subentry.data.get(CONF_LLM_HASS_API):
            self._attr_supported_features = conversation.ConversationEntityFeature.CONTROL

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
        try:
            self._check_apis()
            await chat_log.async_provide_llm_data(
                user_input.as_llm_context(DOMAIN),
                self._settings.get(CONF_LLM_HASS_API),
                self._settings.get(CONF_PROMPT),
                user_input.extra_system_prompt,
            )
            cut_notice = partial(async_sentence, self.hass, user_input.language, TurnError("answer_cut_off"))
            await async_answer(self._client, chat_log, self.entity_id, self._options, cut_notice)
        except conversation.ConverseError as err:
            return err.as_conversation_result()
        except TurnError as err:
            return await self._async_apologize(user_input, chat_log, err)
        return conversation.async_get_result_from_chat_log(user_input, chat_log)

    def _check_apis(self) -> None:
        """Raise TurnError when an API that the agent uses is gone, such as the one of a removed entry."""
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
