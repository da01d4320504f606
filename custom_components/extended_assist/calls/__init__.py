"""One tool call from its arguments to its outcome: caller, options, policy, plan, journal, activity and results."""
