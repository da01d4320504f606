"""Pictures in tool results and in glances: the planner has no eyes, but it knows the colour of cardboard."""

from base64 import b64decode
from collections.abc import Iterator
from io import BytesIO
import json
import re
from typing import Any

from PIL import Image

from .planner_results import values
from .planner_rules import THE, Call, Question, Rule, rule

_CARDBOARD = (186, 134, 78)
_TOLERANCE = 30
"""How far each channel may be from it: a JPEG does not keep colours exactly."""
_GLANCE = re.compile(r"\bto be seen\b.*\bparcel\b", re.IGNORECASE)
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
        past = {"at": ago} if (ago := question.match.groupdict().get("ago")) else {}
        return [Call("look", {"question": question.match.string, **past})]
    if not question.pictures:
        return "I was shown no picture."
    found = [label for label, picture in question.pictures if shows_cardboard(picture)]
    if found:
        return f"Yes, something of cardboard is there: {'; '.join(found)}."
    return f"No, nothing of cardboard is there: {'; '.join(label for label, _ in question.pictures)}."


def _watch(question: Question) -> list[Call] | str:
    """Look again and again until a parcel is there, and say what that costs."""
    if question.results:
        return f"I will watch {question['name']}. {next(values(question.last, 'cost'), '')}"
    watched = {"see": question["see"], "cameras": [question["name"]], "every": 30, "lasts": 300}
    return [Call("watch", watched)]


def glance(messages: list[dict[str, Any]]) -> str | None:
    """Return the answer to a glance, which asks for JSON about pictures in the message itself; None for anything else."""
    content = messages[-1]["content"]
    pictures = list(pictures_in(content))
    if len(messages) > 1 or not pictures or not _GLANCE.search(content[-1].get("text", "")):
        return None
    return json.dumps({"seen": "yes" if any(shows_cardboard(picture) for _, picture in pictures) else "no"})


PICTURE_RULES: tuple[Rule, ...] = (
    rule("Is there a parcel at the door?", r"\bis there (?:a|any) parcel\b", _parcel),
    rule(
        "Was there a parcel at the door 26 hours ago?",
        r"\bwas there (?:a|any) parcel\b.*?(?P<ago>\d+ hours ago)",
        _parcel,
    ),
    rule(
        "Watch the front door and tell me when there is a parcel.",
        rf"^watch {THE}(?P<name>.+?) and tell me (?:when|once) (?P<see>.*\bparcel\b.*?)[.!]?$",
        _watch,
    ),
)
