"""The conversations of the demonstration, held with the agent of a running home."""

import re

import pytest

from demo.__main__ import CONVERSATIONS, FAMILIES, REHEARSED
from demo.conversation import converse
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
