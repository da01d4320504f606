"""Automations: read, checked, described, and written without losing any."""
