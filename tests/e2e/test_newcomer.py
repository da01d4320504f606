"""A newcomer's whole way in the real frontend, by clicking and typing: from adding the integration to removing it.

Run by itself, it pictures every step in `.cache/screenshots`; those that begin with `readme` are made for `docs/images`, and copied by hand.
"""

from collections.abc import AsyncIterator
from dataclasses import replace
import re
from typing import Any, override

import pytest

from tests.claude_server import ClaudeServer, OfflinePlanner, Turn

from . import setting_up, using
from .browser import CHROMIUM, Walk, browse
from .instance import HomeAssistantInstance

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
    pytest.mark.timeout(600),
]

EXPECTED = re.compile(
    "We found a custom integration|Error requesting .* cannot be reached at the moment|could not answer:"
)
"""What may be in the log: a server is taken away."""


class SlowWriter(OfflinePlanner):
    """The planner, writing as slowly as a model does."""

    @override
    async def respond(self, request_body: dict[str, Any]) -> Turn:
        turn = await super().respond(request_body)
        if turn.final_stop_reason == "tool_use":
            return turn
        return replace(turn, pace=0.25, chunk=max(1, len(turn.content[0]["text"]) // 12))


@pytest.fixture
async def server() -> AsyncIterator[ClaudeServer]:
    """A server of its own, which can fail and be stopped."""
    async with ClaudeServer(SlowWriter(), api_key=setting_up.KEY) as server:
        yield server


@pytest.mark.parametrize("spare_home", ["newest"], indirect=True)
async def test_newcomer(spare_home: HomeAssistantInstance, server: ClaudeServer) -> None:
    """Each step does what its words say."""
    way = browse(spare_home, "/config/integrations/dashboard", "newcomer", types_password=True)
    async with spare_home.connect() as client, way as page:
        walk = Walk(page)
        await setting_up.meet_every_error(walk, spare_home, server)
        await setting_up.add_the_integration(walk, server)
        await setting_up.set_options(walk)
        await setting_up.add_an_agent(walk)
        await setting_up.look_at_the_other_forms(walk)
        await setting_up.add_a_function(walk, client)
        await setting_up.pick_the_agent(walk)
        await using.ask(walk)
        await using.confirm_an_automation(walk, client)
        await using.lose_the_server(walk, client, server)
        await using.look_at_the_usage(walk, client)
        await using.download_diagnostics(walk, server)
        await using.look_on_a_phone(walk)
        await using.remove(walk, client, spare_home)
        assert walk.problems == []
    lines = [line for line in spare_home.log().splitlines() if "extended_assist" in line]
    assert [line for line in lines if not EXPECTED.search(line)] == []
