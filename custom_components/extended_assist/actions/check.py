"""What an action may do: which actions are allowed, and their targets and data made concrete on exposed entities."""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from homeassistant.const import ATTR_ENTITY_ID, CONF_EXCLUDE
from homeassistant.core import DOMAIN as HOMEASSISTANT_DOMAIN, HomeAssistant, Service, SupportsResponse, callback
from homeassistant.helpers import entity_registry as er, service as service_helper

from ..exposure import Exposure
from ..groups import hidden_beside
from ..results import ToolError
from ..toolbox.call import ToolCall
from ..walk import texts_in
from .data import CheckText, DataCheck, refuse_templates
from .rules import (
    APPLY,
    ONLY_LISTED,
    SCRIPT_SERVICES,
    UPDATE,
    fields_of,
    fits_of,
    is_entity_service,
    is_for_admins,
    is_never,
    selectors_of,
)
from .targetless import ACTION
from .targets import REFERENCES, Expander, Fits, count, texts

_VARIABLES = "variables"


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
    user = await call.caller.async_user(call.hass)
    data_check = DataCheck(call.hass, call.exposure, check_text)
    check = _Check(call.hass, call.exposure, call.options.targetless_actions, descriptions, data_check)
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
    data: DataCheck

    @callback
    def resolve(
        self, action: str, target: Mapping[str, Any], data: Mapping[str, Any]
    ) -> tuple[ResolvedAction, Service]:
        """Check an action in lower case."""
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
        if not (targeted or script or action == APPLY or action in self.listed) or (
            action in ONLY_LISTED - self.listed
        ):
            raise self._unknown(domain, action)
        wanted, given = self._split(target, data, targeted=targeted)
        entity_ids: tuple[str, ...] = (script,) if script else ()
        if targeted:
            entity_ids = self._expand(fits_of(self.hass, domain, name, description), wanted)
            if domain not in {HOMEASSISTANT_DOMAIN, *(entity_id.split(".")[0] for entity_id in entity_ids)}:
                self._check_reach(action, service, entity_ids)
        elif wanted:
            raise ToolError(f"{action} takes no target; give what it needs as data.")
        if script:
            checked = self._variables(script, given, "data")
        else:
            variables = self._passed_on(entity_ids, given)
            selectors = dict(selectors_of(description.get("fields")))
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
        """Return the exposed script that an action such as script.good_night runs; a hidden one is unknown."""
        if domain != "script" or name in SCRIPT_SERVICES:
            return None
        entity_id = er.async_get(self.hass).async_get_entity_id("script", "script", name) or f"script.{name}"
        if not self.exposure.is_exposed(entity_id):
            self.exposure.resolve(f"script.{name}")  # Raises, unless another script has that id by now.
            raise ToolError(f"Run script.{name} with script.turn_on and that entity as target.")
        return entity_id

    def _passed_on(self, entity_ids: tuple[str, ...], given: Mapping[str, Any]) -> dict[str, Any]:
        """Check the variables that an action passes on to the scripts among its entities."""
        variables = given.get(_VARIABLES)
        runs = [entity_id for entity_id in entity_ids if entity_id.startswith(("automation.", "script."))]
        if not runs or not variables:
            return {}
        if not isinstance(variables, Mapping) or any(entity_id.startswith("automation.") for entity_id in runs):
            raise ToolError("data.variables: only scripts take variables, as an object.")
        checked: dict[str, Any] = {}
        for script in runs:
            checked |= self._variables(script, variables, "data.variables")
        return {_VARIABLES: checked}

    def _variables(self, script: str, given: Mapping[str, Any], place: str) -> dict[str, Any]:
        """Check what a script is given by its own fields; with any other variable, what it acts on could be changed."""
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
        target: Mapping[str, Any], data: Mapping[str, Any], *, targeted: bool
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
        for text, _ in texts_in(wanted):
            refuse_templates(text)
        found = Expander(self.hass, self.exposure, fits).expand(wanted)
        self.data.left_out |= found.hidden | found.shared
        if not found.entity_ids:
            more = f" It also holds {count(self.data.left_out)} not exposed." if self.data.left_out else ""
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
        entity_ids = [self.data.named(key, f"data.entities.{key}") for key in states]
        data["entities"] = dict(zip(entity_ids, states.values(), strict=True))
        return tuple(entity_ids)
