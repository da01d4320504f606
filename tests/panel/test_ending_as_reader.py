"""Ending a task by hand tells and ends only what the groups of the user may read, however its id is written."""

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.extended_assist.scheduled.scheduled_task import What
from homeassistant.auth.models import User
from homeassistant.core import HomeAssistant
from tests.scheduled.shown import async_add, make_task

from .conftest import As, Refused
from .test_permissions import carla, turn_on

__all__ = ["carla"]

pytestmark = pytest.mark.usefixtures("panel_home")

PARTY, LEVEL = "input_boolean.party", "input_number.level"


async def test_what_is_ended(hass: HomeAssistant, as_user: As, panel_home: MockConfigEntry, carla: User) -> None:
    """Neither the question nor the answer names what she may not read."""
    what = What(actions=turn_on(PARTY).actions + turn_on(LEVEL).actions)
    both, household = (
        make_task(panel_home, "Begin", what=what, user_id=carla.id),
        make_task(panel_home, "Begin", what=what),
    )
    await async_add(hass, both, household)
    send = await as_user(carla)
    refused = await send("wishes/cancel", wish=household.id)
    assert "party" not in str(refused).casefold()
    assert household.is_standing
    answer = await send("wishes/cancel", wish=both.id)
    assert "party" not in str(answer).casefold()
    if "question" in answer:
        answer = await send("questions/answer", question=answer["question"]["id"], agreed=True)
        assert "party" not in str(answer).casefold()
    assert not both.is_standing


async def test_another_way_to_write_it(
    hass: HomeAssistant, as_user: As, panel_home: MockConfigEntry, carla: User
) -> None:
    """What is not there for her is not there by its id in capitals or among spaces either."""
    hidden = make_task(panel_home, "Begin the party", what=turn_on(PARTY))
    await async_add(hass, hidden)
    send = await as_user(carla)
    for written in (f" {hidden.id}", f"{hidden.id}\n", hidden.id.upper()):
        try:
            answer = await send("wishes/cancel", wish=written)
        except Refused:
            continue
        assert not answer["done"]
        assert "question" not in answer
        assert "party" not in str(answer).casefold()
    assert hidden.is_standing
