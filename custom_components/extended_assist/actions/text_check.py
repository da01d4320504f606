"""Check every text of what Home Assistant is to run later: templates, and ids of what is not exposed."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.template import is_template_string

from ..exposure.entities import Exposure
from ..results import ToolError, place_of, size, texts_in
from ..templates import Reach, check_reach, read_form
from ..templates.bound_template import compiled
from ..templates.forms import Form
from .data import ids_in, unexposed
from .variables import RunNames

MAX_SIZE = 40_000
"""Characters of what is checked at once: far above what a person would write, and read within milliseconds."""


class Texts:
    """Checks the texts of one sequence or automation."""

    def __init__(
        self, hass: HomeAssistant, exposure: Exposure, variables: Iterable[str] = (), *, is_bound: bool = False
    ) -> None:
        """Take the names that are defined beforehand, and whether templates will be bound, so that they need no reading."""
        self._hass = hass
        self._exposure = exposure
        self._is_bound = is_bound
        self._names = RunNames(variables)
        self._templates: dict[tuple[str, bool], Reach | ToolError] = {}
        self.entity_ids: set[str] = set()
        """Every entity that a checked text names."""

    async def async_prepare(self, part: Any, place: str) -> None:
        """Read all templates inside a part, aside from the event loop, before the part is checked."""
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
        """Take the names that the whole defines, for whichever part of it is checked first."""
        self._names.add(whole)

    @callback
    def check(self, part: Any, place: str) -> None:
        """Check all texts inside a part; raises ToolError with the place and the reason."""
        for text, path in texts_in(part, keys=True):
            try:
                if not is_template_string(text):
                    self._check_plain(text)
                elif not self._is_bound:
                    # A template of a numeric state finds the state; where it is none of that, it would find nothing.
                    if isinstance(reach := self._templates[text, path[-1:] == ("value_template",)], ToolError):
                        raise reach
                    check_reach(self._hass, self._exposure, reach)
                    self.entity_ids |= reach.entity_ids
            except ToolError as err:
                raise ToolError(f"{place_of(place, path)}: {err}") from err

    def _check_plain(self, text: str) -> None:
        """Refuse a text that names what is not exposed; whether that exists makes no difference."""
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
    """Return the reach of a template, or why it is refused."""
    try:
        return read_form(text, names)
    except ToolError as err:
        return err


def _each[R](read: Callable[[str], R], templates: Mapping[str, str]) -> dict[str, R]:
    """Return the result of reading each template; raises ToolError, with its place, for one that cannot be read."""
    found: dict[str, R] = {}
    for template, place in templates.items():
        try:
            found[template] = read(template)
        except ToolError as err:
            raise ToolError(f"{place}: {err}") from err
    return found
