"""Tests of the Messages API client."""
