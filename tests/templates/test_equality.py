"""Where everything is exposed, templates render as in Home Assistant."""

import pytest

from homeassistant.core import HomeAssistant
from homeassistant.helpers.template import Template

from .conftest import Render
from .equal import collection
from .home import Ids


@pytest.mark.freeze_time("2026-11-20 10:00:00+00:00")
async def test_renders_as_home_assistant(hass: HomeAssistant, open_home: Ids, render: Render) -> None:
    """Over a hundred templates give the same text."""
    templates = collection(open_home.lamp_device, open_home.meter_device)
    assert len(templates) > 100
    different = {}
    for template in templates:
        expected = Template(template, hass).async_render(parse_result=False)
        try:
            given = await render(template)
        except Exception as err:  # noqa: BLE001 - shown with the template
            given = repr(err)
        if given != expected:
            different[template] = (given, expected)
    assert not different, "\n".join(f"{key}\n  {ours}\n  {other}" for key, (ours, other) in different.items())
