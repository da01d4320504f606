"""Messages between Home Assistant and the worker, JSON after a length of four bytes, and the errors that it returns."""

import json
from typing import Any, BinaryIO, Final

LENGTH_BYTES: Final = 4
MAX_MESSAGE: Final = 16_000_000
"""The most bytes of a message; a longer one is refused."""

type Message = dict[str, Any]


def pack(body: bytes) -> bytes:
    """Return a message as bytes."""
    return len(body).to_bytes(LENGTH_BYTES) + body


def read_message(stream: BinaryIO) -> Message | None:
    """Return the next message, or None at the end of the stream."""
    head = stream.read(LENGTH_BYTES)
    if len(head) < LENGTH_BYTES:
        return None
    length = int.from_bytes(head)
    body = stream.read(length)
    return json.loads(body) if len(body) == length else None


def write_message(stream: BinaryIO, message: Message) -> None:
    """Send a message."""
    stream.write(pack(json.dumps(message, separators=(",", ":")).encode()))
    stream.flush()


class JobError(Exception):
    """A job cannot be done; the message contains nothing that the caller may not see."""


class TooMuchToCopyError(JobError):
    """More rows than may be copied."""
