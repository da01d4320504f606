"""Check every text of what Home Assistant is to run later: templates, and ids of what is not exposed."""

from collections.abc import Iterable, Iterator
from typing import Any

from jinja2 import meta

from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.template import is_template_string

from ..exposure import Exposure
from ..results import ToolError, size
from ..templates import References, check_references, referenced
from ..templates.render import environment
from .check import ids_in

MAX_SIZE = 40_000
"""Characters of what is checked at once: far above what a person would write, and read within milliseconds."""

_RUN_VARIABLES = frozenset({"context", "state"})
"""Names that are defined here besides those of every run: the run's context, and the state of a numeric condition."""


class Texts:
    """Checks the texts of one sequence or automation."""

    def __init__(self, hass: HomeAssistant, exposure: Exposure, variables: Iterable[str], *, returns: bool) -> None:
        """Take the names that are defined beforehand, and whether what a template reads can come back to the model."""
        self._hass = hass
        self._exposure = exposure
        self._returns = returns
        self._names = {*variables, *_RUN_VARIABLES}
        self._sealed: set[str] = set()
        self._templates: dict[str, References | ToolError] = {}
        self._uses: dict[str, set[str]] = {}
        self.entity_ids: set[str] = set()
        """Every entity that a checked text names."""

    async def async_prepare(self, part: Any, place: str) -> None:
        """Read all templates inside a part, aside from the event loop, before the part is checked."""
        try:
            length = size(part)
        except (TypeError, ValueError) as err:
            raise ToolError(f"{place}: this is nested too deeply, or is not JSON. Make it flatter.") from err
        if length > MAX_SIZE:
            raise ToolError(f"{place}: this has {length} characters; at most {MAX_SIZE} are allowed.")
        for name in _defined(part):
            if name in environment().globals:
                raise ToolError(
                    f"{place}: '{name}' is the name of a function of templates; call the variable differently."
                )
            self._names.add(name)
        self._sealed |= set(_sealed(part))
        templates = {text for text, _ in texts_in(part, place) if is_template_string(text)}
        self._templates |= await self._hass.async_add_executor_job(_read, templates, frozenset(self._names))
        self._uses |= await self._hass.async_add_executor_job(_used, templates)

    @callback
    def check(self, part: Any, place: str) -> None:
        """Check all texts inside a part; raises ToolError with the place and the reason."""
        for text, where in texts_in(part, place):
            try:
                if is_template_string(text):
                    self._check_template(text)
                else:
                    self._check_plain(text)
            except ToolError as err:
                raise ToolError(f"{where}: {err}") from err

    @callback
    def check_readable(self, entity_id: str, place: str) -> None:
        """Refuse an entity whose attributes name hidden ones, where they could come back to the model, rewritten."""
        if not self._returns or (state := self._exposure.state(entity_id)) is None:
            return
        if any(self._exposure.visible_value(text) is None for text, _ in texts_in(dict(state.attributes), "")):
            raise ToolError(
                f"{place}: the attributes of '{entity_id}' name what is not exposed, so it cannot be read here."
            )

    def _check_template(self, text: str) -> None:
        """Check one template."""
        found = self._templates[text]
        if isinstance(found, ToolError):
            raise found
        if sealed := min(self._uses.get(text, set()) & self._sealed, default=None):
            raise ToolError(f"'{sealed}' can only be returned as it is, by a stop with response_variable.")
        check_references(self._hass, self._exposure, found)
        for entity_id in sorted(found.entity_ids):
            self.check_readable(entity_id, "template")
        self.entity_ids |= found.entity_ids

    def _check_plain(self, text: str) -> None:
        """Refuse a text that names what is not exposed; whether that exists makes no difference."""
        for entity_id in ids_in(self._hass, text):
            if not self._exposure.is_exposed(entity_id):
                raise ToolError(f"'{entity_id}' was not found or is not exposed.")
            self.entity_ids.add(entity_id)
        entry = er.async_get(self._hass).entities.get_entry(text.strip())
        if entry is not None and not self._exposure.is_exposed(entry.entity_id):
            raise ToolError(f"'{text}' was not found or is not exposed.")


def texts_in(value: Any, place: str) -> Iterator[tuple[str, str]]:
    """Yield every text inside a value with its place, names of keys included."""
    if isinstance(value, str):
        yield value, place
    elif isinstance(value, dict):
        for key, item in value.items():
            yield str(key), place
            yield from texts_in(item, f"{place}.{key}")
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from texts_in(item, f"{place}[{index}]")


def holds_template(value: Any) -> bool:
    """Return whether any text inside a value is a template."""
    return any(is_template_string(text) for text, _ in texts_in(value, ""))


def _defined(part: Any) -> Iterator[str]:
    """Yield the names of the variables that a part defines, wherever it does."""
    if isinstance(part, dict):
        if isinstance(variables := part.get("variables"), dict):
            yield from map(str, variables)
        if isinstance(response := part.get("response_variable"), str):
            yield response
    for item in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from _defined(item)


def _sealed(part: Any) -> Iterator[str]:
    """Yield the variables whose values may name hidden things: responses of scripts and of what browses media."""
    if isinstance(part, dict) and isinstance(name := part.get("response_variable"), str):
        action = str(part.get("action", part.get("service", ""))).strip().lower()
        if action.split(".")[0] in {"script", "media_player"}:
            yield name
    for item in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from _sealed(item)


def _read(templates: Iterable[str], names: frozenset[str]) -> dict[str, References | ToolError]:
    """Return what each template names, or why it cannot be read."""
    found: dict[str, References | ToolError] = {}
    for template in templates:
        try:
            found[template] = referenced(template, names)
        except ToolError as err:
            found[template] = err
    return found


def _used(templates: Iterable[str]) -> dict[str, set[str]]:
    """Return the variables that each template uses; nothing for one that cannot be read."""
    found: dict[str, set[str]] = {}
    for template in templates:
        try:
            found[template] = meta.find_undeclared_variables(environment().parse(template))
        except Exception:  # noqa: BLE001 - what cannot be read is refused with its reason elsewhere
            found[template] = set()
    return found
