"""The call of a wish that is due: its owner's, with exposure, user and options as they are now."""

from collections.abc import Container

from homeassistant.config_entries import ConfigEntryState
from homeassistant.const import ATTR_AREA_ID
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import llm

from ..automations.places import exposed_places
from ..const import CONF_FAMILIES, DOMAIN
from ..exposure.entities import Exposure
from ..results import ToolError
from ..toolbox.acts import Recording
from ..toolbox.call import ToolCall
from ..toolbox.options import WISHES, ToolboxOptions
from ..toolbox.policy import Tier, async_check_speaker
from .wish import Hearer, Wish

HIDDEN = "not_done_hidden"
"""The key of what is said of what is not done because of what is hidden."""


class NotDoneError(ToolError):
    """Something that was due is not done; `key` is what is said about it, empty for nothing."""

    def __init__(self, reason: str, key: str = "not_done_failed") -> None:
        """Take the reason in words for the model, and the key of what is said."""
        super().__init__(reason)
        self.key = key


@callback
def check_standing(wish: Wish) -> None:
    """Raise NotDoneError where somebody has ended a wish, which is told to nobody."""
    if not wish.is_standing:
        raise NotDoneError("it was ended meanwhile", "")


async def async_call(hass: HomeAssistant, wish: Wish, performers: Container[str] = ()) -> ToolCall:
    """Return the call of a wish that is due; raises ToolError where it may not be fulfilled any more.

    What performers do, such as calling a function, they themselves check for being on and allowed.
    """
    owner = wish.owner
    entry = hass.config_entries.async_get_entry(owner.entry_id)
    if entry is None or entry.state is not ConfigEntryState.LOADED:
        raise ToolError("the assistant's entry is not loaded.")
    actions, families = wish.what.actions, entry.options.get(CONF_FAMILIES)
    is_own = bool(actions) and all(step.get("action") in performers for step in actions)
    if not is_own and families is not None and (WISHES not in families or (actions and "actions" not in families)):
        raise ToolError("it was turned off in the options.")
    caller = owner.caller()
    user = await caller.async_user(hass)
    if owner.user_id is not None and (user is None or not user.is_active):
        raise ToolError("the user who wanted it is gone.")
    options = ToolboxOptions.of(entry.options, entry.entry_id)
    tier = Tier.CONTROL if actions or wish.what.ask else Tier.READ
    if not is_own:
        await async_check_speaker(hass, options.policy, tier, caller)
    return ToolCall(
        hass=hass,
        arguments={},
        exposure=Exposure(hass, owner.assistant, options.external_statistics),
        caller=caller,
        options=options,
        tool_input=llm.ToolInput(f"{DOMAIN}__do_later", {}),
        tier=tier,
        recording=Recording("what was wanted for later", is_told=wish.is_household),
    )


async def async_valid_call(hass: HomeAssistant, wish: Wish, performers: Container[str] = ()) -> ToolCall:
    """Return the call of a wish that stands, for somebody who is still exposed; raises NotDoneError."""
    check_standing(wish)
    try:
        call = await async_call(hass, wish, performers)
    except ToolError as err:
        raise NotDoneError(str(err)) from err
    target = wish.audience.target or ""
    match wish.audience.hearer:
        case Hearer.PERSON if not call.exposure.is_exposed(target):
            raise NotDoneError("the person for whom it is is not exposed any more.", HIDDEN)
        case Hearer.AREA if target not in exposed_places(hass, call.exposure)[ATTR_AREA_ID]:
            raise NotDoneError("nothing in the area where it is to be said is exposed any more.", HIDDEN)
    return call
