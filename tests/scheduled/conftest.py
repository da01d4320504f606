"""Fixtures of the tests of tasks."""

import pytest

from custom_components.extended_assist.scheduled import run_actions

from .devices import add_phone, anna, ben, speakers

__all__ = ["add_phone", "anna", "ben", "speakers"]


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for no device: where clocks stand still, nothing would end it."""
    monkeypatch.setattr(run_actions, "PATIENCE", 0.0)
    monkeypatch.setattr(run_actions, "LONGEST_WAY", 0.0)
