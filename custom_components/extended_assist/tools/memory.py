"""The memory tools: remember, replace, forget and find facts."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final, override

import voluptuous as vol

from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm
from homeassistant.util.json import JsonObjectType

from ..calls.call import ToolCall
from ..calls.caller import Caller
from ..calls.options import MEMORY
from ..calls.plan import Plan, Step
from ..calls.policy import Tier
from ..confirmation.untrusted_text import async_are_others, marked, marks
from ..const import DOMAIN
from ..exposure.entities import Exposure, NotExposedError, is_secret_text
from ..llm_tools.extended_tool import READ_ONLY, ExtendedTool
from ..memory.editing import keep_subjects, to_change
from ..memory.fact import MAX_WORDS, Fact, one_line
from ..memory.ownership import FactAccess, Writer, async_check_access, async_check_writer, check_guests
from ..memory.prompt import async_told_facts
from ..memory.references import async_visible_facts, look_up
from ..memory.rows import async_find, async_near, async_row, read_until
from ..memory.store import Memory, async_get_memory, is_any_own
from ..results import FreeTextError, ToolError, format_time, size

_EVERYTHING: Final = "everything"
_HOUSEHOLD: Final = "household"
_ME: Final = "me"
_NEVER: Final = "never"
_ROOM: Final = 120
"""Characters that are reserved for notes."""
_SHORT: Final = 160
"""The most characters of a similar fact in an error."""


class RememberTool(ExtendedTool):
    """Remember, replace and forget facts."""

    name = "extended_assist__remember"
    title = "Remember"
    description = "Remember a fact, or forget some, when the user wants it. Never on your own."
    annotations = llm.ToolAnnotations(read_only=False, destructive=True, idempotent=False, open_world=False)
    family = MEMORY
    tier = Tier.CONTROL
    asks_others = False  # What is somebody's own is shown to nobody else, and done in nobody else's name.
    shows_success = True
    parameters = vol.Schema(
        {
            vol.Optional("fact", description="One sentence, clear by itself."): str,
            vol.Optional("whose", description="me: told to this user only."): vol.In([_HOUSEHOLD, _ME]),
            vol.Optional("about", description="Entities, areas, persons, by name."): [str],
            vol.Optional("until", description="Local date or time, or never."): str,
            vol.Optional("replaces", description="Ids of facts that it ends; [] for none."): [str],
            vol.Optional("forget", description="Ids; 'everything' about the user."): [str],
            vol.Optional("for_good", description="Without undo."): bool,
        }
    )

    @override
    def asks_first(self, call: ToolCall) -> bool:
        """Ask before facts that untrusted text may have chosen, deletions for good, and sharing private facts."""
        given = call.arguments
        is_shared = given.get("whose") == _HOUSEHOLD and is_any_own(call.hass, given.get("replaces", ()))
        return marks(call.caller.chat_log) or _is_for_good(call) or is_shared or super().asks_first(call)

    @override
    async def async_run(self, call: ToolCall) -> JsonObjectType:
        """Store the change and return the resulting facts."""
        wanted = await _async_wanted(call)
        memory = await async_get_memory(call.hass)
        call.recording.is_complete = True
        if wanted.for_good:
            gone = {fact.id for fact in wanted.ended}
            if wanted.everything:
                user_id = wanted.writer.user_id
                await memory.async_delete(wanted.is_own, user_id, _persons(call.hass, user_id))
            else:
                await memory.async_delete(lambda fact: fact.id in gone and wanted.writer.may_change(fact))
            return {"deleted_for_good": len(gone)}
        ended = [fact.id for fact in wanted.ended]
        if wanted.fact is None:
            await memory.async_end(ended, may_end=wanted.writer.may_change)
        else:
            check = partial(check_guests, memory, wanted.writer, call.options)
            await memory.async_add([wanted.fact], ended, check, may_end=wanted.writer.may_change)
        call.recording.changes.append(to_change(wanted.fact, ended))
        return marked(_answer(call, wanted), when=await _async_ends_of_others(call, wanted))

    @override
    async def async_plan(self, call: ToolCall) -> Plan:
        """Return the plan with the exact words of the facts."""
        wanted = await _async_wanted(call)
        verb, how = ("Delete for good", {"for_good": True}) if wanted.for_good else ("Forget", {})
        steps = [
            Step(f"{DOMAIN}.forget", (), {"ids": f'"{fact.words}"'} | how, f'{verb}: "{fact.words}"')
            for fact in wanted.ended
        ]
        if wanted.everything and not steps:
            words = "Delete for good: copies of facts of this user, in files that could not be read"
            steps.append(Step(f"{DOMAIN}.forget", (), {"all_own": True}, words))
        if (fact := wanted.fact) is not None:
            whose = "the household" if fact.user_id is None else "you alone"
            until = f", until {format_time(fact.until)}" if fact.until else ""
            words = f'Remember, for {whose}{until}: "{fact.words}"'
            # In the user's language these are said as they are; who is told, by the name of the user or of the home.
            user = await call.hass.auth.async_get_user(fact.user_id) if fact.user_id else None
            name = (user.name if user else None) or call.hass.config.location_name
            data = {"words": f'"{fact.words}"', "whose": name}
            data |= {"until": format_time(fact.until)} if fact.until else {}
            steps.insert(0, Step(f"{DOMAIN}.remember", (), data, words))
        sentence = steps[0].words if len(steps) == 1 else f"{verb}: {len(steps)} facts" if wanted.fact is None else ""
        sentence = sentence or f"Remember one fact, and forget {len(wanted.ended)}"
        return Plan(tuple(steps), sentence, has_free_text=await _async_ends_of_others(call, wanted))


class RecallTool(ExtendedTool):
    """Find facts."""

    name = "extended_assist__recall"
    title = "Recall"
    description = "Find remembered facts that you are not told already, and who said them when."
    annotations = READ_ONLY
    family = MEMORY
    tier = Tier.READ
    parameters = vol.Schema(
        {
            vol.Optional("words", description="What it may say, with synonyms."): str,
            vol.Optional("about", description="Name of an entity, area or person."): str,
        }
    )

    @override
    async def async_run(self, call: ToolCall) -> JsonObjectType:
        """Return the best matches, or the newest facts."""
        ears = await async_check_access(call.hass, call.caller, call.options)
        heard = filter(ears.hears, (await async_get_memory(call.hass)).held)
        told = await async_visible_facts(call.hass, call.exposure, heard)
        if about := call.arguments.get("about"):
            told = await _async_about(call, told, about)
        if words := call.arguments.get("words"):
            found = await async_find(call.hass, words, told)
        else:
            # The user's own before the household's, the newest first.
            found = sorted(told, key=lambda fact: (fact.user_id is None, -fact.said))
        if not found:
            return {"facts": [], "note": "Nothing like that is remembered that may be told here."}
        rows: list[Any] = []
        answer: JsonObjectType = {"facts": rows}
        room = call.budget - _ROOM
        for fact in found:
            row = await async_row(call.hass, call.exposure, fact, call.caller)
            if (room := room - size(row) - 1) < 0 and rows:
                answer["left_out"] = f"{len(found) - len(rows)} more. Give words or about to find them."
                break
            rows.append(row)
        authors = [fact.author for fact in found[: len(rows)]]
        return marked(answer, when=await async_are_others(call.hass, ears.user_id, authors))

    async def async_prompt_facts(self, hass: HomeAssistant, caller: Caller) -> str:
        """Return the facts that a prompt has now."""
        try:
            options = self._options.as_of_now(hass)
        except ToolError:
            return ""
        return await async_told_facts(hass, Exposure(hass, caller.assistant), caller, options)


class _Wanted:
    """The change that a call requests."""

    def __init__(self, writer: Writer) -> None:
        """Start empty."""
        self.writer = writer
        self.fact: Fact | None = None
        self.ended: list[Fact] = []
        self.for_good = False
        self.everything = False
        self.is_own: Callable[[Fact], bool] = lambda _: False


async def _async_ends_of_others(call: ToolCall, wanted: _Wanted) -> bool:
    """Return whether the user does not trust the words of a fact that is to be forgotten."""
    return await async_are_others(call.hass, wanted.writer.user_id, [fact.author for fact in wanted.ended])


async def _async_wanted(call: ToolCall) -> _Wanted:
    """Return the requested change; raises ToolError if it is impossible or unclear."""
    given = call.arguments
    writer = await async_check_writer(call.hass, call.caller, call.options)
    ears = await async_check_access(call.hass, call.caller, call.options)
    memory = await async_get_memory(call.hass)
    wanted = _Wanted(writer)
    if given.get("fact", "").strip():
        if given.get("for_good") or given.get("forget"):
            raise ToolError("Give either fact, with replaces where it ends others, or forget.")
        known = await _async_changeable(call, memory, ears, writer)
        wanted.ended = [_find(known, one) for one in dict.fromkeys(given.get("replaces", ()))]
        wanted.fact = _read_fact(call, writer, wanted.ended)
        if "replaces" not in given:
            await _async_check_near(call, wanted.fact, known)
        return wanted
    if not (forget := given.get("forget")):
        raise ToolError("Give fact, a sentence to remember, or forget, the ids of facts.")
    known = await _async_changeable(call, memory, ears, writer)
    wanted.for_good = _is_for_good(call)
    if _EVERYTHING in forget:
        wanted.everything, wanted.is_own = True, _own(call, writer)
        # What was forgotten or replaced is still stored.
        wanted.ended = [fact for fact in memory.all if wanted.is_own(fact)]
        names = {str(writer.user_id), *_persons(call.hass, writer.user_id)}
        if not wanted.ended and not await memory.async_has_copies(wanted.is_own, names):
            raise ToolError("Nothing is remembered of this user.")
    else:
        wanted.ended = [_find(known, one) for one in dict.fromkeys(forget)]
    return wanted


def _read_fact(call: ToolCall, writer: Writer, ended: list[Fact]) -> Fact:
    """Return the fact to store; what the call does not give stays as in the facts that it ends."""
    given, words = call.arguments, one_line(call.arguments["fact"])
    if len(words) > MAX_WORDS:
        raise ToolError(f"fact has {len(words)} characters, more than the {MAX_WORDS} allowed. Say it shorter.")
    if not words or is_secret_text(words):
        raise ToolError("fact holds a password in an address, or nothing. Say it without; tell the user.")
    owners = {fact.user_id for fact in ended}
    if (whose := given.get("whose")) is None and len(owners) != 1:
        raise ToolError("Say whose it is: household, which everyone here is told, or me. If unclear, ask the user.")
    if whose == _ME and writer.user_id is None:
        raise ToolError(
            "It is not known here who speaks, so this can be remembered for the household only, which everyone is told. Ask "
            "the user whether that is right; else they can say it in the app."
        )
    owner = owners.pop() if whose is None else writer.user_id if whose == _ME else None
    entities, areas = look_up(call.hass, call.exposure, words, given.get("about", ()))
    fact = Fact(
        words,
        user_id=owner,
        said_by=writer.user_id,
        device_id=call.caller.device_id,
        via=writer.via,
        until=_until(given.get("until"), ended),
        entities=entities,
        areas=areas,
    )
    for one in ended if "about" not in given else ():
        keep_subjects(call.hass, fact, one)
    return fact


def _until(given: str | None, ended: list[Fact]) -> float | None:
    """Return the end of validity; by default that of all facts that it ends."""
    if given is None:
        untils = {fact.until for fact in ended}
        return untils.pop() if len(untils) == 1 else None
    return read_until(given) if given.strip() and given.strip().lower() != _NEVER else None


async def _async_check_near(call: ToolCall, fact: Fact, known: list[Fact]) -> None:
    """Raise ToolError if similar facts exist, so that the model says which of them it ends."""
    near = await async_near(call.hass, fact, known)
    if any(one.words.casefold() == fact.words.casefold() and one.user_id == fact.user_id for one in near):
        raise ToolError("This is remembered already. Nothing is to be done.")
    if near:
        told = "; ".join(f"{one.id}: {one.words[:_SHORT]}" for one in near)
        is_others = await async_are_others(call.hass, call.caller.user_id, [one.author for one in near])
        raise (FreeTextError if is_others else ToolError)(
            f"Not remembered yet, because these are near: {told}. Call again with replaces: the ids of those that it "
            "contradicts or says anew, or [] where all of them still hold."
        )


async def _async_changeable(call: ToolCall, memory: Memory, ears: FactAccess, writer: Writer) -> list[Fact]:
    """Return the facts that the caller may see and change."""
    facts = (fact for fact in memory.held if ears.hears(fact) and writer.may_change(fact))
    return await async_visible_facts(call.hass, call.exposure, facts)


def _find(known: list[Fact], wanted: str) -> Fact:
    """Return a fact by its id."""
    for fact in known:
        if fact.id == wanted.strip().lower():
            return fact
    raise ToolError(f"No fact with id '{wanted}' is there that may be changed from here. Call recall to find it.")


def _persons(hass: HomeAssistant, user_id: str | None) -> set[str]:
    """Return the person entities of a user."""
    return {state.entity_id for state in hass.states.async_all("person") if state.attributes.get("user_id") == user_id}


def _own(call: ToolCall, writer: Writer) -> Callable[[Fact], bool]:
    """Return the test whether a fact is the user's own, or one of the household about them."""
    if writer.user_id is None:
        raise ToolError("It is not known here who speaks. Tell the user to say it where they are logged in.")
    persons = _persons(call.hass, writer.user_id)
    return lambda fact: (
        fact.user_id == writer.user_id or (fact.user_id is None and not persons.isdisjoint(fact.entities))
    )


async def _async_about(call: ToolCall, facts: list[Fact], name: str) -> list[Fact]:
    """Return those of some facts that are about a thing, or where nothing exposed is called so, that say something like it."""
    try:
        entities, areas = look_up(call.hass, call.exposure, "", [name])
    except NotExposedError:
        return await async_find(call.hass, name, facts)
    return [fact for fact in facts if {*entities} & {*fact.entities} or {*areas} & {*fact.areas}]


def _is_for_good(call: ToolCall) -> bool:
    """Return whether forgetting cannot be undone."""
    return bool(call.arguments.get("for_good")) or _EVERYTHING in call.arguments.get("forget", ())


def _answer(call: ToolCall, wanted: _Wanted) -> JsonObjectType:
    """Return the remembered and forgotten facts."""
    answer: JsonObjectType = {}
    if (fact := wanted.fact) is not None:
        answer = {"id": fact.id, "remembered": fact.words, "whose": _HOUSEHOLD if fact.user_id is None else _ME}
        if fact.until:
            answer["until"] = format_time(fact.until)
        if names := [entity.name for one in fact.entities if (entity := call.exposure.entity(one))]:
            answer["about"] = ", ".join(names)
    if wanted.ended:
        answer["forgotten"] = [one.words for one in wanted.ended]
    return answer
