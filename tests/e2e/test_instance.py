"""The helper that runs `hass`: it starts again on what it left, fails early, and leaves no process."""

import os
from pathlib import Path
import time

import pytest

from .client import Client, CommandError
from .instance import HomeAssistantInstance, StartError


async def test_a_restart_keeps_the_home_and_logs_the_owner_in_again(tmp_path: Path) -> None:
    async with HomeAssistantInstance("test", tmp_path) as instance:
        async with instance.connect() as client:
            area_id = await client.create_area("Attic")
            token = instance.access_token
        pid = instance.pid
        await instance.restart()
        assert instance.pid not in (None, pid)
        assert instance.access_token != token
        async with instance.connect() as client:
            assert await client.create_area("Attic") == area_id
            assert (await client.call("auth/current_user"))["is_owner"]
        pid = instance.pid
    assert instance.pid is None
    assert pid is not None
    with pytest.raises(ProcessLookupError):
        os.killpg(pid, 0)


async def test_a_start_that_fails_is_reported_at_once_with_the_log(tmp_path: Path) -> None:
    (tmp_path / "configuration.yaml").write_text("homeassistant:\n  latitude: nowhere\nfrontend: [\n")
    instance = HomeAssistantInstance("test", tmp_path)
    began = time.monotonic()

    with pytest.raises(StartError, match=r"configuration\.yaml"):
        await instance.start()

    assert time.monotonic() - began < 60
    assert instance.pid is None


async def test_a_refused_command_is_an_error_with_its_code(client: Client) -> None:
    with pytest.raises(CommandError) as refused:
        await client.call("no/such/command")

    assert refused.value.code == "unknown_command"
