"""Tests of Extended Assist."""
