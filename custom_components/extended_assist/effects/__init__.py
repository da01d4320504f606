"""What actions do to entities: one table of what can be set, and what sets it back."""
