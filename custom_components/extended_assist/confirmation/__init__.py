"""Confirmation: when a call needs the user's word, how it is asked for, and how the reply is read."""
