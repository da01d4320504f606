"""Tests of what is known about models."""

from datetime import UTC, datetime

from anthropic.types import ModelInfo
import pytest

from custom_components.extended_assist.claude.models import Abilities, default_model, find_model, retirement


def model(model_id: str, **known: object) -> ModelInfo:
    """Return a model as a server may list it, with as little as it likes."""
    values = {"id": model_id, "display_name": model_id, "created_at": datetime(2026, 1, 1, tzinfo=UTC), "type": "model"}
    return ModelInfo.model_construct(**(values | known))


@pytest.mark.parametrize(
    ("models", "chosen"),
    [
        ([], ""),
        (["opus-6", "sonnet-5", "haiku-5", "haiku-4"], "haiku-5"),
        (["opus-6", "sonnet-5"], "sonnet-5"),
        (["qwen3", "llama4"], "qwen3"),
    ],
)
def test_default_model(models: list[str], chosen: str) -> None:
    """A quick model is chosen, the newest of its kind; on other servers the first."""
    assert default_model([model(name) for name in models]) == chosen


def test_models_on_their_way_out_are_no_default() -> None:
    """A deprecated model is chosen only where there is no other."""
    old, new = model("haiku-3", lifecycle="deprecated"), model("opus-6", lifecycle="active")
    assert default_model([old, new]) == "opus-6"
    assert default_model([old]) == "haiku-3"


@pytest.mark.parametrize(
    ("known", "limit"), [({}, None), ({"max_tokens": None}, None), ({"max_tokens": 0}, None), ({"max_tokens": 64}, 64)]
)
def test_output_limit(known: dict[str, object], limit: int | None) -> None:
    """What a server does not list is not known."""
    assert Abilities.of(model("m", **known)).max_tokens == limit
    assert Abilities.of(find_model([model("m")], "other")).max_tokens is None


@pytest.mark.parametrize(
    ("listed", "by_the_sdk", "day"),
    [
        (datetime(2027, 3, 1, tzinfo=UTC), "November 6th, 2024", "2027-03-01"),
        (None, "November 6th, 2024", "2024-11-06"),
        (None, "March 21st, 2027", "2027-03-21"),
        (None, "early in 2027", "early in 2027"),
        (None, "Brumaire 6th, 2024", "Brumaire 6th, 2024"),
        (None, None, None),
    ],
)
def test_retirement(
    listed: datetime | None, by_the_sdk: str | None, day: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The day is told in a form that is read in every language, by the server's list before the SDK's."""
    told = {} if by_the_sdk is None else {"claude-old": by_the_sdk}
    monkeypatch.setattr("anthropic.resources.messages.messages.DEPRECATED_MODELS", told)
    assert retirement(model("claude-old", retires_at=listed), "claude-old") == day
