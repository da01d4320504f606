"""Questions with probabilities for answers, as AI tasks evaluate them from Home Assistant 2026.11 on.

No provider of the Messages API tells probabilities of its own, so the model is asked to estimate them.
"""

from collections.abc import Mapping
from typing import Any

import voluptuous as vol

from homeassistant.helpers.json import json_dumps

from .errors import TurnError

_INSTRUCTIONS = (
    "Answer the questions about what is given. For each, estimate probabilities between 0 and 1 that are as certain as what is "
    "given allows, and no more."
)
_PROBABILITY = vol.All(vol.Coerce(float), vol.Range(min=0, max=1))
_KINDS: Mapping[str, str] = {
    "noul": "the probability of yes",
    "choice": "the probability of each of these",
    "score": "a list with the probability of each of these levels, in this order",
}

type Question = Mapping[str, Any]


def instructions_for(questions: Mapping[str, Question], state: Any) -> str:
    """Return the message that asks the questions."""
    parts = [_INSTRUCTIONS, *(_asked(name, question) for name, question in questions.items())]
    if state is not None:
        parts.append(f"What is given:\n{state if isinstance(state, str) else json_dumps(state)}")
    return "\n\n".join(parts)


def _asked(name: str, question: Question) -> str:
    """Return a question as it is asked."""
    lines = [f"Question '{name}': {question['instructions']}", f"Answer: {_KINDS[question['type']]}."]
    criteria = question.get("criteria", ())
    if isinstance(criteria, Mapping):
        lines += [f"- '{option}': {description}" for option, description in criteria.items()]
    else:
        lines += [f"{index}. {description}" for index, description in enumerate(criteria)]
    return "\n".join(lines)


def structure_for(questions: Mapping[str, Question]) -> vol.Schema:
    """Return the schema of all answers."""
    return vol.Schema({vol.Required(name): _validator(question) for name, question in questions.items()})


def _validator(question: Question) -> Any:
    """Return the validator of one answer."""
    match question["type"]:
        case "noul":
            return _PROBABILITY
        case "choice":
            return vol.Schema({vol.Required(option): _PROBABILITY for option in question["criteria"]})
        case _:
            count = len(question["criteria"])
            return vol.All([_PROBABILITY], vol.Length(min=count, max=count))


def answers_from(questions: Mapping[str, Question], data: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the answers by question, in the words of Home Assistant; raises TurnError where one says nothing."""
    return {name: _answer(question, data[name]) for name, question in questions.items()}


def _answer(question: Question, estimate: Any) -> dict[str, Any]:
    """Return one answer; the probabilities of alternatives add up to one."""
    match question["type"]:
        case "noul":
            return {"noul": estimate}
        case "choice":
            shares = dict(zip(estimate, _shares(list(estimate.values())), strict=True))
            return {"choice": max(shares, key=lambda option: shares[option]), "probabilities": shares}
        case _:
            levels = _shares(estimate)
            return {"score": sum(level * share for level, share in enumerate(levels)), "probabilities": levels}


def _shares(estimates: list[float]) -> list[float]:
    """Return estimates so that they add up to one."""
    if (total := sum(estimates)) <= 0:
        raise TurnError("no_data")
    return [estimate / total for estimate in estimates]
