"""Questions and commands with known answers, asked of an agent in a generated home and graded by code."""
