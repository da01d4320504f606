"""Two models whose score is known beforehand: one that knows every answer, and one that always says the same."""

from datetime import datetime
from typing import Any

from evaluate.grading import Act
from evaluate.house import House
from evaluate.questions import NO, YES, Call, questions
from tests.claude_server import Turn, text, tool_use

ORACLE = "claude-haiku-5-5"
PARROT = "claude-opus-5-5"
NONSENSE = "It is 31.5 °C, and it was opened 17 times yesterday, last at 07:30, by the sky. Done."


class Models:
    """Answers as the model that a request names."""

    def __init__(self, seed: int, until: datetime) -> None:
        """Look up every answer in the house that is asked about."""
        self._known: dict[str, tuple[list[Call], str]] = {}
        for question in questions(House.generate(seed, until), until):
            told = " ".join(fact.told(question.language) for fact in question.facts)
            for said, acts in question.before:
                self._known.setdefault(said, (_calls(acts), "Done."))
            self._known[question.text] = (list(question.calls) or _calls(question.acts), told or "Done.")
        self._known |= dict.fromkeys((*YES.values(), *NO.values()), ([], "All right."))

    async def respond(self, request_body: dict[str, Any]) -> Turn:
        """Call what leads to the answer, then say it; or say the same again."""
        if request_body["model"] == PARROT:
            return Turn([text(NONSENSE)])
        said, is_begun = _last(request_body["messages"])
        calls, answer = self._known[max((known for known in self._known if known in said), key=len)]
        tools = [tool["name"] for tool in request_body["tools"]]
        if is_begun or not calls:
            return Turn([text(answer)])
        return Turn(
            [tool_use(next(tool for tool in tools if tool.endswith(f"__{name}")), given) for name, given in calls]
        )


def _calls(acts: tuple[Act, ...]) -> list[Call]:
    return [
        ("perform_action", {"action": act.action, "target": {"entity_id": act.entity_id}, "data": dict(act.data)})
        for act in acts
    ]


def _last(messages: list[dict[str, Any]]) -> tuple[str, bool]:
    """Return what the user said last, and whether tools were called since."""
    for message in reversed(messages):
        blocks = message["content"]
        blocks = [{"type": "text", "text": blocks}] if isinstance(blocks, str) else blocks
        said = " ".join(block["text"] for block in blocks if block["type"] == "text")
        if message["role"] == "user" and said:
            return said, message is not messages[-1]
    raise AssertionError(messages)
