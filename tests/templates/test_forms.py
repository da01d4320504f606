"""Templates that run later are let through by a table of forms, and tell nothing else in Home Assistant's own environment."""

import random
from random import Random
import re

from freezegun.api import FrozenDateTimeFactory
import pytest

from custom_components.extended_assist.templates import forms
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import TemplateError
from homeassistant.helpers.template import TemplateEnvironment
from tests.attacks.written_templates import LEAKS, QUIET
from tests.helpers.seeds import seeds

from .full import build, fill, reach_of, rendered
from .random_written import Grammar
from .written import PLAIN

_ADDRESS = re.compile(r"0x[0-9a-f]+")


@pytest.fixture(autouse=True)
async def full(hass: HomeAssistant, assist: None, freezer: FrozenDateTimeFactory) -> None:
    """Build the home, in which time stands still."""
    await build(hass)


def told(hass: HomeAssistant, template: str, mark: str) -> str:
    """Return what Home Assistant makes of a template, or its error, without chance in it."""
    random.seed(1)
    try:
        return _ADDRESS.sub("", rendered(hass, template, mark))
    except TemplateError as err:
        return _ADDRESS.sub("", str(err))


async def test_what_people_write(hass: HomeAssistant, subtests: pytest.Subtests) -> None:
    """What people need is let through, and tells the same whatever is hidden."""
    for template in PLAIN:
        with subtests.test(template):
            fill(hass, "canary")
            reach = reach_of(hass, template)
            assert not isinstance(reach, str), reach
            first = told(hass, template, "canary")
            assert "canary" not in first
            fill(hass, "")
            assert first == told(hass, template, "")


async def test_what_leaks(hass: HomeAssistant, subtests: pytest.Subtests) -> None:
    """What tells something hidden or secret in Home Assistant's own environment is refused, and the refusal tells nothing."""
    for template in LEAKS:
        with subtests.test(template):
            assert re.search("canary|zebra", told(hass, template, "canary"))
            refused = reach_of(hass, template)
            assert isinstance(refused, str)
            assert "canary" not in refused


async def test_what_could_lead_on(hass: HomeAssistant, subtests: pytest.Subtests) -> None:
    """What is in no table is refused, whether it tells something or not."""
    for template in QUIET:
        with subtests.test(template):
            assert isinstance(reach_of(hass, template), str)


async def test_every_name_of_home_assistant(hass: HomeAssistant) -> None:
    """Only what the tables name can be used, in any way; what a later version adds is refused by itself."""
    environment = TemplateEnvironment(hass)
    entity = forms.ENTITY_FUNCTIONS | forms.ATTRIBUTE_FUNCTIONS
    tables = (
        (environment.globals, forms.FUNCTIONS, ("{{ NAME(x) }}", "{{ NAME(1, x) }}", "{% set y = NAME(x) %}{{ y.a }}")),
        (
            environment.filters,
            forms.FILTERS | forms.NAMING.keys(),
            ("{{ x | NAME }}", "{{ x | NAME(x) }}", "{{ [x] | map('NAME') | list }}"),
        ),
        (
            environment.tests,
            forms.TESTS,
            ("{{ x is NAME }}", "{{ x is NAME(x) }}", "{{ [x] | select('NAME', x) | list }}"),
        ),
    )
    for there, table, uses in tables:
        assert table <= there.keys()
        known = {*there, "added_later"}
        for name in known:
            if there is not environment.tests and name.isidentifier():
                assert (name in forms.CONSTANTS) is not isinstance(reach_of(hass, f"{{{{ {name} }}}}"), str), name
            passed = [use for use in uses if not isinstance(reach_of(hass, use.replace("NAME", name)), str)]
            if not name.isidentifier():
                assert "select" in str(passed)
            elif name in table:
                assert passed, name
                for thing in ("trigger.to_state", "states.light.lamp.attributes", "trigger", "answer", "context"):
                    leads = [use.replace("x", thing).replace("NAME", name) for use in uses if "x" in use]
                    for use in leads:
                        assert name in forms.PRESENT or isinstance(reach_of(hass, use), str), use
            else:
                assert not passed, passed
        for name in entity & known:
            use = uses[0].replace("NAME", name).replace("x", "'light.lamp'")
            assert isinstance(reach_of(hass, use), str) is (name in forms.ATTRIBUTE_FUNCTIONS), use


@pytest.mark.parametrize("seed", seeds(2))
async def test_random_templates(hass: HomeAssistant, seed: int) -> None:
    """Whatever is let through tells the same in homes that differ in what is hidden and secret, and nothing of it."""
    grammar = Grammar(Random(seed), TemplateEnvironment(hass))
    templates = [
        template
        for template in (grammar.template() for _ in range(3000))
        if not isinstance(reach_of(hass, template), str)
    ]
    assert len(templates) > 120
    answers = []
    for mark in ("canary", "otherbird", ""):
        fill(hass, mark)
        answers.append([told(hass, template, mark) for template in templates])
    for template, *found in zip(templates, *answers, strict=True):
        assert len(set(found)) == 1, (template, found)
        assert not re.search("canary|otherbird", found[0]), template
