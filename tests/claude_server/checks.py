"""Whether the service would take a request."""

from typing import Any

from .models import find_model
from .rules import refuse
from .rules.options import betas_needed
from .rules.rule import Request
from .stream import Issuer

type Body = dict[str, Any]


def check_request(
    body: Body,
    models: list[dict[str, Any]],
    issuer: Issuer,
    *,
    betas: frozenset[str] | None = None,
    new_account: bool = True,
    type_problem: str | None = None,
    every_rule: bool = False,
) -> Request:
    """Return a request with what is known about it; raises Refusal for the first thing wrong.

    Without betas, the request is taken to have every header that its fields need.
    """
    model = find_model(models, str(body.get("model"))) or {}
    known = betas_needed(body) if betas is None else betas
    request = Request(body, model, issuer.memory, known, new_account, type_problem)
    refuse(request, every_rule=every_rule)
    return request
