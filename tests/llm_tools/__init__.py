"""Tests of the base classes of tools."""
