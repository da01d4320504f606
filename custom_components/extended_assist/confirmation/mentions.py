"""Check whether the user's own words mention the entities that a call would act on: by name, area or kind."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
import json
from pathlib import Path
import re
from typing import Any, Final
import unicodedata

from homeassistant.components.conversation import AssistantContent, ChatLog, ToolResultContent, UserContent
from homeassistant.core import HomeAssistant
from homeassistant.helpers import area_registry as ar, floor_registry as fr, llm
from homeassistant.helpers.json import json_dumps

from ..calls.call import ToolCall
from ..calls.plan import Plan, Step
from ..const import DOMAIN
from ..exposure.entities import ExposedEntity
from ..exposure.fixed_values import is_time
from ..results import texts_in
from .untrusted_text import brings_outside_text, first_mark, unwrapped

KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    kind: tuple(words.split())
    for kind, words in json.loads((Path(__file__).parent / "kinds.json").read_text(encoding="utf-8")).items()
}
"""Words for kinds of things, in ten languages: beginnings of words without accents; after ~, any part of a word."""
_MORE_KINDS: Final = {
    "blind": ("cover",),
    "curtain": ("cover",),
    "garage": ("garage", "door", "gate"),
    "gate": ("gate", "door"),
    "group": ("light", "switch"),
    "humidifier": ("humidifier", "climate"),
    "input_boolean": ("helper",),
    "input_select": ("helper",),
    "list": ("todo",),
    "media": ("media_player",),
    "outlet": ("switch",),
    "remote": ("media_player",),
    "select": ("helper",),
    "shade": ("cover",),
    "shutter": ("cover",),
    "switch": ("switch",),
    "volume": ("media_player",),
    "water_heater": ("water_heater", "climate"),
}
_ENDS: Final = frozenset({"turn_off", "close_cover", "lock", "media_pause", "media_stop", "stop_cover"})
_AT_NIGHT: Final = frozenset({"cover", "fan", "light", "lock", "media_player"})
"""Domains that a good-night message may turn off, close, lock or stop."""
_EVERYWHERE: Final = frozenset(
    {
        *("the", "and", "for", "with", "room", "home", "house", "main", "device", "smart", "news", "today", "zimmer"),
        *("haus", "maison", "casa", "pokoj", "dom", "quarto", "del", "della", "von"),
        *("you", "your", "du", "dir", "dich", "dein", "deine", "vous", "votre", "usted", "tuo", "tua", "jij", "jouw"),
    }
)
"""Words that are too common in names to identify an entity, and words that address the assistant."""
_ENDINGS: Final = ("", "s", "es", "ed", "d", "ing", "n", "en", "e")
"""The endings with which short words match."""
_PROTECTING: Final = frozenset({"alarm_control_panel", "automation", "siren"})
"""Domains whose entities a part of the name does not mention."""
_SAY_LATER: Final = f"{DOMAIN}.say_later"
_MAX_READ: Final = 2_500
"""Characters at each end of a long message that are searched for names."""
_MAX_LITTLE: Final = 20_000
"""Maximum characters of a tool result that counts as short."""
_MAX_TOLD: Final = 5
"""Maximum entities in a tool result for them to count as mentioned in the user's next message."""
_LETTERS = str.maketrans({"ł": "l", "đ": "d", "ø": "o", "æ": "ae", "œ": "oe", "\u0131": "i"})
_UNSPACED = re.compile(r"[\u3040-\u9fff\uac00-\ud7a3]")
_CHINESE = re.compile(r"[\u4e00-\u9fff]+")
_CAMEL = re.compile(r"[A-Z]?[a-z]+")


def _folded(text: str) -> str:
    """Return the words of a text without case, accents and punctuation, with one space around each word."""
    plain = unicodedata.normalize("NFKD", text.casefold()).translate(_LETTERS)
    bare = unicodedata.normalize("NFC", "".join(char for char in plain if not unicodedata.combining(char)))
    return f" {' '.join(re.findall(r'[^\W_]+', bare))} "


folded = lru_cache(maxsize=5_000)(_folded)
"""The cached version of _folded, for frequent texts such as names."""


class Said:
    """The words of one user message."""

    def __init__(self, message: str) -> None:
        """Split the message into words; of a long message only both ends."""
        self._text = _folded(
            message if len(message) <= 2 * _MAX_READ else f"{message[:_MAX_READ]} {message[-_MAX_READ:]}"
        )
        self._unspaced = self._text.replace(" ", "")
        self._words = set(self._text.split())
        self.names_in: dict[str, bool] = {}
        """By domain, whether the message names an entity of it; filled when needed."""

    def has_kind(self, *kinds: str) -> bool:
        """Return whether the message has a word for one of some kinds."""
        return any(map(self._has_beginning, (word for kind in kinds for word in KINDS.get(kind, ()))))

    def has_word(self, word: str) -> bool:
        """Return whether the message has a word of a name, in any form or within a compound word."""
        if _UNSPACED.search(word):
            return word in self._unspaced
        if len(word) < 5:
            return self.has_form(word)
        stem = word[: max(4, len(word) - 2)]
        return any(said.startswith(stem) or word in said or (len(said) >= 5 and said in word) for said in self._words)

    def has_form(self, word: str) -> bool:
        """Return whether the message has exactly this word, in any of its forms."""
        return any(f"{word}{end}" in self._words for end in _ENDINGS)

    def has_name(self, name: str) -> bool:
        """Return whether the message has all words of a name."""
        words = [word for word in folded(name).split() if word not in _EVERYWHERE] or folded(name).split()
        return bool(words) and (all(map(self.has_word, words)) or "".join(words) in self._unspaced)

    def has_words_of(self, names: Iterable[str], but: Iterable[str]) -> bool:
        """Return whether the message has a distinctive word of one of the names that the other names do not have."""
        left_out = {*_EVERYWHERE, *(word for name in but for word in folded(name).split())}
        words = {word for name in names for whole in folded(name).split() for word in _parts(whole)} - left_out
        return any(
            self.has_word(word) for word in words if (len(word) >= 4 or _UNSPACED.search(word)) and not _is_kind(word)
        )

    def _has_beginning(self, word: str) -> bool:
        if _UNSPACED.search(word):
            return word in self._unspaced
        if word.startswith("~"):
            return any(word[1:] in said for said in self._words)
        if "_" in word:
            return f" {word.replace('_', ' ')}" in self._text
        if len(word) < 4:
            return word in self._words
        return any(said.startswith(word) for said in self._words)


def _parts(word: str) -> Iterable[str]:
    """Return a word, and for a Chinese word also its endings, because the last characters name the thing."""
    return [word[at:] for at in range(len(word) - 1)] if len(word) > 1 and _CHINESE.fullmatch(word) else [word]


@lru_cache(maxsize=2_000)
def _is_kind(word: str) -> bool:
    """Return whether a word only names a kind of thing, which `has_kind` checks separately."""
    return any(map(Said(word).has_kind, KINDS))


def is_named(call: ToolCall, plan: Plan) -> bool:
    """Return whether the user mentioned all entities of a plan, in this message or earlier in the conversation.

    Entities that earlier calls acted on count, because they were mentioned or confirmed. The entities of an earlier
    short result or its arguments count too, if no untrusted text could have chosen them.
    """
    if (chat_log := call.caller.chat_log) is None:
        return False
    messages = [Said(one.content) for one in chat_log.content if isinstance(one, UserContent)]
    told = cache(lambda: _told_before(chat_log, call))
    return all(_is_step_named(call, told, messages, step) for step in plan.steps)


def is_said(chat_log: ChatLog, value: Any) -> bool:
    """Return whether the user's messages hold all texts and numbers in a value; a boolean counts as not said."""
    if isinstance(value, Mapping):
        return all(is_said(chat_log, item) for item in value.values())
    if isinstance(value, list | tuple):
        return all(is_said(chat_log, item) for item in value)
    if value is None or isinstance(value, bool):
        return value is None
    wanted = folded(str(value))
    if _UNSPACED.search(wanted):
        wanted = wanted.strip()
    return any(wanted in folded(one.content) for one in chat_log.content if isinstance(one, UserContent))


def _is_step_named(call: ToolCall, told: Callable[[], list[str]], messages: list[Said], step: Step) -> bool:
    domain, _, service = step.action.partition(".")
    if service in _ENDS and domain not in _PROTECTING and messages and _ends_all(messages[-1], domain):
        return True
    if not step.entity_ids:
        return any(_is_tool_named(call, said, step) for said in messages)
    return all(
        (entity := call.exposure.entity(entity_id)) is not None
        and (any(_is_entity_named(call, said, entity) for said in messages) or _was_told(told(), entity))
        for entity_id in step.entity_ids
    )


def _ends_all(said: Said, domain: str) -> bool:
    """Return whether a message means to end everything in a domain: "everything off", or "good night"."""
    return (said.has_kind("all") and said.has_kind("off")) or (domain in _AT_NIGHT and said.has_kind("bedtime"))


def _is_tool_named(call: ToolCall, said: Said, step: Step) -> bool:
    """Return whether the user mentioned a step without entities: the kind of tool, such as a timer, or all arguments.

    For a reminder the arguments must be said, because its text later counts as the user's own words.
    """
    domain = step.action.partition(".")[0]
    name = call.tool_input.tool_name if call.tool_input and step.action != _SAY_LATER else ""
    words = [word.lower() for word in _CAMEL.findall(name.rpartition("__")[2]) if len(word) > 3]
    kinds = [domain, *words, *(word.removesuffix("s") for word in words)]
    if any(map(said.has_form, words)) or any(said.has_kind(kind, *_MORE_KINDS.get(kind, ())) for kind in kinds):
        return True
    # Users do not say a time in its written format, so times are not compared.
    values = [text for text, _ in texts_in(call.arguments) if not is_time(text)]
    return bool(values) and all(map(said.has_name, values))


def _is_entity_named(call: ToolCall, said: Said, entity: ExposedEntity) -> bool:
    """Return whether a message names an entity, or its kind without naming another entity of that domain."""
    if _is_itself_named(call.hass, said, entity):
        return True
    if not said.has_kind(*_kinds(entity)):
        return False
    if entity.domain not in said.names_in:
        said.names_in[entity.domain] = any(
            other.domain == entity.domain and _is_itself_named(call.hass, said, other)
            for other in call.exposure.entities.values()
        )
    return not said.names_in[entity.domain]


def _is_itself_named(hass: HomeAssistant, said: Said, entity: ExposedEntity) -> bool:
    """Return whether a message has an entity's name, a distinctive part of the name, its area or its floor."""
    places = entity.area_names + _floor_names(hass, entity.area)
    if any(map(said.has_name, (*entity.names, *places))):
        return True
    return entity.domain not in _PROTECTING and said.has_words_of(entity.names, but=places)


def _kinds(entity: ExposedEntity) -> set[str]:
    """Return the kinds under which people may mention an entity."""
    kind = str(entity.state.attributes.get("device_class", ""))
    return {entity.domain, kind, *_MORE_KINDS.get(entity.domain, ()), *_MORE_KINDS.get(kind, ())}


def _floor_names(hass: HomeAssistant, area_name: str) -> tuple[str, ...]:
    area = ar.async_get(hass).async_get_area_by_name(area_name) if area_name else None
    floor = fr.async_get(hass).async_get_floor(area.floor_id) if area and area.floor_id else None
    return (floor.name, *sorted(floor.aliases)) if floor else ()


def _was_told(told: list[str], entity: ExposedEntity) -> bool:
    """Return whether an entity's id or name is in one of the texts of earlier turns."""
    names = (name.casefold() for name in (entity.entity_id, *entity.names) if name)
    whole = [re.compile(rf"(?<!\w){re.escape(name)}(?!\w)") for name in names]
    return any(name.search(text) for text in told for name in whole)


def _told_before(chat_log: ChatLog, call: ToolCall) -> list[str]:
    """Return the texts of earlier turns whose entities count as mentioned, in lower case.

    These are results of calls that acted, short results of calls that read, and call arguments, without those that
    untrusted text may have written or chosen.
    """
    found: list[str] = []
    last = max((at for at, one in enumerate(chat_log.content) if isinstance(one, UserContent)), default=0)
    mark = first_mark(chat_log)
    reading = {tool.name for tool in (chat_log.llm_api.tools if chat_log.llm_api else ()) if _only_reads(tool)}
    asked: dict[str, str] = {}
    asked_freely: set[str] = set()
    for at, content in enumerate(chat_log.content[:last]):
        if isinstance(content, AssistantContent):
            calls = {one.id: json_dumps(one.tool_args).casefold() for one in content.tool_calls or ()}
            asked |= calls
            if mark is None or at < mark:
                asked_freely |= calls.keys()
        if not isinstance(content, ToolResultContent) or content.result.error:
            continue
        result: Mapping[str, Any] = content.result.data
        if result.get("done") is False:
            continue
        # Untrusted text mentions nothing for the user, and from its first occurrence on it can choose which results are
        # read.
        is_read, is_late = content.tool_name in reading, mark is not None and at >= mark
        told = "" if brings_outside_text(chat_log, content) or (is_read and is_late) else json_dumps(result).casefold()
        if content.tool_call_id in asked_freely and (is_late or not is_read):
            told += asked.get(content.tool_call_id, "")
        if is_read and not _is_little(call, told):
            continue
        found.append(told)
    return found


def _is_little(call: ToolCall, told: str) -> bool:
    if len(told) > _MAX_LITTLE or told.count("names: ") > _MAX_TOLD:
        return False
    return sum(one in told for one in call.exposure.ids) <= _MAX_TOLD


def _only_reads(tool: llm.Tool) -> bool:
    return bool(unwrapped(tool).annotations.read_only)
