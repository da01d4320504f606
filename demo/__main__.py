"""The demonstration: a running Home Assistant with a past, and an agent that answers from it."""

import argparse
import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
import fcntl
import os
import shutil
import signal
import sys

from tests.claude_server import LABEL, ClaudeServer, OfflinePlanner, planner_models
from tests.e2e.client import Client, CommandError, ConnectionLostError, RequestError
from tests.e2e.instance import CACHE, OWNER, Environment, HomeAssistantInstance, StartError, install_integration

from .conversation import converse
from .home import PreparationError, furnish_home, prepare_home
from .later import wait_for_later
from .looking import look_twice

ENVIRONMENT: Environment = "newest"
CONFIG_DIR = CACHE / "demo"
PLANNER_KEY = "demo"

CONVERSATIONS = (
    ("When did the front door last open?",),
    ("How warm was it in the living room today?",),
    ("How many times did the heating change today?",),
    ("What was the average of the outdoor temperature?",),
    ("How much energy did we use today?",),
    ("What happened today?",),
    ("Turn on the kitchen light.", "Undo that."),
    ("Blink the kitchen light.", "Yes, please do."),
    (
        "Turn on the garden lights at sunset.",
        "Yes, please do.",
        "Start 'Garden lights at sunset' half an hour earlier.",
        "Yes.",
        "Run 'Garden lights at sunset'.",
        "Yes.",
        "Undo that.",
        "Undo that.",
        "Yes.",
    ),
)
# The question says what it would have done in the last seven days.
REHEARSED = ("Turn on the bathroom light when the bathroom is above 60 %.", "Yes, please do.", "Undo that.", "Yes.")
# The last four are off unless a user turns them on.
FAMILIES = (
    *("entities", "history", "energy", "user", "actions", "wishes"),
    *("scripts", "automations", "rehearsal", "cameras"),
)


class SetUpError(Exception):
    """The integration's config flow did not end in an entry."""


# What goes wrong for a reason that a person can act on; anything else is a defect and shows its traceback.
FAILURES = (
    PreparationError,
    StartError,
    SetUpError,
    RequestError,
    CommandError,
    ConnectionLostError,
    LookupError,
    TimeoutError,
)


def say(line: str = "") -> None:
    """Print a line at once, also into a pipe."""
    print(line, flush=True)


async def demonstrate(*, once: bool) -> int:
    """Run the demonstration; returns the exit status."""
    await asyncio.to_thread(shutil.rmtree, CONFIG_DIR, ignore_errors=True)
    say("demo: writing 30 days of recorded history")
    await prepare_home(ENVIRONMENT, CONFIG_DIR)
    install_integration(CONFIG_DIR)
    say("demo: starting Home Assistant")
    async with model() as (connection, label), HomeAssistantInstance(ENVIRONMENT, CONFIG_DIR) as instance:
        async with instance.connect() as client:
            version = (await client.get("/api/config"))["version"]
            await furnish_home(client)
            agent_id = await add_agent(client, connection)
            say(f"demo: Home Assistant {version} runs at {instance.url}")
            say(f"demo: log in as {OWNER['username']!r} with the password {OWNER['password']!r}")
            say(f"demo: the answers come from {label}")
            pipeline_id = await client.create_pipeline("Demonstration", agent_id)
            await client.call("assist_pipeline/pipeline/set_preferred", pipeline_id=pipeline_id)
            answered = [
                answer
                for questions in (*CONVERSATIONS, REHEARSED)
                for answer in await converse(client, pipeline_id, questions)
            ]
            answered += await look_twice(client, pipeline_id, CONFIG_DIR)
            answered += await wait_for_later(client, pipeline_id)
        say()
        say(
            f"demo: {sum(answered)} of {len(answered)} messages were answered from tool results, or told when they were due"
        )
        if not once:
            say("demo: Home Assistant stays up; Ctrl-C ends it")
            await asyncio.Event().wait()
    return 0 if all(answered) else 1


@asynccontextmanager
async def model() -> AsyncIterator[tuple[dict[str, str], str]]:
    """Provide what answers: the connection to configure, and what to call it."""
    if api_key := os.environ.get("ANTHROPIC_API_KEY"):
        yield {"api_key": api_key}, "Claude, with the key in ANTHROPIC_API_KEY"
        return
    async with ClaudeServer(OfflinePlanner(), api_key=PLANNER_KEY, models=planner_models()) as server:
        yield {"api_key": PLANNER_KEY, "base_url": server.url}, f"the {LABEL}"


async def add_agent(client: Client, connection: dict[str, str]) -> str:
    """Set the integration up as a person would, and return the agent's entity id."""
    result = await client.config_flow("extended_assist", {"next_step_id": "claude"}, connection)
    if result["type"] != "create_entry":
        raise SetUpError(f"the integration could not be set up: {result.get('errors') or result}")
    entry_id = result["result"]["entry_id"]
    await client.options_flow(entry_id, {"families": FAMILIES, "policy": {}})
    # The options reload the entry by themselves; this one comes after, and ends when the agent is back.
    await client.post(f"/api/config/config_entries/entry/{entry_id}/reload", {})
    return await client.find_entity("conversation", "extended_assist")


@contextmanager
def alone() -> Iterator[None]:
    """Refuse to run beside another demonstration in the same checkout: they share a folder."""
    CACHE.mkdir(exist_ok=True)
    with (CACHE / "demo.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.exit("demo: another demonstration is running in this checkout")
        yield


async def run(*, once: bool) -> int:
    """Run until done or told to end; the first signal ends it in order, later ones do not disturb that."""
    task = asyncio.create_task(demonstrate(once=once))
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, end, task)
    try:
        return await task
    except asyncio.CancelledError:
        return 1 if once else 0
    except FAILURES as err:
        say(f"demo: failed: {str(err) or type(err).__name__}")
        say(f"demo: Home Assistant's log is {CONFIG_DIR / 'console.log'}")
        return 1


def end(task: asyncio.Task[int]) -> None:
    """End the demonstration, once."""
    if not task.cancelling():
        say("\ndemo: stopping")
        task.cancel()


def main() -> int:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(prog="script/demo", description=__doc__)
    parser.add_argument(
        "--once", action="store_true", help="end after the questions; status 0 only if all were answered"
    )
    arguments = parser.parse_args()
    with alone():
        return asyncio.run(run(once=arguments.once))


if __name__ == "__main__":
    sys.exit(main())
