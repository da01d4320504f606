"""Tests of the journal and of what takes changes back."""
