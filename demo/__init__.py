"""The demonstration home: configuration, recorded history, a conversation in the terminal."""
