"""Measures models by questions about a generated home, each with a known answer: `script/evaluate [MODEL…]`.

With ANTHROPIC_API_KEY in the environment, or --server, the models answer; without either, the offline planner does.
"""

import argparse
import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
import os
from pathlib import Path
import sys
import tempfile

from bench.hass import agent_of, running_home_assistant
from homeassistant.auth.const import GROUP_ID_ADMIN
from homeassistant.core import HomeAssistant

from .history import write_past
from .home import LiveHome, configuration
from .house import House
from .questions import KINDS, questions
from .report import kinds, picture, row_of, table, to_json
from .run import Answered, Interviewer, async_evaluate

FAMILIES = ("entities", "history", "energy", "user", "actions", "wishes", "automations")
"""Those that are on by default, and automations."""
PLANNER = "offline planner"
_PLANNER_KEY = "evaluate"
_CHECKOUT = Path(__file__).parents[1]


def say(line: str) -> None:
    """Tell how far it is."""
    print(line, file=sys.stderr, flush=True)


@asynccontextmanager
async def connection(server: str) -> AsyncGenerator[tuple[dict[str, str], bool]]:
    """Provide what the agent is configured with, and whether a model stands behind it."""
    key = os.environ.get("ANTHROPIC_API_KEY", "")
    if server or key:
        yield {"api_key": key} | ({"base_url": server} if server else {}), True
        return
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.claude_server", "--planner", "--api-key", _PLANNER_KEY,
        cwd=_CHECKOUT, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stdout
        url = (await process.stdout.readline()).decode().split()[-1]
        yield {"api_key": _PLANNER_KEY, "base_url": url}, False
    finally:
        process.terminate()
        await process.wait()


async def add_agent(hass: HomeAssistant, data: dict[str, str], model: str | None) -> str:
    """Set the integration up as a person would; return the id of its entry."""
    flows = hass.config_entries.flow
    result = await flows.async_init("extended_assist", context={"source": "user"})
    for step in ({"next_step_id": "claude"}, data):
        result = await flows.async_configure(result["flow_id"], step)
    if result.get("step_id") == "model" and model:
        result = await flows.async_configure(result["flow_id"], {"model": model})
    if result["type"] != "create_entry":
        raise SystemExit(f"evaluate: the agent could not be set up: {result.get('errors') or 'name a model'}")
    entry = result["result"]
    hass.config_entries.async_update_entry(entry, options={**entry.options, "families": list(FAMILIES)})
    await hass.async_block_till_done()
    return str(entry.entry_id)


async def use_model(hass: HomeAssistant, entry_id: str, model: str | None) -> str:
    """Let the agent use a model, by default the one that it chose; return the model."""
    entry = hass.config_entries.async_get_known_entry(entry_id)
    subentry = next(iter(entry.get_subentries_of_type("conversation")))
    if model:
        hass.config_entries.async_update_subentry(entry, subentry, data={**subentry.data, "model": model})
        await hass.async_block_till_done()
    return model or str(subentry.data["model"])


def choose(house: House, kind: str | None, count: int | None) -> list[int]:
    """Return the numbers of the questions to ask: evenly from all of them."""
    found = [number for number, each in enumerate(questions(house, house.end)) if kind in (None, each.kind)]
    count = min(count or len(found), len(found))
    return [found[len(found) * number // count] for number in range(count)]


async def run(arguments: argparse.Namespace) -> dict[str, list[Answered]]:
    """Run the home and ask every model."""
    house = House.generate(arguments.seed, arguments.until)
    chosen = choose(house, arguments.kind, arguments.questions)
    found: dict[str, list[Answered]] = {}
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "past.db"
        say("evaluate: writing four weeks of a past")
        await asyncio.to_thread(write_past, database, house)
        async with (
            connection(arguments.server) as (data, is_model),
            running_home_assistant(configuration(database)) as hass,
        ):
            sys.excepthook = sys.__excepthook__  # Home Assistant's own writes to its log, which is of no use here.
            home = LiveHome(hass, house)
            await home.async_furnish()
            user = await hass.auth.async_create_user("Owner", group_ids=[GROUP_ID_ADMIN])
            entry_id = await add_agent(hass, data, next(iter(arguments.models), None))
            for model in arguments.models or [None]:
                name = await use_model(hass, entry_id, model) if is_model else PLANNER
                say(f"evaluate: asking {name}")
                interviewer = Interviewer(hass, agent_of(hass, "extended_assist"), user.id)
                found[name] = await async_evaluate(
                    interviewer, home, house, chosen, say if arguments.verbose else lambda _: None
                )
    return found


def report(arguments: argparse.Namespace, found: dict[str, list[Answered]]) -> None:
    """Print what was found, and write the files that were asked for."""
    if PLANNER in found:
        print("No model was asked: the offline planner answered, a few rules that know few of these questions.")
        print("Its numbers show that the measurement runs, and say nothing about models.\n")
    print(table([row_of(model, answered) for model, answered in found.items()]))
    for model, answered in found.items():
        print(f"\n{model}, by kind:\n\n{kinds(answered)}")
        if failed := [turn.failed for each in answered for turn in each.turns if turn.failed]:
            print(f"\n{len(failed)} messages failed and count as wrong; the first: {failed[0]}")
    for file, text in ((arguments.json, to_json(found)), (arguments.svg, picture(found))):
        if file:
            file.write_text(text, encoding="utf-8")


def main() -> int:
    """Parse the command line, run, and print."""
    parser = argparse.ArgumentParser(prog="script/evaluate", description=__doc__)
    parser.add_argument(
        "models", nargs="*", metavar="MODEL", help="the models to ask (default: the one that the agent chooses)"
    )
    parser.add_argument("--server", default="", metavar="URL", help="a server that speaks Anthropic's Messages API")
    parser.add_argument("--questions", type=int, metavar="N", help="how many to ask, evenly from all (default: all)")
    parser.add_argument("--kind", choices=KINDS, help="only questions of one kind")
    parser.add_argument("--seed", type=int, default=1, help="which house, with its names and its past (default: 1)")
    parser.add_argument(
        "--until", type=datetime.fromisoformat, default=datetime.now(UTC), help="when its past ends (default: now)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write every question with its answer")
    parser.add_argument("--svg", type=Path, metavar="FILE", help="also draw a picture")
    parser.add_argument("--verbose", action="store_true", help="tell how each question went")
    arguments = parser.parse_args()
    report(arguments, asyncio.run(run(arguments)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
