"""Tests of wishes for later."""
