"""Tests of tools that other integrations register."""
