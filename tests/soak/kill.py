"""Writers of automations.yaml, killed with kill -9: before every line, then at any moment, for as long as there is time."""

from pathlib import Path
import tempfile

from tests.automations.kill import Killer

from .budget import Budget, Found

AT_ONCE = 50
MEMORY = Path("/dev/shm")  # noqa: S108 - folders of its own are made there


def run(budget: Budget) -> Found:
    """Kill writers; whatever one of them left that must not be is an AssertionError of the killer."""
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        killer = Killer(Path(folder), budget.seed)
        try:
            killer.at_lines(most=1)
            for _ in budget:
                for _ in range(AT_ONCE):
                    killer.at_any_time()
        except AssertionError as err:
            return Found(_did(killer), wrong=(str(err),))
        did = _did(killer)
        killer.look_back()
        beside = killer.found["beside the file at the end"]
        return Found(did, _notes(killer), (f"{beside} files beside it at the end",) if beside else ())


def _did(killer: Killer) -> str:
    return f"{sum(killer.found.values()):,} writers killed"


def _notes(killer: Killer) -> str:
    left = {
        what: sum(killer.found[f"{when}: {what}"] for when in ("line", "time")) for what in ("old", "new", "left over")
    }
    return (
        f"old file {left['old']:,}, new file {left['new']:,}, a leftover beside the old one {left['left over']:,} times"
    )
