"""What the entities that talk to a model share."""

from functools import partial
from typing import override

from homeassistant.components import conversation
from homeassistant.config_entries import ConfigSubentry
from homeassistant.const import CONF_MODEL
from homeassistant.core import callback
from homeassistant.helpers.entity import Entity

from . import ExtendedAssistConfigEntry
from .allowance import async_check_allowance, is_used_up
from .claude.caching import default_cache
from .claude.failures import TurnError, async_sentence
from .claude.loop import RESPONSE_TIMEOUT, Turn
from .claude.models import Abilities, find_model
from .claude.options import AgentOptions
from .claude.patience import Patience
from .claude.usage import Meter
from .const import CONF_BASE_URL
from .device import agent_device
from .issues import async_check_model, async_put_aside


class ClaudeEntity(Entity):
    """An entity with a model of its own."""

    _attr_has_entity_name = True
    _attr_name = None

    def __init__(self, entry: ExtendedAssistConfigEntry, subentry: ConfigSubentry, meter: Meter) -> None:
        """Take the settings of a subentry, and what counts its tokens."""
        self._entry = entry
        self._runtime = entry.runtime_data
        self._subentry = subentry
        self._settings = subentry.data
        self._attr_unique_id = subentry.subentry_id
        self._meter = meter
        self._attr_device_info = agent_device(subentry)

    @override
    async def async_added_to_hass(self) -> None:
        """Follow the state of the server and of the model."""
        await super().async_added_to_hass()
        self.async_on_remove(self._runtime.health.async_listen(self._async_on_change))
        self.async_on_remove(self._meter.async_listen(self._async_check_allowance))
        self._async_check_allowance()
        async_check_model(self.hass, self._entry, self._subentry)

    @override
    async def async_will_remove_from_hass(self) -> None:
        """Take the issues along."""
        async_put_aside(self.hass, self._subentry.subentry_id)
        await super().async_will_remove_from_hass()

    @callback
    def _async_on_change(self) -> None:
        """Take over what was learnt of the server."""
        self.async_write_ha_state()
        async_check_model(self.hass, self._entry, self._subentry)

    @callback
    def _async_check_allowance(self) -> None:
        """Tell the user when the month's tokens come to their end."""
        async_check_allowance(self.hass, self._entry.entry_id, self._subentry, self._meter)

    @property
    @override
    def available(self) -> bool:
        """Return whether the server can be used."""
        return self._runtime.health.gone is None

    def _turn(self, chat_log: conversation.ChatLog, language: str) -> Turn:
        """Return a turn that is about to begin; raises TurnError when this month's tokens are used up."""
        if is_used_up(self._subentry, self._meter):
            raise TurnError("tokens_used_up")
        health, config = self._runtime.health, self.hass.config
        location = {"country": config.country, "timezone": config.time_zone}
        return Turn(
            client=self._runtime.client,
            chat_log=chat_log,
            agent_id=self.entity_id,
            options=AgentOptions.of(
                self._settings,
                Abilities.of(find_model(self._runtime.models, self._settings[CONF_MODEL])),
                {key: value for key, value in location.items() if value},
                default_cache(self._entry.data[CONF_BASE_URL]),
            ),
            cut_notice=partial(async_sentence, self.hass, language, TurnError("answer_cut_off")),
            meter=self._meter,
            note=health.async_note,
            # Where nobody answered a moment ago, one try tells whether that has changed.
            patience=Patience() if health.gone is None else Patience(0.0),
            limits=self._runtime.context_limits,
            time_limit=RESPONSE_TIMEOUT,
        )
