"""Random sequences from a small grammar, in which some of the entities are hidden."""

from random import Random
from typing import Any

_LIGHTS = ("light.bed_light", "light.ceiling_lights", "light.whole", "bed light")
_OTHERS = ("input_boolean.party", "switch.decorative_lights", "group.visible", "fan.living_room_fan", "script.outer")
_HIDDEN = (
    "light.zebra",
    "light.narwhal",
    "input_boolean.zebra",
    "group.zebra",
    "script.zebra",
    "Zebra lamp",
    "scene.zebra",
)
_MIXED = ("group.mixed", "light.mixed", "scene.mixed", "switch.mixed")
_PLACES = (
    *({"area_id": "kitchen"}, {"area_id": "axolotl_room"}, {"floor_id": "ground_floor"}, {"label_id": "cosy"}),
    *({"label_id": "axolotl_label"}, {"entity_id": "all"}),
)
_SHORT = {"milliseconds": 1}


class Grammar:
    """Makes sequences, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        """Take the seed, and with it how much of what is named is hidden."""
        self._random = Random(seed)
        self._share = self._random.choice((0.0, 0.1, 0.3))

    def sequence(self, depth: int = 3) -> list[dict[str, Any]]:
        """Return some steps."""
        return [self.step(depth) for _ in range(self._random.randint(1, 3))]

    def entity(self, *known: str) -> str:
        """Return an entity, some of them hidden."""
        drawn = self._random.random()
        if drawn < self._share:
            return self._random.choice(_HIDDEN)
        return self._random.choice(_MIXED if drawn > 1 - self._share else known or (*_LIGHTS, *_OTHERS))

    def template(self) -> str:
        """Return a template that reads an entity, or a variable."""
        entity = self.entity("light.bed_light", "input_boolean.party")
        return self._random.choice(
            (
                f"{{{{ states('{entity}') }}}}",
                f"{{{{ is_state('{entity}', 'on') }}}}",
                f"{{{{ state_attr('{entity}', 'entity_id') }}}}",
                f"{{{{ states.{entity.replace(' ', '_')}.attributes }}}}",
                f"{{{{ expand('{entity}') | count }}}}",
                "{{ area_entities('Bed Room') | count }}",
                "{{ (found | default([])) | string }}",
                "{{ now().hour >= 0 }}",
            )
        )

    def condition(self, depth: int) -> Any:
        """Return a condition."""
        kinds = ["state", "template", "text", "numeric", "target", *(["and", "or", "not"] if depth else [])]
        match self._random.choice(kinds):
            case "state":
                return {"condition": "state", "entity_id": self.entity(), "state": "on"}
            case "numeric":
                return {
                    "condition": "numeric_state",
                    "entity_id": "input_number.level",
                    "above": self._random.randint(-1, 1),
                }
            case "template":
                return {"condition": "template", "value_template": self.template()}
            case "target":
                return {"condition": "light.is_on", "target": {"entity_id": self.entity(*_LIGHTS)}}
            case "text":
                return self.template()
            case kind:
                return {kind: [self.condition(depth - 1) for _ in range(2)]}

    def action(self) -> dict[str, Any]:
        """Return an action on an entity or a place."""
        name = self._random.choice(("turn_on", "turn_off", "toggle"))
        if self._random.random() < self._share:
            return {"action": f"light.{name}", "target": self._random.choice(_PLACES)}
        if self._random.random() < 0.5:
            return {"action": f"homeassistant.{name}", "target": {"entity_id": self.entity()}}
        target = {"entity_id": [self.entity(*_LIGHTS) for _ in range(2)]}
        return {
            "action": f"light.{name}",
            "target": target,
            "data": {"transition": self._random.choice((0, "{{ 1 - 1 }}"))},
        }

    def step(self, depth: int) -> dict[str, Any]:
        """Return a step."""
        if depth and self._random.random() < 0.4:
            return self._nested(depth)
        kinds = ("action", "action", "delay", "variables", "wait", "trigger", "say", "stop", "script", "condition")
        match self._random.choice(kinds):
            case "action":
                return self.action()
            case "delay":
                return {"delay": _SHORT}
            case "variables":
                return {"variables": {"found": self.template()}}
            case "wait":
                return {"wait_template": self.template(), "timeout": _SHORT}
            case "trigger":
                return {"wait_for_trigger": {"trigger": "state", "entity_id": self.entity()}, "timeout": _SHORT}
            case "say":
                return {"set_conversation_response": self.template()}
            case "script":
                return {"action": "script.visible", "response_variable": "heard"}
            case "stop":
                return {"stop": "", "response_variable": self._random.choice(("found", "heard"))}
        return {"and": [self.condition(depth)]}

    def _nested(self, depth: int) -> dict[str, Any]:
        """Return a step that holds others."""
        match self._random.choice(("choose", "if", "repeat", "while", "parallel", "sequence")):
            case "choose":
                option = {"conditions": self.condition(depth), "sequence": self.sequence(depth - 1)}
                return {"choose": [option], "default": self.sequence(depth - 1)}
            case "if":
                return {
                    "if": [self.condition(depth)],
                    "then": self.sequence(depth - 1),
                    "else": self.sequence(depth - 1),
                }
            case "repeat":
                return {"repeat": {"count": 2, "sequence": self.sequence(depth - 1)}}
            case "while":
                return {
                    "repeat": {
                        "while": ["{{ repeat.index < 3 }}", self.condition(depth)],
                        "sequence": self.sequence(depth - 1),
                    }
                }
            case "parallel":
                return {"parallel": [self.sequence(depth - 1), *self.sequence(depth - 1)]}
        return {"sequence": self.sequence(depth - 1)}
