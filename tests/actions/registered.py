"""Print which actions the entity components of a Home Assistant register, with the fields that they take.

Run by the Python of each version of Home Assistant; nothing of ours is set up.
"""

import asyncio
from collections.abc import Iterator
import json
import logging
from pathlib import Path
import sys
import tempfile
from typing import Any
from unittest.mock import MagicMock

from homeassistant import bootstrap, loader
from homeassistant.config_entries import ConfigEntries
from homeassistant.const import Platform
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity
from homeassistant.setup import async_setup_component
from homeassistant.util.yaml import load_yaml_dict

_FIELDS_OF_TARGETS = {"area_id", "device_id", "entity_id", "exclude", "floor_id", "label_id", "metadata"}
_LATER = {"alert", "conversation", "stt", "wake_word"}
"""Components that register nothing without a configuration or devices of their own."""
_BELOW = {
    "assist_pipeline",
    "ffmpeg",
    "frontend",
    "http",
    "intent",
    "media_source",
    "recorder",
    "stream",
    "websocket_api",
}
"""What components need that has no part in which actions they register."""


def _fields(part: Any) -> Iterator[str]:
    """Yield the keys of the objects in a schema."""
    if isinstance(part, dict):
        yield from (name for key in part if isinstance(name := getattr(key, "schema", key), str))
        return
    if (inner := getattr(part, "schema", None)) is not None:
        yield from _fields(inner)
    for one in getattr(part, "validators", None) or ():
        yield from _fields(one)


def _described(domain: str) -> dict[str, set[str]]:
    """Return the actions that a component describes, with their fields; some take what their schema does not show."""
    path = Path(loader.__file__).parent / "components" / domain / "services.yaml"
    if not path.exists():
        return {}
    actions = {name: about or {} for name, about in load_yaml_dict(path).items() if not name.startswith(".")}
    return {name: set(_described_fields(about.get("fields"))) for name, about in actions.items()}


def _described_fields(fields: Any) -> Iterator[str]:
    """Yield the fields of a description, those in sections too."""
    for key, about in (fields or {}).items():
        if "fields" in (about or {}):
            yield from _described_fields(about["fields"])
        else:
            yield key


async def _async_main(domains: list[str]) -> None:
    """Set the components up, and print."""
    logging.disable(logging.CRITICAL)
    with tempfile.TemporaryDirectory() as folder:
        hass = HomeAssistant(folder)
        hass.config_entries = ConfigEntries(hass, {})
        hass.http = MagicMock()
        hass.config.components |= _BELOW | _LATER
        loader.async_setup(hass)
        entity.async_setup(hass)
        await bootstrap.async_load_base_functionality(hass)
        for domain in domains:
            await async_setup_component(hass, domain, {domain: {}})
        found: dict[str, list[str]] = {}
        for domain in domains:
            described = _described(domain)
            for name, service in hass.services.async_services_for_domain(domain).items():
                fields = {*_fields(service.schema), *described.get(name, ())}
                found[f"{domain}.{name}"] = sorted(fields - _FIELDS_OF_TARGETS)
            if domain in _LATER:
                found |= {f"{domain}.{name}": sorted(fields) for name, fields in described.items()}
        sys.stdout.write(json.dumps(found) + "\n")
        await hass.async_stop(force=True)


if __name__ == "__main__":
    asyncio.run(_async_main(sorted({*map(str, Platform), *sys.argv[1:]})))
