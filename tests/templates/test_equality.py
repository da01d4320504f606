"""Where everything is exposed, templates render as in Home Assistant."""

import pytest

from homeassistant.core import HomeAssistant
from homeassistant.helpers.template import Template

from .conftest import Render
from .equal import collection
from .home import Ids
from .honest import honest


async def differences(hass: HomeAssistant, render: Render, templates: list[str]) -> str:
    """What renders otherwise than in Home Assistant's full environment."""
    different = {}
    for template in templates:
        expected = Template(template, hass).async_render(parse_result=False)
        try:
            given = await render(template)
        except Exception as err:  # noqa: BLE001 - shown with the template
            given = repr(err)
        if given != expected:
            different[template] = (given, expected)
    return "\n".join(f"{key}\n  {ours}\n  {other}" for key, (ours, other) in different.items())


@pytest.mark.freeze_time("2026-11-20 10:00:00+00:00")
async def test_renders_as_home_assistant(hass: HomeAssistant, open_home: Ids, render: Render) -> None:
    """Over a hundred templates, each with several uses of what is available, give the same text."""
    templates = collection(open_home.lamp_device, open_home.meter_device)
    assert len(templates) > 100
    assert await differences(hass, render, templates) == ""


@pytest.mark.freeze_time("2026-11-20 10:00:00+00:00")
async def test_honest_templates(hass: HomeAssistant, open_home: Ids, render: Render) -> None:
    """What people write in the manner of the documentation gives what it gives there."""
    templates = honest()
    assert len(set(templates)) == len(templates) >= 98
    assert await differences(hass, render, templates) == ""
