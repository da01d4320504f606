"""Tests of looking."""
