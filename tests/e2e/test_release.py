"""What a release publishes, installed as HACS does it into a clean Home Assistant."""

from pathlib import Path
import subprocess
from zipfile import ZipFile

import aiohttp
import pytest

from .conftest import PLANNER_KEY, complaints
from .instance import CHECKOUT, CONFIGURATION, HomeAssistantInstance, interpreter
from .test_talking import speech

SOURCE = CHECKOUT / "custom_components" / "extended_assist"
PARTY = "input_boolean.party"


def install(folder: Path) -> Path:
    """Build the release and unpack its zip file into a configuration folder; return where it is."""
    subprocess.run([CHECKOUT / "script" / "release", "--folder", folder / "release"], check=True)
    installed = folder / "custom_components" / "extended_assist"
    with ZipFile(folder / "release" / "extended_assist.zip") as archive:
        archive.extractall(installed)
    (folder / "configuration.yaml").write_text(f"{CONFIGURATION}input_boolean:\n  party:\n    name: Party\n")
    return installed


async def test_release(tmp_path: Path, planner: str) -> None:
    """The zip file makes an integration with its images that is set up, turns something on and says so, with a clean log."""
    try:
        interpreter("newest")
    except FileNotFoundError as err:
        pytest.skip(str(err))
    installed = install(tmp_path)
    async with HomeAssistantInstance("newest", tmp_path) as home, home.connect() as client:
        (manifest,) = await client.call("manifest/list", integrations=["extended_assist"])
        assert not manifest["is_built_in"]
        for kind in ("integration", "marketplace"):
            for image in sorted((SOURCE / "brand").iterdir()):
                assert await served(home, f"/api/brands/{kind}/extended_assist/{image.name}") == image.read_bytes()
        result = await client.config_flow(
            "extended_assist", {"next_step_id": "claude"}, {"api_key": PLANNER_KEY, "base_url": planner}
        )
        assert result["type"] == "create_entry", result
        agent = await client.find_entity("conversation", "extended_assist")
        await client.expose(PARTY)
        answer = await client.perform_action(
            "conversation.process", {"agent_id": agent, "text": "Turn on the party."}, response=True
        )
        assert answer["response"]["response_type"] == "action_done"
        assert speech(answer) == "Turned on: party."
        assert (await client.state(PARTY))["state"] == "on"
    assert not installed.is_symlink()
    assert complaints(home) == []


async def served(home: HomeAssistantInstance, path: str) -> bytes:
    """Return an image as the frontend gets it."""
    headers = {"Authorization": f"Bearer {home.access_token}"}
    async with aiohttp.ClientSession(home.url, headers=headers) as session, session.get(path) as response:
        assert response.status == 200
        assert response.content_type == "image/png"
        return await response.read()
