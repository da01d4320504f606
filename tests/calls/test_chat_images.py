"""Pictures that are shown with answers: who sees them, for how long, and what the model never reads."""

from datetime import timedelta
from http import HTTPStatus
import re
from time import monotonic
from typing import Any

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, MockUser, async_fire_time_changed
from pytest_homeassistant_custom_component.typing import (
    ClientSessionGenerator,
    MockHAClientWebSocket,
    WebSocketGenerator,
)

from custom_components.extended_assist.calls import chat_images, chat_images as shown
from custom_components.extended_assist.calls.call import ToolCall
from custom_components.extended_assist.calls.caller import Caller
from custom_components.extended_assist.calls.chat_images import Picture, Screen, async_get_gallery, async_show
from custom_components.extended_assist.tools.user import GetUserNameTool
from homeassistant.components import conversation
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.components.http.auth import async_sign_path
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import llm
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
from homeassistant.util.json import JsonObjectType
from tests.claude.sent import assert_append_only
from tests.claude_server import ClaudeServer, Scenario, Turn, text, thinking, tool_use
from tests.conftest import AGENT, ASSISTANT, Converse, expose
from tests.helpers.talking import FindLog, change_agent, speech
from tests.test_voice import Recorder, recorder, speak

__all__ = ["recorder"]

pytestmark = pytest.mark.usefixtures("no_deprecations", "pictures")

PIXEL = bytes.fromhex("47494638396101000100800000000000ffffff21f90401000000002c00000000010001000002024401003b")
DOOR = "camera.door"
ALT = "Door](x) <script>_*![`"
LINK = re.compile(r"!\[([^\]]*)\]\((/api/extended_assist/shown/[\w-]{20,}\?authSig=[\w.-]+)\)")
LOOK = Turn([thinking("I look."), tool_use("extended_assist__get_user_name")])
SAID = "There is a parcel at the door."


@pytest.fixture
def pictures(hass: HomeAssistant, monkeypatch: pytest.MonkeyPatch) -> list[str | None]:
    """Let a tool show a picture each time, and return what it was given for them."""
    references: list[str | None] = []

    async def run(_: GetUserNameTool, call: ToolCall) -> JsonObjectType:
        alt = f"{ALT} {len(references)}"
        references.append(async_show(call.hass, call.caller, PIXEL, "image/gif", alt, entity_ids=[DOOR]))
        return {"name": "Somebody"}

    monkeypatch.setattr(GetUserNameTool, "async_run", run)
    hass.states.async_set(DOOR, "idle", {"friendly_name": "Door"})
    return references


@pytest.fixture
async def home(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """Give the agent a pipeline and what it shows."""
    for component in ("assist_pipeline", "intent"):
        assert await async_setup_component(hass, component, {})
    expose(hass, DOOR)


async def ask(
    client: MockHAClientWebSocket, server: ClaudeServer, *turns: Turn, **more: Any
) -> tuple[str, str, list[dict[str, Any]]]:
    """Type something into a dialog; return what is streamed, what is said in the end, and the events."""
    server.responder = Scenario(list(turns) or [LOOK, Turn([text(SAID)])])
    found = await pipelines(client)
    await client.send_json_auto_id(
        {
            "type": "assist_pipeline/run",
            "start_stage": "intent",
            "end_stage": "intent",
            "input": {"text": "Is there a parcel?"},
            "pipeline": found,
            **more,
        }
    )
    events = []
    while not events or events[-1]["type"] != "run-end":
        if event := (await client.receive_json()).get("event"):
            events.append(event)
    deltas = [event["data"].get("chat_log_delta", {}) for event in events if event["type"] == "intent-progress"]
    streamed = "".join(delta.get("content") or "" for delta in deltas if "tool_call_id" not in delta)
    (ended,) = [event["data"]["intent_output"] for event in events if event["type"] == "intent-end"]
    return streamed, ended["response"]["speech"]["plain"]["speech"], events


async def pipelines(client: MockHAClientWebSocket) -> str:
    """Return the pipeline of the agent, made the first time."""
    await client.send_json_auto_id({"type": "assist_pipeline/pipeline/list"})
    listed = (await client.receive_json())["result"]["pipelines"]
    if ours := [one["id"] for one in listed if one["conversation_engine"] == AGENT]:
        return str(ours[0])
    nothing = dict.fromkeys(
        ("stt_engine", "stt_language", "tts_engine", "tts_language", "tts_voice", "wake_word_entity", "wake_word_id")
    )
    pipeline = {"name": "Read", "language": "en", "conversation_engine": AGENT, "conversation_language": "en"}
    await client.send_json_auto_id({"type": "assist_pipeline/pipeline/create", **pipeline, **nothing})
    return str((await client.receive_json())["result"]["id"])


def link_in(answer: str) -> str:
    """Return the address of the one picture in an answer."""
    (found,) = LINK.findall(answer)
    return str(found[1])


async def test_shown(
    hass: HomeAssistant,
    home: None,
    claude_server: ClaudeServer,
    hass_ws_client: WebSocketGenerator,
    hass_client_no_auth: ClientSessionGenerator,
    chat_log: FindLog,
) -> None:
    """The dialog has the picture behind the answer; the model, the log and the next turn do not have it."""
    client = await hass_ws_client(hass)
    streamed, said, events = await ask(client, claude_server)
    assert streamed == said
    assert LINK.sub("", said) == f"{SAID}\n\n"
    assert LINK.findall(said)[0][0] == "Door x script 0"
    conversation_id = events[0]["data"]["conversation_id"]
    assert chat_log(conversation_id).content[-1].content == SAID
    await ask(client, claude_server, Turn([text("No.")]), conversation_id=conversation_id)
    requests = [request.body for request in claude_server.requests if "messages" in (request.body or {})]
    assert len(requests) == 3
    assert_append_only(requests)
    assert "shown" not in str(requests)
    browser = await hass_client_no_auth()
    response = await browser.get(link_in(said))
    assert response.status == HTTPStatus.OK
    assert await response.read() == PIXEL
    assert response.headers["Content-Type"] == "image/gif"
    assert "no-store" in response.headers["Cache-Control"]
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert "default-src 'none'" in response.headers["Content-Security-Policy"]
    assert "sandbox" in response.headers["Content-Security-Policy"]


async def test_not_heard(
    hass: HomeAssistant,
    home: None,
    recorder: Recorder,
    claude_server: ClaudeServer,
    hass_ws_client: WebSocketGenerator,
    pictures: list[str | None],
) -> None:
    """What is said aloud has no picture, and none is kept."""
    long = f"{SAID} " * 20
    claude_server.responder = Scenario([LOOK, Turn([text(long)])])
    await speak(hass, hass_ws_client, "Is there a parcel?")
    assert recorder.words.strip() == long.strip()
    assert pictures == [None]
    assert len(async_get_gallery(hass)) == 0


async def test_nowhere_else(
    hass: HomeAssistant,
    home: None,
    entry: MockConfigEntry,
    claude_server: ClaudeServer,
    converse: Converse,
    hass_ws_client: WebSocketGenerator,
    hass_admin_user: MockUser,
    pictures: list[str | None],
) -> None:
    """A satellite, an automation that a user began over a connection, an app, a program, MCP, and where it is not wanted."""
    client = await hass_ws_client(hass)
    assert "![" not in (await ask(client, claude_server, device_id="satellite"))[1]
    assert speech(await converse("Look", LOOK, Turn([text(SAID)]))) == SAID
    claude_server.responder = Scenario([LOOK, Turn([text(SAID)])])
    await client.send_json_auto_id(
        {
            "type": "call_service",
            "domain": "conversation",
            "service": "process",
            "service_data": {"text": "Look", "agent_id": AGENT},
            "return_response": True,
        }
    )
    result = await client.receive_json()
    assert result["result"]["response"]["response"]["speech"]["plain"]["speech"] == SAID
    claude_server.responder = Scenario([LOOK, Turn([text(SAID)])])
    await client.send_json_auto_id({"type": "conversation/process", "text": "Look", "agent_id": AGENT})
    assert (await client.receive_json())["result"]["response"]["speech"]["plain"]["speech"] == SAID
    token = await hass.auth.async_create_refresh_token(hass_admin_user, "https://home-assistant.io/android")
    app = await hass_ws_client(hass, hass.auth.async_create_access_token(token))
    assert (await ask(app, claude_server))[1] == SAID
    token = await hass.auth.async_create_refresh_token(
        hass_admin_user, client_name="Script", token_type="long_lived_access_token"
    )
    program = await hass_ws_client(hass, hass.auth.async_create_access_token(token))
    assert (await ask(program, claude_server))[1] == SAID
    context = llm.LLMContext("mcp", Context(user_id=hass_admin_user.id), "en", ASSISTANT, None)
    await GetUserNameTool().async_call(hass, llm.ToolInput("extended_assist__get_user_name", {}), context)
    await change_agent(hass, entry, show_pictures=False)
    assert (await ask(client, claude_server))[1] == SAID
    assert pictures == [None] * 8
    assert len(async_get_gallery(hass)) == 0


async def test_nobody_else(
    hass: HomeAssistant,
    home: None,
    claude_server: ClaudeServer,
    hass_ws_client: WebSocketGenerator,
    hass_client: ClientSessionGenerator,
    hass_client_no_auth: ClientSessionGenerator,
    hass_admin_user: MockUser,
    hass_read_only_user: MockUser,
) -> None:
    """Another user's own log-in or signature does not open it, nor does none, nor the right one for another picture."""
    client = await hass_ws_client(hass)
    _, said, _ = await ask(client, claude_server)
    link = link_in(said)
    path = link.partition("?")[0]
    stranger = await hass.auth.async_create_refresh_token(hass_read_only_user, "https://example.com")
    theirs = await hass_client(hass.auth.async_create_access_token(stranger))
    assert (await theirs.get(path)).status == HTTPStatus.NOT_FOUND
    browser = await hass_client_no_auth()
    signed = async_sign_path(hass, path, timedelta(minutes=1), refresh_token_id=stranger.id)
    by_all = async_sign_path(hass, path, timedelta(minutes=1), use_content_user=True)
    assert (await browser.get(signed)).status == HTTPStatus.NOT_FOUND
    assert (await browser.get(by_all)).status == HTTPStatus.NOT_FOUND
    assert (await browser.get(path)).status == HTTPStatus.UNAUTHORIZED
    assert (await browser.get(link.replace(path, path[:-4] + "AAAA"))).status == HTTPStatus.UNAUTHORIZED
    assert (await browser.get(link)).status == HTTPStatus.OK
    # Hidden after it was taken, and shown again.
    async_expose_entity(hass, ASSISTANT, DOOR, False)
    assert (await browser.get(link)).status == HTTPStatus.NOT_FOUND
    expose(hass, DOOR)
    assert (await browser.get(link)).status == HTTPStatus.OK
    for token in [*hass_admin_user.refresh_tokens.values()]:
        hass.auth.async_remove_refresh_token(token)
    await client.close()
    assert (await browser.get(link)).status == HTTPStatus.UNAUTHORIZED


async def test_removed_user(
    hass: HomeAssistant,
    home: None,
    claude_server: ClaudeServer,
    hass_ws_client: WebSocketGenerator,
    hass_client_no_auth: ClientSessionGenerator,
    hass_admin_user: MockUser,
) -> None:
    """A link of somebody who is gone opens nothing."""
    client = await hass_ws_client(hass)
    _, said, _ = await ask(client, claude_server)
    await hass.auth.async_remove_user(hass_admin_user)
    await client.close()
    browser = await hass_client_no_auth()
    assert (await browser.get(link_in(said))).status == HTTPStatus.UNAUTHORIZED


async def test_expires(
    hass: HomeAssistant,
    home: None,
    claude_server: ClaudeServer,
    hass_ws_client: WebSocketGenerator,
    hass_client: ClientSessionGenerator,
    freezer: FrozenDateTimeFactory,
) -> None:
    """After its minutes the link is worth nothing, and the picture is forgotten without being asked for."""
    _, said, _ = await ask(await hass_ws_client(hass), claude_server)
    link = link_in(said)
    browser = await hass_client()
    freezer.tick(chat_images.LIFETIME - timedelta(seconds=10))
    assert (await browser.get(link)).status == HTTPStatus.OK
    freezer.tick(timedelta(seconds=20))
    assert (await browser.get(link)).status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.NOT_FOUND)
    assert (await browser.get(link.partition("?")[0])).status == HTTPStatus.NOT_FOUND
    async_fire_time_changed(hass, dt_util.utcnow())
    await hass.async_block_till_done()
    assert len(async_get_gallery(hass)) == 0


def picture(size: int = 1) -> Picture:
    """Return a picture of some bytes."""
    return Picture(
        content=b"." * size,
        content_type="image/png",
        user_id="user",
        assistant=ASSISTANT,
        entity_ids=frozenset(),
        until=monotonic() + 60,
    )


async def test_bounds(hass: HomeAssistant, assist: None) -> None:
    """However many are shown, the newest are kept, and no more than fit."""
    kept = async_get_gallery(hass)
    references = [kept.async_add(picture()) for _ in range(10_000)]
    assert len(set(references)) == 10_000
    assert len(kept) == chat_images.MAX_PICTURES
    assert kept.async_get(references[-chat_images.MAX_PICTURES], "user")
    assert kept.async_get(references[-chat_images.MAX_PICTURES - 1], "user") is None
    large = [kept.async_add(picture(shown.MAX_PICTURE)) for _ in range(20)]
    assert sum(kept.async_get(one, "user") is not None for one in large) == chat_images.MAX_BYTES // shown.MAX_PICTURE


async def test_question(
    hass: HomeAssistant, home: None, claude_server: ClaudeServer, hass_ws_client: WebSocketGenerator
) -> None:
    """Who is asked something goes on, also where a picture stands behind the question."""
    _, said, events = await ask(await hass_ws_client(hass), claude_server, LOOK, Turn([text("Shall I open?")]))
    assert link_in(said)
    (ended,) = [event["data"]["intent_output"] for event in events if event["type"] == "intent-end"]
    assert ended["continue_conversation"]


async def test_with_the_command(
    hass: HomeAssistant,
    house: None,
    home: None,
    claude_server: ClaudeServer,
    hass_ws_client: WebSocketGenerator,
    chat_log: FindLog,
) -> None:
    """An answer that came with a command has the picture behind it, and goes to the model without."""
    command = {"action": "light.turn_on", "target": {"entity_id": "light.bed_light"}}
    acting = Turn(
        [tool_use("extended_assist__perform_action", command), tool_use("answer_when_done", {"answer": "It is light."})]
    )
    client = await hass_ws_client(hass)
    streamed, said, events = await ask(client, claude_server, LOOK, acting)
    assert streamed == said
    assert said.startswith("It is light.\n\n![Door")
    assert link_in(said)
    conversation_id = events[0]["data"]["conversation_id"]
    assert chat_log(conversation_id).content[-1].content == "It is light."
    await ask(client, claude_server, Turn([text("Yes.")]), conversation_id=conversation_id)
    requests = [request.body for request in claude_server.requests if "messages" in (request.body or {})]
    assert_append_only(requests)
    assert "authSig" not in str(requests)


async def test_one_answer(
    hass: HomeAssistant, home: None, claude_server: ClaudeServer, hass_ws_client: WebSocketGenerator
) -> None:
    """One answer has a few pictures, whatever the model calls; what is too large, or no picture, is not shown."""
    client = await hass_ws_client(hass)
    calls = Turn([tool_use("extended_assist__get_user_name") for _ in range(shown.MAX_SHOWN + 3)])
    _, said, _ = await ask(client, claude_server, calls, Turn([text(SAID)]))
    assert len(LINK.findall(said)) == shown.MAX_SHOWN
    # The next one has none of them.
    assert (await ask(client, claude_server, Turn([text(SAID)])))[1] == SAID
    log = conversation.ChatLog(hass, "one")
    caller = Caller(llm.LLMContext("test", Context(user_id="user"), "en", ASSISTANT, None), log, "one")
    hass.data[shown._SCREENS]["one"] = Screen(hass, "user", "token", ASSISTANT)
    assert async_show(hass, caller, b"." * (shown.MAX_PICTURE + 1), "image/png", "") is None
    with pytest.raises(ValueError, match="text/html"):
        async_show(hass, caller, b"<script>", "text/html", "")
