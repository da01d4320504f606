"""Run the loopback server as a process of its own, until it is told to end."""

import argparse
import asyncio
from dataclasses import asdict
import json
from pathlib import Path
import signal
import sys

from .planner import LABEL, OfflinePlanner, planner_models
from .scenario import load_scenario
from .server import ClaudeServer, RecordedRequest
from .turn import Responder


def parse(words: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.claude_server", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="the port on 127.0.0.1 (default: any free one)")
    parser.add_argument("--api-key", default="test-key", help="the only key that is let in (default: test-key)")
    parser.add_argument("--record", type=Path, help="append every request to this file, one JSON object a line")
    answers = parser.add_mutually_exclusive_group(required=True)
    answers.add_argument("--planner", action="store_true", help=f"answer with the {LABEL}")
    answers.add_argument("--scenario", type=Path, help="answer with the turns of this file, one after the other")
    return parser.parse_args(words)


async def serve(arguments: argparse.Namespace, ended: asyncio.Event) -> None:
    """Serve until the event is set."""
    responder: Responder = OfflinePlanner() if arguments.planner else load_scenario(arguments.scenario)
    models = planner_models() if arguments.planner else None
    server = ClaudeServer(responder, api_key=arguments.api_key, models=models, port=arguments.port)
    if arguments.record:

        def record(request: RecordedRequest) -> None:
            with arguments.record.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(request), ensure_ascii=False) + "\n")

        server.on_request = record
    async with server:
        sys.stdout.write(f"listening on {server.url}\n")
        sys.stdout.flush()
        await ended.wait()


async def main() -> None:
    """Serve until a signal to end."""
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    await serve(parse(), ended)


if __name__ == "__main__":
    asyncio.run(main())
