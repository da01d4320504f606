"""Triggers that exposure alone does not bound: events, MQTT messages, webhooks, tags and sentences.

Each kind has a row here with its keys and its bound; kinds without a row are refused.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
import re
from typing import Any, Final

from hassil.errors import HassilError
from hassil.parse_expression import parse_sentence
from hassil.sample import sample_expression

from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.template import is_template_string

from ..confirmation.reply_parser import Reply, parse_reply
from ..confirmation.wording import LANGUAGES
from ..exposure.entities import Exposure
from ..results import ToolError, texts_in
from .automation_context import OwnParts
from .targets import texts

BOUNDED: Final = frozenset({"command", "event_type", "tag_id", "topic", "webhook_id"})
"""Keys that identify the event or topic: they are compared as a whole, so no entity ids are searched in them."""
LISTED: Final[Mapping[str, tuple[str, str]]] = {
    "event": ("event_type", ""),
    "mqtt": ("topic", "mqtt:"),
    "webhook": ("webhook_id", "webhook:"),
}
"""Kinds that the options must list: the key with the id, and the prefix of the list's items."""
KEYS: Final[Mapping[str, frozenset[str]]] = {
    "conversation": frozenset({"command"}),
    "event": frozenset({"event_type", "event_data"}),
    "mqtt": frozenset({"topic", "payload", "value_template", "qos", "encoding"}),
    "tag": frozenset({"tag_id"}),
    "webhook": frozenset({"webhook_id", "allowed_methods", "local_only"}),
}
"""The keys of each of these kinds."""
REFUSED: Final[Mapping[str, str]] = {
    "geo_location": "it would follow what is not exposed; use a zone and an exposed person or tracker",
    "persistent_notification": "notifications can be about what is not exposed; use a trigger of the entity they are about",
}
"""Kinds that are always refused, with the reason and an alternative."""
ANSWER: Final = "mobile_app_notification_action"
"""The event that a pressed notification button fires."""
EVENTS: Final[Mapping[str, str | None]] = {
    ANSWER: "action",
    **dict.fromkeys(
        (f"timer.{what}" for what in ("cancelled", "finished", "paused", "restarted", "started")), "entity_id"
    ),
    **dict.fromkeys(("homeassistant_start", "homeassistant_started", "homeassistant_stop")),
}
"""Events that need not be listed, with the key of the data that bounds them; None if they carry no data."""

_NEVER_EVENTS = re.compile(
    r"\*|state_(changed|reported)|call_service|automation_triggered|script_started|logbook_entry|system_log_event"
    r"|service_(registered|removed)|.*registry_updated|user_(added|removed|updated)|component_loaded|data_entry_flow_.*"
    r"|recorder_.*|persistent_notifications?_.*"
)
_LISTED = re.compile(r"[a-zA-Z0-9_.:-]{1,64}|mqtt:[^#+\0]{1,250}|webhook:[^\s/]{1,250}")
_SENTENCES = 200
"""The number of variants of one sentence that are checked."""
_SHORTEST = 4
"""The fewest characters of a sentence; some languages need no more."""


def wrongly_listed(listed: list[str]) -> tuple[str, str] | None:
    """Return the first listed trigger that may not be listed, with the translation key of the reason, or None."""
    for item in listed:
        if _NEVER_EVENTS.fullmatch(item):
            return item, "never_a_trigger"
        if not _LISTED.fullmatch(item):
            return item, "not_a_trigger"
    return None


@dataclass(frozen=True, slots=True)
class ListedTriggers:
    """The check of these triggers in one automation."""

    hass: HomeAssistant
    exposure: Exposure
    listed: frozenset[str]
    """The triggers that the options list."""
    own: OwnParts

    @callback
    def check(self, kind: str, part: Mapping[str, Any], place: str) -> None:
        """Raise ToolError, with the place, the reason and an alternative, unless the trigger is bounded."""
        if any(
            is_template_string(text)
            for text, path in texts_in(part, keys=True)
            if path[:1] not in (("variables",), ("enabled",), ("value_template",))
        ):
            raise ToolError(f"{place}: what a template makes of this cannot be known. Write the values themselves.")
        if not KEYS[kind] & BOUNDED & part.keys():
            (key,) = KEYS[kind] & BOUNDED
            raise ToolError(
                f"{place}: a trigger of the type '{kind}' needs '{key}', or it would hear of everything. Give it."
            )
        match kind:
            case "event":
                for event_type in texts(part.get("event_type"), f"{place}.event_type"):
                    self._event(event_type, part.get("event_data"), place)
            case "mqtt" | "webhook":
                key, prefix = LISTED[kind]
                for text in texts(part.get(key), f"{place}.{key}"):
                    if f"{prefix}{text}" not in self.listed:
                        raise _unlisted(f"{place}.{key}", kind, f"{prefix}{text}")
            case "tag":
                for tag_id in texts(part.get("tag_id"), f"{place}.tag_id"):
                    self._tag(tag_id, f"{place}.tag_id")
            case "conversation":
                for sentence in texts(part.get("command"), f"{place}.command"):
                    _check_sentence(sentence, f"{place}.command")

    def _event(self, event_type: str, data: Any, place: str) -> None:
        """Check an event by its type and by the key of its data that bounds it."""
        if _NEVER_EVENTS.fullmatch(event_type):
            raise ToolError(
                f"{place}.event_type: '{event_type}' tells of everything in the home, so it is never a trigger for "
                "assistants. Use a trigger of the entities that it is about."
            )
        if event_type in self.listed:
            return
        if event_type not in EVENTS:
            raise _unlisted(f"{place}.event_type", "event", event_type)
        if (key := EVENTS[event_type]) is None:
            return
        value = data.get(key) if isinstance(data, Mapping) else None
        if event_type == ANSWER:
            if not isinstance(value, str) or value not in self.own.answers:
                sent = ", ".join(sorted(self.own.answers))
                raise ToolError(
                    f"{place}.event_data.{key}: only answers to what this automation itself sends, as data.data.actions of a "
                    "message to a phone, may be waited for; name the id of one, as a text. "
                    + (f"Use one of {sent}." if sent else "Give the message such actions first.")
                )
        elif not isinstance(value, str) or not self.exposure.is_exposed(value):
            raise ToolError(
                f"{place}.event_data.{key}: without an exposed entity there, '{event_type}' would tell of hidden ones too. "
                "Name it by its id."
            )

    def _tag(self, tag_id: str, place: str) -> None:
        """Check a tag: its tag entity must be exposed."""
        entity_id = er.async_get(self.hass).async_get_entity_id("tag", "tag", tag_id)
        if entity_id is None or not self.exposure.is_exposed(entity_id):
            raise ToolError(
                f"{place}: the tag '{tag_id}' was not found or is not exposed. Tell the user to expose the entity of the tag, "
                "under Settings, Voice assistants."
            )


def _unlisted(place: str, kind: str, listed: str) -> ToolError:
    """Return the error for a trigger that the options do not list; it is the same whether or not it exists."""
    what = {"event": "an event of this type", "mqtt": "this topic", "webhook": "this webhook"}[kind]
    return ToolError(
        f"{place}: {what} could be about what is not exposed, so it can be used only where the options of Extended Assist "
        f"list it. Use an entity, or tell the user to list '{listed}' there under 'Further triggers'."
    )


def _check_sentence(sentence: str, place: str) -> None:
    """Refuse a sentence that matches anything, or that users say to answer a question."""
    if any(mark in sentence for mark in "{}<>"):
        raise ToolError(f"{place}: a gap would hear whatever is said to Assist. Write the words themselves.")
    try:
        ways = list(islice(sample_expression(parse_sentence(sentence).expression), _SENTENCES + 1))
    except (HassilError, ValueError) as err:
        raise ToolError(
            f"{place}: this cannot be read as a sentence. Write plain words, with [] and (|) at most."
        ) from err
    if len(ways) > _SENTENCES:
        raise ToolError(f"{place}: this can be said in more than {_SENTENCES} ways. Write fewer of them.")
    for way in ways:
        if len(way.strip()) < _SHORTEST or any(parse_reply(way, language) is not Reply.OTHER for language in LANGUAGES):
            raise ToolError(
                f"{place}: '{way.strip()}' is heard as an answer to a question, or could be said by chance. Write a sentence "
                "that says what is wanted."
            )
