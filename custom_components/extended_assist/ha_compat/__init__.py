"""The symbols of Home Assistant and Python that we use beside their public interfaces, so that an upgrade breaks one room."""
