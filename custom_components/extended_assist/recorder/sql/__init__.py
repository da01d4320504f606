"""SQL as the model writes it: parsed, checked against allow-lists, and written anew for the engine.

Importing this package imports sqlglot, which takes a while: only ever do it in the recorder's executor.
"""
