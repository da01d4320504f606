"""How much there is: texts, and images and documents with their kinds, sizes and counts."""

import base64
import binascii
from collections.abc import Iterator
from io import BytesIO
import json
import re

from PIL import Image, UnidentifiedImageError
from PIL.ImageFile import ImageFile

from .pages import ERRORS, PDF, VISION, Page
from .rule import Block, Request, rule

MAX_REQUEST = 32_000_000
"""Bytes: the smaller of what megabytes may mean."""
MAX_IMAGE = 10 * 2**20
"""Characters of an image, encoded."""
MAX_SIDE = 8_000
MANY_IMAGES = 20
MAX_SIDE_OF_MANY = 2_000
BIG_WINDOW = 1_000_000
_IMAGES = {False: 100, True: 600}
_PAGES = {False: 100, True: 600}
"""By whether the model reads a million tokens."""
_REPORTED_KIND = Page("https://github.com/home-assistant/core/issues/167208", "2026-04-02", documented=False)
_REPORTED_LENGTH = Page("https://github.com/earendil-works/pi/issues/102", "2025-12-03", documented=False)
_CHARACTERS = 4
"""That are counted as a token."""
_REPORTED_PDF = Page("https://github.com/anthropics/claude-code/issues/5174", "2025-08-05", documented=False)


def _sources(request: Request, kind: str) -> Iterator[tuple[str, Block]]:
    """Yield what images or documents in a request are made of, with their places."""
    for place, block in request.all_blocks:
        source = block.get("source")
        if block["type"] == kind and isinstance(source, dict) and source["type"] == "base64":
            yield f"{place}.{kind}.source.base64", source


def _data(source: Block) -> bytes | None:
    try:
        return base64.b64decode(source["data"], validate=True)
    except binascii.Error, ValueError:
        return None


def _image(source: Block) -> ImageFile | None:
    data = _data(source)
    try:
        return Image.open(BytesIO(data or b""))
    except UnidentifiedImageError, OSError:
        return None


@rule(ERRORS, "Request exceeds the maximum", status=413)
def too_large(request: Request) -> str | None:
    """A request of more than 32 megabytes."""
    size = (
        len(json.dumps(request.body, ensure_ascii=False, separators=(",", ":")).encode())
        if _may_be_large(request)
        else 0
    )
    return "Request exceeds the maximum allowed number of bytes." if size > MAX_REQUEST else None


def _may_be_large(request: Request) -> bool:
    """Return whether it is worth measuring: no text of a test is that long, but a file may be."""
    return any(block["type"] in ("image", "document") for _, block in request.all_blocks)


@rule(VISION, "image exceeds 10 MB maximum")
def large_image(request: Request) -> str | None:
    """An image of more than ten megabytes, encoded."""
    for place, source in _sources(request, "image"):
        if (size := len(source["data"])) > MAX_IMAGE:
            return f"{place}: image exceeds 10 MB maximum: {size} bytes > {MAX_IMAGE} bytes"
    return None


@rule(VISION, "Could not process image")
def broken_image(request: Request) -> str | None:
    """An image that is none, or of another kind than JPEG, PNG, GIF and WebP."""
    for _, source in _sources(request, "image"):
        image = _image(source)
        if image is None or image.format not in ("JPEG", "PNG", "GIF", "WEBP"):
            return "Could not process image"
    return None


@rule(_REPORTED_KIND, "media type, but the image appears to be a")
def image_kind(request: Request) -> str | None:
    """An image of another kind than is said."""
    for place, source in _sources(request, "image"):
        image = _image(source)
        if image is not None and (kind := f"image/{str(image.format).lower()}") != source["media_type"]:
            return (
                f"{place}: The image was specified using the {source['media_type']} media type, but the image appears to be a "
                f"{kind} image"
            )
    return None


@rule(VISION)
def wide_image(request: Request) -> str | None:
    """An image of more than 8000 pixels, or of more than 2000 among more than twenty."""
    images = [image for _, source in _sources(request, "image") if (image := _image(source)) is not None]
    many = len(images) > MANY_IMAGES
    most = MAX_SIDE_OF_MANY if many else MAX_SIDE
    if any(max(image.size) > most for image in images):
        kind = "many-image requests" if many else "image"
        return f"At least one of the image dimensions exceed max allowed size for {kind}: {most} pixels"
    return None


def _reads_a_million(request: Request) -> bool:
    return (request.model.get("max_input_tokens") or BIG_WINDOW) >= BIG_WINDOW


@rule(VISION)
def many_images(request: Request) -> str | None:
    """More images than the model takes: 100, or 600 where it reads a million tokens."""
    found, most = sum(1 for _ in _sources(request, "image")), _IMAGES[_reads_a_million(request)]
    return f"messages: too many images: {found} > {most}" if found > most else None


@rule(_REPORTED_PDF, "The PDF specified was not valid.")
def broken_document(request: Request) -> str | None:
    """A document that is no PDF, or one with a password."""
    for place, source in _sources(request, "document"):
        data = _data(source)
        if data is None or not data.startswith(b"%PDF-") or b"/Encrypt" in data:
            return f"{place}: The PDF specified was not valid."
    return None


@rule(PDF, "PDF pages")
def many_pages(request: Request) -> str | None:
    """More pages than the model takes: 100, or 600 where it reads a million tokens."""
    found = sum(
        len(re.findall(rb"/Type\s*/Page\b", _data(source) or b"")) for _, source in _sources(request, "document")
    )
    most = _PAGES[_reads_a_million(request)]
    return f"A maximum of {most} PDF pages may be provided." if found > most else None


@rule(_REPORTED_LENGTH, "prompt is too long: ")
def long_prompt(request: Request) -> str | None:
    """More text than the model reads."""
    most = request.model.get("max_input_tokens")
    texts = [block for _, block in request.blocks if "source" not in block]
    count = len(json.dumps([request.body.get("system"), request.tools, texts])) // _CHARACTERS
    return f"prompt is too long: {count} tokens > {most} maximum" if most and count > most else None


@rule(VISION)
def unsupported_file(request: Request) -> str | None:
    """An image or a document for a model that reads none."""
    for kind, ability in (("image", "image_input"), ("document", "pdf_input")):
        if not request.supports(ability) and any(block["type"] == kind for _, block in request.all_blocks):
            return f"messages: {kind} input is not supported by this model"
    return None


RULES = (
    *(too_large, unsupported_file, large_image, broken_image, image_kind, wide_image, many_images),
    *(broken_document, many_pages, long_prompt),
)
