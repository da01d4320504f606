"""What is available in templates, in every served Home Assistant, and what each name does with hidden things."""

import json
from pathlib import Path

import pytest

from custom_components.extended_assist.exposure.entities import Exposure
from custom_components.extended_assist.templates.environment import FUNCTIONS, ExposedEnvironment
from custom_components.extended_assist.templates.names import (
    LEFT_OUT,
    OWN_FILTERS,
    OWN_GLOBALS,
    OWN_TESTS,
    PURE_FILTERS,
    PURE_GLOBALS,
    PURE_TESTS,
)
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers.template import TemplateEnvironment
from tests.conftest import ASSISTANT, expose
from tests.e2e.instance import ENVIRONMENTS
from tests.e2e.programs import Program, lines_of

from .available import names
from .conftest import Render
from .home import HIDDEN_AREA, HIDDEN_DEVICE, HIDDEN_FLOOR, HIDDEN_LABEL, Ids
from .test_attacks import SECRETS, outcome, twin


@pytest.fixture(params=ENVIRONMENTS)
def found(request: pytest.FixtureRequest, hass: HomeAssistant, tmp_path: Path) -> dict[str, dict[str, list[str]]]:
    """Return the names in the environment of each Home Assistant."""
    if request.param == "test":
        return names(hass)
    ((printed,),) = lines_of(Program(request.param, "tests.templates.available", tmp_path / "run"))
    return json.loads(printed)


def test_every_name_is_decided(found: dict[str, dict[str, list[str]]]) -> None:
    """Every name of Home Assistant is available or left out for a reason, and ours has no other names."""
    listed = {
        "globals": PURE_GLOBALS | OWN_GLOBALS | {function.name for function in FUNCTIONS if function.is_global},
        "filters": PURE_FILTERS | OWN_FILTERS | {function.name for function in FUNCTIONS if function.is_filter},
        "tests": PURE_TESTS | OWN_TESTS | {function.name for function in FUNCTIONS if function.is_test},
    }
    for kind, available in listed.items():
        core, ours = set(found["core"][kind]), set(found["ours"][kind])
        assert ours == available, kind
        assert ours <= core, kind
        assert core - ours <= LEFT_OUT.keys(), kind
    every = set().union(*(found["core"][kind] for kind in listed))
    assert LEFT_OUT.keys() == every - set().union(*(found["ours"][kind] for kind in listed))


def test_a_new_name_of_home_assistant_is_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a newer Home Assistant adds to the environment for everyone does not appear by itself."""
    original = TemplateEnvironment.__init__

    def newer(self: TemplateEnvironment, *args: object, **kwargs: object) -> None:
        original(self, *args, **kwargs)
        for table in (self.globals, self.filters, self.tests):
            table["read_anything"] = lambda *_: "everything"

    monkeypatch.setattr(TemplateEnvironment, "__init__", newer)
    environment = ExposedEnvironment()
    assert "read_anything" in TemplateEnvironment(None).globals
    for table in (environment.globals, environment.filters, environment.tests):
        assert "read_anything" not in table


async def test_no_name_shows_a_trace(hass: HomeAssistant, home: Ids) -> None:
    """Every function, filter and test, tried on every hidden name and id: no trace, and hidden looks unknown."""
    environment = ExposedEnvironment()
    ours = {function.name for function in FUNCTIONS} | {"states"}
    values = [
        "sensor.zebra",
        "group.nested",
        home.hidden_device,
        home.hidden_area,
        home.hidden_floor,
        home.hidden_label,
        home.hidden_entry,
        HIDDEN_DEVICE,
        HIDDEN_AREA,
        HIDDEN_FLOOR,
        HIDDEN_LABEL,
        "Axolotl cloud",
        "zebranet",
    ]
    more = ["", "'friendly_name'", "'model'", "'on'", "'title'", "'model', 'Quokka 3000'", "'narwhal', 1"]

    unknown = [twin(value, home) for value in values]
    shapes = {"globals": "{{ NAME(x, MORE) }}", "filters": "{{ x | NAME(MORE) }}", "tests": "{{ x is NAME(MORE) }}"}
    answered = set()
    for kind, shape in shapes.items():
        for name in sorted(getattr(environment, kind)):
            if kind == "tests" and not name.isidentifier():
                continue  # An operator, compared like any value.
            for extra in more if name in ours else more[:1]:
                template = shape.replace("NAME", name).replace(", MORE" if not extra else "MORE", extra)
                template = template.replace("MORE", "")
                # The others cannot know the home: what they say about a hidden id names nothing else that is hidden.
                found = (await outcome(hass, template, x=home.hidden_device)).lower()
                assert [s for s in SECRETS if s in found and s not in template.lower()] == [], template
                if name not in ours or found.startswith("the template failed"):
                    continue
                answered.add((kind, name))
                every = "{% for x in all %}" + template + "{% endfor %}"
                found = await outcome(hass, every, all=values)
                assert twin(found, home) == await outcome(hass, twin(every, home), all=unknown), template
    for kind in shapes:
        assert {name for each, name in answered if each == kind} == getattr(environment, kind).keys() & ours - {
            "areas",
            "floors",
        }, kind


async def test_every_function_reaches_what_is_exposed(hass: HomeAssistant, home: Ids) -> None:
    """The names tried above do answer for exposed things, each in every way it is available."""
    arguments = {
        "state_attr": ("light.lamp", "'brightness'", "180"),
        "states": ("light.lamp", "", "on"),
        "is_state": ("light.lamp", "'on'", "True"),
        "is_state_attr": ("light.lamp", "'brightness', 180", "True"),
        "has_value": ("light.lamp", "", "True"),
        "expand": ("group.lights", "", "ceiling"),
        "state_translated": ("light.lamp", "", "On"),
        "state_attr_translated": ("light.lamp", "'brightness'", "180"),
        "is_hidden_entity": ("light.bed", "", "True"),
        "area_id": ("Kitchen", "", "kitchen"),
        "area_name": ("kitchen", "", "Kitchen"),
        "area_entities": ("Kitchen", "", "light.ceiling"),
        "area_devices": ("Kitchen", "", home.meter_device),
        "floor_id": ("Downstairs", "", "ground_floor"),
        "floor_name": ("kitchen", "", "Ground floor"),
        "floor_areas": ("Ground floor", "", "kitchen"),
        "floor_entities": ("Ground floor", "", "light.lamp"),
        "labels": ("light.lamp", "", "night"),
        "label_id": ("Night", "", "night"),
        "label_name": ("night", "", "Night"),
        "label_description": ("night", "", "Off at night"),
        "label_areas": ("night", "", "living_room"),
        "label_devices": ("important", "", home.lamp_device),
        "label_entities": ("night", "", "light.ceiling"),
        "device_id": ("light.lamp", "", home.lamp_device),
        "device_name": ("light.lamp", "", "Floor lamp"),
        "device_attr": ("light.lamp", "'model'", "LCA001"),
        "is_device_attr": ("light.lamp", "'model', 'LCA001'", "True"),
        "device_entities": (home.lamp_device, "", "light.lamp"),
        "integration_entities": ("Hue bridge", "", "light.lamp"),
        "config_entry_id": ("light.lamp", "", home.entry),
        "config_entry_attr": (home.entry, "'title'", "Hue bridge"),
        "entity_name": ("switch.legacy", "", "Legacy switch"),
        "distance": ("zone.home", "", "0.0"),
        "closest": ("zone.home", "", "person.anna"),
    }
    for function in FUNCTIONS:
        if function.name in {"areas", "floors"}:
            assert await outcome(hass, f"{{{{ {function.name}() | count }}}}") in {"2", "3"}
            continue
        value, extra, expected = arguments[function.name]
        ways = {
            f"{{{{ {function.name}('{value}'{', ' + extra if extra else ''}) }}}}": function.is_global,
            f"{{{{ '{value}' | {function.name}({extra}) }}}}": function.is_filter,
            f"{{{{ '{value}' is {function.name}({extra}) }}}}": function.is_test,
        }
        for template, available in ways.items():
            if available:
                assert expected in await outcome(hass, template), template


async def test_where_the_home_is(hass: HomeAssistant, home: Ids) -> None:
    """The home's place is told, by whatever distance, only where its zone is exposed; between others it is not needed."""
    from homeassistant.components.homeassistant.exposed_entities import async_expose_entity  # noqa: PLC0415

    from_home = "{{ distance('device_tracker.phone') }}", "{{ (states.device_tracker | closest).name }}"
    between = "{{ closest('zone.work', states.device_tracker).name }} {{ distance('zone.work', 48, 16) | round }}"
    for template in from_home:
        assert "not exposed" not in await outcome(hass, template)
    async_expose_entity(hass, ASSISTANT, "zone.home", False)
    for template in from_home:
        assert "Where the home is is not exposed: name another place first" in await outcome(hass, template)
    assert await outcome(hass, between) == "Phone 46"


async def test_users_are_exposed_persons(hass: HomeAssistant, home: Ids) -> None:
    """Who changed something is told where that is an exposed person."""
    for user, told in (("anna1", "anna1"), ("narwhal", "None")):
        hass.states.async_set("light.lamp", user, context=Context(user_id=user))
        template = "{{ states.light.lamp.context.user_id }} {{ states.light.lamp.as_dict().context.user_id }}"
        assert await outcome(hass, template) == f"{told} {told}"


async def test_exposure_is_asked_for_each_rendering(hass: HomeAssistant, home: Ids) -> None:
    """An entity that is hidden later is gone from every kind of answer."""
    from homeassistant.components.homeassistant.exposed_entities import async_expose_entity  # noqa: PLC0415

    template = (
        "{{ states('light.bed') }} {{ area_name('bedroom') }} {{ floors() | count }} {{ label_id('Outside things') }} "
        "{{ states.light | map(attribute='entity_id') | select('eq', 'light.bed') | list }}"
    )
    assert await outcome(hass, template) == "unavailable Bedroom 2 outside_things ['light.bed']"
    async_expose_entity(hass, ASSISTANT, "light.bed", False)
    assert await outcome(hass, template) == "unknown None 1 None []"
    assert Exposure(hass, ASSISTANT).state("light.bed") is None


@pytest.mark.parametrize(
    "template",
    [
        "{{ states.lock.door.attributes }}",
        "{{ states['lock.door'] }}",
        "{{ state_attr('lock.door', 'users') }} {{ state_attr('lock.door', 'sources') }} {{ state_attr('lock.door', 'api_key') }}",
        "{{ states.lock | map(attribute='attributes') | list }}",
        "{{ states.lock.door.attributes.users[0].user_code }}",
        "{{ expand('lock.door') | map(attribute='attributes.users') | list }}",
        "{{ is_state_attr('lock.door', 'api_key', 'narwhal') }}",
    ],
)
async def test_secrets_are_not_there(hass: HomeAssistant, assist: None, render: Render, template: str) -> None:
    """Secrets of an exposed entity do not exist in a template, however deep they are."""
    attributes = {
        "code_format": "number",
        "api_key": "narwhal",
        "users": [{"name": "Anna", "user_code": "narwhal"}],
        "sources": [{"url": "rtsp://me:narwhal@camera.local"}, "/api/image?token=narwhal"],
    }
    hass.states.async_set("lock.door", "locked", attributes)
    expose(hass, "lock.door")
    rendered = await render(template)
    assert "narwhal" not in rendered
    assert "True" not in rendered
    if "users" in template and "user_code" not in template:
        assert "Anna" in rendered
