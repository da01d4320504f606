"""Tests of the recorder queries."""
