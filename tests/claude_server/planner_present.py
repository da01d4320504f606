"""What a request tells of the present: names and states with its messages, kinds in its instructions."""

import re
from typing import Any

_NOW = ("States now:", "States now, the rest as before:", "States now: as before.")
_LINE = re.compile(r"\[(?P<place>[^\[\]]+)\] (?P<told>.+)")
_READING = re.compile(r"(?P<state>-?\d[\d.]*)(?: ?(?P<unit>\D.*))?")


def present(request_body: dict[str, Any]) -> list[dict[str, str]]:
    """Return name, area, domain, state and unit of what the newest message tells; nothing where it does not tell of it.

    Messages tell what has changed since those before, as they are in this request. Domains stand in the instructions.
    """
    told: dict[tuple[str, str], str] = {}
    is_told = False
    for message in request_body["messages"]:
        if message["role"] != "user" or isinstance(message["content"], str):
            continue
        notes = [block["text"] for block in message["content"][:-1] if block["type"] == "text"]
        if message["content"][-1]["type"] == "text":
            is_told = False
        for line in "\n".join(notes).splitlines():
            if line in _NOW:
                is_told = True
                told = {} if line == _NOW[0] else told
            elif is_told and (match := _LINE.fullmatch(line)):
                for part in match["told"].split("; "):
                    name, _, state = part.rpartition(": ")
                    told[match["place"], name] = state
    domains = _domains(request_body.get("system") or "")
    return [_row(*key, state, domains.get(key, "")) for key, state in told.items()] if is_told else []


def _row(place: str, name: str, state: str, domain: str) -> dict[str, str]:
    reading = _READING.fullmatch(state)
    return {
        "name": name,
        "area": place,
        "domain": domain,
        "state": reading["state"] if reading else state.partition(" ")[0],
        "unit": (reading["unit"] or "") if reading else "",
    }


def _domains(system: str | list[dict[str, Any]]) -> dict[tuple[str, str], str]:
    """Return the domains of the home's overview, by place and first name."""
    text = system if isinstance(system, str) else "\n".join(block["text"] for block in system)
    domains: dict[tuple[str, str], str] = {}
    place = ""
    for line in text.splitlines():
        if match := re.fullmatch(r"\[([^\[\]]+)\]", line):
            place = match[1]
        elif place and (match := re.fullmatch(r"(\w+): (.+)", line)):
            domains |= {(place, names.partition(" = ")[0]): match[1] for names in match[2].split("; ")}
        else:
            place = ""
    return domains
