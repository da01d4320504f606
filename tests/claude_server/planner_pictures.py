"""Pictures in tool results: the planner has no eyes, but it knows the colour of cardboard."""

from base64 import b64decode
from collections.abc import Iterator
from io import BytesIO
from typing import Any

from PIL import Image

from .planner_rules import Call, Question, Rule, rule

_CARDBOARD = (186, 134, 78)
_TOLERANCE = 30
"""How far each channel may be from it: a JPEG does not keep colours exactly."""
_LEAST = 0.005
"""The share of a picture that a parcel covers at least."""


def pictures_in(content: Any) -> Iterator[tuple[str, bytes]]:
    """Yield the pictures of a result, each with the words before it."""
    label = ""
    for block in content if isinstance(content, list) else ():
        if block["type"] == "text":
            label = block["text"].rstrip(":")
        elif block["type"] == "image":
            yield label, b64decode(block["source"]["data"])


def shows_cardboard(picture: bytes) -> bool:
    """Return whether enough of a picture has the colour of cardboard."""
    with Image.open(BytesIO(picture)) as image:
        colours = image.convert("RGB").getcolors(image.width * image.height) or []
    alike = sum(
        count
        for count, colour in colours
        if all(abs(one - other) <= _TOLERANCE for one, other in zip(colour, _CARDBOARD, strict=True))
    )
    return alike >= _LEAST * sum(count for count, _ in colours)


def _parcel(question: Question) -> list[Call] | str:
    """Say of each picture whether there is a parcel in it."""
    if not question.results:
        return [Call("look", {"question": question.match.string})]
    if not question.pictures:
        return "I was shown no picture."
    found = [label for label, picture in question.pictures if shows_cardboard(picture)]
    if found:
        return f"Yes, something of cardboard is there: {'; '.join(found)}."
    return f"No, nothing of cardboard is there: {'; '.join(label for label, _ in question.pictures)}."


PICTURE_RULES: tuple[Rule, ...] = (rule("Is there a parcel at the door?", r"\bis there (?:a|any) parcel\b", _parcel),)
