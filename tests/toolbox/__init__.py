"""Tests of the one way a tool is called."""
