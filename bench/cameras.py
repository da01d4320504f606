"""Looking beside Home Assistant's own snapshot of the same camera, twelve at once, and what it holds the event loop for."""

import asyncio
from pathlib import Path
from statistics import median
import tempfile
from time import perf_counter, thread_time
from typing import Any

from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import llm
from tests.cameras.scenes import CameraServer, camera_server, drawn

from .hass import running_home_assistant
from .table import Row

_COUNT = 12
_ROUNDS = 15
_WARM_UP = 3
_SECONDS = 0.15
"""What a camera on a network takes to give a picture; on loopback it would take nothing."""
_LOOP_LIMIT = 10.0
"""Milliseconds on the event loop that go unnoticed."""
_CONFIGURATION = """
homeassistant:
  allowlist_external_dirs:
    - {folder}
camera:
conversation:
"""


async def run() -> list[Row]:
    """Compare looks with snapshots, in alternation."""
    with tempfile.TemporaryDirectory() as folder:
        async with (
            camera_server() as server,
            running_home_assistant(_CONFIGURATION.format(folder=folder)) as hass,
        ):
            user = await hass.auth.async_create_user("Bench", group_ids=["system-admin"])
            await _add_cameras(hass, server)
            return [
                *await _beside_snapshots(hass, server, user.id, Path(folder), 0),
                *await _beside_snapshots(hass, server, user.id, Path(folder), _SECONDS),
                await _held(hass, user.id),
            ]


async def _add_cameras(hass: HomeAssistant, server: CameraServer) -> None:
    """Add cameras of Home Assistant's own integration, with pictures of 1920 by 1080."""
    for number in range(_COUNT):
        server.pictures[f"c{number}"] = drawn(size=(1920, 1080))
        entry = ConfigEntry(
            domain="mjpeg",
            title=f"C{number}",
            data={},
            discovery_keys={},  # type: ignore[arg-type]
            minor_version=1,
            options={
                "authentication": "basic",
                "password": "",
                "mjpeg_url": server.url(f"stream/c{number}"),
                "still_image_url": server.url(f"still/c{number}"),
                "verify_ssl": False,
            },
            source="user",
            subentries_data=None,
            unique_id=None,
            version=1,
        )
        await hass.config_entries.async_add(entry)
    await hass.async_block_till_done()
    for number in range(_COUNT):
        async_expose_entity(hass, "conversation", f"camera.c{number}", True)


async def _look(hass: HomeAssistant, user_id: str, *cameras: str) -> float:
    """Return how many milliseconds a look takes."""
    from custom_components.extended_assist.tools.cameras import LookTool, LookWithEyesTool  # noqa: PLC0415

    context = llm.LLMContext("bench", Context(user_id=user_id), "en", "conversation", None)
    arguments: dict[str, Any] = {"question": "What is there?", "cameras": list(cameras)}
    began = perf_counter()
    result = await LookWithEyesTool().async_call(hass, llm.ToolInput(LookTool.name, arguments), context)
    taken = perf_counter() - began
    assert len(result.data["pictures"]) == len(cameras), result.data  # type: ignore[arg-type]
    return taken * 1_000


async def _snapshot(hass: HomeAssistant, folder: Path) -> float:
    """Return how many milliseconds Home Assistant's own action takes."""
    data = {"entity_id": "camera.c0", "filename": str(folder / "snapshot.jpg")}
    began = perf_counter()
    await hass.services.async_call("camera", "snapshot", data, blocking=True)
    return (perf_counter() - began) * 1_000


async def _beside_snapshots(
    hass: HomeAssistant, server: CameraServer, user_id: str, folder: Path, seconds: float
) -> list[Row]:
    """Measure one look, one snapshot and twelve cameras at once."""
    picture = drawn(size=(1920, 1080))

    async def late() -> bytes:
        await asyncio.sleep(seconds)
        return picture

    server.pictures |= {f"c{number}": late for number in range(_COUNT)}
    one, own, many = [], [], []
    for turn in range(_WARM_UP + _ROUNDS):
        times = await _look(hass, user_id, "camera.c0"), await _snapshot(hass, folder)
        all_of_them = await _look(hass, user_id, *(f"camera.c{number}" for number in range(_COUNT)))
        if turn >= _WARM_UP:
            one.append(times[0])
            own.append(times[1])
            many.append(all_of_them)
    goal = 2.0 if seconds else None
    case = f"a camera that takes {seconds * 1_000:.0f} ms"
    return [
        Row.of("look (ms)", f"{case}, against camera.snapshot", median(one), median(own), goal=goal),
        Row.of("twelve at once (ms)", f"{case}, against one", median(many), median(one), goal=goal),
    ]


async def _held(hass: HomeAssistant, user_id: str) -> Row:
    """Measure the longest step of the event loop, cameras and server included, while twelve are looked at."""
    longest, is_over = 0.0, False

    async def watch() -> None:
        nonlocal longest
        while not is_over:
            began = thread_time()
            await asyncio.sleep(0)
            longest = max(longest, thread_time() - began)

    watcher = asyncio.create_task(watch())
    waits = []
    for _ in range(5):
        longest = 0.0
        await _look(hass, user_id, *(f"camera.c{number}" for number in range(_COUNT)))
        waits.append(longest * 1_000)
    is_over = True
    await watcher
    return Row.of(
        "longest step (ms of the processor)",
        "twelve at once, against what goes unnoticed",
        median(waits),
        _LOOP_LIMIT,
        goal=1.0,
    )
