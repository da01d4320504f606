"""Which model is offered to look, and how."""

from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.cameras.description import with_eyes
from custom_components.extended_assist.tools.cameras import LookTool, LookWithEyesTool
from custom_components.extended_assist.tools.user import GetUserNameTool
from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm


async def test_names_of_merged_apis_stay(hass: HomeAssistant) -> None:
    """A tool that another name stands before sees as well, keeps that name, and others stay as they are."""
    other, merged = GetUserNameTool(), llm.NamespacedTool("tools", LookTool())
    (same, fit) = with_eyes(hass, [other, merged], sees=True)
    assert same is other
    assert isinstance(fit, llm.NamespacedTool)
    assert fit.name == merged.name
    assert isinstance(fit.tool, LookWithEyesTool)
    assert with_eyes(hass, [other, merged], sees=False) == [other]
    in_words = llm.NamespacedTool("tools", LookTool(ToolboxOptions(look_task="ai_task.eyes")))
    (told,) = with_eyes(hass, [in_words], sees=False)
    assert isinstance(told, llm.NamespacedTool)
    assert not isinstance(told.tool, LookWithEyesTool)
    # The next turn may be of a model that sees less.
    assert with_eyes(hass, [fit], sees=False) == []
    (seeing,) = with_eyes(hass, [in_words], sees=True)
    (told,) = with_eyes(hass, [seeing], sees=False)
    assert isinstance(told, llm.NamespacedTool)
    assert type(told.tool) is LookTool
