"""Memory: facts that users want the assistant to remember."""
