"""What a change of an automation, script or scene comes to, part by part, so that it can be told in portions."""

from collections.abc import Iterable, Mapping
from typing import Any

from ..toolbox.call import ToolCall
from ..toolbox.consequential import acts_of
from ..toolbox.plan import Part
from .describe_scripts import DESCRIBERS


def parts_of(
    call: ToolCall,
    kind: str,
    config: Mapping[str, Any],
    notes: Iterable[str] = (),
    *,
    runs: bool = True,
    known: frozenset[str] = frozenset(),
) -> tuple[Part, ...]:
    """Return when it runs, its steps with what each would do, and notes; one that does not run does nothing.

    known are actions that may be named whatever they are.
    """
    when, steps, rest = DESCRIBERS[kind](call.hass, call.exposure, known=known).pieces(config)
    parts = [Part(words, says_when=True) for words in when if words]
    parts += [Part(words, tuple(acts_of(call.hass, [step])) if runs else ()) for words, step in steps if words]
    return (*parts, *(Part(words) for words in (rest, *notes) if words))


def shown(difference: str) -> str:
    """Return the lines that change as they are shown."""
    lines = difference.replace("```", "'''")
    return f"```diff\n{lines}\n```"
