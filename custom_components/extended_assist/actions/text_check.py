"""Check texts in sequences: their length, their templates, and the variables that templates may use."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from homeassistant.const import ATTR_ENTITY_ID
from homeassistant.core import HomeAssistant, callback, valid_entity_id
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.template import is_template_string

from ..exposure.entities import Exposure
from ..results import ToolError, place_of, size, texts_in
from ..templates import Reach, check_reach, forms, read_form
from ..templates.bound_template import compiled
from ..templates.forms import Form
from ..templates.render import environment
from .data import ids_in, unexposed

MAX_SIZE = 40_000
"""The most characters of one check: far more than a person writes, and checked within milliseconds."""


class Texts:
    """Checks the texts of one sequence or automation."""

    def __init__(
        self, hass: HomeAssistant, exposure: Exposure, variables: Iterable[str] = (), *, is_bound: bool = False
    ) -> None:
        """Store the variables from outside; with `is_bound`, templates are replaced later and need no analysis."""
        self._hass = hass
        self._exposure = exposure
        self._is_bound = is_bound
        self._names = RunNames(variables)
        self._templates: dict[tuple[str, bool], Reach | ToolError] = {}
        self.entity_ids: set[str] = set()
        """All entities that a checked text names."""

    async def async_prepare(self, part: Any, place: str) -> None:
        """Analyse all templates of a part in the executor, before the part is checked."""
        try:
            length = size(part)
        except (TypeError, ValueError) as err:
            raise ToolError(f"{place}: this is nested too deeply, or is not JSON. Make it flatter.") from err
        if length > MAX_SIZE:
            raise ToolError(f"{place}: this has {length} characters; at most {MAX_SIZE} are allowed. Make it shorter.")
        found = [(text, path) for text, path in texts_in(part, keys=True) if is_template_string(text)]
        if self._is_bound:
            templates = {text: place_of(place, path) for text, path in found}
            await self._hass.async_add_executor_job(_each, lambda text: compiled(text.strip()), templates)
            return
        self._names.add(part)
        self._names.check(part, place)
        names = {of_state: self._names.forms(of_state=of_state) for of_state in (False, True)}
        self._templates |= await self._hass.async_add_executor_job(
            lambda: {(text, of_state): _read(text, names[of_state]) for text, _ in found for of_state in names}
        )

    def define(self, whole: Any) -> None:
        """Store the variables that a whole config defines, before its parts are checked."""
        self._names.add(whole)

    @callback
    def check(self, part: Any, place: str) -> None:
        """Check all texts inside a part; raises ToolError with the place and the reason."""
        for text, path in texts_in(part, keys=True):
            try:
                if not is_template_string(text):
                    self._check_plain(text)
                elif not self._is_bound:
                    # In a numeric_state trigger, the template also gets `state`; elsewhere, `state` is undefined.
                    if isinstance(reach := self._templates[text, path[-1:] == ("value_template",)], ToolError):
                        raise reach
                    check_reach(self._hass, self._exposure, reach)
                    self.entity_ids |= reach.entity_ids
            except ToolError as err:
                raise ToolError(f"{place_of(place, path)}: {err}") from err

    def _check_plain(self, text: str) -> None:
        """Raise ToolError for a text that names an entity that is not exposed, whether or not it exists."""
        for entity_id in ids_in(self._hass, text):
            if not self._exposure.is_exposed(entity_id):
                raise ToolError(unexposed(entity_id))
            self.entity_ids.add(entity_id)
        entry = er.async_get(self._hass).entities.get_entry(text.strip())
        if entry is not None and not self._exposure.is_exposed(entry.entity_id):
            raise ToolError(f"'{text}' was not found or is not exposed. Use exposed entities only.")


def holds_template(value: Any) -> bool:
    """Return whether any text inside a value is a template."""
    return any(is_template_string(text) for text, _ in texts_in(value, keys=True))


def _read(text: str, names: Mapping[str, Form]) -> Reach | ToolError:
    """Return the entity access of a template, or the error for it."""
    try:
        return read_form(text, names)
    except ToolError as err:
        return err


def _each[R](read: Callable[[str], R], templates: Mapping[str, str]) -> dict[str, R]:
    """Apply a function to each template; raises ToolError, with the place, for an invalid one."""
    found: dict[str, R] = {}
    for template, place in templates.items():
        try:
            found[template] = read(template)
        except ToolError as err:
            raise ToolError(f"{place}: {err}") from err
    return found


_NO_TRIGGERS = frozenset({"data", "data_template", "metadata", "options", "target", "variables"})
"""Keys under which nothing is a trigger."""
_UNNAMED = frozenset({"device", "template"})
"""Kinds of triggers that do not name their entities in entity_id."""


class RunNames:
    """The variables that templates of one automation or sequence can use."""

    def __init__(self, variables: Iterable[str] = ()) -> None:
        """Store the variables that are defined outside."""
        self._values: dict[str, forms.Form] = dict.fromkeys(variables, forms.PLAIN)
        self._kinds: set[str] = set()
        self._read: set[str] = set()

    @staticmethod
    def check(part: Any, place: str) -> None:
        """Raise ToolError for a variable that has the name of one of Home Assistant's template functions."""
        taken = environment().globals.keys() - forms.CONSTANTS | forms.run_names(forms.PLAIN).keys() | {"loop"}
        for name, _ in _defined(part):
            if name in taken:
                raise ToolError(
                    f"{place}: '{name}' has a meaning of its own in templates. Call the variable differently."
                )

    def add(self, part: Any) -> None:
        """Add the variables that a part defines at any depth.

        Whoever runs an automation could pass other values, so the actions that assistants may use never pass any.
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
        """Return the variables with their forms; a template of a numeric_state trigger also gets `state`."""
        is_known = all(kind in forms.TRIGGERS and kind not in _UNNAMED for kind in self._kinds)
        state = forms.state_form(frozenset(self._read))
        trigger = forms.trigger_form(frozenset(self._kinds), frozenset(self._read if is_known else ()))
        return self._values | forms.run_names(trigger) | ({"state": state} if of_state else {})


def _static(value: Any) -> forms.Form:
    """Return the form of a variable: the entity id itself if the value is one."""
    is_id = isinstance(value, str) and valid_entity_id(value)
    return replace(forms.PLAIN, constant=value) if is_id else forms.PLAIN


def _is_plain(form: forms.Form) -> bool:
    return replace(form, constant="") == forms.PLAIN


def _response(action: str) -> forms.Form:
    return forms.PLAIN if action in forms.RESPONSES else forms.Form(f"the response of {action}")


def _defined(part: Any) -> Iterator[tuple[str, forms.Form]]:
    """Yield the names of the variables that a part defines at any depth, with their forms."""
    for item in _dicts(part, frozenset()):
        for key in ("trigger_variables", "variables", "fields"):
            if isinstance(variables := item.get(key), dict):
                yield from ((str(name), _static(value)) for name, value in variables.items())
        if isinstance(response := item.get("response_variable"), str) and "stop" not in item:
            yield response, _response(str(item.get("action", item.get("service"))))


def _dicts(part: Any, without: frozenset[str] = _NO_TRIGGERS) -> Iterator[dict[Any, Any]]:
    """Yield every mapping of a part, except under some keys."""
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
