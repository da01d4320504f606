"""What is sent for each model and each choice of the user: fields in full, so that none slips in."""

from datetime import UTC, datetime
from typing import Any

from anthropic.types import ModelInfo
import pytest

from custom_components.extended_assist.claude import options as options_module
from custom_components.extended_assist.claude.context import MAX_CONTEXT
from custom_components.extended_assist.claude.models import THINKING, Abilities
from custom_components.extended_assist.claude.options import AgentOptions, inspected, model_fields
from tests.claude_server.checks import check_request
from tests.claude_server.models import default_models
from tests.claude_server.request_types import check_message
from tests.claude_server.stream import Issuer

OPUS, HAIKU, HAIKU_4, SONNET_4 = (str(model["id"]) for model in default_models())
NEW = "between_tools" in THINKING
"""Whether the SDK of this environment knows all kinds of thinking."""
LOCATION = {"country": "NL", "timezone": "Europe/Amsterdam"}
EVERYTHING = {
    "thinking": "adaptive",
    "thinking_budget": 2_000,
    "effort": "high",
    "web_search": True,
    "web_fetch": True,
    "web_location": True,
}
EDITS = {
    "edits": [
        {
            "type": "clear_tool_uses_20250919",
            "trigger": {"type": "input_tokens", "value": 100_000},
            "keep": {"type": "tool_uses", "value": 6},
            "clear_at_least": {"type": "input_tokens", "value": 20_000},
        }
    ]
}
AT_ONCE = {"thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}}
"""What is sent for models that can, unless the user chooses otherwise: a speaker waits for the first word."""
SEARCH = {
    "type": "web_search_20250305",
    "name": "web_search",
    "max_uses": 3,
    "user_location": {"type": "approximate", "country": "NL", "timezone": "Europe/Amsterdam"},
}
FETCH = {
    "type": "web_fetch_20250910",
    "name": "web_fetch",
    "max_uses": 3,
    "citations": {"enabled": True},
    "max_content_tokens": 12_000,
}


def listed(model_id: str) -> ModelInfo:
    """Return a model as the SDK of this environment reads it."""
    (model,) = (model for model in default_models() if model["id"] == model_id)
    return ModelInfo.construct(**model)


def options(model_id: str, abilities: Abilities | None = None, **data: Any) -> AgentOptions:
    """Return what options mean for a model."""
    abilities = Abilities.of(listed(model_id)) if abilities is None else abilities
    return AgentOptions.of({"model": model_id, **data}, abilities, LOCATION)


@pytest.mark.parametrize(
    ("model_id", "data", "fields", "web_tools"),
    [
        (OPUS, {}, {"context_management": EDITS, **AT_ONCE}, []),
        (
            OPUS,
            EVERYTHING,
            {"context_management": EDITS, "thinking": {"type": "adaptive"}, "output_config": {"effort": "high"}},
            [SEARCH, FETCH],
        ),
        (
            OPUS,
            {"thinking": "between_tools"},
            {"context_management": EDITS, **AT_ONCE} | ({"thinking": {"type": "between_tools"}} if NEW else {}),
            [],
        ),
        (OPUS, {"thinking": "enabled"}, {"context_management": EDITS, **AT_ONCE}, []),
        (
            OPUS,
            {"thinking": "disabled", "effort": "max"},
            {"context_management": EDITS, "thinking": {"type": "disabled"}, "output_config": {"effort": "high"}},
            [],
        ),
        (OPUS, {"effort": "max"}, {"context_management": EDITS, **AT_ONCE, "output_config": {"effort": "max"}}, []),
        (
            HAIKU,
            {"effort": "max", "thinking": "enabled"},
            {"context_management": EDITS, **AT_ONCE, "output_config": {"effort": "high"}},
            [],
        ),
        (HAIKU_4, {}, {"context_management": EDITS}, []),
        (
            HAIKU_4,
            EVERYTHING | {"thinking": "enabled"},
            {"context_management": EDITS, "thinking": {"type": "enabled", "budget_tokens": 2_000}},
            [SEARCH, FETCH],
        ),
        (HAIKU_4, {"thinking": "enabled", "max_tokens": 1_024}, {"context_management": EDITS}, []),
        (
            HAIKU_4,
            {"thinking": "enabled", "max_tokens": 1_500, "thinking_budget": 9_999},
            {"context_management": EDITS, "thinking": {"type": "enabled", "budget_tokens": 1_499}},
            [],
        ),
        (SONNET_4, {"web_search": True}, {"context_management": EDITS}, [{**SEARCH, "user_location": None}]),
        (OPUS, EVERYTHING | {"plain": True}, {}, []),
    ],
)
def test_fields(model_id: str, data: dict[str, Any], fields: dict[str, Any], web_tools: list[Any]) -> None:
    """Only what the user chose and the model supports is sent, and the service accepts it."""
    chosen = options(model_id, **data)
    assert model_fields(chosen) == fields
    expected = [{key: value for key, value in tool.items() if value is not None} for tool in web_tools]
    assert list(chosen.web_tools) == expected
    body = {
        "model": model_id,
        "max_tokens": chosen.max_tokens,
        "messages": [{"role": "user", "content": "Hi"}],
        "tools": list(chosen.web_tools),
        **model_fields(chosen),
    }
    assert check_message(body, beta=True) is None
    check_request(body, default_models(), Issuer())


def test_nothing_listed_means_basic_fields_only() -> None:
    """Whatever the user once chose, a server that lists nothing gets nothing of it."""
    chosen = options("qwen3", Abilities(), **EVERYTHING)
    assert chosen.plain
    assert model_fields(chosen) == {}
    assert chosen.web_tools == ()


def test_half_listed_capabilities() -> None:
    """What is missing in a list is not supported, at any depth, in any shape."""
    created = datetime(2026, 1, 1, tzinfo=UTC)
    for capabilities in (
        {},
        {"thinking": None, "effort": {"supported": True}, "server_tools": {}},
        {"thinking": {"types": {"adaptive": True}}, "image_input": {"supported": "yes"}},
    ):
        model = ModelInfo.construct(
            id="m", created_at=created, display_name="m", type="model", capabilities=capabilities
        )
        abilities = Abilities.of(model)
        assert abilities == Abilities(listed=True)


@pytest.mark.parametrize(
    ("window", "data", "limit"),
    [
        (1_000_000, {}, MAX_CONTEXT),
        (200_000, {"context_tokens": 50_000, "max_tokens": 4_000}, 45_000),
        (None, {"context_tokens": 16_000, "max_tokens": 2_000}, 13_000),
        (None, {"max_tokens": 1_000}, 30_000),
        (None, {"context_tokens": 4_096, "max_tokens": 4_096}, 2_048),
    ],
)
def test_context_limit(window: int | None, data: dict[str, Any], limit: int) -> None:
    """The answer fits behind the request; a model with a small window gets at least half of it."""
    assert options("m", Abilities(window=window), **data).context_limit == limit


def test_longest_answer_of_the_model() -> None:
    """An agent that was set up for another model asks for no more than this one can give."""
    assert options(HAIKU, max_tokens=128_000).max_tokens == 64_000


def test_what_is_asked_while_somebody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The thinking in a summary, where the model thinks by itself, and why the cache was missed, where the SDK knows it."""
    chosen = options(OPUS, prompt_cache="5m")
    request = {"model": OPUS, **model_fields(chosen)}
    monkeypatch.setattr(options_module.types, "DiagnosticsParam", object, raising=False)
    asked = inspected(request, chosen, "msg_1")
    assert asked["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert asked["diagnostics"] == {"previous_message_id": "msg_1"}
    assert "display" not in request["thinking"]
    off = options(OPUS, prompt_cache="off", thinking="disabled")
    assert inspected(model_fields(off), off, None) == model_fields(off)
