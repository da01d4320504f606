"""Simulation of an automation: its triggers, conditions and steps over the recorded past."""
