"""Who gets a message: numbers, addresses and rooms that are nobody else's."""

from collections.abc import Mapping
from typing import Any

from homeassistant.const import CONF_ACTION, CONF_SERVICE, CONF_SERVICE_DATA, CONF_SERVICE_DATA_TEMPLATE, CONF_TARGET

SECRET = "(secret)"  # noqa: S105 - what is told in the place of one

_SENT = (CONF_SERVICE_DATA, CONF_SERVICE_DATA_TEMPLATE)
_MESSENGERS = frozenset({"matrix", "notify", "telegram_bot"})
"""Domains whose actions send a message to the numbers, addresses and rooms in `target`."""
_RECIPIENTS = frozenset({"chat_id", "phone", "phone_number", "recipient", "recipients"})
"""What says who gets a message in the data of any action."""


def without_recipients(step: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a step of an automation without the numbers and addresses that its message is sent to."""
    action = step.get(CONF_ACTION, step.get(CONF_SERVICE))
    if not isinstance(action, str):
        return step
    hides = _RECIPIENTS | ({CONF_TARGET} if action.strip().lower().partition(".")[0] in _MESSENGERS else set())
    sent = {key: data for key in _SENT if isinstance(data := step.get(key), Mapping) and hides & data.keys()}
    return {**step, **{key: {**data, **dict.fromkeys(hides & data.keys(), SECRET)} for key, data in sent.items()}}


def without_all_recipients(value: Any) -> Any:
    """Return a value with every step in it as without_recipients has it."""
    if isinstance(value, Mapping):
        return {key: without_all_recipients(item) for key, item in without_recipients(value).items()}
    return list(map(without_all_recipients, value)) if isinstance(value, list) else value
