"""Camera images: snapshots, scaled, cached in memory for a while, and described for models that cannot see."""
