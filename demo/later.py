"""What is asked for later in the demonstration, and how it comes due: somebody opens the fridge, and the owner is told."""

import asyncio

from tests.e2e.client import Client

from .conversation import converse

ASKED = (
    "Wake me at seven on weekdays.",
    "Set a pasta timer for nine minutes.",
    "Remind me of the milk when I next open the fridge.",
    "What is still pending?",
)
AFTERWARDS = ("Snooze.", "What is still pending?")
FRIDGE = "binary_sensor.fridge_door"
SAID = "milk"
TOLD_WITHIN = 30.0  # seconds


async def wait_for_later(client: Client, pipeline_id: str) -> list[bool]:
    """Ask for several things, let one of them come due, and put it off; returns of each whether it went as it should."""
    answered = await converse(client, pipeline_id, ASKED)
    print("\nSomebody opens the fridge.", flush=True)
    told = await _open_fridge(client)
    print(f"Home Assistant: {told or 'tells nothing'}", flush=True)
    return [*answered, SAID in told.casefold(), *await converse(client, pipeline_id, AFTERWARDS)]


async def _open_fridge(client: Client) -> str:
    """Open the fridge, and return what the notification says that comes of it; empty where none comes in time."""
    state = await client.get(f"/api/states/{FRIDGE}")
    async with client.subscribe("persistent_notification/subscribe") as events:
        await anext(events)  # What is there already.
        for value in ("off", "on"):
            new = {"state": value, "attributes": state["attributes"]}
            await client.request("POST", f"/api/states/{FRIDGE}", new, expect=(200, 201))
        try:
            async with asyncio.timeout(TOLD_WITHIN):
                async for event in events:
                    for notification in event["notifications"].values():
                        return f"{notification['title']}: {notification['message']}"
        except TimeoutError:
            pass
    return ""
