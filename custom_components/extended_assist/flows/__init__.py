"""The steps behind config_flow.py."""
