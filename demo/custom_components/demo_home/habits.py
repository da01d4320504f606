"""What the people of the home do on a day: the same for the same date, always."""

from dataclasses import dataclass, field
from datetime import date
from random import Random

MINUTES = 1440

type Span = tuple[int, int]  # minutes of the local day, the end not included


@dataclass(slots=True)
class Day:
    """One local day of two people, in minutes of the day."""

    wake: int
    leave: int
    back: int
    bed: int
    works_from_home: bool
    laundry: int | None = None  # start
    spans: dict[str, list[Span]] = field(default_factory=dict)
    _minutes: dict[str, frozenset[int]] = field(default_factory=dict)

    def active(self, key: str, minute: int) -> bool:
        """Return whether a minute lies in one of the spans of this name."""
        if (minutes := self._minutes.get(key)) is None:
            spans = self.spans.get(key, ())
            minutes = self._minutes[key] = frozenset(minute for span in spans for minute in range(*span))
        return minute in minutes

    def people(self, minute: int) -> int:
        """Return how many are at home."""
        if not self.leave <= minute < self.back:
            return 2
        return 1 if self.works_from_home else 0

    def asleep(self, minute: int) -> bool:
        """Return whether it is night for them."""
        return minute < self.wake or minute >= self.bed


def plan(day: date) -> Day:
    """Return the plan of one date."""
    random = Random(f"habits {day.isoformat()}")
    weekend = day.weekday() >= 5
    if weekend:
        wake = random.randint(450, 510)
        leave = random.randint(640, 720)
        # Now and then nobody goes out for long.
        back = leave + (random.randint(90, 240) if random.random() < 0.75 else 15)
    else:
        wake = random.randint(385, 405)
        leave = random.randint(462, 495)
        back = random.randint(1040, 1110)
    plan_ = Day(wake, leave, back, random.randint(1350, 1400), works_from_home=day.weekday() in (2, 4))
    if day.weekday() in (1, 5) or (day.weekday() == 6 and random.random() < 0.5):
        plan_.laundry = random.randint(545, 620) if weekend else random.randint(1120, 1160)
    _doors(plan_, random)
    _windows(plan_, random)
    _stays(plan_, random)
    _motion(plan_, day)
    _fridge(plan_, day)
    return plan_


def _doors(day: Day, random: Random) -> None:
    doors = [day.leave, day.back]
    if day.people(day.leave + 1) == 0 and random.random() < 0.6:
        doors.append(day.leave + random.randint(3, 9))  # the second one leaves a little later
    if random.random() < 0.4:
        doors.append(random.randint(day.back + 20, day.back + 120))  # the bin, a neighbour, a parcel
    if day.works_from_home:
        doors.append(random.randint(745, 790))  # a walk at noon
    day.spans["binary_sensor.front_door"] = [(minute, minute + random.randint(1, 2)) for minute in doors]
    by_car = random.random() < 0.6
    garage = [day.leave - 2, day.back - 3] if by_car else []
    day.spans["cover.garage_door"] = [(minute, minute + random.randint(3, 5)) for minute in garage]
    day.spans["light.garage_light"] = [(minute - 1, minute + 9) for minute in garage]
    day.spans["lock.front_door"] = [(minute - 1, minute + 4) for minute in doors]  # when it is unlocked


def _windows(day: Day, random: Random) -> None:
    spans = day.spans
    start = day.wake + random.randint(5, 20)
    spans["binary_sensor.bedroom_window"] = [(start, start + random.randint(10, 30))]
    for key, chance in (("kitchen", 0.4), ("living_room", 0.25), ("study", 0.3)):
        if random.random() < chance:
            start = day.back + random.randint(20, 110)
            spans[f"binary_sensor.{key}_window"] = [(start, start + random.randint(6, 25))]


def _stays(day: Day, random: Random) -> None:
    spans = day.spans
    dinner = min(day.back + random.randint(25, 50), 1150)
    spans["breakfast"] = [(day.wake + 20, day.wake + 50)]
    spans["cooking"] = [(dinner, dinner + random.randint(25, 45))]
    spans["kitchen"] = [(day.wake + 15, day.wake + 55), (dinner - 5, dinner + 75)]
    evening = max(dinner + 70, day.back)
    spans["living_room"] = [(evening, day.bed - 20)]
    if day.leave > 600:  # a slow morning
        spans["living_room"].insert(0, (day.wake + 60, day.leave))
    spans["television"] = [(max(evening, 1200), day.bed - 25)]
    spans["study"] = [(540, 745), (790, 1020)] if day.works_from_home else []
    if random.random() < 0.3:
        spans["study"].append((evening, evening + 60))
    spans["shower"] = [(day.wake + 5, day.wake + 13), (day.wake + 18, day.wake + 25)]
    if random.random() < 0.25:
        spans["shower"].append((day.bed - 60, day.bed - 48))
    spans["bathroom"] = [(day.wake + 3, day.wake + 30), (day.bed - 25, day.bed - 8)]
    spans["toilet"] = [(minute, minute + 1) for minute in _toilet(day, random)]
    spans["light.bedside_lamp"] = [(day.bed - 8, day.bed + random.randint(5, 30))]
    spans["light.reading_lamp"] = [(max(evening, 1215), day.bed - 15)]


def _toilet(day: Day, random: Random) -> list[int]:
    wanted = [day.wake + 2, day.back + 4, day.bed - 10, *(random.randint(day.wake, day.bed) for _ in range(9))]
    return [minute for minute in wanted if day.people(minute)]


def _motion(day: Day, date_: date) -> None:
    """Fill stays with short spans of motion, and the hall with passing."""
    stays = {"living_room": day.spans["living_room"], "kitchen": day.spans["kitchen"]}
    stays["bedroom"] = [(day.wake - 2, day.wake + 12), (day.bed - 12, day.bed + 4)]
    for room, spans in stays.items():
        random = Random(f"motion {room} {date_.isoformat()}")
        found: list[Span] = []
        for start, end in spans:
            minute = start
            while minute < end:
                length = random.randint(1, 4)
                found.append((minute, min(minute + length, end)))
                minute += length + random.randint(2, 14)
        day.spans[f"binary_sensor.{room}_motion"] = found
    doors = [(start - 1, end + 1) for start, end in day.spans["binary_sensor.front_door"]]
    passing = [(minute, minute + 1) for minute, _ in day.spans["toilet"]]
    day.spans["binary_sensor.hall_motion"] = doors + passing
    day.spans["light.hall_light"] = [(start, end + 3) for start, end in doors]


def _fridge(day: Day, date_: date) -> None:
    """Open the fridge now and then by whoever is in the kitchen."""
    random = Random(f"fridge {date_.isoformat()}")
    minutes = sorted(random.randint(start, end) for start, end in day.spans["kitchen"] for _ in range(3))
    day.spans["binary_sensor.fridge_door"] = [(minute, minute + 1) for minute in minutes]
