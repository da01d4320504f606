"""What is kept of conversations: for how long, of how many, and what is told of changes."""

from types import SimpleNamespace
from typing import Any

import pytest

from custom_components.extended_assist.claude import conversation_snapshot as rooms
from custom_components.extended_assist.claude.conversation_snapshot import (
    KEPT_FOR,
    MAX_CONVERSATIONS,
    MAX_TOLD,
    ConversationSnapshot,
    ConversationSnapshots,
)
from homeassistant.components.conversation import SystemContent, UserContent

AGENT = "conversation.claude"
pytestmark = pytest.mark.freeze_time("2026-11-20 20:10:32+00:00")
CLOCK = "(Friday 2026-11-20 12:10)"


def log(conversation_id: str) -> Any:
    """Return the log of a conversation."""
    return SimpleNamespace(
        conversation_id=conversation_id, content=[SystemContent(content=""), UserContent(content="Hello")]
    )


def tool(name: str, **more: Any) -> dict[str, Any]:
    """Return a tool as it is sent."""
    return {"name": name, "input_schema": {"type": "object", "properties": {}}, **more}


def test_kept_while_it_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """A conversation keeps its snapshot, until it was silent for long, or another one has its id."""
    moment = 0.0
    monkeypatch.setattr(rooms, "monotonic", lambda: moment)
    snapshots, one, other = ConversationSnapshots(), log("one"), log("other")
    first = snapshots.of(one, AGENT)
    moment += KEPT_FOR - 1
    assert snapshots.of(one, AGENT) is first
    assert snapshots.of(one, "conversation.other") is not first
    assert snapshots.of(log("one"), AGENT) is not first
    first = snapshots.of(one, AGENT)
    moment += KEPT_FOR + 1
    snapshots.of(other, AGENT)
    assert list(snapshots._kept) == [("other", AGENT)]


def test_no_more_than_so_many() -> None:
    """The conversation that was silent for longest is forgotten first."""
    snapshots = ConversationSnapshots()
    logs = [log(str(number)) for number in range(MAX_CONVERSATIONS + 1)]
    for one in logs:
        snapshots.of(one, AGENT)
    assert [key for key, _ in snapshots._kept] == [one.conversation_id for one in logs[1:]]


def test_a_tool_that_is_left_out() -> None:
    """It stays out, and the conversation need not begin anew for that."""
    snapshot, message = ConversationSnapshot(), UserContent(content="Hello")
    snapshot.begin("", [tool("bad"), tool("good")], message)
    assert snapshot.leave_out("bad") == tool("bad")
    snapshot.begin("", [tool("good")], message)
    assert [item["name"] for item in snapshot.tools] == ["good"]
    assert snapshot.note(message) == CLOCK


def test_large_changes_begin_anew() -> None:
    """What would take longer to tell than the instructions themselves is not told."""
    snapshot, message = ConversationSnapshot(), UserContent(content="Hello")
    snapshot.begin("Be kind.", [], message)
    snapshot.begin("Be kind.\nBe brief.", [], message)
    assert snapshot.system == "Be kind."
    assert "Be brief." in str(snapshot.note(message))
    changed = "x" * (MAX_TOLD + 1)
    snapshot.begin(changed, [], message)
    assert snapshot.system == changed
    assert snapshot.note(message) == CLOCK


def test_tools_that_go_and_come() -> None:
    """One that is gone is told once; one that changes, or comes back, begins anew."""
    snapshot, message = ConversationSnapshot(), UserContent(content="Hello")
    snapshot.begin("", [tool("a"), tool("b")], message)
    snapshot.begin("", [tool("a")], message)
    assert "(These tools are gone: b.)" in str(snapshot.note(message))
    assert [item["name"] for item in snapshot.tools] == ["a", "b"]
    again = UserContent(content="Again")
    snapshot.begin("", [tool("a")], again)
    assert snapshot.note(again) == CLOCK
    snapshot.begin("", [tool("a"), tool("b")], again)
    assert [item["name"] for item in snapshot.tools] == ["a", "b"]
    assert snapshot.notes == {}
    snapshot.begin("", [tool("a", description="Other."), tool("b")], again)
    assert snapshot.tools[0]["description"] == "Other."


def test_without_a_message() -> None:
    """Where nobody spoke, all is sent as it is."""
    clock = "Be kind.\nCurrent time is 20:10:32. Today's date is 2026-11-20."
    snapshot = ConversationSnapshot()
    snapshot.begin(clock, [], None)
    assert snapshot.system == clock


def test_only_a_clock() -> None:
    """Instructions of which nothing stays the same are none."""
    clock = "Current time is 20:10:32. Today's date is 2026-11-20."
    snapshot, message = ConversationSnapshot(), UserContent(content="Hello")
    snapshot.begin(clock, [], message)
    assert snapshot.system == ""
    assert snapshot.note(message) == CLOCK


def test_extra_instructions_stay() -> None:
    """What comes after the clock is not lost."""
    clock = "Current time is 20:10:32. Today's date is 2026-11-20."
    snapshot, message = ConversationSnapshot(), UserContent(content="Hello")
    snapshot.begin(f"Be kind.\n{clock}\nSpeak of the door.", [], message)
    assert snapshot.system == "Be kind.\nSpeak of the door."


@pytest.mark.parametrize("lines", ["[Bath]\nlight: Lamp", "[Bath] 3 light"])
def test_a_floor_that_is_called_otherwise(lines: str) -> None:
    """What is on it is told with its floor; what comes after the overview stands for itself."""
    snapshot, message = ConversationSnapshot(), UserContent(content="Hello")
    for floor in ("Upstairs", "First floor"):
        snapshot.begin(f"Be kind.\n[[{floor}]]\n{lines}\nThe end.", [], message)
    line = lines.replace("\n", " ")
    assert snapshot.note(message) == (
        "(Your instructions have changed since this conversation began.\nNo longer so:\n"
        f"[[Upstairs]] {line}\nNow:\n[[First floor]] {line})\n{CLOCK}"
    )
