"""Pictures that are drawn, and a server on loopback that has them as network cameras do."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from io import BytesIO
from typing import Any

from aiohttp import web
import av
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


def filmed(picture: bytes, *, frames: int = 100, every: int = 5) -> list[bytes]:
    """Return a film of a picture as cameras stream it, in pieces; one frame in so many stands for itself."""
    pieces: list[bytes] = []

    class Film(BytesIO):
        def write(self, data: Any) -> int:
            pieces.append(bytes(data))
            return len(data)

    with Image.open(BytesIO(picture)) as image, av.open(Film(), "w", format="mpegts") as film:
        stream = film.add_stream("libx264", rate=5, options={"preset": "ultrafast", "tune": "zerolatency", "crf": "12"})
        stream.width, stream.height, stream.pix_fmt, stream.gop_size = *image.size, "yuv420p", every
        for _ in range(frames):
            film.mux(stream.encode(av.VideoFrame.from_image(image)))
        film.mux(stream.encode())
    return pieces


class CameraServer:
    """Network cameras: a still picture by each path, a stream of pictures, and a film."""

    def __init__(self) -> None:
        """Begin with none."""
        self.pictures: dict[str, bytes | Callable[[], Any]] = {}
        self.films: dict[str, list[bytes]] = {}
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

    async def film(self, request: web.Request) -> web.StreamResponse:
        """Answer with a film, piece by piece, until nobody looks any more."""
        self.asked.append(request.match_info["name"])
        response = web.StreamResponse()
        response.content_type = "video/mp2t"
        await response.prepare(request)
        with suppress(ConnectionError):
            for piece in self.films[request.match_info["name"]]:
                await response.write(piece)
                await asyncio.sleep(0.02)
        return response


@asynccontextmanager
async def camera_server() -> AsyncGenerator[CameraServer]:
    """Run a server for as long as it is needed."""
    server = CameraServer()
    app = web.Application()
    app.router.add_get("/still/{name}", server.still)
    app.router.add_get("/stream/{name}", server.stream)
    app.router.add_get("/film/{name}", server.film)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    server.port = runner.addresses[0][1]
    try:
        yield server
    finally:
        await runner.cleanup()
