"""What the service refuses, one row a rule: what, in which words, where and when that was written, and how it is broken.

The rows are checked in order, and the first that refuses answers. `python -m tests.claude_server.rules` prints the table; the
request that breaks each stands under its name in tests/claude_server/outside/.
"""

from . import conversation, files, marks, options, served, structured, thinking, tools
from .rule import Refusal, Request, Rule

RULES: tuple[Rule, ...] = (
    *options.RULES,
    *tools.RULES,
    *served.RULES,
    *structured.RULES,
    *marks.RULES,
    *conversation.RULES,
    *files.RULES,
    *thinking.RULES,
)


def refuse(request: Request, *, every_rule: bool = False) -> None:
    """Raise Refusal for the first rule that a request breaks, of those that are enforced, or of all."""
    for rule in RULES:
        if (rule.enforced or every_rule) and (message := rule.check(request)) is not None:
            raise Refusal(message, status=rule.status, rule=rule.name)
