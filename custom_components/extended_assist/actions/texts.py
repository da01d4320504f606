"""Check every text of what Home Assistant is to run later: templates, and ids of what is not exposed."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from jinja2 import meta, nodes

from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.template import is_template_string

from ..exposure import Exposure
from ..results import ToolError, size
from ..templates import References, check_references, referenced
from ..templates.render import environment
from ..walk import place_of, texts_in
from .data import ids_in

MAX_SIZE = 40_000
"""Characters of what is checked at once: far above what a person would write, and read within milliseconds."""

_RUN_VARIABLES = frozenset({"context", "state"})
"""Names that are defined here besides those of every run: the run's context, and the state of a numeric condition."""


@dataclass(frozen=True, slots=True)
class _Read:
    """What a template reads."""

    references: References
    variables: frozenset[str]
    """The names that it takes from outside."""
    constants: frozenset[str] | None
    """Its constant texts, among them the names of all attributes that it reads; None if it may read any."""


class Texts:
    """Checks the texts of one sequence or automation."""

    def __init__(self, hass: HomeAssistant, exposure: Exposure, variables: Iterable[str], *, returns: bool) -> None:
        """Take the names that are defined beforehand, and whether what a template reads can come back to the model."""
        self._hass = hass
        self._exposure = exposure
        self._returns = returns
        self._names = {*variables, *_RUN_VARIABLES}
        self._sealed: set[str] = set()
        self._templates: dict[str, _Read] = {}
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
        if self._returns:
            self._sealed |= set(_sealed(part))
        templates = {
            text: place_of(place, path) for text, path in texts_in(part, keys=True) if is_template_string(text)
        }
        names = frozenset(self._names)
        self._templates |= await self._hass.async_add_executor_job(_read_all, templates, names)

    @callback
    def check(self, part: Any, place: str) -> None:
        """Check all texts inside a part; raises ToolError with the place and the reason."""
        for text, path in texts_in(part, keys=True):
            try:
                if is_template_string(text):
                    self._check_template(text)
                else:
                    self._check_plain(text)
            except ToolError as err:
                raise ToolError(f"{place_of(place, path)}: {err}") from err

    @callback
    def check_again(self) -> None:
        """Check all templates as of now; raises ToolError when something that they read is not exposed any more."""
        for read in self._templates.values():
            check_references(self._hass, self._exposure, read.references)

    @callback
    def check_trigger(self, entity_id: str, place: str) -> None:
        """Refuse a trigger by an entity that may not be read whole, where templates can read what triggered."""
        used = {name for read in self._templates.values() for name in read.variables}
        if used & {"trigger", "wait"}:
            try:
                self._check_attributes(entity_id, None)
            except ToolError as err:
                raise ToolError(f"{place}: {err}") from err

    def _check_template(self, text: str) -> None:
        """Check one template."""
        read = self._templates[text]
        if sealed := min(read.variables & self._sealed, default=None):
            raise ToolError(f"'{sealed}' can only be returned as it is, by a stop with response_variable.")
        check_references(self._hass, self._exposure, read.references)
        for entity_id in sorted(read.references.entity_ids):
            self._check_attributes(entity_id, read.constants)
        self.entity_ids |= read.references.entity_ids

    def _check_attributes(self, entity_id: str, names: frozenset[str] | None) -> None:
        """Refuse to read attributes that name hidden things or hold secrets, where they could come back, rewritten.

        Without names, all attributes count.
        """
        if not self._returns or (state := self._exposure.state(entity_id)) is None:
            return
        for name, value in state.attributes.items():
            if names is not None and name not in names:
                continue
            visible = self._exposure.visible_attribute(state, name)
            if visible is not value and visible != value:
                raise ToolError(
                    f"An attribute of '{entity_id}' names what is not exposed, or is secret, so it cannot be "
                    "read here. Use states('…') or other attributes, by their names."
                )

    def _check_plain(self, text: str) -> None:
        """Refuse a text that names what is not exposed; whether that exists makes no difference."""
        for entity_id in ids_in(self._hass, text):
            if not self._exposure.is_exposed(entity_id):
                raise ToolError(f"'{entity_id}' was not found or is not exposed.")
            self.entity_ids.add(entity_id)
        entry = er.async_get(self._hass).entities.get_entry(text.strip())
        if entry is not None and not self._exposure.is_exposed(entry.entity_id):
            raise ToolError(f"'{text}' was not found or is not exposed.")


def holds_template(value: Any) -> bool:
    """Return whether any text inside a value is a template."""
    return any(is_template_string(text) for text, _ in texts_in(value, keys=True))


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


def _read_all(templates: Mapping[str, str], names: frozenset[str]) -> dict[str, _Read]:
    """Return what each template reads; raises ToolError, with its place, for one that cannot be read."""
    found: dict[str, _Read] = {}
    for template, place in templates.items():
        try:
            references = referenced(template, names)
        except ToolError as err:
            raise ToolError(f"{place}: {err}") from err
        tree = environment().parse(template)
        constants = {node.value for node in tree.find_all(nodes.Const) if isinstance(node.value, str)}
        found[template] = _Read(
            references,
            frozenset(meta.find_undeclared_variables(tree)),
            None if any(map(_is_whole, tree.find_all(nodes.Node))) else frozenset(constants),
        )
    return found


def _is_whole(node: nodes.Node) -> bool:
    """Return whether a part of a template takes a state with all its attributes."""
    match node:
        case nodes.Getattr(node=nodes.Name(name="states")) | nodes.Getitem(node=nodes.Name(name="states")):
            return True
        case nodes.Call(node=nodes.Name(name="expand")) | nodes.Filter(name="expand"):
            return True
        case nodes.Const(value="expand"):
            return True
    return False
