"""What users read in Home Assistant is explained in the documentation: every field, default and message."""

import json
from pathlib import Path
import re
from typing import Any

import hass_frontend
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry
import voluptuous as vol

from custom_components.extended_assist.calls.activity import ActivityKind
from custom_components.extended_assist.claude.caching import default_cache
from custom_components.extended_assist.claude.client import ANTHROPIC_URL
from custom_components.extended_assist.claude.models import EFFORTS, THINKING, Abilities
from custom_components.extended_assist.const import DOMAIN
from custom_components.extended_assist.flows.model import model_schema
from custom_components.extended_assist.tools import CATALOGUE, DEFAULT_FAMILIES
from homeassistant.core import HomeAssistant
from tests.conftest import AGENT
from tests.scheduled.shown import async_set_up_home

from .pages import ROOT, names, prose, tables

CONFIGURATION, TROUBLESHOOTING = "docs/configuration.md", "docs/troubleshooting.md"
TEXTS: dict[str, Any] = json.loads(
    (ROOT / "custom_components" / DOMAIN / "translations" / "en.json").read_text(encoding="utf-8")
)
MODEL_PAGE = "Model of an agent or AI task"
FORMS = {
    "Tools": ("options.step.init",),
    "Who may do what": ("options.step.init.sections.policy",),
    "Memory": ("options.step.init.sections.memory",),
    "Cameras": ("options.step.init.sections.cameras",),
    "The web": ("options.step.init.sections.web",),
    "Your functions": ("options.step.init.sections.functions",),
    "Agent": ("config_subentries.conversation.step.init",),
    MODEL_PAGE: ("config_subentries.conversation.step.model", "config_subentries.ai_task_data.step.model"),
    "AI task": ("config_subentries.ai_task_data.step.init",),
    "Function": tuple(
        f"config_subentries.function.step.{step}" for step in ("edit", "try", "import_list", "export_list")
    ),
}
"""The forms that a heading explains."""
EVERYTHING = Abilities(thinking=THINKING, effort=EFFORTS, web=True, tool_search=True)


def text_at(path: str) -> Any:
    """Return what stands at a path in the translations."""
    value: Any = TEXTS
    for part in path.split("."):
        value = value[part]
    return value


def fields(page: str, heading: str) -> dict[str, list[str]]:
    """Return the rows of the table of fields under a heading."""
    (table,) = [table for table in tables(page, heading) if table[0][0] in ("Field", "Family")]
    return {row[0]: row for row in table[1:]}


@pytest.mark.parametrize("heading", FORMS)
def test_every_field_is_explained(heading: str) -> None:
    """A form and its table have the same fields."""
    labels = {label for form in FORMS[heading] for label in text_at(f"{form}.data").values()}
    assert fields(CONFIGURATION, heading).keys() == labels


def test_no_form_is_left_out() -> None:
    """Every form with fields is in the table of forms, or is one of the first set-up or of a repair."""
    found = {
        f"config_subentries.{kind}.step.{step}"
        for kind, flow in TEXTS["config_subentries"].items()
        for step, form in flow["step"].items()
        if "data" in form
    }
    assert found == {form for forms in FORMS.values() for form in forms if form.startswith("config_subentries")}
    assert TEXTS["options"]["step"].keys() == {"init"}
    sections = {f"options.step.init.sections.{name}" for name in TEXTS["options"]["step"]["init"]["sections"]}
    assert sections < {form for forms in FORMS.values() for form in forms}


def test_first_set_up() -> None:
    """What the first set-up asks is explained where one is led through it."""
    explained = {
        row[0]
        for table in tables("docs/getting-started.md", "2. Set up")
        if table[0][0] == "Field"
        for row in table[1:]
    }
    steps = ("claude", "model", "tools", "reauth_confirm", "reconfigure")
    assert {name for name, step in TEXTS["config"]["step"].items() if "data" in step} == set(steps)
    assert explained == {label for step in steps for label in text_at(f"config.step.{step}.data").values()}


def test_action() -> None:
    """The fields of the action are explained."""
    (table,) = tables("docs/examples.md", "Call a function of yours")
    found = {row[0]: row[1] for row in table[1:]}
    named = TEXTS["services"]["call_function"]["fields"].values()
    assert found == {field["name"]: field["description"] for field in named}


def written(value: Any, key: str) -> str:
    """Return a default as the documentation writes it."""
    match value:
        case bool():
            return "on" if value else "off"
        case int():
            return f"{value:,}"
        case list():
            return ", ".join(TEXTS["selector"][key]["options"][name] for name in value) or "none"
    return str(TEXTS["selector"]["who_may" if key.startswith("who_may") else key]["options"][value])


def defaults(schema: vol.Schema) -> dict[str, Any]:
    """Return the defaults that a form declares."""
    return {str(key): key.default() for key in schema.schema if not isinstance(key.default, vol.Undefined)}


def normalized(cell: str) -> str:
    """Return the parts of a default in one order."""
    return ", ".join(sorted(cell.split(", ")))


async def test_defaults_of_the_options(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """The defaults that are written are those of the form."""
    form = await hass.config_entries.options.async_init(entry.entry_id)
    policy, memory = [
        each.schema
        for name in ("policy", "memory")
        for key, each in form["data_schema"].schema.items()
        if str(key) == name
    ]
    for heading, schema in (("Tools", form["data_schema"]), ("Who may do what", policy), ("Memory", memory)):
        labels = text_at(f"{FORMS[heading][0]}.data")
        told = fields(CONFIGURATION, heading)
        checked = {key: value for key, value in defaults(schema).items() if key in labels and key != "families"}
        assert checked
        for key, value in checked.items():
            assert normalized(told[labels[key]][2]) == normalized(written(value, key)), key


def test_families() -> None:
    """Each family is listed with its tools, and whether it is on."""
    listed = fields(CONFIGURATION, "Families")
    options = TEXTS["selector"]["families"]["options"]
    assert listed.keys() == set(options.values())
    for family, label in options.items():
        tools = [f"`{tool.name.removeprefix('extended_assist__')}`" for tool in CATALOGUE if tool.family == family]
        on = "on" if family in DEFAULT_FAMILIES else "off"
        assert (set(listed[label][1].split(", ")), listed[label][2]) == (set(tools), on)


def test_defaults_of_a_model() -> None:
    """The defaults that are written are those of the form, and every choice is named."""
    labels, told = text_at(f"{FORMS[MODEL_PAGE][0]}.data"), fields(CONFIGURATION, MODEL_PAGE)
    found = defaults(model_schema(EVERYTHING, "http://192.168.1.10:11434"))
    assert len(found) >= 8
    for key, value in found.items():
        if key == "prompt_cache":
            at_home, there = (written(str(each), key) for each in (value, default_cache(ANTHROPIC_URL)))
            assert told[labels[key]][2] == f"{there} at Anthropic, else {at_home}"
        else:
            assert told[labels[key]][2].startswith(written(value, key)), key
    for key in ("thinking", "effort", "prompt_cache"):
        for name in TEXTS["selector"][key]["options"].values():
            assert f"*{name}*" in told[labels[key]][1], name


FILLED = {"{assist}": "Assist", "{example_url}": "http://192.168.1.10:11434"}
"""What is always filled in with the same."""


def messages(*paths: str) -> set[str]:
    """Return the sentences at some paths, with … for what is filled in; what is only filled in is none."""
    found = set()
    for path in paths:
        for value in text_at(path).values():
            sentence = value if isinstance(value, str) else value.get("message") or value["title"]
            for placeholder, word in FILLED.items():
                sentence = sentence.replace(placeholder, word)
            found.add(re.sub(r"\{\w+\}", "…", sentence))
    return found - {"…"}


def errors_of_repairs() -> list[str]:
    """Return the paths of what can be wrong in the forms of notices."""
    return [
        f"issues.{name}.fix_flow.error"
        for name, issue in TEXTS["issues"].items()
        if "error" in issue.get("fix_flow", {})
    ]


@pytest.mark.parametrize(
    ("heading", "expected"),
    [
        ("What the agent says", messages("exceptions")),
        (
            "Messages while setting up",
            messages("config.error")
            | {text_at(f"config.abort.{key}") for key in ("already_configured", "no_connection")},
        ),
        (
            "Messages in the options and forms",
            messages(
                "options.error",
                *(f"config_subentries.{kind}.error" for kind in TEXTS["config_subentries"]),
                *errors_of_repairs(),
            )
            | {text_at("config_subentries.conversation.abort.entry_not_loaded")},
        ),
        ("Notices under Repairs", messages("issues")),
    ],
)
def test_every_message_is_explained(heading: str, expected: set[str]) -> None:
    """What users can be told stands there word for word, and nothing else does."""
    (table,) = tables(TROUBLESHOOTING, heading)
    assert {row[0] for row in table[1:]} == expected
    assert all(row[1] for row in table[1:])


HACS = {"Custom repositories", "Integration", "Remove"}
EMPHASIS = {"anyone", "hidden", "list", "name", "next", "returns", "script", "sequence"}
"""Words that are only stressed."""
FIRST_NAMES = {"All", "Claude", "Claude AI Task", "Extended Assist", "Import", "Model Context Protocol Server"}
"""Names of things, and of links on the page."""


def words_of(value: Any) -> set[str]:
    """Return all texts in translations."""
    if isinstance(value, dict):
        return {word for each in value.values() for word in words_of(each)}
    return {re.sub(r"\{\w+\}", "…", str(value))}


def frontend() -> set[str]:
    """Return the words of Home Assistant's own frontend."""
    folder = Path(hass_frontend.__file__).parent / "static" / "translations"
    return {word for file in folder.rglob("en-*.json") for word in words_of(json.loads(file.read_text("utf-8")))}


def test_words_of_the_interface() -> None:
    """What is written slanted, and is no sentence, is what a button or a field is called today."""
    known = words_of(TEXTS) | frontend() | HACS | EMPHASIS | FIRST_NAMES
    unknown = {
        (page, part)
        for page in names()
        for found in re.findall(r"(?<![*\w`])\*([^*`\n]+(?:\n[^*`\n]+)?)\*(?![*\w])", prose(page))
        for part in " ".join(found.split()).split(" → ")
        if part not in known and not part.endswith(("?", ".", "!"))
    }
    assert unknown == set()


async def test_entities(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """The entities that are listed are those that there are, for an agent and a task with the first names."""
    (table,) = tables("docs/reference.md", "Entities and devices")
    listed = {row[0].strip("`") for row in table[1:]}
    assert listed - {"ai_task.claude_ai_task"} == {
        state.entity_id
        for state in hass.states.async_all(("conversation", "sensor", "event"))
        if "claude" in state.entity_id
    }
    assert AGENT in listed


async def test_entities_of_an_entry(hass: HomeAssistant, assist: None) -> None:
    """The entities for what is to happen later that are listed are those that there are, with their kinds of events."""
    await async_set_up_home(hass, title="Extended Assist")
    (table,) = tables("docs/reference.md", "What is to happen later")
    assert {row[0].strip("`") for row in table[1:]} == {
        *hass.states.async_entity_ids(("todo", "calendar", "event"))
    } - {"event.extended_assist_activity"}
    (events,) = [row[1] for row in table[1:] if "event." in row[0]]
    kinds = hass.states.get("event.extended_assist_for_later").attributes["event_types"]
    assert [name for name in re.findall(r"`(\w+)`", events) if name not in ("name", "result")] == kinds


def test_kinds_of_activity() -> None:
    """Each kind of thing that happens is listed."""
    (table,) = tables("docs/reference.md", "What assistants did")
    assert [row[0].strip("`") for row in table[1:]] == [kind.value for kind in ActivityKind]
