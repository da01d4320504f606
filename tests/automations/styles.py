"""Sixty files of automations in the styles that people write, each with at least one automation that has an id."""

from homeassistant.util.yaml import dump
from tests.automations.files import GOOD, HAND_WRITTEN, automation

FILES = {
    "secrets.yaml": "lamp: input_boolean.porch\ncode: '1234'\nname: a secret id\n",
    "other.yaml": "id: other\nalias: Other\ntriggers: []\nactions: []\n",
    "steps.yaml": "- action: input_boolean.turn_on\n  target: {entity_id: input_boolean.porch}\n",
    "trigger.yaml": "trigger: state\nentity_id: input_boolean.motion\n",
}
"""Files that some of them include."""

EDITOR = dump([automation(number) for number in range(3)])
BLUEPRINT = """\
- id: '1710000000001'
  alias: Motion light
  description: ''
  use_blueprint:
    path: homeassistant/motion_light.yaml
    input:
      motion_entity: binary_sensor.hall_motion
      light_target:
        entity_id: light.hall
      no_motion_wait: 120
"""
OLDER = """\
- id: 'porch_on'
  alias: 'Porch on'
  initial_state: 'on'
  hide_entity: false
  trigger:
    platform: state
    entity_id: binary_sensor.porch
    to: 'on'
  condition:
    condition: state
    entity_id: sun.sun
    state: below_horizon
  action:
    service: light.turn_on
    entity_id: light.porch
- alias: No id
  trigger: {platform: sun, event: sunset}
  action: {service: light.turn_on}
- id: porch_off
  alias: "Porch off"
  trigger:
  - platform: state
    entity_id: binary_sensor.porch
    to: 'off'
    for:
      minutes: 5
  action:
  - service: light.turn_off
    data:
      entity_id: light.porch
"""
JINJA = """\
- id: templates
  alias: Tell what is open
  triggers:
    - trigger: template
      value_template: >-
        {{ states.binary_sensor
           | selectattr('state', 'eq', 'on')
           | map(attribute='name') | list | count > 0 }}
    - trigger: template
      value_template: "{{ is_state('a.b', 'on') and (1 * 2) & 3 }}"
  variables:
    open: >
      {% set found = namespace(names=[]) %}
      {% for state in expand('group.doors') if state.state == 'on' %}
        {% set found.names = found.names + [state.name] %}
      {% endfor %}
      {{ found.names }}
    message: |-
      # This is no comment
      - id: 'nor is this an automation'
      {{ open | join(', ') }}: "quoted" 'text' *bold* &amp; more
  actions:
    - action: notify.notify
      data:
        title: '{{ "It''s" }}'
        message: "{{ message }}\\n\\tdone \\u2028 \\\\ \\"x\\""
- id: after
  alias: After
  triggers: []
  actions: []
"""
CHOMPED = "".join(
    f"- id: 'block {number}'\n  alias: Block {number}\n  triggers: []\n  actions: []\n  description: {mark}\n{body}"
    for number, (mark, body) in enumerate(
        [
            ("|", "    one\n    two\n\n\n"),
            ("|-", "    one\n\n    two\n"),
            ("|+", "    one\n\n\n"),
            (">", "    one\n    two\n\n    three\n\n"),
            (">-", "    one\n"),
            (">+", "    one\n\n"),
            ("|2", "      deep\n    less\n"),
            (">1-", "   one\n"),
            ("|-  # about it", "    one\n"),
            ("|", "    # no comment\n    one\n  # a comment\n# and another\n"),
        ]
    )
)
TEXTS = """\
- id: "double"
  alias: "Tab\\tand \\"quote\\" \\x41 \\N \\
    continued"
  description: 'it''s: # no comment
    and goes on

    here'
  triggers: []
  actions: []
- id: plain
  alias: Plain text that goes
    on in another line
  description: a#b c:d -e ?f {no} [list]
  triggers: []
  actions: []
- id: 'empty ones'
  alias: Empty
  description:
  variables: {}
  triggers: []
  actions: ~
"""
FLOW = """\
- {id: flow, alias: Flow, triggers: [], actions: [{action: light.turn_on, target: {entity_id: light.a}}]}
- {id: lines, alias: Lines,
   triggers: [{trigger: time, at: '10:00'}],
   # inside
   actions: []}
- id: mixed
  alias: Mixed
  triggers: [{trigger: state,
    entity_id: [light.a,
  light.b]}]
  actions: [
    {delay: '00:00:05'},  # wait
  ]
"""
ANCHORS = """\
- id: within
  alias: Within one
  triggers:
    - &motion {trigger: state, entity_id: binary_sensor.a}
    - *motion
  actions: []
- id: giver
  alias: Giver
  triggers: &when
    - trigger: sun
      event: sunset
  actions: []
- id: taker
  alias: Taker
  triggers: *when
  actions: []
- id: free
  alias: Free
  triggers: []
  actions: []
"""
MERGED = """\
- &base
  id: base
  alias: Base
  mode: restart
  triggers: []
  actions: []
- <<: *base
  id: made
  alias: Made from it
- id: 'of its own'
  alias: Of its own
  triggers: []
  actions: []
"""
INNER_MERGE = """\
- id: target
  alias: Merged inside
  triggers: []
  variables:
    first: &first {brightness: 10, transition: 1}
    second:
      <<: *first
      brightness: 20
  actions: []
- id: free
  alias: Free
  triggers: []
  actions: []
"""
COMMENTS = """\
#
# ============ Lights ============
#
# - id: old
#   alias: Switched off long ago

- id: lights   # the first
  # between the keys
  alias: Lights  # name
      # far to the right
  triggers:    # when
    # a comment first
    - trigger: sun
      event: sunset  # or earlier
   # one column to the left
  actions:
    - action: light.turn_on  # on
      target:
        entity_id:
          - light.a   # left
          # - light.b
          - light.c
# at the very left
  mode: single

  # belongs to nobody

# ============ Blinds ============
- id: blinds
  alias: Blinds
  triggers: []
  actions: []

#EOF
"""
DISABLED = """\
- id: disabled
  alias: Partly disabled
  triggers:
    - enabled: false
      trigger: state
      entity_id: light.a
  conditions:
    - condition: state
      entity_id: light.a
      state: 'on'
      enabled: "{{ false }}"
  actions:
    - action: light.turn_on
      enabled: false
  initial_state: false
"""
TAGS = """\
- id: tags
  alias: Tags
  triggers:
    - !include trigger.yaml
  actions: !include steps.yaml
- id: secret
  alias: Secret
  triggers: []
  actions:
    - action: alarm_control_panel.alarm_disarm
      data:
        code: !secret code
      target: {entity_id: !secret lamp}
- !include other.yaml
- id: typed
  alias: !!str 17
  description: ! "text"
  triggers: !!seq []
  actions: []
"""
IDS = """\
- id: 1700000000001
  alias: A number
- id: 0123
  alias: Octal
- id: 1e3
  alias: A text after all
  triggers: []
  actions: []
- id: yes
  alias: True
- id: 2024-01-01
  alias: A day
- id: 12:30
  alias: Base sixty
- id: 1_000
  alias: Underscore
- id: 0x1F
  alias: Hexadecimal
- id: 1.5
  alias: Fraction
- id: ~
  alias: Nothing
- id: !secret name
  alias: Secret
- id: "with spaces and ümlaut 💡"
  alias: Spaces
  triggers: []
  actions: []
- alias: Last
  triggers: []
  actions: []
  id: '0123'
"""
SAME = """\
- id: same
  alias: One
  triggers: []
  actions: []
- id: 'same'
  alias: Other
  triggers: []
  actions: []
- id: single
  alias: Single
  triggers: []
  actions: []
"""
DEEP = """\
- id: deep
  alias: Deep
  triggers: []
  actions:
    - choose:
        - conditions: "{{ true }}"
          sequence:
            - repeat:
                count: 3
                sequence:
                  - if: [{condition: template, value_template: "{{ true }}"}]
                    then:
                      - parallel:
                          - - delay: 1
                            - delay: 2
                          - sequence: [{stop: done}]
                    else: []
      default: []
- id: next
  alias: Next
  triggers: []
  actions: []
"""
NESTED_DASHES = """\
-   id: wide
    alias: Wide
    triggers:
    -   trigger: time
        at: '10:00'
    actions: []
-
    id: below
    alias: Below
    triggers: []
    actions: []
-   # about it
    id: commented
    alias: Commented
    triggers: []
    actions: []
"""
QUOTED_KEYS = """\
- "id": "quoted"
  'alias': Quoted
  "triggers": []
  "actions": []
- ? id
  : explicit
  ? alias
  : Explicit
  ? triggers
  : []
  ? actions
  : []
- id: next
  alias: Next
  triggers: []
  actions: []
"""
UNCLOSED_LOOK = """\
- id: a
  alias: 'looks like an end
- id: b
  alias: B'
  triggers: []
  actions: []
- id: c
  alias: "A [ and { and ' inside"
  triggers: []
  actions: [
{stop: ''}]
"""
PACKAGE_LIKE = """\
# Moved here from a package
- id: hall_1
  alias: "[Hall] Light on"
  mode: restart
  max_exceeded: silent
  trace: {stored_traces: 20}
  trigger_variables: {who: me}
  variables:
    off: !!bool "no"
  triggers: [{trigger: homeassistant, event: start}]
  conditions: []
  actions: [{stop: ''}]
- alias: "[Hall] Light off"
  id: hall_2
  triggers: [{trigger: homeassistant, event: shutdown}]
  actions: [{stop: ''}]
"""


def crlf(text: str) -> str:
    """Return a text as editors on Windows write it."""
    return text.replace("\n", "\r\n")


def indented(text: str, columns: int = 2) -> str:
    """Return a text with its list moved to the right."""
    return "".join(f"{' ' * columns}{line}" if line.strip() else line for line in text.splitlines(keepends=True))


_ALL = (EDITOR, OLDER, JINJA, CHOMPED, TEXTS, FLOW, COMMENTS, DISABLED, TAGS, DEEP, PACKAGE_LIKE)
STYLES: dict[str, str] = {
    "editor": EDITOR,
    "editor, CRLF": crlf(EDITOR),
    "editor, no line break at the end": EDITOR.rstrip("\n"),
    "editor, blank lines between": EDITOR.replace("\n- id", "\n\n\n- id"),
    "editor, indented": indented(EDITOR),
    "editor, mark": f"---\n{EDITOR}",
    "editor, mark with a comment": f"# mine\n--- # automations\n\n{EDITOR}",
    "editor, mark at the end": f"{EDITOR}...\n",
    "editor, both marks and comments": f"---\n{EDITOR}# end\n...\n# over\n",
    "editor, directive": f"%YAML 1.1\n---\n{EDITOR}",
    "editor, comment at the end": f"{EDITOR}# over",
    "editor, blanks at the end": f"{EDITOR}\n   \n\n  ",
    "editor, comments and CRLF": crlf(f"# mine\n{EDITOR}# end\n"),
    "editor, one line ends with CRLF": EDITOR.replace("\n", "\r\n", 1),
    "editor, tabs in comments": EDITOR.replace("\n- id", "\n#\tnext\t\n- id").replace(
        "mode: single", "mode: single\t# tab"
    ),
    "blueprint": BLUEPRINT,
    "blueprints and others": BLUEPRINT + EDITOR,
    "blueprint, CRLF": crlf(BLUEPRINT),
    "older": OLDER,
    "older, indented": indented(OLDER),
    "older, mark": f"---\n{OLDER}",
    "templates": JINJA,
    "templates, CRLF": crlf(JINJA),
    "templates, indented": indented(JINJA, 4),
    "blocks": CHOMPED,
    "blocks, CRLF": crlf(CHOMPED),
    "blocks, indented": indented(CHOMPED),
    "blocks, no line break at the end": CHOMPED.rstrip("\n"),
    "texts": TEXTS,
    "texts, CRLF": crlf(TEXTS),
    "flow": FLOW,
    "flow and others": FLOW + EDITOR,
    "anchors": ANCHORS,
    "anchors, CRLF": crlf(ANCHORS),
    "merged": MERGED,
    "merged, indented": indented(MERGED),
    "merged inside": INNER_MERGE,
    "comments": COMMENTS,
    "comments, CRLF": crlf(COMMENTS),
    "comments, indented": indented(COMMENTS),
    "disabled": DISABLED,
    "tags": TAGS,
    "tags, indented": indented(TAGS),
    "ids": IDS,
    "ids, CRLF": crlf(IDS),
    "same id": SAME,
    "deep": DEEP,
    "deep, no line break at the end": DEEP.rstrip("\n"),
    "dashes": NESTED_DASHES,
    "dashes, indented": indented(NESTED_DASHES),
    "quoted keys": QUOTED_KEYS,
    "looks unclosed": UNCLOSED_LOOK,
    "from a package": PACKAGE_LIKE,
    "hand-made": HAND_WRITTEN,
    "hand-made, then editor": HAND_WRITTEN + EDITOR,
    "hand-made, tabs in comments": HAND_WRITTEN.replace("# ", "#\t"),
    "other line breaks": EDITOR.replace("Automation 1", "Auto\u2028   mation 1").replace("Grüße", "Grü\x85ße"),
    "emoji and right to left": EDITOR.replace("Automation", "אוטומציה 🏳️‍🌈 自动化"),
    "one": GOOD["one"],
    "everything": "\n".join(_ALL),
}
"""Tests change each of their automations. A mark at the beginning of the file is in tests of the file itself."""
