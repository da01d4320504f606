"""Tell how much of the package the last run of all tests went through; exit with 1 where that is too little.

Lines and branches count each for themselves: in coverage's own limit, which is for both together, one makes up for the other.
"""

from contextlib import redirect_stdout
from io import StringIO
import json
import sys
from typing import Any

from coverage import Coverage

LEAST = 97.0
"""Percent of the package's lines, and of its branches."""
PACKAGE = "custom_components/extended_assist/"
WHOLE = (f"{PACKAGE}config_flow.py", f"{PACKAGE}flows/")
"""What users are led through in dialogs: all of it."""


def read_report() -> dict[str, Any]:
    """Return coverage's report on the run whose data pyproject.toml names."""
    coverage = Coverage()
    coverage.load()
    with redirect_stdout(StringIO()) as text:
        coverage.json_report(outfile="-")
    report: dict[str, Any] = json.loads(text.getvalue())
    return report


def main() -> int:
    """Print both numbers and what is wrong with them."""
    report = read_report()
    totals = report["totals"]
    shares = {"lines": totals["percent_statements_covered"], "branches": totals["percent_branches_covered"]}
    print("coverage:", ", ".join(f"{share:.2f} % of the {what}" for what, share in shares.items()))
    wrong = [f"at least {LEAST:g} % of the {what} must be gone through" for what in shares if shares[what] < LEAST]
    found = {name: data["summary"] for name, data in report["files"].items() if name.startswith(WHOLE)}
    wrong += [f"nothing is known of {part}" for part in WHOLE if not any(name.startswith(part) for name in found)]
    wrong += [
        f"{name} must be gone through as a whole; {summary['missing_lines']} lines and {summary['missing_branches']} "
        "branches are not"
        for name, summary in found.items()
        if summary["missing_lines"] or summary["missing_branches"]
    ]
    for problem in wrong:
        print(f"coverage: {problem}", file=sys.stderr)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
