"""Looking: which cameras, which pictures, and what goes wrong."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, MockUser, async_capture_events

from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.calls.policy import Speaker
from custom_components.extended_assist.cameras import snapshot
from custom_components.extended_assist.cameras.image_cache import KEPT_FOR, ImageCache, LookResult
from custom_components.extended_assist.cameras.resize import MANY_TOKENS
from custom_components.extended_assist.confirmation.untrusted_text import holds_outside_text
from custom_components.extended_assist.const import EVENT_LOOKED
from custom_components.extended_assist.flows.agent import default_task
from custom_components.extended_assist.logbook import async_describe_events
from custom_components.extended_assist.tools.cameras import LookTool, LookWithEyesTool
from homeassistant.core import Context, Event, HomeAssistant
from homeassistant.helpers import llm
from homeassistant.helpers.translation import async_get_translations
from tests.cameras.conftest import (
    BELL,
    CELLAR,
    DOOR,
    GARAGE,
    GARDEN,
    add_file_camera,
    add_network_camera,
    cameras,
)
from tests.cameras.scenes import CameraServer, drawn
from tests.claude_server import ClaudeServer, Scenario, Turn, text
from tests.conftest import MODEL, async_set_up, expose

__all__ = ["cameras"]

type Look = Callable[..., Any]


@pytest.fixture
def look(hass: HomeAssistant, cameras: CameraServer, llm_context: llm.LLMContext, hass_admin_user: MockUser) -> Look:
    """Return a function that looks, for a user who is logged in unless another is named."""

    async def ask(
        *,
        user: MockUser | None = hass_admin_user,
        options: ToolboxOptions | None = None,
        tool: type[LookTool] = LookWithEyesTool,
        **arguments: Any,
    ) -> Any:
        context = replace(llm_context, context=Context(user_id=user.id if user else None))
        tool_input = llm.ToolInput(LookTool.name, {"question": "Is there a parcel?", **arguments})
        return await tool(options or ToolboxOptions()).async_call(hass, tool_input, context)

    return ask


def names(result: llm.ToolResult) -> list[Any]:
    """Return whose pictures a result names."""
    assert isinstance(result, LookResult), result.data
    found: Any = result.data["pictures"]
    assert len(found) == len(result.pictures)
    return [one["name"] for one in found]


async def test_all_that_is_exposed(look: Look, hass: HomeAssistant) -> None:
    """Files, the network's stills and streams, and images are looked at; what is hidden is not."""
    result = await look()
    assert names(result) == ["Front Door", "Garage", "Garden", "Doorbell"] or sorted(names(result)) == [
        "Doorbell",
        "Front Door",
        "Garage",
        "Garden",
    ]
    kept = [ImageCache.of(hass).get(one.picture_id) for one in result.pictures]
    assert {one.entity_id for one in kept if one} == {DOOR, GARDEN, GARAGE, BELL}
    assert all(one and one.picture.data and one.picture.width <= 1568 for one in kept)
    (bell,) = [one for one in result.data["pictures"] if one["entity_id"] == BELL]
    assert bell["taken"] == "2026-11-20 00:15:00"  # The test home is in Los Angeles.
    assert "picture_id" not in str(result.data)
    assert not any(one.picture_id in str(result.data) for one in result.pictures)


async def test_some_by_name_id_and_area(look: Look) -> None:
    """Names, ids and areas find what is exposed, and nothing else."""
    assert names(await look(cameras=["garden"])) == ["Garden"]
    assert names(await look(cameras=[DOOR, "Garden"])) == ["Front Door", "Garden"]
    assert sorted(names(await look(area="outside"))) == ["Front Door", "Garden"]


@pytest.mark.parametrize("arguments", [{"cameras": [CELLAR]}, {"cameras": ["Cellar"]}, {"cameras": ["camera.nowhere"]}])
async def test_what_is_hidden_looks_like_what_does_not_exist(look: Look, arguments: Any, hass: HomeAssistant) -> None:
    """The error names what is exposed."""
    told = [await look(**arguments), await look(cameras=["x"])]
    assert all(one.error for one in told)
    asked = arguments["cameras"][0]
    assert told[0].data["error"].replace(asked, "x") == told[1].data["error"]
    assert "Cellar" not in told[1].data["error"]
    assert "Front Door (camera.front_door)" in told[1].data["error"]


async def test_an_area_of_hidden_cameras(look: Look, hass: HomeAssistant) -> None:
    """An area whose cameras are all hidden answers as one that does not exist."""
    from homeassistant.components.homeassistant.exposed_entities import async_expose_entity  # noqa: PLC0415

    for entity_id in (DOOR, GARDEN):
        async_expose_entity(hass, "conversation", entity_id, False)
    there, nowhere = await look(area="Outside"), await look(area="Nowhere")
    assert there.data["error"].replace("Outside", "x") == nowhere.data["error"].replace("Nowhere", "x")


async def test_one_that_fails_does_not_cost_the_others(
    look: Look, hass: HomeAssistant, cameras: CameraServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Off, gone, slow, no picture, a drawing and half a picture are a sentence each."""
    monkeypatch.setattr(snapshot, "TIMEOUT", 1)
    await add_file_camera(hass, "Lost", tmp_path / "lost.jpg", None)
    await add_file_camera(hass, "Half", tmp_path / "half.jpg", drawn()[:9_000])
    await add_file_camera(hass, "Page", tmp_path / "page.jpg", b"<html>404</html>")
    await add_file_camera(hass, "Plan", tmp_path / "plan.jpg", b"<svg xmlns='http://www.w3.org/2000/svg'/>")
    is_over = asyncio.Event()

    async def late() -> bytes:
        await is_over.wait()
        return drawn()

    cameras.pictures["slow"] = late
    await add_network_camera(hass, "Slow", cameras)
    await add_network_camera(hass, "Off", cameras)
    hass.data["camera"].get_entity("camera.off")._attr_is_on = False
    cameras.pictures["gone"] = drawn()
    await add_network_camera(hass, "Gone", cameras)
    expose(hass, *(f"camera.{name}" for name in ("lost", "half", "page", "plan", "slow", "off", "gone")))
    gone = hass.states.get("camera.gone")
    hass.states.async_set("camera.gone", "unavailable", gone.attributes)
    result = await look()
    assert sorted(names(result)) == ["Doorbell", "Front Door", "Garage", "Garden"]
    for sentence in (
        "Lost gave no picture.",
        "Half gave something that is no whole picture.",
        "Page gave something that is no whole picture.",
        "Plan gave a drawing (SVG), which cannot be looked at.",
        "Slow gave no picture.",
        "Off is turned off.",
        "Gone is not available.",
    ):
        assert sentence in result.data["failed"]
    alone = await look(cameras=["Off"])
    assert alone.error
    assert alone.data["error"] == "Off is turned off. Tell the user; it can be tried again."
    is_over.set()


async def test_too_many(look: Look, hass: HomeAssistant, tmp_path: Path) -> None:
    """Thirteen cameras at once are too many; twelve are smaller than one."""
    for number in range(9):
        await add_file_camera(hass, f"More {number}", tmp_path / f"{number}.jpg", drawn(size=(1920, 1080)))
        expose(hass, f"camera.more_{number}")
    told = await look()
    assert told.error
    assert "At most 12 cameras at once" in told.data["error"]
    many = await look(cameras=[f"camera.more_{number}" for number in range(9)])
    few = await look(cameras=["camera.more_1"])
    assert max(one.tokens for one in many.pictures) <= MANY_TOKENS
    assert 1_400 < few.pictures[0].tokens <= 1_568


async def test_who_may_look(look: Look, hass: HomeAssistant) -> None:
    """Where nobody is logged in, only what the options list is seen; an administrator's cameras are not everybody's."""
    told = await look(user=None)
    assert told.error
    assert "Nobody is logged in here" in told.data["error"]
    listed = ToolboxOptions(open_cameras=frozenset({GARDEN, CELLAR}))
    told = await look(user=None, options=listed, cameras=["Front Door"])
    assert "cannot be looked at from here, but for Garden." in told.data["error"]
    result = await look(user=None, options=listed)
    assert names(result) == ["Garden"]
    assert result.data["not_from_here"].startswith("3 more")
    child = MockUser(name="Child", groups=[]).add_to_hass(hass)
    assert len(names(await look(user=child))) == 4
    admins = ToolboxOptions(who_may_look=Speaker.ADMIN)
    assert "Only an administrator" in (await look(user=child, options=admins)).data["error"]
    assert len(names(await look(options=admins))) == 4
    gone = MockUser(name="Gone", is_active=False).add_to_hass(hass)
    assert "Nobody is logged in" in (await look(user=gone)).data["error"]


async def test_each_look_is_known(look: Look, hass: HomeAssistant, hass_admin_user: MockUser) -> None:
    """An event tells what was looked at, and who asked; what could not be seen was not."""
    events = async_capture_events(hass, EVENT_LOOKED)
    hass.states.async_set(GARDEN, "unavailable")
    await look(cameras=[GARDEN, DOOR])
    await hass.async_block_till_done()
    assert [event.data for event in events] == [{"entity_id": DOOR, "by": hass_admin_user.name}]
    assert events[0].context.user_id == hass_admin_user.id


async def test_comparing(
    look: Look, hass: HomeAssistant, freezer: FrozenDateTimeFactory, cameras: CameraServer
) -> None:
    """A picture of this morning stands before the one of now, each with its time; alone it costs no new one."""
    freezer.move_to("2026-11-20 16:00:00+00:00")  # 08:00 in the test home.
    await look(cameras=[GARDEN])
    freezer.move_to("2026-11-20 20:00:00+00:00")
    both = await look(cameras=[GARDEN], compare="08:15")
    assert [one["taken"][11:16] for one in both.data["pictures"]] == ["08:00", "12:00"]
    assert [one.label for one in both.pictures] == ["Garden, 2026-11-20 08:00:00:", "Garden, 2026-11-20 12:00:00:"]
    asked = len(cameras.asked)
    only = await look(cameras=[GARDEN], at="08:15")
    assert [one["taken"][11:16] for one in only.data["pictures"]] == ["08:00"]
    assert len(cameras.asked) == asked
    told = await look(cameras=[GARDEN], at="03:00")
    assert told.data["error"].startswith("No picture is kept of that time. Kept are: Garden 2026-11-20 08:00:00, ")
    only_now = await look(cameras=[GARDEN], compare="03:00")
    assert names(only_now) == ["Garden"]
    assert "Kept are: Garden" in only_now.data["earlier"]
    assert (await look(cameras=[GARDEN], compare="soon")).error


async def test_nobody_sees_what_another_saw(look: Look, hass: HomeAssistant) -> None:
    """What somebody looked at is kept for them alone, and not for whoever stands at a speaker."""
    listed = ToolboxOptions(open_cameras=frozenset({DOOR}))
    await look(cameras=[DOOR])
    other = MockUser(name="Other", groups=[]).add_to_hass(hass)
    told = await look(user=other, cameras=[DOOR], at="now")
    assert told.data["error"].endswith("Nothing was looked at for this user in the last day.")
    told = await look(user=None, options=listed, cameras=[DOOR], at="now")
    assert told.data["error"].endswith("Nothing was looked at for this user in the last day.")
    assert names(await look(cameras=[DOOR], at="now")) == ["Front Door"]


async def test_what_is_hidden_meanwhile_is_not_shown_again(look: Look, hass: HomeAssistant) -> None:
    """A kept picture follows exposure as it is now."""
    from homeassistant.components.homeassistant.exposed_entities import async_expose_entity  # noqa: PLC0415

    await look(cameras=[DOOR])
    async_expose_entity(hass, "conversation", DOOR, False)
    told = await look(cameras=[DOOR], at="now")
    assert told.error
    assert "Front Door" not in told.data["error"]


async def test_pictures_are_forgotten(look: Look, hass: HomeAssistant, freezer: FrozenDateTimeFactory) -> None:
    """After a day nothing is left of them."""
    await look()
    kept = ImageCache.of(hass)
    assert kept.size
    freezer.tick(KEPT_FOR + timedelta(minutes=1))
    await look(cameras=[DOOR])
    assert [one.entity_id for one in kept] == [DOOR]


async def test_in_words_there_must_be_a_task(look: Look, cameras: CameraServer) -> None:
    """Without an AI Task no camera is asked, and the model is told what is missing; with one, nothing is compared."""
    told = await look(tool=LookTool)
    assert told.error
    assert "an administrator can choose an AI Task" in told.data["error"]
    assert cameras.asked == []
    options = ToolboxOptions(look_task="ai_task.nowhere")
    assert "did not answer" in (await look(tool=LookTool, options=options)).data["error"]
    assert "Leave out at and compare" in (await look(tool=LookTool, options=options, at="08:00")).data["error"]


async def test_the_task_tells_in_words(
    look: Look, hass: HomeAssistant, claude_server: ClaudeServer, cameras: CameraServer
) -> None:
    """Another agent, or a program over MCP, hears what a task of ours sees; the answer counts as text from outside."""
    await async_set_up(hass, claude_server, default_task([], MODEL))
    claude_server.responder = Scenario([Turn([text("A brown parcel stands there.")])])
    options = ToolboxOptions(look_task="ai_task.claude_ai_task")
    hass.data["camera"].get_entity(GARAGE)._attr_is_on = False
    result = await look(tool=LookTool, options=options, cameras=[DOOR, GARAGE, BELL])
    assert not result.error
    assert not isinstance(result, LookResult)
    assert result.data["answer"] == "A brown parcel stands there."
    assert list(result.data["looked_at"]) == ["Front Door", "Doorbell"]
    assert result.data["failed"] == "Garage is turned off."
    assert holds_outside_text(LookTool(), result)
    (request,) = claude_server.message_requests
    blocks = request["messages"][-1]["content"]
    assert [block["type"] for block in blocks if block["type"] != "text"] == ["image", "image"]
    assert "Is there a parcel?" in blocks[-1]["text"]
    assert list(ImageCache.of(hass)) == []


async def test_the_logbook_tells(hass: HomeAssistant) -> None:
    """In words of the home's language: the camera, that it was looked at, and for whom."""
    described: dict[str, Any] = {}
    await async_get_translations(hass, "en", "selector", ["extended_assist"])
    async_describe_events(hass, lambda domain, event_type, describe: described.update({event_type: describe}))
    hass.states.async_set(DOOR, "idle", {"friendly_name": "Front Door"})
    for by, words in (("Anna", "looked at by an assistant \N{MIDDLE DOT} Anna"), (None, "looked at by an assistant")):
        told = described[EVENT_LOOKED](Event(EVENT_LOOKED, {"entity_id": DOOR, "by": by}))
        assert told == {"name": "Front Door", "message": words, "entity_id": DOOR}


async def test_demo_cameras(
    hass: HomeAssistant, assist: None, llm_context: llm.LLMContext, hass_admin_user: MockUser
) -> None:
    """Home Assistant's own demonstration."""
    with patch("homeassistant.components.demo.COMPONENTS_WITH_CONFIG_ENTRY_DEMO_PLATFORM", ["camera"]):
        entry = MockConfigEntry(domain="demo")
        entry.add_to_hass(hass)
        assert await hass.config_entries.async_setup(entry.entry_id)
        await hass.async_block_till_done()
    expose(hass, "camera.demo_camera", "camera.demo_camera_png")
    context = replace(llm_context, context=Context(user_id=hass_admin_user.id))
    tool_input = llm.ToolInput(LookTool.name, {"question": "What is there?"})
    result = await LookWithEyesTool().async_call(hass, tool_input, context)
    assert names(result) == ["Demo camera", "Demo camera png"]
