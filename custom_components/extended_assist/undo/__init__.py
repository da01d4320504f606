"""Undo of what assistants changed."""
