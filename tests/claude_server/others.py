"""Servers of other makers that speak the Messages API: what they document, and a refusal of anything else.

The real ones pass over many fields that they do not know. A stand-in that refuses them shows that nothing is sent which a
stricter version might refuse.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, override

from aiohttp import web

from .rules.rule import Refusal
from .server import ClaudeServer
from .turn import Responder

_BLOCK_FIELDS = {
    "text": {"type", "text"},
    "image": {"type", "source"},
    "tool_use": {"type", "id", "name", "input"},
    "tool_result": {"type", "tool_use_id", "content", "is_error"},
    "thinking": {"type", "thinking", "signature"},
}
_RESULT_BLOCKS = ("text", "image")
_CHOICES = ("auto", "any", "tool")
"""What llama.cpp documents and vLLM takes; neither knows how to call none."""
_BASIC = {"model", "max_tokens", "messages", "system", "stream", "stop_sequences", "tools"}


@dataclass(frozen=True)
class Maker:
    """What a maker documents."""

    name: str
    fields: frozenset[str]
    models: tuple[dict[str, Any], ...] | None
    """What its list of models holds, or None where it keeps none."""
    api_key: str = "none"
    """The key that it asks for; `none` is what our client sends where the user gave no key."""
    bearer: bool = False
    """Whether it looks for the key as a bearer token alone."""


def _model(model_id: str, **more: Any) -> dict[str, Any]:
    """Return a model as OpenAI's list has it, which all of these keep."""
    return {"id": model_id, "object": "model", "created": 1_767_225_600, **more}


# https://docs.ollama.com/api/anthropic-compatibility
OLLAMA = Maker(
    "Ollama",
    frozenset(_BASIC | {"temperature", "top_p", "top_k", "thinking"}),
    (_model("qwen3:8b", owned_by="library"),),
)
# https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md
LLAMA_CPP = Maker(
    "llama.cpp",
    frozenset(_BASIC | {"temperature", "top_p", "top_k", "tool_choice"}),
    (_model("qwen3-8b.gguf", owned_by="llamacpp", meta={"n_ctx_train": 40_960}),),
)
# https://docs.litellm.ai/docs/anthropic_unified
LITELLM = Maker(
    "LiteLLM",
    frozenset(_BASIC | {"temperature", "top_p", "top_k", "thinking", "tool_choice", "metadata"}),
    (_model("home", owned_by="openai"),),
    api_key="sk-1234",
)
# https://docs.ollama.com/api/anthropic-compatibility: its cloud takes a bearer token, and no x-api-key alone.
OLLAMA_CLOUD = Maker(
    "Ollama Cloud", OLLAMA.fields, (_model("gemma4:31b", owned_by="library"),), "home-key", bearer=True
)
# https://github.com/vllm-project/vllm/blob/main/vllm/entrypoints/anthropic/protocol.py, which a stored copy was read of; and
# https://docs.vllm.ai/en/latest/serving/openai_compatible_server/: `--api-key` is compared with a bearer token.
VLLM = Maker(
    "vLLM",
    frozenset(_BASIC | {"temperature", "top_p", "top_k", "tool_choice", "metadata"}),
    (_model("Qwen/Qwen3-8B", owned_by="vllm", max_model_len=16_384),),
    "home-key",
    bearer=True,
)
BARE = Maker("a server without a list of models", frozenset(_BASIC), None)
BEARERS = (OLLAMA_CLOUD, VLLM)
"""Those that take a key as a bearer token only."""
MAKERS = (OLLAMA, LLAMA_CPP, LITELLM, BARE, *BEARERS)


class OtherServer(ClaudeServer):
    """A server of another maker."""

    def __init__(self, maker: Maker, responder: Responder) -> None:
        """Take the maker and who answers."""
        models = [dict(model) for model in maker.models or (_model("any"),)]
        super().__init__(responder, api_key=maker.api_key, models=models)
        self.maker = maker

    @override
    async def _messages(self, request: web.Request) -> web.StreamResponse:
        body = request["recorded"].body
        if unknown := body.keys() - self.maker.fields:
            raise Refusal(f"unknown field {', '.join(sorted(unknown))}")
        if (body.get("tool_choice") or {}).get("type") not in (None, *_CHOICES):
            raise Refusal("unknown choice of tools")
        if "anthropic-beta" in request.headers or request.query:
            raise Refusal("no beta features here")
        system = body.get("system") or []
        for block in [*(system if isinstance(system, list) else ()), *_blocks(body)]:
            known = _BLOCK_FIELDS.get(block["type"])
            if known is None or block.keys() - known:
                raise Refusal(f"unknown block {block['type']} with {', '.join(sorted(block))}")
            if block["type"] == "image" and block["source"]["type"] != "base64":
                raise Refusal("images by address are not fetched")
        for tool in body.get("tools", ()):
            if tool.keys() != {"name", "description", "input_schema"}:
                raise Refusal(f"unknown fields of tools: {', '.join(sorted(tool))}")
        return await super()._messages(request)

    @override
    def _authenticate(self, request: web.Request) -> None:
        if self.maker.bearer and request.headers.get("authorization") != f"Bearer {self.maker.api_key}":
            raise Refusal("Unauthorized", status=401)
        super()._authenticate(request)

    @override
    async def _count_tokens(self, request: web.Request) -> web.StreamResponse:
        raise web.HTTPNotFound

    @override
    async def _list_models(self, request: web.Request) -> web.StreamResponse:
        if self.maker.models is None:
            raise web.HTTPNotFound
        return web.json_response({"object": "list", "data": list(self.maker.models)})


def _blocks(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the blocks of all messages, and those inside results."""
    for message in body["messages"]:
        for block in message["content"] if isinstance(message["content"], list) else ():
            yield block
            inner = block.get("content") if block["type"] == "tool_result" else None
            for part in inner if isinstance(inner, list) else ():
                if part["type"] not in _RESULT_BLOCKS:
                    raise Refusal(f"unknown block {part['type']} in a result")
                yield part
