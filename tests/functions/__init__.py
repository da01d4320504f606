"""Tests of the functions that users write."""
