"""What an agent's own entities set off, such as at a limit of tokens, is no part of the conversation that was counted."""

from datetime import timedelta
from typing import Any

from pytest_homeassistant_custom_component.common import async_fire_time_changed

from custom_components.extended_assist.claude.usage import SHOW_DELAY
from homeassistant.components.conversation.chat_log import current_chat_log
from homeassistant.const import EVENT_STATE_CHANGED, STATE_UNAVAILABLE
from homeassistant.core import Event, HomeAssistant, callback
from homeassistant.helpers.chat_session import current_session
from homeassistant.util import dt as dt_util
from tests.claude_server import Fault, Turn, text
from tests.conftest import Converse

type Heard = dict[str, tuple[Any, Any]]


def listen(hass: HomeAssistant, heard: Heard) -> None:
    """Hear what changes, with the conversation in which it does."""

    @callback
    def changed(event: Event) -> None:
        heard[f"{event.data['entity_id']} {event.data['new_state'].state}"] = (
            current_chat_log.get(),
            current_session.get(),
        )

    hass.bus.async_listen(EVENT_STATE_CHANGED, changed)


async def test_the_count(hass: HomeAssistant, converse: Converse) -> None:
    """The sensors are written outside of the conversation."""
    heard: Heard = {}
    listen(hass, heard)
    await converse("Hello", Turn([text("Good evening.")]))
    async_fire_time_changed(hass, dt_util.utcnow() + timedelta(seconds=SHOW_DELAY + 0.1))
    await hass.async_block_till_done()
    counted = {key: one for key, one in heard.items() if key.startswith("sensor.")}
    assert counted
    assert all(one == (None, None) for one in counted.values())


async def test_a_server_that_goes(hass: HomeAssistant, converse: Converse) -> None:
    """That the agent is not available is told outside of the conversation in which it showed."""
    heard: Heard = {}
    listen(hass, heard)
    await converse("Hello", Turn([text("Hi")], fault=Fault("http", status=401)))
    await hass.async_block_till_done()
    gone = {key: one for key, one in heard.items() if key.endswith(STATE_UNAVAILABLE)}
    assert gone
    assert all(one == (None, None) for one in gone.values())
