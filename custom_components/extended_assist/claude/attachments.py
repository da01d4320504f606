"""Attached files as content blocks of a message."""

import base64
from collections.abc import Sequence
from mimetypes import guess_type
from pathlib import Path

from homeassistant.components.conversation import Attachment, Content, UserContent
from homeassistant.core import HomeAssistant

from .models import Abilities
from .response_blocks import Block
from .retry import TurnError

# https://platform.claude.com/docs/en/build-with-claude/vision and /pdf-support; sizes there are of the encoded file.
MAX_IMAGE_SIZE = 7_800_000
"""The most bytes of an image: ten megabytes in base64. A server with a lower limit reports it itself."""
MAX_TOTAL_SIZE = 22_000_000
"""The most bytes of all files: a request may have 32 megabytes with the conversation."""
MAX_FILES = 20
"""The most files of a request."""

_IMAGES = {
    "image/jpeg": "image/jpeg",
    "image/jpg": "image/jpeg",
    "image/png": "image/png",
    "image/gif": "image/gif",
    "image/webp": "image/webp",
}
_DOCUMENT = "application/pdf"


async def async_read(hass: HomeAssistant, content: Sequence[Content], abilities: Abilities) -> dict[Path, Block]:
    """Return the attachments of a conversation by path; raises TurnError for a file that cannot be sent."""
    files = [file for item in content if isinstance(item, UserContent) for file in item.attachments or ()]
    if not files:
        return {}
    if len(files) > MAX_FILES:
        raise TurnError("attachments_too_many", most=str(MAX_FILES))
    return await hass.async_add_executor_job(_read, files, abilities)


def _read(files: list[Attachment], abilities: Abilities) -> dict[Path, Block]:
    """Read files."""
    blocks: dict[Path, Block] = {}
    total = 0
    for file in files:
        kind = file.mime_type or guess_type(file.path)[0] or "?"
        if kind not in _IMAGES and kind != _DOCUMENT:
            raise TurnError("attachment_unknown", name=file.path.name, kind=kind)
        # A server that lists nothing is asked: the user attached the file, and it may well be able to read it.
        if abilities.listed and not (abilities.documents if kind == _DOCUMENT else abilities.images):
            raise TurnError("attachment_unsupported", name=file.path.name)
        try:
            size = file.path.stat().st_size
            total += size
            if total > MAX_TOTAL_SIZE or (kind != _DOCUMENT and size > MAX_IMAGE_SIZE):
                raise TurnError("attachment_too_large", name=file.path.name)
            data = file.path.read_bytes()
        except OSError as err:
            raise TurnError("attachment_missing", name=file.path.name) from err
        blocks[file.path] = {
            "type": "document" if kind == _DOCUMENT else "image",
            "source": {
                "type": "base64",
                "media_type": _IMAGES.get(kind, _DOCUMENT),
                "data": base64.b64encode(data).decode("ascii"),
            },
        }
    return blocks
