"""The loopback server: an aiohttp application that speaks Anthropic's Messages API as the SDK expects it."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
import json
import logging
from typing import Any, Self

from aiohttp import web
import anthropic

from .cache import PromptCache, input_tokens
from .checks import Refusal, check_request
from .models import default_models, find_model, page_of_models
from .request_types import check_count_tokens, check_message, prepare
from .stream import Event, Issuer, cut, events, whole
from .turn import ERROR_TYPES, Fault, Responder, Turn

LOGGER = logging.getLogger(__name__)

# Seconds that `stop` grants to answers under way; a test has nothing to gain from waiting.
SHUTDOWN_TIMEOUT = 0.5


@dataclass(frozen=True)
class RecordedRequest:
    """A request as it arrived. `type_checked` tells whether the SDK's types of its client were at hand."""

    method: str
    path: str
    headers: dict[str, str]
    query: dict[str, list[str]]
    body: Any
    type_checked: bool


class ClaudeServer:
    """A loopback server that speaks Anthropic's Messages API."""

    def __init__(
        self,
        responder: Responder,
        *,
        api_key: str = "test-key",
        models: list[dict[str, Any]] | None = None,
        port: int = 0,
    ) -> None:
        self.responder = responder
        self.fault: Fault | None = None
        """Befalls every request, whatever it asks for."""
        self.models_fault: Fault | None = None
        self.requests: list[RecordedRequest] = []
        self.on_request: Callable[[RecordedRequest], None] | None = None
        self.url = ""
        self.cache = PromptCache()
        self._api_key = api_key
        self._models = default_models() if models is None else models
        self._port = port
        self._issuer = Issuer()
        self._runner: web.AppRunner | None = None
        self._stopping = asyncio.Event()

    @property
    def message_requests(self) -> list[dict[str, Any]]:
        """The bodies of the requests for a message, in order."""
        return [item.body for item in self.requests if (item.method, item.path) == ("POST", "/v1/messages")]

    async def start(self) -> None:
        """Listen on loopback; `url` is known afterwards."""
        prepare()
        app = web.Application(middlewares=[self._middleware], client_max_size=64 * 2**20)
        app.router.add_post("/v1/messages", self._messages)
        app.router.add_post("/v1/messages/count_tokens", self._count_tokens)
        app.router.add_get("/v1/models", self._list_models)
        app.router.add_get("/v1/models/{id}", self._retrieve_model)
        self._stopping.clear()
        # A client that leaves ends its handler, which may be stalling on purpose.
        self._runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=SHUTDOWN_TIMEOUT)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self._port).start()
        self._port = self._runner.addresses[0][1]
        self.url = f"http://127.0.0.1:{self._port}"

    async def stop(self) -> None:
        """Release what stalls, then close every connection; a later `start` takes the same port."""
        self._stopping.set()
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.stop()

    @web.middleware
    async def _middleware(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        """Record, authenticate, and turn refusals into the API's error JSON."""
        try:
            self._record(request, await request.read())
            if self.fault and (response := await self._fail(request, self.fault)):
                return response
            self._authenticate(request)
            return await handler(request)
        except Refusal as refusal:
            return self._error(Fault("http", status=refusal.status, message=str(refusal)))
        except web.HTTPError as err:
            return self._error(Fault("http", status=err.status, message=err.reason))
        except ConnectionError:
            raise  # The client left in the middle of its answer; aiohttp knows what to do.
        except Exception:
            LOGGER.exception("The loopback server failed at %s %s", request.method, request.path)
            message = "The loopback server itself failed; its log says why."
            return self._error(Fault("http", message=message, headers={"x-should-retry": "false"}))

    def _record(self, request: web.Request, data: bytes) -> None:
        try:
            body = json.loads(data) if data else None
        except ValueError:
            body = None
        # Only the SDK that this process runs brought its types; another version's bodies would be judged wrongly.
        version = request.headers.get("x-stainless-package-version")
        recorded = RecordedRequest(
            method=request.method,
            path=request.path,
            headers={key.lower(): value for key, value in request.headers.items()},
            query={key: request.query.getall(key) for key in request.query},
            body=body,
            type_checked=version in (None, anthropic.__version__),
        )
        request["recorded"] = recorded
        self.requests.append(recorded)
        if self.on_request is not None:
            self.on_request(recorded)

    def _authenticate(self, request: web.Request) -> None:
        bearer = request.headers.get("authorization", "")
        key = request.headers.get("x-api-key") or bearer.removeprefix("Bearer ")
        if not key:
            raise Refusal("x-api-key header is required", status=401)
        if key != self._api_key:
            raise Refusal("invalid x-api-key", status=401)
        if "anthropic-version" not in request.headers:
            raise Refusal("anthropic-version: header is required")

    def _error(self, fault: Fault) -> web.Response:
        request_id = self._issuer.new_id("req")
        headers = {"request-id": request_id} | fault.headers
        if fault.body is not None:
            return web.Response(status=fault.status, headers=headers, text=fault.body, content_type=fault.content_type)
        body = {"type": "error", "error": fault.error, "request_id": request_id}
        return web.json_response(body, status=fault.status, headers=headers)

    def _check_types(self, request: web.Request, check: Callable[..., str | None]) -> dict[str, Any]:
        recorded: RecordedRequest = request["recorded"]
        if not isinstance(recorded.body, dict):
            raise Refusal("The request body is not valid JSON")
        beta = "anthropic-beta" in request.headers
        if recorded.type_checked and (problem := check(recorded.body, beta=beta)):
            raise Refusal(problem)
        return recorded.body

    async def _messages(self, request: web.Request) -> web.StreamResponse:
        body = self._check_types(request, check_message)
        check_request(body, self._models, self._issuer)
        turn = await self.responder.respond(body)
        if turn.fault and turn.fault.kind == "http":
            await asyncio.sleep(turn.delay)
            return self._error(turn.fault)
        if turn.fault and turn.fault.kind == "disconnect" and turn.fault.after < 0:
            _hang_up(request)
        message = self._issuer.message(turn, body, self.cache.usage(body))
        if body.get("stream"):
            return await self._stream(request, turn, message)
        await asyncio.sleep(turn.delay)
        if turn.fault and (response := await self._fail(request, turn.fault)):
            return response
        return web.json_response(whole(message, turn), headers={"request-id": self._issuer.new_id("req")})

    async def _stream(self, request: web.Request, turn: Turn, message: dict[str, Any]) -> web.StreamResponse:
        stream = events(message, turn)
        fault = turn.fault if turn.fault and turn.fault.kind != "unknown_events" else None
        sent = stream if fault is None else stream[: cut(stream, fault)]
        response = web.StreamResponse(
            headers={
                "content-type": "text/event-stream; charset=utf-8",
                "cache-control": "no-cache",
                "request-id": self._issuer.new_id("req"),
            }
        )
        await response.prepare(request)
        await asyncio.sleep(turn.delay)
        for event in sent:
            if turn.pace and event["type"] == "content_block_delta":
                await asyncio.sleep(turn.pace)
            await response.write(_sse(event))
        match fault:
            case Fault(kind="sse_error"):
                await response.write(_sse({"type": "error", "error": fault.error}))
            case Fault(kind="stall"):
                await self._stopping.wait()
                _hang_up(request)
            case Fault(kind="disconnect"):
                _hang_up(request)
        return response

    async def _fail(self, request: web.Request, fault: Fault) -> web.Response | None:
        """Let a fault strike an answer that is no stream; None where the answer goes on."""
        match fault.kind:
            case "unknown_events":
                return None
            case "stall":
                await self._stopping.wait()
                _hang_up(request)
            case "disconnect":
                _hang_up(request)
            case "sse_error":
                # Without a stream it is an answer with the status that its type stands for.
                status = next((number for number, name in ERROR_TYPES.items() if name == fault.error_type), 500)
                return self._error(replace(fault, status=status))
        return self._error(fault)

    async def _count_tokens(self, request: web.Request) -> web.StreamResponse:
        body = self._check_types(request, check_count_tokens)
        check_request(body, self._models, self._issuer)
        return web.json_response({"input_tokens": input_tokens(body)})

    async def _list_models(self, request: web.Request) -> web.StreamResponse:
        if self.models_fault and (response := await self._fail(request, self.models_fault)):
            return response
        try:
            return web.json_response(page_of_models(self._models, request["recorded"].query))
        except ValueError as err:
            raise Refusal(str(err)) from err

    async def _retrieve_model(self, request: web.Request) -> web.StreamResponse:
        if self.models_fault and (response := await self._fail(request, self.models_fault)):
            return response
        model = find_model(self._models, request.match_info["id"])
        if model is None:
            raise Refusal(f"model: {request.match_info['id']}", status=404)
        return web.json_response(model)


def _sse(event: Event) -> bytes:
    return f"event: {event['type']}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n".encode()


def _hang_up(request: web.Request) -> None:
    """Close the connection once what was written is sent, without the end that the client waits for."""
    if request.transport is not None:
        request.transport.close()
