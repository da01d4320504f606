"""The options flow."""

from collections.abc import Container
import re
from typing import Any

import voluptuous as vol

from homeassistant.config_entries import ConfigFlowResult, OptionsFlow
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import section
from homeassistant.helpers.selector import (
    BooleanSelector,
    EntitySelector,
    EntitySelectorConfig,
    NumberSelector,
    NumberSelectorConfig,
    NumberSelectorMode,
    SelectOptionDict,
    SelectSelector,
    SelectSelectorConfig,
    SelectSelectorMode,
    StatisticSelector,
    StatisticSelectorConfig,
    TextSelector,
    TextSelectorConfig,
    TimeSelector,
)

from ..actions.data import async_may_be_listed, async_wrongly_listed
from ..actions.listed_triggers import wrongly_listed
from ..api.assist_tools import async_other_in_assist
from ..calls.policy import DEFAULT_ASK_FIRST, DEFAULT_WHO_MAY, Speaker, Tier
from ..cameras.media_folders import read_folder, written, wrong_folder
from ..cameras.snapshot import SOURCES
from ..confirmation.consequential import CONSEQUENTIAL_ACTIONS
from ..const import (
    CONF_ALLOW_WITHOUT_CHAT,
    CONF_ALWAYS_ASK,
    CONF_ASK_FIRST,
    CONF_ASK_ON_PHONES,
    CONF_DATABASE_FILES,
    CONF_EXTERNAL_STATISTICS,
    CONF_FAMILIES,
    CONF_IN_ASSIST,
    CONF_LISTED_TRIGGERS,
    CONF_LOOK_CAMERAS,
    CONF_LOOK_FOLDERS,
    CONF_LOOK_TASK,
    CONF_LOOK_WHO,
    CONF_MEMORY_AUTOMATIONS,
    CONF_MEMORY_ELSEWHERE,
    CONF_MEMORY_GUESTS,
    CONF_NEVER_ASK,
    CONF_QUIET_END,
    CONF_QUIET_START,
    CONF_RESULT_BUDGET,
    CONF_TARGETLESS_ACTIONS,
    CONF_WEB_HOSTS,
    CONF_WEB_PORTS,
    CONF_WHO_MAY,
    DOMAIN,
)
from ..memory.fact import MAX_FACTS
from ..results import DEFAULT_BUDGET, MAX_BUDGET, MIN_BUDGET
from ..tools import CATALOGUE, DEFAULT_FAMILIES, FAMILIES
from ..web.guard import PORTS, normalized_host
from .model import whole_number

_CAMERAS = "cameras"
_MEMORY = "memory"
_POLICY = "policy"
_WEB = "web"
_FUNCTIONS = "functions"
_USUAL_TRIGGERS = ["deconz_event", "hue_event", "zha_event"]
_MAY_BE_NAMED = re.compile(r"[a-z0-9_]+(\.[a-z0-9_]+)?")
"""Matches an action, a domain or an entity id."""
_MAY_ASK_FIRST = [tool.name.removeprefix(f"{DOMAIN}__") for tool in CATALOGUE if tool.tier > Tier.READ]


def _choice(options: list[str], translation_key: str, *, multiple: bool) -> SelectSelector:
    """Return a selector with translated options."""
    mode = SelectSelectorMode.LIST if multiple else SelectSelectorMode.DROPDOWN
    return SelectSelector(
        SelectSelectorConfig(options=options, multiple=multiple, mode=mode, translation_key=translation_key)
    )


def _actions_and_entities(options: list[str]) -> SelectSelector:
    """Return a selector for actions, domains and entities, with common choices."""
    return SelectSelector(
        SelectSelectorConfig(options=options, multiple=True, custom_value=True, mode=SelectSelectorMode.DROPDOWN)
    )


_POLICY_SCHEMA = vol.Schema(
    {
        **{
            vol.Required(CONF_WHO_MAY.format(tier.name.lower()), default=DEFAULT_WHO_MAY[tier].name.lower()): _choice(
                [speaker.name.lower() for speaker in Speaker], "who_may", multiple=False
            )
            for tier in Tier
        },
        vol.Required(CONF_ASK_FIRST, default=[name for name in DEFAULT_ASK_FIRST if name in _MAY_ASK_FIRST]): _choice(
            _MAY_ASK_FIRST, CONF_ASK_FIRST, multiple=True
        ),
        vol.Required(CONF_NEVER_ASK, default=list): _actions_and_entities([*CONSEQUENTIAL_ACTIONS, "scene", "script"]),
        vol.Required(CONF_ALWAYS_ASK, default=list): _actions_and_entities(["climate", "cover", "switch", "valve"]),
        vol.Required(CONF_ALLOW_WITHOUT_CHAT, default=False): BooleanSelector(),
    }
)

_WEB_SCHEMA = vol.Schema(
    {
        vol.Optional(CONF_WEB_HOSTS): TextSelector(TextSelectorConfig(multiple=True)),
        vol.Optional(CONF_WEB_PORTS): TextSelector(TextSelectorConfig(multiple=True)),
    }
)

_MEMORY_SCHEMA = vol.Schema(
    {
        vol.Required(CONF_MEMORY_GUESTS, default=0): whole_number(0, MAX_FACTS),
        vol.Required(CONF_MEMORY_AUTOMATIONS, default=False): BooleanSelector(),
        vol.Required(CONF_MEMORY_ELSEWHERE, default=False): BooleanSelector(),
    }
)

_CAMERAS_SCHEMA = vol.Schema(
    {
        vol.Required(CONF_LOOK_WHO, default=Speaker.USER.name.lower()): _choice(
            [speaker.name.lower() for speaker in Speaker if speaker > Speaker.ANYONE], "who_may", multiple=False
        ),
        vol.Optional(CONF_LOOK_CAMERAS): EntitySelector(EntitySelectorConfig(domain=list(SOURCES), multiple=True)),
        vol.Optional(CONF_LOOK_FOLDERS): TextSelector(TextSelectorConfig(multiple=True)),
        vol.Optional(CONF_LOOK_TASK): EntitySelector(EntitySelectorConfig(domain="ai_task")),
    }
)

_FUNCTIONS_SCHEMA = vol.Schema({vol.Optional(CONF_DATABASE_FILES): TextSelector(TextSelectorConfig(multiple=True))})

_BASIC_SCHEMA = vol.Schema(
    {
        vol.Required(CONF_FAMILIES, default=list(DEFAULT_FAMILIES)): _choice(
            list(FAMILIES), CONF_FAMILIES, multiple=True
        ),
        vol.Required(CONF_RESULT_BUDGET, default=DEFAULT_BUDGET): vol.All(
            NumberSelector(NumberSelectorConfig(min=MIN_BUDGET, max=MAX_BUDGET, step=500, mode=NumberSelectorMode.BOX)),
            vol.Coerce(int),
        ),
        vol.Optional(CONF_EXTERNAL_STATISTICS): StatisticSelector(StatisticSelectorConfig(multiple=True)),
    }
)


async def _async_people(hass: HomeAssistant) -> list[SelectOptionDict]:
    """Return the users who can be asked on their phones, by name."""
    users = [user for user in await hass.auth.async_get_users() if user.is_active and not user.system_generated]
    options = [SelectOptionDict(value=user.id, label=user.name or user.id) for user in users]
    return sorted(options, key=lambda option: option["label"].casefold())


async def _async_schema(hass: HomeAssistant, people: list[SelectOptionDict], wrong: Container[str]) -> vol.Schema:
    """Return the form with the actions and users of this home; its fields with errors are expanded."""
    listed = SelectSelectorConfig(
        options=await async_may_be_listed(hass), multiple=True, custom_value=True, mode=SelectSelectorMode.DROPDOWN
    )
    asked = SelectSelectorConfig(options=people, multiple=True, mode=SelectSelectorMode.DROPDOWN)
    policy = _POLICY_SCHEMA.extend({vol.Required(CONF_ASK_ON_PHONES, default=list): SelectSelector(asked)})
    return _BASIC_SCHEMA.extend(
        {
            vol.Required(CONF_TARGETLESS_ACTIONS, default=list): SelectSelector(listed),
            vol.Required(CONF_LISTED_TRIGGERS, default=list): _actions_and_entities(_USUAL_TRIGGERS),
            vol.Optional(CONF_QUIET_START): TimeSelector(),
            vol.Optional(CONF_QUIET_END): TimeSelector(),
            vol.Required(CONF_IN_ASSIST, default=False): BooleanSelector(),
            vol.Required(_POLICY): section(policy, {"collapsed": _POLICY not in wrong}),
            # Without a default, in place of which the frontend would not show what is stored.
            vol.Optional(_MEMORY): section(_MEMORY_SCHEMA, {"collapsed": True}),
            vol.Optional(_CAMERAS): section(_CAMERAS_SCHEMA, {"collapsed": _CAMERAS not in wrong}),
            vol.Optional(_WEB): section(_WEB_SCHEMA, {"collapsed": _WEB not in wrong}),
            vol.Optional(_FUNCTIONS): section(_FUNCTIONS_SCHEMA, {"collapsed": True}),
        }
    )


class ToolboxOptionsFlow(OptionsFlow):
    """Choose the families of tools, the size of results, and the policy."""

    async def async_step_init(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Show the form and store the options."""
        errors: dict[str, str] = {}
        placeholders: dict[str, str] = {}
        if user_input is not None:
            user_input = {_WEB: {}, _FUNCTIONS: {}, **user_input}
            actions = [action.strip().lower() for action in user_input[CONF_TARGETLESS_ACTIONS]]
            user_input[CONF_TARGETLESS_ACTIONS] = list(dict.fromkeys(actions))
            # What is kept from before may belong to an integration that is not running now.
            before = self.config_entry.options.get(CONF_TARGETLESS_ACTIONS, ())
            if wrong := await async_wrongly_listed(self.hass, [action for action in actions if action not in before]):
                placeholders["action"], errors[CONF_TARGETLESS_ACTIONS] = wrong
            triggers = list(dict.fromkeys(filter(None, map(str.strip, user_input.get(CONF_LISTED_TRIGGERS, ())))))
            user_input[CONF_LISTED_TRIGGERS] = triggers
            if wrong_trigger := wrongly_listed(triggers):
                _refuse(errors, placeholders, CONF_LISTED_TRIGGERS, wrong_trigger)
            if user_input.get(CONF_IN_ASSIST) and (other := async_other_in_assist(self.hass, self.config_entry)):
                placeholders["entry"], errors[CONF_IN_ASSIST] = other.title, "in_assist_taken"
            for lists in (user_input[_WEB], user_input[_FUNCTIONS]):
                # A line that was added and left empty is no answer.
                lists.update({key: [text for text in texts if text.strip()] for key, texts in lists.items()})
            for key in (CONF_NEVER_ASK, CONF_ALWAYS_ASK):
                names = [name.strip().lower() for name in user_input[_POLICY].get(key, ())]
                user_input[_POLICY][key] = names = list(dict.fromkeys(filter(None, names)))
                if wrong_name := next((name for name in names if not _MAY_BE_NAMED.fullmatch(name)), None):
                    _refuse(errors, placeholders, _POLICY, (wrong_name, "invalid_name"))
            if wrong_web := _wrong_web(user_input[_WEB]):
                _refuse(errors, placeholders, _WEB, wrong_web)
            if wrong_line := await self._async_read_folders(user_input.get(_CAMERAS, {})):
                _refuse(errors, placeholders, _CAMERAS, wrong_line)
        if user_input is not None and not errors:
            web, policy = _normalized_web(user_input.pop(_WEB)), user_input.pop(_POLICY)
            functions, memory = user_input.pop(_FUNCTIONS), user_input.pop(_MEMORY, {})
            cameras = user_input.pop(_CAMERAS, {})
            # What is not offered here must not lose its question when it comes.
            later = [name for name in DEFAULT_ASK_FIRST if name not in _MAY_ASK_FIRST]
            policy[CONF_ASK_FIRST] = [*policy[CONF_ASK_FIRST], *later]
            return self.async_create_entry(data={**user_input, **policy, **memory, **cameras, **web, **functions})
        options = self.config_entry.options
        people = await _async_people(self.hass)
        known = {CONF_ASK_ON_PHONES, *map(str, _POLICY_SCHEMA.schema)}
        policy = {key: value for key, value in options.items() if key in known}
        # Who is gone could not be chosen again.
        there = {person["value"] for person in people}
        policy[CONF_ASK_ON_PHONES] = [user_id for user_id in policy.get(CONF_ASK_ON_PHONES, ()) if user_id in there]
        if CONF_ASK_FIRST in policy:
            policy[CONF_ASK_FIRST] = [name for name in policy[CONF_ASK_FIRST] if name in _MAY_ASK_FIRST]
        web = {key: value for key, value in options.items() if key in map(str, _WEB_SCHEMA.schema)}
        functions = {key: value for key, value in options.items() if key in map(str, _FUNCTIONS_SCHEMA.schema)}
        memory = {key: value for key, value in options.items() if key in map(str, _MEMORY_SCHEMA.schema)}
        cameras = {key: value for key, value in options.items() if key in map(str, _CAMERAS_SCHEMA.schema)}
        stored = {**options, _POLICY: policy, _MEMORY: memory, _CAMERAS: cameras, _WEB: web, _FUNCTIONS: functions}
        return self.async_show_form(
            step_id="init",
            data_schema=self.add_suggested_values_to_schema(
                await _async_schema(self.hass, people, errors),
                user_input or stored,
            ),
            errors=errors or None,
            description_placeholders=placeholders or None,
        )

    async def _async_read_folders(self, cameras: dict[str, Any]) -> tuple[str, str] | None:
        """Normalize the list of folders; return the first invalid folder and its error, if any."""
        lines = [line.strip() for line in cameras.get(CONF_LOOK_FOLDERS, ())]
        stored = [line if isinstance(one := read_folder(line), str) else written(*one) for line in lines if line]
        if CONF_LOOK_FOLDERS in cameras:
            cameras[CONF_LOOK_FOLDERS] = stored = list(dict.fromkeys(stored))
        # What is kept from before may lie on a disk that is not there now.
        before = self.config_entry.options.get(CONF_LOOK_FOLDERS, ())
        new = [line for line in stored if line not in before]
        return await self.hass.async_add_executor_job(wrong_folder, dict(self.hass.config.media_dirs), new)


def _refuse(errors: dict[str, str], placeholders: dict[str, str], field: str, wrong: tuple[str, str]) -> None:
    """Add the error of a field, unless another field has one: the sentences share a placeholder."""
    if "wrong" not in placeholders:
        placeholders["wrong"], errors[field] = wrong


def _wrong_web(web: dict[str, list[str]]) -> tuple[str, str] | None:
    """Return the first invalid host or port and its error."""
    for host in web.get(CONF_WEB_HOSTS, ()):
        if normalized_host(host) is None:
            return host, "invalid_host"
    for port in web.get(CONF_WEB_PORTS, ()):
        if not (port.isascii() and port.isdecimal() and len(port) <= 5 and 0 < int(port) < 65536):
            return port, "invalid_port"
    return None


def _normalized_web(web: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return the hosts and ports in stored form, without duplicates."""
    hosts = dict.fromkeys(host for text in web.get(CONF_WEB_HOSTS, ()) if (host := normalized_host(text)))
    ports = dict.fromkeys(str(port) for text in web.get(CONF_WEB_PORTS, ()) if (port := int(text)) not in PORTS)
    stored = {CONF_WEB_HOSTS: list(hosts), CONF_WEB_PORTS: list(ports)}
    return {key: value for key, value in stored.items() if value}
