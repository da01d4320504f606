"""Fixtures for tests of templates."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from custom_components.extended_assist.exposure.entities import Exposure
from custom_components.extended_assist.templates import async_render
from homeassistant.core import HomeAssistant
from tests.conftest import ASSISTANT

from .home import Ids, build, expose_all, expose_visible

type Render = Callable[..., Awaitable[str]]


@pytest.fixture
async def ids(hass: HomeAssistant, assist: None) -> Ids:
    """Return the ids of a home in which nothing is exposed yet."""
    return await build(hass)


@pytest.fixture
def open_home(hass: HomeAssistant, ids: Ids) -> Ids:
    """Return the ids of a home in which everything is exposed."""
    expose_all(hass)
    return ids


@pytest.fixture
def home(hass: HomeAssistant, ids: Ids) -> Ids:
    """Return the ids of a home in which a part is hidden."""
    expose_visible(hass)
    return ids


@pytest.fixture
def render(hass: HomeAssistant) -> Render:
    """Return a function that renders a template over what is exposed."""

    async def run(template: str, **variables: Any) -> str:
        return await async_render(hass, Exposure(hass, ASSISTANT), template, variables)

    return run
