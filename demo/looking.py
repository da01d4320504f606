"""What is seen in the demonstration: a parcel at the door, until somebody takes it in."""

import asyncio
from pathlib import Path
import re

from tests.e2e.client import Client

from .conversation import hold
from .front_door import draw_front_door

ASKED = "Is there a parcel at the door?"
_ANSWER = re.compile(r"\W*(yes|no)\b", re.IGNORECASE)


async def look_twice(client: Client, pipeline_id: str, config_dir: Path) -> list[bool]:
    """Ask with a parcel at the door and without one; returns of each whether the answer is what the picture shows."""
    seen = []
    for parcel, answer in ((True, "yes"), (False, "no")):
        if not parcel:
            print("\nSomebody takes the parcel in.", flush=True)
        await asyncio.to_thread(draw_front_door, config_dir, parcel=parcel)
        (transcript,) = await hold(client, pipeline_id, [ASKED])
        said = _ANSWER.match(transcript.answer)
        seen.append(transcript.answered and said is not None and said[1].lower() == answer)
    return seen
