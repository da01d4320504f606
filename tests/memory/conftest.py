"""Fixtures for tests of memory."""

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from homeassistant.core import HomeAssistant
from tests.web.conftest import admit, names, site

__all__ = ["admit", "names", "site"]


@pytest.fixture
def config_entry(hass: HomeAssistant) -> MockConfigEntry:
    """Return an entry of somebody else, which devices need."""
    entry = MockConfigEntry(domain="test")
    entry.add_to_hass(hass)
    return entry
