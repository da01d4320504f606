"""Run measurements and print one table: `script/bench [NAME…] [--json FILE]`."""

import argparse
import asyncio
from dataclasses import asdict, fields
import json
from pathlib import Path
import subprocess
import sys
import tempfile

from .table import Row, to_text

NAMES = (
    *("agent", "automations", "cameras", "characters", "habits", "history", "memory", "rehearsal", "sql", "targets"),
    *("template", "wishes"),
)
"""Each is a module of this package with `async def run() -> list[Row]`; each runs in a process of its own."""
_ALONG = {"agent": "characters"}
"""What is measured along with another, because both tell of one subject."""


def main() -> int:
    """Parse the command line, run, and print; returns 1 when a goal is missed."""
    parser = argparse.ArgumentParser(prog="script/bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"what to measure (default: all): {', '.join(NAMES)}")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the table as a list of objects")
    parser.add_argument("--rows", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(NAMES):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; there are: {', '.join(NAMES)}")
    if arguments.rows:
        arguments.rows.write_text(json.dumps([asdict(row) for row in _measure(*arguments.names)]), encoding="utf-8")
        return 0
    names = [part for name in arguments.names or NAMES for part in (name, _ALONG.get(name)) if part]
    rows = [row for name in dict.fromkeys(names) for row in _in_a_process(name)]
    print(to_text(rows))
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n", encoding="utf-8")
    return int(any(row.met is False for row in rows))


def _measure(name: str) -> list[Row]:
    """Run one measurement here."""
    from importlib import import_module  # noqa: PLC0415 - only the module that is asked for

    return asyncio.run(import_module(f".{name}", __package__).run())  # type: ignore[no-any-return]


def _in_a_process(name: str) -> list[Row]:
    """Run one measurement in a fresh process, because each starts its own Home Assistant."""
    print(f"bench: measuring {name}", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.json"
        subprocess.run([sys.executable, "-m", __package__, name, "--rows", file], check=True)  # noqa: S603 - itself
        known = {field.name for field in fields(Row)}
        return [Row(**{key: row[key] for key in known}) for row in json.loads(file.read_text(encoding="utf-8"))]


if __name__ == "__main__":
    sys.exit(main())
