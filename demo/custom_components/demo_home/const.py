"""Names shared by the recorded and the live half of the home."""

DOMAIN = "demo_home"
# In the configuration folder: where the record ended and the live home goes on.
CHECKPOINT_FILE = "demo_home.json"
# There too: what the camera shows.
FRONT_DOOR_FILE = "front_door.png"
