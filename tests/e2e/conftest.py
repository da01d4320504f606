"""Running homes, one per Home Assistant version; each is started once for all end-to-end tests.

What runs is a process of its own: the plugin's patches of this process do not reach it. Only the sockets of the client
need the plugin's leave, and only on loopback.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
import shutil
import subprocess
import sys
import tempfile
from typing import Any

import pytest
import pytest_socket

from demo.home import furnish_home, prepare_home
from tests.helpers.running import END_TO_END

from .client import Client
from .instance import (
    CACHE,
    CHECKOUT,
    ENVIRONMENTS,
    Environment,
    HomeAssistantInstance,
    install_integration,
    installed_version,
    interpreter,
)
from .writing_home import prepare_writing_home

type Start = Callable[[HomeAssistantInstance], Coroutine[Any, Any, None]]
"""Prepares the folder of a home and starts it."""

FOLDER = Path(__file__).parent
PLANNER_KEY = "planner-key"
HISTORY_DAYS = 12  # more than the ten days for which five-minute statistics are written
SPARE_HISTORY_DAYS = 2
VERSIONS = {environment: installed_version(environment) for environment in ENVIRONMENTS}


@pytest.fixture(autouse=True)
def _custom_integrations() -> None:
    """Make no Home Assistant in this process, as the tests beside this folder want it."""


@pytest.fixture(autouse=True)
def loopback_sockets(socket_enabled: None) -> None:
    """Let the tests of this folder open sockets."""
    allow_loopback()


def allow_loopback() -> None:
    """Let this machine be reached; other hosts than 127.0.0.1 stay closed."""
    pytest_socket.enable_socket()
    pytest_socket.socket_allow_hosts(["127.0.0.1"], allow_unix_socket=True)


@contextmanager
def running(environment: Environment, start: Start) -> Iterator[HomeAssistantInstance]:
    """Run a home in a folder of its own, which is prepared and started."""
    try:
        interpreter(environment)
    except FileNotFoundError as err:
        pytest.skip(str(err))
    (CACHE / "e2e").mkdir(parents=True, exist_ok=True)
    config_dir = Path(tempfile.mkdtemp(prefix=f"{environment}-", dir=CACHE / "e2e"))
    allow_loopback()
    instance = HomeAssistantInstance(environment, config_dir, is_copy=True)
    try:
        asyncio.run(start(instance))
        yield instance
    finally:
        asyncio.run(instance.stop())
        shutil.rmtree(config_dir, ignore_errors=True)


@pytest.fixture(scope="session", params=VERSIONS, ids=VERSIONS.values())
def home(request: pytest.FixtureRequest) -> Iterator[HomeAssistantInstance]:
    """The demonstration home with its past, running."""
    with running(request.param, partial(_start_demonstration, days=HISTORY_DAYS)) as instance:
        yield instance
        assert complaints(instance) == []


@pytest.fixture(scope="session", params=VERSIONS, ids=VERSIONS.values())
def spare_home(request: pytest.FixtureRequest) -> Iterator[HomeAssistantInstance]:
    """Another one, for tests that take away what others need; each leaves it without the integration."""
    with running(request.param, partial(_start_demonstration, days=SPARE_HISTORY_DAYS)) as instance:
        yield instance


@pytest.fixture(scope="session", params=VERSIONS, ids=VERSIONS.values())
def writing_home(request: pytest.FixtureRequest) -> Iterator[HomeAssistantInstance]:
    """A home of helpers and demo devices, for tests that write into its configuration; each sets up an agent of its own."""
    with running(request.param, _start_writing_home) as instance:
        yield instance


def complaints(instance: HomeAssistantInstance) -> list[str]:
    """Return what was logged against the integration, but for what is said of every custom integration."""
    lines = instance.log().replace(str(CHECKOUT), "").splitlines()
    return [line for line in lines if "extended_assist" in line and "We found a custom integration" not in line]


async def _start_writing_home(instance: HomeAssistantInstance) -> None:
    await asyncio.to_thread(prepare_writing_home, instance.config_dir)
    await instance.start()


async def _start_demonstration(instance: HomeAssistantInstance, days: int) -> None:
    await prepare_home(instance.environment, instance.config_dir, days)
    install_integration(instance.config_dir)
    await instance.start()
    async with instance.connect() as client:
        await furnish_home(client)


@pytest.fixture
async def client(home: HomeAssistantInstance) -> AsyncIterator[Client]:
    """A client of the running home with the owner's rights."""
    async with home.connect() as client:
        yield client


@pytest.hookimpl(tryfirst=True)  # before the workers read the groups, also when only this folder is run
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests of one running home in one worker: two processes cannot share its folder."""
    for item in items:
        if FOLDER in item.path.parents and isinstance(item, pytest.Function):
            params = item.callspec.params if hasattr(item, "callspec") else {}
            shared = " ".join(
                f"{name} {params[name]}" for name in ("home", "spare_home", "writing_home") if name in params
            )
            # What starts homes of its own goes wherever there is time; a file at once, as it may begin with what is slow.
            item.add_marker(pytest.mark.xdist_group(f"{END_TO_END}{shared or item.path.stem}"))


@pytest.fixture(scope="session")
def planner() -> Iterator[str]:
    """The address of a loopback Claude server that answers by the planner's rules."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.claude_server", "--planner", "--api-key", PLANNER_KEY],
        cwd=CHECKOUT,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout
        yield process.stdout.readline().split()[-1]
    finally:
        process.terminate()
        process.wait()


@pytest.fixture(scope="session")
def agent(home: HomeAssistantInstance, planner: str) -> str:
    """The agent of the integration, set up as a person would, by its entity id."""
    allow_loopback()
    return asyncio.run(_set_up(home, planner))


async def _set_up(home: HomeAssistantInstance, planner: str) -> str:
    async with home.connect() as client:
        result = await client.config_flow(
            "extended_assist", {"next_step_id": "claude"}, {"api_key": PLANNER_KEY, "base_url": planner}
        )
        assert result["type"] == "create_entry", result
        return await client.find_entity("conversation", "extended_assist")
