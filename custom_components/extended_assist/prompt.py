"""The prompt of the API: Assist's instructions with a short overview of the home, and rules of honesty."""

from collections import Counter, defaultdict
from collections.abc import Iterable
import re

from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import entity_registry as er, intent, llm

from .exposure import ExposedEntity, Exposure
from .toolbox.caller import Caller

MAX_LISTED = 300
"""Entities that are listed by name in every request; past that, kinds are counted and tools find the names."""

# How Assist writes what is exposed: a header, then a YAML list of these items. Texts that do not fit on a line go on with
# more indentation, empty lines included.
_HEADER = "Static Context: An overview of the areas and the devices in this smart home:\n"
_MORE = r"(?:\n*    [^\n]*\n)*"
_ITEM = re.compile(rf"- names: [^\n]*\n{_MORE}  domain: [^\n]*\n(?:  areas: [^\n]*\n{_MORE})?")
_OWN_TOOLS = frozenset({"calendar", "script"})
"""Domains that Assist leaves out of its list, because their entities have tools of their own."""

_LEGEND = "[area], then names by domain; = joins the names of one thing.\n"
_OVERVIEW = (
    "There are {count} entities, too many to list: [area], then how many of each domain. "
    "To learn names, call {finder} with area, domain or name; a name that the user said may be tried as it is.\n"
)
_NO_AREA = "no area"
_MARKS = re.compile(r"[;=\[\]]")

_TOOLS = (
    "The extended_assist tools answer what the others cannot, such as entity ids, attributes and the past. They see "
    "exactly what is exposed to you."
)
_HONESTY = (
    "Say that something was done only if a tool called since the user's last message reported it done; if none was, or it "
    "failed, call the tool or say what went wrong. Act and look anew for every wish: earlier results are out of date. "
    "State only what tools returned, without guesses, and say when a result was cut. Report outcomes as they are: what is "
    "under way, not reached or cannot be known is not done.\n"
    "When a tool wants the user's agreement, say what would be done and end with the question. Once they agree in their "
    "next message, call it again with exactly the same arguments."
)
_SPEECH = "Unless asked otherwise, answer briefly, in plain text fit to be spoken: no Markdown, lists or emoji."


async def async_api_prompt(hass: HomeAssistant, assist_prompt: str, tools: Iterable[llm.Tool], caller: Caller) -> str:
    """Return the prompt of the API: Assist's, with the home said shortly, and ours; tools are the toolbox's own."""
    names = {tool.name for tool in tools}
    finder = next((name for name in names if name.endswith("__get_entities")), "homeassistant__GetLiveContext")
    parts = [with_short_context(hass, assist_prompt, Exposure(hass, caller.assistant), finder)]
    if names:
        parts.append(_TOOLS)
    parts.append(_HONESTY)
    if caller.chat_log is not None:  # Whoever fetches the prompt over MCP speaks as they like.
        parts.append(_SPEECH)
    if any(name.endswith("__get_user_name") for name in names) and (name := await _async_user_name(hass, caller)):
        parts.append(f"You are talking to {name}.")
    return "\n".join(part.strip() for part in parts if part)


async def _async_user_name(hass: HomeAssistant, caller: Caller) -> str:
    """Return the name of the person who is logged in, or an empty string."""
    user = await caller.async_user(hass)
    return _line(user.name) if user and user.name and not user.system_generated else ""


@callback
def with_short_context(hass: HomeAssistant, assist_prompt: str, exposure: Exposure, finder: str) -> str:
    """Return Assist's prompt with its list of entities said shortly, all else untouched.

    Where the list is not exactly as expected, the prompt stays as it is: too long, but right.
    """
    start, end, count = find_entity_list(assist_prompt)
    if not count:
        return assist_prompt
    entities = [entity for entity in exposure.entities.values() if entity.domain not in _OWN_TOOLS]
    if count != len(entities):
        return assist_prompt
    return assist_prompt[:start] + describe_home(hass, entities, finder) + assist_prompt[end:]


def find_entity_list(assist_prompt: str) -> tuple[int, int, int]:
    """Return start and end of Assist's list of entities, and their number; 0 when the list is not found whole."""
    start = end = assist_prompt.find(_HEADER) + len(_HEADER)
    count = 0
    if start >= len(_HEADER):
        while item := _ITEM.match(assist_prompt, end):
            end, count = item.end(), count + 1
    whole = assist_prompt[end : end + 1] in ("", "\n")
    return start, end, count if whole else 0


@callback
def describe_home(hass: HomeAssistant, entities: list[ExposedEntity], finder: str) -> str:
    """Return the names of entities, area by area, or how many there are where they are too many."""
    areas: defaultdict[tuple[str, ...], list[ExposedEntity]] = defaultdict(list)
    for entity in entities:
        areas[entity.area_names].append(entity)
    # What has no area comes last, and the same home is always said in the same words, so that it is found in caches.
    ordered = sorted(areas.items(), key=lambda item: (not item[0], item[0]))
    if len(entities) > MAX_LISTED:
        return _OVERVIEW.format(count=len(entities), finder=finder) + "".join(
            f"[{_same(names) or _NO_AREA}] {_counted(members)}\n" for names, members in ordered
        )
    return _LEGEND + "".join(f"[{_same(names) or _NO_AREA}]\n{_listed(hass, members)}" for names, members in ordered)


def _counted(entities: list[ExposedEntity]) -> str:
    """Return the number of entities of each domain."""
    counts = Counter(entity.domain for entity in entities)
    return ", ".join(f"{counts[domain]} {domain}" for domain in sorted(counts))


def _listed(hass: HomeAssistant, entities: list[ExposedEntity]) -> str:
    """Return the names of entities, a line for each domain."""
    registry = er.async_get(hass)
    domains: defaultdict[str, list[str]] = defaultdict(list)
    for entity in entities:
        # Exactly the names that Assist's tools understand; they take the id where the user left no name.
        names = intent.async_get_entity_aliases(hass, registry.async_get(entity.entity_id), state=entity.state)
        domains[entity.domain].append(_same(names) or entity.entity_id)
    return "".join(f"{domain}: {'; '.join(sorted(domains[domain]))}\n" for domain in sorted(domains))


def _same(names: Iterable[str]) -> str:
    """Return names of the same thing; one that holds a mark which separates names stands in quotes."""
    lines = [line for name in names if (line := _line(name))]
    return " = ".join(f'"{line}"' if _MARKS.search(line) else line for line in lines)


def _line(text: str) -> str:
    """Return a text with its line breaks replaced by spaces."""
    return " ".join(text.splitlines()).strip()
