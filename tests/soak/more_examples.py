"""A plugin of pytest that has hypothesis try more examples than a test asks for, and others each time."""

from typing import Any

from hypothesis import settings
import pytest

TIMES = 4
"""How many times the examples that a test asks for: some take much longer than others."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Change the settings of tests that hypothesis runs; it offers no way to do so from outside."""
    for item in items:
        function: Any = getattr(getattr(item, "obj", None), "__func__", getattr(item, "obj", None))
        if item.get_closest_marker("hypothesis") and hasattr(function, "_hypothesis_internal_use_settings"):
            function._hypothesis_internal_use_settings = settings(
                function._hypothesis_internal_use_settings,
                max_examples=function._hypothesis_internal_use_settings.max_examples * TIMES,
                derandomize=False,
                database=None,
                deadline=None,
            )
