"""The Messages API: from a chat log to an answer."""
