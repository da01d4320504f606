"""Check the data of an action: exposed references, allowed texts, and rendered targets and data."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
import re
from typing import Any
from unicodedata import normalize as normalize_unicode
from urllib.parse import unquote

from homeassistant.const import ATTR_ENTITY_ID, Platform
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import entity_registry as er, service as service_helper
from homeassistant.helpers.template import Template, is_complex, is_template_string, render_complex
from homeassistant.helpers.typing import TemplateVarsType

from ..exposure.entities import Exposure
from ..exposure.groups import members_of
from ..results import ToolError, texts_in
from .entity_actions import ACTIONS, Kind, kind_of
from .rules import NAMES_AREAS, is_free, is_free_in_part, is_never
from .targets import PLACES, REFERENCES, Expander, Fits, check_whole, texts

_ID_IN_TEXT = re.compile(r"\b[a-z_0-9]+\.[a-z_0-9]+\b")
_UNCHECKED_SELECTORS = frozenset({"action", "condition", "template", "trigger"})
_ENTITY_SELECTORS = frozenset({"entity", "statistic"})
_PLACE_SELECTORS = {place: key for key, place in PLACES.items()}
_SELECTORS = {Kind.ENTITY: "entity", Kind.AREA: "area"}
_PLATFORMS = frozenset(map(str, Platform))
_SAID = frozenset({Kind.TEXT, Kind.CODE})
_ENDINGS = frozenset(
    [
        "aac",
        "avi",
        "com",
        "flac",
        "gif",
        "html",
        "jpeg",
        "jpg",
        "json",
        "local",
        "m3u8",
        "m4a",
        "mkv",
        "mov",
        "mp3",
        "mp4",
        "net",
        "ogg",
        "opus",
        "org",
        "pdf",
        "png",
        "svg",
        "txt",
        "wav",
        "webm",
        "webp",
        "yaml",
    ]
)
"""Endings of file and host names, which otherwise look like entity ids."""
_ACTION_KEYS = frozenset({"action", "perform_action", "service"})

type CheckText = Callable[[str], None]
"""Raises ToolError for a text that may not be passed on, such as a template."""


def refuse_templates(text: str) -> None:
    """Raise ToolError for a template: Home Assistant would render it with access to all entities."""
    if is_template_string(text):
        raise ToolError("Templates cannot be used here. Write the value itself.")


@dataclass(slots=True)
class DataCheck:
    """The check of the data of one action."""

    hass: HomeAssistant
    exposure: Exposure
    check_text: CheckText
    left_out: set[str] = field(default_factory=set)
    """Entities that references in the data also mean, but that are not exposed."""
    used: dict[str, None] = field(default_factory=dict)
    """Exposed entities that the data names."""

    def check_field(self, action: str, key: Any, value: Any, selector: str | None, *, targeted: bool) -> Any:
        """Check one field by its reviewed kind, or by its selector if the action was not reviewed."""
        place = f"data.{key}"
        kind = kind_of(action, str(key))
        if kind in _SAID and isinstance(value, str | list):
            return self._said(value, place)
        if action in ACTIONS and kind is not None:
            selector = _SELECTORS.get(kind)
        if selector is None and not targeted and isinstance(key, str) and key.strip().lower() in REFERENCES:
            selector = PLACES.get(key.strip().lower(), "entity")
        if selector in _UNCHECKED_SELECTORS and value not in (None, "", [], {}):
            raise ToolError(f"{place}: this cannot be checked beforehand, so it must be left out.")
        if selector in _ENTITY_SELECTORS and isinstance(value, str | list):
            found = [self.named(text, place) for text in texts(value, place)]
            return found[0] if isinstance(value, str) else found
        if selector in _PLACE_SELECTORS and isinstance(value, str | list):
            reference = _PLACE_SELECTORS[selector]
            found = [self._place(action, reference, text, place) for text in texts(value, place)]
            return found[0] if isinstance(value, str) else found
        return self._value(value, place, key=key)

    def _said(self, value: str | list[Any], place: str) -> str | list[Any]:
        """Check a text in which nothing reads entity ids, so that weather.com and todo.txt are allowed."""
        for text, _ in texts_in(value, keys=True):
            try:
                self.check_text(text)
            except ToolError as err:
                raise ToolError(f"{place}: {err}") from err
        return value

    def named(self, text: str, place: str) -> str:
        """Return the one exposed entity that a text in the data names; it must not be a group with hidden members."""
        refuse_templates(text)
        try:
            (entity_id,) = (
                Expander(self.hass, self.exposure, Fits(place)).expand({ATTR_ENTITY_ID: text}, place).entity_ids
            )
        except ValueError as err:
            raise ToolError(f"{place}: '{text}' must be one entity of which everything is exposed.") from err
        self.used[entity_id] = None
        return entity_id

    def _place(self, action: str, reference: str, text: str, place: str) -> str:
        """Return the id of a device, area, floor or label in the data."""
        refuse_templates(text)
        if action in NAMES_AREAS:
            Expander(self.hass, self.exposure, Fits(place)).expand({reference: text}, place)
            return text
        return check_whole(self.hass, self.exposure, reference, text, place)

    def _value(self, value: Any, place: str, *, key: Any = None) -> Any:
        """Check a value with everything inside; return it with its references resolved."""
        if isinstance(key, str):
            self._text(key, place)
        if (
            str(key).strip().lower() in _ACTION_KEYS
            and isinstance(value, str)
            and ACTION.fullmatch(value.strip().lower())
        ):
            raise ToolError(f"{place}: an action inside data cannot be checked. Perform it by itself.")
        if isinstance(value, str):
            self._text(value, place)
            return value
        if isinstance(value, Mapping):
            return self._object(value, place)
        if isinstance(value, list | tuple):
            return [self._value(item, f"{place}[{index}]") for index, item in enumerate(value)]
        return value

    def _object(self, value: Mapping[Any, Any], place: str) -> dict[Any, Any]:
        """Check a mapping; its references are replaced by the exposed entities that they mean."""
        references = {key: item for key, item in value.items() if str(key).strip().lower() in REFERENCES}
        checked = {
            key: self._value(item, f"{place}.{key}", key=key) for key, item in value.items() if key not in references
        }
        if not references:
            return checked
        wanted = {str(key).strip().lower(): texts(item, f"{place}.{key}") for key, item in references.items()}
        for text, _ in texts_in(wanted):
            refuse_templates(text)
        found = Expander(self.hass, self.exposure, Fits(place)).expand(wanted, place)
        self.left_out |= found.hidden | found.shared
        self.used |= found.entity_ids
        entity_ids = list(found.entity_ids)
        alone = len(references) == len(entity_ids) == 1 and isinstance(next(iter(references.values())), str)
        return checked | {ATTR_ENTITY_ID: entity_ids[0] if alone else entity_ids}

    def _text(self, text: str, place: str) -> None:
        """Raise ToolError for a template, and for the id of an entity that is not exposed, whether or not it exists."""
        try:
            self.check_text(text)
        except ToolError as err:
            raise ToolError(f"{place}: {err}") from err
        for entity_id in ids_in(self.hass, text):
            if not self.exposure.is_exposed(entity_id):
                raise ToolError(f"{place}: {unexposed(entity_id)}")
            if any(not self.exposure.is_exposed(member) for member in members_of(self.hass, entity_id)):
                raise ToolError(
                    f"{place}: '{entity_id}' would also move what is not exposed. Name its members that are."
                )
        entry = er.async_get(self.hass).entities.get_entry(text.strip())
        if entry is not None and not self.exposure.is_exposed(entry.entity_id):
            raise ToolError(f"{place}: '{text}' was not found or is not exposed. Use exposed entities only.")


def unexposed(text: str) -> str:
    """Return the error for a text that looks like an entity id; it is the same whether or not the entity exists."""
    said = f"'{text}' was not found or is not exposed, and reads like the id of an entity. Use exposed entities only"
    if text.rpartition(".")[2].lower() not in _ENDINGS:
        return f"{said}, or leave it out."
    return f"{said}; what is a file or an address must be called differently, such as my_{text}."


@callback
def ids_in(hass: HomeAssistant, text: str) -> set[str]:
    """Return the parts of a text that look like entity ids, in any case and encoding."""
    if "." not in (folded := normalize_unicode("NFKC", unquote(text))):
        return set()
    found = {name for form in (folded.lower(), folded.casefold(), text.lower()) for name in _ID_IN_TEXT.findall(form)}
    return {
        name
        for name in found
        if (domain := name.split(".")[0]) in _PLATFORMS or hass.states.async_entity_ids_count(domain)
    }


ACTION = re.compile(r"[a-z0-9_]+\.[a-z0-9_]+")


async def async_may_be_listed(hass: HomeAssistant) -> list[str]:
    """Return the actions of this home that the options must list before they are allowed."""
    descriptions = await service_helper.async_get_all_descriptions(hass)
    return sorted(
        action
        for domain, services in descriptions.items()
        for name, description in services.items()
        if not is_never(domain, name)
        # Exposure alone allows scripts and scenes.
        and domain != "script"
        and (not is_free(action := f"{domain}.{name}", description) or is_free_in_part(action))
    )


async def async_wrongly_listed(hass: HomeAssistant, actions: list[str]) -> tuple[str, str] | None:
    """Return the first action that may not be listed, with the translation key of the reason, or None."""
    may_be = await async_may_be_listed(hass)
    for action in actions:
        if not ACTION.fullmatch(action):
            return action, "not_an_action"
        domain, name = action.split(".")
        if is_never(domain, name):
            return action, "never_allowed"
        if action not in may_be:
            exists = hass.services.has_service(domain, name)
            return action, "allowed_by_exposure" if exists else "unknown_action"
    return None


type Values = dict[Any, Any]


@dataclass(slots=True)
class RenderedPart:
    """A rendered target or data, right before the action runs."""

    constant: Values = field(default_factory=dict)
    """The values that were written."""
    made: Values = field(default_factory=dict)
    """The values that templates rendered."""

    def add(self, written: Any, variables: TemplateVarsType) -> None:
        """Render a part; in a list of references, written and rendered ones are separated."""
        if isinstance(written, Template):
            found = _render(written, variables)
            if not isinstance(found, Mapping):
                raise ToolError(f"A template made {found!r} where an object is needed. Let it make an object.")
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
        """Return the written and the rendered values together."""
        both = {key: [*listed(self.constant[key]), *listed(self.made[key])] for key in self.constant.keys() & self.made}
        return self.constant | self.made | both


def _render(value: Any, variables: TemplateVarsType) -> Any:
    """Return a rendered value as JSON data: a template can also return a set or bytes."""
    return _plain(render_complex(value, variables))


def _plain(value: Any) -> Any:
    """Return a value as JSON data; raises ToolError if JSON has no such value."""
    match value:
        case Mapping():
            return {_plain(key): _plain(item) for key, item in value.items()}
        case list() | tuple() | set() | frozenset():
            return [_plain(item) for item in value]
        case str() | int() | float() | None:
            return value
    raise ToolError(
        f"A template made {value!r}, which is neither text nor number, list or object. Let it make one of these."
    )


def listed(value: Any) -> list[Any]:
    """Return a value, or the values of nested lists, as one flat list."""
    return [one for item in value for one in listed(item)] if isinstance(value, list | tuple) else [value]
