"""What the entities that talk to a model share."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, override

from homeassistant.components import conversation
from homeassistant.config_entries import ConfigSubentry
from homeassistant.const import CONF_MODEL
from homeassistant.core import Context, callback
from homeassistant.helpers.update_coordinator import CoordinatorEntity

from . import ExtendedAssistConfigEntry
from .claude.caching import default_cache
from .claude.failures import TurnError, async_sentence
from .claude.models import Abilities, find_model
from .claude.options import AgentOptions
from .claude.retry import Patience, Retry
from .claude.turn import AgentTurn
from .claude.usage import TokenMeter
from .const import CONF_BASE_URL
from .coordinator import ServerCoordinator
from .device import agent_device
from .happened import Happening, async_happened
from .issues import async_check_left_out, async_check_model, async_resolve_unless_ignored
from .token_limit import async_check_token_limit, is_used_up
from .toolbox.options import ToolboxOptions


class ClaudeEntity(CoordinatorEntity[ServerCoordinator]):
    """An entity with a model of its own."""

    _attr_has_entity_name = True
    _attr_name = None

    def __init__(self, entry: ExtendedAssistConfigEntry, subentry: ConfigSubentry, meter: TokenMeter) -> None:
        """Take the settings of a subentry, and what counts its tokens."""
        super().__init__(entry.runtime_data.coordinator)
        self._entry = entry
        self._runtime = entry.runtime_data
        self._subentry = subentry
        self._settings: Mapping[str, Any] = subentry.data
        self._attr_unique_id = subentry.subentry_id
        self._meter = meter
        self._toolbox = ToolboxOptions.of(entry.options, entry.entry_id)
        self._attr_device_info = agent_device(subentry)
        self._was_used_up = is_used_up(subentry, meter)

    @override
    async def async_added_to_hass(self) -> None:
        """Follow the state of the server and of the model."""
        await super().async_added_to_hass()
        self.async_on_remove(self._meter.async_listen(self._async_check_token_limit))
        self._async_check_token_limit()
        async_check_model(self.hass, self._entry, self._subentry)

    @override
    async def async_will_remove_from_hass(self) -> None:
        """Take the issues along."""
        async_resolve_unless_ignored(self.hass, self._subentry.subentry_id)
        await super().async_will_remove_from_hass()

    @callback
    @override
    def _handle_coordinator_update(self) -> None:
        """Take over what was learnt of the server."""
        super()._handle_coordinator_update()
        async_check_model(self.hass, self._entry, self._subentry)

    @callback
    def _async_check_token_limit(self) -> None:
        """Tell the user when the month's tokens come to their end."""
        async_check_token_limit(self.hass, self._entry.entry_id, self._subentry, self._meter)
        if (is_up := is_used_up(self._subentry, self._meter)) and not self._was_used_up:
            async_happened(
                self.hass, Happening.LIMIT_REACHED, self._entry.entry_id, self._subentry.subentry_id, Context()
            )
        self._was_used_up = is_up

    @callback
    def _tell_failed(self, error: TurnError, outer: Context | None) -> None:
        """Tell logbook and automations that there was no answer, and the key of the reason."""
        context = Context(user_id=outer.user_id, parent_id=outer.id) if outer else Context()
        subentry_id = self._subentry.subentry_id
        async_happened(self.hass, Happening.FAILED, self._entry.entry_id, subentry_id, context, reason=error.key)

    @callback
    def _tell_left_out(self, tools: Mapping[str, str]) -> None:
        """Raise or settle the notice about tools that the server would refuse."""
        async_check_left_out(self.hass, self._entry.entry_id, self._subentry, tools)

    def _turn(self, chat_log: conversation.ChatLog, language: str, patience: Patience | None = None) -> AgentTurn:
        """Return a turn that is about to begin; raises TurnError when this month's tokens are used up."""
        if is_used_up(self._subentry, self._meter):
            raise TurnError("tokens_used_up")
        config = self.hass.config
        patience = patience or Patience()
        location = {"country": config.country, "timezone": config.time_zone}
        return AgentTurn(
            client=self._runtime.client,
            chat_log=chat_log,
            agent_id=self.entity_id,
            options=self._runtime.refused.left(
                AgentOptions.of(
                    self._settings,
                    Abilities.of(find_model(self._runtime.models, self._settings[CONF_MODEL])),
                    {key: value for key, value in location.items() if value},
                    default_cache(self._entry.data[CONF_BASE_URL]),
                )
            ),
            cut_notice=partial(async_sentence, self.hass, language, TurnError("answer_cut_off")),
            meter=self._meter,
            language=language,
            toolbox=self._toolbox,
            note=self.coordinator.async_note,
            # Where nobody answered a moment ago, one try tells whether that has changed.
            retry=Retry(patience if self.coordinator.gone is None else replace(patience, retry_time=0.0)),
            patience=patience,
            ledger=self._runtime.ledgers.of(chat_log, self.entity_id),
            tell_left_out=self._tell_left_out,
            refused=self._runtime.refused,
        )
