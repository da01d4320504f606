"""Random templates from a small grammar: expressions inside each other, of all that is offered, with values that are too large."""

from collections.abc import Sequence
from random import Random

from custom_components.extended_assist.templates.environment import FUNCTIONS, ExposedEnvironment
from custom_components.extended_assist.templates.measures import TEXT_METHODS

_SMALL = ("1", "0", "-1", "2.5", "'a'", "'light.lamp'", "none", "true", "x", "'%d'", "'{}'", "[1]", "{'a': 1}", "now()")
_LARGE = (
    *("9223372036854775807", "1000000000", "999", "'a' * 400000", "'ab ' * 100000", "'\\U0001f6cb' * 200000"),
    *(
        "range(30000)",
        "range(9000) | list",
        "'%(a)999999999d'",
        "'{:999999999}'",
        "'{0:{0}}'",
        "'>999999s'",
        "'%c' * 999",
    ),
    *(
        "'9' * 5000",
        "'(a+)+$'",
        "'(?:a|aa)+b?c'",
        "'b' ~ 'a' * 150000",
        "'\\t' * 9000",
        "'http://a.b ' * 900",
        "'<!--' * 2000",
    ),
    *("deep", "wide", "text", "states", "states.light", "'[' * 100000", "[text, wide]", "zip(wide, text)"),
)
_OPERATORS = ("+", "-", "*", "/", "//", "%", "**", "~", "==", "<", "in", "and", "or")
_OTHER_METHODS = ("items()", "keys()", "values()", "bit_length()", "to_bytes(X)", "index(X)", "union(X)", "strftime(X)")
_STATEMENTS = (
    "{{ X }}",
    "{% for i in X %}{{ i }}{% endfor %}",
    "{% for i in X recursive %}{{ loop(X) }}{% endfor %}",
    "{% set ns = namespace(v=X) %}{% for i in range(99999) %}{% set ns.v = (X) if i < 0 else [ns.v, X] %}{% endfor %}{{ ns.v }}",
    "{% set ns = namespace(v=X) %}{% for i in range(99999) %}{% set ns.v = ns.v ~ ns.v %}{% endfor %}{{ ns.v }}",
    "{% set ns = namespace(v=X) %}{% for i in range(99999) %}{% set ns.v = zip(ns.v, X) %}{% endfor %}{{ ns.v | list }}",
    "{% set ns = namespace(v=X) %}{% for i in range(99999) %}{% set ns.v = ns.v | F %}{% endfor %}{{ ns.v }}",
    "{% macro m(v) %}{{ m([v, X]) }}{% endmacro %}{{ m(X) }}",
    "{% macro m(v, returns) %}{% do returns(X) %}{% endmacro %}{{ X | map('apply', m | as_function) | list }}",
    "{% set v %}{% for i in range(99999) %}{{ X }}{% endfor %}{% endset %}{{ v | F }}",
)
PRELUDE = (
    "{% set deep = namespace(v=[1]) %}{% for i in range(48) %}{% set deep.v = [deep.v] %}{% endfor %}{% set deep = deep.v %}"
    "{% set wide = range(9000) | map('string') | list %}{% set text = 'aab ' * 60000 %}{% set x = 'a' * 30 %}"
)


class Grammar:
    """Makes templates, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        """Take the seed."""
        self._random = Random(seed)
        here, ours = ExposedEnvironment(), {function.name for function in FUNCTIONS}
        # What asks the home is tried with hidden names elsewhere; here, it would need one.
        self._filters = sorted(here.filters.keys() - ours)
        self._functions = sorted(name for name, value in here.globals.items() if callable(value) and name not in ours)
        self._tests = sorted(name for name in here.tests.keys() - ours if name.isidentifier())

    def template(self) -> str:
        """Return a template."""
        parts = self._one(_STATEMENTS).split("X")
        text = "".join(f"{part}{self._expression(3)}" for part in parts[:-1]) + parts[-1]
        return PRELUDE + text.replace("| F", f"| {self._filter(1)}")

    def _one(self, values: Sequence[str]) -> str:
        return self._random.choice(values)

    def _value(self) -> str:
        return self._one(_LARGE if self._random.random() < 0.5 else _SMALL)

    def _arguments(self, depth: int) -> str:
        return ", ".join(self._expression(depth - 1) for _ in range(self._random.randint(0, 3)))

    def _filter(self, depth: int) -> str:
        """Return a filter with arguments, or one that goes through a list with another."""
        if self._random.random() < 0.2:
            kind = self._one(("map", "select", "reject"))
            table = self._filters if kind == "map" else self._tests
            return f"{kind}('{self._one(table)}'{', ' + self._expression(depth - 1) if self._random.random() < 0.5 else ''})"
        return f"{self._one(self._filters)}({self._arguments(depth)})"

    def _expression(self, depth: int) -> str:
        """Return an expression, with others inside of it."""
        if depth <= 0 or self._random.random() < 0.15:
            return f"({self._value()})"
        match self._random.randrange(9):
            case 0 | 1 | 2:
                return f"({self._expression(depth - 1)} | {self._filter(depth)})"
            case 3:
                return f"{self._one(self._functions)}({self._arguments(depth)})"
            case 4:
                return f"({self._expression(depth - 1)} is {self._one(self._tests)}({self._expression(depth - 1)}))"
            case 5:
                method = f"{self._one(sorted(TEXT_METHODS))}({self._arguments(depth)})"
                if self._random.random() < 0.3:
                    method = self._one(_OTHER_METHODS).replace("X", self._value())
                return f"({self._expression(depth - 1)}).{method}"
            case 6:
                return f"[{self._expression(depth - 1)}, {self._expression(depth - 1)}]"
            case 7:
                return f"({self._expression(depth - 1)})[{self._one(('0', '1:', '::2', '::-1'))}]"
        return f"({self._expression(depth - 1)} {self._one(_OPERATORS)} {self._expression(depth - 1)})"
