"""Functions as tools: the user's own in YAML, one file for each type, and plain ones in Python."""
