"""The web: allowed addresses, limited requests, and reading the responses."""
