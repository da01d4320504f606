"""The server seen from outside, through the SDK of this process with strict response validation.

Plain asserts without a test framework, so that the same checks run in every environment that has the SDK:
`python -m tests.claude_server.outside` prints one JSON object a line, with the name and the failure or null.
"""

from collections.abc import Awaitable, Callable

from . import answers, breaking, faults, refusals
from .breaking import RULE_CHECKS

type Check = Callable[[], Awaitable[None]]

CHECKS: dict[str, Check] = {
    name.removeprefix("check_"): value
    for module in (answers, breaking, faults, refusals)
    for name, value in vars(module).items()
    if name.startswith("check_")
} | RULE_CHECKS
