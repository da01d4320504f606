"""What the files of homes and dialogues may say: everything unknown is refused, with the place where it stands."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
import re
from typing import Any, Literal

import voluptuous as vol
import yaml

from .household import THINGS

HERE = Path(__file__).parent
LANGUAGES = ("de", "en", "es", "fr", "it", "ko", "nl", "pl", "pt-BR", "zh-Hans")
SCHEDULED, AUTOMATIONS = "scheduled", "automations"
"""What can change beside entities: how much is scheduled, and what the file of automations says."""

type Rounds = tuple[tuple[Call, ...], ...]
"""The calls of a turn: one round after the other, those of one round in parallel."""


@dataclass(frozen=True)
class Call:
    """A call of a tool, whose name may be given by its end."""

    tool: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Turn:
    """One message of the user, what the model does upon it, and what the household expects."""

    user: str
    rounds: Rounds = ()
    says: str = "Done."
    asks: bool = False
    """Whether the agent should ask for the user's word instead of doing it all."""
    answer: Literal["yes", "no", "other"] | None = None
    """How the message answers the question of the turn before."""
    done: Mapping[str, Any] = field(default_factory=dict)
    """What entities are afterwards: the state, or state and attributes."""
    untouched: tuple[str, ...] = ()
    """What is afterwards as it was when the dialogue began."""


@dataclass(frozen=True)
class Dialogue:
    """A conversation in a home."""

    number: int
    home: str
    turns: tuple[Turn, ...]
    language: str = "en"
    pronouns: bool = False
    """Whether the user speaks in pronouns, or of what was said before."""
    what: str = ""
    """What a stranger tries."""
    speaker: bool = False
    """Whether it is spoken to a speaker, which tells what is long in portions."""
    planted: Mapping[str, Any] = field(default_factory=dict)
    """Strangers' words: what entities are different for them, and what is found under PLACES."""

    def __str__(self) -> str:
        """Name it in a report."""
        return f"{self.number} ({self.home}): {self.what or self.turns[0].user}"

    @property
    def untouched(self) -> set[str]:
        """Return what would have been moved."""
        return {entity_id for turn in self.turns for entity_id in turn.untouched}


PLACES = ("page", "error", "search", "tool")
"""Where strangers' words are beside entities: a page of the site, the status of another, results of a web search, and a tool
of another server."""
READING = {
    *("get_events", "get_items", "GetLiveContext", "fetch_url", "web_search"),
    *("latest_post", "search_media", "script__read_news"),
}
"""Tools whose results can hold strangers' words: entries, items, titles, states, pages and what scripts return."""
SITE = "SITE/"
"""What stands for the site in addresses."""


class _Loader(yaml.SafeLoader):
    """YAML in which on, off, yes and no are words, as they are for Home Assistant's states."""


_Loader.yaml_implicit_resolvers = {
    letter: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:bool"]
    for letter, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:true|false)$"), list("tf"))

_WORDS = vol.All(str, vol.Length(min=1))
_ENTITY = vol.All(str, vol.Match(rf"^(?:(?:{'|'.join(THINGS)})\.\w+|(?:automation|script|scene)\.\w+)$"))
_KEPT = vol.Any(SCHEDULED, AUTOMATIONS, _ENTITY)
_CALL = vol.All({_WORDS: dict}, vol.Length(min=1))
_TURN = {
    vol.Required("user"): _WORDS,
    "calls": [vol.Any(_CALL, vol.All([vol.All(_CALL, vol.Length(max=1))], vol.Length(min=2)))],
    # A question of the model's own would be taken for one of the agent's.
    "says": vol.All(_WORDS, vol.Match(r"(?s).*[^?\uff1f]$")),
    "asks": bool,
    "answer": vol.In(("yes", "no", "other")),
    "done": {_KEPT: vol.Any(str, int, float, {str: vol.Any(str, int, float)})},
    "untouched": vol.All([_KEPT], vol.Length(min=1)),
}
_TURNS = vol.All([_TURN], vol.Length(min=2, max=4))
_LANGUAGE = vol.In(LANGUAGES)
_HONEST = vol.Schema(
    [
        {
            vol.Required("home"): _WORDS,
            vol.Required("turns"): _TURNS,
            "language": _LANGUAGE,
            "pronouns": True,
            "speaker": True,
            "page": _WORDS,
            "search": _WORDS,
        }
    ]
)
_PLANTED = {vol.In(PLACES): _WORDS, _ENTITY: vol.All(dict, vol.Length(min=1))}
_HOSTILE = vol.Schema(
    [
        {
            vol.Required("home"): _WORDS,
            vol.Required("what"): _WORDS,
            vol.Required("planted"): vol.All(_PLANTED, vol.Length(min=1)),
            vol.Required("turns"): vol.All([_TURN], vol.Length(min=1, max=4)),
            "language": _LANGUAGE,
        }
    ]
)
_DEFINITION = {
    vol.Required("name"): _WORDS,
    **dict.fromkeys(("area", "class", "state", "title", "artist", "unit"), vol.Any(str, int, float)),
    **dict.fromkeys(("brightness", "temperature", "current", "volume"), vol.Any(int, float)),
    "entries": [vol.Any(str, {vol.Required("summary"): str, "description": str})],
    "items": [str],
    "sources": [str],
    "groups": True,
    "attributes": dict,
}
_HOMES = vol.Schema(
    {
        _WORDS: {
            vol.Required("areas"): {_WORDS: _WORDS},
            vol.Required("entities"): {_ENTITY: _DEFINITION},
            "scripts": {_WORDS: {vol.Required("alias"): _WORDS, vol.Required("sequence"): list}},
            "scenes": {_WORDS: {vol.Required("name"): _WORDS, vol.Required("entities"): dict}},
            "automations": {
                _WORDS: {vol.Required("alias"): _WORDS, vol.Required("triggers"): list, vol.Required("actions"): list}
            },
        }
    }
)


def load(path: Path) -> Any:
    """Read a file."""
    return yaml.load(path.read_text(encoding="utf-8"), _Loader)  # noqa: S506 - a safe loader


def homes(data: Any) -> dict[str, dict[str, Any]]:
    """Return the homes; raises vol.Invalid."""
    checked: dict[str, dict[str, Any]] = _HOMES(data)
    for name, home in checked.items():
        for entity_id, definition in home["entities"].items():
            if definition.get("area", next(iter(home["areas"]))) not in home["areas"]:
                raise vol.Invalid(f"{name}: {entity_id} is in no area of the home")
    return checked


def honest(data: Any, known: Mapping[str, Any]) -> list[Dialogue]:
    """Return the dialogues of households; raises vol.Invalid."""
    dialogues = []
    for number, item in enumerate(_HONEST(data), start=1):
        planted = {key: item.pop(key) for key in ("page", "search") if key in item}
        dialogues.append(_dialogue(number, {**item, "planted": planted}, known))
    for dialogue in dialogues:
        asked = False
        for turn in dialogue.turns:
            if asked != (turn.answer is not None):
                raise vol.Invalid(
                    f"{dialogue}: '{turn.user}' has to answer a question of the turn before, and only that"
                )
            asked = turn.asks
            # What a yes goes on with was called before.
            if asked and not turn.rounds and turn.answer != "yes":
                raise vol.Invalid(f"{dialogue}: '{turn.user}' calls nothing that could be asked about")
        if asked:
            raise vol.Invalid(f"{dialogue}: the last question is never answered")
    return dialogues


def hostile(data: Any, known: Mapping[str, Any]) -> list[Dialogue]:
    """Return the dialogues with strangers' words; raises vol.Invalid."""
    dialogues = [_dialogue(number, item, known) for number, item in enumerate(_HOSTILE(data), start=1)]
    for dialogue in dialogues:
        if not dialogue.untouched or any(turn.asks or turn.answer for turn in dialogue.turns):
            raise vol.Invalid(f"{dialogue}: it says what would be moved, and expects no question")
    return dialogues


def _dialogue(number: int, item: dict[str, Any], known: Mapping[str, Any]) -> Dialogue:
    """Return a dialogue, all of whose entities are of its home."""
    dialogue = Dialogue(number, **{**item, "turns": tuple(_turn(turn) for turn in item["turns"])})
    if dialogue.home not in known:
        raise vol.Invalid(f"{dialogue}: there is no such home")
    home = known[dialogue.home]
    entities = {SCHEDULED, AUTOMATIONS, *home["entities"]} | {
        f"{domain}.{name}" for domain in ("script", "scene", "automation") for name in home.get(f"{domain}s", ())
    }
    named = {*dialogue.untouched, *(key for turn in dialogue.turns for key in turn.done), *dialogue.planted}
    if unknown := named - entities - set(PLACES):
        raise vol.Invalid(f"{dialogue}: the home has no {', '.join(sorted(unknown))}")
    return dialogue


def _turn(item: dict[str, Any]) -> Turn:
    """Return a turn."""
    rounds = tuple(
        tuple(
            Call(tool, arguments)
            for calls in (each if isinstance(each, list) else [each])
            for tool, arguments in calls.items()
        )
        for each in item.pop("calls", ())
    )
    return Turn(**{**item, "rounds": rounds, "untouched": tuple(item.get("untouched", ()))})
