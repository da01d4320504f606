"""Habits: actions that users repeat, found in the recorded past, and an automation for each."""
