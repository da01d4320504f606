"""The conditions of a wish, asked in full: as its owner may, and of what is exposed now."""

from typing import Any

import voluptuous as vol

from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import condition as condition_helper, config_validation as cv

from ..actions.sequences import SequenceWalker
from ..exposure.safe_log import QUIET, UnloggedText
from ..results import ToolError
from .calling import async_call
from .wish import Wish


async def async_holds(hass: HomeAssistant, wish: Wish) -> bool:
    """Return whether the conditions of a wish hold; raises ToolError where they cannot be asked any more."""
    if not wish.conditions:
        return True
    call = await async_call(hass, wish)
    checker = None
    try:
        checked = await SequenceWalker(call, keep=True).async_conditions(wish.conditions)
        valid: list[Any] = await condition_helper.async_validate_conditions_config(hass, cv.CONDITIONS_SCHEMA(checked))
        checker = await condition_helper.async_conditions_from_config(hass, valid, QUIET, UnloggedText("a wish"))
        return checker.async_check()
    except (vol.Invalid, HomeAssistantError) as err:
        raise ToolError("its conditions cannot be checked any more.") from err
    finally:
        if checker is not None:
            checker.async_unload()
