"""Running homes, one per Home Assistant version; each is started once for all end-to-end tests.

What runs is a process of its own: the plugin's patches of this process do not reach it. Only the sockets of the client
need the plugin's leave, and only on loopback.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
import shutil

import pytest
import pytest_socket

from demo.home import furnish_home, prepare_home

from .client import Client
from .instance import CACHE, Environment, HomeAssistantInstance, install_integration, interpreter

HISTORY_DAYS = 12  # more than the ten days for which five-minute statistics are written
VERSIONS: dict[Environment, str] = {"test": "2026.10.4", "newest": "2026.11.0"}


@pytest.fixture(autouse=True)
def _custom_integrations() -> None:
    """Make no Home Assistant in this process, as the tests beside this folder want it."""


@pytest.fixture(autouse=True)
def loopback_sockets(socket_enabled: None) -> None:
    """Let the tests of this folder open sockets; other hosts than 127.0.0.1 stay closed."""
    pytest_socket.socket_allow_hosts(["127.0.0.1"])


# The tests of one version go to one of several test processes: they share its home.
@pytest.fixture(
    scope="session",
    params=[
        pytest.param(environment, id=version, marks=pytest.mark.xdist_group(f"home {version}"))
        for environment, version in VERSIONS.items()
    ],
)
def home(request: pytest.FixtureRequest) -> Iterator[HomeAssistantInstance]:
    """The demonstration home with its past, running."""
    environment: Environment = request.param
    try:
        interpreter(environment)
    except FileNotFoundError as err:
        pytest.skip(str(err))
    config_dir = CACHE / "e2e" / environment
    shutil.rmtree(config_dir, ignore_errors=True)
    pytest_socket.enable_socket()
    instance = HomeAssistantInstance(environment, config_dir)
    try:
        asyncio.run(_start(instance))
        yield instance
    finally:
        asyncio.run(instance.stop())


async def _start(instance: HomeAssistantInstance) -> None:
    await prepare_home(instance.environment, instance.config_dir, HISTORY_DAYS)
    install_integration(instance.config_dir)
    await instance.start()
    async with instance.connect() as client:
        await furnish_home(client)


@pytest.fixture
async def client(home: HomeAssistantInstance) -> AsyncIterator[Client]:
    """A client of the running home with the owner's rights."""
    async with home.connect() as client:
        yield client
