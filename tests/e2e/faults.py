"""Changes of automations that are cut off in a real Home Assistant, at any step, and what there is afterwards."""

import asyncio
from dataclasses import dataclass, field
import json
from pathlib import Path
import time
from typing import Any

import aiohttp

from tests.automations.faulty import FAULT, HOWS, STEPS, set_fault
from tests.claude_server import ClaudeServer, Scenario, Turn, text, tool_use

from .client import CommandError, RequestError
from .instance import CHECKOUT, CONFIGURATION, Environment, HomeAssistantInstance, install_integration

CHANGES = ("add", "update", "remove", "undo")
CASES = tuple((step, how, change) for step in STEPS for how in HOWS for change in CHANGES)
DEATH_TIME = 60.0  # seconds
EXISTING = ("automation.one", "automation.two")
BASE = """\
# mine
- id: '1'
  alias: One
  triggers: []
  actions: []

- id: '2'   # the other
  alias: Two
  triggers: []
  actions: []
"""
LAMP = "input_boolean.lamp"
ADDED = {
    "alias": "Three",
    "triggers": [{"trigger": "homeassistant", "event": "start"}],
    "actions": [{"action": "input_boolean.turn_on", "target": {"entity_id": LAMP}}],
}
CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "add": ("add_automation", {"automation": ADDED}),
    "update": ("update_automation", {"automation": "automation.one", "changes": {"alias": "Another"}}),
    "remove": ("remove_automation", {"automation": "automation.one"}),
    "undo": ("undo_last_change", {}),
}
CUT_OFF = (aiohttp.ClientError, TimeoutError, ConnectionError, RequestError, CommandError, asyncio.CancelledError)


def prepare(folder: Path) -> None:
    """Write a small home."""
    lines = CONFIGURATION.splitlines(keepends=True)
    without = ("frontend", "recorder", "  commit", "history", "logbook", "energy", "assist_pipeline")
    kept = "".join(line for line in lines if not line.startswith(without))
    (folder / "configuration.yaml").write_text(f"{kept}input_boolean: {{lamp: {{name: Lamp}}}}\n")
    (folder / "automations.yaml").write_text(BASE)
    install_integration(folder)


@dataclass
class FaultyHome:
    """A home that is made to fail."""

    folder: Path
    environment: Environment
    server: ClaudeServer
    agent: str = ""
    failed: dict[tuple[str, str, str], str] = field(default_factory=dict)
    struck: int = 0
    read: set[str] = field(default_factory=set)
    """The notices that were confirmed: one that Home Assistant had not stored comes again after it was killed."""

    def __post_init__(self) -> None:
        extra = {"PYTHONPATH": str(CHECKOUT)}
        self.instance = HomeAssistantInstance(
            self.environment, self.folder, extra_environment=extra, module="tests.automations.faulty"
        )

    async def set_up(self) -> None:
        """Set the agent up, with everything allowed and nothing asked."""
        async with self.instance.connect() as client:
            steps = ({"next_step_id": "claude"}, {"api_key": "test-key", "base_url": self.server.url})
            await client.config_flow("extended_assist", *steps)
            (entry,) = await client.config_entries("extended_assist")
            policy = {"who_may_read": "anyone", "who_may_control": "anyone", "who_may_administer": "admin"}
            form = {
                "families": ["actions", "automations"],
                "result_budget": 20_000,
                "policy": {**policy, "ask_first": [], "allow_without_chat": False},
            }
            await client.options_flow(entry["entry_id"], form)
            await client.wait_until_loaded("extended_assist")
            self.agent = await client.find_entity("conversation", "extended_assist")
            await client.expose(LAMP, *EXISTING)
        # So that what the set-up changed is on the disk, and only what a change does is at stake.
        await self.instance.restart()

    async def check(self, case: tuple[str, str, str]) -> None:
        """Cut a change off and look what became of it; keep what is wrong."""
        try:
            await self._check(*case)
        except AssertionError as err:
            self.failed[case] = str(err)
            await self._begin_anew()

    async def _check(self, step: str, how: str, change: str) -> None:
        file, struck = self.folder / "automations.yaml", self.folder / Path(FAULT).with_suffix(".struck")
        before = BASE
        if change == "undo":
            result, _ = await self._call("add")
            assert "added" in result, result
            before = file.read_text()
        struck.unlink(missing_ok=True)
        set_fault(self.folder, step, how)
        try:
            result, _ = await self._call(change)
        except CUT_OFF:
            result = {}
        assert struck.exists(), f"the step was not reached: {result}"
        self.struck += 1
        if how in {"kill", "stop"}:
            await self._start_again()
        else:
            await asyncio.sleep(0.5)  # What was cancelled is brought to an end by a task of its own.
        is_there = file.read_text() != before
        issues: list[dict[str, Any]] = []
        if result.get("error") is None and result and how in {"cancel", "fail"}:
            assert is_there, f"it is said to be done: {result}"
        # Whoever was not answered is told by a notice, unless nothing had been begun.
        if how == "kill" and (is_there or step in {"intent stored", "file to be replaced"}) and step != "ended":
            expected = "change_completed" if is_there else "change_not_made"
            until = time.monotonic() + DEATH_TIME
            while not (issues := await self._issues()):
                assert time.monotonic() < until, "there is no notice"
                await asyncio.sleep(0.2)
            assert [issue["translation_key"] for issue in issues] == [expected], issues
        until = time.monotonic() + DEATH_TIME
        while True:  # What had been done is done again a moment after the start.
            try:
                await self._look(change, is_there=is_there)
                break
            except AssertionError:
                if time.monotonic() > until:
                    raise
            await asyncio.sleep(0.2)
        assert is_there is (file.read_text() != before), "it changed while nobody did anything"
        await self._undo(change, is_there=is_there)
        assert file.read_text() == BASE, file.read_text()
        for issue in await self._issues():
            await self._read(issue)

    async def _look(self, change: str, *, is_there: bool) -> None:
        """See that Home Assistant runs what the file says, and that it is exposed."""
        async with self.instance.connect() as client:
            states = await client.states()
            exposed = (await client.call("homeassistant/expose_entity/list"))["exposed_entities"]
            registered = {entry["entity_id"] for entry in await client.call("config/entity_registry/list")}
        wanted = dict.fromkeys(EXISTING, True)
        wanted["automation.three"] = (change == "undo") is not is_there if change in {"add", "undo"} else False
        if change == "remove" and is_there:
            wanted["automation.one"] = False
        for entity_id, there in wanted.items():
            state = states.get(entity_id, {"state": None})["state"]
            assert state == ("on" if there else None), f"{entity_id} is {state}"
            assert (entity_id in registered) is there, f"{entity_id}: registered {not there}"
            assert bool(exposed.get(entity_id, {}).get("conversation")) is there, f"{entity_id}: exposed {not there}"
        if change == "update":
            name = states["automation.one"]["attributes"]["friendly_name"]
            assert name == ("Another" if is_there else "One"), name

    async def _undo(self, change: str, *, is_there: bool) -> None:
        """Take the change back, if it is there, and see that it is known to be the last one."""
        if (change == "undo") is is_there:
            result, sent = await self._call("undo")
            assert "error" in result, f"there was something to undo: {result}"
        else:
            result, sent = await self._call("undo")
            assert result.get("undone"), result
        assert "Ask for less" not in sent

    async def _call(self, change: str) -> tuple[dict[str, Any], str]:
        """Let the model call a tool; return what it got, and all that was sent."""
        tool, arguments = CALLS[change]
        turns = [Turn([tool_use(f"extended_assist__{tool}", arguments)]), Turn([text("So.")])]
        self.server.responder = Scenario(turns)
        async with self.instance.connect() as client:
            answer = await client.converse("Do it.", agent_id=self.agent, conversation_id=None)
            if not self._results():  # It asks; what was agreed to is done before the model is asked again.
                self.server.responder = Scenario([Turn([text("So.")])])
                await client.converse("Yes, please.", agent_id=self.agent, conversation_id=answer["conversation_id"])
        return (self._results() or [{}])[0], str(self.server.message_requests[-1]["messages"])

    def _results(self) -> list[dict[str, Any]]:
        """Return the results that the model was sent with the last request."""
        content = self.server.message_requests[-1]["messages"][-1]["content"]
        blocks = [block for block in content if isinstance(block, dict)]
        return [json.loads(block["content"]) for block in blocks if block["type"] == "tool_result"]

    async def _issues(self) -> list[dict[str, Any]]:
        """Return the notices about changes that were cut off."""
        async with self.instance.connect() as client:
            issues = (await client.call("repairs/list_issues"))["issues"]
        ours = [issue for issue in issues if str(issue["translation_key"]).startswith("change_")]
        return [issue for issue in ours if issue["issue_id"] not in self.read]

    async def _read(self, issue: dict[str, Any]) -> None:
        """Confirm a notice as a person does."""
        self.read.add(issue["issue_id"])
        async with self.instance.connect() as client:
            about = {"handler": "extended_assist", "issue_id": issue["issue_id"]}
            form = await client.post("/api/repairs/issues/fix", about)
            await client.post(f"/api/repairs/issues/fix/{form['flow_id']}", {})

    async def _start_again(self) -> None:
        """Wait for the end of the process, and start it."""
        until = time.monotonic() + DEATH_TIME
        while self.instance.pid is not None:
            assert time.monotonic() < until, "it did not end"
            await asyncio.sleep(0.1)
        await self.instance.stop()
        await self.instance.start()
        async with self.instance.connect() as client:
            await client.wait_until_loaded("extended_assist")

    async def _begin_anew(self) -> None:
        """Bring the home back to where every case begins."""
        await self.instance.stop()
        for name in ("automations.unfinished", "journal"):
            (self.folder / ".storage" / f"extended_assist.{name}").unlink(missing_ok=True)
        (self.folder / FAULT).unlink(missing_ok=True)
        (self.folder / "automations.yaml").write_text(BASE)
        await self.instance.start()
        async with self.instance.connect() as client:
            await client.wait_until_loaded("extended_assist")
            for entry in await client.call("config/entity_registry/list"):
                if entry["entity_id"] == "automation.three":
                    await client.call("config/entity_registry/remove", entity_id=entry["entity_id"])
            await client.expose(LAMP, *EXISTING)
        for issue in await self._issues():
            await self._read(issue)
        await self.instance.restart()


async def run_cases(
    folder: Path, environment: Environment, cases: list[tuple[str, str, str]]
) -> dict[tuple[str, str, str], str]:
    """Run cases in a home of their own; return what was wrong."""
    await asyncio.to_thread(prepare, folder)
    async with ClaudeServer(Scenario([])) as server:
        home = FaultyHome(folder, environment, server)
        async with home.instance:
            await home.set_up()
            for case in cases:
                await home.check(case)
    assert home.struck + len(home.failed) >= len(cases)
    return home.failed
