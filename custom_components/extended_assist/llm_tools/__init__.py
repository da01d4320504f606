"""The base classes of tools: ours, and the wrapper that puts other integrations' tools under the same rules."""
