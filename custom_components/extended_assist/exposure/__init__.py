"""The entities that an assistant may see, with their names, texts and values; the rest does not exist for it."""
