"""What an automation would have done: its triggers, conditions and steps over the recorded past."""
