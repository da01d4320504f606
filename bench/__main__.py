"""Run measurements and print them: `python -m bench [NAME…] [--json FILE]`."""

import argparse
import asyncio
from dataclasses import asdict
from importlib import import_module
import json
from pathlib import Path

from .table import Row

BENCHES = ("agent", "history")
"""Modules of this package, each with a coroutine function run() that returns rows."""


def main() -> int:
    """Run the named measurements, or all, and say whether every goal was met."""
    parser = argparse.ArgumentParser(prog="script/bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of: {', '.join(BENCHES)} (default: all)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the rows to a file")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(BENCHES):
        parser.error(f"no measurement is named {', '.join(sorted(unknown))}")
    rows: list[Row] = []
    for name in arguments.names or BENCHES:
        rows += asyncio.run(import_module(f".{name}", __package__).run())
    print_table(rows)
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(row) for row in rows], indent=2), encoding="utf-8")
    return 0 if all(row.met is not False for row in rows) else 1


def print_table(rows: list[Row]) -> None:
    """Print rows in columns."""
    cells = [("name", "case", "ours", "other", "ratio", "goal", "met")]
    cells += [
        (
            row.name,
            row.case,
            f"{row.ours:.4g}",
            f"{row.other:.4g}",
            f"{row.ratio:.2f}",
            "" if row.goal is None else f"{row.goal:g}",
            "" if row.met is None else "yes" if row.met else "NO",
        )
        for row in rows
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for line in cells:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


if __name__ == "__main__":
    raise SystemExit(main())
