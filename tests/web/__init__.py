"""Tests of the web, against servers on loopback."""
