"""Repair issues about agents, entries and functions."""
