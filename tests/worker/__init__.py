"""Tests of the process for what a model or a user wrote."""
