"""Version 1.0.0, run for real: what it writes is what every later version reads.

`python -m tests.e2e.first_release` runs it once more and writes tests/fixtures/first_release, from which a clone without
history is tested.
"""

import asyncio
from dataclasses import dataclass
import io
import json
from pathlib import Path
import shutil
import subprocess
import tarfile
import tempfile
from typing import Any

from tests.claude_server import ClaudeServer, Scenario, Turn, text, tool_use

from .client import Client
from .instance import CACHE, CHECKOUT, CONFIGURATION, Environment, HomeAssistantInstance

COMMIT = "f22208b6841e7a2051c37fb2a3fe3d9f69a219d8"
"""The last commit of this repository with what 1.0.0 stores."""
FROZEN = CHECKOUT / "tests" / "fixtures" / "first_release"
PACKAGE = "custom_components/extended_assist"
PARTY, LATER, AUTOMATION = "input_boolean.party", "input_boolean.later", "automation.party_light"
AGENT_NAME = "Butler"
DELAY = 30
"""Seconds after which what 1.0.0 was asked to do later is due: Home Assistant is stopped by then."""
KEY = "test-key"
RELOAD = 2
"""Seconds in which the entry, which loads anew with each change, ends the dialogs that are open."""

_HELPERS = "input_boolean:\n  later:\n    name: Later\n  party:\n    name: Party\n"
_OPTIONS = {
    "families": ["entities", "history", "actions", "scripts", "automations"],
    "result_budget": 6000,
    "targetless_actions": ["persistent_notification.create"],
    "policy": {
        "who_may_read": "anyone",
        "who_may_control": "user",
        "who_may_administer": "admin",
        "ask_first": ["execute_script"],
        "allow_without_chat": True,
    },
    "web": {"web_hosts": ["nas.local:8080"], "web_ports": ["8443"]},
    "functions": {"database_files": ["notes.db"]},
}
_FUNCTION = """# As it was written.
spec:
  name: shout
  parameters: {type: object, properties: {word: {type: string}}, required: [word]}
function:
  type: template
  value_template: "{{ word | upper }}!"
"""
_AGENT = (
    {"model": "claude-haiku-5-5", "prompt": "You are a butler.", "fallback_agent": "conversation.home_assistant"},
    {"max_tokens": 2_000, "max_tool_rounds": 5, "thinking": "adaptive", "effort": "low", "monthly_tokens": 2_000_000},
)
_WRITTEN = {
    "alias": "Party light",
    "triggers": [{"trigger": "state", "entity_id": PARTY, "to": "on"}],
    "actions": [{"action": "input_boolean.turn_on", "target": {"entity_id": LATER}}],
}
_STORES = ("extended_assist.journal", "extended_assist.schedule", "extended_assist.usage")
_HOME = (
    *("auth", "auth_provider.homeassistant", "onboarding", "core.config_entries", "core.entity_registry"),
    *("core.device_registry", "homeassistant.exposed_entities"),
)


@dataclass(frozen=True)
class Kept:
    """What is stored of the integration."""

    entry: dict[str, Any]
    entities: dict[str, str]
    """Entity ids by unique id."""
    stores: dict[str, Any]

    @classmethod
    def of(cls, config_dir: Path) -> Kept:
        """Read a home that is stopped."""
        storage = config_dir / ".storage"

        def data(key: str) -> Any:
            return json.loads((storage / key).read_text(encoding="utf-8"))["data"]

        (entry,) = [each for each in data("core.config_entries")["entries"] if each["domain"] == "extended_assist"]
        entities = {
            each["unique_id"]: each["entity_id"]
            for each in data("core.entity_registry")["entities"]
            if each["platform"] == "extended_assist"
        }
        return cls(entry, entities, {key: data(key) for key in _STORES if (storage / key).exists()})


def _git(*arguments: str) -> bytes | None:
    """Return what git answers; None where it cannot, or is not there."""
    if (git := shutil.which("git")) is None:
        return None
    done = subprocess.run([git, *arguments], cwd=CHECKOUT, capture_output=True, check=False)
    return done.stdout if done.returncode == 0 else None


def has_history(commit: str = COMMIT) -> bool:
    """Return whether the clone holds the commit of a release."""
    return _git("cat-file", "-e", f"{commit}^{{commit}}") is not None


def prepare(config_dir: Path, commit: str = COMMIT) -> None:
    """Write a configuration with a release, the first one by default, installed in it."""
    archive = _git("archive", commit, PACKAGE)
    assert archive is not None, "this clone has no history"
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(config_dir, filter="data")
    (config_dir / "configuration.yaml").write_text(CONFIGURATION + _HELPERS)


async def say(client: Client, server: ClaudeServer, agent: str, tool: str = "", **arguments: Any) -> dict[str, Any]:
    """Say something to the agent, whose model calls a tool if it is given; agree if asked; return what the tool answered."""
    turns = [Turn([tool_use(f"extended_assist__{tool}", arguments)])] if tool else []
    server.responder = Scenario([*turns, Turn([text("So.")])])
    answer = await client.converse("Do it.", agent_id=agent)
    assert answer["response"]["response_type"] != "error", answer
    if str(answer["response"]["speech"]["plain"]["speech"]).endswith("?"):
        server.responder = Scenario([Turn([text("So.")])])
        await client.converse("Yes.", agent_id=agent, conversation_id=answer["conversation_id"])
    blocks = server.message_requests[-1]["messages"][-1]["content"]
    results = [json.loads(block["content"]) for block in blocks if block["type"] == "tool_result"] if tool else [{}]
    return dict(results[0])


async def fill(client: Client, server: ClaudeServer) -> None:
    """Leave something in all that is stored."""
    result = await client.config_flow(
        "extended_assist", {"next_step_id": "claude"}, {"api_key": KEY, "base_url": server.url}
    )
    entry_id = result["result"]["entry_id"]
    await asyncio.sleep(RELOAD)
    form = {"function": _FUNCTION, "tier": "control", "enabled": True, "then": "save"}
    result = await client.subentry_flow(entry_id, "function", {"next_step_id": "edit"}, form)
    assert result["type"] == "create_entry", result
    await asyncio.sleep(RELOAD)
    result = await client.options_flow(entry_id, _OPTIONS)
    assert result["type"] == "create_entry", result
    await asyncio.sleep(RELOAD)
    (agent,) = [each for each in await client.subentries(entry_id) if each["subentry_type"] == "conversation"]
    first, second = _AGENT
    result = await client.subentry_flow(
        entry_id,
        "conversation",
        first | {"llm_hass_api": [f"extended_assist-{entry_id}"]},
        second,
        subentry_id=agent["subentry_id"],
    )
    assert result["reason"] == "reconfigure_successful", result
    await asyncio.sleep(RELOAD)
    entity_id = await client.find_entity("conversation", "extended_assist")
    await client.update_entity(entity_id, name=AGENT_NAME)
    await client.expose(PARTY, LATER)
    turn_on = "input_boolean.turn_on"
    added = await say(client, server, entity_id, "add_automation", automation=_WRITTEN | {"actions": []})
    assert "error" not in added, added
    done = await say(client, server, entity_id, "perform_action", action=turn_on, target={"entity_id": PARTY})
    assert "error" not in done, done
    later = {"action": turn_on, "target": {"entity_id": LATER}, "delay": DELAY}
    scheduled = await say(client, server, entity_id, "perform_action", **later)
    assert "error" not in scheduled, scheduled


async def make(config_dir: Path, environment: Environment, server: ClaudeServer) -> None:
    """Run the first release in a new home, fill it, and stop."""
    await asyncio.to_thread(prepare, config_dir)
    async with HomeAssistantInstance(environment, config_dir, is_copy=True) as home, home.connect() as client:
        await fill(client, server)


def freeze(config_dir: Path, server: str) -> None:
    """Keep what a stopped home stores, without tokens, as fixtures."""
    FROZEN.mkdir(parents=True, exist_ok=True)
    for key in (*_HOME, *_STORES):
        stored = json.loads((config_dir / ".storage" / key).read_text(encoding="utf-8"))
        if key == "auth":
            stored["data"]["refresh_tokens"] = []
        text = json.dumps(stored, indent=1, ensure_ascii=False).replace(server, "SERVER")
        (FROZEN / f"{key}.json").write_text(f"{text}\n", encoding="utf-8")
    (FROZEN / "automations.yaml").write_text((config_dir / "automations.yaml").read_text(encoding="utf-8"))


def thaw(config_dir: Path, server: str, due: float) -> None:
    """Make the home of the fixtures, whose model is at another address and whose delayed action is due at another time."""
    storage = config_dir / ".storage"
    storage.mkdir()
    for file in FROZEN.glob("*.json"):
        stored = json.loads(file.read_text(encoding="utf-8").replace("SERVER", server))
        if file.stem == "extended_assist.schedule":
            for item in stored["data"]["waiting"]:
                item["due"] = due
        (storage / file.stem).write_text(json.dumps(stored), encoding="utf-8")
    (config_dir / "automations.yaml").write_text((FROZEN / "automations.yaml").read_text(encoding="utf-8"))
    # States that are restored are forgotten after a week: what was on when it stopped is told here.
    (config_dir / "configuration.yaml").write_text(f"{CONFIGURATION}{_HELPERS}    initial: true\n")


async def main() -> None:
    """Write the fixtures anew, in the oldest Home Assistant served."""
    folder = Path(await asyncio.to_thread(tempfile.mkdtemp, dir=CACHE, prefix="first-release-"))
    async with ClaudeServer(Scenario([]), api_key=KEY) as server:
        await make(folder, "test", server)
        await asyncio.to_thread(freeze, folder, server.url)


if __name__ == "__main__":
    asyncio.run(main())
