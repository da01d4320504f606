"""Random templates from a grammar that is wider than the table of forms: all that Home Assistant offers, on all there is."""

from collections.abc import Sequence
from random import Random
import re

from homeassistant.helpers.template import TemplateEnvironment

_VALUES = (
    "1",
    "0",
    "2.5",
    "'a'",
    "none",
    "true",
    "x",
    "[1, 2]",
    "{'a': 1}",
    "now()",
    "'on'",
    "'%s'",
    "'{0}'",
    "repeat.item",
)
_IDS = (
    "'light.lamp'",
    "'light.lamp'",
    "'sensor.power'",
    "'group.lights'",
    "'sensor.zebra'",
    "trigger.entity_id",
    "x",
    "('sensor.' ~ 'zebra')",
)
_OBJECTS = (
    *(
        "states",
        "states.light",
        "states.light.lamp",
        "states['light.lamp']",
        "states.sensor.zebra",
        "states.group.lights",
    ),
    *(
        "trigger",
        "trigger.to_state",
        "trigger.from_state",
        "wait",
        "wait.trigger",
        "this",
        "context",
        "state",
        "answer",
        "agenda",
    ),
    *("a", "ns", "ns.a", "i", "loop", "self"),
)
_PARTS = (
    *(
        ".state",
        ".name",
        ".attributes",
        ".attributes.brightness",
        ".attributes.rgb_color",
        ".attributes.entity_id",
        ".context",
    ),
    *(
        ".attributes.access_token",
        ".attributes['config']",
        ".attributes.summary",
        ".attributes.stream",
        ".last_changed",
        ".user_id",
    ),
    *(
        ".to_state",
        "['to_state']",
        ".entity_id",
        "[0]",
        "[x]",
        "['a']",
        ".item",
        ".trigger",
        ".id",
        ".children",
        ".completed",
    ),
)
_ATTRIBUTES = ("'brightness'", "'access_token'", "'entity_id'", "'rgb_color'", "'config'", "'summary'", "'stream'", "x")
_METHODS = (
    "get('state')",
    "get('access_token')",
    "items()",
    "values()",
    "as_dict()",
    "format(X)",
    "upper()",
    "split('a')",
    "get(X)",
)
_OPERATORS = ("+", "-", "*", "/", "%", "~", "==", "!=", "in", "and", "or")
_STATEMENTS = (
    "{{ X }}",
    "{{ X }}{{ X }}",
    "{% set a = X %}{{ a }}{{ X }}",
    "{% set a = X %}{% if X %}{% set a = X %}{% endif %}{{ X }}{{ a.state }}",
    "{% set a, b = X, X %}{{ a }}{{ b }}",
    "{% set a %}{{ X }}{% endset %}{{ X }}",
    "{% set ns = namespace(a=X) %}{% set ns.a = X %}{{ ns.a }}{{ X }}",
    "{% for i in X %}{{ i }}{{ X }}{% endfor %}",
    "{% for i in [X] if X %}{{ i }}{% set a = i %}{{ a }}{% else %}{{ X }}{% endfor %}{{ a }}",
    "{% if X %}{{ X }}{% elif X %}{{ X }}{% endif %}",
    "{% macro m(a) %}{{ X }}{% endmacro %}{{ m(X) }}",
    "{% with a = X %}{{ X }}{% endwith %}",
)
_LOOKUPS = ("apply", "attr", "expand", "map", "state_attr", "states")
_EXPRESSIONS = (
    *(
        "(X | F)",
        "(X | F(X))",
        "([X] | map('F') | list)",
        "([I] | map('F') | list)",
        "([X] | map(attribute=A) | list)",
        "G(X)",
        "G(X, X)",
        "G(I)",
    ),
    *(
        "([X] | select('T', Y) | list)",
        "([X] | reject('T') | list)",
        "(X is T)",
        "(X is T(Y))",
        "(X).M",
        "(X)P",
        "(I | F)",
    ),
    *(
        "states(I)",
        "is_state(I, X)",
        "has_value(I)",
        "area_name(I)",
        "expand(I)",
        "state_attr(I, A)",
        "is_state_attr(I, A, X)",
    ),
    *("[X, X]", "{'a': X}", "(X if Y else X)", "(X O X)", "(X O Y)", "(not X)"),
)
_PLACE = re.compile(r"\b[A-Z]\b|(?<=\))P")


class Grammar:
    """Makes templates, the same for the same seed."""

    def __init__(self, chance: Random, environment: TemplateEnvironment) -> None:
        """Take chance, and the environment with all that may be called."""
        self._chance = chance
        self._fillings = {
            "A": _ATTRIBUTES,
            "F": [*sorted(environment.filters), *_LOOKUPS * 4],
            "G": sorted(name for name, value in environment.globals.items() if callable(value)),
            "I": _IDS,
            "M": _METHODS,
            "O": _OPERATORS,
            "P": _PARTS,
            "T": sorted(name for name in environment.tests if name.isidentifier()),
        }

    def template(self) -> str:
        """Return a template."""
        first, *rest = self._one(_STATEMENTS).split("X")
        return first + "".join(f"{self._expression(self._chance.randint(0, 2))}{part}" for part in rest)

    def _one(self, values: Sequence[str]) -> str:
        return self._chance.choice(values)

    def _leaf(self) -> str:
        """Return a value, an object, or a part of one."""
        match self._chance.randrange(6):
            case 0 | 1:
                return self._one(_VALUES)
            case 2:
                return self._one(_OBJECTS)
        return self._one(_OBJECTS) + self._one(_PARTS) + (self._one(_PARTS) if self._chance.random() < 0.3 else "")

    def _expression(self, depth: int) -> str:
        """Return an expression, with others inside of it."""
        if depth <= 0:
            return self._leaf()
        return _PLACE.sub(lambda place: self._fill(place[0], depth - 1), self._one(_EXPRESSIONS))

    def _fill(self, place: str, depth: int) -> str:
        """Return what stands in a place of an expression."""
        if place in ("X", "Y"):
            return self._expression(depth) if place == "X" else self._leaf()
        return self._one(self._fillings[place]).replace("X", self._leaf())
