"""Dialogues as households have them, honest and hostile, held with our agent in homes whose devices really change."""
