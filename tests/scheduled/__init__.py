"""Tests of tasks for later."""
