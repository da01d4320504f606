"""Check one action: it must be allowed, and its target and data are resolved to exposed entities."""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
import re
from typing import Any, Self
from unicodedata import normalize
from urllib.parse import unquote

from homeassistant.const import ATTR_ENTITY_ID, CONF_EXCLUDE
from homeassistant.core import DOMAIN as HOMEASSISTANT_DOMAIN, HomeAssistant, Service, SupportsResponse, callback
from homeassistant.helpers import entity_registry as er, service as service_helper

from ..calls.call import ToolCall
from ..exposure.entities import Exposure
from ..exposure.groups import hidden_beside
from ..results import FreeTextError, ToolError, texts_in
from .data import ACTION, CheckText, DataCheck, RenderedPart, listed, refuse_templates
from .entity_actions import ACTIONS, OFFERED, ONLY_LISTED_KINDS, Kind, kind_of, offered_by
from .rules import (
    APPLY,
    SCRIPT_SERVICES,
    UPDATE,
    fields_of,
    fits_of,
    is_entity_service,
    is_for_admins,
    is_free,
    is_never,
    selectors_of,
)
from .targets import REFERENCES, Expander, Fits, count, texts

_VARIABLES = "variables"
_WORDS = re.compile(r"\w[\w .+:-]{0,99}")


@dataclass(frozen=True, slots=True)
class ResolvedAction:
    """A checked action with its final entities and data."""

    domain: str
    service: str
    entity_ids: tuple[str, ...]
    """The exposed entities that it acts on."""
    data: dict[str, Any]
    targeted: bool
    """True if entity_ids is the target; False if the data names them."""
    supports_response: SupportsResponse
    left_out: int = 0
    """The number of entities of the target that are left out: not exposed, or groups with hidden members."""

    @property
    def name(self) -> str:
        """Return the action's name, such as light.turn_on."""
        return f"{self.domain}.{self.service}"

    @property
    def target(self) -> dict[str, list[str]]:
        """Return the target for the action call."""
        return {ATTR_ENTITY_ID: list(self.entity_ids)} if self.targeted else {}

    def as_step(self) -> dict[str, Any]:
        """Return the action as a step of a script."""
        step: dict[str, Any] = {"action": self.name}
        if self.targeted:
            step["target"] = self.target
        return step | ({"data": self.data} if self.data else {})


async def async_check_action(
    call: ToolCall,
    action: str,
    target: Mapping[str, Any] | None = None,
    data: Mapping[str, Any] | None = None,
    check_text: CheckText = refuse_templates,
) -> ResolvedAction:
    """Resolve an action to exposed entities; tools, scripts and automations all use this check.

    Target and data may name entities, devices, areas, floors and labels by id, name or alias. Raises ToolError with the
    place and the reason for anything that is unknown, not allowed or not exposed.
    """
    checker = await ActionChecker.async_create(call)
    return checker.check(call.exposure, action, target or {}, data or {}, check_text)


@dataclass(frozen=True, slots=True)
class ActionChecker:
    """Checks the actions of one call without awaiting anything."""

    hass: HomeAssistant
    listed: frozenset[str]
    descriptions: Mapping[str, Mapping[str, Any]]
    is_admin: bool

    @classmethod
    async def async_create(cls, call: ToolCall) -> Self:
        """Load the action descriptions and the caller's rights."""
        descriptions = await service_helper.async_get_all_descriptions(call.hass)
        user = await call.caller.async_user(call.hass)
        return cls(call.hass, call.options.targetless_actions, descriptions, user is not None and user.is_admin)

    def check(
        self,
        exposure: Exposure,
        action: str,
        target: Mapping[str, Any],
        data: Mapping[str, Any],
        check_text: CheckText = refuse_templates,
    ) -> ResolvedAction:
        """Resolve an action to exposed entities; raises ToolError."""
        check = _Check(self.hass, exposure, self.listed, self.descriptions, DataCheck(self.hass, exposure, check_text))
        resolved, service = check.resolve(action.strip().lower(), target, data)
        if is_for_admins(service) and not self.is_admin:
            raise ToolError(
                f"Only an administrator of Home Assistant may use {resolved.name}. Tell the user to ask one."
            )
        return resolved

    @callback
    def meant(self, exposure: Exposure, action: str, target: Mapping[str, Any]) -> tuple[tuple[str, ...], int] | None:
        """Return the exposed entities of a target and the number left out; None if the action takes no target.

        Raises ToolError.
        """
        domain, _, name = action.strip().lower().partition(".")
        description = self.descriptions.get(domain, {}).get(name)
        if description is None or not ("target" in description or action == UPDATE):
            return None
        fields = DataCheck(self.hass, exposure, refuse_templates)
        check = _Check(self.hass, exposure, self.listed, self.descriptions, fields)
        return check.expand(fits_of(self.hass, domain, name, description), target), len(fields.left_out)

    @callback
    def check_made(self, exposure: Exposure, action: str, target: RenderedPart, data: RenderedPart) -> dict[str, Any]:
        """Return the data of an action in a user's function; what templates rendered is resolved to exposed entities.

        Raises ToolError.
        """
        domain, _, name = action.lower().partition(".")
        description = self.descriptions.get(domain, {}).get(name) or {}
        targeted = "target" in description
        wanted, given = split(target.made, data.made, targeted=targeted)
        whole = target.constant | data.constant
        # The user who wrote the function chose where the model's texts go, so they are not checked for templates.
        fields = DataCheck(self.hass, exposure, lambda _: None)
        if wanted:
            check = _Check(self.hass, exposure, self.listed, self.descriptions, fields)
            found = check.expand(fits_of(self.hass, domain, name, description), wanted)
            if service := self.hass.services.async_services_for_domain(domain).get(name):
                check.check_reach(action, service, found)
            whole[ATTR_ENTITY_ID] = [*listed(whole.get(ATTR_ENTITY_ID, [])), *found]
        selectors = dict(selectors_of(description.get("fields")))
        return whole | {
            key: fields.check_field(action, key, value, selectors.get(key), targeted=targeted)
            for key, value in given.items()
        }


@dataclass(slots=True)
class _Check:
    """One check of one action."""

    hass: HomeAssistant
    exposure: Exposure
    listed: frozenset[str]
    descriptions: Mapping[str, Mapping[str, Any]]
    data: DataCheck

    @callback
    def resolve(
        self, action: str, target: Mapping[str, Any], data: Mapping[str, Any]
    ) -> tuple[ResolvedAction, Service]:
        """Resolve an action whose name is in lower case."""
        if not ACTION.fullmatch(action):
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
        if not (script or action in self.listed or is_free(action, description)):
            raise self._unknown(domain, action)
        wanted, given = split(target, data, targeted=targeted)
        entity_ids: tuple[str, ...] = (script,) if script else ()
        if targeted:
            entity_ids = self.expand(fits_of(self.hass, domain, name, description), wanted)
            if domain not in {HOMEASSISTANT_DOMAIN, *(entity_id.split(".")[0] for entity_id in entity_ids)}:
                self.check_reach(action, service, entity_ids)
        elif wanted:
            raise ToolError(f"{action} takes no target; give what it needs as data.")
        if script:
            checked = self._variables(script, given, "data")
        else:
            variables = self._passed_on(entity_ids, given)
            selectors = dict(selectors_of(description.get("fields")))
            if action not in self.listed:
                self._check_unlisted(action, entity_ids, given)
            checked = variables | {
                key: self.data.check_field(action, key, value, selectors.get(key), targeted=targeted)
                for key, value in given.items()
                if key not in variables
            }
        if action == APPLY:
            entity_ids = self._check_applied(checked)
        resolved = ResolvedAction(
            domain=domain,
            service=name,
            entity_ids=entity_ids or tuple(self.data.used),
            data=checked,
            targeted=targeted,
            supports_response=service.supports_response,
            left_out=len(self.data.left_out),
        )
        return resolved, service

    def _named_script(self, domain: str, name: str) -> str | None:
        """Return the exposed script that an action such as script.good_night runs, or None; a hidden one is unknown."""
        if domain != "script" or name in SCRIPT_SERVICES:
            return None
        entity_id = er.async_get(self.hass).async_get_entity_id("script", "script", name) or f"script.{name}"
        if not self.exposure.is_exposed(entity_id):
            self.exposure.resolve(f"script.{name}")  # Raises, unless another script has that id by now.
            raise ToolError(f"Run script.{name} with script.turn_on and that entity as target.")
        return entity_id

    def _passed_on(self, entity_ids: tuple[str, ...], given: Mapping[str, Any]) -> dict[str, Any]:
        """Check the variables that an action passes to the scripts among its entities."""
        variables = given.get(_VARIABLES)
        runs = [entity_id for entity_id in entity_ids if entity_id.startswith(("automation.", "script."))]
        if not runs or not variables:
            return {}
        if not isinstance(variables, Mapping) or any(entity_id.startswith("automation.") for entity_id in runs):
            raise ToolError("data.variables: only scripts take variables, as an object. Leave them out.")
        checked: dict[str, Any] = {}
        for script in runs:
            checked |= self._variables(script, variables, "data.variables")
        return {_VARIABLES: checked}

    def _variables(self, script: str, given: Mapping[str, Any], place: str) -> dict[str, Any]:
        """Check the fields that a script receives; others are refused because they could change its targets."""
        entry = er.async_get(self.hass).async_get(script)
        name = entry.unique_id if entry else script.split(".")[1]
        fields = self.descriptions.get("script", {}).get(name, {}).get("fields")
        known, selectors = fields_of(fields), dict(selectors_of(fields))
        if unknown := [key for key in given if key not in known]:
            takes = f"It takes {', '.join(known)}." if known else "It takes none."
            raise ToolError(f"{place}: {script} has no field {unknown[0]!r}. {takes}")
        return {
            key: self.data.check_field(f"script.{name}", key, value, selectors.get(key), targeted=False)
            for key, value in given.items()
        }

    def _check_unlisted(self, action: str, entity_ids: tuple[str, ...], given: Mapping[str, Any]) -> None:
        """Refuse unreviewed fields, and fields that reach beyond the target, unless the options list the action."""
        for key, value in given.items():
            kind = kind_of(action, str(key))
            if kind is None:
                takes = f"It takes {', '.join(fields)}." if (fields := ACTIONS[action]) else "It takes none."
                raise ToolError(f"{action} does not take this data: there is no field {key!r}. {takes}")
            if kind in ONLY_LISTED_KINDS or (kind is Kind.MEDIA and holds_address(value)):
                what = "an address" if kind is Kind.MEDIA else f"this is a {kind}, which"
                raise ToolError(
                    f"data.{key}: {what} may be given only where the options of Extended Assist list {action}. "
                    "Tell the user to list it there, if they want this."
                )
            if kind is Kind.SOURCE:
                self._check_offered(entity_ids, key, value)

    def _check_offered(self, entity_ids: tuple[str, ...], key: str, value: Any) -> None:
        """Refuse a source or mode that a player does not list; if it lists none, only plain words are allowed."""
        states = filter(None, map(self.hass.states.get, entity_ids))
        if (offered := offered_by([state.attributes for state in states], key)) is not None:
            if value not in offered:
                known = ", ".join(sorted(offered))
                raise FreeTextError(f"data.{key}: not offered. Choose of {OFFERED[key]}: {known}.")
        elif not isinstance(value, str) or not _WORDS.fullmatch(value):
            raise ToolError(f"data.{key}: only letters, digits and spaces can be given here. Choose another one.")

    def _unknown(self, domain: str, action: str) -> ToolError:
        """Return the same error for an action that does not exist and for one that is not listed."""
        known = [
            f"{domain}.{name}"
            for name, description in self.descriptions.get(domain, {}).items()
            if is_free(f"{domain}.{name}", description) and f"{domain}.{name}" != action
        ]
        nearest = get_close_matches(action, known, n=3, cutoff=0.3)
        return ToolError(
            f"There is no action {action}, or the options of Extended Assist do not allow it without being "
            "listed there. "
            + (f"Nearest: {', '.join(nearest)}. " if nearest else "")
            + "Where just this one is wanted, tell the user that it has to be listed, under 'Further actions'."
        )

    def expand(self, fits: Fits, wanted: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the exposed entities of the target."""
        for text, _ in texts_in(wanted):
            refuse_templates(text)
        found = Expander(self.hass, self.exposure, fits).expand(wanted)
        self.data.left_out |= found.hidden | found.shared
        if not found.entity_ids:
            more = f" It also holds {count(self.data.left_out)} not exposed." if self.data.left_out else ""
            raise ToolError(f"The target holds nothing exposed that can do {fits.action}.{more} Name other entities.")
        return tuple(found.entity_ids)

    def check_reach(self, action: str, service: Service, entity_ids: tuple[str, ...]) -> None:
        """Refuse an integration's own action on part of a device: it may also affect the rest of the device.

        Actions of Home Assistant's entity platforms affect their entities only.
        """
        if is_entity_service(service):
            return
        beside = set().union(*(hidden_beside(self.hass, self.exposure, entity_id) for entity_id in entity_ids))
        if beside:
            raise ToolError(
                f"{action} acts on whole devices, and these have {count(beside)} not exposed. Use another action."
            )

    def _check_applied(self, data: dict[str, Any]) -> tuple[str, ...]:
        """Return the entities of a mapping from entities to states."""
        states = data.get("entities")
        if not isinstance(states, dict):
            raise ToolError("data.entities: this must be an object with entity ids and their states.")
        entity_ids = [self.data.named(key, f"data.entities.{key}") for key in states]
        data["entities"] = dict(zip(entity_ids, states.values(), strict=True))
        return tuple(entity_ids)


def split(
    target: Mapping[str, Any], data: Mapping[str, Any], *, targeted: bool
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the target, with the references of the data, and the rest of the data."""
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


_OWN = "media-source://"
"""The scheme of Home Assistant's media sources; an entity id in such an address is checked like any other."""
_SCHEMES = re.compile(
    r"(?<![a-z0-9+.-])(data|file|ftps?|ftpes|gopher|https?|javascript|ldaps?|mms[htu]?|nfs|rtmp[et]?s?|rtp|rtsps?|sftp|smb|ssh|srt|tcp|udp|wss?"
    r"|intent|content|x-[a-z0-9+.-]+):"
)
_HOST = re.compile(r"//+([^/?#]*[.:@\[][^/?#]*)")
_PATH = re.compile(r"/|~/|\.{1,2}/|\\|[a-z]:[\\/]|www\.")
"""A path of Home Assistant, which signs it, a path of a file, or a host without a scheme."""


def holds_address(value: Any) -> bool:
    """Return whether a value contains a text that a player could open as an address."""
    return any(_is_address(text) for text, _ in texts_in(value, keys=True))


def _is_address(text: str) -> bool:
    """Return whether a text is an address, also if it is encoded."""
    plain = text
    for _ in range(3):  # Players decode what they are given, some of them more than once.
        plain = unquote(plain)
    plain = "".join(letter for letter in normalize("NFKC", plain).casefold() if letter.isprintable()).replace(" ", "")
    if plain.startswith(_OWN):
        return "://" in plain.removeprefix(_OWN)
    return any((_SCHEMES.search(plain), _HOST.search(plain), _PATH.match(plain)))
