"""The conversations of the demonstration, held with the agent of a running home."""

import asyncio
import os
from pathlib import Path
import re
import shutil
import time
from typing import Any

import pytest

from custom_components.extended_assist.tools.watch import FIRST_LOOK
from demo.__main__ import CONVERSATIONS, FAMILIES, REHEARSED
from demo.conversation import converse, hold
from demo.custom_components.demo_home.const import FRONT_DOOR_FILE
from demo.front_door import draw_front_door
from demo.later import AFTERWARDS, ASKED, wait_for_later
from demo.looking import look_twice

from .client import Client
from .instance import HomeAssistantInstance


@pytest.fixture
async def families(client: Client, agent: str) -> None:
    """Turn on what the demonstration turns on."""
    (entry,) = await client.config_entries("extended_assist")
    await client.options_flow(entry["entry_id"], {"families": FAMILIES, "policy": {}})
    await client.post(f"/api/config/config_entries/entry/{entry['entry_id']}/reload", {})


@pytest.mark.parametrize("messages", CONVERSATIONS, ids=lambda messages: messages[0])
async def test_every_message_is_answered(
    client: Client, agent: str, families: None, messages: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """Each message is answered from tool results; what needs the user's word is done after it, and undone."""
    pipeline_id = await client.create_pipeline("Demonstration", agent)
    answered = await converse(client, pipeline_id, messages)
    assert answered == [True] * len(messages), capsys.readouterr().out


async def test_rehearsed(client: Client, agent: str, families: None, capsys: pytest.CaptureFixture[str]) -> None:
    """Before an automation is added, it is said what it would have done; then it is there, and taken away again."""
    pipeline_id = await client.create_pipeline("Rehearsed", agent)
    assert await converse(client, pipeline_id, REHEARSED[:1]) == [True]
    told = capsys.readouterr().out
    assert re.search(r"In the last seven days it would have run \d+ times", told), told
    assert told.rstrip().endswith("Shall I do that?")
    assert await converse(client, pipeline_id, REHEARSED) == [True] * len(REHEARSED), capsys.readouterr().out


async def test_later(client: Client, agent: str, families: None, capsys: pytest.CaptureFixture[str]) -> None:
    """What was asked for later is taken, and told when it is due."""
    pipeline_id = await client.create_pipeline("Later", agent)
    went = await wait_for_later(client, pipeline_id)
    assert went == [True] * (len(ASKED) + 1 + len(AFTERWARDS)), capsys.readouterr().out


async def test_a_parcel_at_the_door(
    home: HomeAssistantInstance, client: Client, agent: str, families: None, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is answered depends on the picture that the model was shown: with the parcel, and without it."""
    pipeline_id = await client.create_pipeline("Looking", agent)
    assert await look_twice(client, pipeline_id, home.config_dir) == [True, True], capsys.readouterr().out


async def test_watching_for_a_parcel(
    home: HomeAssistantInstance, client: Client, agent: str, families: None, capsys: pytest.CaptureFixture[str]
) -> None:
    """A watch says what it costs, sees nothing at its first look, and tells of the parcel that comes before the second."""
    await asyncio.to_thread(draw_front_door, home.config_dir, parcel=False)
    pipeline_id = await client.create_pipeline("CameraWatches", agent)
    (transcript,) = await hold(client, pipeline_id, ["Watch the front door and tell me when there is a parcel."])
    assert "10 times at most" in transcript.answer, capsys.readouterr().out
    await asyncio.sleep(FIRST_LOOK + 5)
    assert await _told(client, "parcel") == []
    await asyncio.to_thread(draw_front_door, home.config_dir, parcel=True)
    deadline = time.monotonic() + 90
    messages: list[str] = []
    while not messages and time.monotonic() < deadline:
        await asyncio.sleep(0.5)
        messages = await _told(client, "parcel")
    assert messages == ["I can see it: there is a parcel."]


async def _told(client: Client, word: str) -> list[str]:
    """Return the messages of notifications that hold a word."""
    shown: Any = await client.call("persistent_notification/get")
    return [one["message"] for one in shown if word in one["message"]]


async def test_a_parcel_of_yesterday(
    home: HomeAssistantInstance, client: Client, agent: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the home kept in a folder of its media is seen where a past moment is asked for, and nothing of now."""
    folder = home.config_dir / "media" / "doorbell"
    yesterday = time.time() - 26 * 3_600
    await asyncio.to_thread(_keep_a_picture, home.config_dir, folder, yesterday)
    (entry,) = await client.config_entries("extended_assist")
    line = "camera.front_door = media-source://media_source/local/doorbell"
    done = await client.options_flow(
        entry["entry_id"], {"families": FAMILIES, "policy": {}, "cameras": {"look_folders": [line]}}
    )
    assert done["type"] == "create_entry", done
    await client.post(f"/api/config/config_entries/entry/{entry['entry_id']}/reload", {})
    pipeline_id = await client.create_pipeline("Looking back", agent)
    for hours, answer in (("26", "Yes"), ("40", "That did not work.")):
        (transcript,) = await hold(client, pipeline_id, [f"Was there a parcel at the door {hours} hours ago?"])
        assert transcript.answer.startswith(answer), capsys.readouterr().out


def _keep_a_picture(config_dir: Path, folder: Path, moment: float) -> None:
    """Keep a picture with a parcel as the home does, of a past moment; by now the parcel is taken in."""
    folder.mkdir(parents=True, exist_ok=True)
    draw_front_door(config_dir, parcel=True)
    kept = folder / "rang.png"
    shutil.copyfile(config_dir / FRONT_DOOR_FILE, kept)
    os.utime(kept, (moment, moment))
    draw_front_door(config_dir, parcel=False)
