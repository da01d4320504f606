"""Confirmation: decide when a call needs a yes of the user, ask for it, and parse the reply."""
