"""Checks request bodies against the SDK's own parameter types.

The SDK's types are written for callers: they allow Python objects (files, response models) and say `Iterable` for
lists, which pydantic would check only when somebody iterates. They are rebuilt here as what JSON can hold, with
unknown keys refused and unions told apart by their `type` or `role`, so that an error names the one place that is wrong.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
import os
from types import NoneType, UnionType
from typing import (
    IO,
    Annotated,
    Any,
    Literal,
    NotRequired,
    Required,
    TypedDict,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from anthropic.types.beta.message_count_tokens_params import MessageCountTokensParams as BetaMessageCountTokensParams
from anthropic.types.beta.message_create_params import (
    MessageCreateParamsNonStreaming as BetaMessageCreateParamsNonStreaming,
    MessageCreateParamsStreaming as BetaMessageCreateParamsStreaming,
)
from anthropic.types.message_count_tokens_params import MessageCountTokensParams
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming, MessageCreateParamsStreaming
from pydantic import BaseModel, ConfigDict, Discriminator, Tag, TypeAdapter, ValidationError
from typing_extensions import is_typeddict

# Parameters of the SDK's methods that travel as headers, never in the body.
HEADER_PARAMETERS = {"betas", "user_profile_id", "workspace_id"}


def prepare() -> None:
    """Build the usual checks, a fraction of a second of work, so that the first request is as quick as the next."""
    for params in (MessageCreateParamsStreaming, MessageCreateParamsNonStreaming):
        _adapter(params)


def check_message(body: Any, *, beta: bool) -> str | None:
    """Return what is wrong with the body of `POST /v1/messages`, or None."""
    streaming = isinstance(body, dict) and body.get("stream") is True
    if beta:
        return _check(BetaMessageCreateParamsStreaming if streaming else BetaMessageCreateParamsNonStreaming, body)
    return _check(MessageCreateParamsStreaming if streaming else MessageCreateParamsNonStreaming, body)


def check_count_tokens(body: Any, *, beta: bool) -> str | None:
    """Return what is wrong with the body of `POST /v1/messages/count_tokens`, or None."""
    return _check(BetaMessageCountTokensParams if beta else MessageCountTokensParams, body)


def _check(params: type, body: Any) -> str | None:
    try:
        _adapter(params).validate_python(_without_later_fields(body), strict=True)
    except ValidationError as err:
        # Of a union's branches, the one that fits best fails deepest.
        worst = max(err.errors(include_url=False, include_context=False), key=lambda error: len(error["loc"]))
        place = ".".join(str(part) for part in worst["loc"] if not str(part).startswith("list["))
        return f"{place}: {worst['msg']}"
    return None


def _without_later_fields(body: Any) -> Any:
    """Return a body without what the service knows and an older SDK does not; its own rules look at it."""
    thinking = body.get("thinking") if isinstance(body, dict) else None
    if not isinstance(thinking, dict) or "block_binding" not in thinking:
        return body
    return {**body, "thinking": {key: value for key, value in thinking.items() if key != "block_binding"}}


@cache
def _adapter(params: type) -> TypeAdapter[Any]:
    return TypeAdapter(_wire(params))


def _wire(annotation: Any) -> Any:
    """Return the type that JSON may hold where the SDK says `annotation`."""
    origin = get_origin(annotation)
    if is_typeddict(annotation):
        return _wire_typed_dict(annotation)
    if origin is Annotated:
        return _wire(get_args(annotation)[0])
    if origin in (Union, UnionType):
        return _wire_union(get_args(annotation))
    if origin in (Iterable, Sequence, list):
        return list[_wire(get_args(annotation)[0])]  # type: ignore[misc] # built at run time
    if origin is dict:
        return dict[str, _wire(get_args(annotation)[1])]  # type: ignore[misc] # built at run time
    return annotation


@cache
def _wire_typed_dict(params: type) -> Any:
    members: dict[str, Any] = {}
    for name, hint in get_type_hints(params, include_extras=True).items():
        if name in HEADER_PARAMETERS:
            continue
        required = get_origin(hint) is Required
        inner = get_args(hint)[0] if get_origin(hint) in (Required, NotRequired) else hint
        members[name] = Required[_wire(inner)] if required else NotRequired[_wire(inner)]
    wire = TypedDict(params.__name__, members)  # type: ignore[operator] # built at run time
    # A type that the SDK itself leaves open stays open.
    given: ConfigDict = getattr(params, "__pydantic_config__", {})
    wire.__pydantic_config__ = ConfigDict(extra=given.get("extra") or "forbid")
    return wire


def _wire_union(members: tuple[Any, ...]) -> Any:
    kept = [_wire(member) for member in members if not _is_python_only(member)]
    if NoneType in kept:
        kept.remove(NoneType)
        return _tagged(kept) | None
    return _tagged(kept)


def _is_python_only(member: Any) -> bool:
    """Whether a member stands for a Python object that the SDK turns into JSON: a file, a path, a response model."""
    origin = get_origin(member) or member
    if origin is Annotated:
        return _is_python_only(get_args(member)[0])
    if origin in (Union, UnionType):
        return all(_is_python_only(part) for part in get_args(member))
    return isinstance(origin, type) and issubclass(origin, IO | os.PathLike | BaseModel)


def _tagged(members: list[Any]) -> Any:
    """Return a union that is told apart by `type` or `role` where each member has its own values for it."""
    for key in ("type", "role"):
        owners: dict[Any, Any] = {}
        default = None
        for member in members:
            hint = get_type_hints(member, include_extras=True).get(key) if is_typeddict(member) else None
            values = _literals(hint)
            if not values or owners.keys() & set(values):
                break
            owners |= dict.fromkeys(values, member)
            if get_origin(hint) is NotRequired:
                default = values[0]
        else:
            if len(members) > 1:
                tagged = tuple(Annotated[member, Tag(str(value))] for value, member in owners.items())
                return Annotated[Union[tagged], Discriminator(_reader(key, default))]  # noqa: UP007 - built at run time
    return Union[tuple(members)]  # noqa: UP007 - built at run time


def _literals(hint: Any) -> tuple[Any, ...]:
    """Return the values of a hint such as `Required[Literal["text"]]` or `Literal["custom"] | None`."""
    if get_origin(hint) is Literal:
        return get_args(hint)
    return tuple(value for part in get_args(hint) for value in _literals(part))


def _reader(key: str, default: Any) -> Callable[[Any], Any]:
    def tag(value: Any) -> Any:
        if not isinstance(value, dict):
            return None
        given = value.get(key)
        return default if given is None else str(given)

    return tag
