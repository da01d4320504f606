"""Describe actions for questions, in English for a model and in the user's language; split long questions."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
import json
from pathlib import Path
from textwrap import wrap
from typing import Any, Final
import unicodedata

from homeassistant.core import HomeAssistant
from homeassistant.helpers.json import json_dumps
from homeassistant.helpers.translation import async_get_translations

from ..calls.call import ToolCall
from ..calls.plan import Frame, Plan, Step
from ..calls.visible_text import name_shown, one_line, quoted
from ..exposure.entities import Exposure
from ..exposure.groups import is_group, members_of
from .consequential import READ, TRIGGER, leaves

MAX_NAMED = 12
"""Maximum entities of one domain that are named; more are described by their number and domain."""
_ALWAYS_NAMED = frozenset(
    {"alarm_control_panel", "automation", "button", "cover", "lock", "scene", "script", "siren", "valve"}
)
"""Domains whose entities are always named."""
_UNTOLD = "something that cannot be told"


def describe(exposure: Exposure, action: str, entity_ids: Iterable[str], data: Mapping[str, Any]) -> str:
    """Return a spoken description of an action, in English."""
    names = names_of(exposure, entity_ids)
    verb = action.split(".")[1].replace("_", " ").capitalize()
    parts = [f"{verb}: {spoken_list(names)} ({action})" if names else f"{verb} ({action})"]
    parts += [_spoken(key, key.replace("_", " "), value) for key, value in data.items()]
    return ", ".join(parts)


def step_for(
    call: ToolCall, action: str, entity_ids: Iterable[str], data: Mapping[str, Any], frame: Frame = ()
) -> Step:
    """Return the step for an action on entities; groups are listed with their members."""
    hass, exposure = call.hass, call.exposure
    moved: dict[str, None] = {}
    for entity_id in entity_ids:
        moved |= dict.fromkeys([entity_id, *(members_of(hass, entity_id) if is_group(hass, entity_id) else ())])
    if action == TRIGGER:
        frame = (*frame, *_triggered(call, moved, data))
    return framed(exposure, Step(action, tuple(moved), data, describe(exposure, action, moved, data)), frame)


def _triggered(call: ToolCall, entity_ids: Iterable[str], data: Mapping[str, Any]) -> Frame:
    """Return the frame for automations triggered by hand: their actions, and whether their conditions are skipped."""
    done: dict[str, dict[str, None]] = {}
    for action, entity_id, given in leaves(call.hass, Step(TRIGGER, tuple(entity_ids), data)):
        if given is READ or (action == TRIGGER and entity_id in entity_ids):
            continue
        entity = call.exposure.entity(entity_id) if entity_id else None
        is_told = bool(action) and (entity is not None or not entity_id) and not call.exposure.names_hidden(action)
        verb = action.partition(".")[2].replace("_", " ") if is_told else _UNTOLD
        done.setdefault(verb, {}).update({name_shown(entity): None} if is_told and entity else {})
    parts = [f"{verb} {spoken_list(list(names)[:MAX_NAMED])}".strip() for verb, names in done.items()]
    frame: Frame = (("does", "; ".join(parts)),) if parts else ()
    return frame if data.get("skip_condition") is False else (*frame, ("skips", ""))


def framed(exposure: Exposure, step: Step, frame: Frame) -> Step:
    """Return a step whose words and frame say more, such as when it would run."""
    words = _framed(step.words, names_of(exposure, step.entity_ids), frame, words_for("en") or {})
    return Step(step.action, step.entity_ids, step.data, words, frame)


def names_of(exposure: Exposure, entity_ids: Iterable[str]) -> list[str]:
    """Return the names of the exposed entities; many of one harmless domain are counted."""
    exposed = [entity for entity_id in entity_ids if (entity := exposure.entity(entity_id))]
    counts = Counter(entity.domain for entity in exposed)
    many = {domain for domain, count in counts.items() if count > MAX_NAMED and domain not in _ALWAYS_NAMED}
    named = [name_shown(entity) for entity in exposed if entity.domain not in many]
    return [*named, *(f"{counts[domain]} of the kind {domain.replace('_', ' ')}" for domain in sorted(many))]


def spoken_list(names: list[str]) -> str:
    """Return names as one text, with commas and "and"."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


async def async_lines(
    hass: HomeAssistant, exposure: Exposure, plan: Plan, language: str | None, *, is_read: bool = True
) -> list[str]:
    """Return a line for each step, in the user's language if Home Assistant has the action's name in it."""
    if not plan.steps:
        return [one_line(plan.sentence)]
    known = known_language(language)
    if known in (None, "en"):
        lines = [step.written if is_read else one_line(step.words) for step in plan.steps]
        return [line.replace(f" ({step.action})", "") for step, line in zip(plan.steps, lines, strict=True)]
    domains = {step.action.split(".")[0] for step in plan.steps if step.action}
    texts = await async_get_translations(hass, known, "services", domains & hass.config.components)
    lines = [one_line(_line(exposure, step, texts, words_for(known) or {})) for step in plan.steps]
    shown = [step.shown_lines if is_read else "" for step in plan.steps]
    return ["\n".join(filter(None, both)) for both in zip(lines, shown, strict=True)]


def _line(exposure: Exposure, step: Step, texts: Mapping[str, str], says: Mapping[str, str]) -> str:
    """Return the line of a step in a language, or in English if the action has no name in that language."""
    key = f"component.{step.action.replace('.', '.services.')}"
    if (verb := texts.get(f"{key}.name")) is None and not any(kind == "back" for kind, _ in step.frame):
        return step.words
    names = names_of(exposure, step.entity_ids)
    told = [f"{verb}: {', '.join(names)}" if names else str(verb)]
    told += [_spoken(name, texts.get(f"{key}.fields.{name}.name", name), value) for name, value in step.data.items()]
    return _framed(", ".join(told), names, step.frame, says)


def _framed(words: str, names: list[str], frame: Frame, says: Mapping[str, str]) -> str:
    for kind, value in reversed(frame):
        words = says[kind].format(time=value, what=words, name=", ".join(names), values=value)
    return words


def _spoken(key: str, name: str, value: Any) -> str:
    """Return the text of one field of the data."""
    text = quoted(value) if isinstance(value, str) else one_line(json_dumps(value))
    if key.endswith("_pct"):
        return f"{name.removesuffix(' pct')} {text} %"
    return f"{name} {text}"


_TEXTS: Final[Mapping[str, Mapping[str, Mapping[str, str]]]] = json.loads(
    (Path(__file__).parent / "words.json").read_text(encoding="utf-8")
)
LANGUAGES: Final = frozenset(_TEXTS)
"""The languages of the texts; replies are parsed in them, too."""
ENGLISH: Final = "en"


def known_language(language: str | None) -> str | None:
    """Return the known language for a tag such as de-AT, or None."""
    wanted = (language or ENGLISH).replace("_", "-").casefold()
    for known in _TEXTS:
        if wanted == known.casefold() or wanted.split("-")[0] == known.split("-")[0].casefold():
            return known
    return None


def words_for(language: str | None) -> Mapping[str, str] | None:
    """Return the texts of a language; None if they do not exist, as for traditional Chinese."""
    if (known := known_language(language)) is None or (language or "").lower() in ("zh-hant", "zh-tw", "zh-hk"):
        return None
    return _TEXTS[known]["says"]


def say(key: str, language: str | None, **values: str) -> str:
    """Return the text of a key in a language, or in English if the language is unknown."""
    return (words_for(language) or _TEXTS[ENGLISH]["says"])[key].format(**values)


MAX_HEARD: Final = 400
"""Maximum characters of a spoken portion: half a minute, after which listeners forget the beginning."""
MAX_READ: Final = 4_000
"""Maximum characters of a written portion: two screens of a phone, which the user can scroll back."""
_DENSE: Final = 3
"""The weight of one Chinese, Japanese or Korean character, because it takes longer to say."""
_SHARE: Final = 4
"""The title and the earlier plan may each take up to 1/_SHARE of a portion."""
_LEAST: Final = 120
"""Minimum characters of a portion for its items."""


@dataclass(frozen=True, slots=True)
class Item:
    """One effect of a plan in a question."""

    words: str
    matters: bool
    """True if a yes counts only after this item was asked."""


@dataclass(frozen=True, slots=True)
class PortionedQuestion:
    """A question, split into portions."""

    portions: tuple[str, ...]
    needed: int
    """The number of portions that must have been asked before a yes counts."""


def question_of(
    says: Mapping[str, str],
    before: Sequence[str],
    lines: Sequence[str],
    items: Sequence[Item],
    *,
    title: str,
    room: int,
    remark: str = "",
) -> PortionedQuestion:
    """Return the question whether to do all of this: in one portion if it fits into `room`, otherwise in several.

    The remark comes directly before the final question, in the portion from which on a yes counts.
    """
    whole, title = _whole(says, before, lines, remark), one_line(title)
    items = [replace(item, words=one_line(item.words)) for item in items]
    if length(whole) <= room:
        return PortionedQuestion((whole,), 1)
    opening = [says["changed"].format(before=_cut("; ".join(before), room // _SHARE))] if before else []
    opening += [_cut(title, room // _SHARE)] if title else []
    opening.append(says["parts"].format(count=len(items)))
    ordered = sorted(items, key=lambda item: not item.matters)
    endings = max(length(says["more"]), length(says["rest"]) + length(remark) + length(says["shall"]))
    first = max(_LEAST, room - endings - length("\n".join(opening)))
    packed = [*_packed(ordered, first, max(_LEAST, room - endings))]
    needed = max(
        (number for number, lines in enumerate(packed, 1) if any(item.matters for _, item, _ in lines)), default=1
    )
    portions = []
    for number, told in enumerate(packed, 1):
        left = [item for later in packed[number:] for _, item, is_last in later if is_last]
        if number < needed:
            ending = [says["more"].format(count=sum(item.matters for item in left))]
        else:
            ending = [says["rest"].format(count=len(left))] if left else []
            ending += [*([remark] if remark and number == needed else []), says["shall"]]
        portions.append(
            "\n".join([*(opening if number == 1 else ()), *(f"- {words}" for words, _, _ in told), *ending])
        )
    return PortionedQuestion(tuple(portions), needed)


def length(text: str) -> int:
    """Return the length of a text when spoken, in characters of an alphabet."""
    return sum(_DENSE if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def _whole(says: Mapping[str, str], before: Sequence[str], lines: Sequence[str], remark: str) -> str:
    """Return the question as one portion."""
    told = list(lines)
    parts = [says["changed"].format(before="; ".join(before))] if before else []
    if len(told) > 1:
        parts.append(says["count"].format(count=len(told)))
        told = [f"- {line}" for line in told]
    elif told[0][-1:].isalnum():
        told = [f"{told[0]}."]
    return "\n".join([*parts, *told, *([remark] if remark else []), says["shall"]])


def _packed(items: Sequence[Item], first: int, room: int) -> Iterator[list[tuple[str, Item, bool]]]:
    """Yield the portions: pieces of items, each with its item and whether it is the item's last piece."""
    portion: list[tuple[str, Item, bool]] = []
    free = first
    for item in items:
        pieces = _pieces(item.words, min(first, room))
        for number, piece in enumerate(pieces, 1):
            if (free := free - length(piece) - 3) < 0 and portion:
                yield portion
                portion, free = [], room - length(piece) - 3
            portion.append((piece, item, number == len(pieces)))
    yield portion


def _pieces(text: str, room: int) -> list[str]:
    """Return a text in pieces that fit into `room`, cut between words where possible."""
    width = max(1, room * len(text) // max(1, length(text)) - 3)
    return wrap(text, width, break_on_hyphens=False) or [""]


def _cut(text: str, room: int) -> str:
    """Return a text, cut to its beginning if it is longer than `room`."""
    return text if length(text) <= room else f"{_pieces(text, room)[0]} …"
