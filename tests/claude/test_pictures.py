"""Pictures in results: what the service is sent, what is left out when room is needed, and who sees none."""

import base64
from dataclasses import replace
from datetime import datetime
from io import BytesIO
from itertools import pairwise
import json
from pathlib import Path
from typing import Any

from hypothesis import given, settings, strategies as st
from PIL import Image
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, MockUser
from pytest_homeassistant_custom_component.typing import WebSocketGenerator

from custom_components.extended_assist.calls.chat_images import async_get_gallery
from custom_components.extended_assist.cameras.image_cache import ImageCache, LookResult, PictureReference
from custom_components.extended_assist.cameras.resize import FittedPicture
from custom_components.extended_assist.claude.context import MAX_BYTES, MAX_PICTURES, fit
from custom_components.extended_assist.claude.request import to_messages
from custom_components.extended_assist.const import CONF_FAMILIES, CONF_PLAIN
from custom_components.extended_assist.tools.cameras import LookTool
from homeassistant.components import conversation
from homeassistant.components.conversation import AssistantContent, Content, ToolResultContent, UserContent
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import llm
from homeassistant.setup import async_setup_component
from tests.calls.test_chat_images import ask, link_in
from tests.cameras.conftest import DOOR, cameras
from tests.cameras.scenes import CameraServer
from tests.claude_server import ClaudeServer, Scenario, Turn, text, tool_use
from tests.conftest import AGENT
from tests.helpers.talking import FindLog, change_agent, speech

__all__ = ["cameras"]

OURS = "conversation.claude"
ASKED = "Is there a parcel at the door?"


def look(**arguments: Any) -> Turn:
    """Return a response that looks."""
    return Turn([tool_use(LookTool.name, {"question": ASKED, **arguments})])


@pytest.fixture
async def eyes(hass: HomeAssistant, entry: MockConfigEntry, cameras: CameraServer) -> MockConfigEntry:
    """Return an entry whose agent may look."""
    hass.config_entries.async_update_entry(entry, options={CONF_FAMILIES: ["cameras"]})
    await hass.async_block_till_done()
    return entry


@pytest.fixture
def say(hass: HomeAssistant, eyes: MockConfigEntry, claude_server: ClaudeServer, hass_admin_user: MockUser) -> Any:
    """Return a function with which a user who is logged in talks to the agent."""

    async def speak(words: str, *turns: Turn, conversation_id: str | None = None) -> conversation.ConversationResult:
        claude_server.responder = Scenario(list(turns))
        context = Context(user_id=hass_admin_user.id)
        return await conversation.async_converse(hass, words, conversation_id, context, agent_id=AGENT, language="en")

    return speak


def results(server: ClaudeServer, number: int = -1) -> list[Any]:
    """Return the contents of all results in a request."""
    return [
        block["content"]
        for message in server.requests[number].body["messages"]
        for block in message["content"]
        if block["type"] == "tool_result"
    ]


async def test_the_model_sees(say: Any, claude_server: ClaudeServer, chat_log: FindLog) -> None:
    """A picture stands in the result under its name, and the service takes it; the log has a reference and no bytes."""
    result = await say(ASKED, look(cameras=[DOOR]), Turn([text("Yes, a brown one.")]))
    assert speech(result) == "Yes, a brown one."
    ((told, label, image),) = results(claude_server)
    assert json.loads(told["text"])["pictures"][0]["name"] == "Front Door"
    assert label["text"].startswith("Front Door, 20")
    data = base64.b64decode(image["source"]["data"])
    with Image.open(BytesIO(data)) as picture:
        assert picture.size == (1280, 720)
    log = str(chat_log(result.conversation_id).as_dict())
    assert "Front Door" in log
    assert image["source"]["data"][100:200] not in log
    assert str(data[100:120]) not in log


async def test_the_same_again(say: Any, claude_server: ClaudeServer) -> None:
    """What was sent is sent again word for word in the next turn, so that it is read from the cache."""
    first = await say(ASKED, look(cameras=[DOOR]), Turn([text("Yes.")]))
    await say("And the garden?", look(cameras=["Garden"]), Turn([text("No.")]), conversation_id=first.conversation_id)
    bodies = [request.body["messages"] for request in claude_server.requests if request.body]

    def bare(messages: Any) -> list[Any]:
        blocks = [(message["role"], block) for message in messages for block in message["content"]]
        return [(role, {key: value for key, value in one.items() if key != "cache_control"}) for role, one in blocks]

    for earlier, later in pairwise(bodies):
        assert bare(later)[: len(bare(earlier))] == bare(earlier)
    assert len(results(claude_server)) == 2


async def test_a_lost_picture_is_a_sentence(say: Any, hass: HomeAssistant, claude_server: ClaudeServer) -> None:
    """After a restart or when it was too old, its place says so."""
    first = await say(ASKED, look(cameras=[DOOR]), Turn([text("Yes.")]))
    ImageCache.of(hass).clear()
    await say("What colour is it?", Turn([text("Brown.")]), conversation_id=first.conversation_id)
    ((_, lost),) = results(claude_server)
    assert lost["text"].endswith("(This picture is not kept any more. Look again if it is needed.)")


async def test_another_user_who_goes_on_sees_nothing(
    say: Any, hass: HomeAssistant, claude_server: ClaudeServer, hass_admin_user: MockUser
) -> None:
    """Whoever goes on with a conversation is not shown what somebody else looked at in it; who looked, still is."""
    first = await say(ASKED, look(cameras=[DOOR]), Turn([text("Yes.")]))
    for user_id in (MockUser(name="Other", groups=[]).add_to_hass(hass).id, None):
        claude_server.responder = Scenario([Turn([text("I see nothing.")])])
        context = Context(user_id=user_id)
        await conversation.async_converse(
            hass, "What colour is it?", first.conversation_id, context, agent_id=AGENT, language="en"
        )
        ((_, lost),) = results(claude_server)
        assert lost["text"].endswith("(This picture is not kept any more. Look again if it is needed.)")
    await say("What colour is it?", Turn([text("Brown.")]), conversation_id=first.conversation_id)
    ((_, _, image),) = results(claude_server)
    assert image["type"] == "image"


async def test_what_is_hidden_meanwhile_is_not_sent_again(
    say: Any, hass: HomeAssistant, claude_server: ClaudeServer
) -> None:
    """A picture in a conversation follows exposure as it is now."""
    first = await say(ASKED, look(cameras=[DOOR]), Turn([text("Yes.")]))
    async_expose_entity(hass, "conversation", DOOR, False)
    await say("What colour is it?", Turn([text("I see nothing.")]), conversation_id=first.conversation_id)
    assert "image" not in [block["type"] for block in results(claude_server)[0]]


async def test_no_other_result_shows_a_picture(say: Any, hass: HomeAssistant, claude_server: ClaudeServer) -> None:
    """A result that only says that it has pictures, as a page could, is text."""
    await say(ASKED, look(cameras=[DOOR]), Turn([text("Yes.")]))
    kept = next(iter(ImageCache.of(hass)))
    data: Any = {"pictures": [{"picture_id": kept.picture_id}], "picture_id": kept.picture_id}
    content: list[Content] = [
        UserContent(content="Hello"),
        AssistantContent(agent_id=OURS, tool_calls=[llm.ToolInput("fetch", {}, id="call_1")]),
        ToolResultContent(agent_id=OURS, tool_call_id="call_1", tool_name="fetch", result=llm.ToolResult(data)),
    ]
    assert isinstance(to_messages(content, OURS, "claude-haiku-5-5")[-1]["content"][0]["content"], str)


@pytest.mark.parametrize("kind", ["plain", "blind"])
async def test_who_cannot_see_is_not_offered_it(
    kind: str, hass: HomeAssistant, say: Any, eyes: MockConfigEntry, claude_server: ClaudeServer
) -> None:
    """A model without eyes, and one of which nothing is known, is not offered the tool, unless a task can tell."""
    if kind == "plain":
        await change_agent(hass, eyes, **{CONF_PLAIN: True})
    else:
        for model in claude_server._models:
            model["capabilities"]["image_input"] = {"supported": False}
        await hass.config_entries.async_reload(eyes.entry_id)
        await hass.async_block_till_done()
    await say(ASKED, Turn([text("I cannot see.")]))
    names = [tool["name"] for tool in claude_server.requests[-1].body["tools"]]
    assert LookTool.name not in names
    options = {CONF_FAMILIES: ["cameras"], "look_task": "ai_task.other"}
    hass.config_entries.async_update_entry(eyes, options=options)
    await hass.async_block_till_done()
    await say(ASKED, look(cameras=[DOOR]), Turn([text("It failed.")]))
    assert "did not answer" in str(results(claude_server))


def rounds(count: int, tokens: int = 1_500, each: int = 1) -> list[Content]:
    """Return a conversation with a look in each round."""
    content: list[Content] = []
    for number in range(count):
        pictures = tuple(PictureReference(f"p{number}_{index}", f"Door {number}:", tokens) for index in range(each))
        content += [
            UserContent(content="Look!"),
            AssistantContent(agent_id=OURS, tool_calls=[llm.ToolInput("look", {}, id=f"call_{number}")]),
            ToolResultContent(
                agent_id=OURS,
                tool_call_id=f"call_{number}",
                tool_name="look",
                result=LookResult.of({"looked": number, "what": "x" * 300}, pictures),
            ),
        ]
    return content


def seen(content: list[Content]) -> list[int]:
    """Return in which results there are pictures."""
    found = [item for item in content if isinstance(item, ToolResultContent)]
    return [index for index, item in enumerate(found) if isinstance(item.result, LookResult)]


def test_pictures_go_first() -> None:
    """When room is needed, the oldest pictures go; what the results say, and the newest picture, stay."""
    fitted = fit(rounds(6), 1_000, 8_000, {})
    assert fitted.tokens <= 8_000
    assert len(fitted.content) == 18
    assert seen(fitted.content) == [4, 5]
    assert all("looked" in item.result.data for item in fitted.content if isinstance(item, ToolResultContent))
    assert "left out to save space" in fitted.content[2].result.data["note"]  # type: ignore[union-attr]


def test_not_too_many() -> None:
    """A request has no more pictures than the service takes in any size; they go by halves, so that the rest stays cached."""
    counts = [len(seen(fit(rounds(number, 10), 1_000, 100_000, {}).content)) for number in range(1, 60)]
    assert max(counts) == MAX_PICTURES
    assert min(counts[MAX_PICTURES:]) == MAX_PICTURES // 2


def test_unread_pictures_go_only_when_nothing_else_helps() -> None:
    """What was just looked at stays as long as it fits at all."""
    assert seen(fit(rounds(1, each=12), 1_000, 40_000, {}).content) == [0]
    fitted = fit(rounds(1, each=12), 1_000, 10_000, {})
    assert seen(fitted.content) == []
    assert fitted.tokens <= 10_000


def test_kept_pictures_are_bounded(hass: HomeAssistant) -> None:
    """However much is looked at, by however many, memory stays bounded, and the first and last of a camera are kept."""
    from custom_components.extended_assist.calls.caller import Caller  # noqa: PLC0415
    from custom_components.extended_assist.cameras import image_cache as module  # noqa: PLC0415

    kept = ImageCache.of(hass)
    picture = FittedPicture("x" * 400_000, 10, 10)
    for number in range(400):
        context = llm.LLMContext("x", Context(user_id=f"user {number % 9}"), "en", "conversation", None)
        kept.keep(Caller(context), f"camera.{number % 4}", datetime.now().astimezone(), picture)
    assert kept.size == sum(len(one.picture.data) for one in kept) <= module.MAX_SIZE
    assert len(list(kept)) <= module.MAX_KEPT
    assert len({one.picture_id for one in kept}) == len(list(kept))
    assert "xxx" not in repr(next(iter(kept)))
    kept.clear()
    assert kept.size == 0


async def test_shown_with_the_answer_that_is_read(
    hass: HomeAssistant, eyes: MockConfigEntry, claude_server: ClaudeServer, hass_ws_client: WebSocketGenerator
) -> None:
    """In the dialog the picture stands with the answer; once the camera is hidden, nobody fetches it any more."""
    for component in ("assist_pipeline", "intent"):
        assert await async_setup_component(hass, component, {})
    client = await hass_ws_client(hass)
    _, said, _ = await ask(client, claude_server, look(cameras=[DOOR]), Turn([text("Yes, a brown one.")]))
    assert said.startswith("Yes, a brown one.")
    assert "/shown/" in link_in(said)
    (shown,) = async_get_gallery(hass)._pictures.values()
    with Image.open(BytesIO(shown.content)) as picture:
        assert picture.size == (1280, 720)
    assert shown.entity_ids == {DOOR}
    await client.close()


async def test_nothing_is_left_when_it_is_turned_off(say: Any, hass: HomeAssistant, eyes: MockConfigEntry) -> None:
    """Whoever turns looking off leaves no picture in memory."""
    await say(ASKED, look(cameras=[DOOR]), Turn([text("Yes.")]))
    assert list(ImageCache.of(hass))
    hass.config_entries.async_update_entry(eyes, options={CONF_FAMILIES: []})
    await hass.async_block_till_done()
    assert not list(ImageCache.of(hass))


def weighty(sizes: list[int], **attached: int) -> tuple[list[Content], dict[Path, int]]:
    """Return a conversation with a picture of so many bytes in each round, and the files that its last message has."""
    content: list[Content] = []
    for number, size in enumerate(sizes):
        picture = (PictureReference(f"p{number}", f"Door {number}:", 10, size),)
        content += rounds(1)
        content[-1] = replace(content[-1], result=LookResult.of({"looked": number}, picture))  # type: ignore[call-arg]
    files = {Path(name): size for name, size in attached.items()}
    words = [conversation.Attachment(media_content_id="x", mime_type="image/png", path=path) for path in files]
    return [*content, UserContent(content="And this?", attachments=words)], files


def test_the_oldest_pictures_go_where_bytes_are_too_many() -> None:
    """The service takes a request of 32 million bytes: beside large files, pictures go, oldest first, and the files stay."""
    content, files = weighty([400_000] * 12, a=9_000_000, b=9_000_000, c=9_000_000)
    assert seen(fit(content, 1_000, 100_000, {}).content) == list(range(12))
    fitted = fit(content, 1_000, 100_000, {}, files)
    assert seen(fitted.content) == []  # More than half is taken by files that must stay, so there is no room to spare.
    assert fitted.content[-1] is content[-1]
    content, files = weighty([400_000] * 12, a=9_000_000, b=9_000_000, c=8_000_000)
    assert len(seen(fit(content, 1_000, 100_000, {}, files).content)) == 12


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.lists(st.integers(0, 4_000_000), max_size=30), st.lists(st.integers(0, 9_000_000), max_size=3))
def test_bytes_stay_bounded(sizes: list[int], attached: list[int]) -> None:
    """Whatever pictures and files weigh, a request has room for them, and only the oldest pictures are left out."""
    content, files = weighty(sizes, **{str(index): size for index, size in enumerate(attached)})
    left = seen(fit(content, 1_000, 1_000_000, {}, files).content)
    assert sum(sizes[index] for index in left) + sum(attached) <= MAX_BYTES
    assert left == list(range(len(sizes) - len(left), len(sizes)))
    if sum(sizes) + sum(attached) + 20_000 <= MAX_BYTES and len(sizes) + len(attached) <= MAX_PICTURES:
        assert len(left) == len(sizes)


def test_older_files_go_with_their_turns() -> None:
    """Where nothing but files is left that could go, those of the oldest turns do."""
    content, files = weighty([], a=16_000_000)
    later, more = weighty([], b=16_000_000)
    fitted = fit([*content, AssistantContent(agent_id=OURS, content="Yes."), *later], 1_000, 100_000, {}, files | more)
    assert fitted.content[-1] is later[-1]
    assert content[0] not in fitted.content
