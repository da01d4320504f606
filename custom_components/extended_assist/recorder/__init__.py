"""Synchronous queries, run in the recorder's executor; they touch no state of Home Assistant's event loop."""
