"""Pictures that are drawn, and a server on loopback that has them as network cameras do."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from io import BytesIO
from typing import Any

from aiohttp import web
from PIL import Image, ImageDraw


def drawn(words: str = "", size: tuple[int, int] = (1280, 720), kind: str = "JPEG", **options: Any) -> bytes:
    """Return a picture of a front door, with words on a note where there are any."""
    picture = Image.new("RGB", size, "lightgray")
    pen = ImageDraw.Draw(picture)
    width, height = size
    pen.rectangle((width * 0.4, height * 0.2, width * 0.6, height * 0.9), fill="darkgreen", outline="black")
    if words:
        pen.rectangle((width * 0.05, height * 0.05, width * 0.95, height * 0.18), fill="white")
        pen.text((width * 0.07, height * 0.08), words, fill="black", font_size=max(10, height // 24))
    data = BytesIO()
    picture.save(data, kind, **options)
    return data.getvalue()


class CameraServer:
    """Network cameras: a still picture by each path, and a stream of it."""

    def __init__(self) -> None:
        """Begin with none."""
        self.pictures: dict[str, bytes | Callable[[], Any]] = {}
        self.port = 0
        self.asked: list[str] = []

    def url(self, path: str) -> str:
        """Return an address."""
        return f"http://127.0.0.1:{self.port}/{path}"

    async def still(self, request: web.Request) -> web.Response:
        """Answer with one picture."""
        self.asked.append(request.match_info["name"])
        found = self.pictures[request.match_info["name"]]
        if callable(found):
            found = await found()
        return web.Response(body=found, content_type="image/jpeg")

    async def stream(self, request: web.Request) -> web.StreamResponse:
        """Answer with a picture after the other, as MJPEG, until nobody looks any more."""
        response = web.StreamResponse()
        response.content_type = "multipart/x-mixed-replace"
        await response.prepare(request)
        picture = self.pictures[request.match_info["name"]]
        assert isinstance(picture, bytes)
        for _ in range(20):
            head = f"--frame\r\nContent-Type: image/jpeg\r\nContent-Length: {len(picture)}\r\n\r\n".encode()
            await response.write(head + picture + b"\r\n")
        return response


@asynccontextmanager
async def camera_server() -> AsyncGenerator[CameraServer]:
    """Run a server for as long as it is needed."""
    server = CameraServer()
    app = web.Application()
    app.router.add_get("/still/{name}", server.still)
    app.router.add_get("/stream/{name}", server.stream)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    server.port = runner.addresses[0][1]
    try:
        yield server
    finally:
        await runner.cleanup()
