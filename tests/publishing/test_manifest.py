"""The manifest, hacs.json and the files beside them, by the rules of hassfest and HACS."""

import ast
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
import re
import sys
import tomllib
from typing import Any
from urllib.parse import urlsplit

from awesomeversion import AwesomeVersion, AwesomeVersionStrategy
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
import pytest

from homeassistant.const import Platform

from .files import CHECKOUT, CORE, INTEGRATION, NEWEST, manifest, modules, nodes, read_json

ALLOWED = {
    "domain": str,
    "name": str,
    "after_dependencies": list,
    "categories": list,
    "codeowners": list,
    "config_flow": bool,
    "connectivity": list,
    "dependencies": list,
    "documentation": str,
    "integration_type": str,
    "iot_class": str,
    "issue_tracker": str,
    "loggers": list,
    "quality_scale": str,
    "requirements": list,
    "single_config_entry": bool,
    "version": str,
}
INTEGRATION_TYPES = {"device", "entity", "hardware", "helper", "hub", "service", "system"}
IOT_CLASSES = {"assumed_state", "calculated", "cloud_polling", "cloud_push", "local_polling", "local_push"}
QUALITY_SCALES = {"bronze", "silver", "gold", "platinum"}
VERSIONS = [
    AwesomeVersionStrategy.CALVER,
    AwesomeVersionStrategy.SEMVER,
    AwesomeVersionStrategy.SIMPLEVER,
    AwesomeVersionStrategy.BUILDVER,
    AwesomeVersionStrategy.PEP440,
]
HACS = {
    "content_in_root": bool,
    "country": str | list,
    "filename": str,
    "hacs": str,
    "hide_default_branch": bool,
    "homeassistant": str,
    "name": str,
    "persistent_directory": str,
    "render_readme": bool,
    "zip_release": bool,
}
USED_FREELY = {platform.value for platform in Platform} | {
    *("automation", "conversation", "homeassistant", "persistent_notification", "script")
}
"""Integrations that hassfest lets everybody import from; of its list those that are used here."""
FORBIDDEN = {"async-timeout", "codecov", "mkdocs", "pytest", "setuptools", "sphinx", "wheel"}


def test_keys() -> None:
    """The keys are known, of the right type and in order."""
    keys = list(manifest())
    assert keys == ["domain", "name", *sorted(keys[2:])]
    assert not {key: value for key, value in manifest().items() if not isinstance(value, ALLOWED[key])}


def test_values() -> None:
    """What is chosen from a list is in it; the domain is the folder's and none of Home Assistant's own."""
    found = manifest()
    assert found["domain"] == INTEGRATION.name
    assert not (CORE / found["domain"]).exists()
    assert found["integration_type"] in INTEGRATION_TYPES
    assert found["iot_class"] in IOT_CLASSES
    assert found["quality_scale"] in QUALITY_SCALES
    assert found["codeowners"]
    assert all(re.fullmatch(r"@[\w-]+(/[\w-]+)?", owner) for owner in found["codeowners"])
    for key in ("documentation", "issue_tracker"):
        address = urlsplit(found[key])
        assert (address.scheme, bool(address.path)) == ("https", True)
        assert address.netloc != "www.home-assistant.io"


@pytest.mark.skipif(NEWEST is None, reason="The newest Home Assistant is not installed")
def test_categories_are_those_of_home_assistant() -> None:
    """The keys that came with 2026.11 hold values that Home Assistant's own integrations have."""
    assert NEWEST
    known: dict[str, set[str]] = {"categories": set(), "connectivity": set()}
    for path in NEWEST.glob("*/manifest.json"):
        other = read_json(path)
        for key, values in known.items():
            values.update(other.get(key, ()))
    for key, values in known.items():
        assert set(manifest()[key]) <= values


def test_version() -> None:
    """The version is one that Home Assistant loads, and the same wherever it stands."""
    version = manifest()["version"]
    AwesomeVersion(version, ensure_strategy=VERSIONS)
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
    locked = tomllib.loads((CHECKOUT / "uv.lock").read_text())["package"]
    (own,) = [package for package in locked if package["name"] == project["name"]]
    head = re.search(r"^## \[(.+)\] - \d{4}-\d{2}-\d{2}$", (CHECKOUT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert head
    assert [project["version"], own["version"], head[1]] == [version] * 3


def test_requirements() -> None:
    """Requirements have no space, are bound from above, are no tools of development, and are what the tests run with."""
    for text in manifest()["requirements"]:
        requirement = Requirement(text)
        assert " " not in text
        assert canonicalize_name(requirement.name) not in FORBIDDEN
        assert any(bound.operator in ("==", "<", "~=") for bound in requirement.specifier), text
        locked = tomllib.loads((CHECKOUT / "uv.lock").read_text())["package"]
        versions = [package["version"] for package in locked if package["name"] == requirement.name]
        assert versions
        assert all(requirement.specifier.contains(version) for version in versions)


def test_dependencies() -> None:
    """Every dependency is an integration of Home Assistant, stands once, and leads no way back here."""
    needed, awaited = manifest()["dependencies"], manifest()["after_dependencies"]
    assert needed == sorted(set(needed))
    assert awaited == sorted(set(awaited))
    assert not set(needed) & set(awaited)
    for domain in (*needed, *awaited):
        assert (CORE / domain / "manifest.json").exists(), domain
    for domain in _with_dependencies({*needed, *awaited}):
        assert "extended_assist" not in _core(domain).get("after_dependencies", ())


def _core(domain: str) -> dict[str, Any]:
    """Return the manifest of an integration of Home Assistant."""
    found: dict[str, Any] = read_json(CORE / domain / "manifest.json")
    return found


def _with_dependencies(domains: set[str]) -> set[str]:
    """Return integrations with all that they depend on."""
    found: set[str] = set()
    while domains:
        domain = domains.pop()
        found.add(domain)
        domains |= set(_core(domain).get("dependencies", ())) - found
    return found


def _imports(module: ast.Module) -> set[str]:
    """Return the absolute modules that a module imports, with the names taken from them."""
    found: set[str] = set()
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def test_imported_integrations_are_dependencies() -> None:
    """What is imported from another integration is there when this one is set up."""
    allowed = USED_FREELY | {*manifest()["dependencies"], *manifest()["after_dependencies"]}
    missing = {}
    for path, module in modules().items():
        parts = [name.split(".") for name in _imports(module) if name.startswith("homeassistant.components.")]
        own_platforms = {file.stem for file in INTEGRATION.glob("*.py")}
        if wrong := {part[2] for part in parts} - allowed - own_platforms:
            missing[path] = wrong
    assert not missing


def test_imported_packages_are_required() -> None:
    """What is imported from a package is in Home Assistant, in the requirements, or in those of a dependency."""
    domains = _with_dependencies({*manifest()["dependencies"], *manifest()["after_dependencies"]})
    wanted = [
        *manifest()["requirements"],
        *(text for domain in domains for text in _core(domain).get("requirements", ())),
    ]
    allowed = {"homeassistant"}
    queue = [canonicalize_name(Requirement(text).name) for text in wanted] + ["homeassistant"]
    while queue:
        name = queue.pop()
        allowed.add(name)
        try:
            texts = requires(name) or ()
        except PackageNotFoundError:
            continue
        found = [Requirement(text) for text in texts]
        queue += {
            canonicalize_name(one.name) for one in found if not one.marker or one.marker.evaluate({"extra": ""})
        } - allowed
    known = packages_distributions()
    tops = {name.split(".")[0] for module in modules().values() for name in _imports(module)}
    missing = {
        top
        for top in tops - sys.stdlib_module_names
        if not allowed & {canonicalize_name(name) for name in known.get(top, ())}
    }
    assert not missing


def test_config_schema() -> None:
    """An integration with async_setup says what it takes in YAML."""
    assigned = {
        target.id
        for node in nodes(ast.Assign, "__init__.py")
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    assert "CONFIG_SCHEMA" in assigned


def test_hacs() -> None:
    """hacs.json has known keys of the right type, and fits what is released and tested."""
    hacs = read_json(CHECKOUT / "hacs.json")
    assert not {key: value for key, value in hacs.items() if not isinstance(value, HACS[key])}
    assert hacs["name"] == manifest()["name"]
    assert hacs["zip_release"]
    assert hacs["filename"] == f"{manifest()['domain']}.zip"
    # The default branch has no zip file, and HACS would look for one.
    assert hacs["hide_default_branch"]
    locked = tomllib.loads((CHECKOUT / "uv.lock").read_text())["package"]
    oldest = min(AwesomeVersion(package["version"]) for package in locked if package["name"] == "homeassistant")
    assert hacs["homeassistant"] == f"{oldest.section(0)}.{oldest.section(1)}.0"


def test_repository() -> None:
    """HACS installs one integration and shows a README; the licence is one that GitHub recognises."""
    assert [path.name for path in (CHECKOUT / "custom_components").iterdir() if path.is_dir()] == [INTEGRATION.name]
    assert (CHECKOUT / "README.md").read_text().startswith("# Extended Assist")
    licence = (CHECKOUT / "LICENSE").read_text()
    assert re.match(r"\s*Apache License\s+Version 2\.0, January 2004\s+http://www\.apache\.org/licenses/", licence)
    assert "END OF TERMS AND CONDITIONS" in licence
    assert tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]["license"] == "Apache-2.0"
