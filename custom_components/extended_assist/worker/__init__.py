"""A small process without Home Assistant in it, for what a model or a user wrote; the operating system bounds it.

`host.py` is Home Assistant's side. Everything else runs in the process too, so it imports nothing but Python itself.
"""
