"""A real `hass` process: configured, started, onboarded, stopped.

Used by the end-to-end tests, the demonstration and the benchmarks; nothing here needs pytest, and nothing is bound to an
event loop but the clients that `connect` returns.
"""

import asyncio
from collections.abc import Mapping
import contextlib
from dataclasses import dataclass
from datetime import UTC, datetime
import json
import os
from pathlib import Path
import shutil
import signal
import socket
import subprocess
import time
from typing import Any, Literal, Self

import aiohttp

from .client import Client
from .copies import CopiedProcess, start_copy

type Environment = Literal["test", "newest"]
ENVIRONMENTS: tuple[Environment, ...] = ("test", "newest")

CHECKOUT = Path(__file__).resolve().parents[2]
CACHE = CHECKOUT / ".cache"

START_TIMEOUT = 120.0  # seconds, for a first start on a busy machine
STOP_TIMEOUT = 45.0  # seconds, before the process is killed; Home Assistant's own stages end below that
POLL_INTERVAL = 0.1  # seconds
LOG_TAIL = 40  # lines shown when a start fails

OWNER = {"name": "Owner", "username": "owner", "password": "owner"}

# Only what a conversation about a home needs: `default_config` would add discovery, Bluetooth and the cloud.
CONFIGURATION = """\
homeassistant:
  name: Home
  latitude: 52.37
  longitude: 4.89
  elevation: 2
  radius: 100
  unit_system: metric
  currency: EUR
  country: NL
  language: en
  time_zone: Europe/Amsterdam
frontend:
recorder:
  commit_interval: 1
history:
logbook:
energy:
conversation:
assist_pipeline:
automation: !include automations.yaml
script: !include scripts.yaml
logger:
  default: warning
  logs:
    # A machine without ffmpeg or libturbojpeg is fine: nothing here shows pictures or plays sound.
    haffmpeg: fatal
    homeassistant.components.camera.img_util: fatal
"""


class StartError(Exception):
    """The process ended, or was not ready in time; the message holds the end of its log."""


@dataclass
class HomeAssistantInstance:
    """One `hass` process on 127.0.0.1 and the configuration folder it runs on; `async with` starts and stops it."""

    environment: Environment
    config_dir: Path
    port: int = 0
    extra_environment: dict[str, str] | None = None
    access_token: str = ""
    module: str = "homeassistant"
    """What is run in place of Home Assistant's own program."""
    is_copy: bool = False
    """Whether it begins as a copy of a process that has imported Home Assistant, in a quarter of the time of a start."""

    def __post_init__(self) -> None:
        self.port = self.port or free_port()
        self._process: subprocess.Popen[bytes] | CopiedProcess | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def log_file(self) -> Path:
        """What the process wrote, over all its starts."""
        return self.config_dir / "console.log"

    def log(self) -> str:
        return self.log_file.read_text(errors="replace") if self.log_file.exists() else ""

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process and self._process.poll() is None else None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def start(self) -> None:
        """Start on the configuration folder, log the owner in (made at the first start), wait until all is running."""
        python = interpreter(self.environment)
        await asyncio.to_thread(prepare_configuration, self.config_dir, self.port)
        arguments = ["-c", str(self.config_dir), "--log-no-color"]
        extra = self.extra_environment or {}
        if self.is_copy:
            self._process = await asyncio.to_thread(
                start_copy, python, process_environment(), self.log_file, self.module, arguments, extra
            )
        else:
            with self.log_file.open("ab") as log:
                # A session of its own: Ctrl-C in the terminal reaches only us, and the whole group can be ended.
                self._process = subprocess.Popen(  # noqa: ASYNC220 - starting does not block; waiting is done by polling
                    [python, "-m", self.module, *arguments],
                    cwd=self.config_dir,
                    env=process_environment() | extra,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
        try:
            deadline = time.monotonic() + START_TIMEOUT
            await self._wait_for_http(deadline)
            self.access_token = await self._log_in()
            await self._wait_until_running(deadline)
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> int | None:
        """End the process and all it started; returns its exit status."""
        process, self._process = self._process, None
        if process is None:
            return None
        try:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    await asyncio.to_thread(process.wait, STOP_TIMEOUT)
        finally:
            kill_group(process.pid)
            process.wait()
        return process.returncode

    async def restart(self) -> None:
        """Stop and start on the same configuration, port and owner."""
        await self.stop()
        await self.start()

    def connect(self) -> Client:
        """Return a client with the owner's rights, to be used with `async with`."""
        return Client(self.url, self.access_token)

    # The start

    async def _wait_for_http(self, deadline: float) -> None:
        async with aiohttp.ClientSession(self.url, timeout=aiohttp.ClientTimeout(total=5)) as session:
            while True:
                self._check_alive(deadline)
                try:
                    async with session.get("/auth/providers") as response:
                        # 400: the API answers and the owner is still to be made.
                        if response.status in (200, 400):
                            return
                except aiohttp.ClientError, TimeoutError:
                    pass
                await asyncio.sleep(POLL_INTERVAL)

    async def _wait_until_running(self, deadline: float) -> None:
        async with self.connect() as client:
            while (await client.get("/api/core/state"))["state"] != "RUNNING":
                self._check_alive(deadline)
                await asyncio.sleep(POLL_INTERVAL)

    def _check_alive(self, deadline: float) -> None:
        assert self._process is not None
        if (status := self._process.poll()) is not None:
            reason = f"hass ended with status {status} while it started"
        elif time.monotonic() > deadline:
            reason = f"hass was not ready within {START_TIMEOUT:.0f} s"
        elif "Activating recovery mode" in self.log():
            reason = "hass went into recovery mode"
        else:
            return
        tail = "\n".join(self.log().splitlines()[-LOG_TAIL:])
        raise StartError(f"{reason}; the end of {self.log_file}:\n{tail}")

    async def _log_in(self) -> str:
        """Return a long-lived access token of the owner, who is made first on a new home."""
        short_lived = (await self.log_in(OWNER))["access_token"]
        async with Client(self.url, short_lived) as client:
            # An ordinary access token ends after half an hour.
            name = f"instance {time.time_ns()}"
            return str(await client.call("auth/long_lived_access_token", client_name=name, lifespan=1))

    async def log_in(self, user: Mapping[str, str]) -> dict[str, Any]:
        """Return the tokens of a user, as the frontend has them; the owner is made first on a new home."""
        client_id = f"{self.url}/"
        async with aiohttp.ClientSession(self.url, timeout=aiohttp.ClientTimeout(total=60)) as session:
            code = None
            if user == OWNER:
                new = {**OWNER, "client_id": client_id, "language": "en"}
                async with session.post("/api/onboarding/users", json=new) as response:
                    code = (await response.json())["auth_code"] if response.status == 200 else None
            if code is None:
                code = await self._authorize(session, client_id, user)
            form = {"grant_type": "authorization_code", "code": code, "client_id": client_id}
            async with session.post("/auth/token", data=form, raise_for_status=True) as response:
                return dict(await response.json())

    @staticmethod
    async def _authorize(session: aiohttp.ClientSession, client_id: str, user: Mapping[str, str]) -> str:
        flow = {"client_id": client_id, "handler": ["homeassistant", None], "redirect_uri": client_id}
        async with session.post("/auth/login_flow", json=flow, raise_for_status=True) as response:
            flow_id = (await response.json())["flow_id"]
        login = {"username": user["username"], "password": user["password"], "client_id": client_id}
        async with session.post(f"/auth/login_flow/{flow_id}", json=login, raise_for_status=True) as response:
            return str((await response.json())["result"])


def interpreter(environment: Environment) -> Path:
    """Return the Python of an environment that script/bootstrap made; raises FileNotFoundError when it is missing."""
    python = CACHE / "environments" / environment / "bin" / "python"
    if not python.exists():
        raise FileNotFoundError(f"the environment {environment!r} is missing: run script/bootstrap {environment}")
    return python


def installed_version(environment: Environment) -> str:
    """Return the version of Home Assistant in an environment, or its name while it is missing."""
    found = (CACHE / "environments" / environment).glob("lib/python*/site-packages/homeassistant-*.dist-info")
    return next((folder.name.removesuffix(".dist-info").partition("-")[2] for folder in found), environment)


def process_environment() -> dict[str, str]:
    """Return a small environment for a process, with every cache inside the checkout and nothing to fetch."""
    home = CACHE / "home"
    home.mkdir(parents=True, exist_ok=True)
    (CACHE / "tmp").mkdir(exist_ok=True)
    inherited = {name: value for name in ("PATH", "LANG", "LC_ALL") if (value := os.environ.get(name))}
    return inherited | {
        "HOME": str(home),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "TMPDIR": str(CACHE / "tmp"),
        "PYTHONPYCACHEPREFIX": str(CACHE / "pycache"),
        # A requirement that the environment lacks is an error in the log, never an installation into it.
        "UV_OFFLINE": "1",
        "UV_CACHE_DIR": str(home / "uv"),
    }


def prepare_configuration(config_dir: Path, port: int) -> None:
    """Write what Home Assistant needs to start on this port; files that exist are kept, but for the port."""
    storage = config_dir / ".storage"
    storage.mkdir(parents=True, exist_ok=True)
    for name, text in (
        ("configuration.yaml", CONFIGURATION),
        ("automations.yaml", "[]\n"),
        ("scripts.yaml", "{}\n"),
    ):
        if not (config_dir / name).exists():
            (config_dir / name).write_text(text)
    # Settings of `http` in YAML would be taken as a trial that is undone five minutes later; this is what it stores itself.
    write_storage(
        storage,
        "http",
        {
            "stable": {
                "server_host": ["127.0.0.1"],
                "server_port": port,
                "cors_allowed_origins": ["https://cast.home-assistant.io"],
                "login_attempts_threshold": -1,
                "ip_ban_enabled": True,
                "ssl_profile": "modern",
                "use_x_frame_options": True,
                "created_at": datetime.now(UTC).isoformat(),
                "error": None,
                "error_message": None,
            },
            "pending": None,
            "yaml_migration_done": True,
        },
        version=2,
        minor_version=2,
    )
    # The steps after the owner's account add entries that need the internet, and the browser would ask for them.
    if not (storage / "onboarding").exists():
        write_storage(storage, "onboarding", {"done": ["core_config", "analytics", "integration"]}, version=4)


def write_storage(storage: Path, key: str, data: Any, *, version: int = 1, minor_version: int = 1) -> None:
    """Write one file of Home Assistant's `.storage`."""
    document = {"version": version, "minor_version": minor_version, "key": key, "data": data}
    (storage / key).write_text(json.dumps(document, indent=2))


def install_integration(config_dir: Path, source: Path = CHECKOUT / "custom_components" / "extended_assist") -> None:
    """Make a custom integration of the checkout available to the instance: a link to it, so that nothing is stale."""
    target = config_dir / "custom_components" / source.name
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.is_symlink():
        target.unlink()
    elif target.exists():
        shutil.rmtree(target)
    target.symlink_to(source, target_is_directory=True)
    _share_compiled(source, target)


def _share_compiled(source: Path, target: Path) -> None:
    """Let what is compiled of a link be what is compiled of what it leads to: Python takes the link for another file."""
    ours, theirs = (CACHE / "pycache" / path.absolute().relative_to("/") for path in (source, target))
    ours.mkdir(parents=True, exist_ok=True)
    if not theirs.exists():
        theirs.parent.mkdir(parents=True, exist_ok=True)
        theirs.symlink_to(ours, target_is_directory=True)


def kill_group(pid: int) -> None:
    """Kill what is left of the process group that `pid` leads."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
