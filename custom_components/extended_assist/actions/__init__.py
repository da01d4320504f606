"""Check actions and sequences before they run, and run them."""
