"""End-to-end tests: a real `hass` process, reached over its own APIs."""
