"""The LLM API: its tools, its prompt, and its tools inside Assist."""
