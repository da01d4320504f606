"""Charts: the course of numbers and states as an SVG."""
