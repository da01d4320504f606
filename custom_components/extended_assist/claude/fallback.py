"""The fallback agent, which answers if the model cannot."""

from contextvars import ContextVar
from itertools import takewhile
from typing import Any

from homeassistant.components import conversation
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import entity_registry as er, intent

from ..const import CONF_FALLBACK_AGENT, DOMAIN, LOGGER
from ..exposure.safe_log import log_unexpected

_handed_over: ContextVar[frozenset[str]] = ContextVar(f"{DOMAIN}_handed_over", default=frozenset())
"""The agents of this turn that failed; none is asked again."""


async def async_hand_over(
    hass: HomeAssistant,
    agent_id: str,
    fallback_id: str | None,
    user_input: conversation.ConversationInput,
    chat_log: conversation.ChatLog,
) -> conversation.ConversationResult | None:
    """Let the fallback agent answer in the same conversation; return None if it cannot or must not."""
    if fallback_id is None or not agent_exists(hass, fallback_id):
        return None
    failed = _handed_over.get() | {agent_id}
    if fallback_id in failed or _has_acted(chat_log):
        return None
    LOGGER.info("An agent hands over to another one")
    LOGGER.debug("%s hands over to %s", agent_id, fallback_id)
    listener = chat_log.delta_listener
    told: list[str] = []

    def listen(log: conversation.ChatLog, delta: dict[str, Any]) -> None:
        if delta.get("content") and delta.get("role") in (None, "assistant"):
            told.append(delta["content"])
        if listener is not None:
            listener(log, delta)

    token = _handed_over.set(failed)
    chat_log.delta_listener = listen
    try:
        result = await conversation.async_converse(
            hass,
            user_input.text,
            chat_log.conversation_id,
            user_input.context,
            language=user_input.language,
            agent_id=fallback_id,
            device_id=user_input.device_id,
            satellite_id=user_input.satellite_id,
            extra_system_prompt=user_input.extra_system_prompt,
        )
    except Exception:  # noqa: BLE001 - an agent of any integration; its failure must not hide the first one's
        log_unexpected("in the agent that was to stand in")
        return None
    finally:
        chat_log.delta_listener = listener
        _handed_over.reset(token)
    code = result.response.error_code
    if code in (intent.IntentResponseErrorCode.NO_INTENT_MATCH, intent.IntentResponseErrorCode.UNKNOWN):
        return None  # It did not understand or failed itself, so why the first could not answer is the better thing to hear.
    if not told and listener is not None:
        # Once speech has begun, only what is streamed is heard.
        speech = result.response.speech.get("plain", {}).get("speech", "")
        listener(chat_log, {"role": "assistant", "content": speech})
    return result


@callback
def agent_exists(hass: HomeAssistant, agent_id: str | None) -> bool:
    """Return whether there is such an agent."""
    return agent_id is not None and conversation.async_get_agent_info(hass, agent_id) is not None


def _has_acted(chat_log: conversation.ChatLog) -> bool:
    """Return whether a tool of this turn may have changed something; another agent would repeat the change."""
    tools = {tool.name: tool for tool in chat_log.llm_api.tools} if chat_log.llm_api else {}
    turn = takewhile(lambda content: not isinstance(content, conversation.UserContent), reversed(chat_log.content))
    called = {content.tool_name for content in turn if isinstance(content, conversation.ToolResultContent)}
    return any(not tools[name].annotations.read_only for name in called & tools.keys())


@callback
def is_fallback_loop(hass: HomeAssistant, subentry_id: str | None, fallback_id: str) -> bool:
    """Return whether a chain of fallback agents leads back to the agent."""
    entities = er.async_get(hass)
    seen: set[str] = set()
    while fallback_id not in seen:
        seen.add(fallback_id)
        entity = entities.async_get(fallback_id)
        if entity is None or entity.platform != DOMAIN or entity.config_subentry_id is None:
            return False
        if entity.config_subentry_id == subentry_id:
            return True
        entry = hass.config_entries.async_get_entry(entity.config_entry_id or "")
        subentry = entry.subentries.get(entity.config_subentry_id) if entry else None
        if subentry is None or (further := subentry.data.get(CONF_FALLBACK_AGENT)) is None:
            return False
        fallback_id = further
    return False
