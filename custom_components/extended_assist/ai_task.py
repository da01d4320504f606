"""A model as an AI task entity."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from inspect import signature
from typing import Any, override

import voluptuous as vol

from homeassistant.components import ai_task, conversation
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import chat_session, llm
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .claude.client import event_timeout
from .claude.coordinator import ExtendedAssistConfigEntry
from .claude.retry import TurnError, task_timeouts
from .claude.structured import answers_from, async_generate, instructions_for, structure_for
from .claude.usage import async_get_meters
from .const import CONF_BASE_URL, DOMAIN, SUBENTRY_AI_TASK
from .entity import ClaudeEntity

PARALLEL_UPDATES = 0

_EVALUATE = getattr(ai_task.AITaskEntityFeature, "EVALUATE", ai_task.AITaskEntityFeature(0))
"""True from Home Assistant 2026.11 on, which added evaluation tasks."""
_EVALUATION = {
    "result": "EvaluationTaskResult",
    "noul": "NoulAnswer",
    "choice": "ChoiceAnswer",
    "score": "ScoreAnswer",
}


async def async_setup_entry(
    hass: HomeAssistant,
    entry: ExtendedAssistConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add one entity for each AI task subentry."""
    meters = await async_get_meters(hass)
    for subentry in entry.get_subentries_of_type(SUBENTRY_AI_TASK):
        task = ClaudeTask(entry, subentry, meters.of(subentry.subentry_id))
        async_add_entities([task], config_subentry_id=subentry.subentry_id)


class ClaudeTask(ai_task.AITaskEntity, ClaudeEntity):
    """A model that generates text and data, and answers questions with probabilities, for scripts and automations."""

    _attr_supported_features = (
        ai_task.AITaskEntityFeature.GENERATE_DATA | ai_task.AITaskEntityFeature.SUPPORT_ATTACHMENTS | _EVALUATE
    )
    _attr_translation_key = "ai_task"

    @override
    async def _async_generate_data(
        self, task: ai_task.GenDataTask, chat_log: conversation.ChatLog
    ) -> ai_task.GenDataTaskResult:
        """Generate text, or data if the task has a structure."""
        data = await self._async_ask(chat_log, task.structure)
        return ai_task.GenDataTaskResult(conversation_id=chat_log.conversation_id, data=data)

    async def _async_answer_questions(self, task: Any) -> Any:
        """Answer questions about a state and attached files."""
        answers = await self.async_estimate(task.questions, task.state, task.attachments)
        types = {kind: getattr(ai_task, name) for kind, name in _EVALUATION.items()}
        return types["result"](
            answers={name: types[task.questions[name]["type"]](**answer) for name, answer in answers.items()}
        )

    # Home Assistant 2026.10 has neither the method nor the types.
    _async_evaluate = _async_answer_questions

    async def async_estimate(
        self,
        questions: Mapping[str, Mapping[str, Any]],
        state: Any,
        attachments: list[conversation.Attachment] | None = None,
    ) -> dict[str, dict[str, Any]]:
        """Return the answers to questions, with their probabilities."""
        with (
            self._chat_session() as session,
            conversation.async_get_chat_log(self.hass, session) as chat_log,
        ):
            context = llm.LLMContext(
                platform=DOMAIN, context=self._context, language=None, assistant=ai_task.DOMAIN, device_id=None
            )
            await chat_log.async_provide_llm_data(context, user_llm_prompt=ai_task.const.DEFAULT_SYSTEM_PROMPT)
            words = instructions_for(questions, state)
            chat_log.async_add_user_content(conversation.UserContent(content=words, attachments=attachments))
            data = await self._async_ask(chat_log, structure_for(questions))
        try:
            return answers_from(questions, data)
        except TurnError as err:
            raise _failure(err) from err

    def _chat_session(self) -> AbstractContextManager[chat_session.ChatSession]:
        """Open a new conversation; from Home Assistant 2026.11 on it belongs to the task's user."""
        takes_context = "context" in signature(chat_session.async_get_chat_session).parameters
        own: dict[str, Any] = {"context": self._context} if takes_context else {}
        return chat_session.async_get_chat_session(self.hass, **own)

    async def _async_ask(self, chat_log: conversation.ChatLog, structure: vol.Schema | None) -> Any:
        """Return the answer to the last message, in a structure if there is one."""
        try:
            patience = task_timeouts(event_timeout(self._entry.data[CONF_BASE_URL]))
            turn = self._turn(chat_log, self.hass.config.language, patience)
            return await async_generate(turn, structure)
        except TurnError as err:
            self._tell_failed(err, self._context)
            raise _failure(err) from err


def _failure(error: TurnError) -> HomeAssistantError:
    """Return a translated error."""
    return HomeAssistantError(
        translation_domain=DOMAIN, translation_key=error.key, translation_placeholders=error.placeholders
    )
