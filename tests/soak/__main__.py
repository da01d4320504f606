"""Run what takes long, print one table, and keep it in docs/soak.md: `script/soak [NAME…] [--seconds N | --rounds N] [--seed N]`."""

import argparse
from dataclasses import asdict
from datetime import UTC, datetime
from importlib import import_module
import json
from pathlib import Path
import subprocess
import sys
import tempfile
from time import monotonic

from .budget import Budget, Found
from .page import PAGE, to_table, with_rows

SOAKS = {
    "automations": "automations of every kind are changed and removed, and written by two at once",
    "bounds": "attacks on running homes, other ones each time",
    "faults": "changes of automations, scripts and scenes are cut off in a running Home Assistant",
    "habits": "homes in which habits are planted, and shuffled ones: what is found?",
    "kill": "writers of automations.yaml are killed",
    "large_home": "every kind of question in homes that double in size",
    "mutation": "mistakes on purpose in what bounds the model: are they seen?",
    "properties": "what must hold for any input, with many inputs",
    "rehearsal": "months of automations, lived through and rehearsed: is every run the same?",
    "sequences": "random sequences of actions in a home of which a part is hidden",
    "templates": "random templates, with values that are too large",
    "wishes": "crashes of a home in which wishes come due",
}
"""Each is a module of this package with `def run(budget: Budget) -> Found`, and runs in a process of its own."""
SECONDS = 600
MANIFEST = Path(__file__).parents[2] / "custom_components" / "extended_assist" / "manifest.json"


def main() -> int:
    """Parse the command line, run, print, and keep; returns 1 when anything is wrong."""
    parser = argparse.ArgumentParser(prog="script/soak", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"what to run (default: all): {', '.join(SOAKS)}")
    parser.add_argument("--seconds", type=float, default=SECONDS, help=f"for each of them (default: {SECONDS})")
    parser.add_argument("--rounds", type=int, help="for each of them, in place of a time")
    parser.add_argument("--seed", type=int, default=0, help="of the first round (default: 0)")
    parser.add_argument("--found", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(SOAKS):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; there are: {', '.join(SOAKS)}")
    if arguments.found:
        (name,) = arguments.names
        budget = Budget(arguments.seconds, arguments.rounds, arguments.seed)
        found: Found = import_module(f".{name}", __package__).run(budget)
        arguments.found.write_text(json.dumps(asdict(found)), encoding="utf-8")
        return 0
    wrong, rows = [], {}
    for name in arguments.names or SOAKS:
        sys.stderr.write(f"soak: {name}: {SOAKS[name]}\n")
        begun = monotonic()
        found = _in_a_process(name, arguments)
        wrong += [f"{name}: {problem}" for problem in found.wrong]
        rows[name] = _row(name, found, monotonic() - begun, arguments.seed)
        # Whatever happens to the next ones, this one is kept.
        PAGE.write_text(with_rows(PAGE.read_text(encoding="utf-8"), {name: rows[name]}), encoding="utf-8")
    sys.stdout.write(to_table(list(rows.values())))
    sys.stderr.writelines(f"soak: {problem}\n" for problem in wrong)
    return int(bool(wrong))


def _in_a_process(name: str, arguments: argparse.Namespace) -> Found:
    """Run a soak in a fresh process; one that ends otherwise than well found something wrong."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "found.json"
        command = [sys.executable, "-m", __package__, name, "--found", str(file), "--seed", str(arguments.seed)]
        command += (
            ["--seconds", str(arguments.seconds)] if arguments.rounds is None else ["--rounds", str(arguments.rounds)]
        )
        done = subprocess.run(command, check=False)
        if done.returncode:
            return Found("broke off", wrong=(f"ended with status {done.returncode}",))
        found = json.loads(file.read_text(encoding="utf-8"))
        return Found(found["did"], found["notes"], tuple(found["wrong"]))


def _row(name: str, found: Found, seconds: float, seed: int) -> list[str]:
    """Return the row of a run."""
    version = json.loads(MANIFEST.read_text(encoding="utf-8"))["version"]
    length = f"{seconds:.0f} s" if seconds < 600 else f"{seconds / 60:.0f} min"
    wrong = str(len(found.wrong)) if found.wrong else "nothing"
    cells = [
        f"`{name}`",
        found.did,
        length,
        str(seed),
        wrong,
        found.notes or "-",
        f"{datetime.now(UTC):%Y-%m-%d}",
        version,
    ]
    return [cell.replace("|", "\\|") for cell in cells]


if __name__ == "__main__":
    sys.exit(main())
