"""What must not work, collected by tool."""
