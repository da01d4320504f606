"""What a test is spared that does not need it: an event loop, mocks that take as long as a home, and reading files anew."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
import datetime as dt
import inspect
from pathlib import Path
import threading
from types import FunctionType, ModuleType
from typing import Any
from unittest.mock import patch

import pytest
from pytest_homeassistant_custom_component import common, plugins
import respx

from homeassistant import components
from homeassistant.components.http import HomeAssistantHTTP
from homeassistant.core import HomeAssistant
from homeassistant.helpers import service
from homeassistant.loader import Integration
from homeassistant.util import dt as dt_util

_MARKS = frozenset({"_is_coroutine", "_is_coroutine_marker"})
"""What a function has that is to be taken for one with `async` before it."""
_IN_C = frozenset({"_asyncio", "builtins"})
"""Where kinds come from of which one can be called as well as another."""
_HAS_LOOP = pytest.StashKey[bool]()


def has_loop(request: pytest.FixtureRequest) -> bool:
    """Return whether a test, or a fixture of it alone, runs on an event loop."""
    item = request.node
    if _HAS_LOOP not in item.stash:
        definitions = [item._fixtureinfo.name2fixturedefs.get(name, [None])[-1] for name in item.fixturenames]
        functions = [item.obj, *(each.func for each in definitions if each is not None and each.scope == "function")]
        item.stash[_HAS_LOOP] = "hass" in item.fixturenames or any(
            inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function) for function in functions
        )
    return item.stash[_HAS_LOOP]


def checked_once(check: Callable[[object, str], None]) -> Callable[[object, str], None]:
    """Return a check of what a loop calls that looks once at each function, and at each kind of those written in C."""
    passed: dict[int, object] = {}

    def check_new(callback: object, method: str) -> None:
        known_by = _known_by(callback)
        if id(known_by) not in passed:
            check(callback, method)
            if known_by is not None:
                passed[id(known_by)] = known_by

    return check_new


def _known_by(callback: object) -> object | None:
    """Return what is the same of all that can be called as well as this, if anything is."""
    function = getattr(callback, "__func__", callback)
    if isinstance(function, FunctionType):
        return function.__code__ if vars(function).keys().isdisjoint(_MARKS) else None
    kind = type(function)
    return kind if kind.__module__ in _IN_C else None


@pytest.fixture(autouse=True)
def configure_event_loop(request: pytest.FixtureRequest) -> None:
    """Configure the loop as Home Assistant does, where there is one."""
    if has_loop(request):
        request.getfixturevalue("configure_event_loop")


@pytest.fixture(autouse=True)
def verify_cleanup(request: pytest.FixtureRequest) -> Iterator[None]:
    """Verify that a test leaves nothing behind: by the plugin, but for a loop that the test does not have."""
    if has_loop(request):
        request.getfixturevalue("verify_cleanup")
        yield
        return
    before = frozenset(threading.enumerate())
    yield
    began = [thread for thread in threading.enumerate() if thread not in before]
    zone, dt_util.DEFAULT_TIME_ZONE = dt_util.DEFAULT_TIME_ZONE, dt.UTC
    routes = bool(respx.mock.routes)
    respx.mock.clear()
    blocked = plugins.HASocketBlockedError
    sockets, blocked.instances = blocked.instances, []
    assert not common.INSTANCES, "the test leaves a home behind"
    assert all(isinstance(thread, threading._DummyThread) or thread.name.startswith("waitpid-") for thread in began), (
        began
    )
    assert zone is dt.UTC, "the test leaves a time zone behind"
    assert not routes, "the test leaves mocked requests behind"
    assert not sockets, "the test opens sockets"


@pytest.fixture(autouse=True)
def disable_http_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no home listen, as the plugin does, but by plain functions, for the same reason."""

    async def do_nothing(*_: Any) -> None:
        pass

    monkeypatch.setattr(HomeAssistantHTTP, "async_bind", do_nothing)
    monkeypatch.setattr(HomeAssistantHTTP, "start", do_nothing)


@pytest.fixture
def hass_storage() -> Iterator[dict[str, Any]]:
    """Keep in memory what a home stores, as the plugin does, but by plain functions: its mocks take as long as a home."""

    def plain(target: str, *, side_effect: Any, autospec: bool) -> Any:
        return patch(target, side_effect)

    with ExitStack() as stack:
        with patch.object(common, "patch", plain):
            stored = stack.enter_context(common.mock_storage())
        yield stored


@contextmanager
def descriptions_read_once() -> Iterator[None]:
    """Read the descriptions of each integration's actions once: they stay as they are, and take a seventh of all time."""
    read, files = service._load_services_file, dict[Path, Any]()

    def once(integration: Integration) -> Any:
        if integration.file_path not in files:
            files[integration.file_path] = read(integration)
        return files[integration.file_path]

    with patch.object(service, "_load_services_file", once):
        yield


@contextmanager
def manifests_read_once() -> Iterator[None]:
    """Read the manifest of each of Home Assistant's integrations once, for the same reason; custom ones always anew."""
    resolve, known = Integration.resolve_from_root, dict[str, tuple[Any, ...]]()

    def once(hass: HomeAssistant, root: ModuleType, domain: str) -> Integration | None:
        if root is not components:
            return resolve(hass, root, domain)
        if domain in known:
            package, path, manifest, files = known[domain]
            return Integration(hass, package, path, manifest.copy(), files)
        if (found := resolve(hass, root, domain)) is not None:
            known[domain] = (found.pkg_path, found.file_path, found.manifest.copy(), found._top_level_files)
        return found

    with patch.object(Integration, "resolve_from_root", once):
        yield
