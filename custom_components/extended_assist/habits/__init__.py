"""What people do by hand again and again, found in the recorded past, and the automation that would do it."""
