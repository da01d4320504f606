"""Tests of one tool call: caller, options, policy, journal, outcome and activity."""
