"""The helper that runs `hass`: it fails early, and names what is refused; `test_restart.py` starts one again."""

from pathlib import Path
import time

import pytest

from .client import Client, CommandError
from .instance import HomeAssistantInstance, StartError


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
