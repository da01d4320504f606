"""What the offline planner understands of what is to happen later: the rules for it, in the order they are tried."""

from typing import Any

from .planner_results import entities, values
from .planner_rules import THE, Call, Question, listed, rule

SECONDS = {"second": 1, "minute": 60, "hour": 3600}
NUMBERS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven"),
    *("eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen"),
    *("sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
)
TENS = {"twenty-five": 25, "thirty": 30, "forty": 40, "forty-five": 45, "fifty": 50, "sixty": 60}
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
RULES_OF_DAYS = {
    "on weekdays": "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR",
    "at weekends": "FREQ=WEEKLY;BYDAY=SA,SU",
    "every day": "FREQ=DAILY",
    **{f"every {day}": f"FREQ=WEEKLY;BYDAY={day[:2].upper()}" for day in DAYS},
}
SNOOZE = 600

# What people say that things do, and the states that begin with it.
BECOMES = {
    "open": ["on", "open", "unlocked"],
    "close": ["off", "closed", "locked"],
    "turn on": ["on"],
    "turn off": ["off"],
    "start": ["on"],
    "finish": ["off"],
    "is done": ["off"],
}
MOVES = {"binary_sensor": 0, "cover": 1, "valve": 1, "lock": 2}
"""What opens and closes, and which of the states that mean it are its own."""
IDLE_POWER = {"below": 5, "for": {"minutes": 2}}
"""The power of an appliance that has finished."""

_END = r"\s*[?.!]*$"
_WORDS = "|".join(sorted((*NUMBERS[1:], *TENS), key=len, reverse=True))
_LENGTH = rf"(?P<number>\d+|an?|{_WORDS}) (?P<unit>second|minute|hour)s?"
_VERB = r"(?P<verb>opens?|closes?|turns? on|turns? off|starts?|finish(?:es)?|is done)"
_SOMEBODY = rf"(?:i|we|you|they|somebody|someone)(?: next)? {_VERB} {THE}(?P<name>.+?)"
_SOMETHING = rf"{THE}(?P<name>.+?)(?: next)? {_VERB}"
_REMIND = rf"^remind (?:me|us) (?:of|about|to) {THE}(?P<what>.+?)"
_TIME = rf"(?P<hour>\d{{1,2}}|{_WORDS})(?::(?P<minute>\d\d))?"


def _seconds(question: Question) -> int:
    """Return a length of time that is said in figures or in words."""
    return _number(question["number"]) * SECONDS[question["unit"].lower()]


def _number(text: str) -> int:
    word = text.lower()
    if word.isdecimal():
        return int(word)
    return TENS.get(word) or (NUMBERS.index(word) if word in NUMBERS else 1)


def _answer(question: Question, what: str) -> str:
    moment, when = (next(values(question.last, key), None) for key in ("next", "when"))
    return f"I will {what} {f'on {moment}' if moment else when}."


def _after(question: Question) -> list[Call] | str:
    """Have something said after a while."""
    if question.results:
        return _answer(question, f"say {question['what']!r}")
    return [Call("do_later", {"when": {"after": _seconds(question)}, "say": question["what"]})]


def _timer(question: Question) -> list[Call] | str:
    """Start a timer: the device's own where it has any."""
    name = question["what"]
    if question.results:
        moment = next(values(question.last, "next"), None)
        return _answer(question, f"say that the {f'{name} ' if name else ''}timer is over") if moment else "It is set."
    if question.has("HassStartTimer"):
        length = {f"{question['unit'].lower()}s": _number(question["number"])}
        return [Call("HassStartTimer", length | ({"name": name} if name else {}))]
    said = f"The {f'{name} ' if name else ''}timer is over"
    return [Call("do_later", {"when": {"after": _seconds(question)}, "say": said, "name": said[4:-8]})]


def _wake(question: Question) -> list[Call] | str:
    """Wake somebody at a time, once or by a rule."""
    if question.results:
        return _answer(question, "wake you")
    when = {"at": f"{_number(question['hour']):02}:{question['minute'] or '00'}"}
    if days := RULES_OF_DAYS.get(question["days"].lower()):
        when["repeat"] = days
    return [Call("do_later", {"when": when, "say": "Good morning", "name": "Alarm"})]


def _trigger(question: Question, rows: list[dict[str, str]]) -> dict[str, Any] | None:
    """Return what sets it off: the first thing that can do what is said of it."""
    verb = next(verb for verb in BECOMES if question["verb"].lower().replace("turns", "turn").startswith(verb))
    by_domain = [(row["entity_id"], row["entity_id"].partition(".")[0], row.get("unit")) for row in rows]
    for entity_id, domain, _ in sorted(by_domain, key=lambda row: row[1] not in MOVES):
        if domain != "sensor":
            states = BECOMES[verb]
            own = states[MOVES[domain]] if domain in MOVES and len(states) > 1 else states
            return {"trigger": "state", "entity_id": entity_id, "to": own}
    power = [entity_id for entity_id, _, unit in by_domain if unit == "W"]
    if verb in ("finish", "is done") and power:
        return {"trigger": "numeric_state", "entity_id": power[0], **IDLE_POWER}
    return None


def _when(question: Question) -> list[Call] | str:
    """Have something said, or switched, when something happens."""
    what = question["what"] or f"{question['name'].capitalize()}: {question['verb'].removeprefix('is ')}"
    wanted = [question["name"], *([question["switched"]] if question["switched"] else [])]
    done = len(question.results)
    if done > len(wanted):
        return _answer(
            question, f"turn {question['state']} {question['switched']}" if len(wanted) > 1 else f"say {what!r}"
        )
    if done < len(wanted) and (not done or entities(question.last)):
        return listed(question, name=wanted[done])
    found = [[row for row in entities(result) if row.get("entity_id")] for result in question.results]
    trigger = _trigger(question, found[0])
    lights = [row["entity_id"] for row in found[-1] if row["entity_id"].startswith(("light.", "switch."))]
    if trigger is None or (len(wanted) > 1 and not lights):
        return f"I found nothing named {wanted[done - 1]}{' that does this' if entities(question.last) else ''}."
    when = {"triggers": [trigger]} | ({"wait": _seconds(question)} if question["unit"] else {})
    if len(wanted) == 1:
        return [Call("do_later", {"when": when, "say": what})]
    domain = lights[0].partition(".")[0]
    action = {"action": f"{domain}.turn_{question['state'].lower()}", "target": {"entity_id": lights[0]}}
    return [Call("do_later", {"when": when, "action": action})]


def _pending(question: Question) -> list[Call] | str:
    """List what is still to come."""
    if not question.results:
        return [Call("pending", {})]
    rows = next(values(question.last, "pending"), [])
    lines = [f"{row.get('next') or row['when']}: {row['what']}" for row in rows]
    lines += [
        f"In {timer['left']}: {timer.get('name', 'timer')}" for timer in next(values(question.last, "timers"), [])
    ]
    return "\n".join(lines) or "Nothing is pending."


def _snooze(question: Question) -> list[Call] | str:
    """Put off what was said last."""
    if not question.results:
        return [Call("pending", {})]
    if len(question.results) > 1:
        return _answer(question, "say it again")
    told = [row for key in ("ended", "pending") for row in next(values(question.last, key), [])]
    said = [row["id"] for row in told if "said" in str(row.get("result", row.get("last", "")))]
    return [Call("pending", {"snooze": {"id": said[0], "seconds": SNOOZE}})] if said else "I have said nothing yet."


LATER_RULES = (
    rule("Remind me of the milk in ten minutes.", rf"{_REMIND} in {_LENGTH}{_END}", _after),
    rule("Remind me of the milk when I next open the fridge.", rf"{_REMIND} when {_SOMEBODY}{_END}", _when),
    rule("Remind me of the milk when the fridge opens.", rf"{_REMIND} when {_SOMETHING}{_END}", _when),
    rule("Tell me when the washing machine is done.", rf"^tell (?:me|us) when {_SOMETHING}{_END}", _when),
    rule(
        "Twenty minutes after the washing machine finishes, turn on the kitchen light.",
        rf"^{_LENGTH} after {_SOMETHING}, (?:turn|switch) (?P<state>on|off) {THE}(?P<switched>.+?){_END}",
        _when,
    ),
    rule(
        "Wake me at seven on weekdays.",
        rf"^wake (?:me|us)(?: up)? at {_TIME}(?: (?P<days>{'|'.join(RULES_OF_DAYS)}))?{_END}",
        _wake,
    ),
    rule("Set a pasta timer for nine minutes.", rf"^set an? (?:(?P<what>.+?) )?timer for {_LENGTH}{_END}", _timer),
    rule("What is still pending?", r"^what(?:'s| is) (?:still )?pending\b", _pending),
    rule("Snooze.", rf"^snooze{_END}", _snooze),
)
