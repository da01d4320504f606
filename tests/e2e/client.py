"""A client of Home Assistant's REST and WebSocket APIs."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
import time
from typing import Any, Self

import aiohttp

REQUEST_TIMEOUT = aiohttp.ClientTimeout(total=60)
COMMAND_TIMEOUT = 60.0  # seconds, for the answer to one WebSocket command
EVENT_TIMEOUT = 60.0  # seconds, from one event of a subscription to the next

# What a pipeline needs beyond text; all of it must be named.
NO_SPEECH = (
    "stt_engine",
    "stt_language",
    "tts_engine",
    "tts_language",
    "tts_voice",
    "wake_word_entity",
    "wake_word_id",
)

type Json = Any


class RequestError(Exception):
    """An HTTP request was answered with an unexpected status."""

    def __init__(self, method: str, path: str, status: int, body: str) -> None:
        super().__init__(f"{method} {path}: HTTP {status}: {body[:1000]}")
        self.status = status
        self.body = body


class CommandError(Exception):
    """A WebSocket command was refused."""

    def __init__(self, command: str, error: dict[str, Any]) -> None:
        super().__init__(f"{command}: {error.get('code')}: {error.get('message')}")
        self.code = error.get("code")
        self.message = error.get("message")


class ConnectionLostError(Exception):
    """The WebSocket connection ended while something was expected from it."""


class Client:
    """REST and WebSocket on one session, used as `async with`; bound to the running event loop."""

    def __init__(self, url: str, access_token: str) -> None:
        self.url = url
        self._access_token = access_token
        self._session: aiohttp.ClientSession | None = None
        self._socket: aiohttp.ClientWebSocketResponse | None = None
        self._reader: asyncio.Task[None] | None = None
        self._connecting = asyncio.Lock()
        self._last_id = 0
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._events: dict[int, asyncio.Queue[Json]] = {}

    async def __aenter__(self) -> Self:
        headers = {"Authorization": f"Bearer {self._access_token}", "Accept": "application/json"}
        self._session = aiohttp.ClientSession(self.url, headers=headers, timeout=REQUEST_TIMEOUT)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._socket is not None:
            await self._socket.close()
        if self._reader is not None:
            await self._reader
        if self._session is not None:
            await self._session.close()

    # REST

    async def request(self, method: str, path: str, data: Json = None, *, expect: int | Iterable[int] = 200) -> Json:
        """Send JSON, return the answer decoded; raises RequestError on any status but the expected."""
        assert self._session is not None
        expected = (expect,) if isinstance(expect, int) else tuple(expect)
        async with self._session.request(method, path, json=data) as response:
            if response.status not in expected:
                raise RequestError(method, path, response.status, await response.text())
            if response.content_type == "application/json":
                return await response.json()
            return await response.text()

    async def get(self, path: str, *, expect: int | Iterable[int] = 200) -> Json:
        return await self.request("GET", path, expect=expect)

    async def post(self, path: str, data: Json = None, *, expect: int | Iterable[int] = 200) -> Json:
        return await self.request("POST", path, {} if data is None else data, expect=expect)

    async def delete(self, path: str, *, expect: int | Iterable[int] = 200) -> Json:
        return await self.request("DELETE", path, expect=expect)

    # WebSocket

    async def call(self, command: str, **fields: Json) -> Json:
        """Run one WebSocket command and return its result; raises CommandError."""
        await self._connect()
        return await self._command(self._next_id(), command, fields)

    @asynccontextmanager
    async def subscribe(self, command: str, **fields: Json) -> AsyncGenerator[AsyncIterator[Json]]:
        """Run a command that sends events and yield them as an iterator; raises TimeoutError when none comes."""
        await self._connect()
        subscription = self._next_id()
        queue = self._events[subscription] = asyncio.Queue()
        try:
            await self._command(subscription, command, fields)
            yield self._iterate(queue)
        finally:
            del self._events[subscription]
            if self._reader is not None and not self._reader.done():
                await self._command(self._next_id(), "unsubscribe_events", {"subscription": subscription}, check=False)

    async def _iterate(self, queue: asyncio.Queue[Json]) -> AsyncIterator[Json]:
        while True:
            async with asyncio.timeout(EVENT_TIMEOUT):
                event = await queue.get()
            if isinstance(event, ConnectionLostError):
                raise event
            yield event

    async def _connect(self) -> None:
        async with self._connecting:
            if self._reader is not None and not self._reader.done():
                return
            assert self._session is not None
            self._socket = await self._session.ws_connect("/api/websocket", max_msg_size=0)
            await self._socket.receive_json(timeout=COMMAND_TIMEOUT)
            await self._socket.send_json({"type": "auth", "access_token": self._access_token})
            answer = await self._socket.receive_json(timeout=COMMAND_TIMEOUT)
            if answer["type"] != "auth_ok":
                raise CommandError("auth", {"code": answer["type"], "message": answer.get("message")})
            self._reader = asyncio.create_task(self._read(self._socket))

    def _next_id(self) -> int:
        self._last_id += 1
        return self._last_id

    async def _command(self, number: int, command: str, fields: dict[str, Json], *, check: bool = True) -> Json:
        assert self._socket is not None
        future = self._answers[number] = asyncio.get_running_loop().create_future()
        try:
            await self._socket.send_json({**fields, "id": number, "type": command})
            async with asyncio.timeout(COMMAND_TIMEOUT):
                answer = await future
        finally:
            del self._answers[number]
        if check and not answer["success"]:
            raise CommandError(command, answer["error"])
        return answer.get("result")

    async def _read(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        try:
            async for frame in socket:
                # Home Assistant packs several messages into one frame only for clients that ask for it.
                message = frame.json()
                if message["type"] == "event" and (queue := self._events.get(message["id"])):
                    queue.put_nowait(message["event"])
                elif (future := self._answers.get(message["id"])) and not future.done():
                    future.set_result(message)
        finally:
            lost = ConnectionLostError("the WebSocket connection ended")
            for future in self._answers.values():
                if not future.done():
                    future.set_exception(lost)
            for queue in self._events.values():
                queue.put_nowait(lost)

    # Flows: each takes the answers to its steps in order and returns the last result (a form, a menu, an entry, an abort).

    async def config_flow(
        self, handler: str, *answers: dict[str, Json], entry_id: str | None = None
    ) -> dict[str, Json]:
        """Run a config flow as a user; with `entry_id` a reconfiguration."""
        start = {"handler": handler, "show_advanced_options": True}
        return await self._flow("config/config_entries/flow", start | _given(entry_id=entry_id), answers)

    async def subentry_flow(
        self, entry_id: str, subentry_type: str, *answers: dict[str, Json], subentry_id: str | None = None
    ) -> dict[str, Json]:
        """Add a subentry; with `subentry_id` reconfigure it."""
        start: dict[str, Json] = {"handler": [entry_id, subentry_type]}
        return await self._flow(
            "config/config_entries/subentries/flow", start | _given(subentry_id=subentry_id), answers
        )

    async def options_flow(self, entry_id: str, *answers: dict[str, Json]) -> dict[str, Json]:
        return await self._flow("config/config_entries/options/flow", {"handler": entry_id}, answers)

    async def continue_flow(self, kind: str, flow_id: str, *answers: dict[str, Json]) -> dict[str, Json]:
        """Answer further steps of a flow; `kind` is "flow", "options/flow" or "subentries/flow"."""
        result: dict[str, Json] = {}
        for answer in answers:
            result = await self.post(f"/api/config/config_entries/{kind}/{flow_id}", answer)
        return result

    async def _flow(self, path: str, start: dict[str, Json], answers: Iterable[dict[str, Json]]) -> dict[str, Json]:
        result: dict[str, Json] = await self.post(f"/api/{path}", start)
        for answer in answers:
            result = await self.post(f"/api/{path}/{result['flow_id']}", answer)
        return result

    async def config_entries(self, domain: str) -> list[dict[str, Json]]:
        entries: list[dict[str, Json]] = await self.call("config_entries/get", domain=domain)
        return entries

    async def wait_until_loaded(self, domain: str) -> None:
        """Wait until all config entries of an integration are loaded; raises TimeoutError."""
        deadline = time.monotonic() + EVENT_TIMEOUT
        while any(entry["state"] != "loaded" for entry in await self.config_entries(domain)):
            if time.monotonic() > deadline:
                raise TimeoutError(f"{domain} was not loaded")
            await asyncio.sleep(0.1)

    async def subentries(self, entry_id: str) -> list[dict[str, Json]]:
        found: list[dict[str, Json]] = await self.call("config_entries/subentries/list", entry_id=entry_id)
        return found

    # The home

    async def states(self) -> dict[str, dict[str, Json]]:
        """Return every entity's state object by entity id."""
        return {state["entity_id"]: state for state in await self.get("/api/states")}

    async def state(self, entity_id: str) -> dict[str, Json]:
        found: dict[str, Json] = await self.get(f"/api/states/{entity_id}")
        return found

    async def perform_action(self, action: str, data: dict[str, Json] | None = None, *, response: bool = False) -> Json:
        """Perform `domain.action`; with `response` return what the action answers."""
        path = f"/api/services/{action.replace('.', '/', 1)}"
        answer = await self.post(f"{path}?return_response" if response else path, data)
        return answer["service_response"] if response else answer

    async def expose(self, *entity_ids: str, exposed: bool = True) -> None:
        """Expose entities to Assist, or hide them from it."""
        await self.call(
            "homeassistant/expose_entity",
            assistants=["conversation"],
            entity_ids=list(entity_ids),
            should_expose=exposed,
        )

    async def create_area(self, name: str, **fields: Json) -> str:
        """Return the id of the area of this name, made if there is none."""
        for area in await self.call("config/area_registry/list"):
            if area["name"] == name:
                return str(area["area_id"])
        return str((await self.call("config/area_registry/create", name=name, **fields))["area_id"])

    async def find_entity(self, domain: str, platform: str) -> str:
        """Return the id of the one entity of a domain that an integration made; raises LookupError."""
        found = [
            entry["entity_id"]
            for entry in await self.call("config/entity_registry/list")
            if entry["platform"] == platform and entry["entity_id"].startswith(f"{domain}.")
        ]
        if len(found) != 1:
            raise LookupError(f"{platform} has {len(found)} entities of {domain}: {', '.join(found) or 'none'}")
        return str(found[0])

    async def wait_for_entity(self, entity_id: str) -> None:
        """Wait until an entity has a state and is available; raises TimeoutError."""
        deadline = time.monotonic() + EVENT_TIMEOUT
        while (await self.states()).get(entity_id, {"state": "unavailable"})["state"] == "unavailable":
            if time.monotonic() > deadline:
                raise TimeoutError(f"{entity_id} did not appear")
            await asyncio.sleep(0.1)

    async def update_entity(self, entity_id: str, **fields: Json) -> None:
        """Change an entity's registry entry: area_id, name, aliases, labels, …"""
        await self.call("config/entity_registry/update", entity_id=entity_id, **fields)

    # Conversation

    async def converse(
        self, text: str, *, agent_id: str, conversation_id: str | None = None, language: str = "en"
    ) -> dict[str, Json]:
        """Ask an agent over REST; returns the whole answer (`conversation_id`, `response`, …)."""
        data = {"text": text, "agent_id": agent_id, "language": language}
        answer: dict[str, Json] = await self.post(
            "/api/conversation/process", data | _given(conversation_id=conversation_id)
        )
        return answer

    async def create_pipeline(self, name: str, agent_id: str, language: str = "en") -> str:
        """Make a text-only Assist pipeline for an agent and return its id."""
        pipeline = await self.call(
            "assist_pipeline/pipeline/create",
            name=name,
            language=language,
            conversation_engine=agent_id,
            conversation_language=language,
            **dict.fromkeys(NO_SPEECH),
        )
        return str(pipeline["id"])

    async def run_pipeline(
        self,
        text: str,
        *,
        pipeline_id: str,
        conversation_id: str | None = None,
        on_event: Callable[[dict[str, Json]], None] = lambda _: None,
    ) -> list[dict[str, Json]]:
        """Run a pipeline from text to text; returns its events, after handing each to `on_event` as it comes."""
        events: list[dict[str, Json]] = []
        async with self.subscribe(
            "assist_pipeline/run",
            start_stage="intent",
            end_stage="intent",
            input={"text": text},
            pipeline=pipeline_id,
            **_given(conversation_id=conversation_id),
        ) as stream:
            async for event in stream:
                events.append(event)
                on_event(event)
                if event["type"] == "run-end":
                    break
        return events


def _given(**fields: Json) -> dict[str, Json]:
    return {name: value for name, value in fields.items() if value is not None}
