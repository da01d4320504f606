"""The data of the panel and the card, and the manual calls from there; websocket.py has the commands."""
