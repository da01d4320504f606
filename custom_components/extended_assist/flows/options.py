"""The toolbox's options."""

from typing import Any

import voluptuous as vol

from homeassistant.config_entries import ConfigFlowResult, OptionsFlow
from homeassistant.data_entry_flow import section
from homeassistant.helpers.selector import (
    BooleanSelector,
    NumberSelector,
    NumberSelectorConfig,
    NumberSelectorMode,
    SelectSelector,
    SelectSelectorConfig,
    SelectSelectorMode,
    StatisticSelector,
    StatisticSelectorConfig,
    TextSelector,
    TextSelectorConfig,
)

from ..const import (
    CONF_ALLOW_WITHOUT_CHAT,
    CONF_ASK_FIRST,
    CONF_DATABASE_FILES,
    CONF_EXTERNAL_STATISTICS,
    CONF_FAMILIES,
    CONF_RESULT_BUDGET,
    CONF_WEB_HOSTS,
    CONF_WEB_PORTS,
    CONF_WHO_MAY,
    DOMAIN,
)
from ..policy import DEFAULT_ASK_FIRST, DEFAULT_WHO_MAY, Speaker, Tier
from ..results import DEFAULT_BUDGET, MAX_BUDGET, MIN_BUDGET
from ..tools import CATALOGUE, DEFAULT_FAMILIES, FAMILIES
from ..web.guard import PORTS, normalized_host

_POLICY = "policy"
_WEB = "web"
_FUNCTIONS = "functions"
_MAY_ASK_FIRST = [tool.name.removeprefix(f"{DOMAIN}__") for tool in CATALOGUE if tool.tier > Tier.READ]


def _choice(options: list[str], translation_key: str, *, multiple: bool) -> SelectSelector:
    """Return a selector with translated options."""
    mode = SelectSelectorMode.LIST if multiple else SelectSelectorMode.DROPDOWN
    return SelectSelector(
        SelectSelectorConfig(options=options, multiple=multiple, mode=mode, translation_key=translation_key)
    )


_POLICY_SCHEMA = vol.Schema(
    {
        **{
            vol.Required(CONF_WHO_MAY.format(tier.name.lower()), default=DEFAULT_WHO_MAY[tier].name.lower()): _choice(
                [speaker.name.lower() for speaker in Speaker], "who_may", multiple=False
            )
            for tier in Tier
        },
        **(
            {
                vol.Required(
                    CONF_ASK_FIRST, default=[name for name in DEFAULT_ASK_FIRST if name in _MAY_ASK_FIRST]
                ): _choice(_MAY_ASK_FIRST, CONF_ASK_FIRST, multiple=True)
            }
            if _MAY_ASK_FIRST
            else {}
        ),
        vol.Required(CONF_ALLOW_WITHOUT_CHAT, default=False): BooleanSelector(),
    }
)

_WEB_SCHEMA = vol.Schema(
    {
        vol.Optional(CONF_WEB_HOSTS): TextSelector(TextSelectorConfig(multiple=True)),
        vol.Optional(CONF_WEB_PORTS): TextSelector(TextSelectorConfig(multiple=True)),
    }
)

_FUNCTIONS_SCHEMA = vol.Schema({vol.Optional(CONF_DATABASE_FILES): TextSelector(TextSelectorConfig(multiple=True))})

_SCHEMA = vol.Schema(
    {
        vol.Required(CONF_FAMILIES, default=list(DEFAULT_FAMILIES)): _choice(
            list(FAMILIES), CONF_FAMILIES, multiple=True
        ),
        vol.Required(CONF_RESULT_BUDGET, default=DEFAULT_BUDGET): vol.All(
            NumberSelector(NumberSelectorConfig(min=MIN_BUDGET, max=MAX_BUDGET, step=500, mode=NumberSelectorMode.BOX)),
            vol.Coerce(int),
        ),
        vol.Optional(CONF_EXTERNAL_STATISTICS): StatisticSelector(StatisticSelectorConfig(multiple=True)),
        vol.Required(_POLICY): section(_POLICY_SCHEMA, {"collapsed": True}),
        # Those who set options over the API need not know of it.
        vol.Optional(_WEB, default=dict): section(_WEB_SCHEMA, {"collapsed": True}),
        vol.Optional(_FUNCTIONS, default=dict): section(_FUNCTIONS_SCHEMA, {"collapsed": True}),
    }
)


class ToolboxOptionsFlow(OptionsFlow):
    """Choose the families of tools, the size of their answers, and who may do what."""

    async def async_step_init(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Show the form and store what it says."""
        errors: dict[str, str] = {}
        wrong = ""
        if user_input is not None:
            web, errors, wrong = _checked_web(user_input.get(_WEB, {}))
            if not errors:
                rest = {key: value for key, value in user_input.items() if key not in (_POLICY, _WEB, _FUNCTIONS)}
                return self.async_create_entry(
                    data={**rest, **_completed(user_input[_POLICY]), **web, **user_input.get(_FUNCTIONS, {})}
                )
        options = self.config_entry.options
        policy = {key: value for key, value in options.items() if key in map(str, _POLICY_SCHEMA.schema)}
        if CONF_ASK_FIRST in policy:
            policy[CONF_ASK_FIRST] = [name for name in policy[CONF_ASK_FIRST] if name in _MAY_ASK_FIRST]
        web = {key: value for key, value in options.items() if key in map(str, _WEB_SCHEMA.schema)}
        functions = {CONF_DATABASE_FILES: options.get(CONF_DATABASE_FILES, [])}
        return self.async_show_form(
            step_id="init",
            data_schema=self.add_suggested_values_to_schema(
                _SCHEMA, user_input or {**options, _POLICY: policy, _WEB: web, _FUNCTIONS: functions}
            ),
            errors=errors,
            description_placeholders={"wrong": wrong},
        )


def _completed(policy: dict[str, Any]) -> dict[str, Any]:
    """Return the policy with the questions that are not offered here: they must not be lost when their tools come."""
    if CONF_ASK_FIRST not in policy:
        return policy
    later = [name for name in DEFAULT_ASK_FIRST if name not in _MAY_ASK_FIRST]
    return {**policy, CONF_ASK_FIRST: [*policy[CONF_ASK_FIRST], *later]}


def _checked_web(web: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str], str]:
    """Return the hosts and ports as they are stored, or an error and what is wrong."""
    hosts, ports = [], []
    for text in web.get(CONF_WEB_HOSTS, []):
        if (host := normalized_host(text)) is None:
            return {}, {"base": "invalid_host"}, text
        hosts.append(host)
    for text in web.get(CONF_WEB_PORTS, []):
        if not (text.isascii() and text.isdecimal() and 0 < int(text) < 65536):
            return {}, {"base": "invalid_port"}, text
        if int(text) not in PORTS:
            ports.append(str(int(text)))
    checked = {CONF_WEB_HOSTS: list(dict.fromkeys(hosts)), CONF_WEB_PORTS: list(dict.fromkeys(ports))}
    return {key: value for key, value in checked.items() if value}, {}, ""
