"""`callboard run`."""
