"""The web: which addresses may be reached, fetching within limits, and reading what came."""
