"""Tests of what an assistant may see: entities, names, secrets and fixed values."""
