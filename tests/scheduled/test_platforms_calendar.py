"""What will happen in the household, as a calendar."""

from datetime import datetime, timedelta
from typing import Any

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, async_fire_time_changed

from custom_components.extended_assist.calendar import MAX_EVENTS
from custom_components.extended_assist.scheduled.scheduled_task import Progress, ScheduledTask, Until, What, When
from homeassistant.core import HomeAssistant
from homeassistant.util import dt as dt_util

from .shown import CALENDAR, async_add, async_set_up_home, make_task

pytestmark = pytest.mark.usefixtures("assist", "no_deprecations")

START = "2026-03-02T06:00:00"
"""A Monday."""


@pytest.fixture
async def home(assist: None, hass: HomeAssistant, freezer: FrozenDateTimeFactory) -> MockConfigEntry:
    """Return an entry in Berlin whose tasks are shown, on a Monday morning."""
    await hass.config.async_set_time_zone("Europe/Berlin")
    freezer.move_to(moment(START))
    return await async_set_up_home(hass)


def moment(local: str) -> datetime:
    """Return a local time; what comes after + is its offset."""
    found = datetime.fromisoformat(local)
    return found if found.tzinfo else found.replace(tzinfo=dt_util.get_default_time_zone())


def seconds(local: str) -> float:
    """Return a local time as it is stored."""
    return moment(local).timestamp()


def by_rule(home: MockConfigEntry, rule: str, due: str, name: str = "Bins", **parts: Any) -> ScheduledTask:
    """Return a task that comes by a rule, first at a local time."""
    when = When(rule=rule, start=START)
    return make_task(home, name, when=when, progress=Progress(due=seconds(due)), **parts)


async def events(hass: HomeAssistant, start: str, end: str) -> list[dict[str, str]]:
    """Return what the calendar holds in a span."""
    found = await hass.services.async_call(
        "calendar",
        "get_events",
        {"start_date_time": moment(start), "end_date_time": moment(end)},
        blocking=True,
        return_response=True,
        target={"entity_id": CALENDAR},
    )
    listed: list[dict[str, str]] = found[CALENDAR]["events"]
    return listed


async def starts(hass: HomeAssistant, start: str, end: str) -> list[tuple[str, str]]:
    """Return when what begins in a span."""
    return [(event["start"], event["summary"]) for event in await events(hass, start, end)]


async def test_by_rule(hass: HomeAssistant, home: MockConfigEntry) -> None:
    """A rule is shown each time, a quarter of an hour long, in any span that lies ahead."""
    await async_add(hass, by_rule(home, "FREQ=WEEKLY;BYDAY=MO,WE;BYHOUR=18;BYMINUTE=30", "2026-03-02T18:30:00"))
    assert await events(hass, "2026-03-02T00:00:00", "2026-03-05T00:00:00") == [
        {
            "start": "2026-03-02T18:30:00+01:00",
            "end": "2026-03-02T18:45:00+01:00",
            "summary": "Bins",
            "description": "Bins",
        },
        {
            "start": "2026-03-04T18:30:00+01:00",
            "end": "2026-03-04T18:45:00+01:00",
            "summary": "Bins",
            "description": "Bins",
        },
    ]
    # Clocks are set forward on 29 March.
    assert await starts(hass, "2026-03-25T18:40:00", "2026-03-30T18:31:00") == [
        ("2026-03-25T18:30:00+01:00", "Bins"),
        ("2026-03-30T18:30:00+02:00", "Bins"),
    ]
    assert await starts(hass, "2026-02-01T00:00:00", "2026-03-02T06:00:00") == []


async def test_what_is_shown(hass: HomeAssistant, home: MockConfigEntry) -> None:
    """Once, after a trigger, said again: by its time, whatever it is; nobody's own, and nothing without a time."""
    trigger = [{"trigger": "state", "entity_id": "binary_sensor.fridge", "to": "on"}]
    once = make_task(home, "Once", when=When(moment=seconds("2026-03-02T09:00:00")))
    waits = make_task(home, "Waits", when=When(triggers=trigger), progress=Progress(due=seconds("2026-03-02T08:00:00")))
    said = make_task(
        home,
        "Again",
        when=When(rule="FREQ=DAILY;BYHOUR=20", start=START),
        what=What(ask="Is it done?"),
        until=Until(done=True),
        progress=Progress(due=seconds("2026-03-02T20:00:00"), again=seconds("2026-03-02T07:00:00")),
    )
    fridge = make_task(home, "Fridge", when=When(triggers=trigger))
    own = make_task(home, "Present", user_id="anna", when=When(moment=seconds("2026-03-02T08:30:00")))
    gone = make_task(home, "Gone", when=When(moment=seconds("2026-03-02T08:40:00")))
    keeper = await async_add(hass, once, waits, said, fridge, own, gone)
    await keeper.async_end(gone.id, "ended by voice")
    await hass.async_block_till_done()
    assert await starts(hass, "2026-03-02T00:00:00", "2026-03-03T00:00:00") == [
        ("2026-03-02T07:00:00+01:00", "Again"),
        ("2026-03-02T08:00:00+01:00", "Waits"),
        ("2026-03-02T09:00:00+01:00", "Once"),
        ("2026-03-02T20:00:00+01:00", "Again"),
    ]
    state = hass.states.get(CALENDAR)
    assert state
    assert (state.state, state.attributes["message"], state.attributes["description"]) == (
        "off",
        "Again",
        "Is it done?",
    )


@pytest.mark.parametrize(
    ("until", "progress", "days"),
    [
        (Until(times=3), {"times": 1}, ["02", "03"]),
        (Until(moment=1772600400.0), {}, ["02", "03", "04"]),  # 06:00 on 4 March, when it comes, too
        (Until(moment=1772600399.0), {}, ["02", "03"]),
    ],
)
async def test_until(
    hass: HomeAssistant, home: MockConfigEntry, until: Until, progress: dict[str, int], days: list[str]
) -> None:
    """What ends is not shown after its end, be that a number of times or a moment."""
    one = by_rule(home, "FREQ=DAILY", "2026-03-02T06:00:00", until=until)
    one.progress.times = progress.get("times", 0)
    one.progress.due = seconds("2026-03-02T06:00:00")
    await async_add(hass, one)
    found = await starts(hass, "2026-03-02T05:00:00", "2026-03-20T00:00:00")
    assert [start[8:10] for start, _ in found] == days
    assert len(await starts(hass, "2026-03-03T00:00:00", "2026-03-20T00:00:00")) == len(days) - 1


@pytest.mark.parametrize(
    ("due", "expected"),
    [
        # Clocks go from 03:00 back to 02:00: what ends after that is shown an hour longer, not as ending before it began.
        ("02:50:00+02:00", ("02:50:00+02:00", "03:05:00+01:00")),
        ("02:20:00+02:00", ("02:20:00+02:00", "02:35:00+02:00")),
        ("01:50:00+02:00", ("01:50:00+02:00", "02:05:00+02:00")),
        # The second time that clocks show it.
        ("02:20:00+01:00", ("02:20:00+01:00", "02:35:00+01:00")),
    ],
)
async def test_clocks_set_back(hass: HomeAssistant, due: str, expected: tuple[str, str]) -> None:
    """The night in which clocks are set back breaks nothing; a clock that a test stops knows only one of the two hours."""
    await hass.config.async_set_time_zone("Europe/Berlin")
    entry = await async_set_up_home(hass)
    await async_add(hass, make_task(entry, "Bins", when=When(moment=seconds(f"2050-10-30T{due}"))))
    (event,) = await events(hass, "2050-10-30T00:00:00", "2050-10-31T00:00:00")
    assert (event["start"][11:], event["end"][11:]) == expected


async def test_many(hass: HomeAssistant, home: MockConfigEntry) -> None:
    """Of what comes every few minutes, so much is shown, soonest first and of all tasks alike."""
    names = ("A", "B", "C")
    await async_add(hass, *(by_rule(home, "FREQ=MINUTELY;INTERVAL=5", "2026-03-02T06:05:00", name) for name in names))
    found = await starts(hass, "2026-03-02T00:00:00", "2027-03-02T00:00:00")
    assert len(found) == MAX_EVENTS
    assert found == sorted(found, key=lambda one: one[0])
    assert {name for _, name in found[:3]} == {*names}
    later = await starts(hass, "2026-12-24T10:00:00", "2026-12-24T10:10:00")
    assert [start for start, _ in later[-3:]] == ["2026-12-24T10:05:00+01:00"] * 3


async def test_state(hass: HomeAssistant, home: MockConfigEntry, freezer: FrozenDateTimeFactory) -> None:
    """The calendar is on while something is shown, and goes on to the next by itself."""
    one = by_rule(home, "FREQ=DAILY;BYHOUR=7", "2026-03-02T07:00:00")
    keeper = await async_add(hass, one)
    assert hass.states.get(CALENDAR).state == "off"
    for offset, state, day in ((0, "on", "02"), (14, "on", "02"), (16, "off", "03")):
        now = moment("2026-03-02T07:00:00") + timedelta(minutes=offset)
        freezer.move_to(now)
        if offset == 0:  # As the keeper does when it begins.
            one.progress.last, one.progress.due = now.timestamp(), seconds("2026-03-03T07:00:00")
            await keeper.async_rename(one.id, "Bins")
        async_fire_time_changed(hass, now)
        await hass.async_block_till_done()
        found = hass.states.get(CALENDAR)
        assert found
        assert (found.state, found.attributes["start_time"][8:10]) == (state, day)
    await keeper.async_end(one.id, "ended by voice")
    assert "message" not in hass.states.get(CALENDAR).attributes


async def test_read_only(hass: HomeAssistant, home: MockConfigEntry) -> None:
    """Nothing can be put into it."""
    assert "supported_features" not in hass.states.get(CALENDAR).attributes
