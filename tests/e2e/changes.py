"""Changes of automations, scripts and scenes that are cut off: the files they begin with, the calls, and what may come of them."""

from dataclasses import dataclass
from typing import Any

import yaml

from tests.automations.faulty import HOWS, STEPS

LAMP = "input_boolean.lamp"
WHATS = ("add", "update", "remove", "undo")
"""What is done to each kind; what is undone is something that was added."""
COMMENTS = ("# mine", "# the other")
_COUNTS = {"add": (1, 0, 0), "update": (0, 0, 1), "remove": (0, 1, 0), "undo": (0, 1, 0)}
"""How many items each change adds, takes away and rewrites."""
_STEP = {"action": "input_boolean.turn_on", "target": {"entity_id": LAMP}}

type Case = tuple[str, str, str]
"""A step, how it fails, and the change that it is a step of."""


@dataclass(frozen=True)
class Kind:
    """Automations, scripts or scenes, with two of them in a file."""

    domain: str
    named_by: str
    """The key of the name."""
    loaded: str
    """The state of one that Home Assistant has loaded."""
    text: str
    """The file before any change."""
    added: dict[str, Any]
    """What is added, without its name."""

    @property
    def file(self) -> str:
        """Return the name of the file."""
        return f"{self.domain}s.yaml"

    @property
    def existing(self) -> tuple[str, str]:
        """Return the two in the file."""
        return f"{self.domain}.one", f"{self.domain}.two"

    @property
    def new(self) -> str:
        """Return what is added."""
        return f"{self.domain}.three"

    def call(self, what: str) -> tuple[str, dict[str, Any]]:
        """Return the tool that makes a change, and its arguments."""
        match what:
            case "add":
                return "add_automation", {self.domain: {self.named_by: "Three", **self.added}}
            case "update":
                return "update_automation", {"automation": self.existing[0], "changes": {self.named_by: "Another"}}
            case "remove":
                return "remove_automation", {"automation": self.existing[0]}
        return "undo_last_change", {}

    def is_whole(self, what: str, before: str, text: str) -> bool:
        """Return whether a text is the one before a change, or is valid, with that change and no other."""
        if text == before:
            return True
        old, new = self._items(before), self._items(text)
        appeared, gone = new.keys() - old.keys(), old.keys() - new.keys()
        rewritten = {key for key in old.keys() & new.keys() if old[key] != new[key]}
        counts = len(appeared), len(gone), len(rewritten)
        return counts == _COUNTS[what] and all(comment in text for comment in COMMENTS)

    def _items(self, text: str) -> dict[str, Any]:
        """Return what is in a file, by id."""
        found = yaml.safe_load(text)
        return found if isinstance(found, dict) else {item["id"]: item for item in found}


KINDS = {
    kind.domain: kind
    for kind in (
        Kind(
            "automation",
            "alias",
            "on",
            """\
# mine
- id: '1'
  alias: One
  triggers: []
  actions: []

- id: '2'   # the other
  alias: Two
  triggers: []
  actions: []
""",
            {"triggers": [{"trigger": "homeassistant", "event": "start"}], "actions": [_STEP]},
        ),
        Kind(
            "script",
            "alias",
            "off",
            """\
# mine
one:
  alias: One
  sequence: []

two:   # the other
  alias: Two
  sequence: []
""",
            {"sequence": [_STEP]},
        ),
        Kind(
            "scene",
            "name",
            "unknown",
            """\
# mine
- id: '1'
  name: One
  entities:
    input_boolean.lamp: 'on'

- id: '2'   # the other
  name: Two
  entities:
    input_boolean.lamp: 'off'
""",
            {"entities": [LAMP]},
        ),
    )
}
CHANGES = tuple(f"{what} {kind}" for kind in KINDS for what in WHATS)
CASES: tuple[Case, ...] = tuple((step, how, change) for step in STEPS for how in HOWS for change in CHANGES)
EXISTING = tuple(entity_id for kind in KINDS.values() for entity_id in kind.existing)
