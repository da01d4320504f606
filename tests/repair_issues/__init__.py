"""Tests of repair issues."""
