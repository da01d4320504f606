"""Tests of habits, and homes in which they are known."""
