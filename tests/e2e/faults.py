"""Changes of automations, scripts and scenes that are cut off in a real Home Assistant, at any step, and what there is then."""

import asyncio
from dataclasses import dataclass, field
import json
from pathlib import Path
import time
from typing import Any

import aiohttp

from tests.automations.faulty import FAULT, set_fault
from tests.claude_server import ClaudeServer, Scenario, Turn, text, tool_use

from .changes import EXISTING, KINDS, LAMP, Case, Kind
from .client import CommandError, RequestError
from .instance import CHECKOUT, CONFIGURATION, Environment, HomeAssistantInstance, install_integration

DEATH_TIME = 60.0  # seconds
TOLD = "was cut off and "
UNKNOWN = "whether it took effect is unknown"
CUT_OFF = (aiohttp.ClientError, TimeoutError, ConnectionError, RequestError, CommandError, asyncio.CancelledError)


def prepare(folder: Path) -> None:
    """Write a small home."""
    lines = CONFIGURATION.splitlines(keepends=True)
    without = ("frontend", "recorder", "  commit", "history", "logbook", "energy", "assist_pipeline")
    kept = "".join(line for line in lines if not line.startswith(without))
    more = "scene: !include scenes.yaml\ninput_boolean: {lamp: {name: Lamp}}\n"
    (folder / "configuration.yaml").write_text(kept + more)
    write_files(folder)
    install_integration(folder)


def write_files(folder: Path) -> None:
    """Write the automations, scripts and scenes that every case begins with."""
    for kind in KINDS.values():
        (folder / kind.file).write_text(kind.text)


@dataclass
class FaultyHome:
    """A home that is made to fail."""

    folder: Path
    environment: Environment
    server: ClaudeServer
    agent: str = ""
    failed: dict[Case, str] = field(default_factory=dict)
    struck: int = 0
    read: set[str] = field(default_factory=set)
    """The notices that were confirmed: one that Home Assistant had not stored comes again after it was killed."""

    def __post_init__(self) -> None:
        extra = {"PYTHONPATH": str(CHECKOUT)}
        self.instance = HomeAssistantInstance(
            self.environment, self.folder, extra_environment=extra, module="tests.automations.faulty", is_copy=True
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

    async def check(self, case: Case) -> None:
        """Cut a change off and look what became of it; keep what is wrong."""
        try:
            await self._check(*case)
        except AssertionError as err:
            self.failed[case] = str(err)
            await self._begin_anew()

    async def _check(self, step: str, how: str, change: str) -> None:
        what, _, domain = change.partition(" ")
        kind = KINDS[domain]
        file, struck = self.folder / kind.file, self.folder / Path(FAULT).with_suffix(".struck")
        before = kind.text
        if what == "undo":
            result, _ = await self._call(kind, "add")
            assert "added" in result, result
            before = file.read_text()
        struck.unlink(missing_ok=True)
        set_fault(self.folder, step, how)
        try:
            result, _ = await self._call(kind, what)
        except CUT_OFF:
            result = {}
        assert struck.exists(), f"the step was not reached: {result}"
        self.struck += 1
        if how in {"kill", "stop"}:
            await self._wait_for_the_end()
            self._check_files(kind, what, before)
            await self._start_again()
        else:
            await asyncio.sleep(0.5)  # What was cancelled is brought to an end by a task of its own.
        self._check_files(kind, what, before)
        is_there = file.read_text() != before
        assert is_there or not result or "error" in result, f"it is said to be done: {result}"
        # Whoever was not answered is told by a notice, unless nothing had been begun.
        is_begun = is_there or step in {"intent stored", "file to be replaced"}
        # A change may come to its end before Home Assistant begins to stop; its result is on its way to the model then.
        is_unheard = how == "kill" or (how == "stop" and UNKNOWN in result.get("error", ""))
        is_told = is_unheard and is_begun and step != "ended"
        if is_told:
            expected = "change_completed" if is_there else "change_not_made"
            until = time.monotonic() + DEATH_TIME
            while not (issues := await self._issues()):
                assert time.monotonic() < until, "there is no notice"
                await asyncio.sleep(0.2)
            assert [issue["translation_key"] for issue in issues] == [expected], issues
        until = time.monotonic() + DEATH_TIME
        while True:  # What had been done is done again a moment after the start.
            try:
                await self._look(kind, what, is_there=is_there)
                break
            except AssertionError:
                if time.monotonic() > until:
                    raise
            await asyncio.sleep(0.2)
        assert is_there is (file.read_text() != before), "it changed while nobody did anything"
        await self._undo(kind, what, is_there=is_there, is_told=is_told)
        assert file.read_text() == kind.text, file.read_text()
        for issue in await self._issues():
            await self._read(issue)

    def _check_files(self, kind: Kind, what: str, before: str) -> None:
        """See that every file is whole: the changed one is the one before, or the one after; the others are as they were."""
        text = (self.folder / kind.file).read_text()
        assert kind.is_whole(what, before, text), text
        for other in KINDS.values():
            assert other is kind or (self.folder / other.file).read_text() == other.text, f"{other.file} was changed"

    async def _look(self, kind: Kind, what: str, *, is_there: bool) -> None:
        """See that Home Assistant runs what the files say, and that it is exposed."""
        async with self.instance.connect() as client:
            states = await client.states()
            exposed = (await client.call("homeassistant/expose_entity/list"))["exposed_entities"]
            registered = {entry["entity_id"] for entry in await client.call("config/entity_registry/list")}
        wanted = dict.fromkeys(EXISTING, True) | {other.new: False for other in KINDS.values()}
        if what in {"add", "undo"}:
            wanted[kind.new] = (what == "undo") is not is_there
        if what == "remove" and is_there:
            wanted[kind.existing[0]] = False
        for entity_id, there in wanted.items():
            state = states.get(entity_id, {"state": None})["state"]
            loaded = KINDS[entity_id.partition(".")[0]].loaded
            assert state == (loaded if there else None), f"{entity_id} is {state}"
            assert (entity_id in registered) is there, f"{entity_id}: registered {not there}"
            assert bool(exposed.get(entity_id, {}).get("conversation")) is there, f"{entity_id}: exposed {not there}"
        if what == "update":
            name = states[kind.existing[0]]["attributes"]["friendly_name"]
            assert name == ("Another" if is_there else "One"), name

    async def _undo(self, kind: Kind, what: str, *, is_there: bool, is_told: bool) -> None:
        """Take the change back, if it is there, and see that it is known to be the last one, and told of."""
        result, sent = await self._call(kind, "undo")
        if (what == "undo") is is_there:
            assert "error" in result, f"there was something to undo: {result}"
        else:
            assert result.get("undone"), result
        assert "Ask for less" not in sent
        assert not is_told or TOLD in sent, f"the model is not told: {sent}"

    async def _call(self, kind: Kind, what: str) -> tuple[dict[str, Any], str]:
        """Let the model make a change; return what it got, and all that was sent."""
        tool, arguments = kind.call(what)
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

    async def _wait_for_the_end(self) -> None:
        """Wait for the end of the process."""
        until = time.monotonic() + DEATH_TIME
        while self.instance.pid is not None:
            assert time.monotonic() < until, "it did not end"
            await asyncio.sleep(0.1)

    async def _start_again(self) -> None:
        """Start the process that has ended."""
        await self.instance.stop()
        await self.instance.start()
        async with self.instance.connect() as client:
            await client.wait_until_loaded("extended_assist")

    async def _begin_anew(self) -> None:
        """Bring the home back to where every case begins."""
        await self.instance.stop()
        for name in (*(f"{kind.domain}s.unfinished" for kind in KINDS.values()), "journal"):
            (self.folder / ".storage" / f"extended_assist.{name}").unlink(missing_ok=True)
        (self.folder / FAULT).unlink(missing_ok=True)
        write_files(self.folder)
        await self.instance.start()
        async with self.instance.connect() as client:
            await client.wait_until_loaded("extended_assist")
            for entry in await client.call("config/entity_registry/list"):
                if entry["entity_id"] in {kind.new for kind in KINDS.values()}:
                    await client.call("config/entity_registry/remove", entity_id=entry["entity_id"])
            await client.expose(LAMP, *EXISTING)
        for issue in await self._issues():
            await self._read(issue)
        await self.instance.restart()


async def run_cases(folder: Path, environment: Environment, cases: list[Case]) -> dict[Case, str]:
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
