"""The target and data of an action in the moment in which it is performed: what was written, and what templates made."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from homeassistant.helpers.template import Template, is_complex, render_complex
from homeassistant.helpers.typing import TemplateVarsType

from ..results import ToolError
from .targets import REFERENCES

type Values = dict[Any, Any]


@dataclass(slots=True)
class RenderedPart:
    """A target or data in the moment in which an action is performed."""

    constant: Values = field(default_factory=dict)
    """What was written."""
    made: Values = field(default_factory=dict)
    """What templates made."""

    def add(self, written: Any, variables: TemplateVarsType) -> None:
        """Render a part; references of which some are written and some are made are told apart."""
        if isinstance(written, Template):
            found = _render(written, variables)
            if not isinstance(found, Mapping):
                raise ToolError(f"A template made {found!r} where an object is needed.")
            self.made |= found
            return
        for key, value in written.items():
            if is_complex(key):
                self.made[_render(key, variables)] = _render(value, variables)
            elif key in REFERENCES and isinstance(value, list) and is_complex(value):
                self.constant[key] = [item for item in value if not is_complex(item)]
                self.made[key] = listed([_render(item, variables) for item in value if is_complex(item)])
            elif is_complex(value):
                self.made[key] = _render(value, variables)
            else:
                self.constant[key] = value

    @property
    def whole(self) -> Values:
        """All of it."""
        both = {key: [*listed(self.constant[key]), *listed(self.made[key])] for key in self.constant.keys() & self.made}
        return self.constant | self.made | both


def _render(value: Any, variables: TemplateVarsType) -> Any:
    """A value as plain data: what is read from the text of a template may also be a set or bytes."""
    return _plain(render_complex(value, variables))


def _plain(value: Any) -> Any:
    """A value as JSON has it; raises ToolError for what it has not."""
    match value:
        case Mapping():
            return {_plain(key): _plain(item) for key, item in value.items()}
        case list() | tuple() | set() | frozenset():
            return [_plain(item) for item in value]
        case str() | int() | float() | None:
            return value
    raise ToolError(f"A template made {value!r}, which is neither text nor number, list or object.")


def listed(value: Any) -> list[Any]:
    """A value, or several inside lists, as one list."""
    return [one for item in value for one in listed(item)] if isinstance(value, list | tuple) else [value]
