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


def names(hass: HomeAssistant) -> dict[str, dict[str, list[str]]]:
    """Return the names of both, by kind."""
    return {
        owner: {kind: sorted(getattr(environment, kind)) for kind in KINDS}
        for owner, environment in (("core", TemplateEnvironment(hass)), ("ours", ExposedEnvironment()))
    }


async def main() -> None:
    """Print the names."""
    with tempfile.TemporaryDirectory() as folder:
        hass = HomeAssistant(folder)
        print(json.dumps(names(hass)))  # noqa: T201 - read by a test
        await hass.async_stop(force=True)


if __name__ == "__main__":
    asyncio.run(main())
