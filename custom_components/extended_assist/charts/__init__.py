"""Charts: numbers and states over time as SVG."""
