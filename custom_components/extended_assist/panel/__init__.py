"""What the panel and the card show, and what is done there by hand; websocket.py is the door."""
