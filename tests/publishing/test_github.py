"""The forms for issues and the workflows, by the rules of GitHub."""

from pathlib import Path
import re
from typing import Any

import pytest
import voluptuous as vol

from .files import CHECKOUT, read_json, read_yaml

GITHUB = CHECKOUT / ".github"
FORMS = sorted(path for path in (GITHUB / "ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml")
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
ITEM = {
    vol.Required("id"): vol.Match(r"^[A-Za-z0-9_-]+$"),
    vol.Optional("validations"): {vol.Optional("required"): bool},
}
TOLD = {vol.Required("label"): str, vol.Optional("description"): str}
TYPED = {vol.Optional("placeholder"): str, vol.Optional("value"): str}
FORM = vol.Schema(
    {
        vol.Required("name"): str,
        vol.Required("description"): str,
        vol.Optional("title"): str,
        vol.Optional("labels"): [str],
        vol.Required("body"): [
            vol.Any(
                {"type": "markdown", "attributes": {vol.Required("value"): str}},
                {"type": "input", "attributes": TOLD | TYPED, **ITEM},
                {"type": "textarea", "attributes": TOLD | TYPED | {vol.Optional("render"): str}, **ITEM},
                {
                    "type": "dropdown",
                    "attributes": TOLD | {vol.Required("options"): vol.Unique(), vol.Optional("multiple"): bool},
                    **ITEM,
                },
                {
                    "type": "checkboxes",
                    "attributes": TOLD
                    | {vol.Required("options"): [{vol.Required("label"): str, vol.Optional("required"): bool}]},
                    **ITEM,
                },
            )
        ],
    }
)


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_form(path: Path) -> None:
    """A form is valid, asks for something, and asks for nothing twice."""
    form = read_yaml(path)
    FORM(form)
    asked = [item for item in form["body"] if item["type"] != "markdown"]
    assert asked
    for values in ([item["id"] for item in asked], [item["attributes"]["label"] for item in asked]):
        assert len(values) == len(set(values))


def test_bug_form_asks_for_what_helps() -> None:
    """Whoever reports a mistake is asked for versions, model, diagnostics and the log, and led to the troubles known."""
    form = read_yaml(GITHUB / "ISSUE_TEMPLATE" / "bug.yml")
    items = {item.get("id"): item for item in form["body"]}
    assert {"version", "home_assistant", "server", "model", "diagnostics", "log"} <= items.keys()
    assert "docs/troubleshooting.md" in items["checked"]["attributes"]["options"][0]["label"]
    assert "Enable debug logging" in items["log"]["attributes"]["description"]


def test_choice_of_forms() -> None:
    """What is offered beside the forms leads to web addresses."""
    link = {vol.Required("name"): str, vol.Required("url"): vol.Match("^https://"), vol.Required("about"): str}
    vol.Schema({"blank_issues_enabled": bool, "contact_links": [link]})(
        read_yaml(GITHUB / "ISSUE_TEMPLATE" / "config.yml")
    )


def workflow(name: str) -> dict[Any, Any]:
    """Return a workflow; YAML reads its key `on` as true."""
    found: dict[Any, Any] = read_yaml(GITHUB / "workflows" / f"{name}.yml")
    return found


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflow(path: Path) -> None:
    """A workflow may read only, but for jobs that say so; jobs end in time, and what they use has a version."""
    found = workflow(path.stem)
    assert found["permissions"] == {"contents": "read"}
    for name, job in found["jobs"].items():
        if "uses" in job:
            assert (CHECKOUT / job["uses"]).is_file()
            continue
        assert job["timeout-minutes"] <= 90
        assert job.get("permissions", {}) in ({}, {"contents": "write"} if name == "publish" else {})
        for step in job["steps"]:
            assert "uses" not in step or re.fullmatch(r"[\w-]+/[\w/-]+@(v\d+|main|master)", step["uses"])
            # What a person names, such as a tag, must not become part of a command.
            assert "${{" not in step.get("run", "")
            command = step.get("run", "").split(" ")[0]
            assert "/" not in command or (CHECKOUT / command).stat().st_mode & 0o100


def test_validation_is_daily() -> None:
    """The real hassfest and HACS look every day, and leave nothing out."""
    found = workflow("validate")
    assert found[True]["schedule"]
    (step,) = found["jobs"]["hacs"]["steps"]
    assert step["with"] == {"category": "integration"}
    assert found["jobs"]["hassfest"]["steps"][-1]["uses"].startswith("home-assistant/actions/hassfest@")


def test_release_needs_tests() -> None:
    """A tag is published after everything else, with the file that HACS looks for."""
    found = workflow("release")
    assert found[True] == {"push": {"tags": ["v*"]}}
    assert set(found["jobs"]["publish"]["needs"]) == found["jobs"].keys() - {"publish"}
    publish = found["jobs"]["publish"]["steps"][-1]["run"]
    assert f" {read_json(CHECKOUT / 'hacs.json')['filename']} " in publish
    for name in ("test", "validate"):
        assert "workflow_call" in workflow(name)[True]


def test_browser_is_there_where_it_is_asked_for() -> None:
    """The workflow names the browser as the tests do."""
    commands = [step.get("run", "") for step in workflow("test")["jobs"]["test"]["steps"]]
    assert "chromium --version" in commands
    assert commands.index("chromium --version") < commands.index(".ci/run")
    assert any('which("chromium")' in path.read_text() for path in (CHECKOUT / "tests" / "e2e").glob("*.py"))
