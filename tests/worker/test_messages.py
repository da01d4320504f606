"""Tests of messages between Home Assistant and the worker."""

from io import BytesIO

import pytest

from custom_components.extended_assist.worker.messages import pack, read_message, write_message


def test_message_arrives() -> None:
    """What is sent is read, one message after the other, until nobody sends any more."""
    stream = BytesIO()
    write_message(stream, {"job": "add", "rows": [[1, "ä"]]})
    write_message(stream, {"job": "finish"})
    stream.seek(0)
    assert read_message(stream) == {"job": "add", "rows": [[1, "ä"]]}
    assert read_message(stream) == {"job": "finish"}
    assert read_message(stream) is None


@pytest.mark.parametrize("length", [0, 3, 4, 8])
def test_message_cut_off(length: int) -> None:
    """Of a sender that is gone nothing is read that is not whole."""
    assert read_message(BytesIO(pack(b'{"job":"finish"}')[:length])) is None
