"""Side-by-side measurements, printed as ratios."""
