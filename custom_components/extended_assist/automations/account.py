"""What a change of an automation, script or scene comes to, part by part, so that it can be told in portions."""

from collections.abc import Iterable, Mapping
from typing import Any

from ..toolbox.call import ToolCall
from ..toolbox.consequential import acts_of
from ..toolbox.plan import Part, Step
from .describe_scripts import DESCRIBERS

_WAITS_OR_DECIDES = frozenset({"and", "condition", "delay", "not", "or", "stop", "wait_for_trigger", "wait_template"})


def parts_of(
    call: ToolCall,
    kind: str,
    config: Mapping[str, Any],
    notes: Iterable[str] = (),
    *,
    told: Mapping[str, Any] | None = None,
    runs: bool = True,
    known: frozenset[str] = frozenset(),
) -> tuple[Part, ...]:
    """Return when it runs, its steps with what each would do, and notes; one that does not run does nothing.

    The words are those of what is told, where secrets were taken out of it. known are actions that may be named whatever they are.
    """
    describer = DESCRIBERS[kind](call.hass, call.exposure, known=known)
    when, steps, rest = describer.pieces(config if told is None else told)
    acts = [tuple(acts_of(call.hass, [step])) for _, step in describer.pieces(config)[1]] if runs else [()] * len(steps)
    if len(acts) != len(steps):  # Several that may not be named are told as one, which may be any of them.
        acts = [tuple(one for some in acts for one in some)] * len(steps)
    unknown = (Step(""),) if runs and "use_blueprint" in config else ()
    parts = [Part(words, says_when=True) for words in when if words]
    parts += [
        Part(words, does, says_when=_says_when(step)) for (words, step), does in zip(steps, acts, strict=True) if words
    ]
    return (*parts, *([Part(rest, unknown)] if rest else []), *(Part(words) for words in notes if words))


def _says_when(step: Any) -> bool:
    """Return whether a step says when the ones after it are done, or whether they are."""
    return not isinstance(step, Mapping) or not _WAITS_OR_DECIDES.isdisjoint(step)


def shown(difference: str) -> str:
    """Return the lines that change as they are shown."""
    lines = difference.replace("```", "'''")
    return f"```diff\n{lines}\n```"
