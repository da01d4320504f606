"""The exposed entities of an assistant, with their names, texts and values; everything else does not exist for it."""
