"""A model as an AI Task entity."""

from typing import override

from homeassistant.components import ai_task, conversation
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from . import ExtendedAssistConfigEntry
from .claude.failures import TurnError
from .claude.structured import async_generate
from .claude.usage import async_get_meters
from .const import DOMAIN, SUBENTRY_AI_TASK
from .entity import ClaudeEntity

PARALLEL_UPDATES = 0

TASK_TIMEOUT = 900.0
"""Seconds for one response: nobody stands and waits, and a task may ask for a long text."""


async def async_setup_entry(
    hass: HomeAssistant,
    entry: ExtendedAssistConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add one entity for each subentry for tasks."""
    meters = await async_get_meters(hass)
    for subentry in entry.get_subentries_of_type(SUBENTRY_AI_TASK):
        task = ClaudeTask(entry, subentry, meters.of(subentry.subentry_id))
        async_add_entities([task], config_subentry_id=subentry.subentry_id)


class ClaudeTask(ai_task.AITaskEntity, ClaudeEntity):
    """A model that generates text and data for scripts and automations."""

    _attr_supported_features = (
        ai_task.AITaskEntityFeature.GENERATE_DATA | ai_task.AITaskEntityFeature.SUPPORT_ATTACHMENTS
    )
    _attr_translation_key = "ai_task"

    @override
    async def _async_generate_data(
        self, task: ai_task.GenDataTask, chat_log: conversation.ChatLog
    ) -> ai_task.GenDataTaskResult:
        """Generate text, or data where the task has a structure."""
        try:
            turn = self._turn(chat_log, self.hass.config.language)
            turn.time_limit = TASK_TIMEOUT
            data = await async_generate(turn, task.structure)
        except TurnError as err:
            raise HomeAssistantError(
                translation_domain=DOMAIN, translation_key=err.key, translation_placeholders=err.placeholders
            ) from err
        return ai_task.GenDataTaskResult(conversation_id=chat_log.conversation_id, data=data)
