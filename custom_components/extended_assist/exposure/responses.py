"""Responses of actions as an assistant may see them: plain data, filtered."""

from collections.abc import Callable, Mapping
from typing import Any, override

import orjson

from homeassistant.core import HomeAssistant, State, callback
from homeassistant.helpers.json import json_encoder_default

from ..results import texts_in
from .entities import Exposure, is_secret_text

_NOT_SUPPORTED = "the entity does not support it. Choose another entity or action"
_NOT_TOLD = "(not told: it names something that is not exposed, or is secret)"


class AnswerExposure(Exposure):
    """The exposure for responses: it adds the entities that the user wrote into the function."""

    def __init__(self, hass: HomeAssistant, assistant: str, written: frozenset[str]) -> None:
        """Store the entities that were written."""
        super().__init__(hass, assistant)
        self._written = written

    @override
    @callback
    def _should_expose(self, state: State) -> bool:
        return state.entity_id in self._written or super()._should_expose(state)


def visible_response(exposure: Exposure, response: Any) -> Any:
    """Return a response as plain data without credentials and without ids or names of hidden entities, or None."""
    visible = exposure.visible_value(plain(exposure, response))
    if visible is None:
        return _NOT_TOLD if isinstance(response, str) and is_secret_text(response) else None
    hides = exposure.names_hidden(" ".join(text for text, _ in texts_in(visible, keys=True)))
    return _without_names(visible, exposure.names_hidden) if hides else visible


def safe_reason(exposure: Exposure, error: Exception) -> str:
    """Return the text of an error, or a neutral text if it names something hidden."""
    if isinstance(error, NotImplementedError):
        return _NOT_SUPPORTED  # What Home Assistant's entities raise where an integration does not override a method.
    text = str(error) or type(error).__name__
    return "the reason names something that is not exposed" if exposure.names_hidden(text) else text


def plain(exposure: Exposure, value: Any) -> Any:
    """Return a value as JSON data, in which Home Assistant's serializer converts objects, or None."""

    def default(item: Any) -> Any:
        return _plain_state(exposure, item) if isinstance(item, State) else json_encoder_default(item)

    try:
        return orjson.loads(orjson.dumps(value, default=default, option=orjson.OPT_NON_STR_KEYS))
    except orjson.JSONEncodeError, orjson.JSONDecodeError:
        return None


def _plain_state(exposure: Exposure, state: State) -> dict[str, Any] | None:
    """Return the visible part of an exposed entity's state, without its context; None for a hidden entity."""
    if not exposure.is_exposed(state.entity_id):
        return None
    return {
        "entity_id": state.entity_id,
        "state": state.state,
        "attributes": exposure.visible_attributes(state),
        "last_changed": state.last_changed,
        "last_updated": state.last_updated,
    }


def _without_names(value: Any, names_hidden: Callable[[str], bool]) -> Any:
    """Return a response without texts that name something hidden."""
    if isinstance(value, Mapping):
        return {key: _without_names(item, names_hidden) for key, item in value.items() if not names_hidden(str(key))}
    if isinstance(value, list):
        return [_without_names(item, names_hidden) for item in value]
    return _NOT_TOLD if isinstance(value, str) and names_hidden(value) else value
