"""The one way a tool is called."""
