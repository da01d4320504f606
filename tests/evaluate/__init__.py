"""Tests of the measurement itself: its house, its grader, and whole runs."""
