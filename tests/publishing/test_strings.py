"""strings.json, icons.json and services.yaml: their shape by hassfest's rules, and that the code uses what they say."""

import ast
import re
from string import Formatter
from typing import Any

import pytest
import voluptuous as vol

from custom_components.extended_assist import condition, trigger
from custom_components.extended_assist.claude import retry as errors
from custom_components.extended_assist.flows.connection import API_KEY_SCHEMA, CONNECTION_SCHEMA, SET_UP_SCHEMA
from homeassistant.const import Platform
from homeassistant.helpers import config_validation as cv, selector

from .files import CHECKOUT, INTEGRATION, leaves, literals, manifest, nodes, read_json, read_yaml, strings

KEY = re.compile(r"(?!.+[_-]{2})[a-z0-9]([a-z0-9_-]*[a-z0-9])?")
REFERENCE = re.compile(r"\[%key:component::extended_assist::(.+)%\]")
ADDRESS = re.compile(
    r"((ftps?|scp|https?|mqtts?|socket|socks5)://|www\.)[a-z0-9]+([\-.][a-z0-9]+)*\.[a-z]{2,5}(:[0-9]{1,5})?(/.*)?",
    re.IGNORECASE,
)
OF_HOME_ASSISTANT = {
    "already_configured",
    "reauth_successful",
    "reconfigure_successful",
}
"""Keys that Home Assistant's own helpers look for."""


def text(value: Any) -> str:
    """Validate one text."""
    value = cv.string_with_no_html(value)
    if value != value.strip():
        raise vol.Invalid("begins or ends with a space")
    if re.search(r"'\{\w+\}'", value):
        raise vol.Invalid("has a placeholder in single quotes, which takes it for text")
    if re.search(r".\[%|%\].", value):
        raise vol.Invalid("mixes a reference with text")
    if ADDRESS.search(value):
        raise vol.Invalid("has an address in it, which belongs in a placeholder")
    for _, name, _, _ in Formatter().parse(value):
        if name is not None and not name.isidentifier():
            raise vol.Invalid(f"has the placeholder {name!r}, which is no name")
    return value


def key(value: Any) -> str:
    """Validate the key of a translation."""
    if not isinstance(value, str) or not KEY.fullmatch(value):
        raise vol.Invalid(f"{value!r} is no key of a translation")
    return value


def texts(value: Any) -> Any:
    """Validate texts by key."""
    return vol.Schema({key: text})(value)


def flow(*, is_subentry: bool = False) -> vol.Schema:
    """Return the shape of a flow."""
    fields = {vol.Optional("data"): texts, vol.Optional("data_description"): texts}
    step = {
        vol.Optional("title"): text,
        vol.Optional("description"): text,
        **fields,
        vol.Optional("menu_options"): texts,
        vol.Optional("menu_option_descriptions"): texts,
        vol.Optional("submit"): text,
        vol.Optional("sections"): {key: {vol.Optional("name"): text, vol.Optional("description"): text, **fields}},
    }
    of_subentry = {
        vol.Required("entry_type"): text,
        vol.Required("initiate_flow"): {vol.Required("user"): text, key: text},
    }
    return vol.Schema(
        {
            **(of_subentry if is_subentry else {vol.Optional("flow_title"): text}),
            vol.Required("step"): {key: vol.All(step, _described)},
            vol.Optional("error"): texts,
            vol.Optional("abort"): texts,
            vol.Optional("progress"): texts,
            vol.Optional("create_entry"): texts,
        }
    )


def _described(step: dict[str, Any]) -> dict[str, Any]:
    """Validate that only fields are described, and only options of the menu."""
    for part in (step, *step.get("sections", {}).values()):
        if extra := part.get("data_description", {}).keys() - part.get("data", {}).keys():
            raise vol.Invalid(f"describes {extra}, which are no fields")
    if step.get("menu_option_descriptions", {}).keys() - step.get("menu_options", {}).keys():
        raise vol.Invalid("describes what is not in the menu")
    return step


NAMED = {vol.Required("name"): text, vol.Required("description"): text}
DESCRIBED = {**NAMED, vol.Optional("fields"): {key: NAMED}}
SCHEMA = vol.Schema(
    {
        vol.Required("config"): flow(),
        vol.Optional("config_subentries"): {key: flow(is_subentry=True)},
        vol.Optional("options"): flow(),
        vol.Optional("config_panel"): {key: texts},
        vol.Optional("selector"): {key: {vol.Optional("options"): texts, vol.Optional("unit_of_measurement"): texts}},
        vol.Optional("entity"): {
            key: {
                key: {
                    vol.Optional("name"): text,
                    vol.Optional("state"): texts,
                    vol.Optional("state_attributes"): {key: {vol.Optional("name"): text, vol.Optional("state"): texts}},
                    vol.Optional("unit_of_measurement"): text,
                }
            }
        },
        vol.Optional("exceptions"): {key: {vol.Required("message"): text}},
        vol.Optional("issues"): {
            key: vol.Any(
                {vol.Required("title"): text, vol.Required("description"): text},
                {vol.Required("title"): text, vol.Required("fix_flow"): flow()},
            )
        },
        vol.Optional("services"): {key: DESCRIBED},
        vol.Optional("triggers"): {key: DESCRIBED},
        vol.Optional("conditions"): {key: DESCRIBED},
        vol.Optional("system_health"): {"info": texts},
    }
)


def test_shape() -> None:
    """strings.json has the shape that hassfest asks for."""
    SCHEMA(strings())


def test_english_is_strings_with_references_resolved() -> None:
    """translations/en.json says the same; a reference leads to a text and not to another reference."""
    whole = leaves(strings())

    def resolved(value: str) -> str:
        """Return a text, or the one that it refers to."""
        if not (match := REFERENCE.fullmatch(value)):
            assert "[%" not in value
            return value
        assert "[%" not in whole[match[1]]
        return whole[match[1]]

    english = leaves(read_json(INTEGRATION / "translations" / "en.json"))
    assert list(english.items()) == [(path, resolved(value)) for path, value in whole.items()]


def test_every_field_is_explained() -> None:
    """Whatever a flow asks for has a name and a sentence that helps."""
    unexplained = []
    for path in leaves(strings()):
        match = re.fullmatch(r"((?:config|options).*)::data::([^:]+)", path)
        if match and f"{match[1]}::data_description::{match[2]}" not in leaves(strings()):
            unexplained.append(path)
    # What this step does is said above its fields.
    assert unexplained == ["config_subentries::function::step::try::data::then"]


def test_connection_forms() -> None:
    """The forms of the connection name exactly their fields; tests of the flows watch the other ones."""
    steps = strings()["config"]["step"]
    for step, schema in (
        ("claude", SET_UP_SCHEMA),
        ("reconfigure", CONNECTION_SCHEMA),
        ("reauth_confirm", API_KEY_SCHEMA),
    ):
        assert steps[step]["data"].keys() == set(map(str, schema.schema))


def test_every_key_is_used() -> None:
    """Every step, error, abort, issue, exception and selector is named somewhere in the code."""
    whole = strings()
    flows = [whole["config"], whole["options"], *whole["config_subentries"].values()]
    flows += [issue["fix_flow"] for issue in whole["issues"].values() if "fix_flow" in issue]
    keys = {found for flow in flows for part in ("error", "abort") for found in flow.get(part, ())}
    methods = {node.name for node in nodes(ast.AsyncFunctionDef)}
    steps = {step for flow in flows for step in flow["step"]}
    assert not {step for step in steps if f"async_step_{step}" not in methods}
    keys |= {*whole["exceptions"], *whole["issues"], *whole["selector"], *whole["config_subentries"], *steps}
    assert not keys - literals() - OF_HOME_ASSISTANT


def test_every_exception_is_translated() -> None:
    """Whatever the code raises for a user has its sentence."""
    known = strings()["exceptions"].keys()
    raised = {*errors._KEY_OF_TYPE.values(), *errors._KEY_OF_STATUS.values(), *errors._KEY_OF_WORDS.values()}
    for call in nodes(ast.Call):
        if isinstance(call.func, ast.Name) and call.func.id in ("TurnError", "ConnectionFailedError"):
            raised |= {
                node.value for argument in call.args for node in ast.walk(argument) if isinstance(node, ast.Constant)
            }
    for node in nodes(ast.Raise):
        match node.exc:
            case ast.Call(func=ast.Name(id="HomeAssistantError" | "ServiceValidationError"), keywords=keywords):
                assert {"translation_domain", "translation_key"} <= {keyword.arg for keyword in keywords}
    assert not {one for one in raised if isinstance(one, str)} - known - {"error", ""}
    # Causes that a look at the server turns into others, or that do not keep a list of models from being read.
    never_raised = {"server_error", "model_not_found", "invalid_request", "model_forbidden"}
    failed = {node.value for node in nodes(ast.Constant, "claude/client.py") if isinstance(node.value, str)} & known
    assert failed <= strings()["config"]["error"].keys() | never_raised


ICON = vol.All(cv.string_with_no_html, vol.Match(r"mdi:[a-z0-9-]+$"))
FIELD = {
    vol.Optional("required"): bool,
    vol.Optional("default"): object,
    vol.Optional("example"): object,
    vol.Required("selector"): selector.validate_selector,
}


@pytest.mark.parametrize("kind", ["service", "trigger", "condition"])
def test_described_in_yaml(kind: str) -> None:
    """Every action, trigger, condition and field has a selector, a name, a description and an icon; nothing else is translated."""
    found = {name: one for name, one in read_yaml(INTEGRATION / f"{kind}s.yaml").items() if not name.startswith(".")}
    described = vol.Schema({cv.slug: {vol.Optional("target"): dict, vol.Optional("fields"): {cv.slug: FIELD}}})(found)
    translated = strings()[f"{kind}s"]
    assert translated.keys() == described.keys()
    for name, one in described.items():
        assert translated[name].get("fields", {}).keys() == one.get("fields", {}).keys()
    icons = vol.Schema({key: {kind: ICON}})(read_json(INTEGRATION / "icons.json")[f"{kind}s"])
    assert icons.keys() == described.keys()


def test_icons() -> None:
    """Icons are of entities and of what is described."""
    states = {vol.Optional("default"): ICON, vol.Optional("state"): {key: ICON}, vol.Optional("state_attributes"): dict}
    described = dict.fromkeys(("services", "triggers", "conditions"), dict)
    vol.Schema({vol.Optional("entity"): {vol.In(set(Platform)): {key: states}}, **described})(
        read_json(INTEGRATION / "icons.json")
    )


def test_what_is_described_is_there() -> None:
    """The actions, triggers and conditions are those of the code."""
    registered = {node.value for file in ("services.py", "fact_actions.py") for node in nodes(ast.Constant, file)}
    assert read_yaml(INTEGRATION / "services.yaml").keys() <= registered
    assert strings()["triggers"].keys() == trigger.TRIGGERS.keys()
    assert strings()["conditions"].keys() == condition.CONDITIONS.keys()


def test_entities_have_names_and_icons() -> None:
    """Whatever entity has a translation has an icon, and the keys are those of the code."""
    icons = read_json(INTEGRATION / "icons.json")["entity"]
    for platform, entities in strings()["entity"].items():
        assert icons[platform].keys() == entities.keys()
    keys = {found for entities in icons.values() for found in entities}
    assert not keys - literals()
    assert {f"{platform}.py" for platform in icons} <= {path.name for path in INTEGRATION.glob("*.py")}


def test_links_lead_somewhere() -> None:
    """The manifest's address is the beginning of every link into the repository."""
    documentation = manifest()["documentation"]
    templates = "".join(path.read_text() for path in (CHECKOUT / ".github").rglob("*.yml"))
    linked = set(re.findall(rf"{re.escape(documentation)}/blob/main/([\w./-]+)", templates))
    assert linked
    assert not [path for path in linked if not (CHECKOUT / path).is_file()]
