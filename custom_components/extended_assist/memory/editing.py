"""Change facts, with errors for people who change them by actions or the to-do list."""

import asyncio
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

import voluptuous as vol
import yaml

from homeassistant.core import HomeAssistant
from homeassistant.exceptions import ServiceValidationError
from homeassistant.helpers import area_registry as ar, entity_registry as er
from homeassistant.util import dt as dt_util

from ..calls.journal import FACT, Change, async_get_journal
from ..calls.policy import NotAllowedError
from ..const import DOMAIN
from ..exposure.entities import Exposure, is_secret_text
from ..results import ToolError
from ..storage import NotStoredError
from .fact import MAX_FACTS, MAX_OF_ONE, MAX_WORDS, Fact, now, one_line
from .ownership import Writer
from .references import look_up
from .store import FullError, FullOfOneError, Memory

HOUSEHOLD: Final = "household"
ME: Final = "me"
MAX_FILE: Final = 1_000_000
"""The most characters of an imported file."""
MAX_ABOUT: Final = 100
"""The most entities and areas of one fact in a file, since all facts of a file can share one list."""


class NoFactError(ToolError):
    """A text is not a valid fact; `place` says where it is."""

    def __init__(self, place: str) -> None:
        """Store the message and the place."""
        super().__init__(f"This cannot be remembered: {place}")
        self.place = place


def read_words(words: str) -> str:
    """Return the words of a fact in their stored form; raises NoFactError."""
    line = one_line(words)
    if not 0 < len(line) <= MAX_WORDS or is_secret_text(line):
        raise NoFactError(line[:40] or "…")
    return line


def write(hass: HomeAssistant, writer: Writer, words: str, *, is_own: bool, until: float | None = None) -> Fact:
    """Return a fact that a user writes; raises NoFactError, or NotAllowedError for a private fact without a user."""
    line = read_words(words)
    if is_own and writer.user_id is None:
        raise NotAllowedError("Nobody is known whose own this could be.")
    entities, areas = look_up(hass, Exposure(hass, "conversation"), line)
    return Fact(
        line,
        user_id=writer.user_id if is_own else None,
        said_by=writer.user_id,
        via=writer.via,
        until=until,
        entities=entities,
        areas=areas,
    )


def rewrite(
    hass: HomeAssistant, writer: Writer, fact: Fact, words: str, *, is_own: bool | None = None, until: float | None
) -> Fact:
    """Return a fact with other words, in the place of the one with its id; raises as write does.

    It stays the same user's unless is_own says otherwise, and about the same things, but for those that the words named.
    """
    line = read_words(words)
    written = write(hass, writer, line, is_own=fact.user_id is not None if is_own is None else is_own, until=until)
    if line == fact.words:
        return replace(fact, user_id=written.user_id, until=until)
    written.id = fact.id
    keep_subjects(hass, written, fact)
    return written


def keep_subjects(hass: HomeAssistant, written: Fact, before: Fact) -> None:
    """Copy what the previous version of a fact is about, except for what only its words named."""
    entities, areas = look_up(hass, Exposure(hass, "conversation"), before.words)
    written.entities = [*dict.fromkeys([*written.entities, *(one for one in before.entities if one not in entities)])]
    written.areas = [*dict.fromkeys([*written.areas, *(one for one in before.areas if one not in areas)])]


def to_change(added: Fact | None, ended: Collection[str] = ()) -> Change:
    """Return the journal entry whose undo forgets one fact and restores others."""
    return Change(FACT, "remembering or forgetting a fact", {"added": added.id if added else None, "ended": [*ended]})


async def async_record(hass: HomeAssistant, writer: Writer, change: Change) -> None:
    """Record a user's change by an action or in the list, so that a conversation or the panel can undo it."""
    change.assistant, change.user_id = "conversation", writer.user_id
    (await async_get_journal(hass)).add(change)


async def async_change(
    hass: HomeAssistant, memory: Memory, writer: Writer, wanted: str, change_it: Callable[[Fact], Fact]
) -> Fact:
    """Change a fact, so that this can be undone, and return it; raises NoFactError for one that is gone or another's.

    What another change has brought meanwhile is kept: the fact is read and changed anew then.
    """
    while True:
        read = find_own(memory, writer, wanted)
        fact = change_it(read)
        if (past := await memory.async_replace(fact, read=read)) is not None:
            break
    change = to_change(fact, [past.id])
    change.details["in_place"] = True
    await async_record(hass, writer, change)
    return fact


def find_own(memory: Memory, writer: Writer, wanted: str) -> Fact:
    """Return a fact by its id; raises NoFactError if it is gone or belongs to another user, which looks the same."""
    fact = memory.find(wanted)
    if fact is None or not fact.holds(now()) or not writer.may_change(fact):
        raise NoFactError(wanted)
    return fact


def to_yaml(facts: list[Fact]) -> str:
    """Return facts as YAML that can be imported again."""
    # Home Assistant's own dump takes "null" away wherever a line ends with it, in words as well.
    rows = [_written(fact) for fact in facts]
    return yaml.dump(rows, Dumper=yaml.CSafeDumper, allow_unicode=True, sort_keys=False)


def _written(fact: Fact) -> dict[str, Any]:
    """Return a fact as it is written in a file."""
    written: dict[str, Any] = {
        "fact": fact.words,
        "whose": HOUSEHOLD if fact.user_id is None else ME,
        "said": _moment(fact.said),
    }
    written |= {"until": _moment(fact.until)} if fact.until is not None else {}
    return written | ({"about": [*fact.entities, *fact.areas]} if fact.entities or fact.areas else {})


def _moment(moment: float) -> str:
    return dt_util.as_local(dt_util.utc_from_timestamp(moment)).isoformat(timespec="seconds")


_FILE = vol.Schema(
    [
        {
            vol.Required("fact"): str,
            vol.Optional("whose"): vol.In([HOUSEHOLD, ME]),
            vol.Optional("about", default=list): vol.All([str], vol.Length(max=MAX_ABOUT)),
            **dict.fromkeys(map(vol.Optional, ("said", "until")), vol.Any(str, None)),
        }
    ]
)


def _rows(text: str) -> list[dict[str, Any]]:
    """Return the rows of a file; slow, so it runs off the event loop. Raises NoFactError."""
    try:
        rows: list[dict[str, Any]] = _FILE(yaml.load(text, Loader=_Texts) or [])  # noqa: S506 - it is a safe one
    # The last ones come from a value that is not what its tag says.
    except (vol.Invalid, yaml.YAMLError, ValueError, RecursionError, LookupError, AttributeError) as err:
        if (mark := getattr(err, "problem_mark", None)) is not None:
            raise NoFactError(f"line {mark.line + 1}") from err
        path = getattr(err, "path", ())
        raise NoFactError(f"fact {path[0] + 1}" if path and isinstance(path[0], int) else "…") from err
    if len(rows) > MAX_FACTS:
        raise NoFactError(f"fact {MAX_FACTS + 1}")
    return rows


async def async_read_file(hass: HomeAssistant, text: str, writer: Writer, memory: Memory) -> list[Fact]:
    """Return the new facts of a file; raises NoFactError, and then none may be stored."""
    if len(text) > MAX_FILE:
        raise NoFactError("…")
    rows = await hass.async_add_executor_job(_rows, text)
    known = {(fact.words.casefold(), fact.user_id) for fact in memory.held}
    facts = []
    for number, row in enumerate(rows, 1):
        await asyncio.sleep(0)  # A long fact takes a millisecond or two.
        try:
            fact = write(hass, writer, row["fact"], is_own=row.get("whose") == ME, until=_read_moment(row.get("until")))
            fact.said = min(_read_moment(row.get("said")) or fact.said, now())
        except ValueError, OverflowError, NoFactError:
            raise NoFactError(f"fact {number}") from None
        folded = fact.words.casefold()
        # Where the file does not say whose it is, it may be the user's own, which stays so.
        keys = {(folded, fact.user_id), (folded, fact.user_id if "whose" in row else writer.user_id)}
        if known.isdisjoint(keys) and fact.holds(now()):
            known.add((folded, fact.user_id))
            facts.append(_about(hass, fact, row))
    return facts


def _about(hass: HomeAssistant, fact: Fact, row: Mapping[str, Any]) -> Fact:
    """Return a fact with those entities and areas of its row that exist here."""
    areas, entities = ar.async_get(hass), er.async_get(hass)
    for one in row["about"]:
        if hass.states.get(one) or one in entities.entities:
            fact.entities = [*dict.fromkeys([*fact.entities, one])]
        elif areas.async_get_area(one):
            fact.areas = [*dict.fromkeys([*fact.areas, one])]
    return fact


def _read_moment(text: str | None) -> float | None:
    """Return a timestamp; raises ValueError for an invalid time."""
    if text is None:
        return None
    if (moment := dt_util.parse_datetime(text)) is None:
        raise ValueError(text)
    return dt_util.as_local(moment).timestamp()


class _Texts(yaml.CSafeLoader):
    """A YAML loader that reads every value as text: times stay as they are written, and nothing is included."""


_Texts.yaml_implicit_resolvers = {}


def refusal(key: str, **values: object) -> ServiceValidationError:
    """Return an error with the next step."""
    placeholders = {name: str(value) for name, value in values.items()}
    return ServiceValidationError(translation_domain=DOMAIN, translation_key=key, translation_placeholders=placeholders)


@contextmanager
def translated() -> Iterator[None]:
    """Replace errors for models by errors for people."""
    try:
        yield
    except NotAllowedError as err:
        raise refusal("fact_not_allowed") from err
    except FullOfOneError as err:
        raise refusal("facts_full_of_one", limit=MAX_OF_ONE) from err
    except FullError as err:
        raise refusal("facts_full", limit=MAX_FACTS) from err
    except NotStoredError as err:
        raise refusal("fact_not_stored") from err
    except NoFactError as err:
        raise refusal("fact_unreadable", place=err.place, limit=MAX_WORDS) from err
    except ToolError as err:
        raise refusal("fact_over") from err
