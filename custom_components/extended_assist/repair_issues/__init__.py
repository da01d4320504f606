"""The notices under Repairs, about agents and entries, and the data that diagnostics may hold."""
