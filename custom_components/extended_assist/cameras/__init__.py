"""Pictures of cameras: taken, made small, kept for a while in memory, and told in words where a model cannot see."""
