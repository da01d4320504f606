"""What the offline planner can answer: one rule per kind of question, in the order they are tried."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
import re
from typing import Any

from .planner_results import accounts, changes, entities, facts, last_begun, notes, values

ANSWER_WHEN_DONE = "answer_when_done"
"""The tool that takes the answer for when the calls beside it are seen to have succeeded."""
# How far "last" reaches back; longer than the recorder keeps by default, so that nothing kept is missed.
LAST_CHANGE_HOURS = 30 * 24
DAY_HOURS = 24

# What people say of a state, and the states that mean it.
STATES = {
    "open": ("on", "open", "opening", "unlocked"),
    "close": ("off", "closed", "closing", "locked"),
    "on": ("on",),
    "off": ("off",),
    "closed": ("off", "closed", "closing", "locked"),
}


@dataclass(frozen=True)
class Call:
    """A tool that a rule wants: its name without namespaces, and the arguments it would give if the tool knows them."""

    tool: str
    tasks: dict[str, Any]


@dataclass(frozen=True)
class Question:
    """What a rule decides from: the matched words, the tools on offer and the results so far."""

    match: re.Match[str]
    tools: dict[str, dict[str, Any]]
    results: list[Any]
    told: list[dict[str, str]] = field(default_factory=list)
    """What the message tells of the present, before any tool was called."""
    pictures: list[tuple[str, bytes]] = field(default_factory=list)
    """The pictures of the results, each with the words before it."""

    def __getitem__(self, group: str) -> str:
        """Return the words of a named group, or an empty string."""
        return (self.match.groupdict().get(group) or "").strip()

    def has(self, tool: str) -> bool:
        """Whether a tool is on offer."""
        return find_tool(self.tools, tool) is not None

    @property
    def last(self) -> Any:
        """The last result."""
        return self.results[-1]


def find_tool(tools: dict[str, dict[str, Any]], name: str) -> dict[str, Any] | None:
    """Find a tool by its name, behind any namespaces."""
    return next((tool for full, tool in tools.items() if full == name or full.endswith(f"__{name}")), None)


@dataclass(frozen=True)
class Rule:
    """A kind of question, and what to do next about it: tool calls, or the answer."""

    example: str
    pattern: re.Pattern[str]
    decide: Callable[[Question], list[Call] | str]


def rule(example: str, pattern: str, decide: Callable[[Question], list[Call] | str]) -> Rule:
    """Return a rule for messages in which a pattern is found, in whatever case."""
    return Rule(example, re.compile(pattern, re.IGNORECASE), decide)


def _back(hours: int) -> dict[str, Any]:
    """A span that ends now, in the forms that a schema may take; no clock is needed, whatever the home's time zone."""
    return {"hours": hours, "duration": {"hours": hours}}


def _history(entity: str, hours: int) -> list[Call]:
    return [Call("get_history", {"entities": [entity]} | _back(hours))]


def _between(data: Any) -> str:
    """Name the span as the result itself does."""
    start, end = (next(values(data, key), None) for key in ("start", "end"))
    return f" between {start} and {end}" if start and end else ""


def listed(question: Question, **filters: Any) -> list[Call]:
    """Look for entities, with whatever tool is on offer."""
    return [Call("get_entities" if question.has("get_entities") else "GetLiveContext", filters)]


def _last_change(question: Question) -> list[Call] | str:
    if not question.results:
        return _history(question["name"], LAST_CHANGE_HOURS)
    verb = question["verb"].lower()
    kind = next((kind for kind in ("open", "close", "off", "on") if kind.rstrip("e") in verb), None)
    span = _between(question.last)
    return "\n".join(_last_of(account, question["name"], kind, span) for account in accounts(question.last))


def _last_of(account: Any, asked_name: str, kind: str | None, span: str) -> str:
    """Say when one entity last changed, to a kind of state if one was asked for."""
    name = next(values(account, "name"), asked_name)
    rows = last_begun(account) or changes(account)
    if kind is None and rows:
        return f"{name} last changed at {rows[0]['time']}, to {rows[0]['state']}."
    if kind and (wanted := next((row for row in rows if row["state"] in STATES[kind]), None)):
        return f"{name} was last {_participle(kind)} at {wanted['time']}."
    now = next(values(account, "now"), None)
    listed = "no such change is listed" if rows else "no change is listed"
    return f"Of {name}, {listed}{span}.{f' It is {now} now.' if now is not None else ''}{notes(account)}"


def _participle(kind: str) -> str:
    return {"open": "opened", "close": "closed", "on": "turned on", "off": "turned off"}[kind]


def _count(question: Question) -> list[Call] | str:
    if not question.results:
        return _history(question["name"], DAY_HOURS)
    span = _between(question.last)
    return "\n".join(_count_of(account, question["name"], span) for account in accounts(question.last))


def _count_of(account: Any, asked_name: str, span: str) -> str:
    name = next(values(account, "name"), asked_name)
    count = next((value for value in values(account, "changes") if isinstance(value, int)), None)
    if count is None:
        return f"The history of {name} gives no count.{notes(account)}"
    first, last = (next(values(account, key), None) for key in ("first_change", "last_change"))
    at = f", first at {first['time']} and last at {last['time']}" if first and last else ""
    return f"{name} changed {count} times{span}{at}."


MEASURES = {"warm": "°", "cold": "°", "hot": "°", "cool": "°", "humid": "%"}


def _measure(question: Question) -> list[Call] | str:
    """The climate of an area: now from its sensors, earlier from the history of the sensor found first."""
    mark = MEASURES[question["measure"].lower()]
    past = question["tense"].lower() == "was"
    if not question.results:
        here = [row for row in question.told if question["area"].lower() in row["area"].lower().split(" = ")]
        if found := [row for row in here if mark in row["unit"] and not past]:
            return "; ".join(f"{row['name']}: {row['state']} {row['unit']}" for row in found) + "."
        return listed(question, area=question["area"], domain=["sensor"])
    if len(question.results) == 1:
        sensors = [row for row in entities(question.last) if mark in (row.get("unit") or "")]
        if not sensors:
            return f"I found no sensor for that in {question['area']}.{notes(question.last)}"
        if past and "entity_id" in sensors[0]:
            return _history(sensors[0]["entity_id"], DAY_HOURS)
        if past:
            return "I can only see the present here: no tool for the past is among those I was given."
        return "; ".join(f"{row['name']}: {row['state']} {row['unit']}" for row in sensors) + "."
    span = _between(question.last)
    return "\n".join(_extremes_of(account, question["area"], span) for account in accounts(question.last))


def _extremes_of(account: Any, asked_name: str, span: str) -> str:
    name = next(values(account, "name"), asked_name)
    unit = next(values(account, "unit"), "")
    extremes = [next(values(account, key), None) for key in ("min", "max")]
    if all(isinstance(extreme, dict) for extreme in extremes):
        low, high = extremes
        return (
            f"{name}: lowest {low['value']} {unit} at {low['time']}, highest {high['value']} {unit} at {high['time']}"
            f"{span}.{notes(account)}"
        )
    readings: dict[float, dict[str, str]] = {}
    for row in changes(account):
        with suppress(ValueError):
            readings[float(row["state"])] = row
    if not readings:
        return f"No reading of {name} is listed{span}.{notes(account)}"
    low, high = readings[min(readings)], readings[max(readings)]
    return (
        f"{name}: lowest {low['state']} {unit} at {low['time']}, highest {high['state']} {unit} at {high['time']}, "
        f"among the readings listed{span}.{notes(account)}"
    )


def _which_are(question: Question) -> list[Call] | str:
    domain = question["domain"].lower().rstrip("s")
    kind = "light" if domain == "lamp" else domain
    rows = entities(question.last) if question.results else [row for row in question.told if row["domain"] == kind]
    if not question.results and not rows:
        return listed(question, domain=[kind])
    wanted = STATES[question["state"].lower()]
    names = [row["name"] for row in rows if row["state"] in wanted]
    answer = (
        f"{question['state'].capitalize()}: {', '.join(names)}." if names else f"No {domain} is {question['state']}."
    )
    return answer + (notes(question.last) if question.results else "")


def _is(question: Question) -> list[Call] | str:
    """Whether something is in a state."""
    name = question["name"].lower()
    rows = entities(question.last) if question.results else question.told
    found = next((row for row in rows if row["name"].lower() == name), None)
    if found:
        return f"{'Yes' if found['state'] in STATES[question['state'].lower()] else 'No'}. {found['name']}: {found['state']}."
    if question.results:
        return f"I found nothing named {question['name']}.{notes(question.last)}"
    return listed(question, name=question["name"])


def _switch(question: Question) -> list[Call] | str:
    if not question.results:
        name, area = question["name"], question["area"]
        lights = re.fullmatch(r"(?:all )?(?:the )?(?:lights?|lamps?)", name, re.IGNORECASE)
        if lights and area:
            tasks: dict[str, Any] = {"area": area, "domain": ["light"]}
        else:
            tasks = {"name": f"{area} {name}".strip() if lights else name}
        calls = [Call(f"HassTurn{question['state'].capitalize()}", tasks)]
        if question.has(ANSWER_WHEN_DONE):
            what = f"{name} in the {area}" if area else name
            calls.append(Call(ANSWER_WHEN_DONE, {"answer": f"Turned {question['state'].lower()}: {what}."}))
        return calls
    done = [
        str(item.get("name")) for found in values(question.last, "success") if isinstance(found, list) for item in found
    ]
    failed = [
        str(item.get("name")) for found in values(question.last, "failed") if isinstance(found, list) for item in found
    ]
    if not done and not failed:
        told = ", ".join(facts(question.last))
        return f"The tool answered: {told}." if told else "The tool did not say what it did."
    answer = f"Turned {question['state'].lower()}: {', '.join(done)}." if done else ""
    return f"{answer} Failed: {', '.join(failed)}.".strip() if failed else answer


def _as_told(tool: str, tasks: Callable[[Question], dict[str, Any]]) -> Callable[[Question], list[Call] | str]:
    """Call one tool and repeat what it says, name by name."""

    def decide(question: Question) -> list[Call] | str:
        if not question.results:
            return [Call(tool, tasks(question))]
        return "\n".join(facts(question.last)) or "The tool returned nothing."

    return decide


def _period(question: Question) -> dict[str, Any]:
    period = question["period"].lower() or "today"
    return {"period": period.replace(" ", "_"), **_back(DAY_HOURS)}


def _blink(question: Question) -> list[Call] | str:
    """Switch a light off and on again, with a script made for the purpose."""
    if not question.results:
        return listed(question, name=question["name"])
    if len(question.results) > 1:
        return "\n".join(facts(question.last))
    lights = [row["entity_id"] for row in entities(question.last) if row.get("entity_id", "").startswith("light.")]
    if not lights:
        return f"I found no light named {question['name']}."
    toggle = {"action": "light.toggle", "target": {"entity_id": lights[0]}}
    return [Call("execute_script", {"sequence": [toggle, {"delay": 1}, toggle]})]


def _at_sunset(question: Question) -> list[Call] | str:
    """Write an automation that switches something at sunset."""
    if not question.results:
        return listed(question, name=question["name"])
    if len(question.results) > 1:
        return "\n".join(facts(question.last))
    found = [row["entity_id"] for row in entities(question.last) if row.get("entity_id", "").startswith("light.")]
    if not found:
        return f"I found no light named {question['name']}."
    automation = {
        "alias": f"{question['name'].capitalize()} at sunset",
        "triggers": [{"trigger": "sun", "event": "sunset"}],
        "actions": [{"action": f"light.turn_{question['state'].lower()}", "target": {"entity_id": found[0]}}],
    }
    return [Call("add_automation", {"automation": automation})]


def _when_damp(question: Question) -> list[Call] | str:
    """Write an automation that switches a light of a room when it is humid there."""
    if not question.results:
        return listed(question, area=question["area"])
    if len(question.results) > 1:
        return "\n".join(facts(question.last))
    rows = {row["entity_id"]: row["name"].casefold() for row in entities(question.last) if row.get("entity_id")}
    wanted = question["name"].casefold()
    light = next((key for key, name in rows.items() if key.startswith("light.") and name == wanted), None)
    damp = next((key for key in rows if key.endswith("_humidity")), None)
    if not (light and damp):
        return f"I found no light named {question['name']}, or no humidity, in {question['area']}."
    automation = {
        "alias": f"{question['name'].capitalize()} above {question['limit']} %",
        "triggers": [{"trigger": "numeric_state", "entity_id": damp, "above": int(question["limit"])}],
        "actions": [{"action": f"light.turn_{question['state'].lower()}", "target": {"entity_id": light}}],
    }
    return [Call("add_automation", {"automation": automation})]


def _earlier(question: Question) -> dict[str, Any]:
    triggers = [{"trigger": "sun", "event": "sunset", "offset": "-00:30:00"}]
    return {"automation": question["name"], "changes": {"triggers": triggers}}


def _run(question: Question) -> dict[str, Any]:
    return {"action": "automation.trigger", "target": {"entity_id": question["name"]}}


AGREED = re.compile(r"^(?:yes|ok|okay|sure|please do|do it|go ahead)\b", re.IGNORECASE)

THE = r"(?:(?:the|my|all the|all)\s+)?"
_WHEN = r"(?P<period>today|yesterday|this week|last week|this month|last month)?"

RULES = (
    rule(
        "When did the front door last open?",
        rf"\bwhen (?:did|was|were|has|have) {THE}(?P<name>.+?)(?: been)?(?: last)? "
        r"(?P<verb>open(?:ed)?|closed?|(?:turn|switch)(?:ed)? (?:on|off)|chang(?:ed?))\b",
        _last_change,
    ),
    rule(
        "How many times did the front door change today?",
        rf"\bhow (?:often|many times) (?:did|was|has|have) {THE}(?P<name>.+?)(?: been)? (?:chang|open|clos|turn|switch)",
        _count,
    ),
    rule(
        "How warm was it in the living room?",
        rf"\bhow (?P<measure>warm|cold|hot|cool|humid) (?P<tense>is|was) it (?:today )?in {THE}"
        r"(?P<area>.+?)(?: (?:(?:right )?now|today|yesterday|last night|this morning))?\s*[?.!]*$",
        _measure,
    ),
    rule(
        "Which lights are on?",
        r"\b(?:which|what|are any) (?P<domain>lights|lamps|switches|covers|fans)(?: are)? (?P<state>on|off|open)\b",
        _which_are,
    ),
    rule("Is the front door open?", rf"^(?:is|are) {THE}(?P<name>.+?) (?P<state>open|closed|on|off)\s*[?.!]*$", _is),
    rule(
        "Turn on the garden lights at sunset.",
        rf"\b(?:turn|switch) (?P<state>on|off) {THE}(?P<name>.+?) at sunset\b",
        _at_sunset,
    ),
    rule(
        "Turn on the bathroom light when the bathroom is above 60 %.",
        rf"\b(?:turn|switch) (?P<state>on|off) {THE}(?P<name>.+?) when {THE}(?P<area>.+?) is above (?P<limit>\d+) ?%",
        _when_damp,
    ),
    rule(
        "Start 'Garden lights at sunset' half an hour earlier.",
        r"\bstart '(?P<name>.+?)' half an hour earlier\b",
        _as_told("update_automation", _earlier),
    ),
    rule("Run 'Garden lights at sunset'.", r"\brun '(?P<name>.+?)'", _as_told("perform_action", _run)),
    rule(
        "Turn on the kitchen light.",
        rf"\b(?:turn|switch) (?P<state>on|off) {THE}(?P<name>.+?)(?: in {THE}(?P<area>.+?))?\s*[?.!]*$",
        _switch,
    ),
    rule(
        "Turn the kitchen light off.",
        rf"\b(?:turn|switch) {THE}(?P<name>.+?)(?: in {THE}(?P<area>.+?))? (?P<state>on|off)\s*[?.!]*$",
        _switch,
    ),
    rule("Undo that.", r"^undo\b", _as_told("undo_last_change", lambda _: {})),
    rule("Blink the kitchen light.", rf"\b(?:blink|flash) {THE}(?P<name>.+?)\s*[?.!]*$", _blink),
    rule(
        "How much energy did we use yesterday?",
        rf"\bhow much (?:energy|electricity|power|gas|water|solar)\b.*?{_WHEN}\s*[?.!]*$",
        _as_told("get_energy", _period),
    ),
    rule(
        "What happened today?",
        rf"\bwhat happened\b.*?{_WHEN}\s*[?.!]*$",
        _as_told("get_logbook", lambda _: _back(DAY_HOURS)),
    ),
    rule(
        "What was the average of the outdoor temperature?",
        rf"\bwhat (?:is|was|were) the (?:average|mean|minimum|maximum|lowest|highest)(?: of)? {THE}(?P<name>.+?)"
        rf"(?: {_WHEN})?\s*[?.!]*$",
        _as_told("get_statistics", lambda question: {"statistics": [question["name"]], **_back(DAY_HOURS)}),
    ),
)
