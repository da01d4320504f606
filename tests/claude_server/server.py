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
from .checks import check_request
from .memory import Memory
from .models import default_models, find_model, page_of_models
from .request_types import check_count_tokens, check_message, prepare
from .rules.rule import REFUSAL_AGAIN, Refusal, Request
from .rules.thinking import BINDING_BETA, transformations
from .stream import Event, Issuer, cut, events, whole
from .turn import ERROR_TYPES, Fault, NotOfferedError, Responder, Turn

LOGGER = logging.getLogger(__name__)

# Seconds that `stop` grants to answers under way; a test has nothing to gain from waiting.
SHUTDOWN_TIMEOUT = 0.5
RULE_HEADER = "x-refused-by-rule"
"""Tells a test which rule refused a request."""


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
        new_account: bool = True,
        omits_thinking: bool = False,
        every_rule: bool = False,
    ) -> None:
        self.responder = responder
        self.fault: Fault | None = None
        """Befalls every request, whatever it asks for."""
        self.models_fault: Fault | None = None
        self.requests: list[RecordedRequest] = []
        self.refusals: list[str] = []
        """What requests were refused with, by the server itself rather than by a test."""
        self.mistakes: list[str] = []
        """What was scripted and no model could do; a test that made one fails."""
        self.on_request: Callable[[RecordedRequest], None] | None = None
        self.url = ""
        self.cache = PromptCache()
        self._api_key = api_key
        self._models = default_models() if models is None else models
        self._port = port
        self._new_account = new_account
        """Whether thinking is bound to its conversation without being asked for."""
        self._omits_thinking = omits_thinking
        """Whether models that leave their thinking out of the answer unless asked do so here."""
        self._every_rule = every_rule
        """Whether to enforce also the rules that the client of this repository still breaks."""
        self._issuer = Issuer()
        self._runner: web.AppRunner | None = None
        self._stopping = asyncio.Event()

    @property
    def memory(self) -> Memory:
        """What the server remembers of its answers."""
        return self._issuer.memory

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
        except NotOfferedError as err:
            self.mistakes.append(str(err))
            return self._error(Fault("http", message=str(err), headers={"x-should-retry": "false"}))
        except Refusal as refusal:
            self.refusals.append(str(refusal))
            headers = {RULE_HEADER: refusal.rule}
            return self._error(Fault("http", status=refusal.status, message=str(refusal), headers=headers))
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

    def _check(self, request: web.Request, check_types: Callable[..., str | None]) -> Request:
        """Return a request that the service would take; raises Refusal for any other."""
        recorded: RecordedRequest = request["recorded"]
        if not isinstance(recorded.body, dict):
            raise Refusal("The request body is not valid JSON")
        given = request.headers.get("anthropic-beta", "")
        problem = check_types(recorded.body, beta=bool(given)) if recorded.type_checked else None
        return check_request(
            recorded.body,
            self._models,
            self._issuer,
            betas=frozenset(filter(None, given.replace(" ", "").split(","))),
            new_account=self._new_account,
            type_problem=problem,
            every_rule=self._every_rule,
        )

    async def _messages(self, request: web.Request) -> web.StreamResponse:
        dropped: list[dict[str, str]] = []
        omits_thinking = False
        body: dict[str, Any] = request["recorded"].body
        try:
            known = self._check(request, check_message)
            dropped = transformations(known)
            omits_thinking = self._omits_thinking and not known.shows_thinking
            turn = await self.responder.respond(body)
            if invented := turn.invented(body):
                raise NotOfferedError(invented)
        except Refusal as refusal:
            if refusal.status != REFUSAL_AGAIN:
                raise
            turn = Turn(stop_reason="refusal")
        if turn.fault and turn.fault.kind == "http":
            await asyncio.sleep(turn.delay)
            return self._error(turn.fault)
        if turn.fault and turn.fault.kind == "disconnect" and turn.fault.after < 0:
            _hang_up(request)
        message = self._issuer.message(turn, body, self.cache.usage(body), omits_thinking=omits_thinking)
        self._issuer.memory.remember(message, body, dropped, cut=turn.fault is not None)
        if BINDING_BETA in request.headers.get("anthropic-beta", ""):
            message["input_transformations"] = dropped
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
        known = self._check(request, check_count_tokens)
        return web.json_response({"input_tokens": input_tokens(known.body)})

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
