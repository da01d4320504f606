"""Print, as JSON, the names in Home Assistant's template environment and in ours: `python -m tests.templates.available`.

Runs where pytest does not: in the environment of the newest Home Assistant.
"""

import asyncio
import json
import tempfile

from custom_components.extended_assist.templates.environment import ExposedEnvironment
from homeassistant.core import HomeAssistant
from homeassistant.helpers.template import TemplateEnvironment

KINDS = ("globals", "filters", "tests")


async def names() -> dict[str, dict[str, list[str]]]:
    """Return the names of both, by kind."""
    with tempfile.TemporaryDirectory() as folder:
        hass = HomeAssistant(folder)
        core, ours = TemplateEnvironment(hass), ExposedEnvironment()
        await hass.async_stop(force=True)
    return {
        owner: {kind: sorted(getattr(environment, kind)) for kind in KINDS}
        for owner, environment in (("core", core), ("ours", ours))
    }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(names())))  # noqa: T201 - read by a test
