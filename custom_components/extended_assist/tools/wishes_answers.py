"""What is pending and what became of the rest, as it is told."""

from collections.abc import Iterable
from typing import Any, Final

from homeassistant.util.json import JsonObjectType

from ..results import format_time, size
from ..toolbox.call import ToolCall
from ..toolbox.outcome import COUNTS
from ..toolbox.outside import async_authors, marked
from ..wishes.account import (
    async_prepare,
    is_told,
    seen,
    told_audience,
    told_conditions,
    told_shortly,
    told_until,
    told_what,
    told_wish,
)
from ..wishes.device_timers import told_timers
from ..wishes.keeper import async_get_wishes
from ..wishes.reading import told_when
from ..wishes.telling import told_next
from ..wishes.whose import async_may_see
from ..wishes.wish import Wish

MAX_NAME = 60
MAX_TOLD_ENDED = 10
_ROOM = 150
"""Characters of a list that are kept for what is said of it."""
_IN_VAIN: Final = "in vain: something that sets it off is gone or hidden now"
_HIDDEN: Final = "no longer told: something in it is hidden now"


def told(call: ToolCall, wish: Wish) -> JsonObjectType:
    """Return a wish in words; empty parts are left out."""
    hass, exposure = call.hass, call.exposure
    parts: dict[str, Any] = {
        "name": seen(exposure, wish.name),
        "when": told_when(hass, exposure, wish.when),
        "next": told_next(wish.next_moment) if wish.next_moment is not None else "",
        "only": told_conditions(hass, exposure, wish.conditions),
        "what": told_what(hass, exposure, wish.what),
        "for": told_audience(hass, exposure, wish.audience),
        "until": told_until(wish.until),
    }
    if wish.name == told_shortly(wish.what)[:MAX_NAME]:
        del parts["name"]
    if wish.when.watch is not None:
        del parts["next"]
    elif parts["next"] and not (wish.when.rule or wish.when.triggers):
        del parts["when"]
    return {key: value for key, value in parts.items() if value}


async def async_visible(call: ToolCall, wishes: Iterable[Wish]) -> list[Wish]:
    """Return the wishes that the caller sees."""
    return [
        wish for wish in wishes if await async_may_see(call.hass, wish, call.caller) and is_told(call.exposure, wish)
    ]


async def async_listed(call: ToolCall) -> JsonObjectType:
    """Return the pending wishes and the ends of the others, as many of both as there is room for."""
    wishes, words = await async_get_wishes(call.hass), call.arguments.get("about", "").casefold().split()
    room = call.budget - COUNTS - _ROOM
    standing, ended = [await async_visible(call, among) for among in (wishes.standing, wishes.ended)]
    await async_prepare(call.exposure, *standing, *ended)
    rows = [await _async_row(call, wish) for wish in standing]
    past = [_ended_row(call, wish) for wish in ended[:MAX_TOLD_ENDED]]
    rows, past = [[row for row in each if _is_about(row, words)] for each in (rows, past)]
    past = _fitting(past, room // 3)
    timers = told_timers(call.hass, call.exposure, call.caller.device_id)
    timers = _fitting([timer for timer in timers if _is_about(timer, words)], room // 3)
    kept = _fitting(rows, room - size(past) - size(timers))
    answer: JsonObjectType = {"pending": [*kept]}
    if timers:
        answer["timers"] = [*timers]
    if len(rows) > len(kept):
        answer["left_out"] = f"{len(rows) - len(kept)} more, due later. Give about to find one of them."
    if past:
        answer["ended"] = [*past]
    authors = await async_authors(call.hass, call.caller.user_id)
    by_others = any(wish.author not in authors for wish in [*standing, *ended])
    said = [wish.progress.result or "" for wish in [*standing, *ended]]
    # What a device said when it failed is told here, too, and what the assistant answered of what others wrote.
    asked = any(wish.what.ask and wish.progress.result for wish in [*standing, *ended])
    # Whoever set a timer, what it is called is known of nobody.
    are_named = call.caller.user_id is not None and any("name" in timer for timer in timers)
    return marked(answer, when=by_others or asked or are_named or any("failed" in result for result in said))


async def _async_row(call: ToolCall, wish: Wish) -> JsonObjectType:
    """Return a wish that is pending, in words."""
    row = {"id": wish.id} | ({"part_of": wish.after} if wish.after else {}) | told(call, wish)
    if wish.progress.in_vain:
        row["waits"] = _IN_VAIN
    if wish.progress.result:
        row["last"] = call.exposure.visible_value(wish.progress.result) or _HIDDEN
    if wish.owner.user_id not in (None, call.caller.user_id):
        user = await wish.owner.caller().async_user(call.hass)
        row["of"] = (user.name if user else None) or "a user who is gone"
    return row


def _ended_row(call: ToolCall, wish: Wish) -> JsonObjectType:
    """Return a wish that has ended, and what became of it."""
    return {
        "id": wish.id,
        "at": format_time(wish.progress.ended or 0),
        "what": told_wish(call.hass, call.exposure, wish),
        "result": call.exposure.visible_value(wish.progress.result or "") or _HIDDEN,
    }


def _is_about(row: JsonObjectType, words: list[str]) -> bool:
    """Return whether all words are in a row."""
    text = " ".join(map(str, row.values())).casefold()
    return all(word in text for word in words)


def _fitting(rows: list[JsonObjectType], room: int) -> list[JsonObjectType]:
    """Return the first rows for which there is room, at least one where there is any."""
    kept: list[JsonObjectType] = []
    for row in rows:
        if (room := room - size(row) - 1) < 0 and kept:
            break
        kept.append(row)
    return kept
