"""Memory: facts that the household wants to be remembered."""
