"""Fixtures of the tests of wishes."""

from .devices import add_phone, anna, ben, speakers

__all__ = ["add_phone", "anna", "ben", "speakers"]
