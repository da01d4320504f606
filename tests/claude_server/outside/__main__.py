"""Run every check and report each as a line of JSON."""

import asyncio
import json
import sys
import traceback

import anthropic

from . import CHECKS


async def main() -> None:
    """Run the checks one after the other; one that fails does not keep the next from running."""
    for name, check in CHECKS.items():
        failure = None
        try:
            await check()
        except Exception:  # noqa: BLE001 - reported with the name
            failure = traceback.format_exc()
        sys.stdout.write(json.dumps({"name": name, "sdk": anthropic.__version__, "failure": failure}) + "\n")


if __name__ == "__main__":
    asyncio.run(main())
