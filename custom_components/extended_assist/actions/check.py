"""What an action may do: which actions are allowed, and their targets and data made concrete on exposed entities."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
import re
from typing import TYPE_CHECKING, Any
from unicodedata import normalize as normalize_unicode
from urllib.parse import unquote

from homeassistant.const import ATTR_ENTITY_ID, CONF_EXCLUDE, Platform
from homeassistant.core import DOMAIN as HOMEASSISTANT_DOMAIN, HomeAssistant, Service, SupportsResponse, callback
from homeassistant.helpers import entity_registry as er, service as service_helper
from homeassistant.helpers.template import is_template_string

from ..exposure import Exposure
from ..policy import async_get_user
from ..results import ToolError
from .rules import (
    APPLY,
    NAMES_AREAS,
    ONLY_LISTED,
    SCRIPT_SERVICES,
    UPDATE,
    fits_of,
    is_entity_service,
    is_for_admins,
    is_never,
    selectors_of,
)
from .targets import PLACES, REFERENCES, Expander, Fits, check_whole, count, hidden_beside, members_of, texts

if TYPE_CHECKING:
    from ..call import ToolCall

_ACTION = re.compile(r"[a-z0-9_]+\.[a-z0-9_]+")
_ID_IN_TEXT = re.compile(r"\b[a-z_0-9]+\.[a-z_0-9]+\b")
_UNCHECKED_SELECTORS = frozenset({"action", "condition", "template", "trigger"})
_ENTITY_SELECTORS = frozenset({"entity", "statistic"})
_PLACE_SELECTORS = {place: key for key, place in PLACES.items()}

type CheckText = Callable[[str], None]
"""Raises ToolError for a text that may not be passed on, such as a template."""


@dataclass(frozen=True, slots=True)
class ResolvedAction:
    """An action that may be performed as it is: on these entities, with this data, and nothing else."""

    domain: str
    service: str
    entity_ids: tuple[str, ...]
    """The exposed entities that it acts on."""
    data: dict[str, Any]
    targeted: bool
    """Whether entity_ids are its target; otherwise they are in its data."""
    supports_response: SupportsResponse
    left_out: int = 0
    """How many entities the target also means that are not exposed, or would move what is not."""

    @property
    def name(self) -> str:
        """Return the action's name, such as light.turn_on."""
        return f"{self.domain}.{self.service}"

    @property
    def target(self) -> dict[str, list[str]]:
        """Return the target as Home Assistant takes it."""
        return {ATTR_ENTITY_ID: list(self.entity_ids)} if self.targeted else {}

    def as_step(self) -> dict[str, Any]:
        """Return the action as a step of a script."""
        step: dict[str, Any] = {"action": self.name}
        if self.targeted:
            step["target"] = self.target
        return step | ({"data": self.data} if self.data else {})


def refuse_templates(text: str) -> None:
    """Raise ToolError for a template, which would be rendered with the reach of all of Home Assistant."""
    if is_template_string(text):
        raise ToolError("Templates cannot be used here. Write the value itself.")


async def async_check_action(
    call: ToolCall,
    action: str,
    target: Mapping[str, Any] | None = None,
    data: Mapping[str, Any] | None = None,
    check_text: CheckText = refuse_templates,
) -> ResolvedAction:
    """Return an action made concrete on exposed entities; the one check for tools, scripts and automations.

    Target and data may name entities, devices, areas, floors and labels by id or as people say them. Raises ToolError
    with the place and the reason for what is unknown, not allowed or not exposed.
    """
    descriptions = await service_helper.async_get_all_descriptions(call.hass)
    user = await async_get_user(call.hass, call.llm_context)
    check = _Check(call.hass, call.exposure, call.options.targetless_actions, descriptions, check_text)
    resolved, service = check.resolve(action.strip().lower(), target or {}, data or {})
    if is_for_admins(service) and (user is None or not user.is_admin):
        raise ToolError(f"Only an administrator of Home Assistant may use {resolved.name}. Tell the user to ask one.")
    return resolved


@dataclass(slots=True)
class _Check:
    """One check of one action."""

    hass: HomeAssistant
    exposure: Exposure
    listed: frozenset[str]
    descriptions: Mapping[str, Mapping[str, Any]]
    check_text: CheckText
    left_out: set[str] = field(default_factory=set)
    used: dict[str, None] = field(default_factory=dict)
    """Exposed entities named in the data."""

    @callback
    def resolve(
        self, action: str, target: Mapping[str, Any], data: Mapping[str, Any]
    ) -> tuple[ResolvedAction, Service]:
        """Check an action in lower case."""
        if not _ACTION.fullmatch(action):
            raise ToolError(f"'{action}' is not an action. Write it like light.turn_on.")
        domain, name = action.split(".")
        if is_never(domain, name):
            raise ToolError(f"{action} cannot be used by assistants. Tell the user to do it in Home Assistant.")
        script = self._named_script(domain, name)
        service = self.hass.services.async_services_for_domain(domain).get(name)
        description = self.descriptions.get(domain, {}).get(name)
        if service is None or description is None:
            raise self._unknown(domain, action)
        targeted = ("target" in description or action == UPDATE) and script is None
        if not (targeted or script or action == APPLY or action in self.listed) or (
            action in ONLY_LISTED - self.listed
        ):
            raise self._unknown(domain, action)
        selectors = dict(selectors_of(description.get("fields")))
        wanted, given = self._split(target, data, targeted=targeted, place_fields=selectors)
        entity_ids: tuple[str, ...] = (script,) if script else ()
        if targeted:
            entity_ids = self._expand(fits_of(self.hass, domain, name, description), wanted)
            if domain not in {HOMEASSISTANT_DOMAIN, *(entity_id.split(".")[0] for entity_id in entity_ids)}:
                self._check_reach(action, service, entity_ids)
        elif wanted:
            raise ToolError(f"{action} takes no target; give what it needs as data.")
        checked = {
            key: self._field(action, key, value, selectors.get(key), targeted=targeted) for key, value in given.items()
        }
        if action == APPLY:
            entity_ids = self._check_applied(checked)
        resolved = ResolvedAction(
            domain=domain,
            service=name,
            entity_ids=entity_ids or tuple(self.used),
            data=checked,
            targeted=targeted,
            supports_response=service.supports_response,
            left_out=len(self.left_out),
        )
        return resolved, service

    def _named_script(self, domain: str, name: str) -> str | None:
        """Return the exposed script that an action such as script.good_night runs; a hidden one is unknown."""
        if domain != "script" or name in SCRIPT_SERVICES:
            return None
        entity_id = er.async_get(self.hass).async_get_entity_id("script", "script", name) or f"script.{name}"
        if not self.exposure.is_exposed(entity_id):
            self.exposure.resolve(f"script.{name}")  # Raises, unless another script has that id by now.
            raise ToolError(f"Run script.{name} with script.turn_on and that entity as target.")
        return entity_id

    def _unknown(self, domain: str, action: str) -> ToolError:
        """Return the error for an action that does not exist or is not listed: the two look the same."""
        known = [
            f"{domain}.{name}"
            for name, description in self.descriptions.get(domain, {}).items()
            if "target" in description and not is_never(domain, name)
        ]
        nearest = get_close_matches(action, known, n=3, cutoff=0.3)
        return ToolError(
            f"There is no action {action} with a target, and the options of Extended Assist do not allow it without. "
            + (f"Nearest: {', '.join(nearest)}." if nearest else "Tell the user that it cannot be done.")
        )

    @staticmethod
    def _split(
        target: Mapping[str, Any], data: Mapping[str, Any], *, targeted: bool, place_fields: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the target with what the data adds to it, and the rest of the data."""
        wanted: dict[str, list[Any]] = {}
        given: dict[str, Any] = {}
        exclude = None
        for place, part in (("target", target), ("data", data)):
            for key, value in part.items():
                plain = str(key).strip().lower()
                if plain in REFERENCES and (targeted or place == "target"):
                    wanted.setdefault(plain, []).extend(texts(value, f"{place}.{key}"))
                elif plain == CONF_EXCLUDE and place == "target" and targeted:
                    exclude = value
                elif place == "target":
                    raise ToolError(f"target: '{key}' is no part of a target. Use {', '.join(sorted(REFERENCES))}.")
                else:
                    given[key] = value
        return wanted | ({CONF_EXCLUDE: exclude} if exclude is not None else {}), given

    def _expand(self, fits: Fits, wanted: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the exposed entities of the target."""
        for text in _texts_in(wanted):
            refuse_templates(text)
        found = Expander(self.hass, self.exposure, fits).expand(wanted)
        self.left_out |= found.hidden | found.shared
        if not found.entity_ids:
            more = f" It also holds {count(self.left_out)} not exposed." if self.left_out else ""
            raise ToolError(f"The target holds nothing exposed that can do {fits.action}.{more}")
        return tuple(found.entity_ids)

    def _check_reach(self, action: str, service: Service, entity_ids: tuple[str, ...]) -> None:
        """Refuse an integration's own action on part of a device: it may reach the rest of it.

        An action that Home Assistant's entity machinery carries out acts on its entities alone.
        """
        if is_entity_service(service):
            return
        beside = set().union(*(hidden_beside(self.hass, self.exposure, entity_id) for entity_id in entity_ids))
        if beside:
            raise ToolError(
                f"{action} acts on whole devices, and these have {count(beside)} not exposed. Use another action."
            )

    def _check_applied(self, data: dict[str, Any]) -> tuple[str, ...]:
        """Return the entities whose states are set, by the names of a mapping."""
        states = data.get("entities")
        if not isinstance(states, dict):
            raise ToolError("data.entities: this must be an object with entity ids and their states.")
        entity_ids = [self._named(key, f"data.entities.{key}") for key in states]
        data["entities"] = dict(zip(entity_ids, states.values(), strict=True))
        return tuple(entity_ids)

    def _field(self, action: str, key: Any, value: Any, selector: str | None, *, targeted: bool) -> Any:
        """Check one field of the data by its selector."""
        place = f"data.{key}"
        if selector is None and not targeted and isinstance(key, str) and key.strip().lower() in REFERENCES:
            selector = PLACES.get(key.strip().lower(), "entity")
        if selector in _UNCHECKED_SELECTORS and value not in (None, "", [], {}):
            raise ToolError(f"{place}: this cannot be checked beforehand, so it must be left out.")
        if selector in _ENTITY_SELECTORS and isinstance(value, str | list):
            found = [self._named(text, place) for text in texts(value, place)]
            return found[0] if isinstance(value, str) else found
        if selector in _PLACE_SELECTORS and isinstance(value, str | list):
            reference = _PLACE_SELECTORS[selector]
            found = [self._place(action, reference, text, place) for text in texts(value, place)]
            return found[0] if isinstance(value, str) else found
        return self._value(value, place, key=key)

    def _named(self, text: str, place: str) -> str:
        """Return the one exposed entity that a text in the data means; it must move nothing hidden."""
        refuse_templates(text)
        try:
            (entity_id,) = (
                Expander(self.hass, self.exposure, Fits(place)).expand({ATTR_ENTITY_ID: text}, place).entity_ids
            )
        except ValueError as err:
            raise ToolError(f"{place}: '{text}' must be one entity of which everything is exposed.") from err
        if any(not self.exposure.is_exposed(member) for member in members_of(self.hass, entity_id)):
            raise ToolError(f"{place}: '{text}' would also move what is not exposed.")
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
        """Check a value of any kind, with all that is inside; return it with its references made concrete."""
        if key is not None:
            self._text(key, place)
        if isinstance(value, str):
            self._text(value, place)
            return value
        if isinstance(value, Mapping):
            return self._object(value, place)
        if isinstance(value, list | tuple):
            return [self._value(item, f"{place}[{index}]") for index, item in enumerate(value)]
        return value

    def _object(self, value: Mapping[Any, Any], place: str) -> dict[Any, Any]:
        """Check an object: what it means by entity, device, area, floor or label becomes the exposed entities."""
        references = {key: item for key, item in value.items() if str(key).strip().lower() in REFERENCES}
        checked = {
            key: self._value(item, f"{place}.{key}", key=key) for key, item in value.items() if key not in references
        }
        if not references:
            return checked
        wanted = {str(key).strip().lower(): texts(item, f"{place}.{key}") for key, item in references.items()}
        for text in _texts_in(wanted):
            refuse_templates(text)
        found = Expander(self.hass, self.exposure, Fits(place)).expand(wanted, place)
        self.left_out |= found.hidden | found.shared
        self.used |= found.entity_ids
        entity_ids = list(found.entity_ids)
        alone = len(references) == len(entity_ids) == 1 and isinstance(next(iter(references.values())), str)
        return checked | {ATTR_ENTITY_ID: entity_ids[0] if alone else entity_ids}

    def _text(self, text: Any, place: str) -> None:
        """Refuse a text that is a template or names what is not exposed; whether that exists makes no difference."""
        if not isinstance(text, str):
            return
        try:
            self.check_text(text)
        except ToolError as err:
            raise ToolError(f"{place}: {err}") from err
        for entity_id in ids_in(self.hass, text):
            if not self.exposure.is_exposed(entity_id):
                raise ToolError(f"{place}: '{entity_id}' was not found or is not exposed.")
            if any(not self.exposure.is_exposed(member) for member in members_of(self.hass, entity_id)):
                raise ToolError(f"{place}: '{entity_id}' would also move what is not exposed.")
        entry = er.async_get(self.hass).entities.get_entry(text.strip())
        if entry is not None and not self.exposure.is_exposed(entry.entity_id):
            raise ToolError(f"{place}: '{text}' was not found or is not exposed.")


@callback
def ids_in(hass: HomeAssistant, text: str) -> set[str]:
    """Return what reads like an entity id in a text, however it is written."""
    if "." not in (folded := normalize_unicode("NFKC", unquote(text))):
        return set()
    known = {*Platform, *(state.domain for state in hass.states.async_all())}
    found = {name for form in (folded.lower(), folded.casefold(), text.lower()) for name in _ID_IN_TEXT.findall(form)}
    return {name for name in found if name.split(".")[0] in known}


def _texts_in(value: Any) -> Iterator[str]:
    """Yield every text inside a target."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts_in(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts_in(item)
