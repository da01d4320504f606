"""What the package uses of Home Assistant and the SDK, and whether a version has it.

Run as a program, by the Python of any environment, it prints what is missing or deprecated there, as a list in JSON.
"""

import ast
import asyncio
from collections import defaultdict
from collections.abc import Iterator
from importlib import import_module
import json
from pathlib import Path
import sys
from types import ModuleType, SimpleNamespace
from typing import Any
import warnings

CHECKOUT = Path(__file__).resolve().parents[2]
PACKAGE = CHECKOUT / "custom_components" / "extended_assist"
WATCHED = ("homeassistant", "anthropic")

type Names = dict[str, list[str]]
"""Names by the module that they are taken from."""


def names_used(source: str) -> Iterator[tuple[str, str]]:
    """Yield what a file imports, and what it takes from modules that it imported."""
    tree = ast.parse(source)
    modules: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and not node.level and str(node.module).split(".")[0] in WATCHED:
            for name in node.names:
                yield str(node.module), name.name
                modules[name.asname or name.name] = f"{node.module}.{name.name}"
        elif isinstance(node, ast.Import):
            for name in node.names:
                if name.name.split(".")[0] in WATCHED:
                    modules[name.asname or name.name] = name.name
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            yield modules[node.value.id], node.attr


def all_names_used() -> Names:
    """Return what the whole package uses."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for path in PACKAGE.rglob("*.py"):
        for module, name in names_used(path.read_text()):
            found[module].add(name)
    return {module: sorted(names) for module, names in found.items()}


def problems(names: Names) -> list[str]:
    """Return what of these names this environment lacks or deprecates."""
    found: list[str] = []
    for module, members in names.items():
        try:
            owner = _find(module)
        except (ImportError, AttributeError) as err:
            found.append(f"{module}: {err}")
            continue
        found += [problem for name in members if (problem := _problem(owner, module, name))]
    return found


def _find(dotted: str) -> Any:
    """Return a module, or what a module has under a name."""
    try:
        return import_module(dotted)
    except ModuleNotFoundError:
        module, _, name = dotted.rpartition(".")
        return getattr(import_module(module), name)


def _problem(owner: Any, module: str, name: str) -> str | None:
    """Return what is wrong with a name, if anything is."""
    if isinstance(owner, ModuleType) and f"_DEPRECATED_{name}" in vars(owner):
        return f"{module}.{name} is deprecated"
    try:
        value = getattr(owner, name)
    except AttributeError:
        try:
            value = import_module(f"{module}.{name}")
        except ImportError:
            return f"{module}.{name} is missing"
    if getattr(value, "__deprecated__", None) or type(value).__name__.startswith("Deprecated"):
        return f"{module}.{name} is deprecated"
    if getattr(getattr(value, "__code__", None), "co_name", "") == "deprecated_func":
        return f"{module}.{name} is deprecated"
    return None


def import_everything() -> None:
    """Import every file of the package; what Python or the SDK deprecates in it is an error."""
    warnings.filterwarnings("error", category=DeprecationWarning, module=r"custom_components\.")
    for path in sorted(PACKAGE.rglob("*.py")):
        import_module(".".join(path.relative_to(CHECKOUT).with_suffix("").parts).removesuffix(".__init__"))


async def editors_locks_are_found() -> bool:
    """Return whether the locks of the editors are where they are looked for."""
    from aiohttp import web  # noqa: PLC0415 - after homeassistant, which must be imported first

    from custom_components.extended_assist.automations.commit import editors_lock  # noqa: PLC0415
    from homeassistant.components.config import automation, scene, script  # noqa: PLC0415
    from homeassistant.core import HomeAssistant  # noqa: PLC0415

    hass = HomeAssistant("")
    app = web.Application()
    hass.http = SimpleNamespace(app=app, register_view=lambda view: view.register(hass, app, app.router))  # type: ignore[assignment]
    for editor in (automation, scene, script):
        editor.async_setup(hass)
    return all(editors_lock(hass, domain) is not None for domain in ("automation", "scene", "script"))


if __name__ == "__main__":
    sys.path.insert(0, str(CHECKOUT))
    import_module("homeassistant")  # It gives other modules their names, so it comes first.
    import_everything()
    found = problems(json.load(sys.stdin))
    if not asyncio.run(editors_locks_are_found()):
        found.append("the lock of an editor is not found")
    print(json.dumps(found))  # noqa: T201
