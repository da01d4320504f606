"""Fixtures of the tests of the toolbox."""

from tests.scheduled.devices import add_phone, anna, ben, speakers

__all__ = ["add_phone", "anna", "ben", "speakers"]
