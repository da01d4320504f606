"""The prompt of the API: Assist's instructions with a short overview of the home, and rules for correct answers."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
import re

from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import area_registry as ar, floor_registry as fr, llm

from ..calls.caller import Caller
from ..calls.options import ToolboxOptions
from ..exposure.entities import ExposedEntity, Exposure
from ..exposure.fixed_values import is_fixed_name
from ..exposure.listing import InArea, assist_names, in_areas, joined_names, line_of, place
from ..ha_compat.conversation import ASSIST_OVERVIEW
from ..memory.prompt import async_told_facts

MAX_LISTED = 300
"""The most entities that are listed by name; beyond it, only their numbers are listed, and tools find the names."""

# How Assist writes what is exposed: a header, then a YAML list of these items. Texts that do not fit on a line go on with
# more indentation, empty lines included.
_MORE = r"(?:\n*    [^\n]*\n)*"
_ITEM = re.compile(rf"- names: [^\n]*\n{_MORE}  domain: [^\n]*\n(?:  areas: [^\n]*\n{_MORE})?")
_OWN_TOOLS = frozenset({"calendar", "script"})
"""Domains that Assist leaves out of its list because their entities have tools of their own."""

_LEGEND = "[area], then names by domain; = joins the names of one thing.\n"
_FLOORS = "[[floor]] stands above its areas.\n"
_NO_FLOOR = "no floor"
_IDS = "An id is domain.name, the name in lower case with _ for what is no letter or digit; else its end is in parentheses.\n"
_WANT_IDS = ("__add_automation", "__execute_script", "__query_database", "__render_template")
"""Tools that accept ids only; the others accept names."""
_OVERVIEW = (
    "There are {count} entities, too many to list: [area], then how many of each domain. "
    "To learn names, call {finder} with area, domain or name; a name that the user said may be tried as it is.\n"
)
_OTHERS = (
    "{count} more entities have names that others may have chosen: call {finder} with their domain to read them.\n"
)
_NOT_IN_IDS = re.compile(r"[^a-z0-9]+")

_ALWAYS = "When controlling Home Assistant always call the intent tools. "
_NO_TIMERS = "This device is not able to start timers."
_INSTEAD = {
    f"\n{_ALWAYS}": (
        "__perform_action",
        "\nTo control devices call the intent tools; what they do not do, such as stopping a vacuum, {} does. ",
    ),
    f"\n{_NO_TIMERS}": ("__do_later", "\nThis device runs no timers itself: for these, and to act later, call {}."),
}
"""Sentences of Assist, with the tool of ours that replaces each, and the new sentence."""

TOOLS = (
    "The extended_assist tools answer what the others cannot, such as entity ids, attributes and the past. They see "
    "exactly what is exposed to you."
)
_ASKING = "If a request is unclear, take the likely meaning and say which; ask only if none is likelier and a wrong one would matter."
_HONESTY = (
    "Say that something was done only if a tool called since the user's last message reported it done; if none was, or it "
    "failed, call the tool or say what went wrong. For each request, call tools again; do not reuse earlier results. "
    "State only what tools returned, without guesses, and say when a result was cut. Report outcomes as they are: what is "
    "under way, not reached or cannot be known is not done."
)
ASKS = (
    "When a tool wants the user's agreement, say what would be done and end with the question. Once they agree in their "
    "next message, call it again with exactly the same arguments."
)
_SPEECH = "Unless asked otherwise, answer briefly, in plain text fit to be spoken: no Markdown, lists or emoji."


async def async_api_prompt(
    hass: HomeAssistant, assist_prompt: str, tools: Iterable[llm.Tool], caller: Caller, options: ToolboxOptions
) -> str:
    """Return the prompt of the API: Assist's with a shorter overview, then ours; `tools` are our own tools."""
    names = {tool.name for tool in tools}
    finder = next((name for name in names if name.endswith("__get_entities")), "homeassistant__GetLiveContext")
    home = Overview(hass, finder, names, tells_ids=any(name.endswith(_WANT_IDS) for name in names))
    exposure = Exposure(hass, caller.assistant)
    parts = [home.put_into(assist_prompt, exposure)]
    if names:
        parts.append(TOOLS)
    parts += [_HONESTY, ASKS]
    if caller.chat_log is not None:  # Whoever fetches the prompt over MCP speaks as they like.
        parts += [_ASKING, _SPEECH]
    if any(name.endswith("__get_user_name") for name in names) and (name := await _async_user_name(hass, caller)):
        parts.append(f"You are talking to {name}.")
    if any(name.endswith("__recall") for name in names):
        parts.append(await async_told_facts(hass, exposure, caller, options))
    return "\n".join(part.strip() for part in parts if part)


async def _async_user_name(hass: HomeAssistant, caller: Caller) -> str:
    """Return the name of the logged-in person, or an empty string."""
    user = await caller.async_user(hass)
    return line_of(user.name) if user and user.name and not user.system_generated else ""


@dataclass(frozen=True, slots=True)
class Overview:
    """The description of the home for agents with certain tools."""

    hass: HomeAssistant
    finder: str
    """The tool that finds names if there are too many to list."""
    names: Collection[str] = ()
    """The names of our own tools."""
    tells_ids: bool = False
    """True if there are tools that accept ids only."""

    @callback
    def put_into(self, assist_prompt: str, exposure: Exposure) -> str:
        """Return Assist's prompt with a shorter list of entities and corrected sentences about acting.

        If the list is not exactly as expected, the prompt stays as it is: too long, but correct. The same applies to each
        sentence. But if the home has a name that is not fixed, everything from the list on is left out, because it has that name.
        """
        start, end, count = find_entity_list(assist_prompt)
        entities = [entity for entity in exposure.entities.values() if entity.domain not in _OWN_TOOLS]
        if not count or count != len(entities):
            if all(is_fixed_name(self.hass, entity.state) for entity in exposure.entities.values()):
                return assist_prompt
            return assist_prompt[: start if ASSIST_OVERVIEW in assist_prompt else 0] + self.describe(entities)
        return assist_prompt[:start] + self.describe(entities) + self._with_own_tools(assist_prompt[end:])

    def _with_own_tools(self, text: str) -> str:
        """Return Assist's sentences about acting, with the tools that do more than Assist's."""
        for old, (end, new) in _INSTEAD.items():
            name = next((name for name in self.names if name.endswith(end)), None)
            if name and text.count(old) == 1:
                text = text.replace(old, new.format(name))
        return text

    @callback
    def describe(self, entities: list[ExposedEntity]) -> str:
        """Return the names of entities by area, or their numbers if there are too many."""
        is_listed = len(entities) <= MAX_LISTED
        named = [entity for entity in entities if is_fixed_name(self.hass, entity.state)] if is_listed else entities
        # What has no area comes last, and the same home is always said in the same words, so that it is found in caches.
        floors = self._on_floors(in_areas(named))
        legend = _LEGEND if is_listed else _OVERVIEW.format(count=len(entities), finder=self.finder)
        legend += _IDS if is_listed and self.tells_ids else ""
        legend += _FLOORS if any(floors) else ""
        if others := len(entities) - len(named):
            legend += _OTHERS.format(count=others, finder=self.finder)
        return legend + "".join(
            (f"[[{floor or _NO_FLOOR}]]\n" if any(floors) else "")
            + "".join(
                f"[{place(names)}]\n{self._listed(members)}" if is_listed else f"[{place(names)}] {_counted(members)}\n"
                for names, members in areas
            )
            for floor, areas in floors.items()
        )

    def _on_floors(self, areas: list[InArea]) -> dict[str, list[InArea]]:
        """Return areas by floor name, the lowest first; areas without a floor come last, under an empty name."""
        registry, floors = ar.async_get(self.hass), fr.async_get(self.hass)
        known = {floor.floor_id: floor for floor in floors.async_list_floors()}
        by_floor: defaultdict[str | None, list[InArea]] = defaultdict(list)
        for names, members in areas:
            area = registry.async_get_area_by_name(names[0]) if names else None
            by_floor[area.floor_id if area and area.floor_id in known else None].append((names, members))
        order = sorted(
            (known[floor_id] for floor_id in by_floor if floor_id),
            key=lambda floor: (floor.level is None, floor.level or 0, floor.name),
        )
        found = {joined_names((floor.name, *sorted(floor.aliases))): by_floor[floor.floor_id] for floor in order}
        return found | ({"": by_floor[None]} if None in by_floor else {})

    def _listed(self, entities: list[ExposedEntity]) -> str:
        """Return the names of entities, a line for each domain."""
        domains: defaultdict[str, list[str]] = defaultdict(list)
        for entity in entities:
            domains[entity.domain].append(self._named(entity))
        return "".join(f"{domain}: {'; '.join(sorted(domains[domain]))}\n" for domain in sorted(domains))

    def _named(self, entity: ExposedEntity) -> str:
        """Return all names of an entity, and the end of its id if a tool needs it and the name does not determine it."""
        names = assist_names(self.hass, entity)
        told = joined_names(names)
        if not told or not self.tells_ids:
            return told or entity.entity_id
        end = entity.entity_id.partition(".")[2]
        return told if _NOT_IN_IDS.sub("_", line_of(names[0]).lower()).strip("_") == end else f"{told} ({end})"


def find_entity_list(assist_prompt: str) -> tuple[int, int, int]:
    """Return start and end of Assist's list of entities, and their number; 0 if the list is not as expected."""
    start = end = assist_prompt.find(ASSIST_OVERVIEW) + len(ASSIST_OVERVIEW)
    count = 0
    if start >= len(ASSIST_OVERVIEW):
        while item := _ITEM.match(assist_prompt, end):
            end, count = item.end(), count + 1
    whole = assist_prompt[end : end + 1] in ("", "\n")
    return start, end, count if whole else 0


def _counted(entities: list[ExposedEntity]) -> str:
    """Return the number of entities of each domain."""
    counts = Counter(entity.domain for entity in entities)
    return ", ".join(f"{counts[domain]} {domain}" for domain in sorted(counts))
