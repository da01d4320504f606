"""Tasks: text, data in a structure, and attached files."""

from pathlib import Path
from typing import Any

from anthropic.types import ModelInfo
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry
import voluptuous as vol

from custom_components.extended_assist.claude import attachments
from custom_components.extended_assist.const import DOMAIN
from custom_components.extended_assist.flows.agent import default_task
from homeassistant.components import ai_task, conversation
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import chat_session, llm
from homeassistant.helpers.selector import NumberSelector, ObjectSelector, TextSelector
from tests.claude_server import ClaudeServer, Fault, Scenario, Turn, text, tool_use
from tests.claude_server.models import default_models
from tests.conftest import MODEL, async_set_up

pytestmark = pytest.mark.usefixtures("no_deprecations")

TASK = "ai_task.claude_ai_task"
STRUCTURE = vol.Schema({vol.Required("name"): TextSelector(), vol.Optional("count"): NumberSelector({"min": 0})})
PIXEL = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
async def task_entry(hass: HomeAssistant, assist: None, claude_server: ClaudeServer) -> MockConfigEntry:
    """Return a loaded entry with a model for tasks."""
    return await async_set_up(hass, claude_server, default_task([], MODEL))


@pytest.fixture
async def plain(hass: HomeAssistant, task_entry: MockConfigEntry) -> None:
    """Let the task send basic fields only."""
    (subentry,) = task_entry.subentries.values()
    hass.config_entries.async_update_subentry(task_entry, subentry, data={**subentry.data, "plain": True})
    await hass.async_block_till_done()


async def generate(hass: HomeAssistant, server: ClaudeServer, *turns: Turn, **options: Any) -> Any:
    """Run a task and return its data."""
    server.responder = Scenario(list(turns))
    options = {"task_name": "test", "entity_id": TASK, "instructions": "Do it"} | options
    return (await ai_task.async_generate_data(hass, **options)).data


async def attached(
    hass: HomeAssistant, server: ClaudeServer, *files: tuple[Path, str], turn: Turn | None = None
) -> Any:
    """Run a task with files, as the ai_task component hands them over."""
    server.responder = Scenario([turn or Turn([text("Seen.")])])
    entity = hass.data[ai_task.DATA_COMPONENT].get_entity(TASK)
    task = ai_task.GenDataTask(
        name="test",
        instructions="What is this?",
        attachments=[conversation.Attachment(media_content_id="m", mime_type=kind, path=path) for path, kind in files],
    )
    with chat_session.async_get_chat_session(hass) as session:
        return (await entity.internal_async_generate_data(session, task)).data


async def test_text(hass: HomeAssistant, task_entry: MockConfigEntry, claude_server: ClaudeServer) -> None:
    """Without a structure the answer is text."""
    assert await generate(hass, claude_server, Turn([text("A poem.")])) == "A poem."
    (request,) = claude_server.message_requests
    assert "tools" not in request
    assert "output_config" not in request


async def test_structure(hass: HomeAssistant, task_entry: MockConfigEntry, claude_server: ClaudeServer) -> None:
    """A model that can be held to a structure is held to it."""
    data = await generate(hass, claude_server, Turn([text('{"name": "Lamp", "count": 2}')]), structure=STRUCTURE)
    assert data == {"name": "Lamp", "count": 2}
    (request,) = claude_server.message_requests
    assert request["output_config"]["format"] == {
        "type": "json_schema",
        "schema": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "count": request_count_schema(request)},
            "required": ["name"],
            "additionalProperties": False,
        },
    }


def request_count_schema(request: Any) -> Any:
    """Return the schema of the number, whose wording is the SDK's."""
    schema = request["output_config"]["format"]["schema"]["properties"]["count"]
    assert schema["type"] == "number"
    return schema


@pytest.mark.parametrize("words", ["I cannot.", '{"count": 2}', "{", '{"name": 1}', ""])
async def test_answer_without_the_structure(
    hass: HomeAssistant, task_entry: MockConfigEntry, claude_server: ClaudeServer, words: str
) -> None:
    """Data that do not have the structure are an error, never passed on."""
    with pytest.raises(HomeAssistantError) as caught:
        await generate(hass, claude_server, Turn([text(words)] if words else []), structure=STRUCTURE)
    assert caught.value.translation_key == "no_data"


@pytest.mark.parametrize("part", [ObjectSelector(), vol.All(lambda value: value)], ids=["object", "anything"])
async def test_structure_that_the_service_does_not_know(
    hass: HomeAssistant, task_entry: MockConfigEntry, claude_server: ClaudeServer, part: Any
) -> None:
    """A structure with a part of any shape cannot be held to; the answer is handed over to a tool, and nothing is lost."""
    turn = Turn([tool_use("give_answer", {"any": {"one": 1, "two": [2]}})])
    data = await generate(hass, claude_server, turn, structure=vol.Schema({vol.Required("any"): part}))
    assert data == {"any": {"one": 1, "two": [2]}}
    assert "output_config" not in claude_server.message_requests[0]


@pytest.mark.usefixtures("plain")
async def test_structure_by_tool(hass: HomeAssistant, task_entry: MockConfigEntry, claude_server: ClaudeServer) -> None:
    """Any other model hands its answer over to a tool, which lets it correct what is wrong."""
    data = await generate(
        hass,
        claude_server,
        Turn([tool_use("give_answer", {"count": 2})]),
        Turn([tool_use("give_answer", {"name": "Lamp", "count": 2})]),
        structure=STRUCTURE,
    )
    assert data == {"name": "Lamp", "count": 2}
    first, second = claude_server.message_requests
    assert [tool["name"] for tool in first["tools"]] == ["give_answer"]
    assert "give_answer" in first["system"]
    assert first.keys() == {"model", "max_tokens", "system", "tools", "messages", "stream"}
    (answer,) = second["messages"][-1]["content"]
    assert answer["is_error"]
    assert "name" in answer["content"]


@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize("words", ['{"name": "Lamp"}', 'Here it is:\n```json\n{"name": "Lamp"}\n```'])
async def test_structure_said_instead(
    hass: HomeAssistant, task_entry: MockConfigEntry, claude_server: ClaudeServer, words: str
) -> None:
    """A small model that says its answer instead is understood."""
    assert await generate(hass, claude_server, Turn([text(words)]), structure=STRUCTURE) == {"name": "Lamp"}


@pytest.mark.parametrize("is_plain", [False, True])
async def test_tools_of_the_task(
    hass: HomeAssistant,
    task_entry: MockConfigEntry,
    claude_server: ClaudeServer,
    is_plain: bool,
) -> None:
    """Tools that a task brings along are called on the way to the data."""
    if is_plain:
        (subentry,) = task_entry.subentries.values()
        hass.config_entries.async_update_subentry(task_entry, subentry, data={**subentry.data, "plain": True})
        await hass.async_block_till_done()
    (api,) = (api for api in llm.async_get_apis(hass) if api.id == f"{DOMAIN}-{task_entry.entry_id}")
    last = Turn([tool_use("give_answer", {"name": "Lamp"}) if is_plain else text('{"name": "Lamp"}')])
    turns = [Turn([tool_use("extended_assist__get_entities", {})]), last]
    assert await generate(hass, claude_server, *turns, structure=STRUCTURE, llm_api=api) == {"name": "Lamp"}
    result = claude_server.message_requests[1]["messages"][-1]["content"][0]
    assert result["type"] == "tool_result"


async def test_failure_is_said(hass: HomeAssistant, task_entry: MockConfigEntry, claude_server: ClaudeServer) -> None:
    """A task that fails says why, translated; a refused key asks for another."""
    with pytest.raises(HomeAssistantError) as caught:
        await generate(hass, claude_server, Turn(fault=Fault("http", status=401)))
    assert (caught.value.translation_domain, caught.value.translation_key) == (DOMAIN, "invalid_auth")
    assert "refuses the key" in str(caught.value)
    await hass.async_block_till_done()
    assert hass.config_entries.flow.async_progress_by_handler(DOMAIN)
    assert hass.states.get(TASK).state == "unavailable"


async def test_files(
    hass: HomeAssistant, task_entry: MockConfigEntry, claude_server: ClaudeServer, tmp_path: Path
) -> None:
    """Images and PDFs are sent before the words."""
    for name in ("a.png", "b.jpg", "c.pdf"):
        (tmp_path / name).write_bytes(PIXEL)
    files = [
        (tmp_path / "a.png", "image/png"),
        (tmp_path / "b.jpg", "image/jpg"),
        (tmp_path / "c.pdf", "application/pdf"),
    ]
    assert await attached(hass, claude_server, *files) == "Seen."
    blocks = claude_server.message_requests[0]["messages"][0]["content"]
    assert [block["type"] for block in blocks] == ["image", "image", "document", "text"]
    assert [block["source"]["media_type"] for block in blocks[:3]] == ["image/png", "image/jpeg", "application/pdf"]
    assert blocks[0]["source"]["data"] == "iVBORw0KGgo="


@pytest.mark.parametrize(
    ("name", "kind", "size", "key"),
    [
        ("a.png", "image/png", attachments.MAX_IMAGE_SIZE + 1, "attachment_too_large"),
        ("a.pdf", "application/pdf", attachments.MAX_TOTAL_SIZE + 1, "attachment_too_large"),
        ("a.mp4", "video/mp4", 1, "attachment_unknown"),
        ("a.svg", "image/svg+xml", 1, "attachment_unknown"),
        ("a.png", "image/png", None, "attachment_missing"),
    ],
)
async def test_files_that_cannot_be_sent(
    hass: HomeAssistant,
    task_entry: MockConfigEntry,
    claude_server: ClaudeServer,
    tmp_path: Path,
    name: str,
    kind: str,
    size: int | None,
    key: str,
) -> None:
    """What the service would refuse is refused here, by name."""
    if size is not None:
        with (tmp_path / name).open("wb") as file:
            file.truncate(size)
    with pytest.raises(HomeAssistantError) as caught:
        await attached(hass, claude_server, (tmp_path / name, kind))
    assert caught.value.translation_key == key
    assert name in str(caught.value)
    assert str(tmp_path) not in str(caught.value)
    assert claude_server.message_requests == []


async def test_model_that_reads_no_documents(
    hass: HomeAssistant, task_entry: MockConfigEntry, claude_server: ClaudeServer, tmp_path: Path
) -> None:
    """What the server lists as not supported by the model is refused by name; what it supports is sent."""
    (model,) = [model for model in task_entry.runtime_data.models if model.id == MODEL]
    capabilities = {**default_models()[1]["capabilities"], "pdf_input": {"supported": False}}
    listed = ModelInfo.construct(**{**default_models()[1], "id": model.id, "capabilities": capabilities})
    task_entry.runtime_data.models = [listed]
    for name in ("a.png", "a.pdf"):
        (tmp_path / name).write_bytes(PIXEL)
    with pytest.raises(HomeAssistantError) as caught:
        await attached(hass, claude_server, (tmp_path / "a.pdf", "application/pdf"))
    assert caught.value.translation_key == "attachment_unsupported"
    assert await attached(hass, claude_server, (tmp_path / "a.png", "image/png")) == "Seen."


async def test_too_many_files(
    hass: HomeAssistant, task_entry: MockConfigEntry, claude_server: ClaudeServer, tmp_path: Path
) -> None:
    """More files than anybody waits for are refused before they are read."""
    with pytest.raises(HomeAssistantError) as caught:
        await attached(hass, claude_server, *[(tmp_path / "a.png", "image/png")] * (attachments.MAX_FILES + 1))
    assert caught.value.translation_key == "attachments_too_many"
