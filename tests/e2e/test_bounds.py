"""The collections of attacks on templates and sequences, tried over MCP on a running Home Assistant of every version."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from itertools import batched
import json
from pathlib import Path
import random
import re
import shutil
import tempfile
from typing import Any

import pytest

from tests.acting import traces
from tests.attacks import made, sequences
from tests.attacks.actions import HIDDEN_DEVICE, REGISTRY_ID
from tests.attacks.templates import REACH
from tests.seeds import seeds

from .client import Client
from .conftest import ENVIRONMENTS, complaints
from .instance import CACHE, CONFIGURATION, Environment, HomeAssistantInstance, install_integration, interpreter

HELPERS = """
input_boolean: {bed_light: {name: Bed light}, zebra: {name: Zebra lamp}, party: {name: Party}}
input_text: {note: {name: Note}}
mcp_server:
"""
SECRETS = ("zebra", "quokka", "narwhal", "axolotl", "31415", "serial1")
HIDDEN = "input_boolean.zebra"
EXPOSED = ("input_boolean.bed_light", "input_boolean.party", "input_text.note")
SAMPLE = 60
"""Sequences of those that are generated."""
SIDE_BY_SIDE = 10


@pytest.fixture(params=ENVIRONMENTS)
async def house(request: pytest.FixtureRequest) -> AsyncIterator[HomeAssistantInstance]:
    """A home of its own."""
    environment: Environment = request.param
    try:
        interpreter(environment)
    except FileNotFoundError as err:
        pytest.skip(str(err))
    (CACHE / "e2e").mkdir(parents=True, exist_ok=True)
    folder = Path(await asyncio.to_thread(tempfile.mkdtemp, dir=CACHE / "e2e", prefix="bounds-"))
    await asyncio.to_thread((folder / "configuration.yaml").write_text, f"{CONFIGURATION}{HELPERS}")
    await asyncio.to_thread(install_integration, folder)
    async with HomeAssistantInstance(environment, folder) as instance:
        yield instance
    await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


class Toolbox:
    """The tools of an entry, as another program has them."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._entry_id = ""
        self.ids: dict[str, str] = {}

    async def set_up(self) -> None:
        """Hide something of every kind, and let templates and sequences run without a question."""
        client = self._client
        await client.call("homeassistant/expose_new_entities/set", assistant="conversation", expose_new=False)
        await client.expose(HIDDEN, exposed=False)
        await client.expose(*EXPOSED)
        for found in {*re.findall(r"\b(?:sensor|light|person|device_tracker)\.zebra\w*", " ".join(REACH))}:
            attributes = {"friendly_name": "Zebra axolotl", "serial": "serial1", "unit_of_measurement": "narwhal"}
            await client.post(f"/api/states/{found}", {"state": "31415", "attributes": attributes}, expect=(200, 201))
        members = {"entity_id": ["input_boolean.bed_light", "sensor.zebra"], "friendly_name": "Lights"}
        await client.post("/api/states/group.lights", {"state": "on", "attributes": members}, expect=(200, 201))
        await client.expose("group.lights")
        area = await client.create_area("Quokka room")
        label = await client.call("config/label_registry/create", name="Narwhal label")
        floor = await client.call("config/floor_registry/create", name="Zebra floor")
        await client.call("config/entity_registry/update", entity_id=HIDDEN, area_id=area, labels=[label["label_id"]])
        entry = await client.call("config/entity_registry/get", entity_id=HIDDEN)
        self.ids = {"area": area, "label": label["label_id"], "floor": floor["floor_id"], "device": "f" * 32}
        self.ids["registry"] = entry["id"]
        tools = await client.config_flow("extended_assist", {"next_step_id": "tools"}, {"name": "Tools"})
        self._entry_id = tools["result"]["entry_id"]
        policy = {"who_may_read": "anyone", "who_may_control": "anyone", "who_may_administer": "admin"}
        policy |= {"ask_first": [], "allow_without_chat": True}
        form = {"families": ["templates", "scripts", "actions"], "result_budget": 20_000, "policy": policy}
        assert (await client.options_flow(self._entry_id, form))["type"] == "create_entry"
        await client.wait_until_loaded("extended_assist")
        assert (await client.config_flow("mcp_server", {}))["type"] == "create_entry"

    async def call(self, tool: str, **arguments: Any) -> str:
        """Return all that is read of a call."""
        params = {"name": f"extended_assist__{tool}", "arguments": arguments}
        request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        answer = await self._client.post(f"/api/mcp/extended_assist-{self._entry_id}", request)
        return str(answer["result"]["content"][0]["text"])

    def filled(self, attack: Any) -> Any:
        """Return an attack on what is hidden here: switches stand for the lights that it means."""
        text = json.dumps(attack)
        for mark, real in (
            (REGISTRY_ID, self.ids["registry"]),
            (HIDDEN_DEVICE, self.ids["device"]),
            *((f"%({key})s", value) for key, value in self.ids.items()),
            ("axolotl_room", self.ids["area"]),
            ("axolotl_label", self.ids["label"]),
        ):
            text = text.replace(mark, real)
        return json.loads(re.sub(r"\blight\.", "input_boolean.", text, flags=re.IGNORECASE))


async def test_nothing_hidden_is_reached(house: HomeAssistantInstance) -> None:
    """Neither read nor moved; Home Assistant's own templates tell most of it, so the attacks are good ones."""
    async with house.connect() as client:
        toolbox = Toolbox(client)
        await toolbox.set_up()
        reads = [*REACH]
        for key, value in toolbox.ids.items():
            reads = [template.replace(f"%({key})s", value) for template in reads]
        told = {one: await toolbox.call("render_template", template=one) for one in reads}
        assert {one: answer for one, answer in told.items() if _secrets(answer, one)} == {}
        full = [await _rendered(client, one) for one in reads]
        assert sum(bool(_secrets(answer, one)) for answer, one in zip(full, reads, strict=True)) > len(reads) / 4
        async for names, attacks, answers in _tried(client, toolbox, sequences.ALL):
            assert traces(json.dumps(answers), json.dumps(attacks)) == [], names
        (seed,) = seeds(1)
        async for _ in _tried(client, toolbox, random.Random(seed).sample([*made.sequences()], SAMPLE)):
            pass  # They say names in pieces, which an answer may repeat as a whole.
        assert complaints(house) == []


async def _tried(
    client: Client, toolbox: Toolbox, attacks: Sequence[tuple[Any, ...]]
) -> AsyncIterator[tuple[list[str], list[Any], list[str]]]:
    """Run sequences, several at a time, and see that nothing hidden has moved; yield their names, themselves, and the answers."""
    for batch in batched(attacks, SIDE_BY_SIDE, strict=False):
        names, filled = [str(name) for name, *_ in batch], [toolbox.filled(attack) for _, attack, *_ in batch]
        answers = await asyncio.gather(*(toolbox.call("execute_script", sequence=attack) for attack in filled))
        assert (await client.state(HIDDEN))["state"] == "off", names
        yield names, filled, answers


def _secrets(text: str, said: str) -> list[str]:
    return [secret for secret in SECRETS if secret in text.lower() and secret not in said.lower()]


async def _rendered(client: Client, template: str) -> str:
    """Return what Home Assistant's own environment makes of a template."""
    try:
        return str(await client.post("/api/template", {"template": template}))
    except Exception as err:  # noqa: BLE001 - whatever it says
        return str(err)
