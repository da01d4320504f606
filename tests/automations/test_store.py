"""Tests that a change counts only once Home Assistant has loaded it."""

from collections.abc import Awaitable, Callable

from freezegun.api import FrozenDateTimeFactory
import pytest

from homeassistant.components.automation import DATA_COMPONENT
from homeassistant.core import HomeAssistant, ServiceCall
from homeassistant.helpers import entity_registry as er
from tests.conftest import CallTool
from tests.helpers.automating import ADD, StartHome, start_home, switching

__all__ = ["start_home"]

AUTOMATION = "automation.porch_at_dusk"

type After = Callable[[HomeAssistant], Awaitable[None]]


async def fail(_: HomeAssistant) -> None:
    """Fail as another part of the configuration may."""
    raise ValueError("narwhal")


async def lose(hass: HomeAssistant) -> None:
    """Have the automation gone."""
    await hass.data[DATA_COMPONENT].async_remove_entity(AUTOMATION)


async def spoil(hass: HomeAssistant) -> None:
    """Have the automation loaded as invalid."""
    entity = hass.data[DATA_COMPONENT].get_entity(AUTOMATION)
    if entity:
        entity._attr_available = False


async def turn_off(hass: HomeAssistant) -> None:
    """Have the automation turned off by something else."""
    await hass.services.async_call("automation", "turn_off", {"entity_id": AUTOMATION}, blocking=True)


@pytest.mark.parametrize(
    ("after", "reason"),
    [
        (fail, "Home Assistant could not load its configuration of automations."),
        (lose, "Home Assistant did not load the automation."),
        (spoil, "Home Assistant loaded the automation as invalid; its repairs say why."),
        (turn_off, "Home Assistant loaded the automation, but it did not become active."),
    ],
)
async def test_not_loaded(
    hass: HomeAssistant,
    start_home: StartHome,
    call_tool: CallTool,
    caplog: pytest.LogCaptureFixture,
    after: After,
    reason: str,
) -> None:
    """What Home Assistant does not load as it was written is put back, and the reason is told."""
    path = await start_home()
    reload = hass.services.async_services_for_domain("automation")["reload"].job.target

    async def load(call: ServiceCall) -> None:
        await reload(call)
        if path.read_text() != "[]\n":
            await after(hass)

    hass.services.async_register("automation", "reload", load)
    error = (await call_tool(ADD, automation=switching(), error=True))["error"]
    assert error == f"{reason} Everything was put back as it was before."
    assert path.read_text() == "[]\n"
    assert hass.states.get(AUTOMATION) is None
    assert ("ValueError: narwhal" in caplog.text) is (after is fail)
    assert "narwhal" not in error


async def test_new_ids(
    hass: HomeAssistant, start_home: StartHome, call_tool: CallTool, freezer: FrozenDateTimeFactory
) -> None:
    """A new automation never gets the id, and with it the exposure, of another one, not even of one that is gone."""
    await start_home()
    freezer.move_to("2026-03-02T11:00:00+00:00")
    now = 1_772_449_200_000
    er.async_get(hass).async_get_or_create("automation", "automation", str(now))
    er.async_get(hass).async_get_or_create("automation", "automation", str(now + 1))
    ids = [(await call_tool(ADD, automation=switching(name)))["id"] for name in ("One", "Other")]
    assert len({str(now), str(now + 1), *ids}) == 4
