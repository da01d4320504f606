"""What each model can do, as far as the server lists it."""

from collections.abc import Sequence

from anthropic.types import ModelInfo

_PREFERRED = ("haiku", "sonnet")
"""Words in a model's id, best first: a speaker wants a quick answer."""


def find_model(models: Sequence[ModelInfo], model_id: str) -> ModelInfo | None:
    """Return the listed model with an id, or None for one that the server does not list."""
    return next((model for model in models if model.id == model_id), None)


def default_model(models: Sequence[ModelInfo]) -> str:
    """Return the id of the model for a new agent, or an empty string when the server lists none."""
    active = [model for model in models if getattr(model, "lifecycle", None) in (None, "active")]
    for word in _PREFERRED:
        for model in active:
            if word in model.id:
                return model.id
    return (active or models)[0].id if models else ""


def output_limit(model: ModelInfo | None) -> int | None:
    """Return the most tokens that an answer may have, or None when it is not listed."""
    limit = getattr(model, "max_tokens", None)
    return limit if isinstance(limit, int) and limit > 0 else None
