"""No template reaches what is hidden, leaves the sandbox, or holds up Home Assistant."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
import json
import re
import resource
from statistics import median
import sys
import threading
import time

import pytest

from custom_components.extended_assist.calls.policy import Tier
from custom_components.extended_assist.exposure import entities as exposing
from custom_components.extended_assist.exposure.entities import Exposure
from custom_components.extended_assist.results import ToolError
from custom_components.extended_assist.templates import async_render, async_render_with_notes, render as rendering
from custom_components.extended_assist.templates.limits import Budget, TooLargeError, TooLongError
from custom_components.extended_assist.templates.location import Home
from custom_components.extended_assist.templates.state_proxies import TemplateHome
from homeassistant.components.homeassistant.exposed_entities import async_should_expose
from homeassistant.core import HomeAssistant
from homeassistant.helpers.template import TemplateEnvironment
from tests.attacks.templates import BOMBS, ESCAPE, PATTERNS, REACH
from tests.conftest import ASSISTANT
from tests.helpers.seeds import seeds

from .conftest import Render
from .home import Ids

SECRETS = ("zebra", "quokka", "narwhal", "axolotl", "31415", "serial1")
_LEAKS = re.compile(
    r"object at|<class '|<function|<module|<bound|HomeAssistant|custom_components|globals", re.IGNORECASE
)


async def outcome(hass: HomeAssistant, template: str, **variables: object) -> str:
    """Return all that the model would read."""
    try:
        rendered = await async_render_with_notes(hass, Exposure(hass, ASSISTANT), template, variables)
    except ToolError as err:
        return str(err)
    return "\n".join((rendered.text, *rendered.undefined))


def fill(template: str, ids: Ids) -> str:
    """Return a template with the ids of hidden things."""
    for name, value in (
        ("device", ids.hidden_device),
        ("area", ids.hidden_area),
        ("floor", ids.hidden_floor),
        ("label", ids.hidden_label),
    ):
        template = template.replace(f"%({name})s", value)
    return template


def twin(text: str, ids: Ids) -> str:
    """Return a text with every hidden name and id replaced by one that does not exist, of the same length."""
    for hidden in (ids.hidden_device, ids.hidden_entry):
        text = text.replace(hidden, "f" * len(hidden))
    return re.sub("zebra|quokka|narwhal|axolotl", lambda match: match[0][:-1] + "x", text, flags=re.IGNORECASE)


def test_size_of_the_collection() -> None:
    """The collection is as large as it is meant to be, without repetitions."""
    assert len(REACH) >= 60
    assert len(ESCAPE) >= 50
    assert len(BOMBS) >= 80
    assert len(PATTERNS) >= 25
    for attacks in (REACH, ESCAPE, BOMBS, PATTERNS):
        assert len(set(attacks)) == len(attacks)


async def test_hidden_looks_unknown(hass: HomeAssistant, home: Ids) -> None:
    """What is hidden leaves no trace, and gives what would be given if it did not exist."""
    for attack in REACH:
        template = fill(attack, home)
        found = await outcome(hass, template)
        said = template.lower()
        assert [secret for secret in SECRETS if secret in found.lower() and secret not in said] == [], attack
        assert twin(found, home) == await outcome(hass, twin(template, home)), attack


async def test_reach_finds_what_is_exposed(hass: HomeAssistant, open_home: Ids) -> None:
    """In an open home most of the same templates do show a secret, so the test above proves something."""
    shown = 0
    for attack in REACH:
        template = fill(attack, open_home)
        found = (await outcome(hass, template)).lower()
        shown += any(secret in found for secret in SECRETS)
    assert shown > len(REACH) / 2


async def test_the_attacks_bite(
    hass: HomeAssistant, home: Ids, render: Render, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With Home Assistant's own environment in place of ours, in the same home, most of them do show a secret."""
    full = TemplateEnvironment(hass)
    vars(full)["for_rendering"] = lambda _home: full
    monkeypatch.setattr(rendering, "environment", lambda: full)
    monkeypatch.setattr(rendering, "_compiled", full.compile)
    shown = []
    for attack in REACH:
        template = fill(attack, home)
        found = (await outcome(hass, template)).lower()
        shown.append(any(secret in found and secret not in template.lower() for secret in SECRETS))
    assert sum(shown) > len(REACH) / 2


async def test_no_clock(hass: HomeAssistant, home: Ids, render: Render) -> None:
    """What a template reads of the clock does not go on meanwhile, so it cannot time what it asks."""
    busy = "{% for i in range(20000) %}{% endfor %}"
    assert await render("{% set a = now() %}" + busy + "{{ now() == a }} {{ utcnow() == a }}") == "True True"
    assert await render("{% set a = as_timestamp(now()) %}" + busy + "{{ as_timestamp(utcnow()) - a }}") == "0.0"


async def test_hidden_and_missing_take_the_same_time(hass: HomeAssistant, home: Ids) -> None:
    """To find that an entity is hidden takes as long as to find that there is none."""
    taken: dict[str, list[float]] = {"sensor.zebra": [], "sensor.zebrx": []}

    def ask() -> None:
        for _ in range(300):
            for entity_id, times in taken.items():
                asked = TemplateHome(hass, Exposure(hass, ASSISTANT), Budget())
                begun = time.perf_counter()
                assert asked.find(entity_id) is None
                times.append(time.perf_counter() - begun)

    await hass.async_add_executor_job(ask)
    hidden, missing = (median(times) for times in taken.values())
    assert 2 / 3 < hidden / missing < 3 / 2


async def test_hidden_and_missing_take_the_same_way(
    hass: HomeAssistant, home: Ids, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether an entity is hidden or missing, what is exposed is looked up once for it, however it is spelled."""
    asked: list[str] = []

    def noted(hass: HomeAssistant, assistant: str, entity_id: str) -> bool:
        asked.append(entity_id)
        return async_should_expose(hass, assistant, entity_id)

    monkeypatch.setattr(exposing, "async_should_expose", noted)
    hass.states.async_set("zone.home", "0")
    for spelled in ("sensor.zebra SENSOR.zebra Sensor.Zebra", "sensor.zebrx SENSOR.zebrx Sensor.Zebrx"):
        asked.clear()
        here = TemplateHome(hass, Exposure(hass, ASSISTANT), Budget())
        assert [here.entry(name) for name in spelled.split()] == [None] * 3
        assert len(asked) == 1


@dataclass
class Coordinator:
    """What an integration may keep in an attribute."""

    target: str = "sensor.zebra"

    def fetch(self) -> str:
        """Return what is hidden."""
        return self.target


async def test_objects_in_attributes(hass: HomeAssistant, home: Ids, render: Render) -> None:
    """An object of an integration is not handed to a template; what is a value stays."""
    moment = datetime(2026, 3, 2, tzinfo=UTC)
    values = {"when": moment, "color": Tier.READ, "far": timedelta(1)}
    hass.states.async_set("light.lamp", "on", {"own": Coordinator(), "deep": {"own": [Coordinator()]}, **values})
    for template in (
        "{{ state_attr('light.lamp', 'own').fetch() }}",
        "{{ states.light.lamp.attributes.own.target }}",
        "{{ states.light.lamp.attributes.deep.own[0].target }}",
        "{{ states.light.lamp.attributes }} {{ states.light.lamp.as_dict() }}",
    ):
        assert "zebra" not in await outcome(hass, template)
    assert await render("{{ state_attr('light.lamp', 'when') }}") == str(moment)
    assert await render("{{ states.light.lamp.attributes.keys() | list }}") == "['deep', 'when', 'color', 'far']"


async def test_the_same_question_is_asked_once(hass: HomeAssistant, home: Ids) -> None:
    """However often a template asks, the answer is looked for once: time cannot be made to add up."""
    asked = []

    def counted(home: Home, name: str, *, more: int = 0) -> str:
        asked.append((name, more))
        return name

    here = TemplateHome(hass, Exposure(hass, ASSISTANT), Budget())
    for _ in range(3):
        assert [here.ask(counted, "a"), here.ask(counted, "b"), here.ask(counted, "a", more=1)] == ["a", "b", "a"]
    assert asked == [("a", 0), ("b", 0), ("a", 1)]
    with pytest.raises(TypeError, match="expects text, got list"):
        here.ask(counted, ["a"])


async def test_no_escape(hass: HomeAssistant, home: Ids, render: Render) -> None:
    """Nothing of Python or Home Assistant behind the values is reached."""
    for attack in ESCAPE:
        try:
            text = await render(attack)
        except ToolError:
            continue
        assert not _LEAKS.search(text), attack
        assert [secret for secret in SECRETS if secret in text.lower()] == [], attack


async def test_escape_through_variables(hass: HomeAssistant, home: Ids) -> None:
    """Variables are values: they are neither rendered nor looked up, and shadow functions for this template only."""
    exposure = Exposure(hass, ASSISTANT)
    variables = {"x": "{{ states('light.lamp') }}", "states": "mine", "self": 1, "context": 2}
    assert await async_render(hass, exposure, "{{ x }}", variables) == "{{ states('light.lamp') }}"
    assert await async_render(hass, exposure, "{{ states }}", variables) == "mine"
    assert await async_render(hass, exposure, "{{ states('light.lamp') }}") == "on"


class Watch:
    """Notes how long the event loop was held up."""

    longest = 0.0

    async def run(self) -> None:
        """Look at the clock every hundredth of a second."""
        while True:
            start = time.perf_counter()
            await asyncio.sleep(0.01)
            self.longest = max(self.longest, time.perf_counter() - start)


@pytest.fixture
async def watch(monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Watch]:
    """Watch the event loop, and give templates a quarter of a second."""
    monkeypatch.setattr(rendering, "TIME_LIMIT", 0.25)
    watch = Watch()
    task = asyncio.ensure_future(watch.run())
    yield watch
    task.cancel()
    await asyncio.sleep(0.15)  # Whoever looks whether a thread has ended looks once more.


async def test_bombs(home: Ids, render: Render, watch: Watch) -> None:
    """Each ends soon, with an error, and meanwhile the event loop runs and memory stays small."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for bomb in BOMBS:
        watch.longest = 0.0
        start = time.perf_counter()
        with pytest.raises(ToolError):
            assert not bomb, await render(bomb)
        assert time.perf_counter() - start < 2, bomb
        assert watch.longest < 1, bomb
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert grown < 400


def alike(number: int) -> tuple[list[int], list[int]]:
    """Return the first and second numbers of pairs that Python puts into one place of a set: it mixes them with these."""
    wrap, one, two, five = 2**64, 11400714785074694791, 14029467366897019727, 2870177450012600261
    mixed = -(2 ^ five ^ 3527539) * pow(one, -1, wrap) % wrap
    mixed = (mixed >> 31 | mixed << 33) % wrap
    firsts, seconds = [], []
    for first in count(1):
        turned = (five + first * two) % wrap
        second = (mixed - (turned << 31 | turned >> 33) * one) * pow(two, -1, wrap) % wrap
        second -= wrap * (second >= wrap // 2)
        if abs(second) < 2**61 - 1:
            firsts.append(first)
            seconds.append(second)
        if len(firsts) == number:
            break
    return firsts, seconds


async def test_sets_of_pairs(home: Ids, render: Render) -> None:
    """Pairs that were chosen to be in each other's way in a set are not many enough to hold anything."""
    firsts, seconds = alike(9_000)
    assert len(set(map(hash, zip(firsts, seconds, strict=True)))) == 1
    for made in ("set(zip(a, b))", "zip(a, b) | unique | list", "dict(zip(zip(a, b), a))"):
        with pytest.raises(ToolError, match="too large"):
            await render("{{ " + made + " | count }}", a=firsts, b=seconds)
    assert await render("{{ set(zip(a, b)) | count }}", a=firsts[:1500], b=seconds[:1500]) == "1500"


async def test_threads_end(home: Ids, render: Render, watch: Watch) -> None:
    """After its time, and when nobody waits any more, the thread of a template is gone."""

    def threads() -> list[threading.Thread]:
        return [thread for thread in threading.enumerate() if thread.name == "extended_assist template"]

    endless = "{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}"
    with pytest.raises(ToolError, match=r"longer than 0\.25 seconds"):
        await render(endless)
    task = asyncio.ensure_future(render(endless))
    await asyncio.sleep(0.05)
    assert threads()
    task.cancel()
    await asyncio.sleep(0.3)
    assert task.cancelled()
    assert threads() == []


async def test_renderings_wait_for_each_other(home: Ids, render: Render, watch: Watch) -> None:
    """Many at once do not hold up the event loop more than one, and those that are fine are rendered."""
    endless = "{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}"
    results = await asyncio.gather(
        *(render(endless) for _ in range(3)), *(render("{{ 1 + 1 }}") for _ in range(5)), return_exceptions=True
    )
    assert [str(result) for result in results[3:]] == ["2"] * 5
    assert all(isinstance(result, ToolError) for result in results[:3])
    assert watch.longest < 1


async def test_patterns(home: Ids, render: Render, watch: Watch) -> None:
    """Whatever is to be matched with what, it ends soon, and meanwhile the event loop runs."""
    wide = "".join(chr(0x1F300 + number) for number in range(900))
    answered = 0
    for attack in PATTERNS:
        watch.longest = 0.0
        start = time.perf_counter()
        try:
            await render(attack, wide=wide)
            answered += 1
        except ToolError:
            pass
        assert time.perf_counter() - start < 2, attack
        assert watch.longest < 1, attack
    assert 5 < answered < len(PATTERNS) - 5


async def test_compiled_templates_hold_nothing_of_the_home(hass: HomeAssistant, home: Ids, render: Render) -> None:
    """The same template, rendered again after the home changed, shows the new home."""
    template = "{{ states('light.lamp') }} {{ 'light.lamp' | states }} {{ area_name('light.lamp') }}"
    assert await render(template) == "on on Living Room"
    hass.states.async_set("light.lamp", "off")
    assert await render(template) == "off off Living Room"
    hass.states.async_remove("light.lamp")
    assert await render(template) == "unknown unknown None"


async def test_nested_too_deeply_to_compile(home: Ids, render: Render, watch: Watch) -> None:
    """Syntax that would overflow the parser is an error like any other."""
    for template in (
        "{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}",
        "{{ " + "[" * 3000 + "]" * 3000 + " }}",
        "{{ " + "-" * 5000 + "1 }}",
        "{{ " + "not " * 2000 + "1 }}",
        "{{ " + "1 + " * 2000 + "1 }}",
        "{% if 1 %}" * 400 + "{% endif %}" * 400,
        "{% for i in [1] %}" * 200 + "{% endfor %}" * 200,
        "{{ x" + ".y" * 3000 + " }}",
    ):
        try:
            text = await render(template)
        except ToolError:
            continue
        assert len(text) < 100


def test_a_budget_ends_without_a_thread() -> None:
    """Where nothing can interrupt, loops and calls end by themselves."""
    budget = Budget(0.05)
    with pytest.raises(TooLongError, match=r"longer than 0\.05 seconds"):
        for _ in budget.ticking(iter(int, 1)):
            pass
    with pytest.raises(TooLongError):
        budget.check("x")
    with pytest.raises(TooLargeError):
        Budget().gathered(iter(int, 1))


@pytest.mark.timeout(300)
async def test_random_templates() -> None:
    """Whatever a template is made of, it ends by itself, soon and small, and takes no interpreter with it."""
    chosen = seeds(20)
    hammer = await asyncio.create_subprocess_exec(
        *(sys.executable, "-W", "ignore", "-m", "tests.templates.hammer", str(chosen.start), str(len(chosen))),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await hammer.communicate()
    assert hammer.returncode == 0, err.decode()[-2000:]
    assert json.loads(out) == []
