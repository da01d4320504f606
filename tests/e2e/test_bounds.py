"""The collections of attacks on templates, sequences, functions and the web, on a running Home Assistant of every version."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import batched
import json
from pathlib import Path
import random
import re
import shutil
import tempfile
from typing import Any, NamedTuple

from aiohttp import web
from aiohttp.test_utils import TestServer
import pytest

from custom_components.extended_assist.web.conversation import MAX_REQUESTS
from tests.attacks import made, sequences
from tests.attacks.actions import HIDDEN_DEVICE, REGISTRY_ID
from tests.attacks.addresses import LITERALS
from tests.attacks.templates import REACH
from tests.functions.test_injection import PAYLOAD_TEXTS, PAYLOADS, QUERIES, SQL, TEMPLATES, WAYS_UP
from tests.helpers.acting import traces
from tests.helpers.seeds import seeds

from .client import Client, RequestError
from .conftest import VERSIONS, allow_loopback, complaints
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
"""Sequences of those that are generated, and, on the oldest version, of those that are written: `tests/tools/test_scripts.py`
runs all of them there. `script/soak` takes others."""
SIDE_BY_SIDE = 10


@pytest.fixture(scope="module", params=VERSIONS, ids=VERSIONS.values())
def house(request: pytest.FixtureRequest) -> Iterator[tuple[HomeAssistantInstance, Setting]]:
    """A home of its own, and the toolbox in it."""
    environment: Environment = request.param
    try:
        interpreter(environment)
    except FileNotFoundError as err:
        pytest.skip(str(err))
    (CACHE / "e2e").mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=CACHE / "e2e", prefix="bounds-"))
    (folder / "configuration.yaml").write_text(f"{CONFIGURATION}{HELPERS}")
    install_integration(folder)
    allow_loopback()
    instance = HomeAssistantInstance(environment, folder, is_copy=True)
    try:
        yield instance, asyncio.run(_started(instance))
        # Over its interface, Home Assistant logs each action that fails.
        assert [line for line in complaints(instance) if "Error during service call" not in line] == []
    finally:
        asyncio.run(instance.stop())
        shutil.rmtree(folder, ignore_errors=True)


async def _started(instance: HomeAssistantInstance) -> Setting:
    """Start a home and set the toolbox up."""
    await instance.start()
    async with instance.connect() as client:
        return await set_up(client)


@pytest.fixture
async def toolbox(house: tuple[HomeAssistantInstance, Setting]) -> AsyncIterator[Toolbox]:
    """The tools of the home."""
    instance, setting = house
    async with instance.connect() as client:
        yield Toolbox(client, setting)


class Setting(NamedTuple):
    """The entry of the toolbox, and the ids of what is hidden by its kind."""

    entry_id: str
    ids: dict[str, str]


async def set_up(client: Client) -> Setting:
    """Hide something of every kind, and let templates and sequences run without a question."""
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
    ids = {"area": area, "label": label["label_id"], "floor": floor["floor_id"], "device": "f" * 32}
    tools = await client.config_flow("extended_assist", {"next_step_id": "tools"}, {"name": "Tools"})
    entry_id = tools["result"]["entry_id"]
    policy = {"who_may_read": "anyone", "who_may_control": "anyone", "who_may_administer": "admin"}
    policy |= {"ask_first": [], "allow_without_chat": True}
    form = {"families": ["templates", "scripts", "actions", "web"], "result_budget": 20_000, "policy": policy}
    assert (await client.options_flow(entry_id, form))["type"] == "create_entry"
    await client.wait_until_loaded("extended_assist")
    assert (await client.config_flow("mcp_server", {}))["type"] == "create_entry"
    return Setting(entry_id, ids | {"registry": entry["id"]})


class Toolbox:
    """The tools of an entry, as another program has them."""

    def __init__(self, client: Client, setting: Setting) -> None:
        self.client = client
        self.ids = setting.ids
        self.entry_id = setting.entry_id

    async def call(self, tool: str, **arguments: Any) -> str:
        """Return all that is read of a call."""
        params = {"name": f"extended_assist__{tool}", "arguments": arguments}
        request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        answer = await self.client.post(f"/api/mcp/extended_assist-{self.entry_id}", request)
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


async def test_nothing_hidden_is_reached(house: tuple[HomeAssistantInstance, Setting], toolbox: Toolbox) -> None:
    """Neither read nor moved; Home Assistant's own templates tell most of it, so the attacks are good ones."""
    reads = [*REACH]
    for key, value in toolbox.ids.items():
        reads = [template.replace(f"%({key})s", value) for template in reads]
    told = {one: await toolbox.call("render_template", template=one) for one in reads}
    assert {one: answer for one, answer in told.items() if _secrets(answer, one)} == {}
    full = [await _rendered(toolbox.client, one) for one in reads]
    assert sum(bool(_secrets(answer, one)) for answer, one in zip(full, reads, strict=True)) > len(reads) / 4
    (seed,) = seeds(1)
    sampled = random.Random(seed)
    newest = house[0].environment == "newest"
    written = sequences.ALL if newest else sampled.sample(sequences.ALL, SAMPLE)
    async for names, attacks, answers in _tried(toolbox, written):
        assert traces(json.dumps(answers), json.dumps(attacks)) == [], names
    async for _ in _tried(toolbox, sampled.sample([*made.sequences()], SAMPLE)):
        pass  # They say names in pieces, which an answer may repeat as a whole.


async def _tried(
    toolbox: Toolbox, attacks: Sequence[tuple[Any, ...]]
) -> AsyncIterator[tuple[list[str], list[Any], list[str]]]:
    """Run sequences, several at a time, and see that nothing hidden has moved; yield their names, themselves, and the answers."""
    for batch in batched(attacks, SIDE_BY_SIDE, strict=False):
        names, filled = [str(name) for name, *_ in batch], [toolbox.filled(attack) for _, attack, *_ in batch]
        answers = await asyncio.gather(*(toolbox.call("execute_script", sequence=attack) for attack in filled))
        assert (await toolbox.client.state(HIDDEN))["state"] == "off", names
        yield names, filled, answers


@dataclass
class Site:
    """A server of the house that remembers what it was asked."""

    url: str
    requests: list[tuple[str, str]] = field(default_factory=list)
    """Path, and body."""


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    """A running server."""
    here = Site("")

    async def answer(request: web.Request) -> web.Response:
        here.requests.append((request.raw_path, await request.text()))
        return web.json_response({})

    application = web.Application()
    application.router.add_route("*", "/{path:.*}", answer)
    async with TestServer(application, host="127.0.0.1") as server:
        here.url = f"http://127.0.0.1:{server.port}"
        yield here


def functions(url: str) -> dict[str, dict[str, Any]]:
    """Return functions of x by name."""
    echo = {"type": "template", "value_template": "{{ x }}", "response_variable": "y"}
    again = {"type": "script", "variables": {"z": "{{ y }}"}, "response_variable": "w"}
    again["sequence"] = [{"variables": {"_function_result": "<{{ z }}>"}}]
    last = {"type": "template", "value_template": "[{{ w }}]"}
    turn_on = {"action": "input_boolean.turn_on", "target": {"entity_id": "{{ x }}"}}
    post = {"type": "rest", "method": "post", "resource": f"{url}/"}
    return {
        "echo": {"type": "composite", "sequence": [echo, again, last]},
        "switch": {"type": "script", "sequence": [turn_on]},
        "up": {"type": "rest", "resource_template": f"{url}/api/{{{{ x }}}}/secret"},
        "host": {"type": "rest", "resource_template": "{{ x }}"},
        "scraped": {"type": "scrape", "resource_template": "http://{{ x }}/", "sensor": [{"select": "p"}]},
        "header": {"type": "rest", "resource": f"{url}/", "headers": {"X-Name": "n {{ x }}"}},
        **{f"query_{name}": {"type": "sqlite", "query": query} for name, query in QUERIES.items()},
        **{f"body_{at}": post | {"payload_template": template} for at, template in enumerate(PAYLOADS)},
    }


async def test_functions_hold_what_they_are_given(toolbox: Toolbox, site: Site) -> None:
    """What a model gives is a value in templates, queries, addresses, headers and bodies, and names nothing hidden."""
    client = toolbox.client
    listed = [
        {"spec": {"name": name, "parameters": {"properties": {"x": {}}}}, "function": settings}
        for name, settings in functions(site.url).items()
    ]
    imported = await client.subentry_flow(
        toolbox.entry_id, "function", {"next_step_id": "import_list"}, {"functions": json.dumps(listed)}
    )
    assert imported["reason"] == "imported", imported

    async def called(name: str, x: Any) -> Any:
        data = {"function": name, "arguments": {"x": x}}
        try:
            return (await client.perform_action("extended_assist.call_function", data, response=True))["result"]
        except RequestError as err:
            return err

    for words in TEMPLATES:
        assert await called("echo", words) == f"[<{words}>]"
    registry_id = toolbox.ids["registry"]
    for named in (
        HIDDEN,
        HIDDEN.upper(),
        f" {HIDDEN} ",
        f"{EXPOSED[0]},{HIDDEN}",
        [HIDDEN],
        {HIDDEN: 1},
        registry_id,
        "all",
    ):
        await called("switch", named)
        assert (await client.state(HIDDEN))["state"] == "off", named
    assert await called("switch", EXPOSED[0]) == "Success"
    assert (await client.state(EXPOSED[0]))["state"] == "on"
    for name in QUERIES:
        for words in SQL:
            found = await called(f"query_{name}", words)
            assert found == [] or isinstance(found, RequestError), (name, words)
    honest = ["http://localhost/", site.url, f"http://a@127.0.0.1:{site.url.rpartition(':')[2]}/", *LITERALS]
    for name, given in (
        ("up", WAYS_UP),
        ("host", honest),
        ("scraped", [one.removeprefix("http://") for one in honest]),
    ):
        for words in given:
            assert isinstance(await called(name, words), RequestError), (name, words)
    for words in ("a\r\nX-Admin: 1", "a\nb", "a\0b"):
        assert isinstance(await called("header", words), RequestError), words
    assert site.requests == []
    for at, holds in enumerate(PAYLOADS.values()):
        for words in PAYLOAD_TEXTS:
            await called(f"body_{at}", words)
            assert holds(site.requests[-1][1], words), words
    assert len(site.requests) == len(PAYLOADS) * len(PAYLOAD_TEXTS)


async def test_the_house_is_no_web(toolbox: Toolbox, site: Site) -> None:
    """No spelling of an address in the house is fetched, nor what is no address of the web."""
    (seed,) = seeds(1)
    for url in (site.url, *random.Random(seed).sample(LITERALS, MAX_REQUESTS - 1)):
        answer = await toolbox.call("fetch_url", url=url)
        assert "error" in answer, url
        assert "minutes" not in answer, url  # It is refused for what it is, and not as one too many.
    assert site.requests == []


def _secrets(text: str, said: str) -> list[str]:
    return [secret for secret in SECRETS if secret in text.lower() and secret not in said.lower()]


async def _rendered(client: Client, template: str) -> str:
    """Return what Home Assistant's own environment makes of a template."""
    try:
        return str(await client.post("/api/template", {"template": template}))
    except Exception as err:  # noqa: BLE001 - whatever it says
        return str(err)
