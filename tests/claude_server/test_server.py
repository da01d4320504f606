"""The loopback server, seen from outside by the SDK at both versions that core pins; its files and its command line."""

import asyncio
from collections.abc import Callable
import json
from pathlib import Path
import signal
import sys
from typing import Any

from anthropic import AsyncAnthropic, InternalServerError
import pytest

from tests.claude_server import LABEL, ClaudeServer, Fault, Turn, load_scenario, text
from tests.claude_server.__main__ import parse, serve
from tests.claude_server.outside import CHECKS
from tests.e2e.programs import LONGEST, Program, lines_of

ROOT = Path(__file__).parents[2]
SCENARIOS = Path(__file__).parent / "scenarios"
# Seconds: importing the SDK takes two on an idle machine, and many times that on a loaded one.
START_TIMEOUT = 90
QUESTION = [{"role": "user", "content": "When did the front door last open?"}]
TOOLS = [{"name": "extended_assist__get_history", "input_schema": {"type": "object"}}]


def in_newest[T: Callable[..., Any]](test: T) -> T:
    """Mark a test that looks at the run in the newest environment: all in one process, so that there is one run."""
    return pytest.mark.timeout(LONGEST + 60)(pytest.mark.xdist_group("newest SDK")(test))


@pytest.fixture(scope="module")
def newest_output(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    """Give what speaks to the server prints in the newest environment, a JSON object a line."""
    runs = {
        module: Program("newest", f"tests.claude_server.{module}", tmp_path_factory.mktemp(module) / "run")
        for module in ("outside", "outside.core_agent", "outside.our_agent")
    }
    printed = zip(runs, lines_of(*runs.values()), strict=True)
    return {module: [json.loads(line) for line in lines] for module, lines in printed}


@pytest.mark.parametrize("name", CHECKS)
async def test_outside(name: str, socket_enabled: None) -> None:
    """The server keeps to what the SDK of this environment expects."""
    await CHECKS[name]()


@pytest.mark.parametrize("path", sorted(SCENARIOS.glob("*.yaml")), ids=lambda path: path.stem)
def test_scenarios_load(path: Path) -> None:
    """Every scenario in the folder says something."""
    scenario = load_scenario(path)
    assert scenario.name == f"scenario {path.name}"
    assert all(turn.content or turn.fault for turn in scenario.turns)


def test_scenario_in_full(tmp_path: Path) -> None:
    """Text alone is a text block; everything else is written as in Turn and Fault."""
    path = tmp_path / "one.yaml"
    path.write_text(
        "turns:\n- content: Hello\n- {stop_reason: refusal, delay: 0.5, chunk: 3, usage: {output_tokens: 1}}\n"
        "- fault: {kind: http, status: 529, headers: {retry-after: '1'}}\n"
    )
    assert load_scenario(path).turns == [
        Turn([text("Hello")]),
        Turn(stop_reason="refusal", delay=0.5, chunk=3, usage={"output_tokens": 1}),
        Turn(fault=Fault("http", status=529, headers={"retry-after": "1"})),
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("turns: 1", "a scenario is a mapping with a list of turns"),
        ("- content: x", "a scenario is a mapping with a list of turns"),
        ("{turns: [], title: x}", "unknown key title"),
        ("turns: [{contents: x}]", "turn 1: unknown key contents"),
        ("turns: [{content: x}, {content: [{text: x}]}]", "turn 2: A content block needs a type"),
        ("turns: [{content: [{type: tool_use}]}]", "turn 1: A tool_use block needs a name"),
        ("turns: [{fault: {kind: http, code: 1}}]", "turn 1: unknown key code"),
        ("turns: [{fault: {kind: explode}}]", "turn 1: unknown kind of fault explode"),
        ("turns: [{fault: {status: 500}}]", "turn 1: .*kind"),
        ("turns: [{content: x, chunk: 0}]", "turn 1: chunk must be at least 1"),
        ("turns: [x]", "turn 1: "),
    ],
)
def test_scenario_mistakes_are_named(tmp_path: Path, content: str, message: str) -> None:
    """A mistake in a scenario file names the file, the turn and the mistake."""
    path = tmp_path / "one.yaml"
    path.write_text(content)
    with pytest.raises(ValueError, match=f"one.yaml: .*{message}"):
        load_scenario(path)


async def test_a_failing_responder_is_told(socket_enabled: None, caplog: pytest.LogCaptureFixture) -> None:
    """A mistake in a test's own responder is an error in the log and HTTP 500, never a client that hangs."""

    class Broken:
        async def respond(self, request_body: dict[str, object]) -> Turn:
            raise KeyError("broken")

    async with ClaudeServer(Broken()) as server, AsyncAnthropic(base_url=server.url, api_key="test-key") as client:
        with pytest.raises(InternalServerError, match="its log says why"):
            await client.messages.create(model="claude-haiku-5-5", max_tokens=5, messages=QUESTION)
        assert len(server.requests) == 1
    assert "KeyError: 'broken'" in caplog.text


async def test_scenario_from_the_command_line(
    socket_enabled: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command line answers from a scenario file, with a key of one's own, and records every request."""
    record = tmp_path / "requests.jsonl"
    words = ["--scenario", str(SCENARIOS / "front_door.yaml"), "--record", str(record), "--api-key", "other"]
    ended = asyncio.Event()
    serving = asyncio.create_task(serve(parse(words), ended))
    await asyncio.sleep(0.1)
    url = capsys.readouterr().out.removeprefix("listening on ").strip()
    async with AsyncAnthropic(base_url=url, api_key="other") as client:
        answer = await client.messages.create(model="claude-haiku-5-5", max_tokens=500, messages=QUESTION, tools=TOOLS)
    assert [block.type for block in answer.content] == ["thinking", "text", "tool_use"]
    ended.set()
    await serving
    (line,) = record.read_text().splitlines()
    recorded = json.loads(line)
    assert recorded["path"] == "/v1/messages"
    assert recorded["body"]["messages"] == QUESTION


async def test_planner_as_a_process(socket_enabled: None) -> None:
    """A process of its own says where it listens, shows the planner's label, and ends quietly at a signal."""
    command = [sys.executable, "-m", "tests.claude_server", "--planner"]
    server = await asyncio.create_subprocess_exec(*command, cwd=ROOT, stdout=asyncio.subprocess.PIPE)
    try:
        assert server.stdout is not None
        line = (await asyncio.wait_for(server.stdout.readline(), START_TIMEOUT)).decode()
        assert line.startswith("listening on http://127.0.0.1:")
        async with AsyncAnthropic(base_url=line.removeprefix("listening on ").strip(), api_key="test-key") as client:
            models = [model async for model in await client.models.list()]
            # Labelled wherever it shows: in the list of models, and in what it says of itself.
            assert {model.display_name for model in models} == {LABEL}
            question = [{"role": "user", "content": "Who are you?"}]
            answer = await client.messages.create(model=models[0].id, max_tokens=500, messages=question)
            assert LABEL in answer.content[0].text
        server.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(server.wait(), START_TIMEOUT) == 0
    finally:
        if server.returncode is None:
            server.kill()
            await server.wait()


@in_newest
@pytest.mark.parametrize("name", CHECKS)
def test_outside_on_newest_sdk(name: str, newest_output: dict[str, list[dict[str, Any]]]) -> None:
    """The server keeps to what the SDK of the newest Home Assistant expects."""
    (report,) = (report for report in newest_output["outside"] if report["name"] == name)
    assert report["failure"] is None, report["failure"]
    assert report["sdk"].startswith("2.")


@in_newest
def test_our_agent_on_newest(newest_output: dict[str, list[dict[str, Any]]]) -> None:
    """Our own agent, with the newest Home Assistant and SDK, survives each fault at each point of a stream."""
    reports = newest_output["outside.our_agent"]
    assert [report for report in reports if report["failure"] is not None] == []
    assert {"stream stall", "stream disconnect", "tools", "task", "web"} < {report["name"] for report in reports}
    assert all(report["sdk"].startswith("2.") for report in reports)


@in_newest
def test_newest_core_agent(newest_output: dict[str, list[dict[str, Any]]]) -> None:
    """Core's own integration of the newest release sets itself up and answers with a tool call."""
    (report,) = newest_output["outside.core_agent"]
    assert report["version"].startswith("2026.11.")
    assert report["answer"] == "The lamp is off."
    requests = report["requests"]
    assert all(request["type_checked"] for request in requests)
    assert {"lifecycle[]": ["active"]} in [request["query"] for request in requests if request["path"] == "/v1/models"]
    first, second = (request["body"] for request in requests if request["path"] == "/v1/messages")
    assert first["model"] == "claude-haiku-5-5"
    (result,) = second["messages"][-1]["content"]
    assert result["type"] == "tool_result"
    assert "Lamp" in result["content"]
