"""These tests read files; none needs a running Home Assistant."""

import pytest


@pytest.fixture(autouse=True)
def _custom_integrations() -> None:
    """Make no Home Assistant, as the tests beside this folder want it."""
