"""Tests of what an automation would have done."""
