"""The names that templates find when Home Assistant runs what was written, each with what it stands for."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from homeassistant.const import ATTR_ENTITY_ID
from homeassistant.core import valid_entity_id

from ..results import ToolError
from ..templates import forms
from ..templates.render import environment

_NO_TRIGGERS = frozenset({"data", "data_template", "metadata", "options", "target", "variables"})
"""Where nothing is a trigger, whatever its keys."""
_UNNAMED = frozenset({"device", "template"})
"""Kinds of triggers whose entities do not stand beside them."""


class RunNames:
    """The names of one automation or sequence; what is not told of is not known."""

    def __init__(self, variables: Iterable[str] = ()) -> None:
        """Take the names of variables that are defined from outside."""
        self._values: dict[str, forms.Form] = dict.fromkeys(variables, forms.PLAIN)
        self._kinds: set[str] = set()
        self._read: set[str] = set()

    @staticmethod
    def check(part: Any, place: str) -> None:
        """Refuse a part that gives a name of Home Assistant another meaning."""
        taken = environment().globals.keys() - forms.CONSTANTS | forms.run_names(forms.PLAIN).keys() | {"loop"}
        for name, _ in _defined(part):
            if name in taken:
                raise ToolError(
                    f"{place}: '{name}' has a meaning of its own in templates. Call the variable differently."
                )

    def add(self, part: Any) -> None:
        """Add what a part defines, wherever in it.

        Whoever runs an automation could give its variables other values, so actions that assistants may use never do.
        """
        is_automation = isinstance(part, dict) and "triggers" in part
        for name, defined in _defined(part):
            before = self._values.get(name)
            form = forms.PLAIN if defined.constant and not is_automation and before is None else defined
            if before is not None and before != form:
                form = forms.PLAIN if _is_plain(before) and _is_plain(form) else _response("one of several actions")
            self._values[name] = form
        for item in _dicts(part):
            kind = item.get("trigger", item.get("platform"))
            if isinstance(kind, str):
                self._kinds.add(kind)
            if isinstance(kind, str) or isinstance(item.get("condition"), str):
                for value in (item.get(ATTR_ENTITY_ID), item.get("zone")):
                    texts = [value] if isinstance(value, str) else value if isinstance(value, list) else []
                    self._read |= {one.strip() for text in texts for one in str(text).split(",")}

    def forms(self, *, of_state: bool) -> Mapping[str, forms.Form]:
        """Return the names; a template of a numeric state finds the state besides."""
        is_known = all(kind in forms.TRIGGERS and kind not in _UNNAMED for kind in self._kinds)
        state = forms.state_form(frozenset(self._read))
        trigger = forms.trigger_form(frozenset(self._kinds), frozenset(self._read if is_known else ()))
        return self._values | forms.run_names(trigger) | ({"state": state} if of_state else {})


def _static(value: Any) -> forms.Form:
    """Return the form of a variable: the id of an entity, where it is written as such."""
    is_id = isinstance(value, str) and valid_entity_id(value)
    return replace(forms.PLAIN, constant=value) if is_id else forms.PLAIN


def _is_plain(form: forms.Form) -> bool:
    """Return whether a variable is a value."""
    return replace(form, constant="") == forms.PLAIN


def _response(action: str) -> forms.Form:
    """Return the form of an action's response."""
    return forms.PLAIN if action in forms.RESPONSES else forms.Form(f"the response of {action}")


def _defined(part: Any) -> Iterator[tuple[str, forms.Form]]:
    """Yield the names of the variables that a part defines, wherever it does, and what they stand for."""
    for item in _dicts(part, frozenset()):
        for key in ("trigger_variables", "variables", "fields"):
            if isinstance(variables := item.get(key), dict):
                yield from ((str(name), _static(value)) for name, value in variables.items())
        if isinstance(response := item.get("response_variable"), str) and "stop" not in item:
            yield response, _response(str(item.get("action", item.get("service"))))


def _dicts(part: Any, without: frozenset[str] = _NO_TRIGGERS) -> Iterator[dict[Any, Any]]:
    """Yield every dict inside a part, but for what is under some keys."""
    if isinstance(part, dict):
        yield part
    for item in (
        (value for key, value in part.items() if key not in without)
        if isinstance(part, dict)
        else part
        if isinstance(part, list)
        else ()
    ):
        yield from _dicts(item, without)
