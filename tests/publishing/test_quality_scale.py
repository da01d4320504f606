"""quality_scale.yaml against the rules of Home Assistant's quality scale, and what can be seen of them in the code."""

import ast
import tomllib
from typing import Any

import pytest

from homeassistant.const import Platform

from .files import CHECKOUT, INTEGRATION, NEWEST, literals, manifest, modules, nodes, read_yaml, strings

BRONZE = """action-setup appropriate-polling brands common-modules config-flow config-flow-test-coverage
dependency-transparency docs-actions docs-conditions docs-high-level-description docs-installation-instructions
docs-removal-instructions docs-triggers entity-event-setup entity-unique-id has-entity-name runtime-data
test-before-configure test-before-setup unique-config-entry"""
SILVER = """action-exceptions config-entry-unloading docs-configuration-parameters docs-installation-parameters
entity-unavailable integration-owner log-when-unavailable parallel-updates reauthentication-flow test-coverage"""
GOLD = """devices diagnostics discovery discovery-update-info docs-data-update docs-examples docs-known-limitations
docs-supported-devices docs-supported-functions docs-troubleshooting docs-use-cases dynamic-devices entity-category
entity-device-class entity-disabled-by-default entity-translations exception-translations icon-translations
reconfiguration-flow repair-issues stale-devices"""
PLATINUM = "async-dependency inject-websession strict-typing"
RULES = [rule for scale in (BRONZE, SILVER, GOLD, PLATINUM) for rule in scale.split()]
"""The rules of 2026.11."""
A_REASON = 25
"""Characters below which nothing is a reason."""

PLATFORMS = sorted(path.name for path in INTEGRATION.glob("*.py") if path.stem in set(Platform))


def rules() -> dict[str, Any]:
    """Return what the file says of each rule."""
    found: dict[str, Any] = read_yaml(INTEGRATION / "quality_scale.yaml")["rules"]
    return found


def test_every_rule_is_kept_or_does_not_apply() -> None:
    """All 54 rules are there in the order of the scale; none is left to do, and each exemption has its reason."""
    assert len(RULES) == 54
    assert list(rules()) == RULES
    for rule, value in rules().items():
        if value == "done":
            continue
        assert value.keys() == {"status", "comment"}, rule
        assert value["status"] in ("done", "exempt"), rule
        assert len(value["comment"].strip()) >= A_REASON, rule
    assert manifest()["quality_scale"] == "platinum"


@pytest.mark.skipif(NEWEST is None, reason="The newest Home Assistant is not installed")
def test_rules_are_those_of_the_newest_home_assistant() -> None:
    """An integration of the newest Home Assistant that keeps all rules has the same ones."""
    assert NEWEST
    assert set(read_yaml(NEWEST / "anthropic" / "quality_scale.yaml")["rules"]) == set(RULES)


def functions(module: str) -> set[str]:
    """Return the names of the functions and methods of a module."""
    return {
        node.name for node in ast.walk(modules()[module]) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def assigned(module: str) -> dict[str, ast.expr]:
    """Return what is assigned to plain names in a module or a class."""
    found: dict[str, ast.expr] = {}
    for node in ast.walk(modules()[module]):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                found[name] = value
    return found


@pytest.mark.parametrize("platform", PLATFORMS)
def test_parallel_updates(platform: str) -> None:
    """Every platform says how many updates may run at once."""
    assert isinstance(assigned(platform).get("PARALLEL_UPDATES"), ast.Constant)


def test_flows() -> None:
    """There are flows for setting up, for another key and for another server; the same one is not set up twice."""
    found = functions("config_flow.py")
    assert {"async_step_user", "async_step_reauth", "async_step_reauth_confirm", "async_step_reconfigure"} <= found
    calls = {node.func.attr for node in nodes(ast.Call, "config_flow.py") if isinstance(node.func, ast.Attribute)}
    assert "_async_abort_entries_match" in calls
    assert manifest()["config_flow"]
    assert not {"zeroconf", "ssdp", "dhcp", "usb", "bluetooth", "homekit", "mqtt"} & manifest().keys()


def test_setup() -> None:
    """Actions are registered once, entries are loaded and unloaded, and a failure says whether to try again."""
    assert {"async_setup", "async_setup_entry", "async_unload_entry"} <= functions("__init__.py")
    (setup,) = [node for node in nodes(ast.AsyncFunctionDef, "__init__.py") if node.name == "async_setup"]
    assert "async_register_actions" in ast.unparse(setup)
    names = {node.id for node in nodes(ast.Name, "__init__.py")}
    assert {"ConfigEntryNotReady", "ConfigEntryAuthFailed"} <= names


def test_runtime_data() -> None:
    """What belongs to an entry is in the entry, whose type says what."""
    assert "ConfigEntry[RuntimeData]" in ast.unparse(modules()["claude/coordinator.py"])
    used = [ast.unparse(node.slice) for node in nodes(ast.Subscript) if ast.unparse(node.value).endswith("hass.data")]
    assert "DOMAIN" not in used
    calls = [node for node in nodes(ast.Call) if ast.unparse(node.func).endswith("hass.data.setdefault")]
    assert "DOMAIN" not in [ast.unparse(node.args[0]) for node in calls]


def test_entities() -> None:
    """Entities have a unique id, a device, and a name from their device or from a translation."""
    for module in ("entity.py", "sensor.py"):
        text = ast.unparse(modules()[module])
        assert "_attr_has_entity_name = True" in text
        assert "self._attr_unique_id = " in text
        assert "self._attr_device_info = " in text
        assert "async_added_to_hass" in functions(module)
    assert "_attr_entity_category" in assigned("sensor.py")
    assert "(CoordinatorEntity[ServerCoordinator])" in ast.unparse(modules()["entity.py"])
    assert not [ast.unparse(node) for node in nodes(ast.Assign) if "_attr_icon" in ast.unparse(node)]
    sensors = strings()["entity"]["sensor"]
    assert sensors.keys() <= literals()
    assert all("name" in sensor for sensor in sensors.values())


def test_platforms_of_support() -> None:
    """There are diagnostics, and repairs with a dialog that mends what it tells."""
    assert "async_get_config_entry_diagnostics" in functions("diagnostics.py")
    assert "async_create_fix_flow" in functions("repairs.py")


def test_common_modules() -> None:
    """What entities share is in entity.py."""
    assert (INTEGRATION / "entity.py").exists()


def test_web_session() -> None:
    """The client gets Home Assistant's session; the one place that makes its own has a guarded connector."""
    assert "http_client=get_async_client(hass)" in ast.unparse(modules()["claude/client.py"])
    own = {
        path
        for path, module in modules().items()
        for node in ast.walk(module)
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in ("ClientSession", "AsyncClient")
    }
    assert own == {"web/fetch.py"}
    assert "connector=connector" in ast.unparse(modules()["web/fetch.py"])


def test_strict_typing() -> None:
    """mypy is strict for the whole integration, and no module opts out of it."""
    settings = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["tool"]["mypy"]
    assert settings["strict"]
    assert "custom_components" in settings["files"]
    exempt = [override["module"] for override in settings.get("overrides", ())]
    assert not [module for module in exempt if "custom_components" in module or "*" in module]
    ignored = [
        path
        for path in INTEGRATION.rglob("*.py")
        if "mypy: " in path.read_text() or "# type: ignore\n" in path.read_text()
    ]
    assert not ignored


def test_brands() -> None:
    """Home Assistant finds the images in the folder for them."""
    assert (INTEGRATION / "brand" / "icon.png").exists()
