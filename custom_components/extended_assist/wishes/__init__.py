"""Wishes for later: when something is to happen, what, for whom, and until when."""
