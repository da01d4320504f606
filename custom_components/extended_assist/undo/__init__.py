"""Undo of the changes that assistants made."""
