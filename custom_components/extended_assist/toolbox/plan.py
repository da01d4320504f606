"""What a call would do, resolved: what is told, asked about, and then done."""

from collections.abc import Mapping
from dataclasses import dataclass, field
import hashlib
import json
from typing import Any

MAX_NAMED = 12
"""Entities that one step names one by one; of more, their number and kind are told."""


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that would be done."""

    action: str
    """The action, such as "lock.unlock"; empty where it cannot be known."""
    entity_ids: tuple[str, ...] = ()
    """The entities, groups included as they are moved."""
    data: Mapping[str, Any] = field(default_factory=dict)
    words: str = ""
    """One complete line for a person, in English."""


@dataclass(frozen=True, slots=True)
class Plan:
    """All that a call would do."""

    steps: tuple[Step, ...]
    sentence: str
    """What it would do in one sentence, short enough to be heard."""
    is_whole: bool = True
    """Whether the steps are all there is; what cannot be read counts as consequential."""

    def fingerprint(self) -> str:
        """Return the SHA-256 of the steps: what was told is what is done."""
        steps = [[step.action, step.entity_ids, step.data, step.words] for step in self.steps]
        return hashlib.sha256(json.dumps(steps, sort_keys=True, default=str).encode()).hexdigest()
