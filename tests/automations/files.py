"""Files of automations as they are found in homes."""

from typing import Any

from homeassistant.util.yaml import dump


def automation(number: int) -> dict[str, Any]:
    """Return an automation as the editor of Home Assistant writes them."""
    return {
        "id": str(1_700_000_000_000 + number),
        "alias": f"Automation {number}",
        "description": 'Grüße, 💡: it\'s "on"',
        "triggers": [{"trigger": "state", "entity_id": ["input_boolean.motion"], "to": "on", "for": {"minutes": 5}}],
        "conditions": [{"condition": "time", "after": "17:30:00", "before": "23:00:00"}],
        "actions": [
            {"action": "input_boolean.turn_on", "target": {"entity_id": f"input_boolean.l{number}"}, "data": {}},
            {"delay": "00:05:00"},
        ],
        "mode": "single",
    }


HAND_WRITTEN = """\
# Automations of the house
- alias: Porch   # the old one
  id: '1'
  description: >-
    Turns the porch
    light on.

  # only when somebody is there
  trigger:
    - platform: state
      entity_id: input_boolean.motion  # hall
      to: 'on'
  action:
  - service: input_boolean.turn_on
    data: {entity_id: input_boolean.porch}
    alias: "# no comment"


# ----- alarm -----
- id: 'alarm'
  alias: Alarm
  triggers: []
  actions:
    - action: input_boolean.turn_on
      target: {entity_id: !secret lamp}
- !include other.yaml
-
  # the name is below
  id: last
  alias: Last
  triggers: []
  actions: &nothing []
  conditions: *nothing
"""

GOOD: dict[str, str] = {
    "empty": "",
    "line break": "\n",
    "brackets": "[]\n",
    "brackets and comment": "# mine\n[] # none yet",
    "comments": "# nothing here\n# yet",
    "document mark": "---\n",
    "500": dump([automation(number) for number in range(500)]),
    "hand-written": HAND_WRITTEN,
    "marked": f"---\n{HAND_WRITTEN}",
    "crlf": HAND_WRITTEN.replace("\n", "\r\n"),
    "no line break at the end": HAND_WRITTEN.rstrip(),
    "blank lines at the end": f"{HAND_WRITTEN}\n\n\n",
    "comment at the end": f"{HAND_WRITTEN}  # over",
    "indented": "".join(f"  {line}" for line in HAND_WRITTEN.splitlines(keepends=True)),
    "invalid items": "- id: '1'\n  alias: A\n- 17\n-\n- [a]\n- not: one\n  'y': 1\n- {id: b, alias: B}\n",
    "one": "- id: '1'\n  alias: A\n",
    "mark at the end": "- id: '1'\n  alias: A\n# end\n...\n# over\n",
    "brackets and mark at the end": "[]\n...\n",
}
"""These can be added to; where there is one with the id 1, it can be changed and removed."""

BAD: dict[str, tuple[str, str]] = {
    "object": ("alias: A\n", "it is not a list"),
    "text": ("hello\n", "it is not a list"),
    "null": ("null\n", "it is not a list"),
    "not YAML": ("- id: '1'\n  alias: [\n", "it is not valid YAML in line"),
    "tabs": ("- id: '1'\n\talias: A\n", "it is not valid YAML in line 2"),
    "one line": ("[{id: '1', alias: A}]\n", "one pair of brackets"),
    "two documents": ("- id: '1'\n---\n- id: '2'\n", "several documents"),
    "document after the mark at the end": ("- id: '1'\n...\n---\n- id: '2'\n", "several documents"),
    "two empty lists": ("[]\n---\n[]\n", "several documents"),
    "anchor before the list": ("--- &all\n  - id: '1'\n    alias: A\n", "its lines cannot be told apart"),
    "block without line break": ("- id: '1'\n  description: |\n    text", "without changing more than it"),
}
"""These are refused for the reason."""
