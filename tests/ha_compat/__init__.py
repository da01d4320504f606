"""Tests of the symbols of Home Assistant that we use beside its public interfaces, on both versions."""
